#include "translate/simt/width.h"

#include <llvm/ADT/BitVector.h>
#include <llvm/IR/Instructions.h>

#include <cmath>

#include "translate/simt/alone.h"
#include "translate/simt/cost.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/one_lane.h"
#include "translate/simt/prepare.h"
#include "translate/simt/row_walks.h"
#include "translate/simt/target.h"
#include "translate/simt/versions.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

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
    const uint64_t bits = type->getPrimitiveSizeInBits().getFixedValue();
    return isWideProduct(i) ? 4 : std::max(1u, unsigned(llvm::divideCeil(bits, 32)));
  }

 private:
  /// Of two 32-bit numbers: made in halves, of odd and of even lanes.
  static bool isWideProduct(const llvm::Instruction &i) {
    return i.getOpcode() == llvm::Instruction::Mul && i.getType()->isIntegerTy(64) &&
           llvm::all_of(i.operands(), [](const llvm::Value *v) {
             return llvm::isa<llvm::ZExtInst, llvm::SExtInst, llvm::ConstantInt>(v);
           });
  }
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

/// Whether gangs mostly wait for what their own round before computes: in the loop that takes most
/// of their time, as far as the operations' costs tell. More lanes fill that time.
bool isBoundByLatency(const ShapeAnalysis &shapes, const Target &target) {
  const AloneCost cost(shapes, target);
  llvm::DenseMap<const llvm::Loop *, float> cycles; // of a round, without those of loops in it
  for (const llvm::BasicBlock *b : shapes.order())
    for (const llvm::Instruction &i : *b)
      cycles[shapes.loops().getLoopFor(b)] += cost.of(i).gang;
  float most = 0;
  bool isBound = false;
  for (const llvm::Loop *loop : shapes.loops().getLoopsInPreorder()) {
    const float chain = carriedChain(*loop, cost, true), own = cycles.lookup(loop),
                rounds = std::pow(kLimits.oneLane.rounds, float(loop->getLoopDepth())),
                time = rounds * std::max(own, chain);
    if (time <= most)
      continue;
    most = time;
    isBound = chain >= kLimits.width.latency * own;
  }
  return isBound;
}

using IsBound = llvm::function_ref<bool(unsigned lanes)>; ///< by latency

/// A register's lanes in long code, or two registers' where one would mostly wait: bodies for more
/// take long to compile, outgrow the first cache for instructions and keep most of what is in
/// flight in memory. 0: the code is not long.
unsigned lanesForLength(const ShapeAnalysis &shapes, const Target &target, IsBound isBound) {
  size_t instructions = 0;
  for (const llvm::BasicBlock *b : shapes.order())
    instructions += b->size();
  const unsigned few = target.lanesOfRegister();
  return instructions <= kLimits.code.wide ? 0 : isBound(few) ? 2 * few : few;
}

/// The widest gang, not below 8, whose values that live through loops find room in the vector
/// registers, and most of those that live at once where a gang of 32 has few registers for each.
/// Twice as wide where it would mostly wait, and has not that many values. `shapes`: of the widest
/// gang.
unsigned lanesThatFit(const ShapeAnalysis &shapes, const Target &target, IsBound isBound) {
  const DifferingValues differing(shapes);
  const Loops aroundBarriers = loopsAroundBarriers(shapes);
  const unsigned live = liveThroughLoops(shapes, differing, aroundBarriers);
  const unsigned perRegister = target.vectorBits / 32;
  const unsigned atOnce =
      target.hasMaskRegisters() ? 0 : mostLive(shapes, differing, aroundBarriers);
  const unsigned room = target.registersAtOnce(isMostlyFloat(shapes), live > 0);
  const auto inLoops = [&](unsigned lanes) { return live * (lanes / perRegister); };
  unsigned lanes = 32;
  while (lanes > 8 && lanes > perRegister &&
         (inLoops(lanes) > target.registersForLoops() || atOnce * (lanes / perRegister) > room))
    lanes /= 2;
  return lanes < 32 && inLoops(lanes) <= target.registersForLoops() && isBound(lanes) ? 2 * lanes
                                                                                      : lanes;
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
    return {1, f.needsThreads, true};
  if (f.hasCollectives)
    return {32, "warp operations keep the warp in one gang"};
  const Target target = targetFor(o.level, o.model);
  llvm::Function &body = *const_cast<llvm::Function *>(kernel);
  const UsualShapes shapes(body, {32, o.block});
  const ShapeAnalysis &usual = shapes.usual();
  const RowWalks walks = f.hasBarriers || f.spins ? RowWalks{} : rowWalksIn(shapes.all(), target);
  const unsigned walk = walks.areWritten ? walks.lanes : 0;
  if (walk == 1 && !takesWarpForOne())
    return {1, "each thread walks along a row of its own, and writes one"};
  if (!f.hasBarriers && !f.spins && isBetterAlone(usual, target) && !takesWarpForOne())
    return {1, "threads mostly part, or read and write all over memory: one by one is sooner"};
  const auto isBound = [&](unsigned lanes) {
    return isBoundByLatency(UsualShapes(body, {lanes, o.block}).usual(), target);
  };
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
  } else if (walks.lanes > 1 && threads % walks.lanes == 0) {
    wanted = walks.lanes;
    reason = "each thread reads a row of its own";
  } else if (const unsigned few = lanesForLength(usual, target, isBound);
             few != 0 && threads % few == 0) {
    wanted = few;
    if (few < 32)
      reason = "long code: " + std::to_string(few) + " lanes keep it short";
  } else if (const unsigned fitting = lanesThatFit(usual, target, isBound);
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

} // namespace

UsualShapes::UsualShapes(llvm::Function &kernel, const GangShape &gang)
    : all_(kernel, gang, false) {
  llvm::SmallVector<llvm::Instruction *> settled = quotients(all_, all_.order());
  settled.append(clampedIndices(all_, all_.order()));
  if (!settled.empty())
    usual_.emplace(kernel, gang, false, settled);
}

uint32_t rowAcrossGangs(const CodeOptions &o, unsigned lanes) {
  const uint32_t row = o.block[0];
  const bool isFit = lanes > 1 && row < lanes && 2 * row > lanes && lanes % row != 0 &&
                     o.block[1] * o.block[2] > 1 && !o.schedulesGangs && !o.isWatched;
  return isFit ? row : 0;
}

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
    return {1, f.needsThreads, true};
  if (f.hasVaryingMembers && o.lanes != 32)
    return {32, "lanes of a warp name different members in one collective"};
  return {o.lanes, "asked for"};
}

} // namespace ptxrun::simt
