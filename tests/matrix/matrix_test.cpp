// Matrix instructions on fragments: the kernels of mma_*.ptx on the inputs of mma_*.cases, at each
// W and under each policy. generate/cases.py has the same inputs and the same digest.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "intrinsics/matrix/policy.h"
#include "loader/device/device.h"
#include "tests/matrix/case_inputs.h"

namespace ptxrun::matrix_test {
namespace {

constexpr unsigned kSampling = 7; ///< narrow gangs run one kernel of so many

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
    const std::vector<uint8_t> in = inputsOf(kernel, cases);
    const size_t outBytes = kernel.outputBytes();
    std::vector<uint8_t> out(outBytes * cases.size());
    const void *params[] = {in.data(), out.data()};
    device::LaunchOptions options;
    options.grid = {uint32_t(cases.size()), 1, 1};
    options.block = {kernel.threads, 1, 1};
    options.params = params;
    options.code.lanes = lanes;
    options.threads = 1;
    options.code.matrix = *matrix::readPolicy(cases.front().policy);
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
  // "h100/STEM": results of a device for the kernels of STEM.
  const size_t slash = stem.find('/');
  const std::string path =
      std::string(PTXRUN_MATRIX_CASES) + "/" + stem.substr(slash == stem.npos ? 0 : slash + 1);
  const std::string cases =
      (slash == stem.npos ? path : std::string(PTXRUN_HARDWARE_CASES) + "/" + stem) + ".cases";
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
  for (const Kernel &kernel : readCases(cases))
    if (!isSampled || index++ % kSampling == 0)
      runKernel(*module, kernel, lanes);
}

std::vector<std::string> stems() {
  std::vector<std::string> all;
  for (const auto &entry : std::filesystem::directory_iterator(PTXRUN_MATRIX_CASES))
    if (entry.path().extension() == ".cases")
      all.push_back(entry.path().stem().string());
  for (const auto &entry : std::filesystem::recursive_directory_iterator(PTXRUN_HARDWARE_CASES))
    if (entry.path().extension() == ".cases")
      all.push_back(entry.path().parent_path().filename().string() + "/" +
                    entry.path().stem().string());
  std::sort(all.begin(), all.end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, MatrixCases,
                         testing::Combine(testing::ValuesIn(stems()),
                                          testing::Values(1u, 8u, 16u, 32u)),
                         [](const auto &info) {
                           std::string name = std::get<0>(info.param);
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name + "_W" + std::to_string(std::get<1>(info.param));
                         });

} // namespace
} // namespace ptxrun::matrix_test
