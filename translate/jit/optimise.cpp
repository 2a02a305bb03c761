#include "translate/jit/optimise.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/Transforms/Coroutines/CoroCleanup.h>
#include <llvm/Transforms/Coroutines/CoroEarly.h>
#include <llvm/Transforms/Coroutines/CoroSplit.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "translate/jit/idle_rounds.h"
#include "translate/jit/loop_counters.h"
#include "translate/lower/analyses.h"

namespace ptxrun::jit {

using namespace llvm;

namespace {

InstCombineOptions oneRound() {
  return InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false);
}

/// Calls in place of a function's freezes, if there are very many, for as long as this object
/// lives. InstCombine moves each freeze up through all of the arithmetic before it, at a time that
/// grows with the square of what there is.
class FreezesAway {
 public:
  explicit FreezesAway(Function &function) : module_(*function.getParent()) {
    SmallVector<FreezeInst *> freezes;
    for (Instruction &instruction : instructions(function))
      if (auto *freeze = dyn_cast<FreezeInst>(&instruction))
        freezes.push_back(freeze);
    if (freezes.size() <= simt::kLimits.code.freezes)
      return;
    for (FreezeInst *freeze : freezes) {
      Function *&standIn = standIns_[freeze->getType()];
      if (!standIn)
        standIn = declare(freeze->getType());
      replace(*freeze, CallInst::Create(standIn, {freeze->getOperand(0)}));
    }
  }
  ~FreezesAway() {
    for (auto &[type, standIn] : standIns_) {
      for (User *user : make_early_inc_range(standIn->users()))
        replace(*cast<Instruction>(user), new FreezeInst(cast<CallInst>(user)->getArgOperand(0)));
      standIn->eraseFromParent();
    }
  }
  FreezesAway(const FreezesAway &) = delete;
  FreezesAway &operator=(const FreezesAway &) = delete;

 private:
  Function *declare(Type *type) {
    auto *standIn = Function::Create(FunctionType::get(type, {type}, false),
                                     GlobalValue::ExternalLinkage, "freeze", module_);
    standIn->setDoesNotAccessMemory();
    standIn->setDoesNotThrow();
    standIn->setWillReturn();
    return standIn;
  }
  static void replace(Instruction &old, Instruction *with) {
    with->setDebugLoc(old.getDebugLoc());
    ReplaceInstWithInst(&old, with);
  }

  Module &module_;
  MapVector<Type *, Function *> standIns_;
};

/// InstCombine, but where very many ways meet: it asks for the known bits of each value that comes
/// in, for each instruction behind, and that time grows with the square of the number of ways.
/// What is left is folded there.
struct Combine : PassInfoMixin<Combine> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    const bool hasManyWays = any_of(function, [](const BasicBlock &block) {
      const auto *phi = dyn_cast<PHINode>(&block.front());
      return phi && phi->getNumIncomingValues() > simt::kLimits.code.ways;
    });
    if (hasManyWays)
      return InstSimplifyPass().run(function, analyses);
    const FreezesAway away(function);
    return InstCombinePass(oneRound()).run(function, analyses);
  }
};

bool callsItself(const Function &function) {
  for (const User *user : function.users()) {
    const auto *call = dyn_cast<CallBase>(user);
    if (!call || call->getFunction() == &function)
      return true;
  }
  return false;
}

/// Marks what the entry points inline; true if there is anything. A body that both call is copied
/// into both up to a size: then what does not change from gang to gang moves out of the loop over
/// gangs. Above it, a call per gang is nothing against the body, and code is generated once.
bool markInlining(Module &module) {
  bool isAny = false;
  for (Function &function : module) {
    if (function.isDeclaration() || !function.hasInternalLinkage())
      continue;
    const bool isWorthIt =
        function.hasOneUse() || function.getInstructionCount() <= simt::kLimits.code.inlined;
    if (isWorthIt && !function.hasFnAttribute(Attribute::NoInline) && !callsItself(function))
      function.addFnAttr(Attribute::AlwaysInline);
    isAny |= function.hasFnAttribute(Attribute::AlwaysInline);
  }
  return isAny;
}

bool hasCoroutine(const Module &module) {
  for (const Function &function : module)
    if (function.isPresplitCoroutine())
      return true;
  return false;
}

/// Unrolls loops that are all but gone when unrolled, which takes a constant bound. The pass itself
/// would ask for the cost of every instruction of every loop, and that takes as long as a quarter
/// of a short kernel's compilation.
struct UnrollShortLoops : PassInfoMixin<UnrollShortLoops> {
  static bool mayVanish(const Loop &loop) {
    unsigned size = 0;
    for (const BasicBlock *block : loop.blocks())
      size += unsigned(block->size());
    if (!loop.isInnermost() || size > simt::kLimits.code.unrolled)
      return false;
    SmallVector<BasicBlock *> exiting;
    loop.getExitingBlocks(exiting);
    return any_of(exiting, [](const BasicBlock *block) {
      auto *branch = dyn_cast<BranchInst>(block->getTerminator());
      auto *bound = branch ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
      return bound &&
             (isa<ConstantInt>(bound->getOperand(0)) || isa<ConstantInt>(bound->getOperand(1)));
    });
  }

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    const LoopInfo &loops = analyses.getResult<LoopAnalysis>(function);
    if (none_of(loops.getLoopsInPreorder(), [](const Loop *loop) { return mayVanish(*loop); }))
      return PreservedAnalyses::all();
    FunctionPassManager passes;
    passes.addPass(LoopUnrollPass(
        LoopUnrollOptions(2).setPartial(false).setRuntime(false).setUpperBound(false).setPeeling(
            false)));
    passes.addPass(InstCombinePass(oneRound()));
    return passes.run(function, analyses);
  }
};

/// Places in a frame, an argument and a constant, are made anew where each is wanted: one
/// instruction, where LLVM would make all of them ahead at every resumption and spill them.
class RemakePlaces : public PassInfoMixin<RemakePlaces> {
 public:
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &) {
    bool isChanged = false;
    for (Instruction &i : make_early_inc_range(function.getEntryBlock()))
      if (auto *place = dyn_cast<GetElementPtrInst>(&i);
          place && place->hasAllConstantIndices() && isa<Argument>(place->getPointerOperand()))
        isChanged |= remake(*place);
    if (!isChanged)
      return PreservedAnalyses::all();
    PreservedAnalyses preserved;
    preserved.preserveSet<CFGAnalyses>();
    return preserved;
  }

 private:
  static bool remake(GetElementPtrInst &place) {
    bool isChanged = false;
    for (Use &use : make_early_inc_range(place.uses())) {
      auto *user = cast<Instruction>(use.getUser());
      if (isa<PHINode>(user) || user->getParent() == place.getParent())
        continue;
      Instruction *own = place.clone();
      own->insertBefore(user);
      use.set(own);
      isChanged = true;
    }
    if (place.use_empty())
      place.eraseFromParent();
    return isChanged;
  }
};

/// What LLVM computes again behind a suspension where it is cheaper than a place in the frame.
bool isCheap(const Instruction &instruction) {
  return isa<CastInst, GetElementPtrInst, BinaryOperator, CmpInst, SelectInst>(instruction);
}

/// Whether `instruction` and all cheap ones that it is made of are chains of at most `length`.
bool isShortChain(const Instruction &instruction, unsigned length) {
  if (!isCheap(instruction))
    return true;
  return length > 0 && all_of(instruction.operands(), [&](const Use &operand) {
           const auto *made = dyn_cast<Instruction>(operand);
           return !made || isShortChain(*made, length - 1);
         });
}

/// Longer chains live in the frame. LLVM copies a whole chain for each use behind a suspension, in
/// time that grows with the square of its length.
bool isComputedAgain(Instruction &instruction) {
  return isCheap(instruction) && isShortChain(instruction, simt::kLimits.code.recomputed);
}

/// Whether the address, or one made of it, becomes an element of a vector.
bool isPutIntoVector(const AllocaInst &memory) {
  SmallVector<const Value *> stack{&memory};
  SmallPtrSet<const Value *, 8> seen;
  while (!stack.empty())
    for (const User *user : stack.pop_back_val()->users()) {
      if (isa<InsertElementInst>(user))
        return true;
      if (isa<GetElementPtrInst, CastInst, SelectInst, PHINode>(user) && seen.insert(user).second)
        stack.push_back(user);
    }
  return false;
}

/// Memory whose address may lie in a vector across a suspension: of the frame, not of the stack,
/// which is another when the coroutine goes on. LLVM does not follow addresses into vectors; it
/// keeps in the frame what somebody else may know the address of.
struct KeepAddressesInFrame : PassInfoMixin<KeepAddressesInFrame> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &) {
    if (!function.isPresplitCoroutine())
      return PreservedAnalyses::all();
    Instruction *begin = nullptr;
    SmallVector<AllocaInst *> found;
    for (Instruction &i : instructions(function)) {
      if (auto *intrinsic = dyn_cast<IntrinsicInst>(&i);
          intrinsic && intrinsic->getIntrinsicID() == Intrinsic::coro_begin)
        begin = &i;
      if (auto *memory = dyn_cast<AllocaInst>(&i); memory && isPutIntoVector(*memory))
        found.push_back(memory);
    }
    if (!begin || found.empty())
      return PreservedAnalyses::all();
    IRBuilder<> ir(begin->getNextNode());
    auto *type = FunctionType::get(ir.getVoidTy(), {ir.getPtrTy()}, false);
    for (AllocaInst *memory : found)
      ir.CreateCall(InlineAsm::get(type, "", "r", /*hasSideEffects=*/true), {memory});
    return PreservedAnalyses::none();
  }
};

/// Splits `gang_start` at its suspension points. Before that, what need not live in the frame is
/// cleaned away.
void addCoroutinePasses(ModulePassManager &passes) {
  passes.addPass(CoroEarlyPass());
  FunctionPassManager before;
  before.addPass(SROAPass(SROAOptions::ModifyCFG));
  before.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  before.addPass(SimplifyCFGPass());
  before.addPass(KeepAddressesInFrame());
  passes.addPass(createModuleToFunctionPassAdaptor(std::move(before)));
  passes.addPass(createModuleToPostOrderCGSCCPassAdaptor(
      CoroSplitPass(isComputedAgain, /*OptimizeFrame=*/true)));
  passes.addPass(CoroCleanupPass());
}

FunctionPassManager passesFor(const Effort &effort) {
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/!effort.isLarge() && !effort.isBaseline()));
  if (!effort.isBaseline())
    passes.addPass(Combine());
  passes.addPass(SimplifyCFGPass());
  if (effort.isHuge() || effort.isBaseline())
    return passes;

  LoopPassManager loops;
  loops.addPass(LoopRotatePass(/*EnableHeaderDuplication=*/true, /*PrepareForLTO=*/false));
  loops.addPass(LICMPass(LICMOptions()));
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  if (!effort.isLarge())
    passes.addPass(GVNPass(GVNOptions().setPRE(false).setLoadPRE(true)));
  passes.addPass(EndIdleRounds());
  passes.addPass(UnrollShortLoops());
  passes.addPass(JoinCounters());
  passes.addPass(DSEPass());
  passes.addPass(ADCEPass());
  passes.addPass(
      SimplifyCFGPass(SimplifyCFGOptions().convertSwitchToLookupTable(true).sinkCommonInsts(true)));
  passes.addPass(RemakePlaces());
  return passes;
}

} // namespace

Effort measure(const Module &module, Tier tier) {
  Effort effort{.tier = tier};
  for (const Function &function : module)
    effort.instructions += function.getInstructionCount();
  return effort;
}

void optimise(Module &module, TargetMachine &machine, const Effort &effort) {
  lower::Analyses analyses(&machine);

  ModulePassManager passes;
  if (markInlining(module)) {
    passes.addPass(AlwaysInlinerPass(/*InsertLifetimeIntrinsics=*/false));
    passes.addPass(GlobalDCEPass());
  }
  if (hasCoroutine(module))
    addCoroutinePasses(passes);
  passes.addPass(createModuleToFunctionPassAdaptor(passesFor(effort)));
  passes.run(module, analyses.modules);
}

} // namespace ptxrun::jit
