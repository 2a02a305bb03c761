// The stage: choose W, prepare the functions, widen each, build the entry points.
#include <llvm/ADT/BitVector.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <optional>

#include "translate/lower/internal_error.h"
#include "translate/simt/butterflies.h"
#include "translate/simt/cost.h"
#include "translate/simt/cta_versions.h"
#include "translate/simt/early_arrivals.h"
#include "translate/simt/entry.h"
#include "translate/simt/jam.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/local_rows.h"
#include "translate/simt/lockstep.h"
#include "translate/simt/matrix_groups.h"
#include "translate/simt/memory_order.h"
#include "translate/simt/narrow_integers.h"
#include "translate/simt/one_lane.h"
#include "translate/simt/passes.h"
#include "translate/simt/prepare.h"
#include "translate/simt/regions.h"
#include "translate/simt/repeated_stores.h"
#include "translate/simt/rounds.h"
#include "translate/simt/row_walks.h"
#include "translate/simt/rows.h"
#include "translate/simt/serial_accesses.h"
#include "translate/simt/staging.h"
#include "translate/simt/stragglers.h"
#include "translate/simt/unify.h"
#include "translate/simt/verify.h"
#include "translate/simt/versions.h"
#include "translate/simt/waits.h"
#include "translate/simt/widener.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

struct Width {
  unsigned lanes;
  std::string reason;
};

uint64_t threadsOf(const CodeOptions &o) { return uint64_t(o.block[0]) * o.block[1] * o.block[2]; }

/// Functions with a body: the kernel and device functions that were not inlined.
std::vector<llvm::Function *> bodies(llvm::Module &m) {
  std::vector<llvm::Function *> list;
  for (llvm::Function &f : m)
    if (!f.isDeclaration())
      list.push_back(&f);
  return list;
}

/// Looks at the functions as a gang of `lanes` would run them.
Findings examineAll(llvm::Module &m, const llvm::Function *kernel, const GangShape &gang) {
  Findings all;
  const Waits waits(m);
  for (llvm::Function *f : bodies(m)) {
    ShapeAnalysis shapes(*f, gang, f != kernel);
    Findings one = examine(*f, shapes, waits, f == kernel);
    all.hasCollectives |= one.hasCollectives;
    all.hasVaryingMembers |= one.hasVaryingMembers;
    all.hasBarriers |= one.hasBarriers;
    all.mayExitEarly |= one.mayExitEarly;
    all.spins |= one.spins;
    if (f != kernel && (one.hasCollectives || one.hasBarriers) && one.needsThreads.empty())
      one.needsThreads = "a function that is not inlined synchronises";
    if (all.needsThreads.empty())
      all.needsThreads = one.needsThreads;
  }
  return all;
}

using Loops = llvm::SmallPtrSet<const llvm::Loop *, 8>;

Loops loopsAroundBarriers(const ShapeAnalysis &shapes) {
  Loops found;
  for (const llvm::BasicBlock *b : shapes.order())
    for (const llvm::Instruction &i : *b)
      if (wordAt(i).kind == Word::Kind::barrier)
        for (auto *l = shapes.loops().getLoopFor(b); l; l = l->getParentLoop())
          found.insert(l);
  return found;
}

/// What differs between lanes and takes registers for it. Of indices and addresses that are rows
/// unless they wrap, which versions.cpp tests for, a scalar is left.
class DifferingValues {
 public:
  explicit DifferingValues(const ShapeAnalysis &shapes) : shapes_(shapes) {
    for (const llvm::Loop *loop : shapes.loops().getLoopsInPreorder())
      for (const llvm::PHINode &phi : loop->getHeader()->phis())
        if (shapes.shape(&phi).isVarying() && isRow(phi, *loop))
          rows_.insert(&phi);
  }
  /// Registers' worth of 32-bit values.
  unsigned registersFor(const llvm::Instruction &i) const {
    const llvm::Type *type = i.getType();
    if (type->isVoidTy() || !shapes_.shape(&i).isVarying() || rows_.contains(&i) ||
        (type->isIntOrPtrTy() && !differs(sumOf(&i, Extensions::through))))
      return 0;
    return type->getPrimitiveSizeInBits() > 32 ? 2 : 1;
  }

 private:
  bool differs(const LinearSum &sum) const {
    return llvm::any_of(sum.terms, [&](const auto &term) {
      return shapes_.shape(term.first).isVarying() && !rows_.contains(term.first);
    });
  }
  /// Begins as one, and the loop moves it on for all lanes alike.
  bool isRow(const llvm::PHINode &phi, const llvm::Loop &loop) const {
    const llvm::BasicBlock *before = loop.getLoopPreheader();
    if (!before || !phi.getType()->isIntOrPtrTy())
      return false;
    LinearSum itself;
    itself.add(&phi, 1);
    const std::optional<LinearSum> move = movePerRound(itself, loop);
    return move && !differs(*move) &&
           !differs(sumOf(phi.getIncomingValueForBlock(before), Extensions::through));
  }

  const ShapeAnalysis &shapes_;
  llvm::DenseSet<const llvm::Value *> rows_;
};

/// Registers' worth of 32-bit values that differ between lanes and live through some loop of the
/// kernel: at barriers, they are kept in memory.
unsigned liveThroughLoops(const ShapeAnalysis &shapes, const DifferingValues &differing,
                          const Loops &aroundBarriers) {
  unsigned most = 0;
  for (const llvm::Loop *l : shapes.loops().getLoopsInPreorder()) {
    if (aroundBarriers.contains(l))
      continue;
    unsigned n = 0;
    for (const llvm::PHINode &phi : l->getHeader()->phis())
      n += differing.registersFor(phi);
    most = std::max(most, n);
  }
  return most;
}

/// The same of all that differs between lanes, where most of it lives at once outside of loops that
/// lanes leave apart (there, more lanes wait for memory together) or that have barriers, beside
/// which what is done once counts for nothing. Lanes also wait together where a thread has arrays
/// of its own: 0.
unsigned mostLive(const ShapeAnalysis &shapes, const DifferingValues &differing,
                  const Loops &aroundBarriers) {
  llvm::DenseMap<const llvm::Value *, unsigned> numbers;
  std::vector<unsigned> sizes;
  for (const llvm::BasicBlock *b : shapes.order())
    for (const llvm::Instruction &i : *b)
      if (llvm::isa<llvm::AllocaInst>(i)) {
        return 0;
      } else if (const unsigned registers = differing.registersFor(i)) {
        numbers[&i] = unsigned(sizes.size());
        sizes.push_back(registers);
      }
  if (sizes.size() > kLimits.code.large)
    return 0; // sets of so many for each block take too long
  llvm::DenseMap<const llvm::BasicBlock *, llvm::BitVector> liveIn;
  auto set = [&](llvm::BitVector &live, const llvm::Value *v, bool isLive) {
    if (auto it = numbers.find(v); it != numbers.end())
      live[it->second] = isLive;
  };
  unsigned most = 0;
  auto scan = [&](const llvm::BasicBlock &b, bool doCount) {
    llvm::BitVector live(unsigned(sizes.size()));
    for (const llvm::BasicBlock *next : llvm::successors(&b)) {
      if (auto it = liveIn.find(next); it != liveIn.end())
        live |= it->second;
      for (const llvm::PHINode &phi : next->phis()) {
        set(live, &phi, false);
        set(live, phi.getIncomingValueForBlock(&b), true);
      }
    }
    unsigned registers = 0;
    for (unsigned n : live.set_bits())
      registers += sizes[n];
    for (const llvm::Instruction &i : llvm::reverse(b)) {
      if (llvm::isa<llvm::PHINode>(i))
        break;
      if (doCount)
        most = std::max(most, registers);
      if (auto it = numbers.find(&i); it != numbers.end() && live[it->second]) {
        live[it->second] = false;
        registers -= sizes[it->second];
      }
      for (const llvm::Value *v : i.operands())
        if (auto it = numbers.find(v); it != numbers.end() && !live[it->second]) {
          live[it->second] = true;
          registers += sizes[it->second];
        }
    }
    if (doCount)
      most = std::max(most, registers);
    llvm::BitVector &known = liveIn[&b];
    const bool changed = known != live;
    known = std::move(live);
    return changed;
  };
  for (bool changed = true; std::exchange(changed, false);)
    for (const llvm::BasicBlock *b : llvm::reverse(shapes.order()))
      changed |= scan(*b, false);
  for (const llvm::BasicBlock *b : shapes.order()) {
    const llvm::Loop *loop = shapes.loops().getLoopFor(b);
    if (!loop && !aroundBarriers.empty())
      continue;
    while (loop && !shapes.isDivergentLoop(loop) && !aroundBarriers.contains(loop))
      loop = loop->getParentLoop();
    if (!loop)
      scan(*b, true);
  }
  return most;
}

/// Whether most of what differs between lanes is arithmetic of floats.
bool isMostlyFloat(const ShapeAnalysis &shapes) {
  size_t floats = 0, all = 0;
  for (const llvm::BasicBlock *b : shapes.order())
    for (const llvm::Instruction &i : *b)
      if (!i.getType()->isVoidTy() && shapes.shape(&i).isVarying()) {
        ++all;
        floats += i.getType()->isFloatingPointTy();
      }
  return 2 * floats > all;
}

/// The widest gang, not below 8, whose values that live through loops find room in the vector
/// registers, and most of those that live at once where a gang of 32 has few registers for each.
/// `shapes`: of the widest gang.
unsigned lanesThatFit(const ShapeAnalysis &shapes, const Target &target) {
  const DifferingValues differing(shapes);
  const Loops aroundBarriers = loopsAroundBarriers(shapes);
  const unsigned live = liveThroughLoops(shapes, differing, aroundBarriers);
  const unsigned perRegister = target.vectorBits / 32;
  const unsigned atOnce =
      target.hasMaskRegisters() ? 0 : mostLive(shapes, differing, aroundBarriers);
  const unsigned room = target.registersAtOnce(isMostlyFloat(shapes));
  unsigned lanes = 32;
  while (lanes > 8 && lanes > perRegister &&
         (live * (lanes / perRegister) > target.registersForLoops() ||
          atOnce * (lanes / perRegister) > room))
    lanes /= 2;
  return lanes;
}

/// What lanes agree on, or what lies in a row for them, in the code for gangs that quotients do not
/// part and of which no lane's index is cut off: there, it takes no registers.
llvm::SmallVector<llvm::Instruction *> settledValues(const ShapeAnalysis &shapes) {
  llvm::SmallVector<llvm::Instruction *> values = quotients(shapes, shapes.order());
  values.append(clampedIndices(shapes, shapes.order()));
  return values;
}

/// Threads of a row of the block where each gang could get one: rows that would lie across gangs,
/// most of whose lanes they fill. 0: the block is another.
uint32_t rowAcrossGangs(const CodeOptions &o, unsigned lanes) {
  const uint32_t row = o.block[0];
  const bool isFit = lanes > 1 && row < lanes && 2 * row > lanes && lanes % row != 0 &&
                     o.block[1] * o.block[2] > 1 && !o.schedulesGangs && !o.isWatched;
  return isFit ? row : 0;
}

/// The same in kernels without anything that knows warps or waits, but for barriers.
uint32_t rowOfGangs(const llvm::Module &m, const CodeOptions &o, unsigned lanes, bool spins) {
  const uint32_t row = rowAcrossGangs(o, lanes);
  if (row == 0 || spins)
    return 0;
  const bool knowsWarps = llvm::any_of(m, [](const llvm::Function &f) {
    if (!f.isDeclaration() || f.use_empty())
      return false;
    using Kind = Word::Kind;
    const Word w = wordOf(f);
    return w.isCollective() || w.kind == Kind::laneId || w.kind == Kind::laneMask ||
           w.kind == Kind::schedule || w.kind == Kind::runtimeWait || w.op == Op::warpid ||
           w.op == Op::nwarpid;
  });
  return knowsWarps ? 0 : row;
}

/// 32 where warp operations want the warp in one gang; 16 where rows of the block are 16 wide; few
/// threads: few lanes.
Width chooseWidth(llvm::Module &m, const llvm::Function *kernel, const CodeOptions &o,
                  bool mayBeRows, llvm::function_ref<bool()> takesWarpForOne) {
  const uint64_t threads = threadsOf(o);
  if (threads == 0)
    return {1, "the block's shape is not known"};
  if (threads == 1)
    return {1, "one thread per block"};
  unsigned wanted = 32;
  Findings f = examineAll(m, kernel, {32, o.block});
  if (!f.needsThreads.empty())
    return {1, f.needsThreads};
  if (f.hasCollectives)
    return {32, "warp operations keep the warp in one gang"};
  const Target target = targetFor(o.level, o.model);
  llvm::Function &body = *const_cast<llvm::Function *>(kernel);
  const ShapeAnalysis shapes(body, {32, o.block}, false);
  const llvm::SmallVector<llvm::Instruction *> settled = settledValues(shapes);
  std::optional<ShapeAnalysis> inUsualGangs;
  if (!settled.empty())
    inUsualGangs.emplace(body, GangShape{32, o.block}, false, settled);
  const ShapeAnalysis &usual = inUsualGangs ? *inUsualGangs : shapes;
  const unsigned walk = f.hasBarriers || f.spins ? 0 : lanesForRowWalks(shapes, target);
  if (walk == 1 && !takesWarpForOne())
    return {1, "each thread walks along a row of its own, and writes one"};
  if (!f.hasBarriers && !f.spins && isBetterAlone(usual, target) && !takesWarpForOne())
    return {1, "threads mostly part, or read and write all over memory: one by one is sooner"};
  std::string reason = "one gang per warp";
  bool areRows = false;
  if (walk > 1 && threads % walk == 0) {
    wanted = walk;
    reason = "each thread walks along a row of its own, and writes one";
  } else if (o.block[0] == 16 && o.block[1] * o.block[2] > 1) {
    wanted = 16;
    reason = "rows of 16 threads: a gang of 16 has one row";
  } else if (o.block[0] == 8 && o.block[1] * o.block[2] > 1) {
    wanted = 8;
    reason = "rows of 8 threads: a gang of 8 has one row";
  } else if (const unsigned fits = unsigned(llvm::bit_ceil(std::max(o.block[0], 8u)));
             mayBeRows && fits <= 32 && rowOfGangs(m, o, fits, f.spins) != 0) {
    wanted = fits;
    areRows = true;
    reason = "rows of " + std::to_string(o.block[0]) + " threads: a gang has one row";
  } else if (o.block[0] > 32 && o.block[0] % 32 != 0 && o.block[0] % 8 == 0 &&
             o.block[1] * o.block[2] > 1) {
    wanted = o.block[0] % 16 == 0 ? 16 : 8;
    reason = "rows that gangs of " + std::to_string(wanted) + " divide";
  } else if (unsigned fitting = lanesThatFit(usual, target);
             fitting < 32 && threads % fitting == 0) {
    wanted = fitting;
    reason =
        "many values live at once: " + std::to_string(fitting) + " lanes keep them in registers";
  } else if (threads <= 8) {
    wanted = 8;
    reason = "at most 8 threads per block";
  } else if (threads <= 16) {
    wanted = 16;
    reason = "at most 16 threads per block";
  }
  if (threads > wanted && (wanted != 32 || areRows) && takesWarpForOne())
    return {32, "lanes of a warp exchange values without waiting for each other"};
  if (wanted != 32) {
    Findings narrow = examineAll(m, kernel, {wanted, o.block});
    if (!narrow.needsThreads.empty())
      return {32, "one gang per warp"};
  }
  return {wanted, reason};
}

Width widthFor(llvm::Module &m, const llvm::Function *kernel, const CodeOptions &o, bool mayBeRows,
               llvm::function_ref<bool()> takesWarpForOne) {
  if (o.lanes == 0)
    return chooseWidth(m, kernel, o, mayBeRows, takesWarpForOne);
  if (o.lanes == 1)
    return {1, "asked for"};
  if (threadsOf(o) == 0)
    return {1, "the block's shape is not known"};
  Findings f = examineAll(m, kernel, {o.lanes, o.block});
  if (!f.needsThreads.empty())
    return {1, f.needsThreads};
  if (f.hasVaryingMembers && o.lanes != 32)
    return {32, "lanes of a warp name different members in one collective"};
  return {o.lanes, "asked for"};
}

/// Loops that wait for memory to change, or (in kernels, which may be suspended at any W) for time
/// to pass, let others run before each round.
void addYields(llvm::Function &f, const GangShape &gang, bool isKernel, const Waits &waits) {
  ShapeAnalysis shapes(f, gang, !isKernel);
  llvm::IRBuilder<> b(f.getContext());
  auto makeYield = [&](Op op, llvm::BasicBlock::iterator at, llvm::DebugLoc line) {
    b.SetInsertPoint(at->getParent(), at);
    b.SetCurrentDebugLocation(std::move(line));
    callWord(b, op, b.getVoidTy(), {});
  };
  if (waits.pollsByRecursion(f))
    makeYield(Op::yield, f.getEntryBlock().getFirstNonPHIOrDbgOrAlloca(), {});
  for (const llvm::Loop *l : const_cast<llvm::LoopInfo &>(shapes.loops()).getLoopsInPreorder()) {
    const Polled polled = waits.polledBy(*l);
    llvm::Instruction *end = l->getLoopLatch()->getTerminator();
    if (!polled.isAny()) {
      if (isKernel && waits.waitsForTime(*l))
        makeYield(Op::yieldTime, end->getIterator(), end->getDebugLoc());
      continue;
    }
    if (polled.places.empty() && isEndlessWait(*polled.first))
      continue;
    makeYield(polled.places.empty() ? Op::yieldMbarrier : Op::yield, end->getIterator(),
              end->getDebugLoc());
  }
}

bool suspends(const llvm::Module &m) {
  return llvm::any_of(m, [](const llvm::Function &f) {
    return f.isDeclaration() && !f.use_empty() && entryOf(f).maySuspend();
  });
}

/// Native stack besides the frames of all functions, which are known when code is generated: for
/// some hundred rounds where functions call themselves.
uint32_t stackBytesFor(bool hasCalls) {
  constexpr uint32_t kBase = 64 * 1024, kForCalls = 1024 * 1024;
  return kBase + (hasCalls ? kForCalls : 0);
}

llvm::Error internalError(const llvm::Twine &problem) {
  return llvm::make_error<lower::InternalError>("simt", problem.str());
}

/// A function a LaneModule uses that is no word of the vocabulary; empty if there is none.
std::string wordWithoutMeaning(const llvm::Module &m) {
  for (const llvm::Function &f : m) {
    if (!f.isDeclaration() || f.isIntrinsic() || f.use_empty())
      continue;
    const Word::Kind kind = wordOf(f).kind;
    if (kind == Word::Kind::none || kind == Word::Kind::other)
      return f.getName().str();
  }
  return {};
}

llvm::Function *wideFunction(ModuleContext &context, const llvm::Function &f, bool isKernel,
                             const llvm::Twine &name) {
  auto *wide = llvm::Function::Create(wideSignature(f, context.lanes, isKernel),
                                      llvm::GlobalValue::InternalLinkage, name, context.module);
  wide->addFnAttr(llvm::Attribute::NoUnwind);
  if (isKernel) {
    for (unsigned k : {kLaunch, kCta, kGang})
      wide->addParamAttr(k, llvm::Attribute::NoCapture);
  }
  return wide;
}

llvm::Function *widenOne(ModuleContext &context, llvm::Function &f, const GangShape &gang,
                         llvm::Function *target, bool isFull, bool isKernel) {
  ShapeAnalysis shapes(f, gang, !isKernel);
  describeAs(f, *target);
  Widener(context, f, *target, shapes, isFull, isKernel).run();
  return target;
}

/// Loops that stride by the threads of the grid: of a large grid they have few rounds, and as many
/// streams of lines are better read one after the other, gang by gang.
void chooseStrides(ModuleContext &context, const Jammed &jammed, llvm::Function &full,
                   bool isJamCut) {
  auto takeEntry = [&](const char *name) {
    llvm::Function *f = context.module.getFunction("cta_range");
    f->setName(name);
    f->setLinkage(llvm::GlobalValue::InternalLinkage);
    return f;
  };
  llvm::Function *small = nullptr;
  if (isJamCut) {
    small = takeEntry("cta_range.lockstep");
    if (!buildRegions(context, full, 1)) {
      small->setName("cta_range");
      small->setLinkage(llvm::GlobalValue::ExternalLinkage);
      return;
    }
  } else {
    buildCtaRangeEntry(context, jammed.body, nullptr, jammed.gangs);
    small = takeEntry("cta_range.lockstep");
    buildCtaRangeEntry(context, &full, nullptr);
  }
  chooseByGrid(context, *small, *takeEntry("cta_range.gangs"), kLimits.jam.manyThreads);
}

/// The one entry point around the wide bodies, in the cheapest form that will do. Bodies that it
/// does not call are gone afterwards.
EntryPoint buildEntry(ModuleContext &context, llvm::Function *full, llvm::Function *partial,
                      bool maySuspend, unsigned &gangsAtOnce) {
  PassRun &passes = context.passes;
  const bool schedulesGangs = context.options.schedulesGangs;
  const bool areRows = context.gangThreads != context.lanes;
  const bool isWhole = !schedulesGangs && !partial && !areRows; // CTAs in full gangs, by themselves
  Jammed jammed;
  if (isWhole && context.lanes > 1 && context.options.tier == Tier::optimised) {
    const auto gangsPerCta = unsigned(threadsOf(context.options) / context.lanes);
    if (context.hasBarriers)
      passes.run(Pass::unify, [&] { unifyVersions(context, *full, gangsPerCta); });
    passes.run(Pass::jam, [&] { jammed = jamGangs(context, *full, gangsPerCta); });
  }
  auto regionsOf = [&](llvm::Function &body, unsigned gangs) {
    return passes.tryRun(Pass::regions, [&] { return buildRegions(context, body, gangs); });
  };
  const bool isJamCut = maySuspend && jammed.body && regionsOf(*jammed.body, jammed.gangs);
  if (maySuspend && jammed.body && !isJamCut) {
    jammed.body->eraseFromParent();
    jammed = {};
  }
  gangsAtOnce = jammed.gangs;
  EntryPoint entry = EntryPoint::gang;
  if (jammed.isForStrides && passes.isOn(Pass::strides)) {
    passes.run(Pass::strides, [&] { chooseStrides(context, jammed, *full, isJamCut); });
    entry = EntryPoint::ctaRange;
  } else if (isJamCut ||
             (maySuspend && !schedulesGangs && regionsOf(partial ? *partial : *full, 1))) {
    entry = EntryPoint::ctaRange;
  } else if (!schedulesGangs && !partial && !maySuspend && !jammed.body &&
             passes.tryRun(Pass::rowOrder, [&] { return buildRowOrderEntry(context, *full); })) {
    entry = EntryPoint::ctaRange;
  } else if (!maySuspend && !schedulesGangs) {
    passes.run(Pass::entry, [&] {
      std::optional<CtaVersion> version;
      if (isWhole && !jammed.body && passes.isOn(Pass::ctaVersions) &&
          context.options.tier == Tier::optimised && context.lanes > 1)
        version =
            versionForCtas(context, *full, unsigned(threadsOf(context.options) / context.lanes));
      buildCtaRangeEntry(context, jammed.body ? jammed.body : full, partial, jammed.gangs,
                         version ? &*version : nullptr);
    });
    entry = EntryPoint::ctaRange;
  } else if (maySuspend && !context.options.isWatched && passes.isOn(Pass::coroutine) &&
             hasOnlyInlineSuspensions(context.module, {full, partial})) {
    passes.run(Pass::coroutine, [&] { buildGangStartEntry(context, full, partial); });
    entry = EntryPoint::gangStart;
  } else {
    passes.run(Pass::entry, [&] { buildGangEntry(context, full, partial); });
  }
  for (llvm::Function *f : {jammed.body, full, partial == full ? nullptr : partial})
    if (f && f->use_empty())
      f->eraseFromParent(); // inlined where it is needed
  return entry;
}

/// The passes over functions of one thread. `functions`: all bodies. Returns functions that lanes
/// call one by one; none where not `mayRunAlone`: where lanes count on each other's steps.
std::vector<llvm::Function *> runLanePasses(ModuleContext &context,
                                            llvm::ArrayRef<llvm::Function *> functions,
                                            llvm::Function &kernel, const GangShape &gang,
                                            bool spins, bool mayRunAlone, bool mayBeStaged) {
  PassRun &passes = context.passes;
  if (spins)
    passes.run(Pass::yields, [&] {
      const Waits waits(context.module);
      for (llvm::Function *f : functions)
        addYields(*f, gang, f == &kernel, waits);
    });
  if (gang.lanes == 1 || context.options.tier != Tier::optimised)
    return {};
  passes.run(Pass::localRows, [&] {
    for (llvm::Function *f : functions)
      layOutLocalRows(*f, gang.lanes);
  });
  passes.run(Pass::butterflies, [&] { shareButterflies(kernel, gang); });
  passes.run(Pass::rounds, [&] { unrollRounds(kernel, gang); });
  if (mayBeStaged)
    passes.run(Pass::staging, [&] { walkStagedRows(kernel, gang); });
  passes.run(Pass::versions, [&] { addFullGangVersions(kernel, gang, passes, context.target); });
  passes.run(Pass::repeatedStores, [&] { sinkRepeatedStores(kernel, gang); });
  passes.run(Pass::rows, [&] { unrollRows(kernel, gang, context.target); });
  if (gang.lanes == abi::kWarpSize)
    passes.run(Pass::matrixGroups, [&] {
      gatherMatrices(kernel);
      joinProducts(kernel);
    });
  std::vector<llvm::Function *> alone;
  if (mayRunAlone)
    passes.run(Pass::stragglers, [&] {
      alone = runStragglersAlone(kernel, gang, context.target);
      if (!alone.empty())
        normaliseLoops(kernel);
    });
  if (mayRunAlone)
    passes.run(Pass::serialAccesses, [&] {
      for (llvm::Function *f : accessLaneAfterLane(kernel, gang, context.target))
        alone.push_back(f);
    });
  passes.run(Pass::narrowIntegers, [&] { narrowIntegers(kernel, gang, context.target); });
  return alone;
}

struct Bodies {
  llvm::Function *full = nullptr;    ///< of gangs whose lanes all exist
  llvm::Function *partial = nullptr; ///< of the last gang of a CTA; null where all are full
};

/// All functions, widened. Where no gang is full, `full` is the partial body, too.
Bodies widenAll(ModuleContext &context, llvm::ArrayRef<llvm::Function *> functions,
                llvm::Function &kernel, const GangShape &gang) {
  for (llvm::Function *f : functions)
    if (f != &kernel)
      context.wide[f] = wideFunction(context, *f, false, f->getName() + ".gang");
  for (llvm::Function *f : functions)
    if (f != &kernel)
      widenOne(context, *f, gang, context.wide.at(f), false, false);
  const uint64_t threads = threadsOf(context.options);
  const bool hasPartial = gang.row == 0 && gang.lanes > 1 && threads % gang.lanes != 0;
  const bool hasFull = threads == 0 || threads >= gang.lanes || gang.row != 0;
  Bodies made;
  const std::string name = kernel.getName().str();
  if (hasFull)
    made.full = widenOne(context, kernel, gang, wideFunction(context, kernel, true, name + ".full"),
                         gang.row == 0, true);
  if (hasPartial)
    made.partial = widenOne(context, kernel, gang,
                            wideFunction(context, kernel, true, name + ".partial"), false, true);
  if (!made.full)
    made.full = made.partial;
  return made;
}

/// Functions that lanes call one by one, as a gang of one.
void widenAlone(ModuleContext &context, llvm::ArrayRef<llvm::Function *> functions,
                const GangShape &gang) {
  ModuleContext one{context.module, 1, context.options, context.target, context.passes};
  for (llvm::Function *f : functions)
    context.alone[f] = widenOne(one, *f, {1, gang.block},
                                wideFunction(one, *f, false, f->getName() + ".lane"), false, false);
  if (!one.problem.empty())
    context.fail(one.problem);
}

/// The scalar functions and their words are done.
void dropScalarCode(llvm::Module &m, std::vector<llvm::Function *> functions,
                    llvm::ArrayRef<llvm::Function *> alone) {
  functions.insert(functions.end(), alone.begin(), alone.end());
  for (llvm::Function *f : functions)
    f->dropAllReferences();
  for (llvm::Function *f : functions)
    f->eraseFromParent();
  for (llvm::Function &f : llvm::make_early_inc_range(m))
    if (f.isDeclaration() && f.use_empty())
      f.eraseFromParent();
  m.setDataLayout(
      "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128");
}

/// The stage; nothing, with no error, where gangs are rows and yet have to suspend: only regions
/// know such gangs.
llvm::Expected<std::optional<GangModule>> widenOnce(lower::LaneModule &lane,
                                                    const CodeOptions &options, bool mayBeRows,
                                                    const PassObserver &observer) {
  llvm::Module &m = *lane.module;
  llvm::Function *kernel = lane.kernel;
  if (std::string word = wordWithoutMeaning(m); !word.empty())
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "%s cannot be executed yet",
                                   word.c_str());
  PassRun passes(m, options.passesLeftOut, observer);
  const std::vector<llvm::Function *> scalar = bodies(m);
  const Target target = targetFor(options.level, options.model);
  const GangShape anyWidth{32, options.block};
  passes.run(Pass::prepare, [&] {
    for (llvm::Function *f : scalar)
      prepareFunction(*f, anyWidth, f == kernel);
  });
  passes.run(Pass::endlessWaits, [&] {
    for (llvm::Function *f : scalar)
      removeLimitsOfEndlessWaits(*f);
  });
  passes.run(Pass::earlyArrivals, [&] {
    for (llvm::Function *f : scalar)
      arriveBeforeOthersWait(*f);
  });
  passes.run(Pass::alignedBarriers, [&] { agreeBeforeAlignedBarriers(*kernel, anyWidth); });
  std::optional<bool> isWarpOne; // asked for where it matters
  const auto takesWarpForOne = [&] {
    if (!isWarpOne)
      isWarpOne = relyOnLockstep(*kernel, ShapeAnalysis(*kernel, anyWidth, false));
    return *isWarpOne;
  };
  Width width = widthFor(m, kernel, options, mayBeRows, takesWarpForOne);
  GangShape gang{width.lanes, options.block};
  Findings found = examineAll(m, kernel, gang);
  const uint32_t row = mayBeRows ? rowOfGangs(m, options, width.lanes, found.spins) : 0;
  if (row != 0 && !takesWarpForOne())
    gang.row = row;
  if (gang.row != 0)
    found = examineAll(m, kernel, gang);

  const bool mayRunAlone =
      gang.lanes > 1 && options.tier == Tier::optimised && !options.isWatched && !takesWarpForOne();
  // Any order of threads between barriers will do.
  const bool mayBeStaged = mayRunAlone && found.hasBarriers && !found.spins &&
                           !options.schedulesGangs && !lane.hasClusterAddresses;
  ModuleContext context{m, width.lanes, options, target, passes, gang.threadsPerGang()};
  context.hasBarriers = found.hasBarriers;
  context.tracksExits = found.mayExitEarly && (found.hasBarriers || found.hasCollectives);
  context.hasPrivateShared = !lane.hasClusterAddresses && !options.isWatched;
  const std::vector<llvm::Function *> alone =
      runLanePasses(context, scalar, *kernel, gang, found.spins, mayRunAlone, mayBeStaged);
  if (options.tier == Tier::optimised) // baseline code is what lower verified, hardly changed
    passes.verify("prepared");
  Bodies wide;
  passes.run(Pass::widen, [&] {
    widenAlone(context, alone, gang);
    wide = widenAll(context, scalar, *kernel, gang);
    if (!context.problem.empty())
      return;
    // While there are still the scalar functions that a mistake may refer to.
    passes.verify("widened");
    if (!passes.hasFailed())
      dropScalarCode(m, scalar, alone);
  });
  if (!context.problem.empty())
    return internalError(context.problem);
  if (passes.hasFailed())
    return passes.takeError();
  if (gang.lanes > 1 && options.tier == Tier::optimised)
    passes.run(Pass::memoryOrder, [&] {
      for (llvm::Function *f : bodies(m))
        computeInMemoryOrder(*f, target);
    });

  GangModule result;
  result.reason = width.reason;
  result.tier = options.tier;
  const bool maySuspend = options.isWatched || suspends(m);
  result.entry = buildEntry(context, wide.full, wide.partial, maySuspend, result.gangsAtOnce);
  if (gang.row != 0 && maySuspend && result.entry != EntryPoint::ctaRange)
    return std::nullopt;
  result.needs.lanes = width.lanes;
  result.needs.staticSharedBytes = lane.staticSharedBytes;
  result.needs.staticSharedAlign = lane.staticSharedAlign;
  result.needs.maySuspend = maySuspend && result.entry != EntryPoint::ctaRange;
  result.needs.stackBytes = stackBytesFor(!context.wide.empty());
  result.needs.usesReservedShared = lane.usesReservedShared;
  result.needs.hasOwnWindow = !lane.hasClusterAddresses;
  result.needs.tracksExits = context.tracksExits;
  result.needs.hasBarriers = context.hasBarriers;
  result.needs.hasDeviceUpdates = context.hasDeviceUpdates;
  if (!context.problem.empty())
    return internalError(context.problem);
  passes.verify("with its entry");
  if (passes.hasFailed())
    return passes.takeError();
  result.module = std::move(lane.module);
  result.context = std::move(lane.context);
#ifndef NDEBUG
  if (std::string wrong = verifyGangModule(result); !wrong.empty())
    return internalError(wrong);
#endif
  return result;
}

/// Whether gangs may come to be rows that wait at barriers.
bool mayBeWaitingRows(const lower::LaneModule &lane, const CodeOptions &options) {
  const bool hasRows = llvm::any_of(std::array{8u, 16u, 32u}, [&](unsigned lanes) {
    return rowAcrossGangs(options, lanes) != 0;
  });
  return hasRows && llvm::any_of(*lane.module, [](const llvm::Function &f) {
           return !f.use_empty() && wordOf(f).kind == Word::Kind::barrier;
         });
}

} // namespace

llvm::Expected<GangModule> widen(lower::LaneModule lane, const CodeOptions &options,
                                 const PassObserver &observer) {
  const std::string name = lane.kernel->getName().str();
  std::unique_ptr<llvm::Module> again;
  if (mayBeWaitingRows(lane, options))
    again = llvm::CloneModule(*lane.module);
  auto made = widenOnce(lane, options, true, observer);
  if (made && !*made) {
    lane.module = std::move(again);
    lane.kernel = lane.module->getFunction(name);
    made = widenOnce(lane, options, false, observer);
  }
  if (!made)
    return made.takeError();
  return std::move(**made);
}

} // namespace ptxrun::simt
