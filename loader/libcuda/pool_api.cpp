// Stream-ordered allocation. Memory is taken at the call and given back when the stream gets to the
// free; a pool only keeps count, the memory comes from the one allocator.
#include <atomic>
#include <mutex>

#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/copy.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/memory.h"
#include "loader/libcuda/stream_capture.h"

using namespace ptxrun::driver;

namespace {

class Pool final : public Object {
 public:
  static constexpr Kind kKind = Kind::pool;
  Pool() : Object(kKind) {}

  void take(size_t bytes) {
    const uint64_t now = used += bytes;
    uint64_t high = usedHigh;
    while (now > high && !usedHigh.compare_exchange_weak(high, now)) {
    }
  }
  void give(size_t bytes) { used -= bytes; }

  std::atomic<uint64_t> used{0}, usedHigh{0}, releaseThreshold{0};
  std::atomic<int> followsEvents{1}, isOpportunistic{1}, allowsInternal{1};
};

class FreeOperation final : public Operation {
 public:
  FreeOperation(CUdeviceptr address, std::shared_ptr<Pool> pool, size_t bytes)
      : address_(address), pool_(std::move(pool)), bytes_(bytes) {}
  CUresult run(Context &) override {
    if (pool_)
      pool_->give(bytes_);
    return release(address_);
  }
  bool runsAfterFailure() const override { return true; }

 private:
  CUdeviceptr address_;
  std::shared_ptr<Pool> pool_;
  size_t bytes_;
};

/// Holds graph memory until the stream gets here.
class KeepOperation final : public Operation {
 public:
  explicit KeepOperation(std::shared_ptr<GraphAllocation> kept) : kept_(std::move(kept)) {}
  CUresult run(Context &) override { return CUDA_SUCCESS; }

 private:
  std::shared_ptr<GraphAllocation> kept_;
};

std::shared_ptr<Pool> defaultPool() {
  static const auto *pool = [] {
    auto *made = new std::shared_ptr<Pool>(std::make_shared<Pool>());
    publish<CUmemoryPool>(*made);
    return made;
  }();
  return *pool;
}

std::mutex currentPoolMutex;
CUmemoryPool currentPoolHandle = nullptr;

std::shared_ptr<Pool> currentPool() {
  std::lock_guard lock(currentPoolMutex);
  auto pool = currentPoolHandle ? resolve<Pool>(currentPoolHandle) : nullptr;
  return pool ? pool : defaultPool();
}

CUresult captureAllocation(Context &context, const Stream &stream, CUdeviceptr *address,
                           size_t bytes) {
  AllocationNode node;
  PTXRUN_TRY(GraphAllocation::make(&context, bytes, node.allocation));
  node.description.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  node.description.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  node.description.bytesize = bytes;
  node.description.dptr = *address = node.allocation->address;
  return captureNode(stream, std::move(node));
}

/// Memory of graphs is freed in the order of the calls; it goes when nothing can use it any more.
CUresult freeFromGraph(Context &context, Stream &stream, std::shared_ptr<GraphAllocation> freed,
                       bool isCaptured) {
  if (isCaptured)
    return captureNode(stream, FreeNode{std::move(freed)});
  if (!freed->free())
    return CUDA_ERROR_INVALID_VALUE;
  return perform(context, stream, std::make_shared<KeepOperation>(std::move(freed)),
                 Completion::async);
}

CUresult allocateFrom(std::shared_ptr<Pool> pool, CUdeviceptr *address, size_t bytes,
                      CUstream streamHandle) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(streamHandle, context, stream));
  if (!address || !pool)
    return CUDA_ERROR_INVALID_VALUE;
  bool isCaptured = false;
  PTXRUN_TRY(routeWork(*stream, isCaptured));
  if (isCaptured)
    return captureAllocation(*context, *stream, address, bytes);
  MemoryRecord record{MemoryUse::pool, 0, context};
  record.pool = handleOf<void *>(pool.get());
  PTXRUN_TRY(allocate(address, bytes, record));
  pool->take(bytes);
  return CUDA_SUCCESS;
}

CUresult enterDevice(CUdevice device) {
  PTXRUN_TRY(checkInitialised());
  return checkDevice(device);
}

} // namespace

PTXRUN_STREAM_API(cuMemAllocAsync, _ptsz, (CUdeviceptr * address, size_t bytes, CUstream stream),
                  (address, bytes, stream)) {
  return allocateFrom(currentPool(), address, bytes, stream);
}
PTXRUN_STREAM_API(cuMemAllocFromPoolAsync, _ptsz,
                  (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream stream),
                  (address, bytes, pool, stream)) {
  return allocateFrom(resolve<Pool>(pool), address, bytes, stream);
}

PTXRUN_STREAM_API(cuMemFreeAsync, _ptsz, (CUdeviceptr address, CUstream streamHandle),
                  (address, streamHandle)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(streamHandle, context, stream));
  bool isCaptured = false;
  PTXRUN_TRY(routeWork(*stream, isCaptured));
  if (address == 0)
    return CUDA_SUCCESS;
  if (auto allocation = findGraphAllocation(address))
    return freeFromGraph(*context, *stream, std::move(allocation), isCaptured);
  if (isCaptured)
    return CUDA_ERROR_INVALID_VALUE; // graphs free what graphs allocated
  const auto record = findMemory(reinterpret_cast<const void *>(address));
  if (!record || reinterpret_cast<CUdeviceptr>(record->base) != address ||
      record->use == MemoryUse::host || record->use == MemoryUse::registered ||
      record->use == MemoryUse::mapped)
    return CUDA_ERROR_INVALID_VALUE;
  auto pool = resolve<Pool>(record->pool);
  return perform(*context, *stream,
                 std::make_shared<FreeOperation>(address, std::move(pool), record->bytes),
                 Completion::async);
}

PTXRUN_API CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
  PTXRUN_TRY(checkInitialised());
  if (!pool || !properties)
    return CUDA_ERROR_INVALID_VALUE;
  if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
    return notSupported("a memory pool that is shared between processes");
  *pool = publish<CUmemoryPool>(std::make_shared<Pool>());
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  PTXRUN_TRY(checkInitialised());
  if (resolve<Pool>(handle) == defaultPool())
    return CUDA_ERROR_INVALID_VALUE;
  return withdraw<Pool>(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

PTXRUN_API CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t) {
  PTXRUN_TRY(checkInitialised());
  return resolve<Pool>(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

PTXRUN_API CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                                          void *value) {
  PTXRUN_TRY(checkInitialised());
  auto pool = resolve<Pool>(handle);
  if (!pool || !value)
    return CUDA_ERROR_INVALID_VALUE;
  const auto number = [&] { return *static_cast<uint64_t *>(value); };
  switch (attribute) {
  case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    pool->followsEvents = *static_cast<int *>(value);
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    pool->isOpportunistic = *static_cast<int *>(value);
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
    pool->allowsInternal = *static_cast<int *>(value);
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
    pool->releaseThreshold = number();
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
  case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
    if (number() != 0)
      return CUDA_ERROR_INVALID_VALUE;
    pool->usedHigh = pool->used.load();
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

PTXRUN_API CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                                          void *value) {
  PTXRUN_TRY(checkInitialised());
  auto pool = resolve<Pool>(handle);
  if (!pool || !value)
    return CUDA_ERROR_INVALID_VALUE;
  const auto put = [&](auto number) {
    *static_cast<decltype(number) *>(value) = number;
    return CUDA_SUCCESS;
  };
  switch (attribute) {
  case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    return put(pool->followsEvents.load());
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    return put(pool->isOpportunistic.load());
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
    return put(pool->allowsInternal.load());
  case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
    return put(pool->releaseThreshold.load());
  case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
  case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
    return put(pool->used.load());
  case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
  case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
    return put(pool->usedHigh.load());
  }
  return CUDA_ERROR_INVALID_VALUE;
}

PTXRUN_API CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *access,
                                       size_t count) {
  PTXRUN_TRY(checkInitialised());
  if (!resolve<Pool>(handle) || (count != 0 && !access))
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i)
    if (access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
      PTXRUN_TRY(checkDevice(access[i].location.id));
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool handle,
                                       CUmemLocation *location) {
  PTXRUN_TRY(checkInitialised());
  if (!flags || !location || !resolve<Pool>(handle))
    return CUDA_ERROR_INVALID_VALUE;
  *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
  PTXRUN_TRY(enterDevice(device));
  if (!pool)
    return CUDA_ERROR_INVALID_VALUE;
  *pool = handleOf<CUmemoryPool>(defaultPool().get());
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
  PTXRUN_TRY(enterDevice(device));
  if (!pool)
    return CUDA_ERROR_INVALID_VALUE;
  *pool = handleOf<CUmemoryPool>(currentPool().get());
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  PTXRUN_TRY(enterDevice(device));
  if (!resolve<Pool>(pool))
    return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(currentPoolMutex);
  currentPoolHandle = pool;
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *,
                                           CUmemAllocationType) {
  return cuDeviceGetDefaultMemPool(pool, 0);
}
PTXRUN_API CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *, CUmemAllocationType) {
  return cuDeviceGetMemPool(pool, 0);
}
PTXRUN_API CUresult cuMemSetMemPool(CUmemLocation *, CUmemAllocationType, CUmemoryPool pool) {
  return cuDeviceSetMemPool(0, pool);
}
