// Matrix instructions on fragments: the kernels of mma_*.ptx on the inputs of mma_*.cases, at each
// W and under each policy. generate/cases.py has the same inputs and the same digest.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "intrinsics/matrix/policy.h"
#include "loader/device/device.h"

namespace ptxrun {
namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kSampling = 7; ///< narrow gangs run one kernel of so many

struct Case {
  std::string policy;
  uint64_t seed = 0;
  std::vector<std::string> masks; ///< one for each register
  uint64_t digest = 0;
};

struct Kernel {
  std::string name;
  unsigned inputs = 0, outputs = 0, bits = 32;
  std::vector<Case> cases;
};

/// `2*83ff83ff/0,1*ordered`
std::vector<std::string> readMasks(const std::string &text) {
  std::vector<std::string> masks;
  std::istringstream runs(text);
  for (std::string run; std::getline(runs, run, ',');) {
    const size_t star = run.find('*');
    masks.insert(masks.end(), std::stoul(run.substr(0, star)), run.substr(star + 1));
  }
  return masks;
}

std::vector<Kernel> readCases(const std::string &path) {
  std::vector<Kernel> kernels;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first, masks;
    words >> first;
    if (first.empty() || first == "#")
      continue;
    if (first == "kernel") {
      Kernel &kernel = kernels.emplace_back();
      words >> kernel.name >> kernel.inputs >> kernel.outputs >> kernel.bits;
      continue;
    }
    Case made{first, 0, {}, 0};
    words >> made.seed >> masks >> std::hex >> made.digest;
    made.masks = readMasks(masks);
    EXPECT_EQ(made.masks.size(), kernels.back().inputs) << line;
    kernels.back().cases.push_back(made);
  }
  return kernels;
}

uint64_t mixed(uint64_t seed, unsigned reg, unsigned lane) {
  uint64_t x = seed + (reg * kWarp + lane + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

uint64_t inputWord(const std::string &mask, uint64_t seed, unsigned reg, unsigned lane) {
  const uint64_t x = mixed(seed, reg, lane);
  if (mask == "ordered" || mask == "paired") {
    const std::vector<unsigned> table = mask == "ordered"
                                            ? std::vector<unsigned>{4, 8, 9, 12, 13, 14}
                                            : std::vector<unsigned>{4, 14};
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; ++i)
      word |= uint64_t{table[(x >> (4 * i) & 15) % table.size()]} << (4 * i);
    return word;
  }
  const size_t slash = mask.find('/');
  return (x & std::stoull(mask.substr(0, slash), nullptr, 16)) |
         std::stoull(mask.substr(slash + 1), nullptr, 16);
}

uint64_t digestOf(const uint8_t *bytes, size_t count) {
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < count; ++i)
    h = (h ^ bytes[i]) * 0x100000001b3u;
  return h;
}

class MatrixCases : public testing::TestWithParam<std::tuple<std::string, unsigned>> {
 protected:
  void runKernel(device::Module &module, const Kernel &kernel, unsigned lanes) {
    for (size_t first = 0, last; first < kernel.cases.size(); first = last) {
      for (last = first;
           last < kernel.cases.size() && kernel.cases[last].policy == kernel.cases[first].policy;)
        ++last;
      runCases(module, kernel, {kernel.cases.begin() + first, kernel.cases.begin() + last}, lanes);
    }
  }

 private:
  /// One launch: a block is a case.
  void runCases(device::Module &module, const Kernel &kernel, const std::vector<Case> &cases,
                unsigned lanes) {
    const size_t size = kernel.bits / 8, inBytes = kernel.inputs * kWarp * size,
                 outBytes = kernel.outputs * kWarp * size;
    std::vector<uint8_t> in(inBytes * cases.size()), out(outBytes * cases.size());
    for (size_t i = 0; i < in.size() / size; ++i) {
      const Case &tested = cases[i * size / inBytes];
      const unsigned reg = unsigned(i / kWarp % kernel.inputs), lane = unsigned(i % kWarp);
      const uint64_t word = inputWord(tested.masks[reg], tested.seed, reg, lane);
      std::memcpy(&in[i * size], &word, size);
    }
    const void *params[] = {in.data(), out.data()};
    device::LaunchOptions options;
    options.grid = {uint32_t(cases.size()), 1, 1};
    options.block = {kWarp, 1, 1};
    options.params = params;
    options.lanes = lanes;
    options.threads = 1;
    options.matrix = *matrix::readPolicy(cases.front().policy);
    const device::Outcome outcome = module.launch(*module.findKernel(kernel.name), options);
    ASSERT_TRUE(outcome.isOk()) << kernel.name << ": " << outcome.message;
    for (size_t i = 0; i < cases.size(); ++i)
      EXPECT_EQ(digestOf(&out[i * outBytes], outBytes), cases[i].digest)
          << kernel.name << " " << cases[i].policy << " seed " << cases[i].seed
          << " at W = " << lanes;
  }
};

TEST_P(MatrixCases, GiveTheExpectedBits) {
  const auto &[stem, lanes] = GetParam();
  const std::string path = std::string(PTXRUN_MATRIX_CASES) + "/" + stem;
  std::ifstream file(path + ".ptx");
  std::stringstream text;
  text << file.rdbuf();
  device::LoadOptions options;
  options.useCache = false;
  if (const char *tiers = getenv("PTXRUN_TIERS"))
    ASSERT_TRUE(device::readTiers(tiers, options.tiers));
  device::Outcome outcome;
  auto module = device::Module::load(path + ".ptx", text.str(), options, outcome);
  ASSERT_TRUE(module) << outcome.message;
  const bool isSampled = lanes != kWarp || getenv("PTXRUN_CPU") || getenv("PTXRUN_TIERS");
  size_t index = 0;
  for (const Kernel &kernel : readCases(path + ".cases"))
    if (!isSampled || index++ % kSampling == 0)
      runKernel(*module, kernel, lanes);
}

std::vector<std::string> stems() {
  std::vector<std::string> all;
  for (const auto &entry : std::filesystem::directory_iterator(PTXRUN_MATRIX_CASES))
    if (entry.path().extension() == ".cases")
      all.push_back(entry.path().stem().string());
  std::sort(all.begin(), all.end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, MatrixCases,
                         testing::Combine(testing::ValuesIn(stems()),
                                          testing::Values(1u, 8u, 16u, 32u)),
                         [](const auto &info) {
                           return std::get<0>(info.param) + "_W" +
                                  std::to_string(std::get<1>(info.param));
                         });

} // namespace
} // namespace ptxrun
