// Runs every case file as scalar IR and at W = 1, 8, 16 and 32: operands in registers under full
// and partial masks, behind a guard, and as literals. PTXRUN_CPU chooses the CPU level.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "loader/device/device.h"
#include "tests/isa/compare.h"
#include "tests/isa/lane_run.h"
#include "tests/isa/ptx_writer.h"
#include "tests/tiers.h"

namespace ptxrun::isa_test {
namespace {

constexpr unsigned kGroupsPerKernel = 6;
constexpr unsigned kBlock = 40; // the last warp of a block is not full

/// Groups that share a kernel.
struct Batch {
  std::span<const Group> groups;
  unsigned threads = 0; ///< a multiple of kBlock, at least the cases of the largest group
};

std::vector<Batch> batchesOf(const CaseFile &file) {
  std::vector<Batch> batches;
  for (size_t first = 0; first < file.groups.size(); first += kGroupsPerKernel) {
    Batch batch{
        std::span(file.groups)
            .subspan(first, std::min<size_t>(kGroupsPerKernel, file.groups.size() - first))};
    size_t largest = 0;
    for (const Group &group : batch.groups)
      largest = std::max(largest, group.cases.size());
    batch.threads = static_cast<unsigned>((largest + kBlock - 1) / kBlock * kBlock);
    batches.push_back(batch);
  }
  return batches;
}

/// "Width" 0: the LaneModule itself.
constexpr unsigned kScalar = 0;

device::LoadOptions uncached() {
  device::LoadOptions options;
  options.useCache = false;
  options.tiers = wantedTiers();
  return options;
}

using Words = std::vector<uint64_t>;
constexpr unsigned kSlotWords = kSlotBytes / 8;

class Runner {
 public:
  Runner(const CaseFile &file, unsigned lanes)
      : file_(file), batches_(batchesOf(file)), lanes_(lanes) {
    std::string text = writeHeader(file);
    for (unsigned i = 0; i < batches_.size(); ++i) {
      text += writeRegisterKernel(batches_[i].groups, i, batches_[i].threads);
      text += writeLiteralKernel(batches_[i].groups, i);
    }
    if (const char *directory = std::getenv("PTXRUN_ISA_DUMP"))
      std::ofstream(std::string(directory) + "/" +
                    std::filesystem::path(file.path).stem().string() + ".ptx")
          << text;
    device::Outcome outcome;
    if (lanes_ == kScalar)
      scalar_ = std::make_unique<LaneRun>(file.path, text, outcome.message);
    else
      module_ = device::Module::load(file.path, text, uncached(), outcome);
    isLoaded_ = outcome.message.empty();
    if (!isLoaded_)
      ADD_FAILURE() << outcome.message;
  }

  void run() {
    for (unsigned i = 0; isLoaded_ && i < batches_.size(); ++i) {
      runRegisters(i);
      runLiterals(i);
    }
  }

 private:
  /// Launches `name`; false (and a failure) if that went wrong.
  bool launch(const std::string &name, unsigned threads, Words &in, Words &out,
              std::vector<uint32_t> &mask) {
    const void *params[] = {in.data(), out.data(), mask.data()};
    const std::string message = lanes_ == kScalar ? scalar_->run(name, threads, kBlock, params)
                                                  : launchGangs(name, threads, params);
    if (!message.empty())
      ADD_FAILURE() << file_.path << ": " << name << ": " << message;
    return message.empty();
  }

  std::string launchGangs(const std::string &name, unsigned threads, const void *params) {
    device::LaunchOptions options;
    options.grid = {threads / kBlock, 1, 1};
    options.block = {kBlock, 1, 1};
    options.params = params;
    options.code.lanes = lanes_;
    options.threads = 1;
    return module_->launch(*module_->findKernel(name), options).message;
  }

  void runRegisters(unsigned index) {
    const Batch &batch = batches_[index];
    const size_t stride = size_t{batch.threads} * kSlotWords;
    Words in(kSlotWords + batch.groups.size() * kMaxOperands * stride);
    Words out(kPasses * batch.groups.size() * kMaxResults * stride, kUntouched);
    std::fill_n(in.begin(), kSlotWords, kUntouched);
    std::vector<uint32_t> mask(batch.threads);
    for (unsigned i = 0; i < batch.threads; ++i)
      mask[i] = (i * 2654435761u >> 13 & 3) != 0; // three of four
    for (unsigned g = 0; g < batch.groups.size(); ++g)
      for (unsigned i = 0; i < batch.threads; ++i)
        fillOperands(batch.groups[g], i,
                     &in[kSlotWords + g * kMaxOperands * stride + i * kSlotWords], stride);
    if (!launch("registers_" + std::to_string(index), batch.threads, in, out, mask))
      return;
    for (unsigned pass = 0; pass < kPasses; ++pass)
      for (unsigned g = 0; g < batch.groups.size(); ++g)
        for (unsigned i = 0; i < batch.threads && hasPass(g, pass); ++i) {
          const uint64_t *results =
              &out[(pass * batch.groups.size() + g) * kMaxResults * stride + i * kSlotWords];
          const Group &group = batch.groups[g];
          const Case &tested = group.cases[i % group.cases.size()];
          if (pass == 0 || mask[i])
            expect(group, tested, results, stride, pass);
          else
            expectUntouched(group, tested, results, stride, pass);
        }
  }

  void runLiterals(unsigned index) {
    const Batch &batch = batches_[index];
    size_t count = 0;
    bool hasAny = false;
    for (const Group &group : batch.groups) {
      count += group.cases.size();
      hasAny |= group.hasLiteralForm();
    }
    if (!hasAny)
      return;
    Words in(kSlotWords), out(count * kMaxResults * kSlotWords, kUntouched);
    std::vector<uint32_t> mask(kBlock);
    if (!launch("literals_" + std::to_string(index), kBlock, in, out, mask))
      return;
    const uint64_t *results = out.data();
    for (const Group &group : batch.groups)
      for (const Case &tested : group.cases) {
        if (group.hasLiteralForm())
          expect(group, tested, results, kSlotWords, kPasses);
        results += kMaxResults * kSlotWords;
      }
  }

  static void fillOperands(const Group &group, unsigned thread, uint64_t *slot, size_t stride) {
    const Case &tested = group.cases[thread % group.cases.size()];
    for (size_t j = 0; j < group.operands.size(); ++j)
      std::copy_n(tested.operands[j].element.begin(), kSlotWords, slot + j * stride);
  }

  static const char *passName(unsigned pass) {
    constexpr const char *kNames[] = {"full mask", "branch", "guard", "literals"};
    return kNames[pass];
  }

  void expect(const Group &group, const Case &tested, const uint64_t *results, size_t stride,
              unsigned pass) {
    for (size_t r = 0; r < group.results.size(); ++r) {
      const Slot &slot = group.results[r];
      const unsigned words = slot.bits == 128 ? 2 : slot.count;
      for (unsigned e = 0; e < words; ++e) {
        const std::string difference =
            differenceOf(slot, tested.tolerance, tested.results[r], e, results[r * stride + e]);
        if (!difference.empty())
          ADD_FAILURE() << file_.path << ":" << tested.line << ": " << group.mnemonic
                        << ", W = " << lanes_ << ", " << passName(pass) << ", result " << r << "."
                        << e << ": " << difference;
      }
    }
  }

  /// A skipped store leaves memory alone; a guarded instruction that did not run leaves its
  /// registers alone.
  void expectUntouched(const Group &group, const Case &tested, const uint64_t *results,
                       size_t stride, unsigned pass) {
    for (size_t r = 0; r < group.results.size(); ++r) {
      const Slot &slot = group.results[r];
      const bool isStoredPredicate =
          slot.isPredicate() && pass == 2; // filled with true, stored as a word
      const uint64_t bits = slot.isPredicate() ? 32 : slot.bits;
      const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
      const uint64_t expected = (isStoredPredicate ? 1 : kUntouched) & mask;
      if ((results[r * stride] & mask) != expected)
        ADD_FAILURE() << file_.path << ":" << tested.line << ": " << group.mnemonic
                      << ", W = " << lanes_ << ", " << passName(pass)
                      << ": written where the mask is off";
    }
  }

  const CaseFile &file_;
  std::vector<Batch> batches_;
  unsigned lanes_;
  std::unique_ptr<device::Module> module_;
  std::unique_ptr<LaneRun> scalar_;
  bool isLoaded_ = false;
};

class IsaCases : public testing::Test {
 public:
  IsaCases(std::string path, unsigned lanes) : path_(std::move(path)), lanes_(lanes) {}
  void TestBody() override {
    const CaseFile file = readCaseFile(path_);
    Runner(file, lanes_).run();
  }

 private:
  std::string path_;
  unsigned lanes_;
};

/// One test per case file and width, named Section.instruction_W16 or Section.instruction_scalar.
void registerAll(const std::filesystem::path &root) {
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(root))
    if (entry.path().extension() == ".vec")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto &file : files)
    for (const unsigned lanes : {kScalar, 1u, 8u, 16u, 32u}) {
      const std::string suite = file.parent_path().filename().string();
      const std::string name =
          file.stem().string() + (lanes == kScalar ? "_scalar" : "_W" + std::to_string(lanes));
      testing::RegisterTest(
          suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
          [path = file.string(), lanes]() -> IsaCases * { return new IsaCases(path, lanes); });
    }
}

} // namespace
} // namespace ptxrun::isa_test

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  ptxrun::isa_test::registerAll(PTXRUN_ISA_CASES);
  return RUN_ALL_TESTS();
}
