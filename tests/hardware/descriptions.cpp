// Runs launch descriptions through CUDA's driver, on whatever device it has.
//
//   descriptions_on_device [-j N] FILE.toml ...
//
// Says of each file, in a line:
//
//   as expected         what was not tried stands behind it in parentheses
//   differs: ...        the first values that do
//   failed: ...         a function of the driver did
//   refused: ...        the module: what the driver's compiler says
//   crashed: signal 11
//   hung                for 20 s
//   skipped: ...        nothing in it is for a device
//
// Launches that are expected to fail, or ask for a schedule or a check that only we have, are left
// out; those that say when copies happen run. Not compared are buffers that any of them is given,
// and printed text.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <sstream>
#include <thread>

#include "loader/ptxrun/arguments.h"
#include "loader/ptxrun/compare.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/module_file.h"
#include "loader/ptxrun/npy.h"
#include "loader/ptxrun/plan.h"
#include "loader/ptxrun/tensor_argument.h"
#include "tests/hardware/child.h"
#include "tests/hardware/driver.h"

namespace ptxrun::hardware {
namespace {
using namespace command;

/// A description's line is known before its end.
struct Verdict {
  std::string line;
};

void check(CUresult result, const std::string &what) {
  if (result != CUDA_SUCCESS)
    throw Verdict{"failed: " + nameOf(result) + ": " + what};
}

/// In one line of bearable length.
std::string joined(const std::string &text) {
  std::istringstream parts(text.substr(0, 1000));
  std::string line;
  for (std::string part; std::getline(parts >> std::ws, part);)
    line += (line.empty() ? "" : "; ") + part;
  return line;
}

CUdeviceptr upload(const void *from, size_t bytes) {
  CUdeviceptr address = 0;
  check(cuMemAlloc(&address, std::max<size_t>(bytes, 8)), "cuMemAlloc");
  check(cuMemcpyHtoD(address, from, bytes), "cuMemcpyHtoD");
  return address;
}

CUmodule loadOnDevice(const std::string &text) {
  CUmodule module = nullptr;
  std::string log;
  if (CUresult result = loadModule(module, text, log))
    throw Verdict{"refused: " + nameOf(result) + ": " + log};
  return module;
}

CUtensorMapDataType typeOf(rt::TensorType type) {
  switch (type) { // CUDA has the others in PTX's order
  case rt::TensorType::f32Ftz:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ;
  case rt::TensorType::f64:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  case rt::TensorType::bf16:
    return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  default:
    return static_cast<CUtensorMapDataType>(type);
  }
}

CUtensorMapSwizzle swizzleOf(const rt::TensorMap &map) {
  return static_cast<CUtensorMapSwizzle>(
      static_cast<int>(map.swizzle) +
      (map.swizzle == rt::TensorSwizzle::bytes128 ? static_cast<int>(map.atomicity) : 0));
}

/// The map as the driver writes it.
CUtensorMap encode(const rt::TensorMap &map) {
  uint64_t sizes[rt::kMaxTensorRank], strides[rt::kMaxTensorRank] = {};
  uint32_t box[rt::kMaxTensorRank], steps[rt::kMaxTensorRank];
  for (uint32_t i = 0; i < map.rank; ++i)
    sizes[i] = map.size(i), box[i] = map.box[i], steps[i] = map.elementStride[i];
  std::copy_n(map.stride, map.rank - 1, strides);
  const int lower[] = {map.lower[0], map.lower[1], map.lower[2]},
            upper[] = {map.upper[0], map.upper[1], map.upper[2]};
  const auto type = typeOf(map.type);
  const auto interleave = static_cast<CUtensorMapInterleave>(map.interleave);
  const auto swizzle = swizzleOf(map);
  const auto fill = static_cast<CUtensorMapFloatOOBfill>(map.fill);
  void *address = reinterpret_cast<void *>(map.address);
  CUtensorMap result;
  if (map.kind == rt::TensorKind::tiled)
    check(cuTensorMapEncodeTiled(&result, type, map.rank, address, sizes, strides, box, steps,
                                 interleave, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill),
          "cuTensorMapEncodeTiled");
  else if (map.kind == rt::TensorKind::im2col)
    check(cuTensorMapEncodeIm2col(&result, type, map.rank, address, sizes, strides, lower, upper,
                                  map.channelsPerPixel, map.pixelsPerColumn, steps, interleave,
                                  swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill),
          "cuTensorMapEncodeIm2col");
  else
    check(cuTensorMapEncodeIm2colWide(
              &result, type, map.rank, address, sizes, strides, lower[0], upper[0],
              map.channelsPerPixel, map.pixelsPerColumn, steps, interleave,
              map.kind == rt::TensorKind::im2colW ? CU_TENSOR_MAP_IM2COL_WIDE_MODE_W
                                                  : CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128,
              swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill),
          "cuTensorMapEncodeIm2colWide");
  return result;
}

/// Why a device is not to run the launch; empty: it is.
std::string whyNotRun(const Launch &launch) {
  if (launch.outcome != "ok")
    return "expects an error";
  for (const char *word : {"check", "schedule"})
    if (launch.settings.contains(word))
      return std::string("sets ") + word;
  for (const std::string &text : launch.arguments)
    if (isTensorMap(text) && text.find("swizzle=96B") != text.npos)
      return "CUDA encodes no swizzle of 96 bytes";
  return "";
}

/// Why it need not leave what we do.
std::string whyNotCompared(const Launch &launch) {
  return launch.settings.contains("async") ? "sets async" : whyNotRun(launch);
}

/// Whether an argument is or contains the name.
bool mentions(const std::string &text, const std::string &name) {
  auto isPart = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = 0; (at = text.find(name, at)) != text.npos; ++at)
    if ((at == 0 || !isPart(text[at - 1])) &&
        (at + name.size() == text.size() || !isPart(text[at + name.size()])))
      return true;
  return false;
}

class Description {
 public:
  explicit Description(const std::string &path) : plan_(readDescription(path)) {}

  std::string run() {
    if (plan_.outcome != "ok")
      return "skipped: expects an error";
    for (const Launch &launch : plan_.launches)
      noteSkipped(whyNotCompared(launch));
    if (std::ranges::none_of(plan_.launches, &std::string::empty, whyNotCompared))
      return "skipped: " + skipped_;
    openDevice();
    loadModules();
    for (const NamedBuffer &buffer : plan_.buffers)
      makeBuffer(buffer);
    for (const Launch &launch : plan_.launches)
      for (unsigned turn = 0; turn < launch.times && whyNotRun(launch).empty(); ++turn)
        this->launch(launch, turn);
    std::string differences;
    for (const Expectation &expectation : plan_.expectations)
      differences += differencesOf(expectation);
    return differences.empty()
               ? "as expected" + (skipped_.empty() ? "" : " (skipped: " + skipped_ + ")")
               : "differs: " + differences;
  }

 private:
  struct Buffer {
    std::string name;
    Array initial;
    CUdeviceptr address;
  };
  struct Map {
    CUtensorMap value;
    CUdeviceptr copy; ///< kernels may change it
  };

  void noteSkipped(const std::string &why) {
    if (skipped_.find(why) == skipped_.npos) // so nothing is noted of ""
      skipped_ += (skipped_.empty() ? "" : ", ") + why;
  }

  static void openDevice() {
    check(cuInit(0), "cuInit");
    CUcontext context = nullptr;
    check(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    // Functions call themselves.
    check(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 16 << 10), "cuCtxSetLimit");
  }

  /// Ours tells the parameters.
  void loadModules() {
    const std::string text = readText(plan_.module);
    onDevice_ = loadOnDevice(text);
    device::Outcome outcome;
    module_ = device::Module::load(plan_.module, text, {}, outcome);
    if (!module_)
      throw Failed(outcome.message);
  }

  void makeBuffer(const NamedBuffer &buffer) {
    Array initial = makeArray(buffer.spec, plan_.directory, symbols());
    const CUdeviceptr address = upload(initial.data(), initial.bytes());
    buffers_.push_back({buffer.name, std::move(initial), address});
  }

  std::vector<Symbol> symbols() const {
    std::vector<Symbol> result = plan_.constants;
    for (const Buffer &buffer : buffers_)
      result.push_back({buffer.name, &buffer.initial, 0});
    return result;
  }

  const Buffer *findBuffer(std::string_view name) const {
    for (const Buffer &buffer : buffers_)
      if (buffer.name == name)
        return &buffer;
    return nullptr;
  }

  /// Of a buffer, with an offset if there is a '+'; of a tensor-map's 128 bytes on the host.
  std::optional<const void *> addressOf(std::string_view text) {
    if (isTensorMap(text))
      return &mapOf(text).value;
    const size_t plus = std::min(text.rfind('+'), text.size());
    const Buffer *whole = findBuffer(text), *buffer = findBuffer(text.substr(0, plus));
    if (whole)
      return reinterpret_cast<const void *>(whole->address);
    if (!buffer)
      return std::nullopt;
    return reinterpret_cast<const void *>(
        buffer->address + number(std::string(text.substr(plus + 1)), plan_.constants));
  }

  const Map &mapOf(std::string_view text) {
    auto [entry, isNew] = maps_.try_emplace(std::string(text));
    if (isNew) {
      entry->second.value = encode(makeTensorMap(
          text, [this](std::string_view name) { return addressOf(name); }, plan_.constants));
      entry->second.copy = upload(&entry->second.value, sizeof(CUtensorMap));
    }
    return entry->second;
  }

  static uint64_t number(const std::string &text, const std::vector<Symbol> &constants) {
    return static_cast<uint64_t>(Expression(text, constants).asInteger());
  }

  /// Constants, `=expression` and tensor-maps that are pointed to become numbers.
  std::string resolved(const std::string &text, const device::Parameter &parameter, unsigned turn) {
    std::vector<Symbol> constants = plan_.constants;
    constants.push_back({"r", nullptr, turn});
    if (isTensorMap(text) && parameter.bytes == 8)
      return std::to_string(mapOf(text).copy);
    const bool isConstant =
        std::ranges::find(plan_.constants, text, &Symbol::name) != plan_.constants.end();
    if (!isConstant && !text.starts_with("="))
      return text;
    const Expression value(isConstant ? text : text.substr(1), constants);
    if (!isa::isFloat(parameter.type))
      return std::to_string(value.asInteger());
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.17g", value.asDouble());
    return digits;
  }

  std::vector<std::byte> argumentsOf(const Launch &launch, const device::KernelInfo &kernel,
                                     unsigned turn) {
    std::vector<std::string> texts = launch.arguments;
    for (size_t i = 0; i < std::min(texts.size(), kernel.parameters.size()); ++i)
      texts[i] = resolved(texts[i], kernel.parameters[i], turn);
    return packArguments(kernel, texts, [this](std::string_view text) { return addressOf(text); });
  }

  void launch(const Launch &launch, unsigned turn) {
    const device::KernelInfo &kernel = chooseKernel(*module_, launch.kernel);
    std::vector<std::byte> bytes = argumentsOf(launch, kernel, turn);
    std::vector<void *> arguments;
    for (const device::Parameter &parameter : kernel.parameters)
      arguments.push_back(&bytes[parameter.offset]);
    auto extent = [&](const std::string &text) {
      return static_cast<unsigned>(number(text, plan_.constants));
    };
    std::vector<CUlaunchAttribute> attributes;
    CUlaunchConfig config = {};
    config.gridDimX = extent(launch.grid[0]);
    config.gridDimY = extent(launch.grid[1]);
    config.gridDimZ = extent(launch.grid[2]);
    config.blockDimX = extent(launch.block[0]);
    config.blockDimY = extent(launch.block[1]);
    config.blockDimZ = extent(launch.block[2]);
    config.sharedMemBytes = extent(launch.sharedBytes);
    if (launch.cluster) {
      const auto [x, y, z] = *launch.cluster;
      attributes.push_back({CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, {}, {}});
      attributes.back().value.clusterDim = {x, y, z};
    }
    if (launch.isCooperative) {
      attributes.push_back({CU_LAUNCH_ATTRIBUTE_COOPERATIVE, {}, {}});
      attributes.back().value.cooperative = 1;
    }
    config.attrs = attributes.data();
    config.numAttrs = static_cast<unsigned>(attributes.size());

    CUfunction function = nullptr;
    check(cuModuleGetFunction(&function, onDevice_, kernel.name.c_str()), kernel.name);
    allowLargeShapes(function, kernel, launch, config.sharedMemBytes);
    check(cuLaunchKernelEx(&config, function, arguments.data(), nullptr), kernel.name);
    check(cuCtxSynchronize(), kernel.name);
  }

  static void allowLargeShapes(CUfunction function, const device::KernelInfo &kernel,
                               const Launch &launch, unsigned sharedBytes) {
    if (sharedBytes > 48 << 10)
      check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                               static_cast<int>(sharedBytes)),
            kernel.name + ": shared memory");
    const auto [x, y, z] = launch.cluster.value_or(kernel.clusterShape);
    if (x * y * z > device::kPortableCluster)
      check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
            kernel.name + ": cluster");
  }

  bool wasSkipped(const Expectation &expectation) const {
    return std::ranges::any_of(plan_.launches, [&](const Launch &launch) {
      return !whyNotCompared(launch).empty() &&
             std::ranges::any_of(launch.arguments, [&](const std::string &text) {
               return mentions(text, expectation.buffer);
             });
    });
  }

  std::string differencesOf(const Expectation &expectation) {
    if (expectation.printed)
      return noteSkipped("expects printed text"), "";
    if (wasSkipped(expectation))
      return "";
    const Buffer *buffer = findBuffer(expectation.buffer);
    if (!buffer)
      throw UsageError("there is no buffer '" + expectation.buffer + "'");
    Array now = buffer->initial.copy();
    check(cuMemcpyDtoH(now.data(), buffer->address, now.bytes()), "cuMemcpyDtoH");
    const Comparison result =
        expectation.file.empty()
            ? compareWithExpression(now, expectation, Expression(expectation.value, symbols()))
            : compareWithArray(now, expectation,
                               readNpy(joinPath(plan_.directory, expectation.file)));
    if (!result.different)
      return "";
    return buffer->name + ": " + std::to_string(result.different) + " of " +
           std::to_string(result.compared) + " values\n" + result.firstDifferences;
  }

  Plan plan_;
  std::string skipped_; ///< why not all was compared
  std::unique_ptr<device::Module> module_;
  CUmodule onDevice_ = nullptr;
  std::deque<Buffer> buffers_;
  std::map<std::string, Map> maps_; ///< by their texts
};

std::string lineOf(const std::string &path) {
  try {
    return joined(Description(path).run());
  } catch (const Verdict &verdict) {
    return joined(verdict.line);
  } catch (const std::exception &error) {
    return joined("failed: " + std::string(error.what()));
  }
}

struct Line {
  char text[1200];
};

struct Running {
  size_t file;
  Child child;
};

int runAll(const std::vector<std::string> &paths, size_t atOnce) {
  Line *lines = sharedMemory<Line>(paths.size());
  std::map<std::string, int> counts;
  std::list<Running> running;
  for (size_t next = 0; next < paths.size() || !running.empty();) {
    if (next < paths.size() && running.size() < atOnce) {
      running.push_back({next, Child([&] {
                           std::freopen("/dev/null", "w", stdout); // of kernels
                           std::snprintf(lines[next].text, sizeof lines[next].text, "%s",
                                         lineOf(paths[next]).c_str());
                           return 0;
                         })});
      ++next;
      continue;
    }
    running.remove_if([&](Running &one) {
      const auto end = one.child.ended();
      if (!end)
        return false;
      const std::string line = end->empty() ? lines[one.file].text : *end;
      std::printf("%s: %s\n", paths[one.file].c_str(), line.c_str());
      std::fflush(stdout);
      ++counts[line.substr(0, std::min(line.find(':'), line.find(" (")))];
      return true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::printf("=");
  for (const auto &[word, count] : counts)
    std::printf(" %s: %d", word.c_str(), count);
  std::printf("\n");
  for (const char *word : {"as expected", "refused", "skipped"})
    counts.erase(word);
  return counts.empty() ? 0 : 1;
}

int run(int count, char **words) {
  size_t atOnce = 1;
  std::vector<std::string> paths(words + 1, words + count);
  if (paths.size() > 2 && paths[0] == "-j") {
    atOnce = std::max(1ul, std::strtoul(paths[1].c_str(), nullptr, 10));
    paths.erase(paths.begin(), paths.begin() + 2);
  }
  if (paths.empty()) {
    std::fprintf(stderr, "usage: descriptions_on_device [-j N] FILE.toml ...\n");
    return 2;
  }
  return runAll(paths, atOnce);
}

} // namespace
} // namespace ptxrun::hardware

int main(int argc, char **argv) { return ptxrun::hardware::run(argc, argv); }
