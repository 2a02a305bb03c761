// Hints about where managed memory should live, and what was said of it (cuMemAdvise,
// cuMemPrefetchAsync, cuMemRangeGetAttribute).
#include <algorithm>
#include <vector>

#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/memory.h"
#include "loader/libcuda/memory_advice.h"
#include "loader/libcuda/stream_capture.h"

using namespace ptxrun::driver;

namespace {

/// The processor as a device number, and no device (CU_DEVICE_CPU, CU_DEVICE_INVALID).
constexpr int kCpu = -1, kNoDevice = -2;

CUmemLocation locationOf(CUdevice device) {
  return {device == kCpu ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE,
          device == kCpu ? 0 : device};
}

bool isLocation(CUmemLocation location) {
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE)
    return location.id >= 0 && location.id < deviceCount();
  return location.type >= CU_MEM_LOCATION_TYPE_HOST &&
         location.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

bool isEqual(CUmemLocation a, CUmemLocation b) { return a.type == b.type && a.id == b.id; }

/// True if all of the range is managed memory, the only kind that there is something to say of.
bool isManaged(CUdeviceptr address, size_t bytes) {
  const auto record = findMemory(reinterpret_cast<const void *>(address));
  if (!record || record->use != MemoryUse::managed)
    return false;
  const size_t offset = address - reinterpret_cast<CUdeviceptr>(record->base);
  return bytes <= record->bytes - offset;
}

CUresult takeAdvice(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                    CUmemLocation location) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!address || !bytes || advice < CU_MEM_ADVISE_SET_READ_MOSTLY ||
      advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
    return CUDA_ERROR_INVALID_VALUE;
  const bool isSet = advice == CU_MEM_ADVISE_SET_READ_MOSTLY ||
                     advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
                     advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
  const bool isPlace = (advice != CU_MEM_ADVISE_SET_READ_MOSTLY && isSet) ||
                       advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
  if (isPlace && !isLocation(location))
    return CUDA_ERROR_INVALID_DEVICE;
  advise(address, bytes, [&](MemoryAdvice &known) {
    if (advice <= CU_MEM_ADVISE_UNSET_READ_MOSTLY)
      known.isReadMostly = isSet;
    else if (advice <= CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION)
      known.preferred = isSet ? location : CUmemLocation{};
    else if (location.type != CU_MEM_LOCATION_TYPE_DEVICE)
      known.isAccessedByHost = isSet;
    else
      known.accessedBy[static_cast<size_t>(location.id)] = isSet;
  });
  return CUDA_SUCCESS;
}

CUresult prefetch(CUdeviceptr address, size_t bytes, CUmemLocation location,
                  CUstream streamHandle) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(streamHandle, context, stream));
  if (!address || !bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (!isLocation(location))
    return CUDA_ERROR_INVALID_DEVICE;
  advise(address, bytes, [&](MemoryAdvice &known) { known.prefetched = location; });
  return CUDA_SUCCESS;
}

/// Managed ranges that one call speaks of.
struct Batch {
  const CUdeviceptr *addresses;
  const size_t *bytes;
  size_t count;
};

/// Where each part of a batch goes: location number k is that of the ranges from firsts[k] on.
struct Places {
  const CUmemLocation *locations;
  const size_t *firsts;
  size_t count;
};

CUresult checkBatch(const Batch &batch, unsigned long long flags, CUstream streamHandle) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(streamHandle, context, stream));
  PTXRUN_TRY(forbidCapture(*stream));
  if (!batch.addresses || !batch.bytes || batch.count == 0 || flags != 0 ||
      stream->role() == Stream::Role::legacy)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < batch.count; ++i)
    if (batch.bytes[i] == 0 || !isManaged(batch.addresses[i], batch.bytes[i]))
      return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult checkPlaces(const Places &places, size_t count) {
  if (!places.locations || !places.firsts || places.count == 0 || places.count > count)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t k = 0; k < places.count; ++k) {
    const bool isInOrder = k == 0 ? places.firsts[0] == 0 : places.firsts[k] > places.firsts[k - 1];
    if (!isInOrder || places.firsts[k] >= count)
      return CUDA_ERROR_INVALID_VALUE;
    if (!isLocation(places.locations[k]))
      return CUDA_ERROR_INVALID_DEVICE;
  }
  return CUDA_SUCCESS;
}

/// All memory is the host's: what is left of a prefetch is the question where the last one went.
CUresult prefetchBatch(const Batch &batch, const Places &places, unsigned long long flags,
                       CUstream stream) {
  PTXRUN_TRY(checkBatch(batch, flags, stream));
  PTXRUN_TRY(checkPlaces(places, batch.count));
  for (size_t i = 0, k = 0; i < batch.count; ++i) {
    if (k + 1 < places.count && places.firsts[k + 1] == i)
      ++k;
    advise(batch.addresses[i], batch.bytes[i],
           [&](MemoryAdvice &known) { known.prefetched = places.locations[k]; });
  }
  return CUDA_SUCCESS;
}

/// The location that the whole range agrees on; an invalid one where it does not.
CUmemLocation common(CUdeviceptr address, size_t bytes, CUmemLocation MemoryAdvice::*member) {
  std::vector<CUmemLocation> all;
  forEachAdvice(address, bytes, [&](const MemoryAdvice &known) { all.push_back(known.*member); });
  const bool doAgree = std::all_of(all.begin(), all.end(),
                                   [&](CUmemLocation each) { return isEqual(each, all[0]); });
  return doAgree ? all[0] : CUmemLocation{};
}

int deviceOf(CUmemLocation location) {
  return location.type == CU_MEM_LOCATION_TYPE_INVALID  ? kNoDevice
         : location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id
                                                        : kCpu;
}

bool isAll(CUdeviceptr address, size_t bytes, bool MemoryAdvice::*member) {
  bool is = true;
  forEachAdvice(address, bytes, [&](const MemoryAdvice &known) { is &= known.*member; });
  return is;
}

CUresult readAccessedBy(int *out, size_t count, CUdeviceptr address, size_t bytes) {
  std::vector<int> devices;
  auto accessing = decltype(MemoryAdvice::accessedBy)().set();
  forEachAdvice(address, bytes, [&](const MemoryAdvice &known) { accessing &= known.accessedBy; });
  for (size_t device = 0; device < accessing.size(); ++device)
    if (accessing[device])
      devices.push_back(static_cast<int>(device));
  if (isAll(address, bytes, &MemoryAdvice::isAccessedByHost))
    devices.push_back(kCpu);
  devices.resize(count, kNoDevice);
  std::copy(devices.begin(), devices.end(), out);
  return CUDA_SUCCESS;
}

CUresult readAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute,
                       CUdeviceptr address, size_t bytes) {
  if (!data || dataSize < sizeof(int) || dataSize % sizeof(int) || !bytes ||
      !isManaged(address, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  int *out = static_cast<int *>(data);
  if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY)
    return readAccessedBy(out, dataSize / sizeof(int), address, bytes);
  if (dataSize != sizeof(int))
    return CUDA_ERROR_INVALID_VALUE;
  const auto preferred = common(address, bytes, &MemoryAdvice::preferred);
  const auto prefetched = common(address, bytes, &MemoryAdvice::prefetched);
  switch (attribute) {
  case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
    *out = isAll(address, bytes, &MemoryAdvice::isReadMostly);
    return CUDA_SUCCESS;
  case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
    *out = deviceOf(preferred);
    return CUDA_SUCCESS;
  case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
    *out = deviceOf(prefetched);
    return CUDA_SUCCESS;
  case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
    *out = preferred.type;
    return CUDA_SUCCESS;
  case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
    *out = preferred.id;
    return CUDA_SUCCESS;
  case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
    *out = prefetched.type;
    return CUDA_SUCCESS;
  case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
    *out = prefetched.id;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

} // namespace

PTXRUN_STREAM_API(cuMemPrefetchAsync, _ptsz,
                  (CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream),
                  (address, bytes, device, stream)) {
  return prefetch(address, bytes, locationOf(device), stream);
}
PTXRUN_STREAM_API(cuMemPrefetchAsync_v2, _ptsz,
                  (CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned flags,
                   CUstream stream),
                  (address, bytes, location, flags, stream)) {
  return flags == 0 ? prefetch(address, bytes, location, stream) : CUDA_ERROR_INVALID_VALUE;
}

PTXRUN_STREAM_API(cuMemPrefetchBatchAsync, _ptsz,
                  (CUdeviceptr * addresses, size_t *bytes, size_t count, CUmemLocation *locations,
                   size_t *firsts, size_t locationCount, unsigned long long flags, CUstream stream),
                  (addresses, bytes, count, locations, firsts, locationCount, flags, stream)) {
  return prefetchBatch({addresses, bytes, count}, {locations, firsts, locationCount}, flags,
                       stream);
}
/// Contents that a program gives up may stay as they are.
PTXRUN_STREAM_API(cuMemDiscardBatchAsync, _ptsz,
                  (CUdeviceptr * addresses, size_t *bytes, size_t count, unsigned long long flags,
                   CUstream stream),
                  (addresses, bytes, count, flags, stream)) {
  return checkBatch({addresses, bytes, count}, flags, stream);
}
PTXRUN_STREAM_API(cuMemDiscardAndPrefetchBatchAsync, _ptsz,
                  (CUdeviceptr * addresses, size_t *bytes, size_t count, CUmemLocation *locations,
                   size_t *firsts, size_t locationCount, unsigned long long flags, CUstream stream),
                  (addresses, bytes, count, locations, firsts, locationCount, flags, stream)) {
  return prefetchBatch({addresses, bytes, count}, {locations, firsts, locationCount}, flags,
                       stream);
}

PTXRUN_API CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                                CUdevice device) {
  return takeAdvice(address, bytes, advice, locationOf(device));
}
PTXRUN_API CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                                   CUmemLocation location) {
  return takeAdvice(address, bytes, advice, location);
}

PTXRUN_API CUresult cuMemRangeGetAttribute(void *data, size_t dataSize,
                                           CUmem_range_attribute attribute, CUdeviceptr address,
                                           size_t bytes) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  return readAttribute(data, dataSize, attribute, address, bytes);
}

PTXRUN_API CUresult cuMemRangeGetAttributes(void **data, size_t *dataSizes,
                                            CUmem_range_attribute *attributes, size_t count,
                                            CUdeviceptr address, size_t bytes) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!data || !dataSizes || !attributes || count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i)
    PTXRUN_TRY(readAttribute(data[i], dataSizes[i], attributes[i], address, bytes));
  return CUDA_SUCCESS;
}
