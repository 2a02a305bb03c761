// GangModule to relocatable object: verify, name, optimise, generate code.
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/CodeGen/MachineFrameInfo.h>
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <cassert>

#include "translate/jit/bfloat_bits.h"
#include "translate/jit/conditional_stores.h"
#include "translate/jit/full_fences.h"
#include "translate/jit/half_vectors.h"
#include "translate/jit/jit.h"
#include "translate/jit/known_masks.h"
#include "translate/jit/lane_accesses.h"
#include "translate/jit/lane_tests.h"
#include "translate/jit/long_products.h"
#include "translate/jit/masks_in_registers.h"
#include "translate/jit/min_max.h"
#include "translate/jit/one_nan.h"
#include "translate/jit/optimise.h"
#include "translate/jit/order.h"
#include "translate/jit/quiet_calls.h"
#include "translate/jit/row_conditions.h"
#include "translate/jit/shared_values.h"
#include "translate/jit/single_elements.h"
#include "translate/jit/spread_masks.h"
#include "translate/jit/streamed_stores.h"
#include "translate/jit/target.h"
#include "translate/jit/unseen_nans.h"
#include "translate/jit/word_permutes.h"
#include "translate/lower/internal_error.h"
#include "translate/simt/cost.h"
#include "translate/simt/prepare.h"

namespace ptxrun::jit {

using namespace llvm;

namespace {

/// What the verifier says of the IR, in builds with assertions; empty if nothing is wrong.
std::string brokenIr([[maybe_unused]] const Module &module) {
  std::string text;
#ifndef NDEBUG
  raw_string_ostream out(text);
  if (verifyModule(module, &out) && text.empty())
    text = "broken IR";
#endif
  return text;
}

/// The contract of GangModule; the sentence that does not hold, empty if all do.
std::string whatIsWrong(const simt::GangModule &in) {
  const char *entry = simt::kEntryNames[size_t(in.entry)];
  const Function *function = in.module->getFunction(entry);
  if (!function || function->isDeclaration())
    return "there is no entry point `" + std::string(entry) + "`";
  for (const Function &function : *in.module)
    if (function.isDeclaration() && !function.use_empty() && function.getName().starts_with("ptx."))
      return "`" + function.getName().str() + "` was left in the code";
  return brokenIr(*in.module);
}

/// Only the entry points stay visible; helpers may be inlined away or dropped.
void nameAndHide(Module &module, std::string_view kernel) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    const bool isEntry = is_contained(simt::kEntryNames, function.getName());
    function.setLinkage(isEntry ? GlobalValue::ExternalLinkage : GlobalValue::InternalLinkage);
    const StringRef name(kernel.data(), kernel.size());
    if (!function.getName().starts_with((name + ".").str()))
      function.setName(name + "." + function.getName());
  }
}

void setFunctionAttributes(Module &module, const simt::Target &target) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.removeFnAttr(
        "target-features"); // bitcode of intrinsics carries its own compiler's list
    function.addFnAttr("target-cpu", levelCpu(target.level));
    if (const std::string &features = levelFeatures(target.level); !features.empty())
      function.addFnAttr("target-features", features);
    function.addFnAttr("tune-cpu", tuneCpu());
    function.addFnAttr(Attribute::NoUnwind);
    function.setUWTableKind(UWTableKind::None);
    // Frames that could reach over the guard below a stack touch it on the way.
    function.addFnAttr("probe-stack", "inline-asm");
    function.addFnAttr("stack-probe-size", std::to_string(abi::kStackGuardBytes));
    if (target.level != CpuLevel::avx512)
      continue;
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("min-legal-vector-width", "512");
  }
}

bool callsBody(const Function &function) {
  for (const BasicBlock &block : function)
    for (const Instruction &instruction : block)
      if (auto *call = dyn_cast<CallBase>(&instruction);
          call && call->getCalledFunction() && !call->getCalledFunction()->isDeclaration())
        return true;
  return false;
}

/// Entry points are made by us, not by the PTX, and have no place in it. They get the kernel's: a
/// body inlined into a function without debug information would lose its lines. What is inlined
/// itself and has no body in it gets none: it is on the line of who calls it.
void placeEntries(Module &module) {
  const Function *placed = nullptr;
  for (const Function &function : module)
    if (!function.isDeclaration() && function.getSubprogram())
      placed = &function;
  if (!placed)
    return;
  for (Function &function : module) {
    if (function.isDeclaration() || function.getSubprogram() || !callsBody(function))
      continue;
    simt::describeAs(*placed, function);
    DISubprogram *place = function.getSubprogram();
    for (BasicBlock &block : function)
      for (Instruction &instruction : block)
        if (isa<CallBase>(instruction) && !instruction.getDebugLoc())
          instruction.setDebugLoc(DILocation::get(module.getContext(), place->getLine(), 0, place));
  }
}

/// Instruction selection looks at a block as a whole, at a time that grows faster than the block:
/// long blocks become several, once no pass over IR is left that would join them again.
class ShortBlocks final : public FunctionPass {
 public:
  ShortBlocks() : FunctionPass(ID) {}
  StringRef getPassName() const override { return "Short blocks for instruction selection"; }
  bool runOnFunction(Function &function) override {
    SmallVector<Instruction *> cuts;
    for (BasicBlock &block : function) {
      size_t count = 0;
      for (Instruction &i : make_range(divisible(block), block.end()))
        if (++count % simt::kLimits.code.selected == 0 && !i.isTerminator())
          cuts.push_back(&i);
    }
    for (Instruction *cut : reverse(cuts)) // from the end: nothing moves twice
      cut->getParent()->splitBasicBlock(cut);
    return !cuts.empty();
  }

 private:
  /// What lies before must stay in its block: phis, and the entry's allocas.
  static BasicBlock::iterator divisible(BasicBlock &block) {
    BasicBlock::iterator at = block.getFirstNonPHIIt();
    if (block.isEntryBlock())
      for (auto i = at; i != block.end(); ++i)
        if (isa<AllocaInst>(*i))
          at = std::next(i);
    return at;
  }

  static char ID;
};
char ShortBlocks::ID = 0;

/// The code generator's passes but for some that cost more than they give:
///   - Loop strength reduction takes up to a fifth of code generation and wins nothing on code
///     whose addresses are a base and constants already. What prepares for it goes with it, and
///     takes time that grows with the square of the number of loops.
///   - Moving whole chains of integer operations into mask registers takes a third of the time at
///     W = 8, and finds hardly any.
class CodegenPasses final : public legacy::PassManager {
 public:
  void add(Pass *pass) override { // owns it
    static const StringSet<> left = {"Loop Strength Reduction",
                                     "Canonicalize Freeze Instructions in Loops",
                                     "X86 Domain Reassignment Pass"};
    const StringRef name = pass->getPassName();
    if (left.contains(name)) {
      delete pass;
      return;
    }
    if (name == "Insert stack protectors") // the first that no longer joins blocks
      legacy::PassManager::add(new ShortBlocks());
    legacy::PassManager::add(pass);
  }
};

/// What the choice of passes goes by. Long blocks are not scheduled: a scheduler looks at all pairs
/// of accesses that may overlap, and at all users of a register that is never renamed. Nor are
/// their constants moved out of loops: so many find no register there.
struct Blocks {
  uint64_t longest = 0;   ///< machine instructions, or about that
  bool isOrdered = false; ///< by order.h
  bool isLong() const { return longest > simt::kLimits.code.longBlock; }
};

/// Machine instructions of the longest block, taking an instruction for as many as registers its
/// result or what it stores takes.
uint64_t longestBlock(const Module &module, unsigned vectorBytes) {
  uint64_t longest = 0;
  for (const Function &function : module)
    for (const BasicBlock &block : function) {
      uint64_t parts = 0;
      for (const Instruction &i : block) {
        const auto *store = dyn_cast<StoreInst>(&i);
        const Type *type = store ? store->getValueOperand()->getType() : i.getType();
        const uint64_t bits = type->isSized() ? type->getPrimitiveSizeInBits().getFixedValue() : 0;
        parts += std::max<uint64_t>(1, bits / (vectorBytes * 8));
      }
      longest = std::max(longest, parts);
    }
  return longest;
}

CodeGenOptLevel codegenLevel(const Effort &effort) {
  if (effort.isBaseline())
    return CodeGenOptLevel::None;
  return effort.isHuge() ? CodeGenOptLevel::Less : CodeGenOptLevel::Default;
}

#ifndef NDEBUG
/// Machine code is verified after each pass of the code generator (an option of LLVM's, which has
/// no other way to ask for it).
[[maybe_unused]] const bool isMachineCodeVerified = [] {
  auto option = cl::getRegisteredOptions().find("verify-machineinstrs");
  return option != cl::getRegisteredOptions().end() &&
         !option->second->addOccurrence(0, "verify-machineinstrs", "true");
}();
#endif

/// A pass over machine code that every analysis outlives.
class PreservingPass : public MachineFunctionPass {
 public:
  using MachineFunctionPass::MachineFunctionPass;
  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
};

/// Adds up the stack frames of what is generated.
class FrameSizes final : public PreservingPass {
 public:
  explicit FrameSizes(uint64_t &bytes) : PreservingPass(ID), bytes_(bytes) {}
  bool runOnMachineFunction(MachineFunction &function) override {
    bytes_ += function.getFrameInfo().getStackSize();
    return false;
  }

 private:
  static char ID;
  uint64_t &bytes_;
};
char FrameSizes::ID = 0;

/// Registers of the address of what a tied operand is blended with are not marked as read for the
/// last time. X86InstrInfo makes untied blends of such masked loads and does not tell LiveVariables
/// that they are the last to read these registers: nothing goes by that later, but a build that
/// verifies machine code stops.
class UnmarkedAddresses final : public PreservingPass {
 public:
  UnmarkedAddresses() : PreservingPass(ID) {}
  bool runOnMachineFunction(MachineFunction &function) override {
    for (MachineBasicBlock &block : function)
      for (MachineInstr &i : block)
        if (i.isConvertibleTo3Addr() && i.mayLoad())
          for (MachineOperand &operand : drop_begin(i.explicit_uses(), 2))
            if (operand.isReg())
              operand.setIsKill(false);
    return false;
  }

 private:
  static char ID;
};
char UnmarkedAddresses::ID = 0;

/// The code generator's pass list, without what costs time and gives nothing here: a scheduler
/// after register allocation (quadratic in the block; the CPUs of these levels reorder by
/// themselves) and the tracking of debug values (there are none). Returns true if the target cannot
/// emit such a file.
bool addCodegenPasses(legacy::PassManager &passes, TargetMachine &machine, raw_pwrite_stream &out,
                      CodeGenFileType type, const Blocks &blocks, uint64_t &frameBytes) {
  auto &target = static_cast<LLVMTargetMachine &>(machine);
  auto *info =
      new MachineModuleInfoWrapperPass(&target); // owned by the pass manager, as is the next
  TargetPassConfig *config = target.createPassConfig(passes);
  config->setDisableVerify(true);
  config->disablePass(&PostRASchedulerID);
  config->disablePass(&LiveDebugValuesID);
  config->insertPass(&PHIEliminationID, new UnmarkedAddresses); // owned by the pass manager
  if (blocks.isOrdered || blocks.isLong())
    config->disablePass(&MachineSchedulerID);
  if (blocks.isLong())
    config->disablePass(&EarlyMachineLICMID);
  passes.add(config);
  passes.add(info);
  if (config->addISelPasses())
    return true;
  config->addMachinePasses();
  config->setInitialized();
  if (target.addAsmPrinter(passes, out, nullptr, type, info->getMMI().getContext()))
    return true;
  passes.add(new FrameSizes(frameBytes)); // owned by the pass manager
  passes.add(createFreeMachineFunctionPass());
  return false;
}

struct Generated {
  std::string text;        ///< the file
  uint64_t frameBytes = 0; ///< of all functions' stack frames
};

Generated generate(Module &module, TargetMachine &machine, CodeGenFileType type,
                   const Blocks &blocks) {
  Generated made;
  SmallString<0> text;
  raw_svector_ostream out(text);
  CodegenPasses passes;
  [[maybe_unused]] const bool hasFailed =
      addCodegenPasses(passes, machine, out, type, blocks, made.frameBytes);
  assert(!hasFailed && "jit: X86 can emit objects and assembly");
  passes.run(module);
  made.text = text.str();
  return made;
}

std::string assemblyOf(const Module &module, CpuLevel level, CodeGenOptLevel effort,
                       const Blocks &blocks) {
  const std::unique_ptr<Module> copy = CloneModule(module); // code generation changes the module
  const std::unique_ptr<TargetMachine> machine = createTargetMachine(level, effort);
  machine->Options.MCOptions.AsmVerbose = true;
  return generate(*copy, *machine, CodeGenFileType::AssemblyFile, blocks).text;
}

} // namespace

Expected<ObjectCode> compile(simt::GangModule in, std::string_view kernel,
                             const simt::Target &target, const CompileObserver &observer) {
  if (std::string wrong = whatIsWrong(in); !wrong.empty())
    return make_error<lower::InternalError>("jit", std::move(wrong));
  Module &module = *in.module;
  accessLanesInPlace(module, target, in.tier == Tier::baseline);
  const Effort effort = measure(module, in.tier);
  const CodeGenOptLevel codegen = codegenLevel(effort);
  BorrowedTarget machine(target.level, codegen);
  module.setTargetTriple(machine->getTargetTriple().str());
  module.setDataLayout(machine->createDataLayout());
  nameAndHide(module, kernel);
  setFunctionAttributes(module, target);
  placeEntries(module);

  for (Function &function : module)
    takeLongProductsApart(function);
  optimise(module, *machine, effort);
  accessLanesByCalls(module, target, effort.isBaseline());
  if (!effort.isBaseline() && !effort.isLarge())
    for (Function &function : module) {
      keepSharedValues(function, target.vectorBytes(), target.sharedBytesInRegisters(),
                       in.needs.staticSharedBytes);
      removeUnseenNans(function);
    }
  for (Function &function : module)
    moveBfloatsAsBits(function);
  Blocks blocks{.longest = longestBlock(module, target.vectorBytes())};
  if (!effort.isBaseline())
    for (Function &function : module) {
      computeSingleElements(function);
      if (target.level == CpuLevel::avx512) {
        fixUpNans(function);
        permuteWords(function, target.vectorBits);
      } else {
        takeMinMax(function);
      }
      storeKnownLanes(function, target);
      storeLanesOrNowhere(function, target);
      convertHalvesAsFloats(function);
      if (!target.hasMaskRegisters()) {
        spreadMasksAsNumbers(function);
        testLanesByRegisters(function, target.vectorBytes());
      }
      takeRowConditionsApart(function);
      if (!target.hasMaskRegisters())
        keepMasksInRegisters(function, target.vectorBytes());
      blocks.isOrdered |= orderForRegisters(function, target.vectorBytes(), target.vectorRegisters);
    }
  if (!effort.isBaseline() && in.entry == simt::EntryPoint::ctaRange)
    for (Function &function : module)
      if (function.hasExternalLinkage() && !function.isDeclaration())
        streamStores(function, target, in.needs.lanes * in.gangsAtOnce);
  if (!effort.isBaseline() && target.level != CpuLevel::avx512)
    keepRegistersInSlowCalls(module, target.level);
  for (Function &function : module)
    if (!function.isDeclaration())
      lockForFences(function);
  if (std::string wrong = brokenIr(module); !wrong.empty())
    return make_error<lower::InternalError>("jit", "optimised: " + wrong);
  if (observer.afterOptimise)
    observer.afterOptimise(module);
  if (observer.afterAssembly)
    observer.afterAssembly(assemblyOf(module, target.level, codegen, blocks));

  ObjectCode out;
  out.kernel = kernel;
  out.needs = in.needs;
  out.reason = std::move(in.reason);
  out.entry = in.entry;
  Generated made = generate(module, *machine, CodeGenFileType::ObjectFile, blocks);
  out.elf = std::move(made.text);
  out.needs.stackBytes = static_cast<uint32_t>(
      std::min<uint64_t>(alignTo(out.needs.stackBytes + made.frameBytes, 4096), 1u << 30));
  return out;
}

} // namespace ptxrun::jit
