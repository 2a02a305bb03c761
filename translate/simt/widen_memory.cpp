// Loads and stores: the shape of the address decides between one scalar access, vector accesses
// with shuffles, and lanes one by one.
#include <llvm/ADT/Sequence.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "translate/simt/accesses.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

std::vector<Run> runsOf(const std::vector<int64_t> &offsets, int64_t size) {
  std::vector<Run> runs;
  for (unsigned l = 0; l < offsets.size(); ++l) {
    if (!runs.empty() && offsets[l] == runs.back().offset + int64_t(runs.back().lanes) * size)
      ++runs.back().lanes;
    else
      runs.push_back({l, 1, offsets[l]});
  }
  return runs;
}

/// Whether a value is made of how many blocks the grid has: what a loop over all of an array adds.
bool isOfGridSize(const llvm::Value *value) {
  llvm::SmallVector<const llvm::Value *> stack{value};
  for (unsigned n = 0; !stack.empty() && n < kLimits.search.operands; ++n) {
    auto *i = llvm::dyn_cast<llvm::Instruction>(stack.pop_back_val());
    if (i && wordAt(*i).op == Op::nctaid)
      return true;
    if (i && !i->mayReadOrWriteMemory())
      stack.append(i->value_op_begin(), i->value_op_end());
  }
  return false;
}

} // namespace

void copyAccessTraits(llvm::LoadInst *to, const llvm::LoadInst &from) {
  to->setVolatile(from.isVolatile() || from.isAtomic());
  if (from.hasMetadata(llvm::LLVMContext::MD_invariant_load))
    to->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(to->getContext(), {}));
}

void Accesses::emitLoad(const llvm::LoadInst &load) {
  if (auto done = neighbours_.find(&load); done != neighbours_.end()) {
    define(load, done->second);
    return;
  }
  const Value *pointer = load.getPointerOperand();
  if (shapes_.isUniform(pointer)) {
    llvm::LoadInst *l =
        b_.CreateAlignedLoad(plain(&load), hostPointer(pointer), load.getAlign(), load.getName());
    if (load.isAtomic())
      l->setAtomic(load.getOrdering(), load.getSyncScopeID());
    l->setVolatile(load.isVolatile());
    if (load.hasMetadata(llvm::LLVMContext::MD_invariant_load))
      l->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
    define(load, l);
    return;
  }
  const Address a = address(pointer);
  Value *result;
  std::optional<Guess> guess;
  if (!a.offsets) {
    if (beginCopy(load, a))
      return;
    if (loadRows(load, a)) {
      result = neighbours_[&load];
    } else if (Value *groups = loadGroups(load, a)) {
      result = groups;
    } else if (Value *columns = loadColumns(load, a)) {
      result = columns;
    } else if (Value *guessed = loadGuessedGroups(load, a)) {
      result = guessed;
    } else if ((guess = guessNeighbours(pointer, plain(&load)))) {
      result = loadEither(load, guess->row, [&] { return loadRowsOrEach(load, *guess, a); });
    } else if (Value *one = loadOneForAll(load, a)) {
      result = one;
    } else {
      context_.stridesAcrossLanes |= stridesAcrossLanes(pointer);
      result = loadEach(load, pointers(a));
    }
  } else if (!a.wraps) {
    result = loadNeighbours(load, a) ? neighbours_[&load] : loadOffsets(load, a);
  } else {
    // if the index wraps inside the gang: lane by lane; else as the shape says
    result = loadEither(load, a, [&] { return loadSlowly(load, a); });
  }
  if (load.isAtomic() && llvm::isAcquireOrStronger(load.getOrdering()))
    b_.CreateFence(llvm::AtomicOrdering::Acquire, llvm::SyncScope::SingleThread);
  define(load, result);
}

/// Emits both ways, each of which goes on to `done`: what the one that was taken gave.
llvm::Value *Accesses::joined(Way one, Way other, Block *done, const llvm::Twine &name) {
  Value *values[2];
  Block *ends[2];
  for (unsigned k = 0; k < 2; ++k) {
    const Way &way = k ? other : one;
    b_.SetInsertPoint(way.block);
    values[k] = way.emit();
    ends[k] = b_.GetInsertBlock();
    b_.CreateBr(done);
  }
  b_.SetInsertPoint(done);
  if (!values[0])
    return nullptr;
  llvm::PHINode *phi = b_.CreatePHI(values[0]->getType(), 2, name);
  for (unsigned k = 0; k < 2; ++k)
    phi->addIncoming(values[k], ends[k]);
  return phi;
}

/// As the offsets say, or `slowly` where the test of the address fails.
llvm::Value *Accesses::loadEither(const llvm::LoadInst &load, const Address &a,
                                  llvm::function_ref<Value *()> slowly) {
  Block *fast = newBlock("load.fast"), *slow = newBlock("load.slow"), *done = newBlock("load.done");
  b_.CreateCondBr(a.wraps, slow, fast,
                  llvm::MDBuilder(b_.getContext()).createBranchWeights(1, 1 << 20));
  return joined({slow, slowly}, {fast, [&] { return loadOffsets(load, a); }}, done, load.getName());
}

/// Where each round of a loop around barriers reads a row far from the one before, by a distance
/// that only the launch knows (the planes of a volume), the hardware sees no stream: each round
/// fetches for the next one, before which all gangs of the block come by. So it is where each round
/// reads on where the one before ended: the other gangs' rows are elsewhere.
bool Accesses::fetchNextRound(const llvm::LoadInst &load, Value *at, int64_t bytes) {
  const llvm::Loop *loop = shapes_.loops().getLoopFor(load.getParent());
  const std::optional<LinearSum> move =
      loop && context_.hasBarriers
          ? movePerRound(sumOf(load.getPointerOperand(), Extensions::through), *loop)
          : std::nullopt;
  const bool goesOn = move && move->terms.empty() && move->constant > 0 &&
                      move->constant <= bytes &&
                      llvm::any_of(loop->blocks(), [](const Block *b) { return hasBarrier(*b); });
  if (!move || (move->terms.empty() && !goesOn) || llvm::any_of(move->terms, [&](const auto &term) {
        return !shapes_.isUniform(term.first) || !term.first->getType()->isIntegerTy() ||
               isOfGridSize(term.first);
      }))
    return false;
  Value *next = b_.CreateGEP(b_.getInt8Ty(), at, plus(b_.getInt64(0), *move));
  for (int64_t line = 0; line < bytes; line += context_.target.lineBytes)
    fetchAhead(b_, next, line);
  return true;
}

/// How far from here the next CTA along x goes on, if it does: in blocks of several rows
/// that wait at barriers, each row is a stream, of which each CTA has a line or two: more streams
/// than the hardware follows. An index that nothing is known of is taken to follow the threads.
std::optional<Accesses::StepToCta> Accesses::stepToNextCta(const llvm::Instruction &access,
                                                           int64_t size) const {
  const auto &block = context_.options.block;
  const llvm::Loop *loop = shapes_.loops().getLoopFor(access.getParent());
  const Value *pointer = llvm::getLoadStorePointerOperand(&access);
  if (isBaseline() || !context_.hasBarriers || block[1] * block[2] <= 1 ||
      (loop && llvm::any_of(loop->blocks(), [](const Block *b) { return hasBarrier(*b); })))
    return std::nullopt;
  const LinearSum sum = sumOf(pointer, Extensions::through);
  const auto isCtaAlong = [&](const Value *v) {
    auto *i = llvm::dyn_cast<llvm::Instruction>(v);
    const Word word = i ? wordAt(*i) : Word{};
    return word.op == Op::ctaid && word.axis == context_.leadingAxis;
  };
  for (const auto &[term, times] : sum.terms) {
    if (isCtaAlong(term))
      return times > 0 ? std::optional(StepToCta{times, nullptr}) : std::nullopt;
    auto *product = llvm::dyn_cast<llvm::BinaryOperator>(term);
    if (!product || product->getOpcode() != llvm::Instruction::Mul)
      continue;
    for (unsigned k : {0u, 1u})
      if (isCtaAlong(product->getOperand(k)) && shapes_.isUniform(product->getOperand(1 - k)))
        return StepToCta{times, product->getOperand(1 - k)};
  }
  const bool isKnown = shapes_.shape(pointer).hasOffsets();
  return isKnown ? std::nullopt : std::optional(StepToCta{rowOfBlock(size), nullptr});
}

/// Fetches what the next CTA reads or writes of a row of `bytes`, of which this one has the
/// first lines.
void Accesses::fetchForNextCta(Value *at, int64_t bytes, StepToCta step, Fetch why) {
  const int64_t line = context_.target.lineBytes;
  if (step.by) {
    Value *by = b_.CreateSExtOrTrunc(base(step.by), b_.getInt64Ty());
    at = b_.CreateGEP(b_.getInt8Ty(), at, b_.CreateMul(by, b_.getInt64(uint64_t(step.bytes))));
    step.bytes = 0;
  }
  const bool isOwn = step.bytes != 0 && step.bytes <= bytes;
  for (int64_t ahead = isOwn ? line : 0; ahead < bytes + line; ahead += line)
    fetchAhead(b_, at, step.bytes + ahead, why);
}

/// A loop that strides through memory by whole grids leaves each gang with a few lines of many
/// pages: too few for the hardware to see a stream. The gangs that follow read what follows in each
/// page, so each fetches ahead for them. So do gangs that wait at barriers between few accesses:
/// out-of-order execution does not look past a barrier. Behind masked loads the hardware fetches
/// nothing ahead. Prefetches never fault.
void Accesses::prefetchForNextGangs(const llvm::LoadInst &load, Value *at, int64_t size) {
  const Value *pointer = load.getPointerOperand();
  const llvm::Loop *loop = shapes_.loops().getLoopFor(load.getParent());
  if (load.getPointerAddressSpace() == lower::kShared || load.isVolatile() || isBaseline())
    return;
  if (loop ? loop->isLoopInvariant(pointer) : !context_.hasBarriers)
    return;
  const int64_t bytes = size * int64_t(lanes_);
  if (fetchNextRound(load, at, bytes))
    return;
  if (const std::optional<StepToCta> step = stepToNextCta(load, size))
    return fetchForNextCta(at, bytes, *step);
  const uint32_t row = context_.options.block[0];
  if (row < kLimits.accesses.gangsInRow * lanes_)
    return; // the next gangs are rows of their own
  for (int64_t line = 0; line < bytes; line += context_.target.lineBytes)
    fetchAhead(b_, at, kLimits.accesses.gangsAhead * bytes + line);
}

/// Constant offsets: a few runs of neighbouring lanes are vector accesses joined by shuffles; a
/// window that all lanes cover is loaded once and permuted (reading between two accessed bytes less
/// than a page apart touches no other page); the rest is lane by lane.
llvm::Value *Accesses::loadOffsets(const llvm::LoadInst &load, const Address &a) {
  llvm::Type *type = plain(&load);
  auto *wideType = llvm::cast<llvm::FixedVectorType>(wide(&load));
  llvm::Type *element = wideType->getElementType();
  const unsigned perLane = wideType->getNumElements() / lanes_;
  const int64_t size = int64_t(load.getDataLayout().getTypeStoreSize(type).getFixedValue());
  const int64_t elementSize = size / perLane;
  if (element->isPointerTy() || int64_t(element->getScalarSizeInBits()) != elementSize * 8)
    return loadEach(load, pointers(a));
  if (const llvm::SmallVector<unsigned> active = knownLanes(); !active.empty() && load.isSimple())
    if (Value *loaded = loadKnown(load, a, active))
      return loaded;
  const bool isMaskable = context_.target.hasMaskedAccess(element->getScalarSizeInBits());
  std::vector<Run> runs = runsOf(*a.offsets, size);
  auto at = [&](int64_t offset) {
    return b_.CreateConstGEP1_64(b_.getInt8Ty(), a.base, uint64_t(offset));
  };
  if (runs.size() == 1) {
    prefetchForNextGangs(load, at(runs[0].offset), size);
    if (!mask()) {
      llvm::LoadInst *l =
          b_.CreateAlignedLoad(wideType, at(runs[0].offset), load.getAlign(), load.getName());
      copyAccessTraits(l, load);
      return l;
    }
    if (load.isSimple() && !isMaskable)
      return loadWithinPage(load, a, at(runs[0].offset), size * int64_t(lanes_), [&] {
        llvm::LoadInst *row = b_.CreateAlignedLoad(wideType, at(runs[0].offset), load.getAlign());
        copyAccessTraits(row, load);
        return row;
      });
    return b_.CreateMaskedLoad(wideType, at(runs[0].offset), load.getAlign(),
                               repeatMask(mask(), perLane), nullptr, load.getName());
  }
  auto [low, high] = std::minmax_element(a.offsets->begin(), a.offsets->end());
  const int64_t span = *high - *low + size;
  const bool isOnGrid = std::all_of(a.offsets->begin(), a.offsets->end(),
                                    [&](int64_t o) { return (o - *low) % elementSize == 0; });
  // A gather costs what its lanes' loads cost; a window is cheaper, if it is few registers.
  const int64_t most = std::min(kLimits.accesses.windowPerData * size * int64_t(lanes_),
                                context_.target.longestWindow());
  if (Value *joined = loadRuns(load, a, runs, span))
    return joined;
  const bool isWindow = isOnGrid && span <= most;
  const auto window = [&, from = *low] {
    llvm::SmallVector<int> order;
    for (int64_t o : *a.offsets)
      for (unsigned k = 0; k < perLane; ++k)
        order.push_back(int((o - from) / elementSize + k));
    return loadWindow(load, at(from), element, unsigned(span / elementSize), order);
  };
  if (!mask() && isWindow)
    return window();
  const bool isFewRuns = runs.size() <= kLimits.accesses.runs;
  if (isWindow && load.isSimple() && !isBaseline() && !context_.target.hasMaskedGather() &&
      !(isFewRuns && isMaskable))
    return loadWithinPage(load, a, at(*low), span, window);
  if (isFewRuns)
    return loadFewRuns(load, a, runs);
  if (!a.wraps && loadRows(load, a))
    return neighbours_[&load];
  // Loads from places that are known cost no more than a gather, and on some CPUs a third of it.
  if (!mask() && perLane == 1 && load.isSimple() && !isBaseline()) {
    Value *result = llvm::PoisonValue::get(wideType);
    for (unsigned l = 0; l < lanes_; ++l) {
      llvm::LoadInst *one = b_.CreateAlignedLoad(type, at((*a.offsets)[l]), load.getAlign());
      copyAccessTraits(one, load);
      result = b_.CreateInsertElement(result, one, l);
    }
    return result;
  }
  return loadEach(load, pointers(a));
}

llvm::Value *isInPage(llvm::IRBuilderBase &b, llvm::Value *at, uint64_t bytes) {
  constexpr uint64_t page = 4096; // the smallest of x86-64
  if (bytes > page)
    return b.getFalse();
  return b.CreateICmpULE(b.CreateAnd(b.CreatePtrToInt(at, b.getInt64Ty()), page - 1),
                         b.getInt64(page - bytes));
}

/// What lies from `from` on, under a mask where no instruction is for that: all of it may be read
/// if it is in one page and one of its lanes is active; else lane by lane.
llvm::Value *Accesses::loadWithinPage(const llvm::LoadInst &load, const Address &a, Value *from,
                                      int64_t bytes, llvm::function_ref<Value *()> loadWhole) {
  Block *whole = newBlock("load.row"), *each = newBlock("load.each"), *done = newBlock("load.end");
  b_.CreateCondBr(b_.CreateAnd(isInPage(b_, from, uint64_t(bytes)), anyLane(mask())), whole, each,
                  llvm::MDBuilder(b_.getContext()).createBranchWeights(1 << 10, 1));
  const auto loadLanes = [&] {
    const std::optional<int64_t> stride = elementStride(load);
    return stride ? loadByLanes(load, rowOf(a), *stride) : loadEach(load, pointers(a));
  };
  return joined({whole, loadWhole}, {each, loadLanes}, done, load.getName());
}

/// How far lanes that load numbers are apart, where that is the same for all and certain.
std::optional<int64_t> Accesses::elementStride(const llvm::LoadInst &load) const {
  const llvm::Type *type = plain(&load);
  const bool isNumber = type->isIntegerTy() || type->isFloatingPointTy();
  return load.isSimple() && lanes_ > 1 && isNumber ? shapes_.step(load.getPointerOperand())
                                                   : std::nullopt;
}

/// Where the row of such a load begins.
llvm::Value *Accesses::rowOf(const Address &a) {
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), a.base, uint64_t((*a.offsets)[0]));
}

/// The active lanes' elements, `stride` bytes apart; zero in the others. Seldom run.
llvm::Value *Accesses::loadByLanes(const llvm::LoadInst &load, Value *row, int64_t stride) {
  llvm::Type *element = plain(&load), *wideType = wide(&load);
  llvm::AllocaInst *loaded = slowBuffer(wideType);
  b_.CreateStore(llvm::Constant::getNullValue(wideType), loaded);
  forEachLane(nullptr, [&](Value *lane, Value *) -> Value * {
    Value *offset =
              b_.CreateMul(b_.CreateSExt(lane, b_.getInt64Ty()), b_.getInt64(uint64_t(stride))),
          *one = b_.CreateAlignedLoad(element, b_.CreateGEP(b_.getInt8Ty(), row, offset),
                                      load.getAlign());
    b_.CreateStore(one, b_.CreateGEP(element, loaded, lane));
    return nullptr;
  });
  return b_.CreateLoad(wideType, loaded, load.getName());
}

/// One access for each run, joined by shuffles.
llvm::Value *Accesses::loadFewRuns(const llvm::LoadInst &load, const Address &a,
                                   llvm::ArrayRef<Run> runs) {
  auto *wideType = llvm::cast<llvm::FixedVectorType>(wide(&load));
  llvm::Type *element = wideType->getElementType();
  const unsigned perLane = wideType->getNumElements() / lanes_;
  auto at = [&](int64_t offset) {
    return b_.CreateConstGEP1_64(b_.getInt8Ty(), a.base, uint64_t(offset));
  };
  Value *result = nullptr;
  for (const Run &run : runs) {
    auto *part = vec(element, run.lanes * perLane);
    Value *piece;
    if (mask()) {
      llvm::SmallVector<int> lanesOfRun;
      for (unsigned l = 0; l < run.lanes * perLane; ++l)
        lanesOfRun.push_back(int(run.firstLane * perLane + l));
      piece = b_.CreateMaskedLoad(part, at(run.offset), load.getAlign(),
                                  b_.CreateShuffleVector(repeatMask(mask(), perLane), lanesOfRun));
    } else {
      llvm::LoadInst *l = b_.CreateAlignedLoad(part, at(run.offset), load.getAlign());
      copyAccessTraits(l, load);
      piece = l;
    }
    llvm::SmallVector<int> widen, merge;
    const unsigned total = lanes_ * perLane, first = run.firstLane * perLane;
    for (unsigned p = 0; p < total; ++p) {
      bool isHere = p >= first && p < first + run.lanes * perLane;
      widen.push_back(isHere ? int(p - first) : -1);
      merge.push_back(isHere ? int(total + p) : int(p));
    }
    Value *spread = b_.CreateShuffleVector(piece, widen);
    result = result ? b_.CreateShuffleVector(result, spread, merge) : spread;
  }
  return result;
}

/// Runs of one length of at least 16 bytes each, joined; null where they are not, or where a window
/// has fewer registers to read.
llvm::Value *Accesses::loadRuns(const llvm::LoadInst &load, const Address &a,
                                llvm::ArrayRef<Run> runs, int64_t span) {
  const Limits::Accesses &limits = kLimits.accesses;
  llvm::Type *type = plain(&load);
  const int64_t size = int64_t(load.getDataLayout().getTypeStoreSize(type).getFixedValue());
  const int64_t bytes = size * runs[0].lanes;
  if (mask() || bytes < limits.leastPiece || !llvm::isPowerOf2_64(uint64_t(bytes)) ||
      int64_t(runs.size()) >
          limits.piecesPerRegister * ((span + limits.pieceRegister - 1) / limits.pieceRegister) ||
      !llvm::all_of(runs, [&](const Run &run) { return run.lanes == runs[0].lanes; }))
    return nullptr;
  auto *wideType = llvm::cast<llvm::FixedVectorType>(wide(&load));
  const unsigned perLane = wideType->getNumElements() / lanes_;
  llvm::SmallVector<Value *> pieces;
  for (const Run &run : runs) {
    llvm::LoadInst *l = b_.CreateAlignedLoad(
        vec(wideType->getElementType(), runs[0].lanes * perLane),
        b_.CreateConstGEP1_64(b_.getInt8Ty(), a.base, uint64_t(run.offset)), load.getAlign());
    copyAccessTraits(l, load);
    pieces.push_back(l);
  }
  return concatenate(pieces);
}

/// Elements order[0], order[1] ... (below 0: any) of the `count` elements at `at`, all of which may
/// be read.
/// Register-sized pieces are loaded; each register of the result is a tree of two-source shuffles,
/// of which the first level moves elements and the others blend.
llvm::Value *Accesses::loadWindow(const llvm::LoadInst &load, Value *at, llvm::Type *element,
                                  unsigned count, llvm::ArrayRef<int> order) {
  const unsigned elementBytes = element->getScalarSizeInBits() / 8;
  const unsigned perRegister = context_.target.vectorBytes() / elementBytes;
  const llvm::Align align = std::min(load.getAlign(), llvm::Align(elementBytes));
  auto loadPiece = [&](unsigned first, unsigned n) {
    llvm::LoadInst *l = b_.CreateAlignedLoad(
        vec(element, n), b_.CreateConstGEP1_64(b_.getInt8Ty(), at, uint64_t(first) * elementBytes),
        align);
    copyAccessTraits(l, load);
    return l;
  };
  if (count <= 2 * perRegister) {
    const unsigned half = unsigned(llvm::bit_floor(count));
    if (half == count)
      return b_.CreateShuffleVector(loadPiece(0, count), order, load.getName());
    // No odd number of elements: two pieces of the next size below, which overlap.
    llvm::SmallVector<int> ofPieces;
    for (int e : order)
      ofPieces.push_back(e < int(half) ? e : e + int(2 * half - count));
    return b_.CreateShuffleVector(loadPiece(0, half), loadPiece(count - half, half), ofPieces,
                                  load.getName());
  }
  // The last piece ends where the window ends; it may overlap the one before.
  struct Piece {
    unsigned first;
    Value *value;
  };
  std::vector<Piece> pieces;
  for (unsigned first = 0; first < count; first += perRegister) {
    const unsigned start = std::min(first, count - perRegister);
    pieces.push_back({start, loadPiece(start, perRegister)});
  }
  auto pieceOf = [&](int e) {
    return std::min(unsigned(e) / perRegister, unsigned(pieces.size()) - 1);
  };
  llvm::SmallVector<Value *> groups;
  for (unsigned g = 0; g < order.size(); g += perRegister) {
    const unsigned n = std::min<unsigned>(perRegister, unsigned(order.size()) - g);
    llvm::ArrayRef<int> want = order.slice(g, n);
    std::set<unsigned> needed;
    for (int e : want)
      if (e >= 0)
        needed.insert(pieceOf(e));
    if (needed.empty()) {
      groups.push_back(llvm::PoisonValue::get(vec(element, n)));
      continue;
    }
    // Pairs of pieces give vectors with their elements in place; blends join those.
    llvm::SmallVector<std::pair<Value *, std::vector<bool>>> parts;
    for (auto it = needed.begin(); it != needed.end();) {
      const unsigned x = *it++;
      const unsigned y = it != needed.end() ? *it++ : x;
      llvm::SmallVector<int> take(n, -1);
      std::vector<bool> has(n, false);
      for (unsigned p = 0; p < n; ++p) {
        const unsigned from = pieceOf(want[p]);
        if (want[p] >= 0 && (from == x || from == y)) {
          has[p] = true;
          take[p] = int(unsigned(want[p]) - pieces[from].first + (from == x ? 0 : perRegister));
        }
      }
      parts.push_back({b_.CreateShuffleVector(pieces[x].value, pieces[y].value, take), has});
    }
    while (parts.size() > 1) {
      decltype(parts) next;
      for (unsigned k = 0; k < parts.size(); k += 2) {
        if (k + 1 == parts.size()) {
          next.push_back(parts[k]);
          continue;
        }
        llvm::SmallVector<int> blend;
        std::vector<bool> has(n);
        for (unsigned p = 0; p < n; ++p) {
          has[p] = parts[k].second[p] || parts[k + 1].second[p];
          blend.push_back(parts[k].second[p] ? int(p) : parts[k + 1].second[p] ? int(n + p) : -1);
        }
        next.push_back({b_.CreateShuffleVector(parts[k].first, parts[k + 1].first, blend), has});
      }
      parts = next;
    }
    groups.push_back(parts[0].first);
  }
  return concatenate(groups);
}

/// Vectors one behind the other; all but the last have the same length, and it may have less.
llvm::Value *Accesses::concatenate(llvm::ArrayRef<Value *> pieces) {
  return pieces.size() == 1 ? pieces[0] : llvm::concatenateVectors(b_, pieces);
}

/// Pointers to `size` bytes each, from `before` bytes ahead of them on; those of lanes that are not
/// active are pointers into a dummy, so that nothing branches.
llvm::Value *Accesses::orDummy(Value *pointers, uint64_t size, int64_t before) {
  if (!mask())
    return pointers;
  llvm::AllocaInst *dummy = entryAlloca(llvm::ArrayType::get(b_.getInt8Ty(), size), "dummy");
  dummy->setAlignment(llvm::Align(64));
  Value *at = b_.CreateConstGEP1_64(b_.getInt8Ty(), dummy, uint64_t(before));
  return b_.CreateSelect(mask(), pointers, b_.CreateVectorSplat(lanes_, at));
}

/// Whether the kernel accesses short vectors at scattered places again and again, and this store is
/// not in a loop: the ends of tiles, whose layout is changed by way of memory, are half the code of
/// a matrix product, and run once.
bool Accesses::isOneOfMany(const llvm::StoreInst &access) {
  if (shapes_.loops().getLoopFor(access.getParent()))
    return false;
  if (!hasManyScattered_) {
    unsigned n = 0;
    for (const llvm::Instruction &i : llvm::instructions(*access.getFunction()))
      if (llvm::isa<llvm::LoadInst, llvm::StoreInst>(i) &&
          llvm::getLoadStoreType(const_cast<llvm::Instruction *>(&i))->isVectorTy()) {
        const Value *at = llvm::getLoadStorePointerOperand(&i);
        n += !shapes_.isUniform(at) && !shapes_.shape(at).offsets;
      }
    hasManyScattered_ = n >= kLimits.accesses.scatteredVectors;
  }
  return *hasManyScattered_;
}

/// What a gather or scatter moves for each lane; null where lanes go one by one here. Those that
/// are not the CPU's own are taken apart in the end (jit/lane_accesses.h). Short vectors are
/// gathered where the fewest instructions are wanted.
llvm::Type *Accesses::gatheredAs(const llvm::Instruction &access, llvm::Type *type, size_t lanes) {
  const auto bits = unsigned(type->getPrimitiveSizeInBits().getFixedValue());
  const bool isOwn = context_.target.gathers(bits) ||
                     (llvm::isa<llvm::LoadInst>(access) && context_.target.gathersInWords(bits));
  const bool isOfMost = lanes == lanes_ || ((isOwn || !mask()) && lanes > lanes_ / 4);
  if (!isOfMost || !llvm::isPowerOf2_32(bits) || bits < 8 || bits > 128 || type->isPointerTy())
    return nullptr;
  if (!type->isVectorTy())
    return bits <= 64 ? type : nullptr;
  auto *store = llvm::dyn_cast<llvm::StoreInst>(&access);
  return isBaseline() || (store && isOneOfMany(*store)) ? b_.getIntNTy(bits) : nullptr;
}

/// Each lane from its own pointer.
llvm::Value *Accesses::loadEach(const llvm::LoadInst &load, Value *pointers) {
  llvm::Type *type = plain(&load);
  const llvm::SmallVector<unsigned> lanes = lanesToServe();
  if (!load.isVolatile() && !load.isAtomic())
    if (llvm::Type *moved = gatheredAs(load, type, lanes.size()))
      return b_.CreateBitCast(b_.CreateMaskedGather(vec(moved, lanes_), pointers, load.getAlign(),
                                                    fullMask(), nullptr, load.getName()),
                              wide(&load));
  if (lanes.size() == lanes_)
    pointers = orDummy(pointers, load.getDataLayout().getTypeStoreSize(type).getFixedValue());
  Value *result = nullptr;
  const unsigned perLane =
      type->isVectorTy() ? llvm::cast<llvm::FixedVectorType>(type)->getNumElements() : 1;
  llvm::SmallVector<Value *> pieces;
  if (perLane > 1)
    pieces.resize(lanes_, llvm::PoisonValue::get(type));
  for (unsigned l : lanes) {
    llvm::LoadInst *one =
        b_.CreateAlignedLoad(type, b_.CreateExtractElement(pointers, l), load.getAlign());
    one->setVolatile(load.isVolatile());
    if (load.isAtomic())
      one->setAtomic(load.getOrdering(), load.getSyncScopeID());
    if (perLane > 1) {
      pieces[l] = one;
    } else {
      result =
          b_.CreateInsertElement(result ? result : llvm::PoisonValue::get(wide(&load)), one, l);
    }
  }
  return result ? result : concatenate(pieces);
}

/// The value in the last active lane, for `user`. Of what was loaded for it alone, only that lane's
/// element is loaded: the vector is then nobody's.
llvm::Value *Accesses::ofLastLane(const Value *value, const llvm::Instruction &user) {
  Value *lane = mask() ? b_.CreateSub(b_.getInt32(31),
                                      b_.CreateIntrinsic(llvm::Intrinsic::ctlz, {b_.getInt32Ty()},
                                                         {maskBits(mask()), b_.getTrue()}))
                       : static_cast<Value *>(b_.getInt32(lanes_ - 1));
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(value);
      load && load->isSimple() && load->hasOneUse() && load->getParent() == user.getParent())
    if (std::optional<int64_t> stride = shapes_.step(load->getPointerOperand());
        stride && std::none_of(load->getIterator(), user.getIterator(),
                               [](const auto &i) { return i.mayWriteToMemory(); })) {
      Value *offset =
          b_.CreateMul(b_.CreateZExt(lane, b_.getInt64Ty()), b_.getInt64(uint64_t(*stride)));
      llvm::LoadInst *one = b_.CreateAlignedLoad(
          plain(load), b_.CreateGEP(b_.getInt8Ty(), hostPointer(load->getPointerOperand()), offset),
          load->getAlign(), load->getName());
      copyAccessTraits(one, *load);
      return one;
    }
  Value *all = vector(value);
  auto *each = llvm::dyn_cast<llvm::FixedVectorType>(plain(value));
  if (!each)
    return b_.CreateExtractElement(all, lane);
  Value *v = llvm::PoisonValue::get(each);
  Value *first = b_.CreateMul(lane, b_.getInt32(each->getNumElements()));
  for (unsigned k = 0; k < each->getNumElements(); ++k)
    v = b_.CreateInsertElement(v, b_.CreateExtractElement(all, b_.CreateAdd(first, b_.getInt32(k))),
                               k);
  return v;
}

void Accesses::emitStore(const llvm::StoreInst &store) {
  if (putOff_.contains(&store))
    return;
  const Value *pointer = store.getPointerOperand(), *value = store.getValueOperand();
  if (auto copy = copies_.find(&store); copy != copies_.end())
    return emitCopy(*llvm::cast<llvm::LoadInst>(value), store, copy->second);
  if (store.isAtomic() && llvm::isReleaseOrStronger(store.getOrdering()))
    b_.CreateFence(llvm::AtomicOrdering::Release, llvm::SyncScope::SingleThread);
  if (shapes_.isUniform(pointer)) {
    // All lanes write one place: which one wins is open.
    Value *v = shapes_.isUniform(value) ? base(value) : ofLastLane(value, store);
    llvm::StoreInst *s = b_.CreateAlignedStore(v, hostPointer(pointer), store.getAlign());
    s->setVolatile(store.isVolatile());
    if (store.isAtomic())
      s->setAtomic(store.getOrdering(), store.getSyncScopeID());
    return;
  }
  Address a = address(pointer);
  Value *v = vector(value);
  std::optional<Guess> guess;
  if (!a.offsets && storeGroups(store, a, v))
    return;
  if (!a.offsets && (guess = guessNeighbours(pointer, plain(value)))) {
    storeEither(
        guess->row, [&] { storeOffsetsOrEach(store, guess->row, v); },
        [&] { storeRowsOrEach(store, *guess, a, v); });
  } else if (!a.offsets) {
    context_.stridesAcrossLanes |= stridesAcrossLanes(pointer);
    if (!storeRows(store, a))
      storeEach(store, pointers(a), v);
  } else if (!a.wraps) {
    if (!storeStrided(store, a))
      storeOffsetsOrEach(store, a, v);
  } else if (!storeStructuresOrEach(store, a)) {
    storeEither(
        a, [&] { storeOffsetsOrEach(store, a, v); }, [&] { storeSlowly(store, a, v); });
  }
}

void Accesses::storeOffsetsOrEach(const llvm::StoreInst &store, const Address &a, Value *v) {
  if (!storeOffsets(store, a, v))
    storeEach(store, pointers(a), v);
}

/// As the offsets say, or `slowly` where the test of the address fails.
void Accesses::storeEither(const Address &a, llvm::function_ref<void()> asSaid,
                           llvm::function_ref<void()> slowly) {
  Block *fast = newBlock("store.fast"), *slow = newBlock("store.slow"),
        *done = newBlock("store.done");
  b_.CreateCondBr(a.wraps, slow, fast,
                  llvm::MDBuilder(b_.getContext()).createBranchWeights(1, 1 << 20));
  const auto storeSlow = [&]() -> Value * { return slowly(), nullptr; };
  const auto storeFast = [&]() -> Value * { return asSaid(), nullptr; };
  joined({slow, storeSlow}, {fast, storeFast}, done);
}

bool Accesses::storeOffsets(const llvm::StoreInst &store, const Address &a, Value *v) {
  auto *wideType = llvm::cast<llvm::FixedVectorType>(v->getType());
  llvm::Type *element = wideType->getElementType();
  const unsigned perLane = wideType->getNumElements() / lanes_;
  const int64_t size = int64_t(
      store.getDataLayout().getTypeStoreSize(store.getValueOperand()->getType()).getFixedValue());
  const bool isMaskable =
      isBlended(store) || context_.target.hasMaskedAccess(element->getScalarSizeInBits());
  // Lanes that are known need no mask, but a row with many holes is stored by whole registers.
  const llvm::SmallVector<unsigned> active = knownLanes();
  const bool isRowWithHoles = !active.empty() && store.isSimple() && isMaskable &&
                              shapes_.step(store.getPointerOperand()) == size &&
                              active.back() - active.front() >= active.size();
  const bool isKnown = !active.empty() && !isRowWithHoles;
  Value *masked = isKnown ? nullptr : mask();
  if (element->isPointerTy() || int64_t(element->getScalarSizeInBits()) * perLane != size * 8 ||
      (masked && store.isSimple() && !isMaskable))
    return false;
  // Lanes sorted by address: a permutation of a few runs is shuffled and stored run by run.
  llvm::SmallVector<unsigned> lanesByAddress =
      isKnown ? active : llvm::to_vector<4>(llvm::seq(0u, lanes_));
  std::sort(lanesByAddress.begin(), lanesByAddress.end(),
            [&](unsigned x, unsigned y) { return (*a.offsets)[x] < (*a.offsets)[y]; });
  std::vector<int64_t> sorted;
  for (unsigned l : lanesByAddress)
    sorted.push_back((*a.offsets)[l]);
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return false;
  std::vector<Run> runs = runsOf(sorted, size);
  // Without a mask, what is long enough is stored at a constant distance from the base, however
  // many; where the mask is known, each lane that is on.
  const auto isLong = [&](const Run &run) {
    return run.lanes * size >= kLimits.accesses.leastPiece;
  };
  const bool isBounded = isKnown || (!masked && llvm::all_of(runs, isLong));
  if (runs.size() > kLimits.accesses.runs && !isBounded)
    return false;
  if (runs.size() == 1 && store.getPointerAddressSpace() != lower::kShared)
    if (const std::optional<StepToCta> step = stepToNextCta(store, size))
      fetchForNextCta(a.base, size * int64_t(lanes_), *step, Fetch::toWrite);
  for (const Run &run : runs) {
    llvm::SmallVector<int> order;
    for (unsigned l = run.firstLane; l < run.firstLane + run.lanes; ++l)
      for (unsigned k = 0; k < perLane; ++k)
        order.push_back(int(lanesByAddress[l] * perLane + k));
    Value *to = b_.CreateConstGEP1_64(b_.getInt8Ty(), a.base, uint64_t(run.offset));
    if (masked) {
      Value *values = b_.CreateShuffleVector(v, order),
            *who = b_.CreateShuffleVector(repeatMask(masked, perLane), order);
      if (isBlended(store))
        b_.CreateCall(blendingStore(store, llvm::cast<llvm::FixedVectorType>(values->getType())),
                      {to, values, who});
      else
        b_.CreateMaskedStore(values, to, store.getAlign(), who);
      continue;
    }
    // Register by register, upwards: left to itself, LLVM stores the last register first, and
    // caches follow that badly.
    const size_t perRegister = elementsPerRegister(element);
    for (size_t first = 0; first < order.size(); first += perRegister) {
      const llvm::ArrayRef<int> piece =
          llvm::ArrayRef(order).slice(first, std::min(perRegister, order.size() - first));
      b_.CreateAlignedStore(
            b_.CreateShuffleVector(v, piece),
            b_.CreateConstGEP1_64(b_.getInt8Ty(), to, first * uint64_t(size) / perLane),
            store.getAlign())
          ->setVolatile(store.isVolatile() || store.isAtomic());
    }
  }
  return true;
}

/// Whether what lies under a row's inactive lanes may be read and written back: only the gangs of
/// this CTA see it, and they take turns.
bool Accesses::isBlended(const llvm::StoreInst &store) const {
  return context_.hasPrivateShared && store.isSimple() &&
         store.getPointerAddressSpace() == lower::kShared && context_.target.blendsMaskedStores();
}

/// void store(ptr row, <N x T> values, <N x i1> who):
///   if the row lies in one page and anybody is active:  *row = who ? values : *row
///   else                                                 masked store
/// A function, which is inlined in the end, so that nothing that repeats or moves instructions
/// comes between its load and its store.
llvm::Function *Accesses::blendingStore(const llvm::StoreInst &store, llvm::FixedVectorType *row) {
  llvm::Module &m = context_.module;
  llvm::LLVMContext &c = m.getContext();
  auto *masks = llvm::FixedVectorType::get(llvm::Type::getInt1Ty(c), row->getNumElements());
  llvm::Type *pointer = llvm::PointerType::get(c, 0);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(c), {pointer, row, masks}, false);
  std::string name;
  llvm::raw_string_ostream(name) << kBlendingStore << row->getNumElements() << '.'
                                 << *row->getElementType() << '.' << store.getAlign().value();
  if (llvm::Function *made = m.getFunction(name))
    return made;
  auto make = [&](const llvm::Twine &called, llvm::Attribute::AttrKind inlining) {
    auto *f = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, called, m);
    f->addFnAttr(inlining);
    f->addFnAttr(llvm::Attribute::NoUnwind);
    return f;
  };
  llvm::Function *f = make(name, llvm::Attribute::AlwaysInline);
  auto block = [&](const char *called, llvm::Function *of) {
    return llvm::BasicBlock::Create(c, called, of);
  };
  Block *entry = block("entry", f), *whole = block("row", f), *each = block("each", f);
  Value *to = f->getArg(0), *values = f->getArg(1), *who = f->getArg(2);
  const uint64_t bytes = m.getDataLayout().getTypeStoreSize(row).getFixedValue();
  llvm::IRBuilder<> b(entry);
  Value *isAny = b.CreateIsNotNull(b.CreateBitCast(who, b.getIntNTy(row->getNumElements())));
  b.CreateCondBr(b.CreateAnd(isInPage(b, to, bytes), isAny), whole, each,
                 llvm::MDBuilder(c).createBranchWeights(1 << 10, 1));
  b.SetInsertPoint(whole);
  Value *old = b.CreateAlignedLoad(row, to, store.getAlign());
  b.CreateAlignedStore(b.CreateSelect(who, values, old), to, store.getAlign());
  b.CreateRetVoid();
  b.SetInsertPoint(each);
  if (context_.target.hasMaskedAccess(row->getScalarSizeInBits()) &&
      bytes <= kLimits.accesses.runs * context_.target.vectorBytes()) {
    b.CreateMaskedStore(values, to, store.getAlign(), who);
  } else { // long code, and seldom run: once in the module
    llvm::Function *slow = make(name + ".each", llvm::Attribute::NoInline);
    b.CreateCall(slow, {to, values, who});
    llvm::IRBuilder<> inSlow(block("entry", slow));
    inSlow.CreateMaskedStore(slow->getArg(1), slow->getArg(0), store.getAlign(), slow->getArg(2));
    inSlow.CreateRetVoid();
  }
  b.CreateRetVoid();
  return f;
}

/// Each lane to its own pointer, in lane order; lanes that are not active write a dummy.
void Accesses::storeEach(const llvm::StoreInst &store, Value *pointers, Value *v) {
  llvm::Type *type = plain(store.getValueOperand());
  const llvm::SmallVector<unsigned> lanes = lanesToServe();
  if (!store.isVolatile() && !store.isAtomic())
    if (llvm::Type *moved = gatheredAs(store, type, lanes.size())) {
      b_.CreateMaskedScatter(b_.CreateBitCast(v, vec(moved, lanes_)), pointers, store.getAlign(),
                             fullMask());
      return;
    }
  if (lanes.size() == lanes_)
    pointers = orDummy(pointers, store.getDataLayout().getTypeStoreSize(type).getFixedValue());
  for (unsigned l : lanes) {
    Value *one;
    if (auto *each = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
      llvm::SmallVector<int> order;
      for (unsigned k = 0; k < each->getNumElements(); ++k)
        order.push_back(int(l * each->getNumElements() + k));
      one = b_.CreateShuffleVector(v, order);
    } else {
      one = b_.CreateExtractElement(v, l);
    }
    llvm::StoreInst *s =
        b_.CreateAlignedStore(one, b_.CreateExtractElement(pointers, l), store.getAlign());
    s->setVolatile(store.isVolatile());
    if (store.isAtomic())
      s->setAtomic(store.getOrdering(), store.getSyncScopeID());
  }
}

} // namespace ptxrun::simt
