// Loops of which lanes run different numbers of rounds: the multiples of each lane's prime, rows of
// a graph, a search that some lanes end early. In their last rounds, which may be most of them, a
// gang has one lane left, or a few, and takes as long as for all. So it has from the first round on
// where only those lanes come to a loop that found something in memory (pixels that are bright).
//
//   header: ...                            =>   header: br ptx.stragglers(most), alone, round
//                                               alone:  r = kernel.alone(what lives in the loop)
//                                                       on to the exit that r tells
//
// kernel.alone is the loop as scalar code. How many lanes are few follows from what a round costs
// in a gang and in one lane. Lanes run it one after the other, so nobody may see in which order
// they run, or wait for another lane in it.
#include "translate/simt/stragglers.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>

#include "translate/simt/alone.h"
#include "translate/simt/cost.h"
#include "translate/simt/prepare.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

AloneCosts roundOf(const llvm::Loop &loop, const AloneCost &cost) {
  AloneCosts sum;
  for (const BasicBlock *b : loop.blocks())
    for (const Instruction &i : *b)
      sum += cost.of(i);
  sum.lane = std::max(sum.lane / kLimits.stragglers.perCycle, carriedChain(loop, cost, false));
  return sum;
}

/// Whether where a round reads follows from what the round before read: then each lane waits for
/// memory by itself, and lanes of a gang wait together.
bool chasesPointers(const llvm::Loop &loop) {
  llvm::SmallVector<const Value *> stack;
  llvm::DenseSet<const Value *> seen;
  for (const BasicBlock *b : loop.blocks())
    for (const Instruction &i : *b)
      if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
        stack.push_back(load->getPointerOperand());
  // What addresses are made of, up to the round's begin.
  llvm::SmallVector<const llvm::PHINode *> carried;
  const auto follow = [&](auto each) {
    while (!stack.empty()) {
      auto *i = llvm::dyn_cast<Instruction>(stack.pop_back_val());
      if (!i || !loop.contains(i) || !seen.insert(i).second)
        continue;
      if (each(*i))
        stack.append(i->value_op_begin(), i->value_op_end());
    }
  };
  follow([&](const Instruction &i) {
    auto *phi = llvm::dyn_cast<llvm::PHINode>(&i);
    if (!phi || phi->getParent() != loop.getHeader())
      return true;
    carried.push_back(phi);
    return false;
  });
  seen.clear();
  for (const llvm::PHINode *phi : carried)
    stack.push_back(phi->getIncomingValueForBlock(loop.getLoopLatch()));
  bool isRead = false;
  follow([&](const Instruction &i) {
    isRead |= llvm::isa<llvm::LoadInst>(i);
    return true;
  });
  return isRead;
}

/// Whether it reads or writes arrays that each thread has for itself: a stack, mostly. What such a
/// loop searches it finds in the first caches, as it finds the array.
bool hasArrays(const llvm::Loop &loop) {
  return llvm::any_of(loop.blocks(), [](const BasicBlock *b) {
    return llvm::any_of(*b, [](const Instruction &i) {
      const Value *pointer = llvm::getLoadStorePointerOperand(&i);
      return pointer && llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
    });
  });
}

/// Whether lanes may leave the loop many rounds apart: not where each exit compares what lies in a
/// row across the lanes with one bound, as in loops that stride by the block.
bool mayLeaveFarApart(const llvm::Loop &loop, const ShapeAnalysis &shapes) {
  llvm::SmallVector<BasicBlock *> exiting;
  loop.getExitingBlocks(exiting);
  return llvm::any_of(exiting, [&](const BasicBlock *b) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(b->getTerminator());
    auto *compare = branch && branch->isConditional()
                        ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition())
                        : nullptr;
    return !compare || llvm::any_of(compare->operand_values(),
                                    [&](const Value *v) { return shapes.shape(v).isVarying(); });
  });
}

/// Whether only lanes come to the loop that found something in memory: pixels that are bright,
/// nodes of a wave. These may be few.
bool isForSomeLanes(const llvm::Loop &loop, const ShapeAnalysis &shapes) {
  const BasicBlock *header = loop.getHeader();
  if (!shapes.isInDivergentRegion(header))
    return false;
  const auto &dominators = shapes.dominators();
  for (auto *node = dominators.getNode(header)->getIDom(); node; node = node->getIDom()) {
    const BasicBlock *b = node->getBlock();
    if (!shapes.isDivergentBranch(b))
      continue;
    const BasicBlock *meet = shapes.meetingPoint(b);
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(b->getTerminator());
    if (branch && !(meet && dominators.dominates(meet, header)) &&
        comesFromMemory(branch->getCondition(), shapes))
      return true;
  }
  return false;
}

/// Up to how many lanes of the loop are better off one after the other; 0: not even one, or by
/// little.
unsigned fewLanes(const llvm::Loop &loop, const ShapeAnalysis &shapes, const Target &target) {
  if (!(shapes.isDivergentLoop(&loop) && mayLeaveFarApart(loop, shapes)) &&
      !isForSomeLanes(loop, shapes))
    return 0;
  const AloneCosts round = roundOf(loop, AloneCost(shapes, target));
  const auto worth = unsigned(round.gang / round.lane);
  const bool waits = chasesPointers(loop) && !hasArrays(loop);
  return worth < 2 ? 0 : std::min(worth, waits ? 1 : kLimits.stragglers.lanes);
}

/// A loop of a kernel, and its rest as a function.
class Rest {
 public:
  explicit Rest(const llvm::Loop &loop)
      : loop_(loop), kernel_(*loop.getHeader()->getParent()), before_(loop.getLoopPreheader()) {
    findInputs();
    findOutputs();
  }

  bool isPossible() const {
    return llvm::all_of(inputs_, [](const Value *v) { return isHandedAlone(v->getType()); }) &&
           llvm::all_of(outputs_,
                        [](const llvm::PHINode *phi) { return isHandedAlone(phi->getType()); });
  }

  llvm::Function *make(unsigned fewLanes) {
    llvm::SmallVector<llvm::Type *> results{llvm::Type::getInt32Ty(context())};
    for (llvm::PHINode *phi : outputs_)
      results.push_back(phi->getType());
    AloneFunction rest(kernel_, inputs_.getArrayRef(), results, ".alone");
    build(rest);
    callFrom(rest, fewLanes);
    return &rest.function();
  }

 private:
  BasicBlock *header() const { return loop_.getHeader(); }
  llvm::LLVMContext &context() const { return kernel_.getContext(); }

  /// The header's phis come first.
  void findInputs() {
    for (llvm::PHINode &phi : header()->phis())
      inputs_.insert(&phi);
    for (BasicBlock *b : loop_.blocks())
      for (Instruction &i : *b)
        if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&i); phi && b == header())
          addInput(phi->getIncomingValueForBlock(loop_.getLoopLatch()));
        else
          for (Value *v : i.operand_values())
            addInput(v);
  }
  void addInput(Value *v) {
    auto *i = llvm::dyn_cast<Instruction>(v);
    if (llvm::isa<llvm::Argument>(v) || (i && !loop_.contains(i)))
      inputs_.insert(v);
  }

  void findOutputs() {
    llvm::SmallVector<llvm::Loop::Edge> edges;
    loop_.getExitEdges(edges);
    for (const llvm::Loop::Edge &edge : edges) {
      edges_.insert(edge);
      exits_.insert(edge.second);
      for (llvm::PHINode &phi : edge.second->phis())
        addInput(phi.getIncomingValueForBlock(edge.first));
    }
    for (BasicBlock *exit : exits_)
      for (llvm::PHINode &phi : exit->phis())
        outputs_.push_back(&phi);
  }

  void build(AloneFunction &rest) {
    llvm::Function *function = &rest.function();
    BasicBlock *entry = BasicBlock::Create(context(), "entry", function);
    llvm::IRBuilder<> b(entry);
    llvm::ValueToValueMapTy map;
    llvm::SmallVector<Value *> begin;
    for (unsigned k = 0; k < inputs_.size(); ++k) {
      Value *v = rest.input(b, k);
      if (k < phis())
        begin.push_back(v);
      else
        map[inputs_[k]] = v;
    }
    llvm::SmallVector<BasicBlock *> blocks;
    for (BasicBlock *block : loop_.blocks()) {
      blocks.push_back(llvm::CloneBasicBlock(block, map, "", function));
      map[block] = blocks.back();
    }
    b.CreateBr(copy(map, header()));
    returnFrom(map, function);
    unsigned k = 0;
    for (llvm::PHINode &phi : copy(map, header())->phis()) {
      phi.removeIncomingValue(before_, false);
      phi.addIncoming(begin[k++], entry);
    }
    llvm::remapInstructionsInBlocks(blocks, map);
    rest.takeLines();
    normaliseLoops(*function);
  }
  unsigned phis() const { return unsigned(llvm::range_size(header()->phis())); }
  static BasicBlock *copy(llvm::ValueToValueMapTy &map, BasicBlock *block) {
    return llvm::cast<BasicBlock>(&*map[block]);
  }
  static Value *mapped(llvm::ValueToValueMapTy &map, Value *v) {
    auto it = map.find(v);
    return it == map.end() ? v : &*it->second;
  }

  /// Every exit: its number, and what its phis get.
  void returnFrom(llvm::ValueToValueMapTy &map, llvm::Function *rest) {
    BasicBlock *done = BasicBlock::Create(context(), "done", rest);
    llvm::IRBuilder<> b(done);
    llvm::SmallVector<llvm::PHINode *> fields;
    auto *result = llvm::cast<llvm::StructType>(rest->getReturnType());
    for (llvm::Type *type : result->elements())
      fields.push_back(b.CreatePHI(type, unsigned(edges_.size())));
    Value *whole = llvm::PoisonValue::get(result);
    for (unsigned k = 0; k < fields.size(); ++k)
      whole = b.CreateInsertValue(whole, fields[k], k);
    b.CreateRet(whole);
    for (const auto &[from, to] : edges_) {
      BasicBlock *left = BasicBlock::Create(context(), "left", rest, done);
      b.SetInsertPoint(left);
      for (unsigned k = 0; k < outputs_.size(); ++k) {
        llvm::PHINode *phi = outputs_[k];
        llvm::PHINode *field = fields[k + 1];
        Value *v = phi->getParent() == to
                       ? AloneFunction::handed(b, mapped(map, phi->getIncomingValueForBlock(from)))
                       : llvm::PoisonValue::get(field->getType());
        field->addIncoming(v, left);
      }
      fields[0]->addIncoming(b.getInt32(numberOf(to)), left);
      b.CreateBr(done);
      copy(map, from)->getTerminator()->replaceSuccessorWith(to, left);
    }
  }
  unsigned numberOf(BasicBlock *exit) const {
    return unsigned(llvm::find(exits_, exit) - exits_.begin());
  }

  void callFrom(const AloneFunction &rest, unsigned fewLanes) {
    BasicBlock *round = llvm::SplitBlock(header(), header()->getFirstNonPHI());
    const llvm::DebugLoc line = AloneFunction::lineOf(*round);
    BasicBlock *alone = BasicBlock::Create(context(), "alone", &kernel_, round);
    llvm::IRBuilder<> b(header()->getTerminator());
    b.SetCurrentDebugLocation(line);
    Value *areFew = callWord(b, Op::stragglers, b.getInt1Ty(), b.getInt32(fewLanes));
    header()->getTerminator()->eraseFromParent();
    b.SetInsertPoint(header());
    b.CreateCondBr(areFew, alone, round);
    b.SetInsertPoint(alone);
    Value *result = rest.call(b);
    llvm::SmallVector<Value *> outputs;
    for (unsigned k = 0; k < outputs_.size(); ++k)
      outputs.push_back(AloneFunction::result(b, result, k + 1, outputs_[k]->getType()));
    Value *number = b.CreateExtractValue(result, 0);
    for (unsigned n = 0; n < exits_.size(); ++n) {
      BasicBlock *from = b.GetInsertBlock();
      for (unsigned k = 0; k < outputs_.size(); ++k)
        if (outputs_[k]->getParent() == exits_[n])
          outputs_[k]->addIncoming(outputs[k], from);
      if (n + 1 == exits_.size()) {
        b.CreateBr(exits_[n]);
        break;
      }
      BasicBlock *other = BasicBlock::Create(context(), "alone.other", &kernel_, round);
      b.CreateCondBr(b.CreateICmpEQ(number, b.getInt32(n)), exits_[n], other);
      b.SetInsertPoint(other);
    }
  }

  const llvm::Loop &loop_;
  llvm::Function &kernel_;
  BasicBlock *const before_;
  llvm::SetVector<Value *> inputs_;
  llvm::SetVector<std::pair<BasicBlock *, BasicBlock *>> edges_;
  llvm::SetVector<BasicBlock *> exits_;
  llvm::SmallVector<llvm::PHINode *> outputs_;
};

unsigned sizeOf(const llvm::Loop &loop) {
  unsigned size = 0;
  for (const BasicBlock *b : loop.blocks())
    size += unsigned(b->sizeWithoutDebug());
  return size;
}

} // namespace

std::vector<llvm::Function *> runStragglersAlone(llvm::Function &kernel, const GangShape &gang,
                                                 const Target &target) {
  std::vector<llvm::Function *> made;
  const ShapeAnalysis shapes(kernel, gang, false);
  unsigned copied = 0;
  for (const llvm::Loop *l : const_cast<llvm::LoopInfo &>(shapes.loops()).getLoopsInPreorder()) {
    if (!l->isInnermost() || copied + sizeOf(*l) > kLimits.stragglers.copied ||
        !llvm::all_of(l->blocks(), [](const BasicBlock *b) {
          return llvm::all_of(
              *b, [](const Instruction &i) { return mayRunAlone(i, /*isWithArrays=*/true); });
        }))
      continue;
    const unsigned lanes = std::min(fewLanes(*l, shapes, target), gang.lanes - 1);
    Rest rest(*l);
    if (lanes == 0 || !rest.isPossible())
      continue;
    copied += sizeOf(*l);
    made.push_back(rest.make(lanes));
  }
  return made;
}

} // namespace ptxrun::simt
