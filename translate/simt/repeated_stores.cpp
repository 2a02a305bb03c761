// A loop that stores to one place in each round:
//
//   before: ...; br header                  before: apart = what the loop loads lies elsewhere
//   header: loads; store v, p        =>             br ptx.all(apart), header.all, header
//           br c, header, exit              header.all: loads; br c, header.all, stored
//                                           stored: store v, p; br exit
//                                           header: as it was
//
// A place that the loop also loads is loaded once, before it.
//
// What a thread stores more than once before anything orders it (8.9: weak writes, no morally
// strong one in between) other threads may see once or not at all. Addresses and the number of
// rounds are SCEV's.
#include "translate/simt/repeated_stores.h"

#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "translate/lower/analyses.h"
#include "translate/simt/cost.h"
#include "translate/simt/prepare.h"
#include "translate/simt/versions.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::SCEV;

/// The bytes [low, high) that an access touches in the course of the loop, where low and high are
/// the first bytes of accesses (without their size).
struct Range {
  const SCEV *low, *high;
  uint64_t bytes; ///< behind `high`
};

class RepeatedStores {
 public:
  RepeatedStores(llvm::Loop &loop, llvm::ScalarEvolution &scev) : loop_(loop), scev_(scev) {}

  /// Whether the loop is of this kind; finds its stores and what it loads.
  bool find() {
    llvm::BasicBlock *body = loop_.getLoopLatch();
    rounds_ = scev_.getBackedgeTakenCount(&loop_);
    if (!body || loop_.getNumBlocks() != 1 || !loop_.getLoopPreheader() || !loop_.getExitBlock() ||
        llvm::isa<llvm::SCEVCouldNotCompute>(rounds_) ||
        body->sizeWithoutDebug() > kLimits.repeatedStores.instructions)
      return false;
    for (llvm::Instruction &i : *body)
      if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i); store && !addStore(*store))
        return false;
    for (llvm::Instruction &i : *body) {
      if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
        places_[addressOf(store->getPointerOperand())].accesses.push_back(store);
      } else if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i)) {
        if (!load->isSimple() || !addLoad(*load))
          return false;
      } else if (i.mayReadOrWriteMemory() || i.mayHaveSideEffects() ||
                 (llvm::isa<llvm::CallBase>(i) && !llvm::isa<llvm::IntrinsicInst>(i))) {
        return false;
      }
    }
    return !places_.empty();
  }

  /// Adds the version.
  void emit() {
    llvm::BasicBlock *header = loop_.getHeader(), *before = loop_.getLoopPreheader(),
                     *exit = loop_.getExitBlock();
    llvm::Function &f = *header->getParent();
    llvm::Value *apart = emitTest(before->getTerminator());
    llvm::ValueToValueMapTy map;
    copyBlocks({header}, map);
    auto *fast = llvm::cast<llvm::BasicBlock>(map[header]);
    auto *stored = llvm::BasicBlock::Create(f.getContext(), header->getName() + ".stored", &f);
    fast->getTerminator()->replaceSuccessorWith(exit, stored);
    exit->replacePhiUsesWith(fast, stored);
    llvm::BasicBlock *loaded = nullptr;
    for (auto &[address, place] : places_)
      promote(place, map, *fast, *stored, loaded);
    llvm::BranchInst::Create(exit, stored)->setDebugLoc(header->getTerminator()->getDebugLoc());
    llvm::DebugLoc line = before->getTerminator()->getDebugLoc();
    before->getTerminator()->eraseFromParent();
    if (loaded) {
      fast->replacePhiUsesWith(before, loaded);
      llvm::BranchInst::Create(fast, loaded)->setDebugLoc(line);
    }
    expectFirst(llvm::BranchInst::Create(loaded ? loaded : fast, header, apart, before), line);
  }

 private:
  /// A place that the loop stores to.
  struct Place {
    llvm::StoreInst *last = nullptr;                 ///< in a round
    llvm::SmallVector<llvm::Instruction *> accesses; ///< of a round, in order
  };

  /// In the copy: the place is loaded before the loop, if the loop loads it before it stores, and
  /// stored behind the loop.
  static void promote(const Place &place, llvm::ValueToValueMapTy &map, llvm::BasicBlock &fast,
                      llvm::BasicBlock &stored, llvm::BasicBlock *&loaded) {
    llvm::Value *value = nullptr;
    llvm::PHINode *carried = nullptr;
    for (const llvm::Instruction *access : place.accesses) {
      auto *i = llvm::cast<llvm::Instruction>(map[access]);
      if (auto *store = llvm::dyn_cast<llvm::StoreInst>(i)) {
        value = store->getValueOperand();
        if (access == place.last) {
          store->removeFromParent();
          store->insertInto(&stored, stored.end());
        } else {
          store->eraseFromParent();
        }
        continue;
      }
      if (!value) {
        if (!loaded)
          loaded = llvm::BasicBlock::Create(fast.getContext(), fast.getName() + ".loaded",
                                            fast.getParent(), &fast);
        llvm::Instruction *first = i->clone();
        first->insertInto(loaded, loaded->end());
        value = carried = llvm::PHINode::Create(i->getType(), 2, "carried", fast.begin());
        carried->addIncoming(first, loaded);
      }
      i->replaceAllUsesWith(value);
      i->eraseFromParent();
    }
    if (carried)
      carried->addIncoming(value, &fast);
  }

  /// The address in 64 bits; null for memory that is addressed otherwise.
  const SCEV *addressOf(const llvm::Value *pointer) {
    auto *cast = llvm::dyn_cast<llvm::IntToPtrInst>(pointer);
    if (!cast || !cast->getSrcTy()->isIntegerTy(64) || pointer->getType()->getPointerAddressSpace())
      return nullptr;
    return scev_.getSCEV(cast->getOperand(0));
  }

  bool addStore(llvm::StoreInst &store) {
    const SCEV *address = addressOf(store.getPointerOperand());
    if (!store.isSimple() || !address || !scev_.isLoopInvariant(address, &loop_) ||
        !loop_.isLoopInvariant(store.getPointerOperand()))
      return false;
    Place &place = places_[address];
    if (place.last &&
        place.last->getValueOperand()->getType() != store.getValueOperand()->getType())
      return false;
    place.last = &store;
    return places_.size() <= kLimits.repeatedStores.places;
  }

  bool addLoad(llvm::LoadInst &load) {
    const SCEV *address = addressOf(load.getPointerOperand());
    if (!address)
      return false;
    if (auto it = places_.find(address); it != places_.end()) {
      it->second.accesses.push_back(&load);
      return loop_.isLoopInvariant(load.getPointerOperand()) &&
             load.getType() == it->second.last->getValueOperand()->getType();
    }
    Range range{address, address, load.getDataLayout().getTypeStoreSize(load.getType())};
    if (!scev_.isLoopInvariant(address, &loop_)) {
      auto *recurrence = llvm::dyn_cast<llvm::SCEVAddRecExpr>(address);
      if (!recurrence || recurrence->getLoop() != &loop_ || !recurrence->isAffine())
        return false;
      const SCEV *first = recurrence->getStart();
      const SCEV *last = recurrence->evaluateAtIteration(
          scev_.getTruncateOrZeroExtend(rounds_, address->getType()), scev_);
      // Accesses that do not fault lie within 2^63 bytes: the addresses rise or fall all the way.
      range.low = scev_.getUMinExpr(first, last);
      range.high = scev_.getUMaxExpr(first, last);
      if (auto *step = llvm::dyn_cast<llvm::SCEVConstant>(recurrence->getStepRecurrence(scev_))) {
        const bool rises = step->getAPInt().isNonNegative();
        range.low = rises ? first : last;
        range.high = rises ? last : first;
      }
    }
    return merge(range);
  }

  /// Accesses at constant distances are one range.
  bool merge(const Range &added) {
    for (Range &r : loaded_) {
      auto *low = llvm::dyn_cast<llvm::SCEVConstant>(scev_.getMinusSCEV(added.low, r.low));
      auto *high = llvm::dyn_cast<llvm::SCEVConstant>(scev_.getMinusSCEV(added.high, r.high));
      if (!low || !high)
        continue;
      if (low->getAPInt().isNegative())
        r.low = added.low;
      const int64_t further = high->getAPInt().getSExtValue() + int64_t(added.bytes);
      if (further > int64_t(r.bytes))
        r.bytes = uint64_t(further);
      return true;
    }
    loaded_.push_back(added);
    return loaded_.size() * places_.size() <= kLimits.repeatedStores.ranges;
  }

  /// ptx.all(each place lies outside of each range, and apart from the other places)
  llvm::Value *emitTest(llvm::Instruction *at) {
    llvm::SCEVExpander expander(scev_, at->getDataLayout(), "apart");
    llvm::Type *i64 = llvm::Type::getInt64Ty(at->getContext());
    auto expand = [&](const SCEV *s) { return expander.expandCodeFor(s, i64, at); };
    llvm::IRBuilder<> b(at);
    auto isBelow = [&](llvm::Value *end, uint64_t bytes, llvm::Value *start) {
      return b.CreateICmpULE(b.CreateAdd(end, b.getInt64(bytes)), start);
    };
    struct Bytes {
      llvm::Value *start;
      uint64_t bytes;
    };
    llvm::SmallVector<Bytes> places;
    for (auto &[address, place] : places_)
      places.push_back({expand(address), place.last->getDataLayout().getTypeStoreSize(
                                             place.last->getValueOperand()->getType())});
    llvm::Value *apart = b.getTrue();
    for (const Range &r : loaded_) {
      llvm::Value *low = expand(r.low), *high = expand(r.high);
      for (const Bytes &p : places)
        apart = b.CreateAnd(
            apart, b.CreateOr(isBelow(p.start, p.bytes, low), isBelow(high, r.bytes, p.start)));
    }
    for (size_t k = 0; k < places.size(); ++k)
      for (size_t other = 0; other < k; ++other)
        apart = b.CreateAnd(
            apart, b.CreateOr(isBelow(places[k].start, places[k].bytes, places[other].start),
                              isBelow(places[other].start, places[other].bytes, places[k].start)));
    return callWord(b, Op::all, b.getInt1Ty(), apart);
  }

  llvm::Loop &loop_;
  llvm::ScalarEvolution &scev_;
  const SCEV *rounds_ = nullptr;
  llvm::MapVector<const SCEV *, Place> places_; ///< by address
  llvm::SmallVector<Range> loaded_;
};

/// Worth a closer look: a loop of one block that stores where it stored before.
bool repeatsStores(const llvm::Loop &loop) {
  return loop.getNumBlocks() == 1 && llvm::any_of(*loop.getHeader(), [&](llvm::Instruction &i) {
           auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
           return store && store->isSimple() && loop.isLoopInvariant(store->getPointerOperand());
         });
}

} // namespace

bool sinkRepeatedStores(llvm::Function &f, const GangShape &gang) {
  llvm::DominatorTree dominators(f);
  llvm::LoopInfo found(dominators);
  llvm::SmallVector<const llvm::BasicBlock *> chosen;
  for (const llvm::Loop *l : found.getLoopsInPreorder())
    if (l->isInnermost() && l->getLoopPreheader() && repeatsStores(*l))
      chosen.push_back(l->getHeader());
  if (chosen.empty())
    return false;
  const ShapeAnalysis shapes(f, gang, false);
  llvm::erase_if(chosen, [&](const llvm::BasicBlock *header) {
    return shapes.isInDivergentRegion(found.getLoopFor(header)->getLoopPreheader());
  });
  bool isChanged = false;
  for (const llvm::BasicBlock *header : chosen) {
    lower::Analyses analyses;
    auto &loops = analyses.functions.getResult<llvm::LoopAnalysis>(f);
    RepeatedStores stores(*loops.getLoopFor(header),
                          analyses.functions.getResult<llvm::ScalarEvolutionAnalysis>(f));
    if (!stores.find())
      continue;
    stores.emit();
    isChanged = true;
  }
  if (isChanged)
    normaliseLoops(f);
  return isChanged;
}

} // namespace ptxrun::simt
