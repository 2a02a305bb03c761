#include "translate/simt/staged_stores.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <numeric>

#include "translate/simt/cost.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

namespace {

constexpr unsigned kSharedSpace = 3;

bool isShared(const Value *pointer) {
  return pointer->getType()->getPointerAddressSpace() == kSharedSpace;
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

} // namespace

bool isWholeBarrier(const Instruction &i) {
  if (wordAt(i).op != Op::barSync)
    return false;
  const auto *count = llvm::dyn_cast<llvm::ConstantInt>(i.getOperand(1));
  return count && count->isZero();
}

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

StagedStores::StagedStores(llvm::Function &f, const GangShape &gang, const Window &window)
    : gang_(gang), window_(window), dominators_(f), postDominators_(f), loops_(dominators_),
      uniform_(f, perThread(f, gang.block), /*inLockstep=*/true),
      numbers_(f, gang.block, [&](const BasicBlock &b) { return isCounted(b); }) {}

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
    if (!describe(s) || s.base.key() != stores.front().base.key())
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
  if (llvm::isa<llvm::Constant, llvm::Argument>(v))
    return true;
  const auto *i = llvm::dyn_cast<Instruction>(v);
  if (!i || !uniform_.isUniform(v) || !dominators_.dominates(i, window_.barrier))
    return false;
  const llvm::Loop *loop = loops_.getLoopFor(i->getParent());
  return !loop || loop->contains(window_.barrier); // else one for each of its rounds
}

bool StagedStores::splitPlace(const Value *v, Staged &s) const {
  const auto isNumber = [&](const Value *t) { return numbers_.isKnown(t) && isInReach(t); };
  s.place = sumOf(v, Extensions::terms, [&](const Value *t) { return isNumber(t) || isSame(t); });
  for (auto [term, times] : s.place.terms)
    if (!isNumber(term))
      s.base.add(term, times);
  s.place.add(s.base, -1);
  return llvm::all_of(s.base.terms, [&](const auto &term) { return isSame(term.first); });
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
    made.index = unsigned(2 * load->getAlign().value()) +
                 load->hasMetadata(llvm::LLVMContext::MD_invariant_load);
    made.operands = {node(load->getPointerOperand()), when(load->getParent())};
    return nodes_.make(std::move(made));
  }
  const auto *call = llvm::dyn_cast<llvm::CallInst>(i);
  const bool isPlain =
      llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst, llvm::CmpInst,
                llvm::SelectInst, llvm::FreezeInst, llvm::GetElementPtrInst>(i) ||
      (call && call->getCalledFunction());
  if (!isPlain || !isSpeculatable(*i))
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
    return loop->contains(window_.barrier) ? nodeOfMoved(phi) : fail();
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
unsigned StagedStores::nodeOfMoved(llvm::PHINode &phi) {
  llvm::BinaryOperator *next = nullptr;
  Value *begin = nullptr, *step = nullptr;
  if (!phi.getType()->isIntegerTy() || !llvm::matchSimpleRecurrence(&phi, next, begin, step) ||
      next->getOpcode() != Instruction::Add || step == &phi || !uniform_.isUniform(step))
    return fail();
  return nodes_.make({Node::Kind::moved, phi.getType(), &phi, 0, {node(begin)}});
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
  for (uint32_t thread = 0; thread < gang_.threads(); ++thread) {
    numbers_.setThread(thread);
    Instance i;
    i.gangRound = number << 48 | uint64_t(thread / gang_.threadsPerGang()) << 32;
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
    base.place = uint64_t(s.place.constant);
    for (auto [number, times] : s.place.terms)
      base.place += uint64_t(times) * numbers_.valueOf(number);
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

} // namespace ptxrun::simt
