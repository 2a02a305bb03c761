// Every case on every W, against its run on the host. The CPU level comes from PTXRUN_CPU (see
// CMakeLists.txt).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "loader/capture/recorder.h"
#include "loader/device/device.h"
#include "loader/device/memory.h"
#include "tests/kernels/cases.h"
#include "tests/tiers.h"

namespace ptxrun {
namespace {

using onhost::Argument;
using onhost::Case;
using onhost::ParameterType;

uint64_t scramble(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

uint64_t elementBits(const onhost::Fill &fill, const ParameterType &type, uint64_t index) {
  uint64_t random = scramble((fill.seed + 1) * 0x9e3779b97f4a7c15u + index);
  double real = 0;
  uint64_t integer = 0;
  switch (fill.kind) {
  case onhost::Fill::zero:
    break;
  case onhost::Fill::iota:
    real = static_cast<double>(index), integer = index;
    break;
  case onhost::Fill::random:
    real = static_cast<double>(static_cast<int64_t>(random)) * 0x1p-63, integer = random;
    break;
  case onhost::Fill::small:
    real = static_cast<double>(random & 15), integer = random & 15;
    break;
  }
  if (!type.isFloat)
    return integer;
  return type.bytes == 4 ? onhost::toBits(static_cast<float>(real)) : onhost::toBits(real);
}

std::vector<std::byte> contentsOf(const Argument &argument, const ParameterType &type) {
  std::vector<std::byte> bytes(argument.count * type.bytes);
  for (uint64_t k = 0; k < argument.count; ++k) {
    uint64_t bits = elementBits(argument.fill, type, k);
    std::memcpy(bytes.data() + k * type.bytes, &bits, type.bytes);
  }
  return bytes;
}

/// What every output buffer must hold: found once per case, used for every W.
const std::vector<std::vector<std::byte>> &expectedResults(size_t index) {
  static std::map<size_t, std::vector<std::vector<std::byte>>> known;
  auto [entry, isNew] = known.try_emplace(index);
  if (!isNew)
    return entry->second;
  const Case &one = onhost::cases()[index];
  auto &buffers = entry->second;
  std::vector<void *> addresses;
  for (size_t k = 0; k < one.arguments.size(); ++k) {
    buffers.push_back(one.types[k].isPointer ? contentsOf(one.arguments[k], one.types[k])
                                             : std::vector<std::byte>{});
    addresses.push_back(one.types[k].isPointer ? buffers[k].data() : nullptr);
  }
  one.onHost(addresses);
  return buffers;
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Loaded anew for every case: module variables start from their initial values.
std::unique_ptr<device::Module> loadModule(const std::string &path, device::Outcome &outcome) {
  static std::map<std::string, std::string> texts;
  auto [entry, isNew] = texts.try_emplace(path);
  if (isNew)
    entry->second = readFile(path);
  device::LoadOptions options;
  options.useCache = false;
  options.tiers = wantedTiers();
  return device::Module::load(path.substr(path.rfind('/') + 1), entry->second, options, outcome);
}

struct DeviceBuffer {
  explicit DeviceBuffer(const std::vector<std::byte> &bytes)
      : address(static_cast<std::byte *>(device::allocateMemory(bytes.size()))) {
    std::memcpy(address, bytes.data(), bytes.size());
  }
  ~DeviceBuffer() { device::freeMemory(address); }
  DeviceBuffer(const DeviceBuffer &) = delete;
  std::byte *address;
};

void storeScalar(const Argument &argument, const ParameterType &type, std::byte *out) {
  uint64_t bits = static_cast<uint64_t>(argument.integer);
  if (type.isFloat)
    bits = type.bytes == 4 ? onhost::toBits(static_cast<float>(argument.real))
                           : onhost::toBits(argument.real);
  std::memcpy(out, &bits, type.bytes);
}

/// Any NaN is as good as any other (PTX ISA 9.7.3: payloads are not specified).
bool isSame(const ParameterType &type, const std::byte *got, const std::byte *expected) {
  if (std::memcmp(got, expected, type.bytes) == 0)
    return true;
  if (!type.isFloat)
    return false;
  double a = 0, b = 0;
  float f = 0, g = 0;
  if (type.bytes == 4)
    std::memcpy(&f, got, 4), std::memcpy(&g, expected, 4), a = f, b = g;
  else
    std::memcpy(&a, got, 8), std::memcpy(&b, expected, 8);
  return std::isnan(a) && std::isnan(b);
}

std::string show(const ParameterType &type, const std::byte *at) {
  char text[64];
  uint64_t bits = 0;
  std::memcpy(&bits, at, type.bytes);
  if (!type.isFloat)
    std::snprintf(text, sizeof text, "%lld (0x%llx)", static_cast<long long>(bits),
                  static_cast<unsigned long long>(bits));
  else
    std::snprintf(text, sizeof text, "%.17g (0x%llx)",
                  type.bytes == 4 ? onhost::fromBits<float>(bits) : onhost::fromBits<double>(bits),
                  static_cast<unsigned long long>(bits));
  return text;
}

void compare(const ParameterType &type, const std::byte *got,
             const std::vector<std::byte> &expected, size_t argument) {
  unsigned different = 0;
  std::string message;
  for (size_t at = 0; at < expected.size(); at += type.bytes) {
    if (isSame(type, got + at, expected.data() + at))
      continue;
    if (++different <= 4)
      message += "\n  [" + std::to_string(at / type.bytes) + "] is " + show(type, got + at) +
                 ", the host has " + show(type, expected.data() + at);
  }
  EXPECT_EQ(different, 0u) << "argument " << argument + 1 << ": " << different << " of "
                           << expected.size() / type.bytes << " differ" << message;
}

class Kernels : public testing::TestWithParam<size_t> {
 protected:
  static void SetUpTestSuite() {
    const char *level = std::getenv("PTXRUN_CPU");
    isSupported_ =
        !level || (std::string_view(level) == "avx512"
                       ? __builtin_cpu_supports("x86-64-v4")
                       : std::string_view(level) != "avx2" || __builtin_cpu_supports("x86-64-v3"));
  }

  void check(unsigned lanes, rt::Schedule schedule = rt::Schedule::fast) {
    if (!isSupported_)
      GTEST_SKIP() << "this CPU has no " << std::getenv("PTXRUN_CPU");
    const Case &one = onhost::cases()[GetParam()];
    const auto &expected = expectedResults(GetParam());
    device::Outcome outcome;
    auto module = loadModule(one.file, outcome);
    ASSERT_TRUE(module) << outcome.message;
    const device::KernelInfo *kernel = module->findKernel(one.kernel);
    ASSERT_TRUE(kernel) << one.file << " has no kernel " << one.kernel;
    ASSERT_EQ(kernel->parameters.size(), one.arguments.size());
    std::vector<std::byte> params(std::max<size_t>(kernel->parameterBytes, 1));
    std::vector<std::unique_ptr<DeviceBuffer>> buffers(one.arguments.size());
    for (size_t k = 0; k < one.arguments.size(); ++k) {
      std::byte *at = params.data() + kernel->parameters[k].offset;
      if (!one.types[k].isPointer) {
        storeScalar(one.arguments[k], one.types[k], at);
        continue;
      }
      buffers[k] = std::make_unique<DeviceBuffer>(contentsOf(one.arguments[k], one.types[k]));
      std::memcpy(at, &buffers[k]->address, 8);
    }
    device::LaunchOptions options;
    options.grid = {one.grid.x, one.grid.y, one.grid.z};
    options.block = {one.block.x, one.block.y, one.block.z};
    options.dynamicSharedBytes = one.sharedBytes;
    options.params = params.data();
    options.code.lanes = lanes;
    options.schedule = schedule;
    options.seed = GetParam();
    options.timeout = std::chrono::seconds(20);
    outcome = module->launch(*kernel, options);
    ASSERT_TRUE(outcome.isOk()) << outcome.message;
    for (size_t k = 0; k < one.arguments.size(); ++k)
      if (buffers[k])
        compare(one.types[k], buffers[k]->address, expected[k], k);
  }

  static bool isSupported_;
};
bool Kernels::isSupported_ = true;

TEST_P(Kernels, W1) { check(1); }
TEST_P(Kernels, W8) { check(8); }
TEST_P(Kernels, W16) { check(16); }
TEST_P(Kernels, W32) { check(32); }
TEST_P(Kernels, Wauto) { check(0); }
/// Gangs in an order that is drawn: no barrier may be passed because of the order they happen to
/// run in.
TEST_P(Kernels, Seeded) { check(0, rt::Schedule::seeded); }

} // namespace

/// Each case from a .cu file stands for two: nvcc's ordinary PTX and the one without its optimiser.
static bool expandCases() {
  std::vector<Case> all;
  for (Case &one : onhost::cases()) {
    if (!one.file.ends_with(".cu")) {
      all.push_back(std::move(one));
      continue;
    }
    const std::string stem = one.file.substr(0, one.file.size() - 3);
    for (const char *suffix : {"", ".O0"}) {
      Case copy = one;
      copy.file = stem + suffix + ".ptx";
      copy.variant = *suffix ? "O0" : "";
      all.push_back(std::move(copy));
    }
  }
  onhost::cases() = std::move(all);
  return true;
}

static std::string nameOfCase(const testing::TestParamInfo<size_t> &info) {
  const Case &one = onhost::cases()[info.param];
  std::string name = one.kernel + one.variant + "_";
  for (unsigned extent :
       {one.grid.x, one.grid.y, one.grid.z, one.block.x, one.block.y, one.block.z})
    name += std::to_string(extent) + "_";
  return name + std::to_string(info.param);
}

static std::vector<size_t> allCases() {
  static bool isExpanded = expandCases();
  std::vector<size_t> indices(isExpanded ? onhost::cases().size() : 0);
  for (size_t k = 0; k < indices.size(); ++k)
    indices[k] = k;
  return indices;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Kernels, testing::ValuesIn(allCases()), nameOfCase);

} // namespace ptxrun

/// With PTXRUN_RECORD the launches are recorded (tests/capture).
int main(int count, char **arguments) {
  namespace capture = ptxrun::capture;
  testing::InitGoogleTest(&count, arguments);
  capture::RecordOptions wanted;
  std::string problem;
  if (capture::readRecordOptions(wanted, problem)) {
    if (problem.empty())
      problem = capture::Recorder::start(wanted);
    if (!problem.empty()) {
      std::fprintf(stderr, "%s\n", problem.c_str());
      return 2;
    }
    capture::Recorder::instance()->noteAllHostVisible(); // buffers are filled where they lie
  }
  const int status = RUN_ALL_TESTS();
  if (capture::Recorder *recorder = capture::Recorder::instance())
    recorder->finish();
  return status;
}
