// The stage: choose W, prepare the functions, widen each, build the entry points.
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <optional>

#include "translate/lower/internal_error.h"
#include "translate/simt/butterflies.h"
#include "translate/simt/cost.h"
#include "translate/simt/cta_versions.h"
#include "translate/simt/early_arrivals.h"
#include "translate/simt/early_returns.h"
#include "translate/simt/entry.h"
#include "translate/simt/jam.h"
#include "translate/simt/joined_ctas.h"
#include "translate/simt/leading_axis.h"
#include "translate/simt/local_rows.h"
#include "translate/simt/lockstep.h"
#include "translate/simt/matrix_groups.h"
#include "translate/simt/members.h"
#include "translate/simt/memory_order.h"
#include "translate/simt/narrow_integers.h"
#include "translate/simt/passes.h"
#include "translate/simt/prepare.h"
#include "translate/simt/regions.h"
#include "translate/simt/repeated_stores.h"
#include "translate/simt/rerolled_loops.h"
#include "translate/simt/rounds.h"
#include "translate/simt/rows.h"
#include "translate/simt/serial_accesses.h"
#include "translate/simt/staging.h"
#include "translate/simt/stragglers.h"
#include "translate/simt/thread_mode.h"
#include "translate/simt/unify.h"
#include "translate/simt/verify.h"
#include "translate/simt/versions.h"
#include "translate/simt/waits.h"
#include "translate/simt/widener.h"
#include "translate/simt/width.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

/// Where only those come by that go round once more.
llvm::Instruction *onBackEdge(const llvm::Loop &loop, llvm::LoopInfo &loops) {
  llvm::BasicBlock *latch = loop.getLoopLatch();
  if (!latch->getSingleSuccessor())
    latch = llvm::SplitEdge(latch, loop.getHeader(), nullptr, &loops);
  return latch->getTerminator();
}

/// Loops that wait for memory to change, or (in kernels, which may be suspended at any W) for time
/// to pass, let others run before each round but the first; where a schedule says who runs, behind
/// each one: others may run while a lock that was free is held.
void addYields(llvm::Function &f, const GangShape &gang, bool isKernel, const Waits &waits,
               bool isScheduled) {
  ShapeAnalysis shapes(f, gang, !isKernel);
  llvm::IRBuilder<> b(f.getContext());
  auto makeYield = [&](Op op, llvm::BasicBlock::iterator at, llvm::DebugLoc line) {
    b.SetInsertPoint(at->getParent(), at);
    b.SetCurrentDebugLocation(std::move(line));
    callWord(b, op, b.getVoidTy(), {});
  };
  if (waits.pollsByRecursion(f))
    makeYield(Op::yield, f.getEntryBlock().getFirstNonPHIOrDbgOrAlloca(), {});
  auto &loops = const_cast<llvm::LoopInfo &>(shapes.loops());
  for (const llvm::Loop *l : loops.getLoopsInPreorder()) {
    const Polled polled = waits.polledBy(*l);
    const bool isForTime = !polled.isAny() && isKernel && waits.waitsForTime(*l);
    if (!polled.isAny() && !isForTime)
      continue;
    if (polled.isAny() && polled.places.empty() && isEndlessWait(*polled.first))
      continue;
    llvm::Instruction *end = l->getLoopLatch()->getTerminator();
    const llvm::DebugLoc line = end->getDebugLoc();
    makeYield(isForTime               ? Op::yieldTime
              : polled.places.empty() ? Op::yieldMbarrier
                                      : Op::yield,
              (isScheduled ? end : onBackEdge(*l, loops))->getIterator(), line);
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
        addYields(*f, gang, f == &kernel, waits,
                  context.options.schedulesGangs || context.options.isWatched);
    });
  if (gang.lanes == 1 || context.options.tier != Tier::optimised)
    return {};
  passes.run(Pass::reroll, [&] { rerollLoops(kernel, gang); });
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
  for (llvm::Function *f : functions) {
    llvm::Function *wide = wideFunction(one, *f, false, f->getName() + ".lane");
    if (f->hasFnAttribute(llvm::Attribute::Cold)) {
      wide->addFnAttr(llvm::Attribute::Cold);
      wide->addFnAttr(llvm::Attribute::NoInline);
    }
    context.alone[f] = widenOne(one, *f, {1, gang.block}, wide, false, false);
  }
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

/// How threads become lanes of gangs.
enum class Numbering {
  best,        ///< along any axis, each row of the block a gang
  consecutive, ///< as PTX numbers them
};

/// The stage. Nothing, with no error, where threads are numbered otherwise than PTX does and yet
/// have to suspend: only regions know gangs that are rows, and whoever waits is told by his warp.
/// Then `again` is the module as it was.
llvm::Expected<std::optional<GangModule>> widenOnce(lower::LaneModule &lane, CodeOptions options,
                                                    Numbering numbering,
                                                    std::unique_ptr<llvm::Module> &again,
                                                    const PassObserver &observer) {
  llvm::Module &m = *lane.module;
  llvm::Function *kernel = lane.kernel;
  if (std::string word = wordWithoutMeaning(m); !word.empty())
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "%s cannot be executed yet",
                                   word.c_str());
  PassRun passes(m, options.passesLeftOut, observer);
  const std::vector<llvm::Function *> scalar = bodies(m);
  const Target target = targetFor(options.level, options.model);
  if (options.joinedCtas != BlockShape{1, 1, 1})
    passes.run(Pass::joinedCtas, [&] { joinCtas(m, *kernel, options); });
  const GangShape anyWidth{32, options.block};
  passes.run(Pass::prepare, [&] {
    for (llvm::Function *f : scalar)
      prepareFunction(*f, anyWidth, f == kernel);
    takeWholeWarpsForOne(*kernel);
  });
  std::vector<llvm::Function *> called = scalar;
  llvm::erase(called, kernel);
  markWhoWaitsForNobody(called);
  passes.run(Pass::endlessWaits, [&] {
    for (llvm::Function *f : scalar)
      removeLimitsOfEndlessWaits(*f);
  });
  passes.run(Pass::earlyArrivals, [&] {
    for (llvm::Function *f : scalar)
      arriveBeforeOthersWait(*f);
  });
  if (!options.isWatched && !options.schedulesGangs)
    passes.run(Pass::earlyReturns, [&] { walkAlongToBarriers(*kernel); });
  std::optional<bool> isWarpOne; // asked for where it matters
  const auto takesWarpForOne = [&] {
    if (!isWarpOne)
      isWarpOne = relyOnLockstep(*kernel, ShapeAnalysis(*kernel, anyWidth, false));
    return *isWarpOne;
  };
  const bool mayBeRows = numbering == Numbering::best;
  unsigned axis = 0;
  if (numbering == Numbering::best && passes.isOn(Pass::leadingAxis) &&
      (axis = bestLeadingAxis(m, *kernel, options, target)) != 0 && !takesWarpForOne()) {
    if (!again)
      again = llvm::CloneModule(m);
    exchangeWithX(m, axis, options.block);
  } else {
    axis = 0;
  }
  Width width = widthFor(m, kernel, options, mayBeRows, takesWarpForOne);
  std::vector<llvm::Function *> alone; // what lanes call one by one
  if (width.needsThreads && !options.isWatched && !options.schedulesGangs)
    passes.run(Pass::threadMode, [&] {
      if (llvm::Function *steps = runPartedLanesAsThreads(*kernel, anyWidth)) {
        alone.push_back(steps);
        width = widthFor(m, kernel, options, mayBeRows, takesWarpForOne);
      }
    });
  if (width.needsThreads)
    passes.run(Pass::alignedBarriers, [&] {
      if (agreeBeforeAlignedBarriers(*kernel, anyWidth))
        width = widthFor(m, kernel, options, mayBeRows, takesWarpForOne);
    });
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
  const bool mayBeStaged = mayRunAlone && found.hasBarriers && !found.spins && alone.empty() &&
                           !options.schedulesGangs && !lane.hasClusterAddresses;
  ModuleContext context{m, width.lanes, options, target, passes, gang.threadsPerGang(), axis};
  context.hasBarriers = found.hasBarriers;
  // Lanes of a gang that is a warp see who takes part in its collectives.
  context.tracksExits =
      found.mayExitEarly &&
      (found.hasBarriers || (found.hasCollectives && width.lanes < abi::kWarpSize));
  context.hasPrivateShared = !lane.hasClusterAddresses && !options.isWatched;
  for (llvm::Function *f :
       runLanePasses(context, scalar, *kernel, gang, found.spins, mayRunAlone, mayBeStaged))
    alone.push_back(f);
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
  if (axis != 0 && width.lanes > 1)
    result.reason += std::string(", along ") + "xyz"[axis] + " as memory lies";
  result.tier = options.tier;
  const bool maySuspend = options.isWatched || suspends(m);
  result.entry = buildEntry(context, wide.full, wide.partial, maySuspend, result.gangsAtOnce);
  if ((gang.row != 0 || axis != 0) && maySuspend && result.entry != EntryPoint::ctaRange)
    return std::nullopt;
  result.needs.lanes = width.lanes;
  result.needs.leadingAxis = uint8_t(axis);
  const BlockShape &joined = options.joinedCtas;
  result.needs.joinedCtas = {joined[0], joined[1], joined[2]};
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
  auto made = widenOnce(lane, options, Numbering::best, again, observer);
  if (made && !*made) {
    lane.module = std::move(again);
    lane.kernel = lane.module->getFunction(name);
    made = widenOnce(lane, options, Numbering::consecutive, again, observer);
  }
  if (!made)
    return made.takeError();
  return std::move(**made);
}

} // namespace ptxrun::simt
