#include "translate/simt/jam.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/Sequence.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/ProfDataUtils.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include <optional>

#include "translate/simt/across_gangs.h"
#include "translate/simt/cost.h"
#include "translate/simt/cta_uniform.h"
#include "translate/simt/entry_builder.h"
#include "translate/simt/far_steps.h"
#include "translate/simt/lane_access.h"
#include "translate/simt/shape.h"
#include "translate/simt/unify.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::BasicBlock;
using llvm::Value;

bool isBarrier(const llvm::Instruction &i) { return entryAt(i).id == GangEntry::Id::barSync; }

/// Registers that pass through empty assembly code.
bool isWithoutEffect(const llvm::CallBase &call) {
  auto *code = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand());
  return code && !code->hasSideEffects() && code->getAsmString().empty();
}

/// Calls of anything that keeps records of a gang, or that one call per gang would not stand for.
bool hasOtherCalls(const llvm::Function &f) {
  for (const BasicBlock &b : f)
    for (const llvm::Instruction &i : b)
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
          call && !llvm::isa<llvm::IntrinsicInst>(i) && !isBarrier(i) && !entryAt(i).isAccess() &&
          !isBlendingStore(i) && !isCopyOfLanes(i) && !isWithoutEffect(*call))
        return true;
  return false;
}

/// Whether the block updates memory by a load and a store, which gangs do one after the other.
bool updates(const BasicBlock &b) {
  return llvm::any_of(b, [](const llvm::Instruction &i) { return i.hasMetadata(kUpdate); });
}

class Jam {
 public:
  Jam(ModuleContext &context, llvm::Function &full, llvm::Function &copy)
      : context_(context), full_(full), f_(copy) {}

  unsigned run(unsigned gangsPerCta) {
    analyse();
    if ((sharing_.empty() && across_.empty()) || !plan())
      return 1;
    for (unsigned rounds = 0; isolateMeetings(); ++rounds) {
      analyse(); // of the blocks as they are now: ways may be told apart that were not before
      if (rounds == kLimits.jam.plans || !plan())
        return 1;
    }
    count_ = gangsThatFit(gangsPerCta);
    if (count_ > 1)
      emit();
    return count_;
  }
  bool isForStrides() const { return isForStrides_ && !sharing_.empty(); }

 private:
  /// Blocks that gangs run through one after the other.
  struct Hammock {
    BasicBlock *branch, *meeting;
    llvm::SmallVector<BasicBlock *> blocks;
  };

  void analyse() {
    dominators_.emplace(f_);
    loops_.emplace(*dominators_);
    uniformity_.emplace(f_,
                        llvm::ArrayRef<const Value *>{f_.getArg(kFirstThread), f_.getArg(kGang)},
                        /*inLockstep=*/true, agreed_, sameUses());
    sharing_.clear();
    for (const llvm::Loop *l : loops_->getLoopsInPreorder())
      if (l->isInnermost() && sharesLoads(*l))
        sharing_.push_back(l);
    isForStrides_ = sharing_.empty();
    if (!isForStrides_)
      return;
    size_t numSame = 0;
    for (const llvm::Loop *l : loops_->getLoopsInPreorder())
      if (l->isInnermost() && stridesFar(*l))
        sharing_.push_back(l);
    for (auto &[block, counts] : same_)
      numSame += counts.size();
    if (numSame > std::exchange(numSame_, numSame))
      return analyse(); // with what they agree on
    across_.clear();
    if (sharing_.empty() && loops_->empty() && context_.passes.isOn(Pass::acrossGangs))
      findAcross();
  }

  void findAcross() {
    GangSteps steps(*f_.getArg(kFirstThread), context_.lanes, *uniformity_);
    for (BasicBlock &b : f_)
      for (llvm::Instruction &i : b)
        if (std::optional<AcrossGangs> a = steps.across(i))
          across_.push_back(*a);
    // Where there is a version for whole gangs, it is the one that counts.
    if (llvm::any_of(across_, [](const AcrossGangs &a) { return a.isOfWholeGangs(); }))
      llvm::erase_if(across_, [](const AcrossGangs &a) { return !a.isOfWholeGangs(); });
  }

  /// Has something for each lane.
  bool isWide(const llvm::Type &t) const {
    auto *v = llvm::dyn_cast<llvm::FixedVectorType>(&t);
    return v && v->getNumElements() >= context_.lanes;
  }

  bool sharesLoads(const llvm::Loop &loop) const {
    llvm::SmallVector<BasicBlock *> exiting;
    loop.getExitingBlocks(exiting);
    if (llvm::any_of(exiting, [&](const BasicBlock *b) { return uniformity_->varies(*b); }))
      return false;
    for (const BasicBlock *b : loop.blocks())
      for (const llvm::Instruction &i : *b)
        if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
            load && load->isSimple() && isWide(*load->getType()) && uniformity_->isUniform(load) &&
            !loop.isLoopInvariant(load->getPointerOperand()))
          return true;
    return false;
  }

  /// Uses of what gangs have to agree on before they come there.
  llvm::DenseSet<const llvm::Use *> sameUses() const {
    llvm::DenseSet<const llvm::Use *> uses;
    for (auto &[block, counts] : same_)
      for (llvm::ExtractElementInst *count : counts)
        for (const llvm::Use &u : count->uses()) {
          auto *user = llvm::cast<llvm::Instruction>(u.getUser());
          auto *phi = llvm::dyn_cast<llvm::PHINode>(user);
          if (dominators_->dominates(specialVersion(*block),
                                     phi ? phi->getIncomingBlock(u) : user->getParent()))
            uses.insert(&u);
        }
    return uses;
  }

  static const BasicBlock *specialVersion(const BasicBlock &choice) {
    auto *branch = llvm::cast<llvm::BranchInst>(choice.getTerminator());
    return branch->getSuccessor(1 - *generalVersion(*branch));
  }

  /// The end of `exiting` depends on a number of rounds that each gang has from its first lane, and
  /// before the loop there is a choice that gangs can be made to agree at only if they have the
  /// same one. Finds them.
  bool canAgreeOnRounds(const BasicBlock &exiting, const llvm::Loop &loop) {
    llvm::SmallVector<const Value *> stack{exiting.getTerminator()->getOperand(0)};
    llvm::DenseSet<const Value *> seen;
    llvm::SmallVector<std::pair<BasicBlock *, llvm::ExtractElementInst *>> found;
    while (!stack.empty()) {
      const Value *v = stack.pop_back_val();
      if (uniformity_->isUniform(v) || !seen.insert(v).second)
        continue;
      auto *i = llvm::dyn_cast<llvm::Instruction>(v);
      if (!i || i->mayReadOrWriteMemory() || seen.size() > kLimits.search.operands)
        return false;
      if (auto *first =
              llvm::dyn_cast<llvm::ExtractElementInst>(const_cast<llvm::Instruction *>(i))) {
        BasicBlock *choice = choiceBetween(*first, loop);
        if (!choice || !llvm::isa<llvm::ConstantInt>(first->getIndexOperand()))
          return false;
        found.push_back({choice, first});
      } else if (i->getType()->isVectorTy()) {
        return false;
      } else {
        stack.append(i->value_op_begin(), i->value_op_end());
      }
    }
    for (auto &[choice, first] : found)
      if (!llvm::is_contained(same_[choice], first))
        same_[choice].push_back(first);
    return true;
  }

  /// The innermost choice between versions where the vector is known that `first` is from, and
  /// whose special version `loop` belongs to.
  BasicBlock *choiceBetween(const llvm::ExtractElementInst &first, const llvm::Loop &loop) const {
    for (auto *node = dominators_->getNode(loop.getHeader()); node; node = node->getIDom()) {
      BasicBlock *before = node->getBlock()->getSinglePredecessor();
      auto *branch = before ? llvm::dyn_cast<llvm::BranchInst>(before->getTerminator()) : nullptr;
      const std::optional<unsigned> general = branch ? generalVersion(*branch) : std::nullopt;
      if (!general || loop.contains(before))
        continue;
      auto *vector = llvm::dyn_cast<llvm::Instruction>(first.getVectorOperand());
      if (vector && dominators_->dominates(vector, branch))
        return branch->getSuccessor(*general) != node->getBlock() ? before : nullptr;
    }
    return nullptr;
  }

  /// Reads or writes rows of lanes that move on by a distance known only at run time: the threads
  /// of the grid, mostly. Gang after gang, each line would be a stream of its own.
  bool stridesFar(const llvm::Loop &loop) {
    bool isFar = false;
    for (const BasicBlock *b : loop.blocks())
      for (const llvm::Instruction &i : *b) {
        if (i.isAtomic() || llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(i))
          return false;
        auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
        if (load && load->isSimple() && isWide(*load->getType()) && !uniformity_->isUniform(load) &&
            findFarStep(load->getPointerOperand(), loop)) {
          isFar = true;
          rowBytes_ = std::max<uint64_t>(
              rowBytes_, f_.getParent()->getDataLayout().getTypeStoreSize(load->getType()));
        }
      }
    llvm::SmallVector<BasicBlock *> exiting;
    loop.getExitingBlocks(exiting);
    return isFar && llvm::all_of(exiting, [&](const BasicBlock *b) {
             return !uniformity_->varies(*b) || leavesSpecialVersion(*b, loop) ||
                    canAgreeOnRounds(*b, loop);
           });
  }

  /// Gangs stay in the loop while the special version is right for all of them.
  static bool leavesSpecialVersion(const BasicBlock &exiting, const llvm::Loop &loop) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(exiting.getTerminator());
    const std::optional<unsigned> general = branch ? generalVersion(*branch) : std::nullopt;
    return general && !loop.contains(branch->getSuccessor(*general));
  }

  bool plan();
  std::optional<unsigned> likelyWay(const llvm::BranchInst &) const;
  std::optional<Hammock> hammockAt(BasicBlock *) const;
  std::optional<Hammock> hammockAroundLoop(BasicBlock *) const;
  std::optional<Hammock> hammock(BasicBlock *branch, const BasicBlock *meeting) const;
  bool isBeforeAllEffects(const llvm::Instruction &) const;
  llvm::SmallVector<const BasicBlock *> blocksTogether() const;
  unsigned gangsThatFit(unsigned gangsPerCta) const;
  bool isIsolated(const BasicBlock *branch, const BasicBlock *meeting) const;
  bool isolateMeetings();
  void emit();
  void emitAcross(const AcrossGangs &, bool mayPart);
  void repeat(BasicBlock &);
  void repeatHammock(const Hammock &);
  Value *allTake(llvm::BranchInst &, unsigned way, llvm::IRBuilder<> &);
  void agree(llvm::BranchInst &);
  void followTogether(BasicBlock &, unsigned likely);
  BasicBlock *apart();
  Value *of(unsigned gang, Value *v) const {
    auto it = copies_[gang].find(v);
    return it == copies_[gang].end() ? v : static_cast<Value *>(it->second);
  }

  ModuleContext &context_;
  llvm::Function &full_, &f_;
  std::optional<llvm::DominatorTree> dominators_;
  std::optional<llvm::LoopInfo> loops_;
  std::optional<CtaUniformity> uniformity_;
  llvm::SmallVector<const llvm::Loop *> sharing_;
  llvm::SmallVector<AcrossGangs> across_;                       ///< where no loop wants lockstep
  std::vector<std::pair<BasicBlock *, BasicBlock *>> hammocks_; // branch, meeting
  std::vector<std::pair<BasicBlock *, unsigned>> together_;     // branch, likely successor
  llvm::DenseSet<const BasicBlock *>
      agreed_; // choices of a version: the special one where it is right for all
  /// Where gangs have to agree on the numbers of rounds too (canAgreeOnRounds).
  llvm::MapVector<const BasicBlock *, llvm::SmallVector<llvm::ExtractElementInst *>> same_;
  size_t numSame_ = 0;
  bool isForStrides_ = false;
  BasicBlock *apart_ = nullptr;
  uint64_t rowBytes_ = 0; // of one gang in a loop that strides far
  unsigned count_ = 1;
  std::vector<llvm::DenseMap<Value *, Value *>> copies_; // per gang; nothing for gang 0
  std::vector<std::pair<llvm::Instruction *, unsigned>>
      made_; // copies, whose operands are still the originals
};

/// How gangs pass each branch that may part them.
bool Jam::plan() {
  hammocks_.clear();
  together_.clear();
  llvm::DenseSet<const BasicBlock *> covered;
  for (BasicBlock *b : llvm::ReversePostOrderTraversal<llvm::Function *>(&f_)) {
    // A choice that is the same for all gangs in itself may have to make them agree on more.
    const bool isForMore = same_.contains(b) && !agreed_.contains(b);
    if (covered.contains(b) || (!uniformity_->varies(*b) && !isForMore))
      continue;
    std::optional<Hammock> h = isForMore ? std::nullopt : hammockAt(b);
    if (!h && !isForMore)
      h = hammockAroundLoop(b);
    const auto isAcross = [&](const AcrossGangs &a) {
      return llvm::is_contained(h->blocks, a.access->getParent());
    };
    if (h && !llvm::any_of(across_, isAcross)) {
      // Those inside, found before, are passed with it.
      auto isInside = [&](const auto &branch) {
        return llvm::is_contained(h->blocks, branch.first);
      };
      if (llvm::any_of(h->blocks,
                       [&](auto *x) { return agreed_.contains(x) || same_.contains(x); }))
        return false;
      llvm::erase_if(hammocks_, isInside);
      llvm::erase_if(together_, isInside);
      hammocks_.push_back({h->branch, h->meeting});
      covered.insert(h->blocks.begin(), h->blocks.end());
      continue;
    }
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(b->getTerminator());
    const std::optional<unsigned> likely = branch ? likelyWay(*branch) : std::nullopt;
    if (!likely)
      return false;
    const bool isLoopEnd = llvm::any_of(
        sharing_, [&](const llvm::Loop *l) { return l->contains(b) && l->isLoopExiting(b); });
    if (!isLoopEnd && !context_.hasBarriers && isBeforeAllEffects(*branch)) {
      together_.push_back({b, *likely});
    } else if (generalVersion(*branch)) {
      agreed_.insert(b);
      analyse();
      return plan();
    } else {
      return false;
    }
  }
  return llvm::none_of(f_,
                       [&](const BasicBlock &b) { return !covered.contains(&b) && updates(b); });
}

/// Where gangs are expected to go: as branch weights say, or to the accesses that want lockstep.
std::optional<unsigned> Jam::likelyWay(const llvm::BranchInst &branch) const {
  if (uint64_t onTrue, onFalse; llvm::extractBranchWeights(branch, onTrue, onFalse))
    return onTrue >= onFalse ? 0 : 1;
  for (unsigned n = 0; n < branch.getNumSuccessors() && !across_.empty(); ++n)
    if (const BasicBlock *way = branch.getSuccessor(n);
        way->getSinglePredecessor() && llvm::all_of(across_, [&](const AcrossGangs &a) {
          return dominators_->dominates(way, a.access->getParent());
        }))
      return n;
  return std::nullopt;
}

std::optional<Jam::Hammock> Jam::hammockAt(BasicBlock *branch) const {
  return hammock(branch, uniformity_->meetingPoint(branch));
}

/// A loop that gangs may leave in different rounds: from before it to where all have left it.
std::optional<Jam::Hammock> Jam::hammockAroundLoop(BasicBlock *inside) const {
  const llvm::Loop *loop = loops_->getLoopFor(inside);
  BasicBlock *before = loop ? loop->getLoopPreheader() : nullptr;
  const BasicBlock *meeting = inside;
  while (before && meeting && loop->contains(meeting))
    meeting = uniformity_->meetingPoint(meeting);
  return before ? hammock(before, meeting) : std::nullopt;
}

std::optional<Jam::Hammock> Jam::hammock(BasicBlock *branch, const BasicBlock *meeting) const {
  Hammock h{branch, const_cast<BasicBlock *>(meeting), {}};
  if (!h.meeting)
    return std::nullopt;
  llvm::SmallVector<BasicBlock *> stack(llvm::succ_begin(branch), llvm::succ_end(branch));
  llvm::DenseSet<const BasicBlock *> seen;
  while (!stack.empty()) {
    BasicBlock *b = stack.pop_back_val();
    if (b == h.meeting || !seen.insert(b).second)
      continue;
    if (b == branch || !dominators_->dominates(branch, b) || llvm::any_of(*b, isBarrier) ||
        llvm::any_of(sharing_,
                     [&](const llvm::Loop *l) { return l->contains(b) && !l->contains(branch); }))
      return std::nullopt;
    h.blocks.push_back(b);
    stack.append(llvm::succ_begin(b), llvm::succ_end(b));
  }
  return h;
}

/// Nothing has been written where control comes to `place`.
bool Jam::isBeforeAllEffects(const llvm::Instruction &place) const {
  const BasicBlock *end = place.getParent();
  for (const llvm::Instruction &i : llvm::make_range(end->begin(), place.getIterator()))
    if (i.mayHaveSideEffects())
      return false;
  llvm::SmallVector<const BasicBlock *> stack(llvm::pred_begin(end), llvm::pred_end(end));
  llvm::DenseSet<const BasicBlock *> seen;
  while (!stack.empty()) {
    const BasicBlock *b = stack.pop_back_val();
    if (!seen.insert(b).second)
      continue;
    if (llvm::any_of(*b, [](const llvm::Instruction &i) { return i.mayHaveSideEffects(); }))
      return false;
    stack.append(llvm::pred_begin(b), llvm::pred_end(b));
  }
  return true;
}

/// Instructions that it becomes: a gather or scatter that is not the CPU's own is taken apart.
size_t sizeOf(const llvm::Instruction &i, const Target &target) {
  if (!LaneAccess::is(i))
    return 1;
  const LaneAccess access(llvm::cast<llvm::IntrinsicInst>(i));
  const unsigned perLane = 3; // its pointer, its value, the access
  const bool isOwn = target.gathers(access.elementBits()) ||
                     (!access.isStore && target.gathersInWords(access.elementBits()));
  return isOwn ? 1 : perLane * access.lanes();
}

/// Those that gangs which stay together may come to.
llvm::SmallVector<const BasicBlock *> Jam::blocksTogether() const {
  llvm::SmallVector<const BasicBlock *> blocks{&f_.getEntryBlock()};
  llvm::DenseSet<const BasicBlock *> seen{blocks.front()};
  for (size_t n = 0; n < blocks.size(); ++n) {
    const auto parting =
        llvm::find_if(together_, [&](const auto &branch) { return branch.first == blocks[n]; });
    for (auto [way, next] : llvm::enumerate(llvm::successors(blocks[n])))
      if ((parting == together_.end() || way == parting->second) && seen.insert(next).second)
        blocks.push_back(next);
  }
  return blocks;
}

/// As many as keep what lives through their loops in registers, and read lines long enough.
unsigned Jam::gangsThatFit(unsigned gangsPerCta) const {
  const Target &target = context_.target;
  unsigned most = 1;
  for (const llvm::Loop *l : sharing_) {
    unsigned live = 0;
    for (const llvm::PHINode &phi : l->getHeader()->phis())
      if (!uniformity_->isUniform(&phi) && phi.getType()->isVectorTy())
        live += target.registersFor(phi.getType()->getPrimitiveSizeInBits().getFixedValue());
    most = std::max(most, live);
  }
  size_t repeated = 0;
  for (const BasicBlock *b : blocksTogether())
    for (const llvm::Instruction &i : *b)
      if (!uniformity_->isUniform(&i) || i.mayHaveSideEffects())
        repeated += sizeOf(i, target);
  if (sharing_.empty()) {
    for (unsigned n :
         gangsForAcross(across_.front().elementBytes(), context_.lanes, gangsPerCta, target))
      if (n * repeated <= kLimits.jam.repeated)
        return n;
    return 1;
  }
  for (unsigned n : {8u, 4u, 2u})
    if (gangsPerCta % n == 0 && n * most <= target.registersForLockstep() &&
        n * repeated <= kLimits.jam.repeated &&
        (!isForStrides_ || n / 2 * rowBytes_ < kLimits.jam.rowBytes))
      return n;
  return 1;
}

/// Whether the ways of a hammock meet in a block of its own, with nothing but phis.
bool Jam::isIsolated(const BasicBlock *branch, const BasicBlock *meeting) const {
  return meeting->getSingleSuccessor() && meeting->getFirstNonPHI() == meeting->getTerminator() &&
         llvm::all_of(llvm::predecessors(meeting),
                      [&](const BasicBlock *p) { return dominators_->dominates(branch, p); });
}

/// Gives each hammock such a block; false where all had one.
bool Jam::isolateMeetings() {
  bool isNew = false;
  for (auto &[branch, meeting] : hammocks_) {
    if (isIsolated(branch, meeting))
      continue;
    llvm::SmallVector<BasicBlock *> ways;
    for (BasicBlock *p : llvm::predecessors(meeting))
      if (dominators_->dominates(branch, p) && !llvm::is_contained(ways, p))
        ways.push_back(p);
    llvm::SplitBlockPredecessors(meeting, ways, ".met", &*dominators_);
    isNew = true;
  }
  return isNew;
}

void Jam::emit() {
  copies_.resize(count_);
  llvm::IRBuilder<> b(&*f_.getEntryBlock().getFirstInsertionPt());
  for (unsigned gang = 1; gang < count_; ++gang)
    copies_[gang][f_.getArg(kFirstThread)] =
        b.CreateAdd(f_.getArg(kFirstThread), b.getInt32(gang * context_.lanes), "", true, true);
  std::vector<bool> mayPart; // at accesses across gangs
  for (const AcrossGangs &a : across_)
    mayPart.push_back(!context_.hasBarriers && isBeforeAllEffects(*a.access));
  std::vector<Hammock> hammocks;
  llvm::DenseSet<const BasicBlock *> passed;
  for (auto &[branch, meeting] : hammocks_) {
    hammocks.push_back(*hammock(branch, meeting));
    passed.insert(hammocks.back().blocks.begin(), hammocks.back().blocks.end());
    passed.insert(meeting); // phis and a branch
  }
  std::vector<BasicBlock *> others;
  for (BasicBlock &block : f_)
    if (!passed.contains(&block))
      others.push_back(&block);
  for (BasicBlock *block : others)
    repeat(*block);
  for (const Hammock &h : hammocks)
    repeatHammock(h);
  for (auto &[i, gang] : made_)
    for (llvm::Use &u : i->operands())
      u.set(of(gang, u.get()));
  for (auto [n, a] : llvm::enumerate(across_))
    emitAcross(a, mayPart[n]);
  for (const BasicBlock *b : agreed_)
    agree(*llvm::cast<llvm::BranchInst>(const_cast<llvm::Instruction *>(b->getTerminator())));
  for (auto &[branch, likely] : together_)
    followTogether(*branch, likely);
  if (!together_.empty())
    llvm::removeUnreachableBlocks(f_);
}

void Jam::emitAcross(const AcrossGangs &a, bool mayPart) {
  if (!llvm::is_contained(gangsForAcross(a.elementBytes(), context_.lanes, count_, context_.target),
                          count_))
    return;
  llvm::SmallVector<llvm::IntrinsicInst *> ofGangs{a.access};
  for (unsigned gang = 1; gang < count_; ++gang)
    ofGangs.push_back(llvm::cast<llvm::IntrinsicInst>(of(gang, a.access)));
  BasicBlock *block = a.access->getParent();
  BasicBlock *behind = accessAcross(a, ofGangs, context_.target, mayPart ? apart() : nullptr);
  if (agreed_.erase(block))
    agreed_.insert(behind);
  for (auto &[branch, likely] : together_)
    if (branch == block)
      branch = behind;
}

/// For the other gangs, behind each instruction, what they do not share.
void Jam::repeat(BasicBlock &block) {
  llvm::SmallVector<llvm::Instruction *> list;
  for (llvm::Instruction &i : block)
    if (!i.isTerminator() && !isBarrier(i) &&
        (i.mayHaveSideEffects() || !uniformity_->isUniform(&i)))
      list.push_back(&i);
  for (llvm::Instruction *i : list)
    for (llvm::Instruction *last = i; unsigned gang : llvm::seq(1u, count_)) {
      llvm::Instruction *copy = i->clone();
      copy->insertAfter(last);
      last = copy;
      copies_[gang][i] = copy;
      made_.push_back({copy, gang});
    }
}

/// branch; ways of gang 0; meeting; branch of gang 1; its ways; its meeting; ...; what was behind
/// the meeting
void Jam::repeatHammock(const Hammock &h) {
  BasicBlock *behind = h.meeting->getSingleSuccessor(), *last = h.meeting;
  for (unsigned gang = 1; gang < count_; ++gang) {
    llvm::ValueToValueMapTy map;
    auto copyBlock = [&](BasicBlock *b) {
      BasicBlock *copy = llvm::CloneBasicBlock(b, map, "", &f_);
      map[b] = copy;
      return copy;
    };
    auto *branch = BasicBlock::Create(f_.getContext(), "gang.branch", &f_);
    llvm::Instruction *choice = h.branch->getTerminator()->clone();
    choice->insertInto(branch, branch->end());
    llvm::SmallVector<BasicBlock *> made{branch};
    for (BasicBlock *b : h.blocks)
      made.push_back(copyBlock(b));
    made.push_back(copyBlock(h.meeting));
    for (BasicBlock *b : made)
      for (llvm::Instruction &i : *b) {
        made_.push_back({&i, gang});
        if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&i)) {
          for (unsigned n = 0; n < phi->getNumIncomingValues(); ++n) {
            BasicBlock *from = phi->getIncomingBlock(n);
            auto it = map.find(from);
            phi->setIncomingBlock(n, from == h.branch  ? branch
                                     : it == map.end() ? from
                                                       : llvm::cast<BasicBlock>(&*it->second));
          }
        } else if (i.isTerminator()) {
          for (unsigned n = 0; n < i.getNumSuccessors(); ++n)
            if (auto it = map.find(i.getSuccessor(n)); it != map.end())
              i.setSuccessor(n, llvm::cast<BasicBlock>(&*it->second));
        }
      }
    for (BasicBlock *b : h.blocks)
      for (llvm::Instruction &i : *b)
        copies_[gang][&i] = map[&i];
    for (llvm::Instruction &i : *h.meeting)
      copies_[gang][&i] = map[&i];
    last->getTerminator()->setSuccessor(0, branch);
    last = made.back();
    last->getTerminator()->setSuccessor(0, behind);
  }
  behind->replacePhiUsesWith(h.meeting, last);
}

/// Whether all gangs take successor `way`.
Value *Jam::allTake(llvm::BranchInst &branch, unsigned way, llvm::IRBuilder<> &b) {
  Value *all = nullptr;
  for (unsigned gang = 0; gang < count_; ++gang) {
    Value *c = of(gang, branch.getCondition());
    if (way == 1)
      c = b.CreateNot(c);
    all = all ? b.CreateAnd(all, c) : c;
  }
  // What gangs that do not take the special version hold may be anything.
  if (auto it = same_.find(branch.getParent()); it != same_.end() && count_ > 1)
    for (llvm::ExtractElementInst *count : it->second) {
      auto ofGang = [&](unsigned gang) {
        return b.CreateFreeze(
            b.CreateExtractElement(of(gang, count->getVectorOperand()), count->getIndexOperand()));
      };
      Value *first = ofGang(0);
      for (unsigned gang = 1; gang < count_; ++gang)
        all = b.CreateAnd(all, b.CreateICmpEQ(first, ofGang(gang)));
    }
  return all;
}

void Jam::agree(llvm::BranchInst &branch) {
  llvm::IRBuilder<> b(&branch);
  const unsigned special = 1 - *generalVersion(branch);
  Value *all = allTake(branch, special, b);
  branch.setCondition(special == 0 ? all : b.CreateNot(all));
}

/// Goes on where all gangs take the likely way.
void Jam::followTogether(BasicBlock &block, unsigned likely) {
  auto *branch = llvm::cast<llvm::BranchInst>(block.getTerminator());
  llvm::IRBuilder<> b(branch);
  Value *all = allTake(*branch, likely, b);
  BasicBlock *on = branch->getSuccessor(likely), *off = branch->getSuccessor(1 - likely);
  off->removePredecessor(&block);
  llvm::MDNode *weights = llvm::MDBuilder(f_.getContext()).createLikelyBranchWeights();
  b.CreateCondBr(all, on, apart(), weights);
  branch->eraseFromParent();
}

/// One gang after the other through the body for one.
BasicBlock *Jam::apart() {
  if (apart_)
    return apart_;
  apart_ = BasicBlock::Create(f_.getContext(), "apart", &f_);
  llvm::IRBuilder<> b(apart_);
  setLine(b, f_);
  for (unsigned gang = 0; gang < count_; ++gang) {
    llvm::SmallVector<Value *> arguments;
    for (llvm::Argument &a : f_.args())
      arguments.push_back(of(gang, &a));
    b.CreateCall(&full_, arguments)->addFnAttr(llvm::Attribute::NoInline);
  }
  b.CreateRetVoid();
  return apart_;
}

/// Whether it is worth a closer look.
bool hasLoopWithVectorLoads(llvm::Function &f) {
  llvm::DominatorTree dominators(f);
  llvm::LoopInfo loops(dominators);
  for (const BasicBlock &b : f)
    if (loops.getLoopFor(&b))
      for (const llvm::Instruction &i : b)
        if (llvm::isa<llvm::LoadInst>(i) && i.getType()->isVectorTy())
          return true;
  return false;
}

} // namespace

Jammed jamGangs(ModuleContext &context, llvm::Function &full, unsigned gangsPerCta) {
  // In lockstep, what another gang has stored would be lost to plain updates that LLVM takes apart.
  if (gangsPerCta < 2 || context.hasPlainUpdates ||
      !(hasLoopWithVectorLoads(full) || llvm::any_of(llvm::instructions(full), LaneAccess::is)))
    return {};
  cleanUp(full, Tier::optimised);
  if (hasOtherCalls(full))
    return {};
  llvm::ValueToValueMapTy map;
  llvm::Function *copy = llvm::CloneFunction(&full, map);
  copy->setName(full.getName() + ".jam");
  Jam jam(context, full, *copy);
  if (const unsigned gangs = jam.run(gangsPerCta); gangs > 1) {
    if (jam.isForStrides())
      fetchNextRounds(*copy, std::max(1u, kLimits.accesses.gangsAhead / gangs), gangs,
                      context.target);
    return {copy, gangs, jam.isForStrides()};
  }
  copy->eraseFromParent();
  return {};
}

} // namespace ptxrun::simt
