#include "translate/simt/region_state.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <functional>

#include "translate/simt/cost.h"
#include "translate/simt/prepare.h"
#include "translate/simt/promote.h"

namespace ptxrun::simt {

using llvm::Value;

namespace {

BlockSet reachableFromAll(llvm::ArrayRef<const llvm::BasicBlock *> starts) {
  BlockSet all;
  for (const llvm::BasicBlock *start : starts)
    if (!all.contains(start))
      for (const llvm::BasicBlock *b : reachable(start, nullptr))
        all.insert(b);
  return all;
}

bool touches(const llvm::DenseSet<const llvm::BasicBlock *> &set,
             llvm::ArrayRef<llvm::BasicBlock *> region) {
  return llvm::any_of(region, [&](const llvm::BasicBlock *b) { return set.contains(b); });
}

} // namespace

bool isRepeatable(const llvm::Instruction &i) {
  if (llvm::isa<llvm::LoadInst>(i))
    return i.hasMetadata(llvm::LLVMContext::MD_invariant_load);
  if (auto *freeze = llvm::dyn_cast<llvm::FreezeInst>(&i)) {
    const Value *splat = llvm::getSplatValue(freeze->getOperand(0));
    return llvm::isGuaranteedNotToBeUndefOrPoison(splat ? splat : freeze->getOperand(0));
  }
  if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i))
    return call->doesNotAccessMemory() && !call->isConvergent() && call->willReturn();
  return !llvm::isa<llvm::PHINode, llvm::AllocaInst, llvm::CallBase>(i) &&
         !i.mayReadOrWriteMemory() && !i.isTerminator();
}

RegionState::RegionState(llvm::Function &f, llvm::BasicBlock *origin,
                         llvm::ArrayRef<llvm::BasicBlock *> resumed,
                         llvm::ArrayRef<const llvm::Instruction *> helpers,
                         const CtaUniformity &uniformity, const Target &target)
    : f_(f), resumed_(resumed.begin(), resumed.end()), target_(target),
      helpers_(helpers.begin(), helpers.end()) {
  body_ = reachable(origin, origin->getSinglePredecessor());
  findCarried();
  for (Carried &c : carried_)
    c.kind = findRecipe(c, uniformity)       ? Kind::computed
             : uniformity.isUniform(c.value) ? Kind::cta
                                             : Kind::gang;
  findArrays();
  shareHomes();
  layOut();
}

/// Values used behind a barrier that they were computed before.
void RegionState::findCarried() {
  for (llvm::BasicBlock &b : f_) {
    if (!body_.contains(&b))
      continue;
    for (llvm::Instruction &i : b) {
      llvm::DenseSet<const llvm::BasicBlock *> liveIn;
      llvm::SmallVector<const llvm::BasicBlock *> stack;
      for (const llvm::Use &u : i.uses()) {
        auto *user = llvm::cast<llvm::Instruction>(u.getUser());
        auto *phi = llvm::dyn_cast<llvm::PHINode>(user);
        const llvm::BasicBlock *at = phi ? phi->getIncomingBlock(u) : user->getParent();
        if (at != &b)
          stack.push_back(at);
      }
      while (!stack.empty()) {
        const llvm::BasicBlock *at = stack.pop_back_val();
        if (at != &b && liveIn.insert(at).second)
          stack.append(llvm::pred_begin(at), llvm::pred_end(at));
      }
      Carried c;
      c.value = &i;
      c.across.resize(unsigned(resumed_.size()));
      for (unsigned n = 0; n < resumed_.size(); ++n)
        if (liveIn.contains(resumed_[n]))
          c.across.set(n);
      if (c.across.any())
        carried_.push_back(std::move(c));
    }
  }
}

/// Registers' worth of a value.
unsigned RegionState::pieces(const llvm::Type *t) const {
  const auto *v = llvm::dyn_cast<llvm::FixedVectorType>(t);
  return v ? std::max(1u, target_.registersFor(v->getPrimitiveSizeInBits().getFixedValue())) : 1;
}

/// How to compute the value from what every region has at hand; false if that costs more than
/// keeping it.
bool RegionState::findRecipe(Carried &c, const CtaUniformity &uniformity) const {
  const unsigned limit = c.value->getType()->isVectorTy()
                             ? kLimits.regions.vectorRecipe + pieces(c.value->getType())
                             : kLimits.regions.scalarRecipe;
  unsigned cost = 0;
  llvm::DenseSet<const Value *> seen;
  std::function<bool(Value *)> add = [&](Value *v) {
    auto *i = llvm::dyn_cast<llvm::Instruction>(v);
    if (!i || (!body_.contains(i->getParent()) && !llvm::is_contained(helpers_, i)) ||
        !seen.insert(i).second)
      return true;
    if (!isRepeatable(*i) || c.recipe.size() >= kLimits.regions.recipe)
      return false;
    if (!uniformity.isUniform(i))
      cost += isDivision(*i) ? kLimits.regions.division * pieces(i->getType())
                             : std::max(pieces(i->getType()), pieces(i->getOperand(0)->getType()));
    if (cost > limit || !llvm::all_of(i->operands(), [&](llvm::Use &u) { return add(u.get()); }))
      return false;
    c.recipe.push_back(i);
    return true;
  };
  if (add(c.value))
    return true;
  c.recipe.clear();
  return false;
}

/// Arrays in local memory whose contents outlive a barrier.
void RegionState::findArrays() {
  for (llvm::Instruction &i : f_.getEntryBlock()) {
    auto *array = llvm::dyn_cast<llvm::AllocaInst>(&i);
    if (!array || array->hasMetadata(kScratch) || llvm::is_contained(helpers_, array))
      continue;
    llvm::SmallVector<const llvm::Instruction *> stack{array};
    llvm::DenseSet<const llvm::Instruction *> seen{array};
    llvm::SmallVector<llvm::BasicBlock *> users;
    while (!stack.empty())
      for (const llvm::User *u : stack.pop_back_val()->users()) {
        auto *user = llvm::cast<llvm::Instruction>(u);
        if (!seen.insert(user).second)
          continue;
        users.push_back(const_cast<llvm::BasicBlock *>(user->getParent()));
        if (!user->getType()->isVoidTy() && !user->mayReadOrWriteMemory())
          stack.push_back(user);
      }
    const BlockSet after = reachableFromAll(users);
    llvm::SmallVector<llvm::BasicBlock *> behind;
    llvm::copy_if(resumed_, std::back_inserter(behind),
                  [&](llvm::BasicBlock *b) { return after.contains(b); });
    const BlockSet later = reachableFromAll(behind);
    if (llvm::any_of(users, [&](llvm::BasicBlock *b) { return later.contains(b); }))
      arrays_.push_back({array, 0});
  }
}

/// The old and the new value of a loop's accumulator need one place if no barrier finds both alive.
void RegionState::shareHomes() {
  llvm::DenseMap<const Value *, unsigned> numbers;
  for (unsigned n = 0; n < carried_.size(); ++n) {
    numbers[carried_[n].value] = n;
    carried_[n].home = n;
  }
  std::vector<llvm::BitVector> busy;
  for (const Carried &c : carried_)
    busy.push_back(c.across);
  for (Carried &c : carried_) {
    auto *phi = llvm::dyn_cast<llvm::PHINode>(c.value);
    if (!phi || c.kind != Kind::gang)
      continue;
    for (const Value *in : phi->incoming_values()) {
      auto found = numbers.find(in);
      if (found == numbers.end() || carried_[found->second].kind != Kind::gang)
        continue;
      const unsigned to = c.home, from = carried_[found->second].home;
      if (to == from || busy[to].anyCommon(busy[from]))
        continue;
      busy[to] |= busy[from];
      for (Carried &other : carried_)
        if (other.home == from)
          other.home = to;
    }
  }
}

void RegionState::layOut() {
  const llvm::DataLayout &layout = f_.getParent()->getDataLayout();
  uint64_t at = 0;
  auto place = [&](llvm::Type *t, uint64_t align) {
    at = llvm::alignTo(at, std::min<uint64_t>(align, target_.lineBytes));
    const uint64_t offset = at;
    at += layout.getTypeAllocSize(t).getFixedValue();
    return offset;
  };
  llvm::DenseMap<unsigned, uint64_t> homes;
  for (Carried &c : carried_) {
    if (c.kind != Kind::gang)
      continue;
    auto [it, isNew] = homes.try_emplace(c.home, 0);
    if (isNew) {
      llvm::Type *t = keptType(c.value->getType());
      it->second = place(
          t, std::max<uint64_t>(1, llvm::PowerOf2Ceil(layout.getTypeStoreSize(t).getFixedValue())));
    }
    c.offset = it->second;
  }
  for (auto &[array, offset] : arrays_)
    offset = place(array->getAllocatedType(), array->getAlign().value());
  contextBytes_ = llvm::alignTo(at, target_.lineBytes);
  if (contextBytes_ && contextBytes_ % kLimits.regions.apart == 0)
    contextBytes_ += target_.lineBytes; // else the gangs' contexts share cache sets
}

void RegionState::demote() {
  for (Carried &c : carried_) {
    // The originals are still needed as recipes; the copies in regions read slots.
    c.slot = new llvm::AllocaInst(c.value->getType(), 0, c.value->getName() + ".slot",
                                  f_.getEntryBlock().begin());
    if (c.kind == Kind::cta) {
      c.current = new llvm::AllocaInst(c.value->getType(), 0, c.value->getName() + ".cta",
                                       f_.getEntryBlock().begin());
      c.next = new llvm::AllocaInst(c.value->getType(), 0, c.value->getName() + ".next",
                                    f_.getEntryBlock().begin());
    }
  }
  hasOwnRecipes_ = true;
  // Recipes refer to originals: take copies first, that no use is replaced in.
  for (Carried &c : carried_) {
    llvm::DenseMap<Value *, Value *> copies;
    for (llvm::Instruction *&i : c.recipe) {
      llvm::Instruction *copy = i->clone();
      for (llvm::Use &u : copy->operands())
        if (Value *other = copies.lookup(u.get()))
          u.set(other);
      copies[i] = copy;
      i = copy;
    }
  }
  for (Carried &c : carried_) {
    llvm::SmallVector<llvm::Use *> uses;
    for (llvm::Use &u : c.value->uses())
      if (llvm::cast<llvm::Instruction>(u.getUser())->getParent()) // not in a recipe
        uses.push_back(&u);
    for (llvm::Use *u : uses) {
      auto *user = llvm::cast<llvm::Instruction>(u->getUser());
      auto *phi = llvm::dyn_cast<llvm::PHINode>(user);
      llvm::Instruction *at = phi ? phi->getIncomingBlock(*u)->getTerminator() : user;
      auto *load = new llvm::LoadInst(c.value->getType(), c.slot, "", at->getIterator());
      load->setDebugLoc(at->getDebugLoc());
      if (phi) // all entries of one predecessor must agree
        for (unsigned n = 0; n < phi->getNumIncomingValues(); ++n)
          if (phi->getIncomingValue(n) == c.value && phi->getIncomingBlock(n) == at->getParent())
            phi->setIncomingValue(n, load);
      if (!phi)
        u->set(load);
      c.readIn.insert(at->getParent());
    }
    auto at = llvm::isa<llvm::PHINode>(c.value) ? c.value->getParent()->getFirstInsertionPt()
                                                : std::next(c.value->getIterator());
    new llvm::StoreInst(c.value, c.slot, at);
    c.writtenIn.insert(c.value->getParent());
  }
}

unsigned RegionState::indexOf(const llvm::BasicBlock *resumed) const {
  return unsigned(llvm::find(resumed_, resumed) - resumed_.begin());
}

/// Vectors of bits are kept as the CPU holds masks: packed where it has mask registers.
llvm::Type *RegionState::keptType(llvm::Type *t) const {
  auto *v = llvm::dyn_cast<llvm::FixedVectorType>(t);
  return v && v->getElementType()->isIntegerTy(1) && !target_.hasMaskRegisters()
             ? llvm::FixedVectorType::get(llvm::Type::getInt8Ty(t->getContext()),
                                          v->getNumElements())
             : t;
}

Value *RegionState::place(llvm::IRBuilder<> &b, Value *context, uint64_t offset) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), context, offset);
}

void RegionState::placeArrays(llvm::IRBuilder<> &b, Value *context,
                              llvm::ValueToValueMapTy &map) const {
  for (auto &[array, offset] : arrays_)
    map[array] = place(b, context, offset);
}

void RegionState::restore(llvm::IRBuilder<> &b, const llvm::BasicBlock *resumed,
                          llvm::ArrayRef<llvm::BasicBlock *> region, Value *context,
                          llvm::ValueToValueMapTy &map) {
  const unsigned barrier = indexOf(resumed);
  for (const Carried &c : carried_) {
    if (!c.across[barrier] || !(touches(c.readIn, region) || touches(c.writtenIn, region)))
      continue;
    llvm::Type *t = c.value->getType();
    Value *v = nullptr;
    if (c.kind == Kind::cta) {
      v = b.CreateLoad(t, c.current);
    } else if (c.kind == Kind::gang) {
      v = b.CreateLoad(keptType(t), place(b, context, c.offset));
      restored_.push_back({llvm::cast<llvm::Instruction>(v), context, c.offset});
      if (v->getType() != t)
        v = b.CreateTrunc(v, t);
    } else {
      llvm::ValueToValueMapTy local;
      for (const llvm::Instruction *step : c.recipe) {
        llvm::Instruction *copy = step->clone();
        for (llvm::Use &u : copy->operands())
          if (Value *own = local.lookup(u.get()))
            u.set(own);
          else if (Value *mapped = map.lookup(u.get()))
            u.set(mapped);
        copy->setDebugLoc(b.getCurrentDebugLocation());
        b.Insert(copy);
        local[step] = copy;
        v = copy;
      }
    }
    b.CreateStore(v, c.slot);
  }
}

void RegionState::save(llvm::IRBuilder<> &b, const llvm::BasicBlock *resumed,
                       llvm::ArrayRef<llvm::BasicBlock *> region, Value *context) {
  const unsigned barrier = indexOf(resumed);
  for (const Carried &c : carried_) {
    if (c.kind == Kind::computed || !c.across[barrier] || !touches(c.writtenIn, region))
      continue;
    Value *v = b.CreateLoad(c.value->getType(), c.slot);
    if (c.kind == Kind::cta) {
      b.CreateStore(v, c.next);
    } else {
      llvm::Type *t = keptType(v->getType());
      auto *store =
          b.CreateStore(v->getType() == t ? v : b.CreateSExt(v, t), place(b, context, c.offset));
      saved_.push_back({store, context, c.offset});
    }
  }
}

void RegionState::publish(llvm::IRBuilder<> &b, const llvm::BasicBlock *resumed,
                          llvm::ArrayRef<llvm::BasicBlock *> region) const {
  const unsigned barrier = indexOf(resumed);
  for (const Carried &c : carried_)
    if (c.kind == Kind::cta && c.across[barrier] && touches(c.writtenIn, region))
      b.CreateStore(b.CreateLoad(c.value->getType(), c.next), c.current);
}

void RegionState::finish() {
  llvm::SmallVector<llvm::AllocaInst *> slots;
  for (const Carried &c : carried_)
    for (llvm::AllocaInst *slot : {c.slot, c.current, c.next})
      if (slot)
        slots.push_back(slot);
  promoteSlots(f_, slots);
  // The old and the new value of an accumulator share a place: handing one on to the other is
  // nothing then.
  for (const Access &save : saved_) {
    const Value *v = save.instruction->getOperand(0);
    for (const Value *from = nullptr; from != v;) {
      from = v;
      if (auto *phi = llvm::dyn_cast<llvm::PHINode>(v))
        if (const Value *only = phi->hasConstantValue())
          v = only;
      const Value *inner = nullptr;
      if (llvm::PatternMatch::match(v, llvm::PatternMatch::m_SExt(llvm::PatternMatch::m_Trunc(
                                           llvm::PatternMatch::m_Value(inner)))))
        v = inner;
    }
    if (llvm::any_of(restored_, [&](const Access &r) {
          return r.instruction == v && r.context == save.context && r.offset == save.offset;
        }))
      save.instruction->eraseFromParent();
    else
      saveEarly(save);
  }
}

/// Lets a value leave its registers as soon as it is there, where the region goes straight on from
/// it; what was kept in its place before is read where the region begins.
void RegionState::saveEarly(const Access &save) const {
  auto *v = llvm::dyn_cast<llvm::Instruction>(save.instruction->getOperand(0));
  if (!v || llvm::isa<llvm::PHINode>(v))
    return;
  const llvm::BasicBlock *made = v->getParent(), *b = save.instruction->getParent();
  while (b != made && b->getSinglePredecessor() && b->getSinglePredecessor()->getSingleSuccessor())
    b = b->getSinglePredecessor();
  const bool isReadBehind = llvm::any_of(restored_, [&](const Access &r) {
    return r.offset == save.offset && r.instruction->getParent() == made &&
           v->comesBefore(r.instruction);
  });
  if (b != made || isReadBehind)
    return;
  llvm::cast<llvm::Instruction>(save.instruction->getOperand(1))->moveBefore(v);
  save.instruction->moveAfter(v);
}

RegionState::~RegionState() {
  if (hasOwnRecipes_)
    for (Carried &c : carried_)
      for (llvm::Instruction *step : llvm::reverse(c.recipe))
        step->deleteValue();
}

} // namespace ptxrun::simt
