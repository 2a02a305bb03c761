#include "translate/simt/prepare.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>
#include <llvm/IR/ValueHandle.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/FixIrreducible.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/UnifyFunctionExitNodes.h>

#include "translate/lower/analyses.h"
#include "translate/simt/cost.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

void foldBlockShape(llvm::Function &f, const GangShape &gang) {
  if (!gang.block[0])
    return;
  llvm::SmallVector<std::pair<llvm::Instruction *, uint32_t>> known;
  for (llvm::Instruction &i : llvm::instructions(f)) {
    Word w = wordAt(i);
    if (w.op == Op::ntid)
      known.push_back({&i, gang.block[w.axis]});
    else if (w.kind == Word::Kind::threadIndex && gang.block[w.axis] == 1)
      known.push_back({&i, 0});
  }
  for (auto [i, value] : known) {
    llvm::Instruction *number = i;
    const llvm::WeakVH stays(number);
    llvm::replaceAndRecursivelySimplify(number, llvm::ConstantInt::get(number->getType(), value));
    if (stays)
      number->eraseFromParent();
  }
  if (known.empty())
    return;
  for (llvm::BasicBlock &b : f)
    llvm::ConstantFoldTerminator(&b);
  llvm::EliminateUnreachableBlocks(f); // what the shape leaves to nobody
}

llvm::BasicBlock *unifyReturns(llvm::Function &f) {
  llvm::SmallVector<llvm::BasicBlock *> returns;
  for (llvm::BasicBlock &b : f)
    if (llvm::isa<llvm::ReturnInst>(b.getTerminator()))
      returns.push_back(&b);
  if (returns.size() == 1 && returns[0]->sizeWithoutDebug() == 1)
    return returns[0];
  auto *exit = llvm::BasicBlock::Create(f.getContext(), "exit", &f);
  llvm::PHINode *value = nullptr;
  if (!f.getReturnType()->isVoidTy())
    value = llvm::PHINode::Create(f.getReturnType(), unsigned(returns.size()), "result", exit);
  llvm::ReturnInst::Create(f.getContext(), value, exit);
  for (llvm::BasicBlock *b : returns) {
    auto *ret = llvm::cast<llvm::ReturnInst>(b->getTerminator());
    if (value)
      value->addIncoming(ret->getReturnValue(), b);
    llvm::BranchInst::Create(exit, ret->getIterator());
    ret->eraseFromParent();
  }
  return exit;
}

void branchTo(llvm::BasicBlock *from, llvm::BasicBlock *to) {
  llvm::Instruction *old = from->getTerminator();
  llvm::DebugLoc location = old->getDebugLoc();
  old->eraseFromParent();
  llvm::BranchInst::Create(to, from)->setDebugLoc(location);
  for (llvm::PHINode &phi : to->phis())
    phi.addIncoming(llvm::PoisonValue::get(phi.getType()), from);
}

bool stopsForGood(const llvm::BasicBlock &b) {
  for (const llvm::Instruction &i : b)
    if (wordAt(i).kind == Word::Kind::exit)
      return false;
  return true;
}

/// Code behind a trap is never reached with a lane. To keep it from hiding where the other lanes
/// meet again, the block goes on where its predecessor's other way goes; a block with several
/// predecessors is copied for each first.
void redirectStops(llvm::Function &f, llvm::BasicBlock *exit) {
  llvm::SmallVector<llvm::BasicBlock *> ends;
  for (llvm::BasicBlock &b : f)
    if (llvm::isa<llvm::UnreachableInst>(b.getTerminator()))
      ends.push_back(&b);
  for (llvm::BasicBlock *b : ends) {
    if (!stopsForGood(*b)) {
      branchTo(b, exit);
      continue;
    }
    llvm::SmallVector<llvm::BasicBlock *> predecessors(llvm::predecessors(b));
    for (unsigned k = 0; k < predecessors.size(); ++k) {
      llvm::BasicBlock *p = predecessors[k], *mine = b;
      auto *branch = llvm::dyn_cast<llvm::BranchInst>(p->getTerminator());
      llvm::BasicBlock *other = exit; // of a switch: any other way
      for (llvm::BasicBlock *way : llvm::reverse(llvm::successors(p)))
        if (way != b && way != p && !llvm::isa<llvm::UnreachableInst>(way->getTerminator()))
          other = way;
      if (predecessors.size() > 1) {
        if (b->sizeWithoutDebug() > kLimits.control.stopInstructions ||
            predecessors.size() > kLimits.control.stopCopies || !branch) {
          branchTo(b, exit);
          break;
        }
        if (k + 1 < predecessors.size()) {
          llvm::ValueToValueMapTy map;
          mine = llvm::CloneBasicBlock(b, map, ".copy", &f);
          for (llvm::Instruction &i : *mine)
            llvm::RemapInstruction(&i, map,
                                   llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
          for (llvm::PHINode &phi : llvm::make_early_inc_range(mine->phis())) {
            phi.replaceAllUsesWith(phi.getIncomingValueForBlock(p));
            phi.eraseFromParent();
          }
          b->removePredecessor(p);
          branch->replaceSuccessorWith(b, mine);
        }
      }
      branchTo(mine, other);
    }
    if (predecessors.empty() && llvm::isa<llvm::UnreachableInst>(b->getTerminator()))
      branchTo(b, exit);
  }
}

/// `exit` in the kernel itself is a branch to its end; a device function that may exit is asked
/// about after each call.
void resolveExits(llvm::Function &f, bool isKernel, llvm::BasicBlock *exit) {
  llvm::SmallVector<llvm::CallBase *> asked;
  for (llvm::BasicBlock &b : f)
    for (llvm::Instruction &i : llvm::make_early_inc_range(b)) {
      auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
      if (!call)
        continue;
      if (wordAt(i).kind == Word::Kind::exit && isKernel && call->getType()->isVoidTy()) {
        call->eraseFromParent();
      } else if (!call->getCalledFunction() || !call->getCalledFunction()->isDeclaration()) {
        if (f.getParent()->getFunction(wordFor(Op::exit).name))
          asked.push_back(call);
      }
    }
  for (llvm::CallBase *call : asked) {
    llvm::BasicBlock *before = call->getParent();
    llvm::BasicBlock *after = before->splitBasicBlock(std::next(call->getIterator()), "after.call");
    llvm::IRBuilder<> b(before->getTerminator());
    llvm::Value *left = callWord(b, Op::exited, b.getInt1Ty(), {});
    before->getTerminator()->eraseFromParent();
    llvm::BranchInst::Create(exit, after, left, before);
    for (llvm::PHINode &phi : exit->phis())
      phi.addIncoming(llvm::PoisonValue::get(phi.getType()), before);
  }
}

} // namespace

void normaliseLoops(llvm::Function &f) {
  lower::Analyses analyses;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LowerSwitchPass());
  passes.addPass(llvm::FixIrreduciblePass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  passes.run(f, analyses.functions);
}

void describeAs(const llvm::Function &source, llvm::Function &made) {
  if (const llvm::DISubprogram *place = source.getSubprogram())
    made.setSubprogram(llvm::DISubprogram::getDistinct(
        made.getContext(), place->getScope(), made.getName(), made.getName(), place->getFile(),
        place->getLine(), place->getType(), place->getScopeLine(), nullptr, 0, 0, place->getFlags(),
        place->getSPFlags(), place->getUnit()));
}

namespace {

/// Of the kernel's `.param` space, which is there whether or not a thread comes to read it.
bool isLoadOfParameter(const llvm::Instruction &i) {
  auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
  if (!load || !load->hasMetadata(llvm::LLVMContext::MD_invariant_load))
    return false;
  const llvm::DataLayout &layout = i.getDataLayout();
  llvm::APInt offset(layout.getIndexTypeSizeInBits(load->getPointerOperandType()), 0);
  auto *parameters = llvm::dyn_cast<llvm::Argument>(
      load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true));
  return parameters && !offset.isNegative() &&
         offset.getZExtValue() + layout.getTypeStoreSize(load->getType()).getFixedValue() <=
             parameters->getDereferenceableBytes();
}

} // namespace

bool isSpeculatable(const llvm::Instruction &i) {
  return isLoadOfParameter(i) || (!llvm::isa<llvm::PHINode>(i) && !i.mayReadOrWriteMemory() &&
                                  llvm::isSafeToSpeculativelyExecute(&i));
}

llvm::ConstantInt *foldedWith(llvm::Value *v, const llvm::Value *known, llvm::ConstantInt *number,
                              unsigned depth) {
  if (v == known)
    return number;
  auto *i = llvm::dyn_cast<llvm::Instruction>(v);
  if (!i)
    return llvm::dyn_cast<llvm::ConstantInt>(v);
  if (depth == 0 || !v->getType()->isIntegerTy() || !(i->isBinaryOp() || i->isCast()))
    return nullptr;
  llvm::SmallVector<llvm::Constant *> operands;
  for (llvm::Value *operand : i->operands())
    if (llvm::Constant *folded = foldedWith(operand, known, number, depth - 1))
      operands.push_back(folded);
    else
      return nullptr;
  return llvm::dyn_cast_or_null<llvm::ConstantInt>(
      llvm::ConstantFoldInstOperands(i, operands, i->getDataLayout()));
}

/// Instructions to be copied so that `v` is known at `at`, in the order of their ways from `v`;
/// nothing where one of them may not be, or there are more than `most`.
static std::optional<llvm::SetVector<llvm::Instruction *>>
missingBefore(llvm::Value *v, const llvm::Instruction *at, const llvm::DominatorTree &dominators,
              size_t most) {
  llvm::SetVector<llvm::Instruction *> missing;
  llvm::SmallVector<llvm::Value *> stack{v};
  while (!stack.empty()) {
    auto *i = llvm::dyn_cast<llvm::Instruction>(stack.pop_back_val());
    if (!i || dominators.dominates(i, at) || missing.contains(i))
      continue;
    if (!isSpeculatable(*i) || missing.size() == most)
      return std::nullopt;
    missing.insert(i);
    stack.append(i->value_op_begin(), i->value_op_end());
  }
  return missing;
}

bool isComputableBefore(llvm::Value *v, const llvm::Instruction *at,
                        const llvm::DominatorTree &dominators, size_t most) {
  return missingBefore(v, at, dominators, most).has_value();
}

llvm::Value *computedBefore(llvm::Value *v, llvm::Instruction *at,
                            const llvm::DominatorTree &dominators, size_t most) {
  std::optional<llvm::SetVector<llvm::Instruction *>> missing =
      missingBefore(v, at, dominators, most);
  if (!missing)
    return nullptr;
  // All are on one way to `v`: each comes behind what it is made of.
  llvm::SmallVector<llvm::Instruction *> inOrder = missing->takeVector();
  llvm::sort(inOrder, [&](auto *a, auto *b) { return dominators.dominates(a, b); });
  llvm::DenseMap<llvm::Value *, llvm::Value *> made;
  for (llvm::Instruction *i : inOrder) {
    llvm::Instruction *copy = i->clone();
    copy->insertBefore(at);
    copy->dropPoisonGeneratingFlags();
    for (llvm::Use &operand : copy->operands())
      if (llvm::Value *mine = made.lookup(operand))
        operand.set(mine);
    made[i] = copy;
  }
  return inOrder.empty() ? v : made.lookup(v);
}

void prepareFunction(llvm::Function &f, const GangShape &gang, bool isKernel) {
  llvm::EliminateUnreachableBlocks(f);
  foldBlockShape(f, gang);
  restoreShiftedIndices(f);
  restoreEdgeValues(f);
  cancelTermsOfAddresses(f);
  llvm::BasicBlock *exit = unifyReturns(f);
  redirectStops(f, exit);
  resolveExits(f, isKernel, exit);
  llvm::EliminateUnreachableBlocks(f);
  normaliseLoops(f);
  moveGuardedIndices(f);
}

} // namespace ptxrun::simt
