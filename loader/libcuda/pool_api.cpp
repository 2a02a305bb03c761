// Stream-ordered allocation. Memory is taken at the call and given back when the stream gets to the
// free; a pool only keeps count, the memory comes from the one allocator. Memory whose free waits
// in a stream is handed out again to the same stream, as what follows there comes after its last
// use: programs that allocate and free in a loop need it once, however far they are ahead.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <vector>

#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/copy.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/memory.h"
#include "loader/libcuda/pool_arena.h"
#include "loader/libcuda/stream_capture.h"

using namespace ptxrun::driver;
namespace device = ptxrun::device;

namespace {

/// Pools take memory in units of so many bytes, and say so of what they hold.
constexpr uint64_t kUnit = 2 << 20;
uint64_t inUnits(uint64_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

class FreeOperation;

/// Whose memory a pool gives: a device's (MemoryUse::pool), the host's, or managed memory.
struct PoolPlace {
  CUdevice device = 0;
  MemoryUse use = MemoryUse::pool;
};

class Pool final : public Object {
 public:
  static constexpr Kind kKind = Kind::pool;
  explicit Pool(PoolPlace place, uint64_t maxBytes = 0)
      : Object(kKind), place(place), maxBytes(maxBytes) {}
  const PoolPlace place;            ///< where its memory lies
  const uint64_t maxBytes;          ///< that may be in use at once; 0: as many as there are
  std::unique_ptr<PoolArena> arena; ///< of one that processes share

  /// False where the pool may not have so much.
  bool take(size_t bytes);
  void give(size_t bytes);
  /// What the pool would hold on a GPU: what is in use, and of the rest the threshold's share.
  uint64_t reserved();
  void trim(uint64_t leastBytes);
  void resetHigh(bool ofReserved);

  /// A free that waits in a stream.
  void await(const FreeOperation &, CUdeviceptr, size_t bytes, const std::shared_ptr<Stream> &);
  bool isAwaited(CUdeviceptr);
  bool awaitsAny();
  /// An allocation of so many bytes whose free waits in that stream, which is then called off; 0
  /// where there is none.
  CUdeviceptr callOff(size_t bytes, const Stream &);
  /// The stream has come to the free; false where it was called off.
  bool begin(const FreeOperation &);

  std::atomic<uint64_t> used{0}, usedHigh{0}, reservedHigh{0}, releaseThreshold{0};
  std::atomic<int> followsEvents{1}, isOpportunistic{1}, allowsInternal{1};

 private:
  struct Awaited {
    const FreeOperation *operation;
    CUdeviceptr address;
    size_t bytes;
    std::weak_ptr<Stream> stream;
  };
  std::mutex mutex_;
  std::vector<Awaited> awaited_;
  uint64_t held_ = 0; ///< reserved, but for what was released since
};

bool Pool::take(size_t bytes) {
  std::lock_guard lock(mutex_);
  if (maxBytes && used + bytes > maxBytes)
    return false;
  used += bytes;
  usedHigh = std::max(usedHigh.load(), used.load());
  held_ = std::max(held_, inUnits(used));
  reservedHigh = std::max(reservedHigh.load(), held_);
  return true;
}
void Pool::give(size_t bytes) {
  std::lock_guard lock(mutex_);
  used -= bytes;
}
uint64_t Pool::reserved() {
  std::lock_guard lock(mutex_);
  held_ = std::max(inUnits(used), std::min(held_, releaseThreshold.load()));
  return held_;
}
void Pool::trim(uint64_t leastBytes) {
  std::lock_guard lock(mutex_);
  held_ = std::max(inUnits(used), std::min(held_, leastBytes));
}
void Pool::resetHigh(bool ofReserved) {
  const uint64_t now = ofReserved ? reserved() : used.load();
  (ofReserved ? reservedHigh : usedHigh) = now;
}
void Pool::await(const FreeOperation &operation, CUdeviceptr address, size_t bytes,
                 const std::shared_ptr<Stream> &stream) {
  std::lock_guard lock(mutex_);
  awaited_.push_back({&operation, address, bytes, stream});
}
bool Pool::isAwaited(CUdeviceptr address) {
  std::lock_guard lock(mutex_);
  return std::ranges::find(awaited_, address, &Awaited::address) != awaited_.end();
}
bool Pool::awaitsAny() {
  std::lock_guard lock(mutex_);
  return !awaited_.empty();
}
CUdeviceptr Pool::callOff(size_t bytes, const Stream &stream) {
  std::lock_guard lock(mutex_);
  // what was freed last first: caches may still have it
  const auto found = std::find_if(awaited_.rbegin(), awaited_.rend(), [&](const Awaited &one) {
    return one.bytes == bytes && one.stream.lock().get() == &stream;
  });
  if (found == awaited_.rend())
    return 0;
  const CUdeviceptr address = found->address;
  awaited_.erase(std::next(found).base());
  return address;
}
bool Pool::begin(const FreeOperation &operation) {
  std::lock_guard lock(mutex_);
  return std::erase_if(awaited_, [&](const Awaited &one) { return one.operation == &operation; });
}

class FreeOperation final : public Operation {
 public:
  FreeOperation(CUdeviceptr address, std::shared_ptr<Pool> pool, size_t bytes)
      : address_(address), pool_(std::move(pool)), bytes_(bytes) {}
  CUresult run(Context &) override {
    if (pool_ && !pool_->begin(*this))
      return CUDA_SUCCESS;
    if (pool_ && pool_->arena)
      return releaseToSharedPool(address_);
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

/// What each place has: the pool it came with, and the one that programs chose.
struct PlacePools {
  std::shared_ptr<Pool> first;
  CUmemoryPool current = nullptr;
};
std::mutex placePoolsMutex;

/// Called with the mutex held.
PlacePools &poolsOf(PoolPlace place) {
  constexpr size_t kHost = ptxrun::machine::kMostDevices, kManaged = kHost + 1;
  static auto *all = new std::array<PlacePools, kManaged + 1>;
  PlacePools &pools = (*all)[place.use == MemoryUse::host      ? kHost
                             : place.use == MemoryUse::managed ? kManaged
                                                               : static_cast<size_t>(place.device)];
  if (!pools.first) {
    pools.first = std::make_shared<Pool>(place);
    publish<CUmemoryPool>(pools.first);
  }
  return pools;
}

std::shared_ptr<Pool> defaultPool(PoolPlace place) {
  std::lock_guard lock(placePoolsMutex);
  return poolsOf(place).first;
}

std::shared_ptr<Pool> currentPool(PoolPlace place) {
  std::lock_guard lock(placePoolsMutex);
  PlacePools &pools = poolsOf(place);
  auto pool = pools.current ? resolve<Pool>(pools.current) : nullptr;
  return pool ? pool : pools.first;
}

/// The host is one place, whichever of its nodes is named; managed memory is one, too.
CUresult placeAt(const CUmemLocation *location, CUmemAllocationType type, PoolPlace &place) {
  if (!location)
    return CUDA_ERROR_INVALID_VALUE;
  place = {};
  if (location->type == CU_MEM_LOCATION_TYPE_DEVICE)
    place.device = location->id;
  if (type == CU_MEM_ALLOCATION_TYPE_MANAGED)
    place.use = MemoryUse::managed;
  else if (location->type == CU_MEM_LOCATION_TYPE_INVALID)
    return CUDA_ERROR_INVALID_VALUE;
  else if (location->type != CU_MEM_LOCATION_TYPE_DEVICE)
    place.use = MemoryUse::host;
  return checkDevice(place.device);
}

CUresult allocateShared(Pool &pool, CUdeviceptr *address, size_t bytes, MemoryRecord record) {
  if (pool.arena->isImported() || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE; // who made the pool allocates from it
  if (!pool.take(bytes))
    return CUDA_ERROR_OUT_OF_MEMORY;
  *address = pool.arena->take(bytes);
  if (!*address) {
    pool.give(bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  record.use = MemoryUse::mapped;
  noteMapped(reinterpret_cast<void *>(*address), bytes, record);
  return CUDA_SUCCESS;
}

CUresult allocateCounted(Pool &pool, CUdeviceptr *address, size_t bytes,
                         const MemoryRecord &record) {
  if (!pool.take(bytes))
    return CUDA_ERROR_OUT_OF_MEMORY;
  const CUresult result = allocate(address, bytes, record);
  if (result != CUDA_SUCCESS)
    pool.give(bytes);
  return result;
}

CUresult captureAllocation(Context &context, const Stream &stream, CUdeviceptr *address,
                           size_t bytes) {
  AllocationNode node;
  PTXRUN_TRY(GraphAllocation::make(&context, bytes, node.allocation));
  node.description.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  node.description.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, context.device()};
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

/// From the pool of that handle, or the current one of the stream's device.
CUresult allocateFrom(std::optional<CUmemoryPool> handle, CUdeviceptr *address, size_t bytes,
                      CUstream streamHandle) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(streamHandle, context, stream));
  auto pool = handle ? resolve<Pool>(*handle) : currentPool({context->device()});
  if (!address || !pool)
    return CUDA_ERROR_INVALID_VALUE;
  bool isCaptured = false;
  PTXRUN_TRY(routeWork(*stream, isCaptured));
  if (isCaptured)
    return captureAllocation(*context, *stream, address, bytes);
  MemoryRecord record{pool->place.use, 0, context, pool->place.device};
  record.pool = handleOf<void *>(pool.get());
  if ((*address = pool->callOff(bytes, *stream)))
    return CUDA_SUCCESS;
  const auto allocateNow = [&] {
    return pool->arena ? allocateShared(*pool, address, bytes, record)
                       : allocateCounted(*pool, address, bytes, record);
  };
  const CUresult result = allocateNow();
  if (result != CUDA_ERROR_OUT_OF_MEMORY || !pool->awaitsAny())
    return result;
  context->synchronise(); // what waits to be freed may be enough
  return allocateNow();
}

/// The pool that `choose` has for a place.
CUresult answerPool(CUmemoryPool *pool, const CUmemLocation *location, CUmemAllocationType type,
                    std::shared_ptr<Pool> (*choose)(PoolPlace)) {
  PoolPlace place;
  PTXRUN_TRY(checkInitialised());
  PTXRUN_TRY(placeAt(location, type, place));
  if (!pool)
    return CUDA_ERROR_INVALID_VALUE;
  *pool = handleOf<CUmemoryPool>(choose(place).get());
  return CUDA_SUCCESS;
}

CUresult enterDevice(CUdevice device) {
  PTXRUN_TRY(checkInitialised());
  return checkDevice(device);
}

} // namespace

PTXRUN_STREAM_API(cuMemAllocAsync, _ptsz, (CUdeviceptr * address, size_t bytes, CUstream stream),
                  (address, bytes, stream)) {
  return allocateFrom(std::nullopt, address, bytes, stream);
}
PTXRUN_STREAM_API(cuMemAllocFromPoolAsync, _ptsz,
                  (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream stream),
                  (address, bytes, pool, stream)) {
  return allocateFrom(pool, address, bytes, stream);
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
      record->use == MemoryUse::registered ||
      ((record->use == MemoryUse::host || record->use == MemoryUse::mapped) && !record->pool))
    return CUDA_ERROR_INVALID_VALUE;
  auto pool = resolve<Pool>(record->pool);
  if (pool && pool->isAwaited(address))
    return CUDA_ERROR_INVALID_VALUE; // freed already
  auto operation = std::make_shared<FreeOperation>(address, pool, record->bytes);
  if (pool)
    pool->await(*operation, address, record->bytes, stream);
  const CUresult result = perform(*context, *stream, operation, Completion::async);
  if (result != CUDA_SUCCESS && pool)
    pool->begin(*operation); // the stream did not take it
  return result;
}

PTXRUN_API CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
  PTXRUN_TRY(checkInitialised());
  if (!pool || !properties)
    return CUDA_ERROR_INVALID_VALUE;
  if (properties->handleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return notSupported("a memory pool with handles other than file descriptors");
  PoolPlace place;
  PTXRUN_TRY(placeAt(&properties->location, properties->allocType, place));
  auto made = std::make_shared<Pool>(place, inUnits(properties->maxSize));
  if (properties->handleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    const size_t bytes = properties->maxSize ? properties->maxSize : device::totalMemory();
    made->arena = PoolArena::make(inUnits(bytes));
    if (!made->arena)
      return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *pool = publish<CUmemoryPool>(made);
  return CUDA_SUCCESS;
}

void ptxrun::driver::releasePooled(const MemoryRecord &record) {
  if (const auto pool = resolve<Pool>(record.pool))
    pool->give(record.bytes);
  release(reinterpret_cast<CUdeviceptr>(record.base));
}

CUresult ptxrun::driver::releaseToSharedPool(CUdeviceptr address) {
  const auto record = findMemory(reinterpret_cast<const void *>(address));
  if (!record || record->use != MemoryUse::mapped || !record->pool ||
      reinterpret_cast<CUdeviceptr>(record->base) != address)
    return CUDA_ERROR_INVALID_VALUE;
  forgetMapped(record->base);
  const auto pool = resolve<Pool>(record->pool);
  if (!pool)
    return CUDA_SUCCESS;
  pool->give(record->bytes);
  if (!pool->arena->isImported())
    pool->arena->give(address, record->bytes);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemPoolExportToShareableHandle(void *handle, CUmemoryPool poolHandle,
                                                     CUmemAllocationHandleType type,
                                                     unsigned long long flags) {
  PTXRUN_TRY(checkInitialised());
  const auto pool = resolve<Pool>(poolHandle);
  if (!handle || !pool || flags != 0 || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
      !pool->arena || pool->arena->isImported())
    return CUDA_ERROR_INVALID_VALUE;
  const int file = duplicateFile(pool->arena->file());
  if (file < 0)
    return CUDA_ERROR_OPERATING_SYSTEM;
  *static_cast<int *>(handle) = file; // the program's, to close or to send
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *handle, void *shareable,
                                                       CUmemAllocationHandleType type,
                                                       unsigned long long flags) {
  PTXRUN_TRY(checkInitialised());
  if (!handle || flags != 0 || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return CUDA_ERROR_INVALID_VALUE;
  auto pool = std::make_shared<Pool>(PoolPlace{});
  pool->arena = PoolArena::import(static_cast<int>(reinterpret_cast<intptr_t>(shareable)));
  if (!pool->arena)
    return CUDA_ERROR_INVALID_VALUE;
  *handle = publish<CUmemoryPool>(pool);
  return CUDA_SUCCESS;
}

namespace {
/// What the 64 bytes hold that describe an allocation to another process.
struct ExportedPointer {
  char mark[8];
  uint64_t offset, bytes;
};
constexpr char kPointerMark[8] = "ptxrunP";
} // namespace

PTXRUN_API CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *data, CUdeviceptr address) {
  PTXRUN_TRY(checkInitialised());
  const auto record = findMemory(reinterpret_cast<const void *>(address));
  const auto pool = record ? resolve<Pool>(record->pool) : nullptr;
  if (!data || !pool || !pool->arena || reinterpret_cast<CUdeviceptr>(record->base) != address)
    return CUDA_ERROR_INVALID_VALUE;
  ExportedPointer content = {{}, pool->arena->offsetOf(address), record->bytes};
  memcpy(content.mark, kPointerMark, sizeof kPointerMark);
  memset(data, 0, sizeof *data);
  memcpy(data, &content, sizeof content);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemPoolImportPointer(CUdeviceptr *address, CUmemoryPool poolHandle,
                                           CUmemPoolPtrExportData *data) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  const auto pool = resolve<Pool>(poolHandle);
  ExportedPointer content;
  if (!address || !data || !pool || !pool->arena || !pool->arena->isImported())
    return CUDA_ERROR_INVALID_VALUE;
  memcpy(&content, data, sizeof content);
  *address = pool->arena->at(content.offset, content.bytes);
  if (memcmp(content.mark, kPointerMark, sizeof kPointerMark) != 0 || !*address)
    return CUDA_ERROR_INVALID_VALUE;
  MemoryRecord record{MemoryUse::mapped, 0, context};
  record.pool = handleOf<void *>(pool.get());
  noteMapped(reinterpret_cast<void *>(*address), content.bytes, record);
  pool->take(content.bytes);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  PTXRUN_TRY(checkInitialised());
  const auto pool = resolve<Pool>(handle);
  if (!pool || pool == defaultPool(pool->place))
    return CUDA_ERROR_INVALID_VALUE;
  return withdraw<Pool>(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

PTXRUN_API CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t leastBytes) {
  PTXRUN_TRY(checkInitialised());
  const auto pool = resolve<Pool>(handle);
  if (!pool)
    return CUDA_ERROR_INVALID_VALUE;
  pool->trim(leastBytes);
  return CUDA_SUCCESS;
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
    pool->resetHigh(attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH);
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
    return put(pool->reserved());
  case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
    return put(pool->used.load());
  case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    return put(pool->reservedHigh.load());
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
  *pool = handleOf<CUmemoryPool>(defaultPool({device}).get());
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
  PTXRUN_TRY(enterDevice(device));
  if (!pool)
    return CUDA_ERROR_INVALID_VALUE;
  *pool = handleOf<CUmemoryPool>(currentPool({device}).get());
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  PTXRUN_TRY(enterDevice(device));
  if (!resolve<Pool>(pool))
    return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(placePoolsMutex);
  poolsOf({device}).current = pool;
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location,
                                           CUmemAllocationType type) {
  return answerPool(pool, location, type, defaultPool);
}
PTXRUN_API CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location,
                                    CUmemAllocationType type) {
  return answerPool(pool, location, type, currentPool);
}
PTXRUN_API CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type,
                                    CUmemoryPool handle) {
  PoolPlace place;
  PTXRUN_TRY(checkInitialised());
  PTXRUN_TRY(placeAt(location, type, place));
  const auto pool = resolve<Pool>(handle);
  if (!pool || pool->place.use != place.use)
    return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(placePoolsMutex);
  poolsOf(place).current = handle;
  return CUDA_SUCCESS;
}
