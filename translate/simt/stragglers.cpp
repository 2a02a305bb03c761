// Loops of which lanes run different numbers of rounds: the multiples of each lane's prime, rows of
// a graph, a search that some lanes end early. In their last rounds, which may be most of them, a
// gang has one lane left, or a few, and takes as long as for all.
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
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>

#include "translate/simt/cost.h"
#include "translate/simt/prepare.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

/// Memory that a lane alone reads and writes at the places where it does in a gang.
bool isPlainPlace(const Value *pointer) {
  llvm::SmallVector<const Value *> objects;
  llvm::getUnderlyingObjects(pointer, objects);
  return llvm::none_of(objects, [](const Value *object) {
    return llvm::isa<llvm::AllocaInst, llvm::PHINode, llvm::SelectInst>(object);
  });
}

/// Values that go in and out one by one.
bool isScalar(const llvm::Type *type) {
  return type->isIntegerTy() || type->isFloatingPointTy() || type->isPointerTy();
}

/// Neither seen nor waited for by others.
bool mayRunAlone(const Instruction &i) {
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
    return load->isSimple() && isPlainPlace(load->getPointerOperand());
  if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
    return store->isSimple() && isPlainPlace(store->getPointerOperand());
  if (auto *call = llvm::dyn_cast<llvm::CallBase>(&i))
    return llvm::isa<llvm::IntrinsicInst>(i) && !llvm::isa<llvm::DbgInfoIntrinsic>(i) &&
           !call->isConvergent() && !call->mayWriteToMemory();
  return !i.mayReadOrWriteMemory();
}

/// Cycles of a round, in a gang and in one lane, as far as the operations' costs tell.
struct RoundCosts {
  float gang = 0, lane = 0;
};

class RoundCost {
 public:
  RoundCost(const ShapeAnalysis &shapes, const Target &target) : shapes_(shapes), target_(target) {}

  RoundCosts of(const llvm::Loop &loop) {
    RoundCosts sum;
    for (const BasicBlock *b : loop.blocks())
      for (const Instruction &i : *b) {
        if (llvm::isa<llvm::PHINode>(i) || i.isTerminator())
          continue;
        const RoundCosts one = of(i);
        sum.gang += one.gang;
        sum.lane += one.lane;
      }
    return sum;
  }

 private:
  /// Operations that do not wait for each other, two at once, in a gang; one lane's do.
  RoundCosts of(const Instruction &i) const {
    const auto lanes = float(shapes_.lanes());
    const OperationCosts &costs = target_.costs;
    if (const Value *pointer = llvm::getLoadStorePointerOperand(&i)) {
      const bool isStore = llvm::isa<llvm::StoreInst>(i);
      if (isApart(shapes_.shape(pointer), registers(i)))
        return {lanes * (isStore ? costs.scatter : costs.gather), 1};
      return {registers(i) * (isStore ? costs.maskedStore : costs.maskedLoad), 1};
    }
    if (!shapes_.shape(&i).isVarying())
      return {1, 1};
    switch (i.getOpcode()) {
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem: {
      const float one =
          i.getType()->getScalarSizeInBits() > 32 ? costs.division64 : costs.division32;
      return {lanes * one / 4, one};
    }
    case Instruction::FDiv:
    case Instruction::FRem:
      return {registers(i) * costs.floatDivision, 2 * costs.floatDivision};
    default:
      return {registers(i) / 2, 1};
    }
  }
  /// Whether an access of so many registers touches more of memory than that.
  bool isApart(const Shape &shape, float registers) const {
    if (!shape.hasOffsets())
      return shape.isVarying();
    const auto [least, most] = std::minmax_element(shape.offsets->begin(), shape.offsets->end());
    return float(*most - *least) > 2 * registers * float(target_.vectorBytes());
  }
  float registers(const Instruction &i) const {
    const llvm::Type *type = i.getType();
    if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
      type = store->getValueOperand()->getType();
    else if (auto *compare = llvm::dyn_cast<llvm::CmpInst>(&i))
      type = compare->getOperand(0)->getType();
    const uint64_t bits = type->isPointerTy() ? 64 : type->getScalarSizeInBits();
    return float(target_.registersFor(bits * shapes_.lanes()));
  }

  const ShapeAnalysis &shapes_;
  const Target &target_;
};

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

/// Up to how many lanes of the loop are better off one after the other; 0: not even one, or by
/// little.
unsigned fewLanes(const llvm::Loop &loop, const ShapeAnalysis &shapes, const Target &target) {
  if (!mayLeaveFarApart(loop, shapes))
    return 0;
  const RoundCosts round = RoundCost(shapes, target).of(loop);
  const auto worth = unsigned(round.gang / round.lane);
  return worth < 2 ? 0 : std::min(worth, chasesPointers(loop) ? 1 : kLimits.stragglers.lanes);
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
    return llvm::all_of(inputs_, [](const Value *v) { return isScalar(v->getType()); }) &&
           llvm::all_of(outputs_,
                        [](const llvm::PHINode *phi) { return isScalar(phi->getType()); });
  }

  llvm::Function *make(unsigned fewLanes) {
    build();
    callFrom(fewLanes);
    return rest_;
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

  /// Pointers go in and out as integers, which is what addresses are in the code of a thread.
  llvm::Type *passed(llvm::Type *type) const {
    return type->isPointerTy() ? kernel_.getDataLayout().getIntPtrType(type) : type;
  }
  static Value *convert(llvm::IRBuilder<> &b, Value *v, llvm::Type *to) {
    if (v->getType() == to)
      return v;
    return to->isPointerTy() ? b.CreateIntToPtr(v, to) : b.CreatePtrToInt(v, to);
  }

  void declare() {
    llvm::SmallVector<llvm::Type *> in, out{llvm::Type::getInt32Ty(context())};
    for (Value *v : inputs_)
      in.push_back(passed(v->getType()));
    for (llvm::PHINode *phi : outputs_)
      out.push_back(passed(phi->getType()));
    result_ = llvm::StructType::get(context(), out);
    rest_ = llvm::Function::Create(llvm::FunctionType::get(result_, in, false),
                                   llvm::GlobalValue::InternalLinkage, kernel_.getName() + ".alone",
                                   kernel_.getParent());
    rest_->addFnAttr(llvm::Attribute::NoUnwind);
    rest_->addFnAttr(kWaitsForNobody);
    describeAs(kernel_, *rest_);
  }

  void build() {
    declare();
    BasicBlock *entry = BasicBlock::Create(context(), "entry", rest_);
    llvm::IRBuilder<> b(entry);
    llvm::ValueToValueMapTy map;
    llvm::SmallVector<Value *> begin;
    for (unsigned k = 0; k < inputs_.size(); ++k) {
      Value *v = convert(b, rest_->getArg(k), inputs_[k]->getType());
      if (k < phis())
        begin.push_back(v);
      else
        map[inputs_[k]] = v;
    }
    llvm::SmallVector<BasicBlock *> blocks;
    for (BasicBlock *block : loop_.blocks()) {
      blocks.push_back(llvm::CloneBasicBlock(block, map, "", rest_));
      map[block] = blocks.back();
    }
    b.CreateBr(copy(map, header()));
    returnFrom(map);
    unsigned k = 0;
    for (llvm::PHINode &phi : copy(map, header())->phis()) {
      phi.removeIncomingValue(before_, false);
      phi.addIncoming(begin[k++], entry);
    }
    llvm::remapInstructionsInBlocks(blocks, map);
    takeLines(blocks);
    normaliseLoops(*rest_);
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
  void returnFrom(llvm::ValueToValueMapTy &map) {
    BasicBlock *done = BasicBlock::Create(context(), "done", rest_);
    llvm::IRBuilder<> b(done);
    llvm::SmallVector<llvm::PHINode *> fields;
    for (llvm::Type *type : result_->elements())
      fields.push_back(b.CreatePHI(type, unsigned(edges_.size())));
    Value *result = llvm::PoisonValue::get(result_);
    for (unsigned k = 0; k < fields.size(); ++k)
      result = b.CreateInsertValue(result, fields[k], k);
    b.CreateRet(result);
    for (const auto &[from, to] : edges_) {
      BasicBlock *left = BasicBlock::Create(context(), "left", rest_, done);
      b.SetInsertPoint(left);
      for (unsigned k = 0; k < outputs_.size(); ++k) {
        llvm::PHINode *phi = outputs_[k];
        llvm::PHINode *field = fields[k + 1];
        Value *v =
            phi->getParent() == to
                ? convert(b, mapped(map, phi->getIncomingValueForBlock(from)), field->getType())
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

  /// PTX lines, for messages.
  void takeLines(llvm::ArrayRef<BasicBlock *> blocks) {
    llvm::DISubprogram *of = rest_->getSubprogram();
    for (BasicBlock *b : blocks)
      for (Instruction &i : *b)
        if (const llvm::DebugLoc line = i.getDebugLoc())
          i.setDebugLoc(lineIn(of, line.getLine()));
  }

  /// Calls have one wherever functions are described.
  llvm::DebugLoc lineOf(const BasicBlock &block) const {
    for (const Instruction &i : block)
      if (i.getDebugLoc())
        return i.getDebugLoc();
    llvm::DISubprogram *of = kernel_.getSubprogram();
    return lineIn(of, of ? of->getLine() : 0);
  }
  static llvm::DebugLoc lineIn(llvm::DISubprogram *function, unsigned line) {
    return function
               ? llvm::DebugLoc(llvm::DILocation::get(function->getContext(), line, 0, function))
               : llvm::DebugLoc();
  }

  void callFrom(unsigned fewLanes) {
    BasicBlock *round = llvm::SplitBlock(header(), header()->getFirstNonPHI());
    const llvm::DebugLoc line = lineOf(*round);
    BasicBlock *alone = BasicBlock::Create(context(), "alone", &kernel_, round);
    llvm::IRBuilder<> b(header()->getTerminator());
    b.SetCurrentDebugLocation(line);
    Value *areFew = callWord(b, Op::stragglers, b.getInt1Ty(), b.getInt32(fewLanes));
    header()->getTerminator()->eraseFromParent();
    b.SetInsertPoint(header());
    b.CreateCondBr(areFew, alone, round);
    b.SetInsertPoint(alone);
    llvm::SmallVector<Value *> arguments;
    for (Value *v : inputs_)
      arguments.push_back(convert(b, v, passed(v->getType())));
    Value *result = b.CreateCall(rest_, arguments);
    llvm::SmallVector<Value *> outputs;
    for (unsigned k = 0; k < outputs_.size(); ++k)
      outputs.push_back(convert(b, b.CreateExtractValue(result, k + 1), outputs_[k]->getType()));
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
  llvm::StructType *result_ = nullptr;
  llvm::Function *rest_ = nullptr;
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
    if (!l->isInnermost() || !shapes.isDivergentLoop(l) ||
        copied + sizeOf(*l) > kLimits.stragglers.copied ||
        !llvm::all_of(l->blocks(),
                      [](const BasicBlock *b) { return llvm::all_of(*b, mayRunAlone); }))
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
