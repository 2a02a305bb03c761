// A block fills a tile with a border of other threads' elements:
//
//     for (k = tid; k < 18 * 18; k += 256)            if (tid < W)
//       tile[k] = isInside(k / 18, k % 18)      =>      for (row : rows of the tile)
//                   ? in[.. k / 18 .. k % 18] : 0;         tile[row + tid] = isInside(..) ? in[row'
//                   + tid] : 0;
//     barrier;                                         barrier;
//
// Lanes of a gang lie across two rows or three, each with a test of its own: what is one vector
// access in a row is many. Which thread stores what nobody sees before the barrier, so the first
// gang stores it all, in rows.
//
// All that the thread's number decides is evaluated here, for each thread and each round of the
// loops: the numbers that the rest is computed from (`leaves`). Where they go up in even steps from
// one element to the next is a row; rows are a table of where the numbers begin. The rest is
// computed anew from them. Copies of one loop (nvcc unrolls) that compute the same are joined.
#include "translate/simt/staging.h"

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <map>
#include <numeric>
#include <tuple>

#include "translate/lower/analyses.h"
#include "translate/simt/cost.h"
#include "translate/simt/cta_uniform.h"
#include "translate/simt/prepare.h"
#include "translate/simt/thread_numbers.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

constexpr unsigned kSharedSpace = 3;

bool isShared(const Value *pointer) {
  return pointer->getType()->getPointerAddressSpace() == kSharedSpace;
}

/// A barrier of all threads of the CTA.
bool isWholeBarrier(const Instruction &i) {
  if (wordAt(i).op != Op::barSync)
    return false;
  const auto *count = llvm::dyn_cast<llvm::ConstantInt>(i.getOperand(1));
  return count && count->isZero();
}

/// What the threads do between one barrier of all of them and the next.
struct Window {
  Instruction *barrier = nullptr;        ///< at the end
  std::vector<llvm::StoreInst *> stores; ///< to `.shared` memory
  llvm::DenseSet<const llvm::LoadInst *> loads;
  BlockSet whole; ///< blocks of which the end is in it
};

/// Walks back from the barrier; nothing where something else happens that threads may see of one
/// another.
std::optional<Window> windowBefore(Instruction &barrier) {
  Window w;
  w.barrier = &barrier;
  llvm::SmallVector<std::pair<BasicBlock *, Instruction *>> stack{
      {barrier.getParent(), barrier.getPrevNode()}};
  while (!stack.empty()) {
    auto [block, i] = stack.pop_back_val();
    for (; i && !isWholeBarrier(*i); i = i->getPrevNode()) {
      const Value *pointer = llvm::getLoadStorePointerOperand(i);
      if (auto *store = llvm::dyn_cast<llvm::StoreInst>(i); store && store->isSimple()) {
        if (isShared(pointer))
          w.stores.push_back(store);
        else if (!llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer)))
          return std::nullopt;
      } else if (auto *load = llvm::dyn_cast<llvm::LoadInst>(i); load && load->isSimple()) {
        if (isShared(pointer))
          return std::nullopt;
        w.loads.insert(load);
      } else if (i->mayReadOrWriteMemory() || waitsForOthers(*i)) {
        const auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(i);
        if (!intrinsic || (intrinsic->getIntrinsicID() != llvm::Intrinsic::prefetch &&
                           !intrinsic->isAssumeLikeIntrinsic()))
          return std::nullopt;
      }
    }
    if (!i)
      for (BasicBlock *before : llvm::predecessors(block))
        if (w.whole.insert(before).second)
          stack.emplace_back(before, before->getTerminator());
  }
  return w;
}

/// What differs between the threads of a block to begin with.
std::vector<const Value *> perThread(llvm::Function &f, const std::array<uint32_t, 3> &block) {
  std::vector<const Value *> list;
  for (const Instruction &i : llvm::instructions(f)) {
    if (!llvm::isa<llvm::CallInst>(i) || llvm::isa<llvm::IntrinsicInst>(i))
      continue;
    const Word w = wordAt(i);
    const bool isOfCta = w.kind == Word::Kind::specialRegister && w.op != Op::warpid &&
                         (w.shape == ShapeRule::uniform || w.shape == ShapeRule::blockExtent);
    if (!isOfCta && (w.op != Op::tid || block[w.axis] != 1))
      list.push_back(&i);
  }
  return list;
}

/// A step of the computation of stored values and their places. Equal ones are one.
struct Node {
  enum class Kind : uint8_t {
    leaf,      ///< a number that is known for each thread: `index` of the store's
    external,  ///< `value`, the same for all threads, or a constant
    operation, ///< as `value` does it
    moved,     ///< `value`, a phi of a loop around all of it; operand: what it begins with
    load,      ///< as `value` does it; operands: address, when
    choice,    ///< operands: condition, one, the other
    inverse,   ///< logic of conditions
    both,
    either
  } kind = Kind::leaf;
  llvm::Type *type = nullptr;
  Value *value = nullptr;
  unsigned index = 0;
  std::vector<unsigned> operands = {};
};

/// No condition.
constexpr unsigned kAlways = ~0u;

/// The nodes of all stores of a window.
class Nodes {
 public:
  unsigned make(Node n) {
    const std::string alike = n.kind == Node::Kind::operation ? kindOf(*n.value) : std::string();
    const Value *value =
        n.kind == Node::Kind::operation || n.kind == Node::Kind::load ? nullptr : n.value;
    auto [at, isNew] = ids_.try_emplace(
        std::tuple(n.kind, n.type, value, n.index, n.operands, alike), list_.size());
    if (isNew)
      list_.push_back(std::move(n));
    else if (n.kind == Node::Kind::operation && list_[at->second].value != n.value)
      list_[at->second].index = 1; // different instructions: what their flags promise is left out
    return at->second;
  }
  unsigned both(unsigned a, unsigned b) {
    if (a == kAlways || b == kAlways || a == b)
      return a == kAlways ? b : a;
    return make({Node::Kind::both, list_[a].type, nullptr, 0, {a, b}});
  }
  const Node &operator[](unsigned id) const { return list_[id]; }
  size_t size() const { return list_.size(); }

 private:
  /// What an operation is, apart from its operands.
  static std::string kindOf(const Value &v) {
    const auto &i = llvm::cast<Instruction>(v);
    std::string text = std::to_string(i.getOpcode());
    if (const auto *compare = llvm::dyn_cast<llvm::CmpInst>(&i))
      text += "/" + std::to_string(compare->getPredicate());
    if (const auto *call = llvm::dyn_cast<llvm::CallInst>(&i))
      text += "/" + call->getCalledFunction()->getName().str();
    if (i.getType()->isFloatingPointTy()) // what floats promise is part of what they are
      text += "/" + std::to_string(i.getRawSubclassOptionalData());
    return text;
  }

  std::vector<Node> list_;
  std::map<std::tuple<Node::Kind, llvm::Type *, const Value *, unsigned, std::vector<unsigned>,
                      std::string>,
           unsigned>
      ids_;
};

/// One store before the barrier, and the loops around it, from the outside in.
struct Staged {
  llvm::StoreInst *store;
  std::vector<llvm::Loop *> loops = {};
  std::vector<const Value *> places = {}; ///< known numbers whose sum is the place
  std::vector<const Value *> bases = {};  ///< what is the same for all threads, added to it
  /// When threads come to it and to each of the loops, made of the numbers `deciding`.
  unsigned when = kAlways;
  std::vector<unsigned> entered = {};
  std::vector<const Value *> deciding = {};
  /// What it does, made of the numbers `leaves`, for those threads that are known to come to it;
  /// `guard`: what else decides that.
  unsigned address = 0, value = 0, guard = kAlways;
  std::vector<const Value *> leaves = {};
};

/// A store by one thread in one round.
struct Instance {
  uint64_t place = 0;
  uint64_t gangRound = 0; ///< which gang does it, and when
  std::vector<uint64_t> leaves;
};

/// Finds what the threads of a block store before a barrier, and what they compute it from.
class StagedStores {
 public:
  StagedStores(llvm::Function &f, const GangShape &gang, const Window &window)
      : gang_(gang), window_(window), dominators_(f), postDominators_(f), loops_(dominators_),
        uniform_(f, perThread(f, gang.block), /*inLockstep=*/true),
        numbers_(f, gang.block, [&](const BasicBlock &b) { return isCounted(b); }) {}

  /// False where one of the stores is not of that kind.
  bool find(std::vector<Staged> &);
  /// All instances of one of them, which is the `number`-th; false where there are too many.
  bool simulate(const Staged &, uint64_t number, std::vector<Instance> &);
  const Nodes &nodes() const { return nodes_; }

 private:
  const BasicBlock *entryFor(llvm::ArrayRef<Staged>) const;
  bool isCounted(const BasicBlock &header) const;
  bool isInReach(const Value *) const;
  bool isSame(const Value *) const;
  bool describe(Staged &);
  bool splitPlace(const Value *, Staged &) const;
  unsigned fail() {
    isFailed_ = true;
    return 0;
  }
  /// The nodes that follow are made of these numbers.
  void begin(std::vector<const Value *> &leaves) {
    leaves_ = &leaves;
    assumed_.clear();
    made_.clear();
    whens_.clear();
  }
  unsigned node(Value *);
  unsigned compute(Value *);
  unsigned nodeOfPhi(llvm::PHINode &);
  unsigned nodeOfMoved(llvm::PHINode &, const llvm::Loop &);
  unsigned when(const BasicBlock *);
  unsigned whenOnWay(const BasicBlock *from, const BasicBlock *to);
  bool simulateLoops(const Staged &, size_t depth, Instance, uint64_t &rounds,
                     std::vector<Instance> &);
  std::optional<bool> holds(unsigned condition, const Staged &);

  const GangShape &gang_;
  const Window &window_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree postDominators_;
  llvm::LoopInfo loops_;
  CtaUniformity uniform_;
  ThreadNumbers numbers_;
  Nodes nodes_;
  const BasicBlock *entry_ = nullptr; ///< all threads come by, and from there to the barrier
  Staged *current_ = nullptr;
  std::vector<const Value *> *leaves_ = nullptr;
  /// Branches on numbers, and whether they are known to go the first way.
  llvm::SmallDenseSet<std::pair<const llvm::BranchInst *, unsigned>> assumed_;
  llvm::DenseMap<const Value *, unsigned> made_;
  llvm::DenseMap<const BasicBlock *, unsigned> whens_;
  bool isFailed_ = false;
};

/// Rounds are counted in loops that lie between the barriers, and end in one place.
bool StagedStores::isCounted(const BasicBlock &header) const {
  const llvm::Loop *loop = loops_.getLoopFor(&header);
  return loop && loop->getHeader() == &header && loop->getLoopPreheader() &&
         loop->getExitingBlock() && loop->getExitingBlock() == loop->getLoopLatch() &&
         loop->getExitBlock() && !loop->contains(window_.barrier) &&
         window_.whole.contains(&header);
}

const BasicBlock *StagedStores::entryFor(llvm::ArrayRef<Staged> stores) const {
  const BasicBlock *end = window_.barrier->getParent(), *entry = end;
  for (const Staged &s : stores)
    entry = dominators_.findNearestCommonDominator(entry, s.store->getParent());
  // As early as all threads come by: what is stored may have been computed there.
  const BasicBlock *earliest = nullptr;
  for (const auto *at = dominators_.getNode(entry);
       at && (at->getBlock() == end || window_.whole.contains(at->getBlock())); at = at->getIDom())
    if (loops_.getLoopFor(at->getBlock()) == loops_.getLoopFor(end) &&
        postDominators_.dominates(end, at->getBlock()))
      earliest = at->getBlock();
  return earliest;
}

bool StagedStores::find(std::vector<Staged> &stores) {
  for (llvm::StoreInst *store : window_.stores)
    stores.push_back({store});
  entry_ = entryFor(stores);
  if (!entry_ || !uniform_.agreeOn({window_.barrier->getParent()}))
    return false;
  for (Staged &s : stores)
    if (!describe(s) || s.bases != stores.front().bases)
      return false;
  return true;
}

bool StagedStores::describe(Staged &s) {
  for (llvm::Loop *l = loops_.getLoopFor(s.store->getParent()); l && !l->contains(window_.barrier);
       l = l->getParentLoop()) {
    if (!isCounted(*l->getHeader()) ||
        !numbers_.isKnown(
            llvm::cast<llvm::BranchInst>(l->getLoopLatch()->getTerminator())->getCondition()))
      return false;
    s.loops.insert(s.loops.begin(), l);
  }
  current_ = &s;
  begin(s.deciding);
  s.when = when(s.store->getParent());
  for (const llvm::Loop *l : s.loops)
    s.entered.push_back(when(l->getLoopPreheader()));
  const auto *place = llvm::dyn_cast<llvm::IntToPtrInst>(s.store->getPointerOperand());
  if (!place || !splitPlace(place->getOperand(0), s) ||
      s.store->getValueOperand()->getType()->isVectorTy())
    return false;
  llvm::sort(s.bases);
  begin(s.leaves);
  for (const auto *at = dominators_.getNode(s.store->getParent()); at->getBlock() != entry_;
       at = at->getIDom())
    if (const auto *branch =
            llvm::dyn_cast<llvm::BranchInst>(at->getIDom()->getBlock()->getTerminator());
        branch && branch->isConditional() && numbers_.isKnown(branch->getCondition()) &&
        at->getBlock()->getSinglePredecessor() &&
        branch->getSuccessor(0) != branch->getSuccessor(1))
      assumed_.insert({branch, branch->getSuccessor(0) == at->getBlock()});
  s.address = node(s.store->getPointerOperand());
  s.value = node(s.store->getValueOperand());
  s.guard = when(s.store->getParent());
  return !isFailed_;
}

/// Values of loops that the store is not in are gone by then.
bool StagedStores::isInReach(const Value *v) const {
  const auto *i = llvm::dyn_cast<Instruction>(v);
  if (!i)
    return true;
  const llvm::Loop *loop = loops_.getLoopFor(i->getParent());
  return !loop || loop->contains(current_->store);
}

/// The same for all threads, and known before the barrier.
bool StagedStores::isSame(const Value *v) const {
  const auto *i = llvm::dyn_cast<Instruction>(v);
  return llvm::isa<llvm::Constant, llvm::Argument>(v) ||
         (i && uniform_.isUniform(v) && dominators_.dominates(i, window_.barrier));
}

bool StagedStores::splitPlace(const Value *v, Staged &s) const {
  if (numbers_.isKnown(v) && isInReach(v)) {
    s.places.push_back(v);
    return true;
  }
  if (isSame(v)) {
    s.bases.push_back(v);
    return true;
  }
  const auto *i = llvm::dyn_cast<llvm::BinaryOperator>(v);
  const auto *disjoint = llvm::dyn_cast<llvm::PossiblyDisjointInst>(v);
  return i && (i->getOpcode() == Instruction::Add || (disjoint && disjoint->isDisjoint())) &&
         splitPlace(i->getOperand(0), s) && splitPlace(i->getOperand(1), s);
}

unsigned StagedStores::node(Value *v) {
  if (isFailed_)
    return 0;
  if (auto it = made_.find(v); it != made_.end())
    return it->second;
  const unsigned made = compute(v);
  made_[v] = made;
  return made;
}

unsigned StagedStores::compute(Value *v) {
  auto *i = llvm::dyn_cast<Instruction>(v);
  if (i && i->getType()->isIntegerTy() && numbers_.isKnown(v)) {
    if (!isInReach(v))
      return fail();
    leaves_->push_back(v);
    return nodes_.make({Node::Kind::leaf, v->getType(), nullptr, unsigned(leaves_->size() - 1)});
  }
  if (isSame(v))
    return nodes_.make({Node::Kind::external, v->getType(), v});
  if (!i || i->getType()->isVectorTy())
    return fail();
  if (auto *phi = llvm::dyn_cast<llvm::PHINode>(i))
    return nodeOfPhi(*phi);
  if (!isInReach(i))
    return fail();
  Node made{Node::Kind::operation, i->getType(), i};
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(i)) {
    if (!window_.loads.contains(load))
      return fail();
    made.kind = Node::Kind::load;
    made.operands = {node(load->getPointerOperand()), when(load->getParent())};
    return nodes_.make(std::move(made));
  }
  const auto *call = llvm::dyn_cast<llvm::CallInst>(i);
  if (!isSpeculatable(*i) || (call && !call->getCalledFunction()))
    return fail();
  for (Value *operand : call ? call->args() : i->operands())
    if (operand->getType()->isVectorTy())
      return fail();
    else
      made.operands.push_back(node(operand));
  return nodes_.make(std::move(made));
}

/// A value that the way decides: what has been loaded comes last, to be loaded where it is wanted.
unsigned StagedStores::nodeOfPhi(llvm::PHINode &phi) {
  const BasicBlock *block = phi.getParent();
  if (const llvm::Loop *loop = loops_.getLoopFor(block); loop && loop->getHeader() == block)
    return loop->contains(window_.barrier) ? nodeOfMoved(phi, *loop) : fail();
  std::vector<unsigned> ways(phi.getNumIncomingValues());
  std::iota(ways.begin(), ways.end(), 0u);
  llvm::sort(ways, [&](unsigned a, unsigned b) {
    const auto key = [&](unsigned k) {
      return std::pair(llvm::isa<llvm::LoadInst>(phi.getIncomingValue(k)), k);
    };
    return key(a) < key(b);
  });
  std::optional<unsigned> chosen;
  for (unsigned k : ways) {
    const unsigned one = node(phi.getIncomingValue(k));
    const unsigned way = whenOnWay(phi.getIncomingBlock(k), block);
    if (isFailed_)
      return 0;
    if (!chosen || way == kAlways)
      chosen = one;
    else if (one != *chosen)
      chosen = nodes_.make({Node::Kind::choice, phi.getType(), nullptr, 0, {way, one, *chosen}});
  }
  return *chosen;
}

/// A number that a loop around the barriers moves on for all threads alike.
unsigned StagedStores::nodeOfMoved(llvm::PHINode &phi, const llvm::Loop &loop) {
  if (!phi.getType()->isIntegerTy() || !loop.getLoopPreheader() || !loop.getLoopLatch())
    return fail();
  auto *next =
      llvm::dyn_cast<llvm::BinaryOperator>(phi.getIncomingValueForBlock(loop.getLoopLatch()));
  if (!next || next->getOpcode() != Instruction::Add ||
      (next->getOperand(0) != &phi && next->getOperand(1) != &phi))
    return fail();
  const Value *step = next->getOperand(next->getOperand(0) == &phi ? 1 : 0);
  if (step == &phi || !uniform_.isUniform(step))
    return fail();
  const unsigned begin = node(phi.getIncomingValueForBlock(loop.getLoopPreheader()));
  return nodes_.make({Node::Kind::moved, phi.getType(), &phi, 0, {begin}});
}

/// The condition under which a thread comes to the block.
unsigned StagedStores::when(const BasicBlock *block) {
  if (block == entry_ || isFailed_)
    return kAlways;
  if (auto it = whens_.find(block); it != whens_.end())
    return it->second;
  const llvm::Loop *loop = loops_.getLoopFor(block);
  unsigned found = kAlways;
  const auto *up = dominators_.getNode(block)->getIDom();
  if (!dominators_.dominates(entry_, block)) {
    found = fail();
  } else if (loop && loop->getHeader() == block) {
    found = loop->getLoopPreheader() ? when(loop->getLoopPreheader()) : fail();
  } else if (loops_.getLoopFor(up->getBlock()) == loop &&
             postDominators_.dominates(block, up->getBlock())) {
    found = when(up->getBlock());
  } else {
    std::optional<unsigned> any;
    for (const BasicBlock *from : llvm::predecessors(block)) {
      const unsigned way = whenOnWay(from, block);
      if (!any || way == kAlways || *any == kAlways)
        any = any && *any == kAlways ? kAlways : way;
      else if (way != *any)
        any = nodes_.make({Node::Kind::either, nodes_[way].type, nullptr, 0, {*any, way}});
    }
    found = *any;
  }
  whens_[block] = found;
  return found;
}

unsigned StagedStores::whenOnWay(const BasicBlock *from, const BasicBlock *to) {
  if (!window_.whole.contains(from))
    return fail();
  const llvm::Loop *loop = loops_.getLoopFor(from);
  if (loop && !loop->contains(to)) { // a loop that ends
    while (loop->getParentLoop() && !loop->getParentLoop()->contains(to))
      loop = loop->getParentLoop();
    return loop->getLoopPreheader() && loop->getExitingBlock() ? when(loop->getLoopPreheader())
                                                               : fail();
  }
  const auto *branch = llvm::dyn_cast<llvm::BranchInst>(from->getTerminator());
  if (!branch)
    return fail();
  const unsigned before = when(from);
  if (branch->isUnconditional() || branch->getSuccessor(0) == branch->getSuccessor(1) ||
      assumed_.contains({branch, branch->getSuccessor(0) == to}))
    return before;
  unsigned condition = node(branch->getCondition());
  if (isFailed_)
    return 0;
  if (branch->getSuccessor(0) != to)
    condition = nodes_.make({Node::Kind::inverse, nodes_[condition].type, nullptr, 0, {condition}});
  return nodes_.both(before, condition);
}

std::optional<bool> StagedStores::holds(unsigned condition, const Staged &s) {
  if (condition == kAlways)
    return true;
  const Node &n = nodes_[condition];
  if (n.kind == Node::Kind::leaf)
    return numbers_.valueOf(s.deciding[n.index]) != 0;
  if (n.kind == Node::Kind::inverse) {
    const auto is = holds(n.operands[0], s);
    return is ? std::optional(!*is) : std::nullopt;
  }
  if (n.kind != Node::Kind::both && n.kind != Node::Kind::either)
    return std::nullopt;
  const bool decides = n.kind == Node::Kind::either;
  const auto a = holds(n.operands[0], s), b = holds(n.operands[1], s);
  if ((a && *a == decides) || (b && *b == decides))
    return decides;
  return a && b ? std::optional(!decides) : std::nullopt;
}

bool StagedStores::simulate(const Staged &s, uint64_t number, std::vector<Instance> &instances) {
  const uint32_t threads = gang_.block[0] * gang_.block[1] * gang_.block[2];
  const uint32_t perGang = gang_.row ? gang_.row : gang_.lanes;
  for (uint32_t thread = 0; thread < threads; ++thread) {
    numbers_.setThread(thread);
    Instance i;
    i.gangRound = number << 48 | uint64_t(thread / perGang) << 32;
    uint64_t rounds = 0;
    if (!simulateLoops(s, 0, std::move(i), rounds, instances))
      return false;
  }
  return true;
}

bool StagedStores::simulateLoops(const Staged &s, size_t depth, Instance base, uint64_t &rounds,
                                 std::vector<Instance> &instances) {
  if (numbers_.evaluations() > kLimits.staging.evaluations)
    return false;
  if (depth == s.loops.size()) {
    base.gangRound += rounds++;
    if (holds(s.when, s) == std::optional(false))
      return true;
    for (const Value *place : s.places)
      base.place += numbers_.valueOf(place);
    base.place = uint32_t(base.place);
    for (const Value *leaf : s.leaves)
      base.leaves.push_back(numbers_.valueOf(leaf));
    instances.push_back(std::move(base));
    return true;
  }
  const llvm::Loop &loop = *s.loops[depth];
  if (holds(s.entered[depth], s) == std::optional(false))
    return true;
  const auto &end = llvm::cast<llvm::BranchInst>(*loop.getLoopLatch()->getTerminator());
  const bool goesOn = end.getSuccessor(0) == loop.getHeader();
  for (numbers_.enter(loop);; numbers_.next(loop)) {
    if (!simulateLoops(s, depth + 1, base, rounds, instances))
      return false;
    if ((numbers_.valueOf(end.getCondition()) != 0) != goesOn)
      return true;
  }
}

/// Stores that compute the same from other numbers, and all that threads do of them.
struct Group {
  std::vector<const Staged *> stores;
  std::vector<Instance> instances;
  /// Instances on end whose numbers go up by the same steps: where each row begins, and how long it
  /// is.
  struct Row {
    size_t first, count;
  };
  std::vector<Row> rows;
  std::vector<uint64_t> steps; ///< of each leaf, from one instance of a row to the next
};

using Steps = std::vector<uint64_t>;

Steps stepsBetween(const Instance &a, const Instance &b) {
  Steps steps{uint32_t(b.place - a.place)};
  for (size_t k = 0; k < a.leaves.size(); ++k)
    steps.push_back(b.leaves[k] - a.leaves[k]);
  return steps;
}

/// Cuts the instances, in the order they are in, into rows of at most `lanes`. The last part of a
/// longer row lies over the one before, so that it is full.
std::vector<Group::Row> cutIntoRows(const std::vector<Instance> &list, size_t lanes, Steps &usual) {
  std::map<Steps, size_t> counts;
  for (size_t k = 1; k < list.size(); ++k)
    ++counts[stepsBetween(list[k - 1], list[k])];
  if (counts.empty())
    return {};
  usual = std::max_element(counts.begin(), counts.end(), [](const auto &a, const auto &b) {
            return a.second < b.second;
          })->first;
  std::vector<Group::Row> rows;
  for (size_t first = 0, end = 0; first < list.size(); first = end) {
    for (end = first + 1; end < list.size() && stepsBetween(list[end - 1], list[end]) == usual;)
      ++end;
    for (size_t at = first; at < end; at += lanes)
      rows.push_back(
          {end - first < lanes ? first : std::min(at, end - lanes), std::min(lanes, end - first)});
  }
  return rows;
}

/// What the rounds of gangs cost, in rows. The instances are in the order of threads.
float costAcrossRows(const Group &g) {
  struct Round {
    const Instance *last;
    std::optional<Steps> steps = {};
    bool isRow = true;
  };
  llvm::DenseMap<uint64_t, Round> rounds;
  for (const Instance &i : g.instances) {
    auto [at, isNew] = rounds.try_emplace(i.gangRound, Round{&i});
    if (isNew)
      continue;
    Round &r = at->second;
    Steps steps = stepsBetween(*r.last, i);
    r.isRow &= !r.steps || *r.steps == steps;
    r.steps = std::move(steps);
    r.last = &i;
  }
  float cost = 0;
  for (const auto &[id, round] : rounds)
    cost += round.isRow ? 1 : kLimits.staging.rowsPerRound;
  return cost;
}

/// Finds the rows of the group; in the order of places, or in that of threads where rows are longer
/// so.
void findRows(Group &g, size_t lanes) {
  Steps byThread, byPlace;
  std::vector<Instance> inOrder = g.instances;
  std::vector<Group::Row> rows = cutIntoRows(g.instances, lanes, byThread);
  llvm::sort(inOrder, [](const Instance &a, const Instance &b) { return a.place < b.place; });
  g.rows = cutIntoRows(inOrder, lanes, byPlace);
  if (g.rows.size() <= rows.size()) {
    g.instances = std::move(inOrder);
    rows = g.rows;
    byThread = byPlace;
  }
  g.rows = std::move(rows);
  if (!byThread.empty())
    g.steps.assign(byThread.begin() + 1, byThread.end());
}

/// Makes the loop over the rows of one group.
class RowWriter {
 public:
  RowWriter(llvm::Function &f, const GangShape &gang, const Nodes &nodes, const Group &group)
      : f_(f), gang_(gang), nodes_(nodes), group_(group), b_(f.getContext()),
        store_(*group.stores.front()), isTested_(nodes.size()) {}

  /// In front of `at`, which begins a block.
  void write(Instruction &at, std::map<llvm::PHINode *, llvm::PHINode *> &moved);

 private:
  Value *threadNumber();
  Value *fromTable(const std::vector<uint64_t> &, llvm::Type *, Value *row, const llvm::Twine &);
  void readLeaves(Value *row, Value *lane);
  void markTested(unsigned);
  Value *value(unsigned node);
  Value *compute(unsigned node);
  Value *movedFrom(llvm::PHINode &);
  Value *guarded(unsigned load, Value *otherwise);
  /// What differs between the lanes of a row.
  bool varies(unsigned node);
  void splitCondition(unsigned, bool isInverse, std::vector<std::pair<unsigned, bool>> &factors);
  /// Goes on in a block that only lanes enter for which the condition holds; those of a row leave
  /// together where they can. Adds the ways around it, which all lead to `behind`.
  void enter(unsigned condition, BasicBlock *behind, std::vector<BasicBlock *> &around);
  BasicBlock *newBlock(const llvm::Twine &name, BasicBlock *before) {
    return BasicBlock::Create(f_.getContext(), "staged." + name, &f_, before);
  }

  llvm::Function &f_;
  const GangShape &gang_;
  const Nodes &nodes_;
  const Group &group_;
  llvm::IRBuilder<> b_;
  const Staged &store_;
  llvm::BitVector isTested_; ///< nodes that a condition is made of
  std::vector<Value *> leaves_;
  llvm::DenseMap<unsigned, Value *> values_;
  llvm::DenseMap<unsigned, bool> varies_;
  std::map<llvm::PHINode *, llvm::PHINode *> *moved_ = nullptr;
};

Value *RowWriter::threadNumber() {
  llvm::Module &m = *f_.getParent();
  Value *number = nullptr;
  constexpr std::array<const char *, 3> kNames{".x", ".y", ".z"};
  for (unsigned axis = 3; axis-- > 0;) {
    if (gang_.block[axis] == 1)
      continue;
    Value *index = b_.CreateCall(
        m.getOrInsertFunction(std::string(wordFor(Op::tid).name) + kNames[axis], b_.getInt32Ty()));
    number =
        number ? b_.CreateAdd(b_.CreateMul(number, b_.getInt32(gang_.block[axis]), "", true, true),
                              index, "", true, true)
               : index;
  }
  return number;
}

Value *RowWriter::fromTable(const std::vector<uint64_t> &list, llvm::Type *type, Value *row,
                            const llvm::Twine &name) {
  if (llvm::all_equal(list))
    return llvm::ConstantInt::get(type, list.front());
  const unsigned bytes = unsigned(llvm::bit_ceil(llvm::divideCeil(type->getIntegerBitWidth(), 8)));
  llvm::Type *stored = b_.getIntNTy(bytes * 8);
  std::vector<llvm::Constant *> elements;
  for (uint64_t bits : list)
    elements.push_back(llvm::ConstantInt::get(stored, bits));
  llvm::Constant *data =
      llvm::ConstantArray::get(llvm::ArrayType::get(stored, elements.size()), elements);
  auto *table = new llvm::GlobalVariable(*f_.getParent(), data->getType(), true,
                                         llvm::GlobalValue::PrivateLinkage, data, "ptx.rows");
  table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  table->setAlignment(llvm::Align(bytes));
  auto *load = b_.CreateAlignedLoad(
      stored, b_.CreateInBoundsGEP(stored, table, b_.CreateZExt(row, b_.getInt64Ty())),
      llvm::Align(bytes), name);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(f_.getContext(), {}));
  const auto [least, most] = std::minmax_element(list.begin(), list.end());
  llvm::MDBuilder range(f_.getContext());
  if (*most != UINT64_MAX)
    load->setMetadata(
        llvm::LLVMContext::MD_range,
        range.createRange(llvm::APInt(bytes * 8, *least), llvm::APInt(bytes * 8, *most + 1)));
  return b_.CreateTrunc(load, type);
}

void RowWriter::readLeaves(Value *row, Value *lane) {
  for (size_t k = 0; k < store_.leaves.size(); ++k) {
    auto *type = llvm::cast<llvm::IntegerType>(store_.leaves[k]->getType());
    std::vector<uint64_t> list;
    uint64_t most = 0;
    for (const Group::Row &r : group_.rows) {
      list.push_back(group_.instances[r.first].leaves[k]);
      most = std::max(most, list.back());
    }
    Value *base = fromTable(list, type, row, "leaf");
    const uint64_t step = group_.steps[k] & type->getBitMask();
    if (step == 0) {
      leaves_.push_back(base);
      continue;
    }
    // Lanes that have no element count on, too.
    const bool isSmall = type->getIntegerBitWidth() >= 16 && step < 256 &&
                         most + step * gang_.lanes < type->getBitMask() / 2;
    Value *up = b_.CreateZExtOrTrunc(lane, type);
    if (step != 1)
      up = b_.CreateMul(up, llvm::ConstantInt::get(type, step), "", isSmall, isSmall);
    const auto *zero = llvm::dyn_cast<llvm::ConstantInt>(base);
    leaves_.push_back(zero && zero->isZero() ? up : b_.CreateAdd(base, up, "", isSmall, isSmall));
  }
}

void RowWriter::markTested(unsigned id) {
  if (id == kAlways || isTested_[id])
    return;
  isTested_.set(id);
  for (unsigned operand : nodes_[id].operands)
    markTested(operand);
}

bool RowWriter::varies(unsigned id) {
  if (id == kAlways)
    return false;
  if (auto it = varies_.find(id); it != varies_.end())
    return it->second;
  const Node &n = nodes_[id];
  const bool is =
      n.kind == Node::Kind::leaf
          ? (group_.steps[n.index] & llvm::cast<llvm::IntegerType>(n.type)->getBitMask()) != 0
          : llvm::any_of(n.operands, [&](unsigned o) { return varies(o); });
  return varies_[id] = is;
}

Value *RowWriter::value(unsigned id) {
  if (Value *known = values_.lookup(id))
    return known;
  Value *made = compute(id);
  values_[id] = made;
  return made;
}

Value *RowWriter::movedFrom(llvm::PHINode &phi) {
  llvm::PHINode *&mine = (*moved_)[&phi];
  if (mine)
    return mine;
  auto *next = llvm::cast<llvm::BinaryOperator>(
      llvm::find_if(phi.incoming_values(), [&](const llvm::Use &u) {
        const auto *add = llvm::dyn_cast<llvm::BinaryOperator>(u.get());
        return add && llvm::is_contained(add->operands(), &phi);
      })->get());
  Value *step = next->getOperand(next->getOperand(0) == &phi ? 1 : 0);
  mine = llvm::PHINode::Create(phi.getType(), 2, "moved", phi.getIterator());
  auto *sum = llvm::BinaryOperator::CreateAdd(mine, step, "moved.next", next->getNextNode());
  for (unsigned k = 0; k < phi.getNumIncomingValues(); ++k)
    mine->addIncoming(phi.getIncomingValue(k) == next
                          ? static_cast<Value *>(sum)
                          : llvm::ConstantInt::getNullValue(phi.getType()),
                      phi.getIncomingBlock(k));
  return mine;
}

Value *RowWriter::compute(unsigned id) {
  const Node &n = nodes_[id];
  switch (n.kind) {
  case Node::Kind::leaf:
    return leaves_[n.index];
  case Node::Kind::external:
    return n.value;
  case Node::Kind::moved:
    return b_.CreateAdd(value(n.operands[0]), movedFrom(llvm::cast<llvm::PHINode>(*n.value)));
  case Node::Kind::load:
    return guarded(id, llvm::PoisonValue::get(n.type));
  case Node::Kind::choice: {
    const Node &one = nodes_[n.operands[1]];
    if (one.kind == Node::Kind::load && one.operands[1] == n.operands[0])
      return guarded(n.operands[1], value(n.operands[2]));
    Value *condition = value(n.operands[0]), *a = value(n.operands[1]);
    return b_.CreateSelect(condition, a, value(n.operands[2]));
  }
  case Node::Kind::inverse:
    return b_.CreateNot(value(n.operands[0]));
  case Node::Kind::both: {
    Value *a = value(n.operands[0]);
    return b_.CreateAnd(a, value(n.operands[1]));
  }
  case Node::Kind::either: {
    Value *a = value(n.operands[0]);
    return b_.CreateOr(a, value(n.operands[1]));
  }
  case Node::Kind::operation:
    break;
  }
  std::vector<Value *> operands;
  for (unsigned operand : n.operands)
    operands.push_back(value(operand));
  auto *made = llvm::cast<Instruction>(n.value)->clone();
  for (size_t k = 0; k < operands.size(); ++k)
    made->setOperand(unsigned(k), operands[k]);
  made->dropUnknownNonDebugMetadata();
  if (isTested_[id] || n.index != 0)
    made->dropPoisonGeneratingFlags();
  return b_.Insert(made);
}

/// The conditions that must all hold (or, inverse, not hold) for it to hold.
void RowWriter::splitCondition(unsigned id, bool isInverse,
                               std::vector<std::pair<unsigned, bool>> &factors) {
  if (id == kAlways)
    return;
  const Node &n = nodes_[id];
  const auto *logic =
      n.kind == Node::Kind::operation ? llvm::dyn_cast<llvm::BinaryOperator>(n.value) : nullptr;
  const bool isAll =
      n.kind == Node::Kind::both || (logic && logic->getOpcode() == Instruction::And);
  const bool isAny =
      n.kind == Node::Kind::either || (logic && logic->getOpcode() == Instruction::Or);
  if (n.kind == Node::Kind::inverse)
    return splitCondition(n.operands[0], !isInverse, factors);
  if (isInverse ? isAny : isAll)
    for (unsigned operand : n.operands)
      splitCondition(operand, isInverse, factors);
  else
    factors.emplace_back(id, isInverse);
}

void RowWriter::enter(unsigned condition, BasicBlock *behind, std::vector<BasicBlock *> &around) {
  std::vector<std::pair<unsigned, bool>> factors;
  splitCondition(condition, false, factors);
  std::array<Value *, 2> tests{}; // for the row, for each lane
  for (auto [factor, isInverse] : factors) {
    Value *test = value(factor);
    if (isInverse)
      test = b_.CreateNot(test);
    if (const auto *known = llvm::dyn_cast<llvm::ConstantInt>(test); known && known->isOne())
      continue;
    Value *&all = tests[varies(factor)];
    all = all ? b_.CreateAnd(all, test) : test;
  }
  for (Value *test : tests)
    if (test) {
      BasicBlock *inside = newBlock("inside", behind);
      around.push_back(b_.GetInsertBlock());
      b_.CreateCondBr(test, inside, behind);
      b_.SetInsertPoint(inside);
    }
}

Value *RowWriter::guarded(unsigned id, Value *otherwise) {
  const Node &n = nodes_[id];
  Value *address = value(n.operands[0]);
  BasicBlock *behind = newBlock("loaded", b_.GetInsertBlock()->getNextNode());
  std::vector<BasicBlock *> around;
  enter(n.operands[1], behind, around);
  auto *load = llvm::cast<llvm::LoadInst>(llvm::cast<Instruction>(n.value)->clone());
  load->setOperand(0, address);
  b_.Insert(load);
  BasicBlock *inside = b_.GetInsertBlock();
  b_.CreateBr(behind);
  b_.SetInsertPoint(behind);
  if (around.empty())
    return load;
  llvm::PHINode *phi = b_.CreatePHI(n.type, unsigned(around.size()) + 1);
  phi->addIncoming(load, inside);
  for (BasicBlock *from : around)
    phi->addIncoming(otherwise, from);
  return phi;
}

void RowWriter::write(Instruction &at, std::map<llvm::PHINode *, llvm::PHINode *> &moved) {
  moved_ = &moved;
  for (unsigned id = 0; id < nodes_.size(); ++id) {
    const Node &n = nodes_[id];
    if (n.kind == Node::Kind::load)
      markTested(n.operands[1]);
    else if (n.kind == Node::Kind::choice)
      markTested(n.operands[0]);
  }
  markTested(store_.guard);

  const uint32_t perGang = gang_.row ? gang_.row : gang_.lanes;
  BasicBlock *before = at.getParent()->getSinglePredecessor();
  BasicBlock *rows = newBlock("row", at.getParent()), *next = newBlock("next", at.getParent());
  before->getTerminator()->eraseFromParent();
  b_.SetInsertPoint(before);
  b_.SetCurrentDebugLocation(store_.store->getDebugLoc());
  Value *lane = threadNumber();
  b_.CreateCondBr(b_.CreateICmpULT(lane, b_.getInt32(perGang)), rows, at.getParent());

  b_.SetInsertPoint(rows);
  llvm::PHINode *row = b_.CreatePHI(b_.getInt32Ty(), 2, "row");
  row->addIncoming(b_.getInt32(0), before);
  readLeaves(row, lane);
  std::vector<uint64_t> counts;
  for (const Group::Row &r : group_.rows)
    counts.push_back(r.count);
  std::vector<BasicBlock *> around;
  if (!llvm::all_of(counts, [&](uint64_t n) { return n == perGang; })) {
    Value *test = b_.CreateICmpULT(lane, fromTable(counts, b_.getInt32Ty(), row, "count"));
    BasicBlock *inside = newBlock("element", next);
    b_.CreateCondBr(test, inside, next);
    b_.SetInsertPoint(inside);
  }
  Value *address = value(store_.address), *stored = value(store_.value);
  enter(store_.guard, next, around);
  auto *store = llvm::cast<llvm::StoreInst>(store_.store->clone());
  store->setOperand(0, stored);
  store->setOperand(1, address);
  b_.Insert(store);
  b_.CreateBr(next);

  b_.SetInsertPoint(next);
  Value *following = b_.CreateAdd(row, b_.getInt32(1), "", true, true);
  row->addIncoming(following, next);
  b_.CreateCondBr(b_.CreateICmpNE(following, b_.getInt32(unsigned(group_.rows.size()))), rows,
                  at.getParent());
}

/// Whether gangs have the places of the store or of what is loaded for it in a row as it is.
bool isInRows(const Staged &s, const ShapeAnalysis &shapes, const Nodes &nodes) {
  if (shapes.shape(s.store->getPointerOperand()).isVarying())
    return false;
  llvm::SmallVector<unsigned> stack{s.value};
  llvm::DenseSet<unsigned> seen;
  while (!stack.empty()) {
    const unsigned id = stack.pop_back_val();
    if (id == kAlways || !seen.insert(id).second)
      continue;
    const Node &n = nodes[id];
    if (n.kind == Node::Kind::load &&
        shapes.shape(llvm::cast<llvm::LoadInst>(n.value)->getPointerOperand()).isVarying())
      return false;
    stack.append(n.operands.begin(), n.operands.end());
  }
  return true;
}

/// Whether each instance of all groups has a place of its own.
bool areApart(llvm::ArrayRef<Group> groups) {
  std::vector<std::pair<uint64_t, uint64_t>> places; // and bytes
  for (const Group &g : groups) {
    const llvm::StoreInst *store = g.stores.front()->store;
    const uint64_t bytes =
        store->getDataLayout().getTypeStoreSize(store->getValueOperand()->getType());
    for (const Instance &i : g.instances)
      places.emplace_back(i.place, bytes);
  }
  llvm::sort(places);
  for (size_t k = 1; k < places.size(); ++k)
    if (places[k].first < places[k - 1].first + places[k - 1].second)
      return false;
  return true;
}

/// Blocks on end are one, and loops in their form. (SimplifyCFG would join the test of a row and
/// that of its lanes.)
void tidy(llvm::Function &f) {
  llvm::EliminateUnreachableBlocks(f);
  for (BasicBlock &b : llvm::make_early_inc_range(f))
    llvm::MergeBlockIntoPredecessor(&b);
  normaliseLoops(f);
}

/// Removes loops of which nothing is left but their rounds.
void removeIdleLoops(llvm::Function &f, const llvm::SmallPtrSetImpl<BasicBlock *> &headers) {
  llvm::DominatorTree dominators(f);
  llvm::LoopInfo loops(dominators);
  llvm::SmallVector<llvm::Loop *> innerFirst = loops.getLoopsInPreorder();
  std::reverse(innerFirst.begin(), innerFirst.end());
  for (llvm::Loop *loop : innerFirst) {
    const bool isIdle =
        headers.contains(loop->getHeader()) && loop->isInnermost() && loop->getLoopPreheader() &&
        loop->getUniqueExitBlock() && llvm::none_of(loop->blocks(), [&](const BasicBlock *b) {
          return llvm::any_of(*b, [&](const Instruction &i) {
            return i.mayHaveSideEffects() || llvm::any_of(i.users(), [&](const llvm::User *u) {
                     return !loop->contains(llvm::cast<Instruction>(u));
                   });
          });
        });
    if (isIdle)
      llvm::deleteDeadLoop(loop, &dominators, nullptr, &loops);
  }
}

/// What is stored before one barrier; false where it stays.
bool walkRowsBefore(Instruction &barrier, llvm::Function &f, const GangShape &gang,
                    const ShapeAnalysis &shapes) {
  const std::optional<Window> window = windowBefore(barrier);
  if (!window || window->stores.empty())
    return false;
  if (llvm::none_of(window->stores, [&](const llvm::StoreInst *s) {
        return shapes.shape(s->getPointerOperand()).isVarying() ||
               shapes.shape(s->getValueOperand()).isVarying();
      }))
    return false;
  StagedStores finder(f, gang, *window);
  std::vector<Staged> stores;
  if (!finder.find(stores))
    return false;
  llvm::MapVector<std::tuple<unsigned, unsigned, unsigned, uint64_t>, Group> byKind;
  for (size_t k = 0; k < stores.size(); ++k) {
    const Staged &s = stores[k];
    Group &g = byKind[{s.address, s.value, s.guard, s.store->getAlign().value()}];
    g.stores.push_back(&s);
    if (!finder.simulate(s, k, g.instances))
      return false;
  }
  std::vector<Group> groups;
  for (auto &[key, group] : byKind)
    groups.push_back(std::move(group));
  if (!areApart(groups))
    return false;
  llvm::erase_if(groups, [&](Group &g) {
    if (g.instances.empty())
      return false; // no thread comes by
    if (llvm::all_of(g.stores,
                     [&](const Staged *s) { return isInRows(*s, shapes, finder.nodes()); }))
      return true;
    const float cost = costAcrossRows(g);
    findRows(g, gang.row ? gang.row : gang.lanes);
    return float(g.rows.size()) >= cost;
  });
  if (groups.empty())
    return false;

  std::map<llvm::PHINode *, llvm::PHINode *> moved;
  for (const Group &g : groups) {
    if (g.instances.empty())
      continue;
    llvm::SplitBlock(barrier.getParent(), barrier.getIterator());
    RowWriter(f, gang, finder.nodes(), g).write(barrier, moved);
  }
  llvm::SmallPtrSet<BasicBlock *, 4> headers;
  for (const Group &g : groups)
    for (const Staged *s : g.stores) {
      for (const llvm::Loop *l : s->loops)
        headers.insert(l->getHeader());
      s->store->eraseFromParent();
    }
  lower::Analyses analyses;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::ADCEPass());
  passes.run(f, analyses.functions);
  tidy(f);
  removeIdleLoops(f, headers);
  lower::Analyses fresh;
  passes.run(f, fresh.functions);
  tidy(f);
  return true;
}

/// Compilers unroll loops over a tile for blocks of any size: rounds that no thread of this one
/// comes to.
void removeRoundsWithoutThreads(llvm::Function &f, const GangShape &gang) {
  ThreadNumbers numbers(f, gang.block, [](const BasicBlock &) { return false; });
  std::vector<llvm::BranchInst *> branches;
  for (BasicBlock &b : f)
    if (auto *branch = llvm::dyn_cast<llvm::BranchInst>(b.getTerminator());
        branch && branch->isConditional() && numbers.isKnown(branch->getCondition()) &&
        !llvm::isa<llvm::Constant>(branch->getCondition()))
      branches.push_back(branch);
  if (branches.empty())
    return;
  const uint32_t threads = gang.block[0] * gang.block[1] * gang.block[2];
  llvm::DenseMap<llvm::BranchInst *, std::array<bool, 2>> ways; // that some thread goes
  for (uint32_t t = 0; t < threads; ++t) {
    numbers.setThread(t);
    for (llvm::BranchInst *branch : branches)
      ways[branch][numbers.valueOf(branch->getCondition()) & 1] = true;
    llvm::erase_if(branches, [&](auto *branch) { return ways[branch][0] && ways[branch][1]; });
    if (branches.empty() || numbers.evaluations() > kLimits.staging.evaluations)
      return;
  }
  for (llvm::BranchInst *branch : branches)
    branch->setCondition(llvm::ConstantInt::getBool(f.getContext(), ways[branch][1]));
  for (llvm::BranchInst *branch : branches)
    llvm::ConstantFoldTerminator(branch->getParent());
  tidy(f);
}

} // namespace

bool walkStagedRows(llvm::Function &f, const GangShape &gang) {
  const uint64_t threads = uint64_t(gang.block[0]) * gang.block[1] * gang.block[2];
  if (threads <= (gang.row ? gang.row : gang.lanes) ||
      llvm::none_of(llvm::instructions(f), [](const Instruction &i) { return isWholeBarrier(i); }))
    return false;
  removeRoundsWithoutThreads(f, gang);
  std::vector<Instruction *> barriers;
  for (Instruction &i : llvm::instructions(f)) {
    if (wordAt(i).op == Op::sharedBase || wordAt(i).op == Op::sharedWindow)
      return false; // other pointers lead to `.shared` memory, too
    if (isWholeBarrier(i))
      barriers.push_back(&i);
  }
  bool isChanged = false;
  for (Instruction *barrier : barriers) {
    const ShapeAnalysis shapes(f, gang, false);
    isChanged |= walkRowsBefore(*barrier, f, gang, shapes);
  }
  return isChanged;
}

} // namespace ptxrun::simt
