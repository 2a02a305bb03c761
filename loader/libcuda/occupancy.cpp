// Occupancy: computed from the limits that the device shows, so that programs size their grids as
// they would on a GPU of this compute capability. Registers are not counted: PTX has none allocated
// yet.
#include <algorithm>

#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/launch.h"
#include "loader/libcuda/module.h"
#include "rt/launch/floating_environment.h"

using namespace ptxrun::driver;

namespace {

constexpr int kWarp = 32, kMaxBlocksPerMultiprocessor = 32, kReservedSharedPerBlock = 1024;
constexpr int kPortableCluster = 8, kLargestCluster = 16;

int roundUp(int value, int to) { return (value + to - 1) / to * to; }

int sharedPerMultiprocessor() { return deviceInfo().sharedPerBlockOptin + kReservedSharedPerBlock; }

CUresult enterFunction(const void *handle, std::shared_ptr<Function> &function) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  function = resolveFunction(handle);
  return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

size_t askProgram(CUoccupancyB2DSize dynamicBytesFor, int threads) {
  ptxrun::rt::ProgramEnvironment environment;
  return dynamicBytesFor(threads);
}

/// The block size with the most resident threads; the larger one among equals.
CUresult potentialBlockSize(int *minGridSize, int *blockSize, CUfunction handle,
                            CUoccupancyB2DSize dynamicBytesFor, size_t dynamicBytes, int limit) {
  std::shared_ptr<Function> function;
  PTXRUN_TRY(enterFunction(handle, function));
  if (!minGridSize || !blockSize)
    return CUDA_ERROR_INVALID_VALUE;
  int largest = function->maxThreadsPerBlock();
  if (limit > 0)
    largest = std::min(largest, limit);
  int best = 0, bestThreads = 0, bestBlocks = 0;
  for (int size = roundUp(largest, kWarp); size > 0; size -= kWarp) {
    const int threads = std::min(size, largest);
    const size_t bytes = dynamicBytesFor ? askProgram(dynamicBytesFor, threads) : dynamicBytes;
    const int blocks = activeBlocks(*function, threads, bytes);
    if (blocks * threads > bestThreads) {
      bestThreads = blocks * threads;
      bestBlocks = blocks;
      best = threads;
    }
  }
  *blockSize = best;
  *minGridSize = bestBlocks * deviceInfo().multiprocessors;
  return CUDA_SUCCESS;
}

} // namespace

int ptxrun::driver::activeBlocks(const Function &function, int blockSize, size_t dynamicBytes) {
  if (blockSize > function.maxThreadsPerBlock())
    return 0;
  const uint64_t shared = function.code.staticMemory(function.info).sharedBytes + dynamicBytes;
  if (shared > static_cast<uint64_t>(deviceInfo().sharedPerBlockOptin))
    return 0;
  const int byThreads = deviceInfo().threadsPerMultiprocessor / roundUp(blockSize, kWarp);
  const int byShared =
      sharedPerMultiprocessor() / (static_cast<int>(shared) + kReservedSharedPerBlock);
  return std::min({byThreads, byShared, kMaxBlocksPerMultiprocessor});
}

PTXRUN_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, CUfunction handle, int blockSize, size_t dynamicBytes, unsigned flags) {
  std::shared_ptr<Function> function;
  PTXRUN_TRY(enterFunction(handle, function));
  if (!blocks || blockSize <= 0 || flags > 1)
    return CUDA_ERROR_INVALID_VALUE;
  *blocks = activeBlocks(*function, blockSize, dynamicBytes);
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                                int blockSize,
                                                                size_t dynamicBytes) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, blockSize,
                                                              dynamicBytes, 0);
}

PTXRUN_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize,
                                                              CUfunction function,
                                                              CUoccupancyB2DSize dynamicBytesFor,
                                                              size_t dynamicBytes, int limit,
                                                              unsigned flags) {
  if (flags > 1)
    return CUDA_ERROR_INVALID_VALUE;
  return potentialBlockSize(minGridSize, blockSize, function, dynamicBytesFor, dynamicBytes, limit);
}
PTXRUN_API CUresult cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize,
                                                     CUfunction function,
                                                     CUoccupancyB2DSize dynamicBytesFor,
                                                     size_t dynamicBytes, int limit) {
  return potentialBlockSize(minGridSize, blockSize, function, dynamicBytesFor, dynamicBytes, limit);
}

PTXRUN_API CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicBytes, CUfunction handle,
                                                            int blocks, int blockSize) {
  std::shared_ptr<Function> function;
  PTXRUN_TRY(enterFunction(handle, function));
  if (!dynamicBytes || blocks <= 0 || blockSize <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  const auto used = static_cast<int>(function->code.staticMemory(function->info).sharedBytes);
  const int share = sharedPerMultiprocessor() / blocks - kReservedSharedPerBlock - used;
  *dynamicBytes =
      static_cast<size_t>(std::clamp(share, 0, deviceInfo().sharedPerBlockOptin - used));
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction handle,
                                                       const CUlaunchConfig *config) {
  std::shared_ptr<Function> function;
  PTXRUN_TRY(enterFunction(handle, function));
  if (!clusterSize || !config)
    return CUDA_ERROR_INVALID_VALUE;
  *clusterSize = function->isNonPortableClusterAllowed ? kLargestCluster : kPortableCluster;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction handle,
                                                 const CUlaunchConfig *config) {
  std::shared_ptr<Function> function;
  PTXRUN_TRY(enterFunction(handle, function));
  if (!clusters || !config)
    return CUDA_ERROR_INVALID_VALUE;
  unsigned size = 1;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto &shape = config->attrs[i].value.clusterDim;
      size = shape.x * shape.y * shape.z;
    }
  if (size == 0)
    return CUDA_ERROR_INVALID_VALUE;
  const auto threads = static_cast<int>(config->blockDimX * config->blockDimY * config->blockDimZ);
  const int blocks = activeBlocks(*function, std::max(threads, 1), config->sharedMemBytes);
  // A cluster is as many blocks of multiprocessors as it has, and one of any size fits.
  const int room = blocks * deviceInfo().multiprocessors / static_cast<int>(size);
  *clusters = blocks == 0 ? 0 : std::max(room, 1);
  return CUDA_SUCCESS;
}
