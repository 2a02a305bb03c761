#include "loader/libcuda/launch.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "loader/device/launch_settings.h"
#include "loader/libcuda/child_launches.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/recycled.h"

namespace ptxrun::driver {

namespace {

/// Native stacks that a cooperative launch may need at once; the kernel limits mappings.
constexpr uint64_t kMaxStacks = 12288;
/// Launches of more threads, or more blocks, are worth a worker thread at once.
constexpr uint64_t kManyThreads = 16384, kManyBlocks = 64;

uint64_t volume(abi::Dim3 d) { return uint64_t{d.x} * d.y * d.z; }

CUresult checkCluster(const Function &function, const LaunchShape &shape) {
  if (shape.cluster.x == 0)
    return CUDA_SUCCESS;
  if (deviceInfo().major < 9)
    return CUDA_ERROR_INVALID_VALUE;
  const auto [x, y, z] = shape.cluster;
  if (y == 0 || z == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (shape.grid.x % x || shape.grid.y % y || shape.grid.z % z)
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  const uint32_t limit =
      function.isNonPortableClusterAllowed ? device::kMaxCluster : device::kPortableCluster;
  return volume(shape.cluster) <= limit ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

CUresult checkShape(const Function &function, const LaunchShape &shape) {
  const auto &[grid, block, cluster, dynamicSharedBytes, isCooperative] = shape;
  if (volume(grid) == 0 || volume(block) == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (grid.x > device::kMaxGridX || grid.y > device::kMaxGridYz || grid.z > device::kMaxGridYz)
    return CUDA_ERROR_INVALID_VALUE;
  if (block.x > device::kMaxBlockXy || block.y > device::kMaxBlockXy ||
      block.z > device::kMaxBlockZ ||
      volume(block) > static_cast<uint64_t>(function.maxThreadsPerBlock()))
    return CUDA_ERROR_INVALID_VALUE;
  if (dynamicSharedBytes > static_cast<unsigned>(function.maxDynamicShared.load()))
    return CUDA_ERROR_INVALID_VALUE;
  if (isCooperative) {
    // all blocks have to be there at once, as on the device that is shown
    const int blocks = activeBlocks(function, static_cast<int>(volume(block)), dynamicSharedBytes);
    if (volume(grid) > static_cast<uint64_t>(blocks * deviceInfo().multiprocessors))
      return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  }
  return checkCluster(function, shape);
}

/// What the environment asks of every launch.
const device::LaunchOptions &environmentOptions() {
  static const device::LaunchOptions given = [] {
    device::LaunchOptions read;
    device::readEnvironment(read,
                            [](const std::string &wrong) { report("%s; ignored", wrong.c_str()); });
    return read;
  }();
  return given;
}

} // namespace

std::byte *KernelArguments::reserve(size_t bytes) {
  if (bytes <= kInlineBytes)
    return inline_;
  large_.resize(bytes);
  return large_.data();
}

CUresult KernelArguments::readPointers(const Function &function, void *const *pointers) {
  std::byte *out = reserve(function.info.parameterBytes);
  for (const device::Parameter &parameter : function.info.parameters) {
    const void *value = *pointers++;
    if (!value)
      return CUDA_ERROR_INVALID_VALUE;
    memcpy(out + parameter.offset, value, parameter.bytes);
  }
  return CUDA_SUCCESS;
}

CUresult KernelArguments::readBuffer(const Function &function, void *const *extra) {
  const void *buffer = nullptr;
  size_t bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[1];
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      bytes = *static_cast<const size_t *>(extra[1]);
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  const size_t needed = function.info.parameterBytes;
  if (needed != 0 && (!buffer || bytes < needed))
    return CUDA_ERROR_INVALID_VALUE;
  if (needed != 0)
    memcpy(reserve(needed), buffer, needed);
  return CUDA_SUCCESS;
}

namespace {

bool areSame(const LaunchShape &a, const LaunchShape &b) {
  const auto same = [](abi::Dim3 x, abi::Dim3 y) { return x.x == y.x && x.y == y.y && x.z == y.z; };
  return same(a.grid, b.grid) && same(a.block, b.block) && same(a.cluster, b.cluster) &&
         a.dynamicSharedBytes == b.dynamicSharedBytes && a.isCooperative == b.isCooperative;
}

/// Without parameters.
device::LaunchOptions optionsOf(const LaunchShape &shape) {
  device::LaunchOptions options = environmentOptions();
  options.grid = shape.grid;
  options.block = shape.block;
  options.cluster = shape.cluster;
  options.dynamicSharedBytes = shape.dynamicSharedBytes;
  options.isCooperative = shape.isCooperative;
  return options;
}

/// Fills in what the kernel's directives say; an error where they do not allow the launch.
CUresult completeShape(const device::KernelInfo &info, LaunchShape &shape) {
  device::LaunchOptions shaped = optionsOf(shape);
  const std::string problem = device::shapeLaunch(info, shaped);
  shape.grid = shaped.grid;
  shape.block = shaped.block;
  shape.cluster = shaped.cluster;
  if (problem.empty())
    return CUDA_SUCCESS;
  reportOnce(problem);
  return CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

CUresult prepare(Function &function, PreparedLaunch &launch) {
  LaunchShape &shape = launch.shape = launch.asked;
  launch.attributeChanges = function.attributeChanges;
  if (shape.cluster.x == 0 && function.clusterWidth != 0)
    shape.cluster = {static_cast<uint32_t>(function.clusterWidth),
                     static_cast<uint32_t>(std::max(function.clusterHeight.load(), 1)),
                     static_cast<uint32_t>(std::max(function.clusterDepth.load(), 1))};
  PTXRUN_TRY(completeShape(function.info, shape));
  PTXRUN_TRY(checkShape(function, shape));
  device::Outcome outcome;
  launch.variant = function.code.compile(function.info, optionsOf(shape), outcome);
  if (!launch.variant.kernel) {
    reportOnce(outcome.message);
    return toResult(outcome.code);
  }
  const uint64_t threads = volume(shape.block), lanes = launch.variant.needs.lanes;
  const uint64_t gangs = volume(shape.grid) * ((threads + lanes - 1) / lanes);
  return shape.isCooperative && launch.variant.needsStacks && gangs > kMaxStacks
             ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
             : CUDA_SUCCESS;
}

/// As the function's last launch was prepared, if this one is the same. On failure null and
/// `result`.
std::shared_ptr<const PreparedLaunch> prepareLike(Function &function, const LaunchShape &shape,
                                                  CUresult &result) {
  result = CUDA_SUCCESS;
  auto prepared = function.lastLaunch();
  if (prepared && areSame(prepared->asked, shape) &&
      prepared->attributeChanges == function.attributeChanges && !prepared->variant.isOutdated())
    return prepared;
  auto made = std::make_shared<PreparedLaunch>();
  made->asked = shape;
  result = prepare(function, *made);
  if (result != CUDA_SUCCESS)
    return nullptr;
  function.setLastLaunch(made);
  return made;
}

} // namespace

std::shared_ptr<LaunchOperation> LaunchOperation::make(std::shared_ptr<Function> function,
                                                       const LaunchShape &shape, CUresult &result) {
  auto prepared = prepareLike(*function, shape, result);
  if (!prepared)
    return nullptr;
  auto operation = std::allocate_shared<LaunchOperation>(Recycled<LaunchOperation>());
  operation->prepared_ = std::move(prepared);
  operation->function_ = std::move(function);
  return operation;
}

CUresult LaunchOperation::setGrid(abi::Dim3 grid) {
  const abi::Dim3 now = shape().grid;
  if (now.x == grid.x && now.y == grid.y && now.z == grid.z)
    return CUDA_SUCCESS;
  LaunchShape asked = prepared_->asked;
  asked.grid = grid;
  CUresult result = CUDA_SUCCESS;
  if (auto prepared = prepareLike(*function_, asked, result))
    prepared_ = std::move(prepared);
  return result;
}

CUresult LaunchOperation::run(Context &context) {
  if (!function_->childList)
    return runGrid(context);
  return runWithChildren(context, *function_, stream, [&] { return runGrid(context); });
}

CUresult LaunchOperation::runGrid(Context &context) {
  device::LaunchOptions options = optionsOf(shape());
  options.params = arguments.data();
  options.stream = stream;
  options.cancel = &shutdownFlag();
  static std::atomic<uint64_t> launches{0};
  options.launchNumber = launches.fetch_add(1, std::memory_order_relaxed);
  device::Outcome outcome;
  if (hasRun_ && prepared_->variant.upgrade) { // of a graph: there may be better code by now
    if (device::Variant now = function_->code.compile(function_->info, options, outcome);
        now.kernel) {
      auto better = std::make_shared<PreparedLaunch>(*prepared_);
      better->variant = std::move(now);
      prepared_ = std::move(better);
    }
  }
  hasRun_ = true;
  outcome = function_->code.launch(function_->info, prepared_->variant, options);
  if (outcome.isOk() || outcome.code == device::Code::cancelled)
    return CUDA_SUCCESS;
  // What the runtime finds wrong with a launch that is already queued cannot be "invalid argument"
  // to a later call.
  const CUresult result = outcome.code == device::Code::invalidValue ? CUDA_ERROR_LAUNCH_FAILED
                                                                     : toResult(outcome.code);
  context.fail(result, outcome.message);
  return result;
}

bool LaunchOperation::isLarge() const {
  return volume(shape().grid) * volume(shape().block) > kManyThreads ||
         volume(shape().grid) > kManyBlocks;
}

CUresult applyAttribute(CUlaunchAttributeID id, const CUlaunchAttributeValue &value,
                        LaunchShape &shape) {
  if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
    shape.isCooperative = value.cooperative != 0;
  if (id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
    return CUDA_SUCCESS;
  shape.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
  return shape.cluster.x == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult readArguments(LaunchOperation &operation, void *const *kernelParams, void *const *extra) {
  const Function &function = operation.function();
  if (kernelParams && extra)
    return CUDA_ERROR_INVALID_VALUE;
  if (kernelParams)
    return operation.arguments.readPointers(function, kernelParams);
  if (extra)
    return operation.arguments.readBuffer(function, extra);
  return function.info.parameters.empty() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

bool isLaunchBlocking() {
  static const bool isSet = [] {
    const char *value = getenv("CUDA_LAUNCH_BLOCKING");
    return value && *value == '1';
  }();
  return isSet;
}

CUresult submitLaunch(Context &context, Stream &stream,
                      std::shared_ptr<LaunchOperation> operation) {
  operation->stream = stream.id();
  stream.makeRoom();
  stream.enqueue(std::move(operation));
  if (!isLaunchBlocking())
    return CUDA_SUCCESS;
  stream.synchronise();
  return context.error();
}

} // namespace ptxrun::driver
