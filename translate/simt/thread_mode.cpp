// Thread mode from a point on at which a gang finds that lockstep would not do. Loops around
// barriers whose rounds every thread counts for itself look as if lanes left them apart, and
// branches around barriers by what was read from memory as if they took both ways. They rarely do:
// a gang tests that all its lanes go the same way, and goes on as a gang.
//
//   br c, a, b        =>    br ptx.same(c), agreed, parted
//                           agreed:  br ptx.first(c), a, b
//                           parted:  threads
//
//   threads: point = phi [where lanes parted], [next]; v = phi [what lives there], [w]
//            next, w = kernel.threads(point, v)
//            br next == end, return, wait
//   wait:    barrier; br threads
//
// kernel.threads is the kernel as scalar code that begins at any such point, or behind any barrier,
// and ends at the next barrier, or at the end: one thread's steps. Lanes run it one after the
// other, and meet at barriers, whichever each of them came to, as bar.sync counts threads and asks
// for nothing else (9.7.13.1). So the last rounds of a loop by some of the lanes of a block's last
// warp are right, as they are on a GPU, where .aligned forbids them or not.
#include "translate/simt/thread_mode.h"

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include "translate/simt/alone.h"
#include "translate/simt/cost.h"
#include "translate/simt/prepare.h"
#include "translate/simt/promote.h"
#include "translate/simt/staged_stores.h"
#include "translate/simt/waits.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

/// Registers that lanes do not share: one lane's are handed to its steps.
bool isOfLane(const Instruction &i) {
  using Kind = Word::Kind;
  const Kind kind = wordAt(i).kind;
  return kind == Kind::threadIndex || kind == Kind::laneId || kind == Kind::laneMask;
}

/// A register that has the same value at every time: not a clock.
bool isRegister(const Instruction &i) {
  return isOfLane(i) || (wordAt(i).isSpecialRegister() && !i.mayReadOrWriteMemory());
}

/// Whether a thread by itself can do it as a function that lanes call.
bool mayBeStep(const Instruction &i) {
  using Kind = Word::Kind;
  switch (wordAt(i).kind) {
  case Kind::threadIndex:
  case Kind::laneId:
  case Kind::laneMask:
  case Kind::specialRegister:
  case Kind::uniformValue:
  case Kind::rounded:
    return true;
  case Kind::barrier:
    return isWholeBarrier(i);
  case Kind::none:
    break;
  default:
    return false;
  }
  if (auto *call = llvm::dyn_cast<llvm::CallBase>(&i))
    return llvm::isa<llvm::IntrinsicInst>(i) && !call->isConvergent();
  return !llvm::isa<llvm::AllocaInst>(i) &&
         (!i.isTerminator() || llvm::isa<llvm::BranchInst, llvm::ReturnInst>(i));
}

/// Values that are alive at places in a function.
class Liveness {
 public:
  explicit Liveness(llvm::Function &f) {
    for (Instruction &i : llvm::instructions(f))
      if (!i.getType()->isVoidTy() && i.isUsedOutsideOfBlock(i.getParent())) {
        numbers_[&i] = unsigned(crossing_.size());
        crossing_.push_back(&i);
      }
    for (bool changed = true; std::exchange(changed, false);)
      for (BasicBlock *b : llvm::post_order(&f.getEntryBlock())) {
        llvm::BitVector live = crossingAt(b->front());
        llvm::BitVector &known = liveIn_[b];
        changed |= known != live;
        known = std::move(live);
      }
  }

  /// Right before the instruction.
  llvm::SmallVector<Instruction *> at(Instruction &i) const {
    llvm::SmallVector<Instruction *> found;
    for (unsigned n : crossingAt(i).set_bits())
      found.push_back(crossing_[n]);
    const auto isLater = [&](const llvm::User *u) { // phis ask at the end of the block
      return llvm::isa<llvm::PHINode>(u) || !llvm::cast<Instruction>(u)->comesBefore(&i);
    };
    for (Instruction &made : *i.getParent()) {
      if (&made == &i)
        break;
      if (!numbers_.contains(&made) && llvm::any_of(made.users(), isLater))
        found.push_back(&made);
    }
    return found;
  }

 private:
  /// Of what is used in other blocks than its own.
  llvm::BitVector crossingAt(const Instruction &at) const {
    llvm::BitVector live(unsigned(crossing_.size()));
    const auto set = [&](const Value *v, bool isLive) {
      if (auto it = numbers_.find(v); it != numbers_.end())
        live[it->second] = isLive;
    };
    const BasicBlock *b = at.getParent();
    for (const BasicBlock *next : llvm::successors(b)) {
      if (auto it = liveIn_.find(next); it != liveIn_.end())
        live |= it->second;
      for (const llvm::PHINode &phi : next->phis())
        set(phi.getIncomingValueForBlock(b), true);
    }
    for (const Instruction &i : llvm::reverse(*b)) {
      set(&i, false);
      if (!llvm::isa<llvm::PHINode>(i))
        for (const Value *v : i.operand_values())
          set(v, true);
      if (&i == &at)
        break;
    }
    return live;
  }

  std::vector<Instruction *> crossing_;
  llvm::DenseMap<const Value *, unsigned> numbers_;
  llvm::DenseMap<const BasicBlock *, llvm::BitVector> liveIn_;
};

/// Where steps begin: at branches where lanes parted (the terminator), and behind barriers.
struct Point {
  Instruction *begin; ///< in the kernel
  llvm::SmallVector<Instruction *> alive;
  llvm::SmallVector<unsigned> fields; ///< of what steps are handed, and hand on: where each lies
};

class ThreadMode {
 public:
  /// `agreed`: the conditions of the branches in question, each used by its branch alone.
  ThreadMode(llvm::Function &kernel, llvm::ArrayRef<Instruction *> agreed)
      : kernel_(kernel), agreed_(agreed) {
    const Liveness liveness(kernel);
    for (Instruction *condition : agreed)
      addPoint(*condition->getParent()->getTerminator(), liveness);
    for (BasicBlock &b : kernel)
      own_.push_back(&b);
    for (Instruction &i : llvm::instructions(kernel)) {
      if (isOfLane(i))
        registers_.insert(llvm::cast<llvm::CallBase>(i).getCalledFunction());
      if (isBarrierWord(i)) {
        barriers_.push_back(&i);
        addPoint(*i.getNextNode(), liveness);
      }
    }
  }

  bool isPossible() const {
    return llvm::all_of(fields_, [](const llvm::Type *type) { return isHandedAlone(type); });
  }

  llvm::Function *make() {
    buildThreads();
    buildSteps();
    for (unsigned n = 0; n < agreed_.size(); ++n)
      testAt(*agreed_[n], n);
    normaliseLoops(kernel_);
    return &steps_->function();
  }

 private:
  llvm::LLVMContext &context() const { return kernel_.getContext(); }

  /// Values that do not live at the same points share fields.
  void addPoint(Instruction &begin, const Liveness &liveness) {
    Point p{&begin, {}, {}};
    llvm::SmallDenseMap<llvm::Type *, unsigned> next;
    for (Instruction *v : liveness.at(begin)) {
      if (isKnown(*v))
        continue;
      llvm::Type *type = v->getType();
      unsigned &from = next[type];
      while (from < fields_.size() && fields_[from] != type)
        ++from;
      if (from == fields_.size())
        fields_.push_back(type);
      p.alive.push_back(v);
      p.fields.push_back(from++);
      alive_.insert(v);
    }
    points_.push_back(std::move(p));
  }
  /// Whether it can be computed anew at any point: of parameters and registers, through no phi.
  bool isKnown(Instruction &i) {
    if (const auto it = known_.find(&i); it != known_.end())
      return it->second;
    const bool isSo =
        (isRegister(i) || isSpeculatable(i)) && llvm::all_of(i.operand_values(), [&](Value *v) {
          auto *operand = llvm::dyn_cast<Instruction>(v);
          return !operand || isKnown(*operand);
        });
    return known_[&i] = isSo;
  }
  /// The number of a point; 0 is the end.
  llvm::ConstantInt *numbered(size_t n) const {
    return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context()), n + 1);
  }

  /// The kernel's part: rounds of steps, and the barrier that all wait at between them.
  void buildThreads() {
    BasicBlock *end = nullptr;
    for (BasicBlock *b : own_)
      if (llvm::isa<llvm::ReturnInst>(b->getTerminator()))
        end = b;
    threads_ = BasicBlock::Create(context(), "threads", &kernel_, end);
    BasicBlock *wait = BasicBlock::Create(context(), "threads.wait", &kernel_, end);
    llvm::IRBuilder<> b(threads_);
    b.SetCurrentDebugLocation(barriers_.front()->getDebugLoc());
    point_ = b.CreatePHI(b.getInt32Ty(), unsigned(agreed_.size()) + 1);
    llvm::SmallVector<Value *> inputs{point_};
    for (llvm::Type *type : fields_)
      inputs.push_back(carried_.emplace_back(b.CreatePHI(type, unsigned(agreed_.size()) + 1)));
    for (llvm::Argument &a : kernel_.args())
      inputs.push_back(&a);
    for (llvm::Function *word : registers_)
      inputs.push_back(b.CreateCall(word));
    llvm::SmallVector<llvm::Type *> results{b.getInt32Ty()};
    results.append(fields_.begin(), fields_.end());
    steps_.emplace(kernel_, inputs, results, ".threads");
    steps_->function().addFnAttr(llvm::Attribute::Cold);
    Value *made = steps_->call(b);
    Value *next = AloneFunction::result(b, made, 0, point_->getType());
    point_->addIncoming(next, wait);
    for (unsigned k = 0; k < fields_.size(); ++k)
      carried_[k]->addIncoming(AloneFunction::result(b, made, k + 1, fields_[k]), wait);
    b.CreateCondBr(b.CreateIsNull(next), end, wait);
    b.SetInsertPoint(wait);
    b.Insert(barriers_.front()->clone());
    b.CreateBr(threads_);
  }

  /// A copy of the kernel that begins at points and ends at barriers.
  void buildSteps() {
    llvm::Function &f = steps_->function();
    BasicBlock *entry = BasicBlock::Create(context(), "entry", &f);
    llvm::IRBuilder<> b(entry);
    llvm::ValueToValueMapTy map, known;
    llvm::SmallVector<Value *> handed;
    for (unsigned k = 0; k < fields_.size(); ++k)
      handed.push_back(steps_->input(b, k + 1));
    unsigned n = unsigned(fields_.size()) + 1;
    for (llvm::Argument &a : kernel_.args())
      map[&a] = known[&a] = steps_->input(b, n++);
    llvm::DenseMap<const llvm::Function *, Value *> registers;
    for (llvm::Function *word : registers_)
      registers[word] = steps_->input(b, n++);
    llvm::SmallVector<BasicBlock *> blocks;
    for (BasicBlock *block : own_)
      map[block] = blocks.emplace_back(llvm::CloneBasicBlock(block, map, "", &f));
    llvm::remapInstructionsInBlocks(blocks, map);
    llvm::SmallVector<BasicBlock *> begins;
    for (const Point &p : points_) {
      Instruction &begin = copyOf(map, *p.begin);
      begins.push_back(llvm::SplitBlock(begin.getParent(), &begin));
    }
    for (BasicBlock *block : own_)
      for (Instruction &i : *block)
        if (isKnown(i))
          copyOf(map, i).replaceAllUsesWith(knownIn(b, i, known, registers));
    // What lives at points lies in slots meanwhile.
    llvm::DenseMap<const Instruction *, llvm::AllocaInst *> slots;
    for (Instruction *v : alive_)
      slots[v] = llvm::DemoteRegToStack(copyOf(map, *v));
    llvm::SwitchInst *choice = nullptr;
    for (size_t k = points_.size(); k-- > 0;) {
      BasicBlock *restore = BasicBlock::Create(context(), "begin", &f, begins[k]);
      if (choice)
        choice->addCase(numbered(k), restore);
      else
        choice = b.CreateSwitch(f.getArg(0), restore, unsigned(points_.size()) - 1);
      llvm::IRBuilder<> at(restore);
      for (unsigned m = 0; m < points_[k].alive.size(); ++m)
        at.CreateStore(handed[points_[k].fields[m]], slots.at(points_[k].alive[m]));
      at.CreateBr(begins[k]);
    }
    endAtBarriers(map, slots);
    llvm::EliminateUnreachableBlocks(f);
    llvm::SmallVector<llvm::AllocaInst *> all;
    for (Instruction *v : alive_)
      all.push_back(slots.at(v));
    promoteSlots(f, all);
    steps_->takeLines();
    normaliseLoops(f);
  }
  /// In steps: what is known there from the beginning on.
  Value *knownIn(llvm::IRBuilder<> &b, Instruction &i, llvm::ValueToValueMapTy &known,
                 const llvm::DenseMap<const llvm::Function *, Value *> &registers) {
    if (isOfLane(i))
      return registers.at(llvm::cast<llvm::CallBase>(i).getCalledFunction());
    if (Value *made = known.lookup(&i))
      return made;
    for (Value *v : i.operand_values())
      if (auto *operand = llvm::dyn_cast<Instruction>(v))
        known[operand] = knownIn(b, *operand, known, registers);
    Instruction *made = i.clone();
    llvm::RemapInstruction(made, known,
                           llvm::RF_IgnoreMissingLocals | llvm::RF_NoModuleLevelChanges);
    made->dropPoisonGeneratingFlags();
    b.Insert(made);
    known[&i] = made;
    return made;
  }
  static Instruction &copyOf(const llvm::ValueToValueMapTy &map, Instruction &i) {
    return llvm::cast<Instruction>(*map.lookup(&i));
  }

  void endAtBarriers(const llvm::ValueToValueMapTy &map,
                     const llvm::DenseMap<const Instruction *, llvm::AllocaInst *> &slots) {
    llvm::Function &f = steps_->function();
    auto *result = llvm::cast<llvm::StructType>(f.getReturnType());
    BasicBlock *done = BasicBlock::Create(context(), "done", &f);
    llvm::IRBuilder<> b(done);
    llvm::SmallVector<llvm::PHINode *> fields;
    for (llvm::Type *type : result->elements())
      fields.push_back(b.CreatePHI(type, unsigned(barriers_.size()) + 1));
    Value *whole = llvm::PoisonValue::get(result);
    for (unsigned k = 0; k < fields.size(); ++k)
      whole = b.CreateInsertValue(whole, fields[k], k);
    b.CreateRet(whole);
    /// In place of `i`, of `block` the end: with what lives at the point where it goes on.
    const auto end = [&](Instruction &i, const Point *p) {
      BasicBlock *block = i.getParent();
      b.SetInsertPoint(&i);
      b.SetCurrentDebugLocation(i.getDebugLoc());
      fields[0]->addIncoming(p ? numbered(size_t(p - points_.data())) : b.getInt32(0), block);
      llvm::SmallVector<Value *> values;
      for (llvm::PHINode *field : llvm::drop_begin(fields))
        values.push_back(llvm::PoisonValue::get(field->getType()));
      for (unsigned m = 0; p && m < p->alive.size(); ++m)
        values[p->fields[m]] =
            AloneFunction::handed(b, b.CreateLoad(p->alive[m]->getType(), slots.at(p->alive[m])));
      for (unsigned k = 0; k < values.size(); ++k)
        fields[k + 1]->addIncoming(values[k], block);
      if (p) // the way on
        block->getTerminator()->eraseFromParent();
      i.eraseFromParent();
      b.SetInsertPoint(block);
      b.CreateBr(done);
    };
    for (size_t n = 0; n < barriers_.size(); ++n)
      end(copyOf(map, *barriers_[n]), &points_[agreed_.size() + n]);
    for (BasicBlock &block : f)
      if (&block != done && llvm::isa<llvm::ReturnInst>(block.getTerminator()))
        end(*block.getTerminator(), nullptr);
  }

  /// Lanes that find different things of the n-th condition go on as threads.
  void testAt(Instruction &condition, unsigned n) {
    BasicBlock *block = condition.getParent();
    auto *branch = llvm::cast<llvm::BranchInst>(block->getTerminator());
    BasicBlock *agreed = llvm::SplitBlock(block, branch);
    BasicBlock *parted = BasicBlock::Create(context(), "parted", &kernel_, agreed);
    llvm::IRBuilder<> b(block->getTerminator());
    b.SetCurrentDebugLocation(branch->getDebugLoc());
    b.CreateCondBr(callWord(b, Op::same, b.getInt1Ty(), &condition), agreed, parted,
                   llvm::MDBuilder(context()).createLikelyBranchWeights());
    block->getTerminator()->eraseFromParent();
    b.SetInsertPoint(parted);
    point_->addIncoming(numbered(n), parted);
    llvm::SmallVector<Value *> values;
    for (llvm::Type *type : fields_)
      values.push_back(llvm::PoisonValue::get(type));
    for (unsigned m = 0; m < points_[n].alive.size(); ++m)
      values[points_[n].fields[m]] = points_[n].alive[m];
    b.CreateBr(threads_);
    for (unsigned k = 0; k < values.size(); ++k)
      carried_[k]->addIncoming(values[k], parted);
    b.SetInsertPoint(branch);
    branch->setCondition(callWord(b, Op::first, b.getInt1Ty(), &condition));
  }

  llvm::Function &kernel_;
  const llvm::ArrayRef<Instruction *> agreed_;
  std::vector<BasicBlock *> own_;
  std::vector<Instruction *> barriers_;
  llvm::SetVector<llvm::Function *> registers_; ///< words for those of lanes
  llvm::DenseMap<const Instruction *, bool> known_;
  std::vector<Point> points_; ///< those of `agreed_` come first
  llvm::SetVector<Instruction *> alive_;
  llvm::SmallVector<llvm::Type *> fields_;
  BasicBlock *threads_ = nullptr;
  llvm::PHINode *point_ = nullptr;
  llvm::SmallVector<llvm::PHINode *> carried_; ///< one for each field
  std::optional<AloneFunction> steps_;
};

/// Whether all barriers are one, and a thread can run the kernel from one to the next by itself.
bool mayBeThreads(const llvm::Function &kernel) {
  const Value *barrier = nullptr;
  for (const Instruction &i : llvm::instructions(kernel)) {
    if (!mayBeStep(i))
      return false;
    if (!isBarrierWord(i))
      continue;
    if (barrier && barrier != i.getOperand(0))
      return false;
    barrier = i.getOperand(0);
  }
  return llvm::isa_and_nonnull<llvm::ConstantInt>(barrier);
}

/// Whether the thread's number and constants alone decide: in some gangs lanes part each time.
bool isOfPlaceInBlock(const Value *condition) {
  llvm::SmallVector<const Value *> stack{condition};
  llvm::SmallPtrSet<const Value *, 16> seen;
  while (!stack.empty()) {
    const Value *v = stack.pop_back_val();
    auto *i = llvm::dyn_cast<Instruction>(v);
    if (llvm::isa<llvm::Constant>(v) || !seen.insert(v).second || (i && isOfLane(*i)))
      continue;
    if (!i || llvm::isa<llvm::PHINode>(i) || i->mayReadOrWriteMemory() ||
        wordAt(*i).kind != Word::Kind::none)
      return false;
    stack.append(i->value_op_begin(), i->value_op_end());
  }
  return true;
}

/// Branches that part lanes around barriers, also such as some lanes leave by for good: where all
/// go one way there are no masks.
llvm::SmallVector<BasicBlock *> waysAroundBarriers(const ShapeAnalysis &shapes) {
  llvm::SmallVector<BasicBlock *> found;
  for (BasicBlock *a : shapes.order())
    if (shapes.isDivergentBranch(a) && !isOfPlaceInBlock(a->getTerminator()->getOperand(0)) &&
        llvm::any_of(llvm::successors(a), [&](const BasicBlock *way) {
          return llvm::any_of(reachable(way, shapes.meetingPoint(a)),
                              [](const BasicBlock *b) { return hasBarrier(*b); });
        }))
      found.push_back(a);
  return found;
}

/// Finds the branches at which lanes have to agree, so that all of them come to barriers together,
/// and gives each a condition of its own. None where that is not enough.
llvm::SmallVector<Instruction *> conditionsToAgreeOn(llvm::Function &kernel,
                                                     const GangShape &gang) {
  const Waits waits(*kernel.getParent());
  llvm::SmallVector<Instruction *> agreed;
  for (;;) {
    const ShapeAnalysis shapes(kernel, gang, false, agreed);
    const Findings found = examine(kernel, shapes, waits, true);
    const bool isEnough = found.needsThreads.empty() && !found.spins;
    if (isEnough && agreed.empty())
      return {};
    const auto parting = isEnough ? waysAroundBarriers(shapes) : partingAroundBarriers(shapes);
    if (isEnough && parting.empty())
      return agreed;
    if (found.spins || parting.empty() ||
        (!isEnough && llvm::any_of(parting, [&](const BasicBlock *b) {
          return isOfPlaceInBlock(b->getTerminator()->getOperand(0));
        })))
      break;
    for (BasicBlock *b : parting) {
      auto *branch = llvm::cast<llvm::BranchInst>(b->getTerminator());
      agreed.push_back(new llvm::FreezeInst(branch->getCondition(), "", branch->getIterator()));
      branch->setCondition(agreed.back());
    }
  }
  for (Instruction *condition : agreed) {
    condition->replaceAllUsesWith(condition->getOperand(0));
    condition->eraseFromParent();
  }
  return {};
}

} // namespace

llvm::Function *runPartedLanesAsThreads(llvm::Function &kernel, const GangShape &gang) {
  if (kernel.getInstructionCount() > kLimits.code.large || !mayBeThreads(kernel))
    return nullptr;
  const llvm::SmallVector<Instruction *> agreed = conditionsToAgreeOn(kernel, gang);
  if (agreed.empty())
    return nullptr;
  ThreadMode threads(kernel, agreed);
  return threads.isPossible() ? threads.make() : nullptr;
}

} // namespace ptxrun::simt
