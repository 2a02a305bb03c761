// Device resources and green contexts. A green context is a context with a share of the
// multiprocessors: the share is remembered and answered, while its kernels run on all workers.
#include <algorithm>
#include <cstring>

#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/device_info.h"

using namespace ptxrun::driver;

namespace {

/// What cuDevResourceGenerateDesc made. There is no function that would destroy one.
class ResourceDescription final : public Object {
 public:
  static constexpr Kind kKind = Kind::resourceDescription;
  explicit ResourceDescription(unsigned multiprocessors)
      : Object(kKind), multiprocessors(multiprocessors) {}
  const unsigned multiprocessors;
};

/// What a resource came from, in its hidden bytes: parts cannot be split again.
enum class Origin : unsigned char { unknown, whole, part };

Origin originOf(const CUdevResource &r) { return static_cast<Origin>(r._internal_padding[0]); }

/// Multiprocessors come in groups, as the compute capability has it; a small machine is one group.
unsigned partitionSize(unsigned count) {
  const int major = deviceInfo().major;
  const unsigned size = major >= 9 ? 8 : major == 8 ? 4 : major == 7 ? 2 : 1;
  return std::min(size, count);
}
unsigned alignment(unsigned count) {
  const int major = deviceInfo().major;
  return std::min(major >= 9 ? 8u : major >= 7 ? 2u : 1u, count);
}

CUdevResource describe(unsigned count, Origin origin) {
  CUdevResource resource = {};
  resource.type = count == 0 ? CU_DEV_RESOURCE_TYPE_INVALID : CU_DEV_RESOURCE_TYPE_SM;
  resource._internal_padding[0] = static_cast<unsigned char>(origin);
  resource.sm.smCount = count;
  if (origin == Origin::whole) {
    resource.sm.minSmPartitionSize = partitionSize(count);
    resource.sm.smCoscheduledAlignment = alignment(count);
  }
  return resource;
}

CUresult answer(CUdevResource *resource, CUdevResourceType type, unsigned count) {
  if (!resource)
    return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_DEV_RESOURCE_TYPE_SM)
    return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  *resource = describe(count, Origin::whole);
  return CUDA_SUCCESS;
}

unsigned wholeDevice() { return static_cast<unsigned>(deviceInfo().multiprocessors); }

CUresult enterGreen(CUgreenCtx handle, std::shared_ptr<Context> &context) {
  PTXRUN_TRY(checkInitialised());
  context = resolve<Context>(handle);
  return context && context->isGreen() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/// How many multiprocessors a group of at least `least` has.
unsigned groupSize(const CUdevSmResource &whole, unsigned flags, unsigned least) {
  const bool isAlone = (flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING) != 0;
  const unsigned smallest = isAlone ? std::min(2u, whole.smCount) : whole.minSmPartitionSize;
  const unsigned unit = std::max(isAlone ? smallest : whole.smCoscheduledAlignment, 1u);
  const unsigned wanted = (std::max(least, smallest) + unit - 1) / unit * unit;
  return std::min(wanted, whole.smCount);
}

} // namespace

PTXRUN_API CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource *resource,
                                           CUdevResourceType type) {
  PTXRUN_TRY(checkInitialised());
  PTXRUN_TRY(checkDevice(device));
  return answer(resource, type, wholeDevice());
}

PTXRUN_API CUresult cuCtxGetDevResource(CUcontext handle, CUdevResource *resource,
                                        CUdevResourceType type) {
  PTXRUN_TRY(checkInitialised());
  const auto context = resolve<Context>(handle);
  if (!context)
    return CUDA_ERROR_INVALID_CONTEXT;
  return answer(resource, type,
                context->isGreen() ? context->greenMultiprocessors() : wholeDevice());
}

PTXRUN_API CUresult cuGreenCtxGetDevResource(CUgreenCtx handle, CUdevResource *resource,
                                             CUdevResourceType type) {
  std::shared_ptr<Context> context;
  PTXRUN_TRY(enterGreen(handle, context));
  return answer(resource, type, context->greenMultiprocessors());
}

PTXRUN_API CUresult cuDevSmResourceSplitByCount(CUdevResource *groups, unsigned *count,
                                                const CUdevResource *whole, CUdevResource *rest,
                                                unsigned flags, unsigned least) {
  constexpr unsigned kFlags = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |
                              CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
  PTXRUN_TRY(checkInitialised());
  if (!count || !whole || (groups && *count == 0) || flags >= kFlags)
    return CUDA_ERROR_INVALID_VALUE;
  if (whole->type != CU_DEV_RESOURCE_TYPE_SM)
    return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  if (originOf(*whole) != Origin::whole || least > whole->sm.smCount)
    return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  const unsigned size = groupSize(whole->sm, flags, least), most = whole->sm.smCount / size;
  *count = groups ? std::min(*count, most) : most;
  for (unsigned i = 0; groups && i < *count; ++i)
    groups[i] = describe(size, Origin::part);
  if (rest)
    *rest = describe(whole->sm.smCount - *count * size, Origin::part);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *description,
                                              CUdevResource *resources, unsigned count) {
  PTXRUN_TRY(checkInitialised());
  if (!description || !resources || count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  unsigned multiprocessors = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (resources[i].type != CU_DEV_RESOURCE_TYPE_SM)
      return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    if (originOf(resources[i]) == Origin::unknown)
      return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    multiprocessors += resources[i].sm.smCount;
  }
  multiprocessors = std::min(multiprocessors, wholeDevice());
  *description = publish<CUdevResourceDesc>(std::make_shared<ResourceDescription>(multiprocessors));
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuGreenCtxCreate(CUgreenCtx *context, CUdevResourceDesc handle, CUdevice device,
                                     unsigned flags) {
  PTXRUN_TRY(checkInitialised());
  PTXRUN_TRY(checkDevice(device));
  const auto description = resolve<ResourceDescription>(handle);
  if (!context || !description || flags != CU_GREEN_CTX_DEFAULT_STREAM)
    return CUDA_ERROR_INVALID_VALUE;
  CUcontext primary = nullptr;
  PTXRUN_TRY(cuDevicePrimaryCtxRetain(&primary, device));
  *context = handleOf<CUgreenCtx>(Context::createGreen(description->multiprocessors, device));
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuGreenCtxDestroy(CUgreenCtx handle) {
  std::shared_ptr<Context> context;
  PTXRUN_TRY(enterGreen(handle, context));
  if (currentContext() == context.get())
    popContext();
  context->destroy();
  return cuDevicePrimaryCtxRelease_v2(0);
}

PTXRUN_API CUresult cuCtxFromGreenCtx(CUcontext *context, CUgreenCtx handle) {
  std::shared_ptr<Context> green;
  PTXRUN_TRY(enterGreen(handle, green));
  if (!context)
    return CUDA_ERROR_INVALID_VALUE;
  *context = handleOf<CUcontext>(green.get());
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuGreenCtxRecordEvent(CUgreenCtx handle, CUevent event) {
  std::shared_ptr<Context> context;
  PTXRUN_TRY(enterGreen(handle, context));
  return cuCtxRecordEvent(handleOf<CUcontext>(context.get()), event);
}
PTXRUN_API CUresult cuGreenCtxWaitEvent(CUgreenCtx handle, CUevent event) {
  std::shared_ptr<Context> context;
  PTXRUN_TRY(enterGreen(handle, context));
  return cuCtxWaitEvent(handleOf<CUcontext>(context.get()), event);
}

PTXRUN_API CUresult cuGreenCtxStreamCreate(CUstream *stream, CUgreenCtx handle, unsigned flags,
                                           int priority) {
  std::shared_ptr<Context> context;
  PTXRUN_TRY(enterGreen(handle, context));
  if (!stream || flags != CU_STREAM_NON_BLOCKING)
    return CUDA_ERROR_INVALID_VALUE;
  pushContext(context.get());
  const CUresult result = cuStreamCreateWithPriority(stream, flags, priority);
  popContext();
  return result;
}

PTXRUN_API CUresult cuGreenCtxGetId(CUgreenCtx handle, unsigned long long *id) {
  std::shared_ptr<Context> context;
  PTXRUN_TRY(enterGreen(handle, context));
  if (!id)
    return CUDA_ERROR_INVALID_VALUE;
  *id = context->id();
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuStreamGetGreenCtx(CUstream handle, CUgreenCtx *green) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (!green)
    return CUDA_ERROR_INVALID_VALUE;
  *green = context->isGreen() ? handleOf<CUgreenCtx>(context) : nullptr;
  return CUDA_SUCCESS;
}
