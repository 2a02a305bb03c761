// Guesses: a load or store whose lanes' addresses differ in a way that nothing is known of, but are
// computed from the thread's number alone (an index that wraps round, is cut off, or taken
// apart by division), mostly accesses neighbours. That is tested, one comparison for the gang:
//
//     if (all active lanes: index == index[0] + lane, and none of these wraps)
//       one access of a row at the address of lane 0
//     else if (the lanes lie in few rows)
//       row after row under a mask, or piece after piece where masks are vectors (widen_pieces.cpp)
//     else
//       a gather or scatter, lane by lane below AVX-512
//
// What is found by a quotient (the weights of a channel, which a few gangs take from two) is mostly
// one place:
//
//     if (all active lanes: index == index[0])
//       one load for all
//     else
//       a gather
//
// Rows of a block that has 20 threads in one are three rows in a gang of 32; of volatile and atomic
// accesses such rows are left to the lanes. Addresses made of what was loaded scatter: they are not
// tested.
#include <llvm/IR/Operator.h>

#include "translate/simt/accesses.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

using llvm::Value;
using I = llvm::Instruction;

namespace {

/// Whether a value depends on nothing but the thread's number and what is the same for all lanes.
bool isOfThreadNumber(const Value *value, const ShapeAnalysis &shapes) {
  llvm::SmallVector<const Value *> stack{value};
  llvm::DenseSet<const Value *> seen;
  while (!stack.empty()) {
    const Value *v = stack.pop_back_val();
    if (llvm::isa<llvm::AllocaInst>(v))
      return false; // each lane has its own
    if (!shapes.shape(v).isVarying() || !seen.insert(v).second)
      continue;
    auto *i = llvm::dyn_cast<llvm::Instruction>(v);
    if (!i || seen.size() > kLimits.search.numbers || i->mayReadOrWriteMemory() ||
        i->getType()->isVectorTy())
      return false;
    if (auto *call = llvm::dyn_cast<llvm::CallBase>(i);
        call && !llvm::isa<llvm::IntrinsicInst>(call)) {
      const Word::Kind kind = wordAt(*call).kind;
      if (kind != Word::Kind::threadIndex && kind != Word::Kind::specialRegister)
        return false;
      continue;
    }
    stack.append(i->value_op_begin(), i->value_op_end());
  }
  return true;
}

/// x of x + c, x - c, c a value that is the same for all lanes; null where it is otherwise.
const Value *varyingTerm(const llvm::Instruction &i, const ShapeAnalysis &shapes) {
  const Value *x = i.getOperand(0), *y = i.getOperand(1);
  if (shapes.isUniform(y) && shapes.shape(x).isVarying())
    return x;
  return i.getOpcode() != I::Sub && shapes.isUniform(x) && shapes.shape(y).isVarying() ? y
                                                                                       : nullptr;
}

/// What of an index makes lanes differ: the rest is added to all of them alike. Lanes of either lie
/// in a row if those of the other do, and accesses that add something else to the same ask once.
const Value *differingPart(const Value *index, const ShapeAnalysis &shapes) {
  for (;;) {
    auto *i = llvm::dyn_cast<llvm::Instruction>(index);
    const bool isSum = i && (i->getOpcode() == I::Add || i->getOpcode() == I::Sub);
    const Value *x = isSum ? varyingTerm(*i, shapes) : nullptr;
    if (!x)
      return index;
    index = x;
  }
}

/// A number of the thread times a stride, to which loops may add what is the same for all lanes;
/// sums and parts of such numbers.
bool isStrided(const Value *value, const ShapeAnalysis &shapes) {
  llvm::SmallVector<const Value *> stack{value};
  llvm::DenseSet<const Value *> seen;
  while (!stack.empty()) {
    auto *i = llvm::dyn_cast<llvm::Instruction>(stack.pop_back_val());
    if (!i || i->getOpcode() == I::Mul || i->getOpcode() == I::Shl || !seen.insert(i).second)
      continue;
    if (seen.size() > kLimits.search.operands)
      return false;
    switch (i->getOpcode()) {
    case I::PHI:
      stack.append(i->value_op_begin(), i->value_op_end());
      break;
    case I::Add:
    case I::Sub:
      for (const Value *operand : i->operand_values())
        if (shapes.shape(operand).isVarying())
          stack.push_back(operand);
        else if (!shapes.isUniform(operand))
          return false;
      break;
    case I::LShr:
    case I::AShr:
      stack.push_back(i->getOperand(0));
      break;
    default:
      return false;
    }
  }
  return true;
}

/// Lanes mostly have the same: a quotient, and what is computed of quotients and of what is the
/// same for all lanes.
bool isMostlySame(const Value *value, const ShapeAnalysis &shapes) {
  llvm::SmallVector<const Value *> stack{value};
  llvm::DenseSet<const Value *> seen;
  while (!stack.empty()) {
    auto *i = llvm::dyn_cast<llvm::Instruction>(stack.pop_back_val());
    if (!i || seen.size() > kLimits.search.operands)
      return false;
    if (!seen.insert(i).second)
      continue;
    if (isCoarse(*i))
      continue;
    switch (i->getOpcode()) {
    case I::Select:
      if (!shapes.isUniform(i->getOperand(0)))
        return false;
      [[fallthrough]];
    case I::Add:
    case I::Sub:
    case I::Mul:
    case I::Shl:
      for (const Value *operand : i->operand_values())
        if (!shapes.isUniform(operand))
          stack.push_back(operand);
      break;
    default:
      return false;
    }
  }
  return true;
}

} // namespace

bool isCoarse(const llvm::Instruction &i) {
  switch (i.getOpcode()) {
  case I::UDiv:
  case I::SDiv:
  case I::LShr:
  case I::AShr:
  case I::FPToUI:
  case I::FPToSI:
    return true;
  default:
    return false;
  }
}

LinearAddress linearAddress(const Value *pointer, const ShapeAnalysis &shapes) {
  LinearAddress a{pointer, 1, nullptr, {}};
  const auto isUniform = [&](const Value *v) { return shapes.isUniform(v); };
  LinearSum sum = sumOf(pointer, Extensions::terms, [&](const Value *v) {
    auto *i = llvm::dyn_cast<llvm::BinaryOperator>(v);
    return isUniform(v) || (i && llvm::none_of(i->operands(), isUniform));
  });
  const auto found =
      llvm::find_if(sum.terms, [&](const auto &term) { return !isUniform(term.first); });
  if (found == sum.terms.end() || !shapes.shape(found->first).isVarying())
    return a;
  std::tie(a.index, a.scale) = *found;
  sum.terms.erase(found);
  if (auto *cast = llvm::dyn_cast<llvm::CastInst>(a.index);
      cast && llvm::isa<llvm::SExtInst, llvm::ZExtInst>(cast) &&
      shapes.shape(cast->getOperand(0)).isVarying()) {
    a.extension = cast;
    a.index = cast->getOperand(0);
  }
  a.rest = std::move(sum);
  return a;
}

bool mayBeNeighbours(const Value *index, const ShapeAnalysis &shapes) {
  return !isStrided(index, shapes) && isOfThreadNumber(index, shapes);
}

bool liesApart(const Value *index, const ShapeAnalysis &shapes) {
  return isStrided(index, shapes) && isOfThreadNumber(index, shapes);
}

/// `v` and a sum of what is the same for all lanes, of which narrower terms have signs.
Value *Accesses::plus(Value *v, const LinearSum &sum) {
  const auto number = [&](int64_t n) { return llvm::ConstantInt::getSigned(v->getType(), n); };
  for (const auto &[value, times] : sum.terms) {
    Value *term = b_.CreateSExtOrTrunc(asNumber(base(value)), v->getType());
    v = b_.CreateAdd(v, b_.CreateMul(term, number(times)));
  }
  return b_.CreateAdd(v, number(sum.constant));
}

Value *Accesses::asNumber(Value *v) {
  return v->getType()->isPointerTy() ? b_.CreatePtrToInt(v, b_.getInt64Ty()) : v;
}

/// rest + scale * index, extended.
Value *Accesses::addressOf(const LinearAddress &a, Value *index) {
  Value *v = asNumber(index);
  if (a.extension)
    v = b_.CreateCast(a.extension->getOpcode(), v, a.extension->getType());
  v = b_.CreateMul(v, llvm::ConstantInt::getSigned(v->getType(), a.scale));
  return plus(v, a.rest);
}

/// lanes[k] where lane 0 has `first`, and all lie in a row.
Value *Accesses::rowFrom(const Guess &g, Value *first) {
  llvm::SmallVector<llvm::Constant *> steps;
  for (unsigned l = 0; l < lanes_; ++l)
    steps.push_back(llvm::ConstantInt::get(first->getType(), l * uint64_t(g.step)));
  return b_.CreateAdd(b_.CreateVectorSplat(lanes_, first), llvm::ConstantVector::get(steps));
}

/// Whether a row of `lanes` lanes from lane `first` on leaves the range of the index's type, which
/// it does not in memory.
Value *Accesses::leavesRange(const Guess &g, unsigned first, unsigned lanes) {
  Value *index = b_.CreateExtractElement(g.lanes, first);
  if (index->getType()->isIntegerTy(64))
    return b_.getFalse();
  const auto id =
      g.isSigned() ? llvm::Intrinsic::sadd_with_overflow : llvm::Intrinsic::uadd_with_overflow;
  Value *by = llvm::ConstantInt::getSigned(index->getType(), int64_t(lanes - 1) * g.step);
  return b_.CreateExtractValue(b_.CreateBinaryIntrinsic(id, index, by), 1);
}

/// The place in memory of one lane's index.
Value *Accesses::placeOf(const Guess &g, Value *index) {
  Value *at = addressOf(g.linear, index);
  return g.isShared ? inArena(at) : b_.CreateIntToPtr(at, b_.getPtrTy());
}

/// Whether tests of addresses are worth having here.
bool Accesses::mayGuess(const llvm::Type &type) const {
  return context_.passes.isOn(Pass::guesses) && !isBaseline() && lanes_ > 1 && !isOffMainLine_ &&
         !type.isVectorTy();
}

/// The access as that of a row of neighbours, with the test whether it is one; nothing where that
/// is unlikely.
std::optional<Accesses::Guess> Accesses::guessNeighbours(const Value *pointer, llvm::Type *type) {
  const uint64_t bits = type->getPrimitiveSizeInBits().getFixedValue();
  if (!mayGuess(*type) || bits < 8 || bits > 64 || !llvm::isPowerOf2_64(bits))
    return std::nullopt;
  Guess g;
  g.linear = linearAddress(pointer, shapes_);
  const Value *index = g.linear.index;
  const int64_t size = int64_t(bits / 8);
  const unsigned width = widthOf(index);
  if (width < 16 || width > 64 || size % g.linear.scale != 0 || !mayBeNeighbours(index, shapes_))
    return std::nullopt;
  g.isShared = pointer->getType()->getPointerAddressSpace() == lower::kShared;
  g.step = size / g.linear.scale;
  g.size = size;
  const auto numbers = [&](const Value *of) {
    Value *v = b_.CreateFreeze(vector(of));
    const bool isPointer = v->getType()->isPtrOrPtrVectorTy();
    return isPointer ? b_.CreatePtrToInt(v, vec(b_.getInt64Ty(), lanes_)) : v;
  };
  const auto ofLane0 = [&](Value *v) { return b_.CreateExtractElement(v, uint64_t(0)); };
  g.lanes = numbers(index);
  g.part = numbers(differingPart(index, shapes_));
  Value *first = ofLane0(g.lanes), *differs = b_.CreateICmpNE(g.part, rowFrom(g, ofLane0(g.part)));
  std::vector<int64_t> offsets;
  for (unsigned l = 0; l < lanes_; ++l)
    offsets.push_back(int64_t(l) * size);
  g.row = {placeOf(g, first), shapes_.intern(std::move(offsets)), nullptr,
           b_.CreateOr(anyLane(mask() ? b_.CreateAnd(differs, mask()) : differs),
                       leavesRange(g, 0, lanes_))};
  return g;
}

/// One load for all where the lanes' places are one; null where that is unlikely.
Value *Accesses::loadOneForAll(const llvm::LoadInst &load, const Address &a) {
  const Value *pointer = load.getPointerOperand();
  if (!mayGuess(*load.getType()) || !load.isSimple() ||
      pointer->getType()->getPointerAddressSpace() == lower::kShared)
    return nullptr;
  Guess g;
  g.linear = linearAddress(pointer, shapes_);
  const Value *index = g.linear.index;
  if (!index->getType()->isIntegerTy() || !isMostlySame(index, shapes_) ||
      !isOfThreadNumber(index, shapes_))
    return nullptr;
  const auto ofLane0 = [&](Value *v) { return b_.CreateExtractElement(v, uint64_t(0)); };
  Value *part = b_.CreateFreeze(vector(differingPart(index, shapes_)));
  Value *differs = b_.CreateICmpNE(part, b_.CreateVectorSplat(lanes_, ofLane0(part)));
  Value *isApart = anyLane(mask() ? b_.CreateAnd(differs, mask()) : differs);
  if (mask()) // nobody's place may be anywhere
    isApart = b_.CreateOr(isApart, b_.CreateNot(anyLane(mask())));
  Value *place = placeOf(g, ofLane0(b_.CreateFreeze(vector(index))));
  Block *each = newBlock("load.each"), *one = newBlock("load.one"), *done = newBlock("load.done");
  b_.CreateCondBr(isApart, each, one);
  const auto loadOne = [&] {
    llvm::LoadInst *own = b_.CreateAlignedLoad(plain(&load), place, load.getAlign());
    copyAccessTraits(own, load);
    return b_.CreateVectorSplat(lanes_, own);
  };
  return joined({each, [&] { return loadEach(load, pointers(a)); }}, {one, loadOne}, done);
}

/// One bit for each lane with which a row begins: the one before it is no neighbour, or the index
/// leaves the range of its type on the way here.
Value *Accesses::startsOfRows(const Guess &g) {
  llvm::SmallVector<int> shifted{0};
  for (unsigned l = 1; l < lanes_; ++l)
    shifted.push_back(int(l) - 1);
  Value *before = b_.CreateShuffleVector(g.lanes, shifted);
  Value *starts = b_.CreateICmpNE( // lane 0 is one
      g.lanes, b_.CreateAdd(before, llvm::ConstantInt::get(g.lanes->getType(), uint64_t(g.step))));
  if (widthOf(g.linear.index) < 64)
    starts = b_.CreateOr(starts, g.isSigned() ? b_.CreateICmpSLT(g.lanes, before)
                                              : b_.CreateICmpULT(g.lanes, before));
  return maskBits(starts);
}

/// Row after row, as many as there may be; those that there are not have an empty mask:
///   left = starts
///   k = the first lane of left;  next = left without it
///   here = mask and lanes from k up to the first one of next
///   access(here)
///   left = next
/// `access` is told the row and the value so far, and gives the next one.
Value *Accesses::rowByRow(const Guess &g, Value *starts, Value *value,
                          llvm::function_ref<Value *(const Row &, Value *)> access) {
  Value *active = maskBits(mask()), *left = starts;
  auto lowest = [&](Value *bits) { return b_.CreateAnd(bits, b_.CreateNeg(bits)); };
  for (unsigned row = 0; row < kLimits.accesses.rowsOfGang; ++row) {
    Value *first = lowest(left), *next = b_.CreateXor(left, first);
    Value *here = b_.CreateAnd(active, b_.CreateSub(lowest(next), first));
    // Where nothing is left, lane 0.
    Value *k = b_.CreateAnd(b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b_.getFalse()),
                            lanes_ - 1);
    Value *at = placeOf(g, b_.CreateExtractElement(g.lanes, k));
    Value *place = b_.CreateGEP(
        b_.getInt8Ty(), at,
        b_.CreateMul(b_.CreateZExt(k, b_.getInt64Ty()), b_.getInt64(uint64_t(-g.size))));
    value = access({bitsToMask(here), place, at}, value);
    left = next;
  }
  return value;
}

/// Whether the lanes lie in few rows.
Value *Accesses::areFewRows(Value *starts) {
  return b_.CreateICmpULE(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, starts),
                          b_.getInt32(kLimits.accesses.rowsOfGang));
}

/// Where the lanes are no neighbours: rows, or each lane by itself.
Value *Accesses::loadRowsOrEach(const llvm::LoadInst &load, const Guess &g, const Address &a) {
  if (!load.isSimple())
    return loadEach(load, pointers(a));
  if (!context_.target.hasMaskRegisters())
    return loadWindowsOrEach(load, g, a);
  Block *inRows = newBlock("load.rows"), *each = newBlock("load.each"),
        *done = newBlock("load.end");
  Value *starts = startsOfRows(g);
  b_.CreateCondBr(areFewRows(starts), inRows, each);
  const std::optional<StepToCta> step = g.isShared ? std::nullopt : stepToNextCta(load, g.size);
  const auto loadRow = [&](const Row &row, Value *soFar) {
    if (step) {
      const int64_t all = rowOfBlock(g.size);
      fetchForNextCta(row.first, step->by ? all : std::min(step->bytes, all), *step);
    }
    return b_.CreateMaskedLoad(wide(&load), row.place, load.getAlign(), row.lanes, soFar);
  };
  const auto loadByRows = [&] {
    return rowByRow(g, starts, llvm::Constant::getNullValue(wide(&load)), loadRow);
  };
  return joined({inRows, loadByRows}, {each, [&] { return loadEach(load, pointers(a)); }}, done);
}

void Accesses::storeRowsOrEach(const llvm::StoreInst &store, const Guess &g, const Address &a,
                               Value *v) {
  if (!store.isSimple())
    return storeEach(store, pointers(a), v);
  if (!context_.target.hasMaskRegisters())
    return storeRegistersOrEach(store, g, a, v);
  Block *inRows = newBlock("store.rows"), *each = newBlock("store.each"),
        *done = newBlock("store.end");
  Value *starts = startsOfRows(g);
  b_.CreateCondBr(areFewRows(starts), inRows, each);
  const auto storeRow = [&](const Row &row, Value *) {
    return b_.CreateMaskedStore(v, row.place, store.getAlign(), row.lanes);
  };
  const auto storeByRows = [&]() -> Value * {
    return rowByRow(g, starts, nullptr, storeRow), nullptr;
  };
  const auto storeByLanes = [&]() -> Value * { return storeEach(store, pointers(a), v), nullptr; };
  joined({inRows, storeByRows}, {each, storeByLanes}, done);
}

} // namespace ptxrun::simt
