#include "translate/simt/regions.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include <list>
#include <optional>

#include "translate/simt/cost.h"
#include "translate/simt/cta_uniform.h"
#include "translate/simt/entry_builder.h"
#include "translate/simt/region_state.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::Value;

bool isBarrier(const llvm::CallInst &call, uint64_t threads) {
  const GangEntry::Id entry = entryAt(call).id;
  if (entry != GangEntry::Id::barSync && entry != GangEntry::Id::barRed)
    return false;
  auto *count = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(2));
  return llvm::isa<llvm::ConstantInt>(call.getArgOperand(1)) && count &&
         (count->isZero() || count->getZExtValue() == threads);
}

/// Entry points of rt that need no record of the gang but its place in the CTA, and functions that
/// are none.
bool needsOnlyPlace(const llvm::Function &f) {
  return !f.getName().starts_with("ptxrun_") || entryOf(f).needs != GangEntry::Needs::record;
}

/// Whether all the kernel asks of rt are barriers of the whole CTA, in its own body.
bool hasOnlyBarriers(const llvm::Module &m, const llvm::Function &body, uint64_t threads) {
  for (const llvm::Function &f : m) {
    if (!f.isDeclaration() || f.isIntrinsic() || needsOnlyPlace(f))
      continue;
    for (const llvm::User *u : f.users()) {
      auto *call = llvm::dyn_cast<llvm::CallInst>(u);
      if (!call || !isBarrier(*call, threads))
        return false;
      if (const llvm::Function *in = call->getFunction(); in != &body && !in->use_empty())
        return false; // a device function; other bodies of the kernel are not called
    }
  }
  return true;
}

class Regions {
 public:
  Regions(ModuleContext &context, llvm::Function &body, uint64_t threads, unsigned lanes)
      : context_(context), threads_(threads), lanes_(lanes),
        gangs_(unsigned(llvm::divideCeil(threads, lanes))),
        f_(*makeCtaRange(context, body)), e_{llvm::IRBuilder<>(llvm::BasicBlock::Create(
                                                 f_.getContext(), "entry", &f_)),
                                             context, f_.getArg(0), f_.getArg(1), f_.getArg(2)} {
    setLine(e_.b, f_);
    e_.writeLanes(e_.b.getInt32(lanes_));
    loop_ = openCtaLoop(e_, f_);
    cta_ = e_.b.GetInsertBlock();
    firstThread_ = placeholder(e_.b.getInt32Ty(), "first.thread");
    mask_ = threads % lanes == 0 ? e_.allLanes() : placeholder(e_.allLanes()->getType(), "mask");
    llvm::CallInst *call = e_.call(&body, loop_.ctaid, firstThread_, mask_);
    e_.b.CreateBr(loop_.next);
    origin_ = llvm::SplitBlock(cta_, call);
    origin_->setName("origin");
    llvm::InlineFunctionInfo info;
    isInlined_ = llvm::InlineFunction(*call, info).isSuccess();
  }

  bool build() {
    if (isInlined_ && cut()) {
      emit();
      return true;
    }
    f_.eraseFromParent();
    return false;
  }

 private:
  struct Barrier {
    llvm::BasicBlock *before, *after;
    llvm::Instruction *count = nullptr; // bar.red: stands for the threads whose predicate was set
    llvm::AllocaInst *next = nullptr, *last = nullptr; // ... counted so far, and by the last use
    struct FirstRead {
      llvm::Instruction *standIn;
      llvm::AllocaInst *kept;
    };
    llvm::SmallVector<FirstRead> firstReads; // what all gangs take from the first one
  };
  struct Exit {
    const Barrier *barrier; // null: the end of the kernel
    llvm::BasicBlock *block;
  };
  struct Region {
    llvm::BasicBlock *start = nullptr; // in the uncut body
    const Barrier *after = nullptr;    // null: the kernel's start
    llvm::SmallVector<llvm::BasicBlock *> blocks;
    llvm::BasicBlock *enter = nullptr; // of the emitted region
  };

  /// A value that each region replaces by its own.
  llvm::Instruction *placeholder(llvm::Type *t, const llvm::Twine &name) {
    return llvm::cast<llvm::Instruction>(
        e_.b.Insert(new llvm::FreezeInst(llvm::PoisonValue::get(t)), name));
  }
  llvm::AllocaInst *slot(llvm::Type *t, const llvm::Twine &name) {
    return new llvm::AllocaInst(t, 0, name, f_.getEntryBlock().begin());
  }

  bool cut();
  void splitAtBarriers();
  void findRegions();
  llvm::DenseSet<const llvm::Use *> takeFirstReads(const CtaUniformity &);
  void emit();
  /// Gangs of a region that run one after the other.
  struct Gangs {
    unsigned first, end;
    Value *mask;
    uint32_t lanes;
    llvm::BasicBlock *enter, *leave;
  };
  void emitRegion(const Region &);
  void emitGangs(const Region &, const Gangs &);
  void copyRegion(const Region &, llvm::ValueToValueMapTy &,
                  llvm::function_ref<llvm::BasicBlock *(const Barrier *)> exitTo);
  void emitFirstReads(const Region &, Value *number, llvm::ValueToValueMapTy &);
  void emitExits(const Region &, llvm::ArrayRef<Exit>, Value *context, llvm::PHINode &which);
  void emitWaysOn(const Region &, llvm::ArrayRef<Exit>, llvm::PHINode &which);
  Region &regionAfter(const Barrier *b) {
    return *llvm::find_if(regions_, [&](const Region &r) { return r.after == b; });
  }

  ModuleContext &context_;
  const uint64_t threads_; // of a CTA
  const unsigned lanes_;   // of as many gangs as the body runs
  const unsigned gangs_;   // the last one may lack lanes
  llvm::Function &f_;
  Entry e_;
  CtaLoop loop_;
  llvm::BasicBlock *cta_, *origin_;
  llvm::Instruction *firstThread_;
  Value *mask_;
  bool isInlined_;
  std::list<Barrier> barriers_;
  std::vector<Region> regions_;
  std::optional<RegionState> state_;
  llvm::AllocaInst *contexts_ = nullptr;
};

void Regions::splitAtBarriers() {
  llvm::SmallVector<llvm::CallInst *> calls;
  for (llvm::BasicBlock &b : f_)
    for (llvm::Instruction &i : b)
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&i); call && isBarrier(*call, threads_))
        calls.push_back(call);
  for (llvm::CallInst *call : calls) {
    Barrier barrier;
    barrier.before = call->getParent();
    barrier.after = llvm::SplitBlock(barrier.before, call->getNextNode());
    if (call->arg_size() == 6) {
      e_.b.SetInsertPoint(cta_->getTerminator());
      barrier.count = placeholder(e_.b.getInt32Ty(), "count");
      e_.b.SetInsertPoint(call);
      barrier.next = slot(e_.b.getInt32Ty(), "count.next");
      barrier.last = slot(e_.b.getInt32Ty(), "count.last");
      Value *set = e_.b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, call->getArgOperand(4));
      e_.b.CreateStore(e_.b.CreateAdd(e_.b.CreateLoad(e_.b.getInt32Ty(), barrier.next), set),
                       barrier.next);
      e_.b.SetInsertPoint(barrier.after, barrier.after->begin());
      e_.b.CreateStore(e_.b.getInt32(uint32_t(threads_)), call->getArgOperand(5));
      Value *zero =
          e_.b.getInt32(0); // an instruction of the region: it may be needed in later ones
      call->replaceAllUsesWith(e_.b.Insert(llvm::BinaryOperator::CreateOr(barrier.count, zero)));
    }
    call->eraseFromParent();
    barriers_.push_back(barrier);
  }
}

void Regions::findRegions() {
  auto add = [&](llvm::BasicBlock *start, const Barrier *after) {
    Region region{start, after, {}, nullptr};
    llvm::DenseSet<llvm::BasicBlock *> seen{start};
    region.blocks.push_back(start);
    for (size_t i = 0; i < region.blocks.size(); ++i) {
      llvm::BasicBlock *b = region.blocks[i];
      if (llvm::any_of(barriers_, [&](const Barrier &x) { return x.before == b; }))
        continue;
      for (llvm::BasicBlock *s : llvm::successors(b))
        if (s != loop_.next && seen.insert(s).second)
          region.blocks.push_back(s);
    }
    regions_.push_back(std::move(region));
  };
  add(origin_, nullptr);
  for (const Barrier &b : barriers_)
    add(b.after, &b);
}

/// What gangs read in one place right behind a barrier, before any of them writes, is what the
/// first one has read: all might have read it before the first went on (but not what an atomic
/// operation reads). Uses of such a load are replaced by those of a stand-in, whose own use of the
/// load is returned.
llvm::DenseSet<const llvm::Use *> Regions::takeFirstReads(const CtaUniformity &uniformity) {
  llvm::DenseSet<const llvm::Use *> same;
  for (Barrier &barrier : barriers_)
    for (llvm::Instruction &i : llvm::make_early_inc_range(*barrier.after)) {
      auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
      if (load ? load->isAtomic() || load->hasMetadata(kUpdate) : i.mayWriteToMemory())
        break;
      if (!load || uniformity.isUniform(load) || !uniformity.isUniform(load->getPointerOperand()))
        continue;
      auto *standIn = new llvm::FreezeInst(load, "first.read", std::next(load->getIterator()));
      standIn->setDebugLoc(load->getDebugLoc());
      load->replaceUsesWithIf(standIn, [&](llvm::Use &u) { return u.getUser() != standIn; });
      same.insert(&standIn->getOperandUse(0));
      barrier.firstReads.push_back({standIn, slot(load->getType(), "first.read")});
    }
  return same;
}

/// Finds out whether the body can be cut, and what has to be carried from region to region.
bool Regions::cut() {
  const size_t before = f_.getInstructionCount();
  splitAtBarriers();
  findRegions();
  size_t after = 0;
  for (const Region &r : regions_)
    for (const llvm::BasicBlock *b : r.blocks)
      after += b->size();
  if (after > kLimits.regions.growth * before)
    return false;
  std::optional<CtaUniformity> uniformity;
  uniformity.emplace(f_, llvm::ArrayRef<const Value *>{firstThread_, mask_});
  llvm::SmallVector<llvm::BasicBlock *> stops, resumed;
  llvm::SmallVector<const llvm::Instruction *> helpers;
  for (const Barrier &b : barriers_) {
    stops.push_back(b.before);
    resumed.push_back(b.after);
    if (b.count)
      helpers.append({b.count, b.next, b.last});
  }
  if (!uniformity->agreeOn(stops)) {
    const llvm::DenseSet<const llvm::Use *> same = takeFirstReads(*uniformity);
    if (same.empty())
      return false;
    uniformity.emplace(f_, llvm::ArrayRef<const Value *>{firstThread_, mask_}, false,
                       llvm::DenseSet<const llvm::BasicBlock *>{}, same);
    if (!uniformity->agreeOn(stops))
      return false;
    for (const Barrier &b : barriers_)
      for (const auto &[standIn, kept] : b.firstReads)
        helpers.push_back(kept);
  }
  state_.emplace(f_, origin_, resumed, helpers, *uniformity, context_.target);
  return state_->contextBytes() * gangs_ <= kLimits.regions.contextBytes;
}

void Regions::emit() {
  state_->demote();
  const uint64_t bytes = state_->contextBytes();
  if (bytes) {
    contexts_ = slot(llvm::ArrayType::get(e_.b.getInt8Ty(), bytes * gangs_), "contexts");
    contexts_->setAlignment(llvm::Align(64));
  }
  for (Region &r : regions_)
    r.enter = llvm::BasicBlock::Create(f_.getContext(), "region", &f_);
  for (const Region &r : regions_)
    emitRegion(r);
  cta_->getTerminator()->eraseFromParent();
  llvm::BranchInst::Create(regions_.front().enter, cta_);
  llvm::removeUnreachableBlocks(f_);
  state_->finish();
}

/// region:   for g in [0, gangs): { gang: a copy of the region's blocks }   then on to where all
/// gangs went. A last gang that lacks lanes has a copy of its own.
void Regions::emitRegion(const Region &region) {
  e_.b.SetInsertPoint(region.enter);
  setLine(e_.b, f_);
  for (Barrier &b : barriers_)
    if (b.next && llvm::is_contained(region.blocks, b.before))
      e_.b.CreateStore(e_.b.getInt32(0), b.next);
  auto block = [&](const char *name) {
    return llvm::BasicBlock::Create(f_.getContext(), name, &f_);
  };
  const unsigned full = unsigned(threads_ / lanes_);
  llvm::BasicBlock *last = full < gangs_ && full > 0 ? block("last") : region.enter,
                   *leave = block("region.end");
  if (full > 0)
    emitGangs(region, {0, full, e_.allLanes(), lanes_, region.enter, full < gangs_ ? last : leave});
  if (full < gangs_) {
    e_.b.SetInsertPoint(last);
    const auto rest = uint32_t(threads_ % lanes_);
    emitGangs(region, {full, gangs_, e_.lanesBelow(e_.b.getInt32(rest)), rest, last, leave});
  }
}

void Regions::emitGangs(const Region &region, const Gangs &gangs) {
  llvm::LLVMContext &c = f_.getContext();
  auto block = [&](const llvm::Twine &name) { return llvm::BasicBlock::Create(c, name, &f_); };
  llvm::BasicBlock *gang = block("gang"), *done = block("gang.next");

  // Where the region's blocks lead.
  llvm::ValueToValueMapTy map;
  llvm::SmallVector<Exit> exits;
  auto exitTo = [&](const Barrier *b) -> llvm::BasicBlock * {
    for (const Exit &x : exits)
      if (x.barrier == b)
        return x.block;
    exits.push_back({b, block("exit")});
    return exits.back().block;
  };

  e_.b.SetInsertPoint(gangs.enter);
  setLine(e_.b, f_);
  if (threads_ % lanes_ != 0)
    e_.writeLanes(e_.b.getInt32(gangs.lanes));
  e_.b.CreateBr(gang);

  e_.b.SetInsertPoint(gang);
  llvm::PHINode *number = e_.b.CreatePHI(e_.b.getInt32Ty(), 2, "g");
  Value *w = e_.b.getInt32(lanes_);
  Value *first = e_.b.CreateMul(number, w, "first.thread", true, true);
  e_.writeFirstThread(first);
  Value *context = nullptr;
  if (contexts_)
    context = e_.b.CreateInBoundsGEP(e_.b.getInt8Ty(), contexts_,
                                     e_.b.CreateMul(e_.b.CreateZExt(number, e_.b.getInt64Ty()),
                                                    e_.b.getInt64(state_->contextBytes())));
  map[firstThread_] = first;
  map[mask_] = gangs.mask;
  state_->placeArrays(e_.b, context, map);
  if (region.after) {
    if (region.after->count)
      map[region.after->count] = e_.b.CreateLoad(e_.b.getInt32Ty(), region.after->last);
    state_->restore(e_.b, region.start, region.blocks, context, map);
  }
  llvm::BranchInst *intoRegion = e_.b.CreateBr(region.start);

  copyRegion(region, map, exitTo);
  emitFirstReads(region, number, map);
  intoRegion->setSuccessor(0, llvm::cast<llvm::BasicBlock>(map[region.start]));

  e_.b.SetInsertPoint(done);
  setLine(e_.b, f_);
  llvm::PHINode *which = e_.b.CreatePHI(e_.b.getInt32Ty(), unsigned(exits.size()), "way");
  Value *nextNumber = e_.b.CreateAdd(number, e_.b.getInt32(1), "", true, true);
  e_.b.CreateCondBr(e_.b.CreateICmpULT(nextNumber, e_.b.getInt32(gangs.end)), gang, gangs.leave);
  number->addIncoming(e_.b.getInt32(gangs.first), gangs.enter);
  number->addIncoming(nextNumber, done);
  emitExits(region, exits, context, *which);
  if (gangs.end == gangs_) {
    e_.b.SetInsertPoint(gangs.leave);
    emitWaysOn(region, exits, *which);
  }
}

/// read = load;  first = g == 0 ? read : kept;  kept = first
void Regions::emitFirstReads(const Region &region, Value *number, llvm::ValueToValueMapTy &map) {
  if (!region.after)
    return;
  for (const auto &[original, kept] : region.after->firstReads) {
    auto *standIn = llvm::cast<llvm::Instruction>(map[original]);
    llvm::IRBuilder<> b(standIn);
    Value *isFirst = b.CreateICmpEQ(number, b.getInt32(0));
    Value *first = b.CreateSelect(isFirst, standIn->getOperand(0),
                                  b.CreateLoad(kept->getAllocatedType(), kept));
    b.CreateStore(first, kept);
    standIn->replaceAllUsesWith(first);
    standIn->eraseFromParent();
  }
}

/// At the end of a region each gang keeps what is needed behind the barrier it came to.
void Regions::emitExits(const Region &region, llvm::ArrayRef<Exit> exits, Value *context,
                        llvm::PHINode &which) {
  for (size_t n = 0; n < exits.size(); ++n) {
    e_.b.SetInsertPoint(exits[n].block);
    setLine(e_.b, f_);
    if (const Barrier *b = exits[n].barrier)
      state_->save(e_.b, b->after, region.blocks, context);
    e_.b.CreateBr(which.getParent());
    which.addIncoming(e_.b.getInt32(uint32_t(n)), exits[n].block);
  }
}

/// Where the last gang went, all did.
void Regions::emitWaysOn(const Region &region, llvm::ArrayRef<Exit> exits, llvm::PHINode &which) {
  llvm::LLVMContext &c = f_.getContext();
  auto block = [&](const llvm::Twine &name) { return llvm::BasicBlock::Create(c, name, &f_); };
  llvm::BasicBlock *nowhere = block("");
  new llvm::UnreachableInst(c, nowhere);
  llvm::SwitchInst *choice = e_.b.CreateSwitch(&which, nowhere, unsigned(exits.size()));
  for (size_t n = 0; n < exits.size(); ++n) {
    const Barrier *b = exits[n].barrier;
    llvm::BasicBlock *on = block("on");
    choice->addCase(e_.b.getInt32(uint32_t(n)), on);
    e_.b.SetInsertPoint(on);
    setLine(e_.b, f_);
    if (b && b->next)
      e_.b.CreateStore(e_.b.CreateLoad(e_.b.getInt32Ty(), b->next), b->last);
    if (b)
      state_->publish(e_.b, b->after, region.blocks);
    e_.b.CreateBr(b ? regionAfter(b).enter : loop_.next);
  }
}

/// A copy of the region's blocks; where they lead to barriers or the end, `exitTo`.
void Regions::copyRegion(const Region &region, llvm::ValueToValueMapTy &map,
                         llvm::function_ref<llvm::BasicBlock *(const Barrier *)> exitTo) {
  llvm::SmallVector<llvm::BasicBlock *> copies;
  for (llvm::BasicBlock *b : region.blocks) {
    llvm::BasicBlock *copy = llvm::CloneBasicBlock(b, map, "", &f_);
    map[b] = copy;
    copies.push_back(copy);
    for (const Barrier &x : barriers_)
      if (x.before == b)
        copy->getTerminator()->setSuccessor(0, exitTo(&x));
  }
  for (llvm::BasicBlock *copy : copies)
    if (llvm::is_contained(llvm::successors(copy), loop_.next))
      copy->getTerminator()->replaceSuccessorWith(loop_.next, exitTo(nullptr));
  const llvm::DenseSet<llvm::BasicBlock *> inside(region.blocks.begin(), region.blocks.end());
  for (llvm::BasicBlock *copy : copies)
    for (llvm::Instruction &i : *copy) {
      if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&i))
        for (unsigned n = phi->getNumIncomingValues(); n-- > 0;)
          if (!inside.contains(phi->getIncomingBlock(n)))
            phi->removeIncomingValue(n, false);
      llvm::RemapInstruction(&i, map, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
    }
}

} // namespace

bool buildRegions(ModuleContext &context, llvm::Function &body, unsigned gangsPerBody) {
  const auto &block = context.options.block;
  const uint64_t threads = uint64_t(block[0]) * block[1] * block[2];
  const unsigned lanes = context.gangThreads * gangsPerBody;
  if (context.lanes == 1 || threads == 0 || (gangsPerBody > 1 && threads % lanes != 0) ||
      !hasOnlyBarriers(context.module, body, threads))
    return false;
  cleanUp(body, context.options.tier);
  return Regions(context, body, threads, lanes).build();
}

} // namespace ptxrun::simt
