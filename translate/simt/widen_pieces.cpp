// Guessed neighbours where CPUs have no registers for masks: lanes of a gang that lie in several
// rows (of an index taken apart by a number that is no multiple of W) are taken in pieces, a
// register or eight lanes each.
//
//     loads     each piece lies in at most two rows, that of its first lane and that of its last,
//               and what a row would have for the whole piece in one page of memory: two loads
//     stores    each piece lies in one row, and all lanes are active: one store
//
// The first ones of a kernel: each is long code, and kernels with hundreds of such accesses compile
// twice as long by them.
//
// One row after the other under masks, as with registers for them (widen_guessed.cpp), takes
// longer: masks for all of the gang's registers are made of bits, for each row.
#include <llvm/Analysis/VectorUtils.h>

#include "translate/simt/accesses.h"

namespace ptxrun::simt {

using llvm::Value;

unsigned Accesses::lanesOfPiece(const Guess &g) const {
  return std::min({8u, lanes_, context_.target.vectorBytes() / unsigned(g.size)});
}

/// Whether an access by pieces is within what the kernel can bear; then it is counted.
bool Accesses::mayTakePieces(const Guess &g) {
  const unsigned own = lanes_ / lanesOfPiece(g);
  const bool isWithin = context_.pieces + own <= kLimits.accesses.pieces;
  context_.pieces += isWithin ? own : 0;
  return isWithin;
}

/// One bit for each lane of the piece from `l` on: it lies in the row of the piece's first lane, or
/// of its last. Asked of what makes lanes differ, so that accesses and rounds ask once together;
/// unsigned indices, for which zero may be in the row, also of themselves.
Value *Accesses::bitsInRow(const Guess &g, unsigned l, bool isOfFirst) {
  const unsigned n = lanesOfPiece(g), from = isOfFirst ? 0 : n - 1;
  const auto lanesOf = [&](Value *v) {
    return b_.CreateShuffleVector(v, llvm::createSequentialMask(l, n, 0));
  };
  const auto endOf = [&](Value *v) {
    return b_.CreateVectorSplat(n, b_.CreateExtractElement(v, l + from));
  };
  llvm::SmallVector<llvm::Constant *> steps;
  for (unsigned k = 0; k < n; ++k)
    steps.push_back(llvm::ConstantInt::getSigned(g.part->getType()->getScalarType(),
                                                 (int64_t(k) - from) * g.step));
  Value *isIn = b_.CreateICmpEQ(lanesOf(g.part),
                                b_.CreateAdd(endOf(g.part), llvm::ConstantVector::get(steps)));
  if (widthOf(g.linear.index) < 64 && !g.isSigned()) {
    Value *lanes = lanesOf(g.lanes), *end = endOf(g.lanes);
    isIn =
        b_.CreateAnd(isIn, isOfFirst ? b_.CreateICmpULE(end, lanes) : b_.CreateICmpULE(lanes, end));
  }
  return b_.CreateBitCast(isIn, b_.getIntNTy(n));
}

/// Whether signed indices of a whole piece in the row of its first lane, or of its last, are in the
/// range of their type.
Value *Accesses::staysInRange(const Guess &g, unsigned l, bool isOfFirst) {
  if (widthOf(g.linear.index) == 64 || !g.isSigned())
    return b_.getTrue();
  const unsigned n = lanesOfPiece(g);
  Value *end = b_.CreateExtractElement(g.lanes, isOfFirst ? l : l + n - 1);
  Value *by = llvm::ConstantInt::getSigned(end->getType(), int64_t(n - 1) * g.step);
  const auto id =
      isOfFirst ? llvm::Intrinsic::sadd_with_overflow : llvm::Intrinsic::ssub_with_overflow;
  return b_.CreateNot(b_.CreateExtractValue(b_.CreateBinaryIntrinsic(id, end, by), 1));
}

/// The gang's lanes in pieces, and whether all of them are as an access by pieces wants them.
Accesses::Pieces Accesses::piecesOf(const Guess &g, bool areTwoRows, bool isMaskable) {
  const unsigned n = lanesOfPiece(g);
  const uint64_t bytes = uint64_t(g.size) * n;
  Pieces all{n, {}, b_.getTrue()};
  const auto wants = [&](Value *condition) { all.fit = b_.CreateAnd(all.fit, condition); };
  for (unsigned l = 0; l < lanes_; l += n) {
    Piece p;
    p.inFirst = bitsInRow(g, l, true);
    p.first = placeOf(g, b_.CreateExtractElement(g.lanes, l));
    Value *fit = p.inFirst;
    wants(staysInRange(g, l, true));
    if (areTwoRows) {
      Value *end = placeOf(g, b_.CreateExtractElement(g.lanes, l + n - 1));
      p.last = b_.CreateConstGEP1_64(b_.getInt8Ty(), end, uint64_t(g.size) - bytes);
      fit = b_.CreateOr(fit, bitsInRow(g, l, false));
      wants(staysInRange(g, l, false));
      wants(b_.CreateAnd(isInPage(b_, p.first, bytes), isInPage(b_, p.last, bytes)));
    }
    if (mask()) {
      p.active = b_.CreateTrunc(b_.CreateLShr(maskBits(mask()), l), b_.getIntNTy(n));
      fit = isMaskable ? b_.CreateOr(fit, b_.CreateNot(p.active)) : b_.CreateAnd(fit, p.active);
    }
    wants(b_.CreateICmpEQ(fit, llvm::Constant::getAllOnesValue(b_.getIntNTy(n))));
    all.pieces.push_back(p);
  }
  return all;
}

/// What lies in the row of the piece's first lane, and then the rest.
Value *Accesses::loadPiece(const llvm::LoadInst &load, const Piece &p, unsigned lanes,
                           bool isMaskable) {
  auto *type = llvm::FixedVectorType::get(plain(&load), lanes);
  const auto asMask = [&](Value *bits) {
    return b_.CreateBitCast(bits, vec(b_.getInt1Ty(), lanes));
  };
  if (!p.active || !isMaskable)
    return b_.CreateSelect(asMask(p.inFirst), b_.CreateAlignedLoad(type, p.first, load.getAlign()),
                           b_.CreateAlignedLoad(type, p.last, load.getAlign()));
  const auto masked = [&](Value *at, Value *who, Value *otherwise) {
    return b_.CreateMaskedLoad(type, at, load.getAlign(), asMask(b_.CreateAnd(who, p.active)),
                               otherwise);
  };
  return masked(p.last, b_.CreateNot(p.inFirst),
                masked(p.first, p.inFirst, llvm::Constant::getNullValue(type)));
}

Value *Accesses::loadPiecesOrEach(const llvm::LoadInst &load, const Guess &g, const Address &a) {
  if (!mayTakePieces(g))
    return loadEach(load, pointers(a));
  const bool isMaskable = context_.target.hasMaskedAccess(plain(&load)->getScalarSizeInBits());
  const Pieces all = piecesOf(g, true, isMaskable);
  Block *inPieces = newBlock("load.pieces"), *each = newBlock("load.each"),
        *done = newBlock("load.end");
  b_.CreateCondBr(all.fit, inPieces, each);
  const std::optional<int64_t> step = g.isShared ? std::nullopt : stepToNextCta(load, g.size);
  const auto loadPieces = [&] {
    llvm::SmallVector<Value *> loaded;
    for (const Piece &p : all.pieces) {
      if (step)
        fetchForNextCta(p.first, std::min(*step, rowOfBlock(g.size)), *step);
      loaded.push_back(loadPiece(load, p, all.lanes, isMaskable));
    }
    return concatenate(loaded);
  };
  return joined({inPieces, loadPieces}, {each, [&] { return loadEach(load, pointers(a)); }}, done);
}

void Accesses::storePiecesOrEach(const llvm::StoreInst &store, const Guess &g, const Address &a,
                                 Value *v) {
  if (lanesOfPiece(g) == lanes_ || !mayTakePieces(g))
    return storeEach(store, pointers(a), v);
  const Pieces all = piecesOf(g, false, false);
  Block *inPieces = newBlock("store.pieces"), *each = newBlock("store.each"),
        *done = newBlock("store.end");
  b_.CreateCondBr(all.fit, inPieces, each);
  const auto storePieces = [&]() -> Value * {
    for (unsigned k = 0; k < all.pieces.size(); ++k)
      b_.CreateAlignedStore(
          b_.CreateShuffleVector(v, llvm::createSequentialMask(k * all.lanes, all.lanes, 0)),
          all.pieces[k].first, store.getAlign());
    return nullptr;
  };
  const auto storeByLanes = [&]() -> Value * { return storeEach(store, pointers(a), v), nullptr; };
  joined({inPieces, storePieces}, {each, storeByLanes}, done);
}

} // namespace ptxrun::simt
