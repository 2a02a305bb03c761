#include "translate/jit/target.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "translate/jit/jit.h"

namespace ptxrun::jit {

namespace {

bool hasAll(const llvm::StringMap<bool> &features, std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (!features.lookup(name))
      return false;
  return true;
}

CpuLevel bestLevel() {
  const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  if (!hasAll(host, {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}))
    return CpuLevel::sse4;
  if (!hasAll(host, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}))
    return CpuLevel::avx2;
  return CpuLevel::avx512;
}

CpuLevel chooseLevel() {
  const CpuLevel best = bestLevel();
  const char *wanted = std::getenv("PTXRUN_CPU");
  if (!wanted || !*wanted)
    return best;
  for (CpuLevel level : {CpuLevel::sse4, CpuLevel::avx2, CpuLevel::avx512}) {
    if (std::string_view(wanted) != levelName(level))
      continue;
    if (level <= best)
      return level;
    llvm::errs() << "ptxrun: warning: this CPU has no " << wanted << "; using " << levelName(best)
                 << "\n";
    return best;
  }
  llvm::errs() << "ptxrun: warning: PTXRUN_CPU=" << wanted
               << " is none of sse4, avx2, avx512; using " << levelName(best) << "\n";
  return best;
}

/// LLVM's name of the CPU whose costs decide: the host's, or what PTXRUN_TUNE says.
std::string chooseTuning() {
  const char *wanted = std::getenv("PTXRUN_TUNE");
  if (!wanted || !*wanted)
    return llvm::sys::getHostCPUName().str();
  const std::span<const std::string> names = tunings();
  if (std::ranges::find(names, wanted) != names.end())
    return wanted;
  const std::string host = llvm::sys::getHostCPUName().str();
  llvm::errs() << "ptxrun: warning: PTXRUN_TUNE=" << wanted << " is none of "
               << llvm::join(names, ", ") << "; using " << host << "\n";
  return host;
}

const std::string &chosenTuning() {
  static const std::string name = chooseTuning();
  return name;
}

const llvm::Target &nativeTarget() {
  static const llvm::Target *target = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    std::string error;
    const llvm::Target *found = llvm::TargetRegistry::lookupTarget(kTriple, error);
    assert(found && "jit: LLVM was built without X86");
    return found;
  }();
  return *target;
}

struct Pool {
  struct Entry {
    CpuLevel level;
    llvm::CodeGenOptLevel effort;
    std::unique_ptr<llvm::TargetMachine> machine;
  };
  std::mutex mutex;
  std::vector<Entry> free;
};

Pool &pool() {
  static Pool *instance = new Pool; // never destroyed: kernels may compile while the process exits
  return *instance;
}

} // namespace

CpuLevel cpuLevel() {
  static const CpuLevel level = chooseLevel();
  return level;
}

CpuLevel bestCpuLevel() { return bestLevel(); }

const simt::Target &hostTarget() {
  static const simt::Target target = simt::targetFor(cpuLevel(), simt::findModel(chosenTuning()));
  return target;
}

std::span<const std::string> tunings() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"generic"};
    for (const simt::ModelName &name : simt::modelNames())
      all.emplace_back(name.llvm);
    return all;
  }();
  return names;
}

const char *levelName(CpuLevel level) {
  switch (level) {
  case CpuLevel::sse4:
    return "sse4";
  case CpuLevel::avx2:
    return "avx2";
  case CpuLevel::avx512:
    return "avx512";
  }
  return "";
}

const char *levelCpu(CpuLevel level) {
  switch (level) {
  case CpuLevel::sse4:
    return "x86-64-v2";
  case CpuLevel::avx2:
    return "x86-64-v3";
  case CpuLevel::avx512:
    return "x86-64-v4";
  }
  return "";
}

const std::string &levelFeatures(CpuLevel level) {
  // All of them integer operations on vectors. Not avx512bf16: its conversions flush subnormal
  // numbers. Ice Lake, Zen 4 and later ones have them all, so that two kinds of code are enough.
  static const std::string none, later = [] {
    const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
    const auto names = {"avx512vbmi",      "avx512vbmi2", "avx512bitalg",
                        "avx512vpopcntdq", "avx512vnni",  "gfni"};
    return hasAll(host, names) ? "+" + llvm::join(names, ",+") : std::string();
  }();
  return level == CpuLevel::avx512 ? later : none;
}

const std::string &tuneCpu() {
  static const std::string name = [] {
    const std::string_view model = simt::tuningOf(hostTarget().model);
    return model.empty() ? chosenTuning() : std::string(model);
  }();
  return name;
}

std::unique_ptr<llvm::TargetMachine> createTargetMachine(CpuLevel level,
                                                         llvm::CodeGenOptLevel effort) {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict; // fma only where the PTX says fma
  options.UnsafeFPMath = false;
  options.NoInfsFPMath = options.NoNaNsFPMath = options.NoSignedZerosFPMath = false;
  options.ExceptionModel = llvm::ExceptionHandling::None;
  std::unique_ptr<llvm::TargetMachine> machine(
      nativeTarget().createTargetMachine(kTriple, levelCpu(level), levelFeatures(level), options,
                                         llvm::Reloc::PIC_, llvm::CodeModel::Small, effort,
                                         /*JIT=*/true));
  assert(machine && "jit: no target machine for a CPU level");
  assert(machine->createDataLayout().getStringRepresentation() == kDataLayout &&
         "jit: another data layout");
  return machine;
}

BorrowedTarget::BorrowedTarget(CpuLevel level, llvm::CodeGenOptLevel effort)
    : level_(level), effort_(effort) {
  {
    std::lock_guard lock(pool().mutex);
    auto &free = pool().free;
    for (size_t i = 0; i < free.size(); ++i) {
      if (free[i].level != level || free[i].effort != effort)
        continue;
      machine_ = std::move(free[i].machine);
      free.erase(free.begin() + long(i));
      return;
    }
  }
  machine_ = createTargetMachine(level, effort);
}

BorrowedTarget::~BorrowedTarget() {
  std::lock_guard lock(pool().mutex);
  pool().free.push_back({level_, effort_, std::move(machine_)});
}

} // namespace ptxrun::jit
