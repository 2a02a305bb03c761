// Launches.
#include "loader/libcuda/api.h"
#include "loader/libcuda/event.h"
#include "loader/libcuda/launch.h"
#include "loader/libcuda/stream_capture.h"

using namespace ptxrun::driver;
using ptxrun::abi::Dim3;

namespace {

/// What a CUlaunchConfig's attributes ask for beyond the shape.
struct LaunchExtras {
  LaunchAttributes attributes;
  struct EventAfter {
    CUevent event;
    unsigned char port; ///< of the edges that lead from a captured launch through the event
  };
  std::vector<EventAfter> eventsAfter;
  bool isProgrammatic = false;
  CUlaunchAttributeValue *updatable = nullptr; ///< where the node's handle goes, if asked for one
};

CUresult readAttribute(CUlaunchAttribute &attribute, LaunchShape &shape, LaunchExtras &extras) {
  switch (attribute.id) {
  case CU_LAUNCH_ATTRIBUTE_IGNORE:
    return CUDA_SUCCESS;
  case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    extras.eventsAfter.push_back(
        {attribute.value.programmaticEvent.event, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC});
    return CUDA_SUCCESS;
  case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
    extras.eventsAfter.push_back(
        {attribute.value.launchCompletionEvent.event, CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER});
    return CUDA_SUCCESS;
  case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    extras.isProgrammatic = attribute.value.programmaticStreamSerializationAllowed != 0;
    return CUDA_SUCCESS;
  case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
    if (attribute.value.deviceUpdatableKernelNode.deviceUpdatable)
      extras.updatable = &attribute.value;
    return CUDA_SUCCESS;
  default:
    extras.attributes[attribute.id] = attribute.value;
    return applyAttribute(attribute.id, attribute.value, shape);
  }
}

CUresult recordAfter(const Stream &stream, const LaunchExtras &extras) {
  for (const auto &[handle, port] : extras.eventsAfter)
    if (auto event = resolve<Event>(handle))
      PTXRUN_TRY(captureRecord(stream, *event, port));
  return CUDA_SUCCESS;
}

CUresult launch(const void *functionHandle, const LaunchShape &shape, CUstream streamHandle,
                void **kernelParams, void **extra, const LaunchExtras &extras = {}) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(streamHandle, context, stream));
  bool isCaptured = false;
  PTXRUN_TRY(routeWork(*stream, isCaptured));
  auto function = resolveFunction(functionHandle);
  if (!function || function->module.device() != context->device())
    return CUDA_ERROR_INVALID_HANDLE; // also for a stream of another device
  CUresult result = CUDA_SUCCESS;
  auto operation = LaunchOperation::make(std::move(function), shape, result);
  PTXRUN_TRY(result);
  PTXRUN_TRY(readArguments(*operation, kernelParams, extra));
  if (extras.updatable && !isCaptured)
    return CUDA_ERROR_INVALID_VALUE; // of nodes of graphs alone
  if (isCaptured) {
    std::shared_ptr<DeviceNode> device;
    if (extras.updatable) {
      if (!(device = DeviceNode::make(*operation)))
        return CUDA_ERROR_OUT_OF_MEMORY;
      extras.updatable->deviceUpdatableKernelNode.devNode = device->handle();
    }
    PTXRUN_TRY(captureNode(*stream,
                           KernelNode{std::move(operation), extras.attributes,
                                      handleOf<CUcontext>(context), std::move(device)},
                           extras.isProgrammatic));
    return recordAfter(*stream, extras);
  }
  PTXRUN_TRY(submitLaunch(*context, *stream, std::move(operation)));
  for (const auto &after : extras.eventsAfter)
    if (auto event = resolve<Event>(after.event))
      event->record(*stream);
  return CUDA_SUCCESS;
}

} // namespace

PTXRUN_STREAM_API(cuLaunchKernel, _ptsz,
                  (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,
                   unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                   CUstream stream, void **kernelParams, void **extra),
                  (function, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream,
                   kernelParams, extra)) {
  LaunchShape shape;
  shape.grid = {gridX, gridY, gridZ};
  shape.block = {blockX, blockY, blockZ};
  shape.dynamicSharedBytes = sharedBytes;
  return launch(function, shape, stream, kernelParams, extra);
}

PTXRUN_STREAM_API(cuLaunchCooperativeKernel, _ptsz,
                  (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,
                   unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                   CUstream stream, void **kernelParams),
                  (function, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream,
                   kernelParams)) {
  LaunchShape shape;
  shape.grid = {gridX, gridY, gridZ};
  shape.block = {blockX, blockY, blockZ};
  shape.dynamicSharedBytes = sharedBytes;
  shape.isCooperative = true;
  return launch(function, shape, stream, kernelParams, nullptr);
}

PTXRUN_STREAM_API(cuLaunchKernelEx, _ptsz,
                  (const CUlaunchConfig *config, CUfunction function, void **kernelParams,
                   void **extra),
                  (config, function, kernelParams, extra)) {
  if (!config || (config->numAttrs != 0 && !config->attrs))
    return CUDA_ERROR_INVALID_VALUE;
  LaunchShape shape;
  LaunchExtras extras;
  shape.grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
  shape.block = {config->blockDimX, config->blockDimY, config->blockDimZ};
  shape.dynamicSharedBytes = config->sharedMemBytes;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    PTXRUN_TRY(readAttribute(config->attrs[i], shape, extras));
  return launch(function, shape, config->hStream, kernelParams, extra, extras);
}
