// Partial linearisation of control flow: see widener.h.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>

#include "translate/simt/prepare.h"
#include "translate/simt/widener.h"

namespace ptxrun::simt {

Widener::Widener(ModuleContext &context, llvm::Function &source, llvm::Function &target,
                 const ShapeAnalysis &shapes, bool isFull, bool isKernel)
    : Collectives(context, source, target, shapes, isKernel), isFull_(isFull) {}

void Widener::run() {
  beginFunction();
  entryMask_ = isFull_ || lanes_ == 1 ? nullptr : argument(kMask);
  planItems();
  findAccumulators();
  b_.CreateBr(items_[0].head);
  for (unsigned n = 0; n < items_.size(); ++n)
    emitItem(n);
  endFunction();
}

/// Items in emission order: the blocks, and behind the last block of each divergent loop its
/// LoopEnd (inner before outer).
void Widener::planItems() {
  llvm::DenseMap<const llvm::Loop *, unsigned> left;
  for (const Block *block : shapes_.order()) {
    itemOf_[block] = unsigned(items_.size());
    items_.push_back({block, nullptr, newBlock(block->getName()), {}, {}});
    heads_[block] = items_.back().head;
    for (const llvm::Loop *l = shapes_.loops().getLoopFor(block); l; l = l->getParentLoop()) {
      auto [it, isNew] = left.try_emplace(l, l->getNumBlocks());
      if (--it->second == 0 && shapes_.isDivergentLoop(l)) {
        loopEndOf_[l] = unsigned(items_.size());
        items_.push_back({nullptr, l, newBlock(l->getHeader()->getName() + ".end"), {}, {}});
      }
    }
  }
}

void Widener::emitItem(unsigned n) {
  if (items_[n].loopEnd)
    emitLoopEnd(n);
  else
    emitBlock(n);
}

/// The innermost divergent loop that an edge leaves, or null.
const llvm::Loop *Widener::divergentLoopLeft(const Block *from, const Block *to) const {
  for (const llvm::Loop *l = shapes_.loops().getLoopFor(from); l && !l->contains(to);
       l = l->getParentLoop())
    if (shapes_.isDivergentLoop(l))
      return l;
  return nullptr;
}

/// The block whose lanes are exactly those that arrive at `block`, looked for where its dominators
/// are; null if there is none.
const Widener::Block *Widener::partedAt(const Block *block) const {
  const auto *node = shapes_.dominators().getNode(block);
  if (!node || !node->getIDom())
    return nullptr;
  const Block *before = node->getIDom()->getBlock();
  const llvm::Loop *loop = shapes_.loops().getLoopFor(before);
  while (loop && !loop->contains(block)) {
    before = loop->getLoopPreheader();
    loop = loop->getParentLoop();
  }
  return before && shapes_.reconverges(before, block) ? before : nullptr;
}

/// The mask of a block: the entry's, shared with a block that the same lanes passed, or consumed
/// from the block's slot.
llvm::Value *Widener::maskOf(const Block *block) {
  if (!shapes_.isInDivergentRegion(block))
    return entryMask_;
  llvm::AllocaInst *slot = maskSlot(block);
  const Block *share = nullptr;
  const llvm::Loop *loop = shapes_.loops().getLoopFor(block);
  const bool isHeader = loop && loop->getHeader() == block;
  if (isHeader) {
    if (!shapes_.isDivergentLoop(loop) && !everPending_.contains(itemOf_[block]))
      share = loop->getLoopPreheader();
  } else if (const Block *before = partedAt(block)) {
    share = before;
  } else if (const Block *p = block->getSinglePredecessor();
             p && !everPending_.contains(itemOf_[block]) && !shapes_.isDivergentBranch(p) &&
             !divergentLoopLeft(p, block)) {
    share = p;
  }
  if (share) {
    b_.CreateStore(llvm::Constant::getNullValue(slot->getAllocatedType()), slot);
    if (!shapes_.isInDivergentRegion(share))
      return entryMask_;
    const Block *root = maskRoot_.lookup(share);
    maskRoot_[block] = root;
    if (llvm::Constant *known = knownMasks_.lookup(root))
      return known;
    return root ? b_.CreateLoad(maskValues_[root]->getAllocatedType(), maskValues_[root], "mask")
                : entryMask_;
  }
  Value *m = b_.CreateLoad(slot->getAllocatedType(), slot, "mask");
  b_.CreateStore(llvm::Constant::getNullValue(slot->getAllocatedType()), slot);
  if (llvm::Constant *known = knownMask(block)) {
    knownMasks_[block] = known;
    maskRoot_[block] = block;
    return known;
  }
  auto *value = entryAlloca(slot->getAllocatedType(), "mask.value");
  promote(value);
  maskValues_[block] = value;
  maskRoot_[block] = block;
  b_.CreateStore(m, value);
  return m;
}

/// The mask of a block whose lanes part from those of a block of all lanes, or of lanes that are
/// known, by a condition that leaves the same lanes to each gang that comes here; else null.
llvm::Constant *Widener::knownMask(const Block *block) {
  const Block *before = block->getSinglePredecessor();
  if (!before || isCheap(block) || !shapes_.isDivergentBranch(before) ||
      divergentLoopLeft(before, block))
    return nullptr;
  llvm::Constant *known = nullptr;
  if (shapes_.isInDivergentRegion(before)) {
    const Block *root = maskRoot_.lookup(before);
    known = root ? knownMasks_.lookup(root) : nullptr;
    if (!known)
      return nullptr;
  } else if (entryMask_) {
    return nullptr;
  }
  auto *branch = llvm::cast<llvm::BranchInst>(before->getTerminator());
  llvm::Constant *lanes = lanesLedTo(block, *branch);
  if (lanes && known)
    lanes = llvm::cast<llvm::Constant>(b_.CreateAnd(lanes, known));
  return lanes && !lanes->isNullValue() ? lanes : nullptr;
}

llvm::AllocaInst *Widener::maskSlot(const Block *block) {
  llvm::AllocaInst *&slot = maskSlots_[block];
  if (!slot) {
    auto *type = vec(b_.getInt1Ty(), lanes_);
    slot = entryAlloca(type, "mask.slot");
    // Empty from where all lanes last were together before the block, or where a round of its loop
    // begins: from the beginning would be right, too, but every slot would then live all the way
    // from there.
    llvm::Constant *nobody = llvm::Constant::getNullValue(type);
    if (!beginsEmpty(slot, block, nobody)) {
      const auto *node = shapes_.dominators().getNode(block);
      while (node && shapes_.isInDivergentRegion(node->getBlock()))
        node = node->getIDom();
      if (node) {
        Block *head = heads_.lookup(node->getBlock());
        llvm::IRBuilder<>(head, head->begin()).CreateStore(nobody, slot);
      } else {
        entry_.CreateStore(nobody, slot);
      }
    }
    promote(slot);
  }
  return slot;
}

void Widener::emitBlock(unsigned n) {
  const Block *block = items_[n].block;
  b_.SetInsertPoint(items_[n].head);
  b_.SetCurrentDebugLocation(llvm::DebugLoc());
  forgetBlock();
  setMask(maskOf(block));
  // Phis read their slots together, before anything else overwrites them.
  for (const llvm::PHINode &phi : block->phis()) {
    if (const auto place = accumulators_ ? accumulators_->placeOf(phi) : std::nullopt) {
      define(phi, b_.CreateAlignedLoad(wide(&phi), accumulatorAt(*place), llvm::Align(64)));
      continue;
    }
    llvm::AllocaInst *slot = incomingSlot(phi);
    define(phi, b_.CreateLoad(slot->getAllocatedType(), slot, phi.getName()));
  }
  for (const llvm::Instruction &i : *block) {
    if (llvm::isa<llvm::PHINode>(i) || i.isTerminator())
      continue;
    setLine(i.getDebugLoc());
    emitInstruction(i);
  }
  setLine(block->getTerminator()->getDebugLoc());
  storeUsual(block);
  emitTerminator(block, n);
}

/// The value that most ways to a block bring, where they part in lanes and have it before they do:
/// lanes that take another way put theirs in its place. Null where two ways are all.
const llvm::Value *Widener::usualValue(const llvm::PHINode &phi) {
  const auto [known, isNew] = usualValues_.try_emplace(&phi, nullptr);
  if (!isNew)
    return known->second;
  const Block *to = phi.getParent();
  const unsigned ways = phi.getNumIncomingValues();
  const llvm::Loop *loop = shapes_.loops().getLoopFor(to);
  const Block *parted = shapes_.dominators().getNode(to)->getIDom()->getBlock();
  if (ways < 3 || ways > kLimits.code.ways || !shapes_.shape(&phi).isVarying() ||
      (loop && loop->getHeader() == to) || shapes_.loops().getLoopFor(parted) != loop ||
      (accumulators_ && accumulators_->placeOf(phi)))
    return nullptr;
  const auto isLoopLeft = [&](const Block *from) { return divergentLoopLeft(from, to) != nullptr; };
  if (llvm::any_of(phi.blocks(), isLoopLeft))
    return nullptr;
  for (const Value *v : phi.incoming_values()) {
    auto *i = llvm::dyn_cast<llvm::Instruction>(v);
    if (!llvm::isa<llvm::UndefValue>(v) && 2 * llvm::count(phi.incoming_values(), v) > ways &&
        (!i || shapes_.dominators().dominates(i->getParent(), parted)))
      return usualValues_[&phi] = v;
  }
  return nullptr;
}

/// Those of blocks that the ways which part at the end of `parted` lead to.
void Widener::storeUsual(const Block *parted) {
  for (const auto *next : shapes_.dominators().getNode(parted)->children())
    for (const llvm::PHINode &phi : next->getBlock()->phis())
      if (const Value *v = usualValue(phi))
        b_.CreateStore(vector(v), incomingSlot(phi));
}

/// Values that phis of `to` receive on this edge. All are read before the first is written (they
/// may be each other's).
void Widener::storePhis(const Block *from, const Block *to, Value *edgeMask) {
  llvm::SmallVector<std::pair<Value *, Value *>> stores;
  bool isFirst = true; // no edge into `to` that runs before this one: nothing to blend with
  for (const Block *p : llvm::predecessors(to))
    if (p != from && shapes_.index(p) < shapes_.index(from))
      isFirst = false;
  const llvm::Loop *loop = shapes_.loops().getLoopFor(to);
  const bool isHeader = loop && loop->getHeader() == to;
  const bool isBlended = edgeMask && (divergentLoopLeft(from, to) || (!isFirst && !isHeader));
  for (const llvm::PHINode &phi : to->phis()) {
    const Value *in = phi.getIncomingValueForBlock(from);
    if (llvm::isa<llvm::UndefValue>(in))
      continue;
    if (const auto place = accumulators_ ? accumulators_->placeOf(phi) : std::nullopt) {
      if (!accumulators_->isInPlace(phi, from))
        stores.push_back({accumulatorAt(*place), vector(in)});
      continue;
    }
    llvm::AllocaInst *slot = incomingSlot(phi);
    if (!shapes_.shape(&phi).isVarying()) {
      stores.push_back({slot, base(in)});
      continue;
    }
    const Value *usual = usualValue(phi);
    if (in == usual)
      continue;
    Value *v = vector(in);
    if (isBlended || (usual && edgeMask)) {
      Value *old = b_.CreateLoad(slot->getAllocatedType(), slot);
      v = laneSelect(edgeMask, v, old);
    }
    stores.push_back({slot, v});
  }
  for (auto [slot, value] : stores)
    b_.CreateStore(value, slot);
}

/// Whether lanes that leave at the end of `block` part from lanes that may still wait for somebody.
bool Widener::exitsMatter(const Block *block) {
  if (!exitsMatter_) {
    exitsMatter_.emplace();
    for (const Block *a : shapes_.order()) {
      if (!shapes_.isDivergentBranch(a))
        continue;
      const Block *meet = shapes_.meetingPoint(a);
      BlockSet parted;
      for (const Block *s : llvm::successors(a))
        for (const Block *b : reachable(s, meet))
          parted.insert(b);
      if (!isWaitedIn(parted))
        continue;
      exitsMatter_->insert(a);
      exitsMatter_->insert(parted.begin(), parted.end());
    }
  }
  return exitsMatter_->contains(block);
}

/// Whether lanes that go this way wait for nobody any more, so that nobody has to wait for them.
bool Widener::leavesAllWaits(const Block *from, const Block *to) {
  if (!exitsMatter(from))
    return false;
  if (!beforeWaits_) {
    beforeWaits_.emplace();
    llvm::SmallVector<const Block *> stack;
    for (const Block *b : shapes_.order())
      if (llvm::any_of(*b, waitsForOthers))
        stack.push_back(b);
    while (!stack.empty())
      if (const Block *b = stack.pop_back_val(); beforeWaits_->insert(b).second)
        stack.append(llvm::pred_begin(b), llvm::pred_end(b));
  }
  return !beforeWaits_->contains(to);
}

void Widener::emitEdge(const Block *from, const Block *to, Value *edgeMask) {
  storePhis(from, to, edgeMask);
  if (isKernel_ && context_.tracksExits && edgeMask && leavesAllWaits(from, to))
    runtime("ptxrun_exit_lanes", b_.getVoidTy(), {argument(kGang), maskBits(edgeMask)});
  if (lanes_ == 1 || !shapes_.isInDivergentRegion(to))
    return;
  llvm::AllocaInst *slot = maskSlot(to);
  Value *old = b_.CreateLoad(slot->getAllocatedType(), slot);
  b_.CreateStore(b_.CreateOr(old, edgeMask ? edgeMask : allOnes()), slot);
}

/// Where control has to go for an edge: the target's item; nothing if LoopEnd takes care of it.
std::optional<unsigned> Widener::controlTarget(const Block *from, const Block *to) {
  if (const llvm::Loop *left = divergentLoopLeft(from, to)) {
    items_[loopEndOf_[left]].exits.insert(itemOf_[to]);
    return std::nullopt;
  }
  const llvm::Loop *loop = shapes_.loops().getLoopFor(to);
  if (loop && loop->getHeader() == to && loop->contains(from) && shapes_.isDivergentLoop(loop))
    return std::nullopt;
  return itemOf_[to];
}

bool Widener::isCertain(unsigned n) const {
  const Item &item = items_[n];
  if (item.loopEnd || !shapes_.isInDivergentRegion(item.block))
    return true;
  // All lanes of an earlier block come here: some, unless that one runs whether there are any or
  // not.
  const Block *before = partedAt(item.block);
  return before && !(shapes_.isInDivergentRegion(before) && isCheap(before));
}

/// Short pure blocks run under an empty mask rather than being jumped over.
bool Widener::isCheap(const Block *block) const {
  auto *branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
  if (!branch || branch->isConditional() ||
      block->sizeWithoutDebug() > kLimits.control.underEmptyMask)
    return false;
  const Block *next = branch->getSuccessor(0);
  if (shapes_.loops().getLoopFor(next) != shapes_.loops().getLoopFor(block))
    return false;
  for (const llvm::PHINode &phi : next->phis())
    if (!shapes_.shape(&phi).isVarying())
      return false;
  for (const llvm::Instruction &i : *block)
    if (!i.isTerminator() &&
        (llvm::isa<llvm::PHINode>(i) || i.mayReadOrWriteMemory() || llvm::isa<llvm::CallBase>(i) ||
         !llvm::isSafeToSpeculativelyExecute(&i)))
      return false;
  return shapes_.loops().getLoopFor(block) == nullptr ||
         shapes_.loops().getLoopFor(block)->getHeader() != block;
}

/// Goes to the first of `targets` that has lanes; the others stay pending there. `certain` is known
/// to have lanes; `known`: whether a target has lanes, where that can be told without its mask.
void Widener::emitGotos(std::set<unsigned> targets, std::optional<unsigned> certain,
                        const llvm::DenseMap<unsigned, Value *> &known) {
  while (!targets.empty()) {
    const unsigned t = *targets.begin();
    targets.erase(targets.begin());
    items_[t].pending.insert(targets.begin(), targets.end());
    everPending_.insert(targets.begin(), targets.end());
    const bool isLast = targets.empty();
    if (isLast || t == certain || isCertain(t) || isCheap(items_[t].block)) {
      b_.CreateBr(items_[t].head);
      return;
    }
    llvm::AllocaInst *slot = maskSlot(items_[t].block);
    Value *some = known.lookup(t);
    if (!some)
      some = anyLane(b_.CreateLoad(slot->getAllocatedType(), slot));
    Block *otherwise = newBlock("skip");
    b_.CreateCondBr(some, items_[t].head, otherwise);
    b_.SetInsertPoint(otherwise);
    // So it is; said in so many words, nothing is carried to where the mask is next added to.
    b_.CreateStore(llvm::Constant::getNullValue(slot->getAllocatedType()), slot);
  }
  b_.CreateUnreachable();
}

void Widener::emitTerminator(const Block *block, unsigned n) {
  const llvm::Instruction *terminator = block->getTerminator();
  if (auto *ret = llvm::dyn_cast<llvm::ReturnInst>(terminator)) {
    if (Value *v = ret->getReturnValue())
      b_.CreateRet(lanes_ == 1 ? base(v) : vector(v));
    else
      b_.CreateRetVoid();
    return;
  }
  auto *branch = llvm::dyn_cast<llvm::BranchInst>(terminator);
  if (!branch) {
    b_.CreateUnreachable();
    return;
  }
  std::set<unsigned> pending = items_[n].pending;
  if (const llvm::Loop *l = shapes_.loops().getLoopFor(block);
      l && l->getHeader() == block && shapes_.isDivergentLoop(l)) {
    pending.insert(loopEndOf_[l]);
    items_[n].pending = pending;
  }
  pending.erase(n);
  // Pending sets travel forward only; the header of a uniform loop already knows them.
  auto oneWay = [&](const Block *to) {
    emitEdge(block, to, mask());
    std::optional<unsigned> t = controlTarget(block, to);
    if (t && *t <= n) {
      b_.CreateBr(items_[*t].head);
      return;
    }
    std::set<unsigned> targets = pending;
    if (t)
      targets.insert(*t);
    const bool mayBeEmpty = shapes_.isInDivergentRegion(block) && isCheap(block);
    emitGotos(targets, mayBeEmpty ? std::nullopt : t);
  };
  if (branch->isUnconditional()) {
    oneWay(branch->getSuccessor(0));
    return;
  }
  const Block *onTrue = branch->getSuccessor(0), *onFalse = branch->getSuccessor(1);
  if (onTrue == onFalse) {
    oneWay(onTrue);
    return;
  }
  if (!shapes_.isDivergentBranch(block)) {
    Value *condition = base(branch->getCondition());
    Block *a = newBlock("uniform.true"), *c = newBlock("uniform.false");
    llvm::SmallVector<unsigned, 2> kinds{llvm::LLVMContext::MD_prof};
    if (!partedSide(*branch))
      kinds.push_back(branch->getContext().getMDKindID(kVersion));
    b_.CreateCondBr(condition, a, c)->copyMetadata(*branch, kinds);
    const Locals known = locals_;
    b_.SetInsertPoint(a);
    oneWay(onTrue);
    locals_ = known;
    b_.SetInsertPoint(c);
    oneWay(onFalse);
    return;
  }
  emitDivergentBranch(*branch, pending);
}

/// Both ways, one after the other; `pending`: what still has to run besides.
void Widener::emitDivergentBranch(const llvm::BranchInst &branch,
                                  const std::set<unsigned> &pending) {
  const Block *block = branch.getParent();
  const Block *onTrue = branch.getSuccessor(0), *onFalse = branch.getSuccessor(1);
  // Lanes that are not active may hold poison: it must not reach the test of a mask.
  Value *condition = b_.CreateFreeze(vector(branch.getCondition()));
  Value *m = fullMask();
  Value *maskTrue = b_.CreateAnd(m, condition),
        *maskFalse = b_.CreateAnd(m, b_.CreateNot(condition));
  emitEdge(block, onTrue, maskTrue);
  emitEdge(block, onFalse, maskFalse);
  std::set<unsigned> targets = pending;
  std::optional<unsigned> t = controlTarget(block, onTrue), f = controlTarget(block, onFalse),
                          certain;
  if (t)
    targets.insert(*t);
  if (f)
    targets.insert(*f);
  if (t && f)
    certain = std::max(*t, *f); // reached in the chain only if the nearer one has no lanes
  llvm::DenseMap<unsigned, Value *> known;
  for (auto [item, to] : {std::pair{t, onTrue}, std::pair{f, onFalse}})
    if (item && to->getSinglePredecessor() == block && !mask())
      if (Value *some = holdsForSome(branch.getCondition(), to == onFalse))
        known[*item] = some;
  emitGotos(targets, certain, known);
}

void Widener::emitLoopEnd(unsigned n) {
  const llvm::Loop *loop = items_[n].loopEnd;
  b_.SetInsertPoint(items_[n].head);
  setLine(loop->getLoopLatch()->getTerminator()->getDebugLoc());
  forgetBlock();
  llvm::AllocaInst *slot = maskSlot(loop->getHeader());
  Value *some = anyLane(b_.CreateLoad(slot->getAllocatedType(), slot));
  Block *done = newBlock("left");
  b_.CreateCondBr(some, items_[itemOf_[loop->getHeader()]].head, done);
  b_.SetInsertPoint(done);
  b_.CreateStore(llvm::Constant::getNullValue(slot->getAllocatedType()), slot);
  std::set<unsigned> targets = items_[n].pending;
  for (unsigned e : items_[n].exits) {
    // An exit may leave further divergent loops: then their ends take it on.
    const llvm::Loop *outer = loop->getParentLoop();
    while (outer && (outer->contains(items_[e].block) || !shapes_.isDivergentLoop(outer)))
      outer = outer->getParentLoop();
    if (outer)
      items_[loopEndOf_[outer]].exits.insert(e);
    else
      targets.insert(e);
  }
  emitGotos(targets, std::nullopt);
}

} // namespace ptxrun::simt
