#include "translate/jit/near_lanes.h"

#include <llvm/Analysis/VectorUtils.h>

#include "translate/simt/lane_permute.h"

namespace ptxrun::jit {

using namespace llvm;

namespace {

constexpr uint64_t kPage = 4096; // the smallest of x86-64

Constant *number(Value *like, uint64_t n) { return ConstantInt::get(like->getType(), n); }

Value *lanesFrom(IRBuilder<> &ir, Value *v, unsigned first, unsigned lanes) {
  return ir.CreateShuffleVector(v, createSequentialMask(first, lanes, 0));
}

} // namespace

bool NearLanes::isKnown() const {
  return isPowerOf2_32(unit) && unit * 8 <= access.elementBits() && lanesOfRegister() > 1;
}

unsigned NearLanes::lanesOfRegister() const {
  return std::min(access.lanes(), simt::lanesToPermute(access.elementBits() / 8, target));
}

/// An element has so many units.
unsigned NearLanes::shift() const { return Log2_32(access.elementBits() / 8 / unit); }

/// Of all lanes; those that are not active have that of the first which is.
Value *NearLanes::loadIndices(IRBuilder<> &ir) const {
  Type *type = base ? ir.getInt32Ty() : ir.getInt64Ty();
  auto *all = FixedVectorType::get(type, access.lanes());
  Value *leader = ir.CreateIntrinsic(Intrinsic::cttz, {ir.getInt32Ty()}, {mask, ir.getTrue()});
  Value *ofLeader =
      ir.CreateLoad(type, ir.CreateGEP(type, indices, ir.CreateZExt(leader, ir.getInt64Ty())));
  Value *isActive = ir.CreateBitCast(ir.CreateTrunc(mask, ir.getIntNTy(access.lanes())),
                                     FixedVectorType::get(ir.getInt1Ty(), access.lanes()));
  return ir.CreateSelect(isActive, ir.CreateAlignedLoad(all, indices, Align(64)),
                         ir.CreateVectorSplat(access.lanes(), ofLeader));
}

/// A distance in elements; large where it is between two of them.
Value *NearLanes::inElements(IRBuilder<> &ir, Value *by) const {
  return shift() == 0
             ? by
             : ir.CreateIntrinsic(Intrinsic::fshr, {by->getType()}, {by, by, number(by, shift())});
}

Value *NearLanes::placeOf(IRBuilder<> &ir, Value *index) const {
  if (!base)
    return ir.CreateIntToPtr(index, ir.getPtrTy());
  return ir.CreateGEP(ir.getIntNTy(unit * 8), base, ir.CreateSExt(index, ir.getInt64Ty()));
}

/// Whether a register's length from each index on, and before it, stays in the indices' type.
Value *NearLanes::areInRange(IRBuilder<> &ir, Value *of) const {
  const uint64_t length = uint64_t(lanesOfRegister() - 1) << shift();
  const unsigned bits = of->getType()->getScalarSizeInBits();
  const uint64_t least = uint64_t(1) << (bits - 1);
  return ir.CreateICmpULE(ir.CreateSub(of, number(of, least + length)),
                          number(of, 2 * (least - length) - 1));
}

/// Whether windows from there on are within a page each.
Value *NearLanes::areInPage(IRBuilder<> &ir, Value *starts) const {
  const uint64_t bytes = uint64_t(access.elementBits() / 8) * lanesOfRegister();
  Value *at = ir.CreateMul(starts, number(starts, unit));
  if (base) {
    Value *low = ir.CreateTrunc(ir.CreatePtrToInt(base, ir.getInt64Ty()), ir.getInt32Ty());
    const auto n = cast<FixedVectorType>(starts->getType())->getNumElements();
    at = ir.CreateAdd(at, ir.CreateVectorSplat(n, low));
  }
  return ir.CreateICmpULE(ir.CreateAnd(at, number(at, kPage - 1)), number(at, kPage - bytes));
}

/// Of each register's lanes one index, the least or the most.
Value *NearLanes::ofRegisters(IRBuilder<> &ir, Value *all, Intrinsic::ID which) const {
  for (unsigned n = lanesOfRegister(); n > 1; n /= 2) {
    const unsigned left = cast<FixedVectorType>(all->getType())->getNumElements() / 2;
    all = ir.CreateBinaryIntrinsic(which, ir.CreateShuffleVector(all, createStrideMask(0, 2, left)),
                                   ir.CreateShuffleVector(all, createStrideMask(1, 2, left)));
  }
  return all;
}

void NearLanes::gather(IRBuilder<> &ir, BasicBlock *each, BasicBlock *done) const {
  const unsigned n = lanesOfRegister(), registers = access.lanes() / n;
  Value *all = loadIndices(ir);
  Value *least = ofRegisters(ir, all, base ? Intrinsic::smin : Intrinsic::umin),
        *most = ofRegisters(ir, all, base ? Intrinsic::smax : Intrinsic::umax);
  // Of each register's two windows.
  Value *starts[] = {least, ir.CreateSub(most, number(most, uint64_t(n - 1) << shift()))};
  Value *fits = ir.CreateAnd(areInPage(ir, starts[0]), areInPage(ir, starts[1]));
  fits = ir.CreateAnd(fits, ir.CreateAnd(areInRange(ir, least), areInRange(ir, most)));
  struct Register {
    Value *isInFirst, *starts[2], *elements[2];
  };
  SmallVector<Register> loads;
  Value *areIn = nullptr;
  for (unsigned k = 0; k < registers; ++k) {
    Value *own = lanesFrom(ir, all, k * n, n), *isIn[2];
    Register r;
    for (unsigned w : {0, 1}) {
      r.starts[w] = ir.CreateExtractElement(starts[w], k);
      r.elements[w] = inElements(ir, ir.CreateSub(own, ir.CreateVectorSplat(n, r.starts[w])));
      isIn[w] = ir.CreateICmpULT(r.elements[w], number(r.elements[w], n));
    }
    r.isInFirst = isIn[0];
    Value *isInOne = ir.CreateOr(isIn[0], isIn[1]);
    areIn = areIn ? ir.CreateAnd(areIn, isInOne) : isInOne;
    loads.push_back(r);
  }
  auto *block = BasicBlock::Create(ir.getContext(), "windows", each->getParent());
  ir.CreateCondBr(ir.CreateAnd(ir.CreateAndReduce(fits), ir.CreateAndReduce(areIn)), block, each);
  ir.SetInsertPoint(block);
  auto *window = FixedVectorType::get(access.type->getElementType(), n);
  auto *numbers = FixedVectorType::get(ir.getInt32Ty(), n);
  for (auto [k, r] : enumerate(loads)) {
    Value *from[2];
    for (unsigned w : {0, 1})
      from[w] =
          simt::permute(ir, ir.CreateAlignedLoad(window, placeOf(ir, r.starts[w]), access.align),
                        ir.CreateZExtOrTrunc(r.elements[w], numbers), target);
    ir.CreateAlignedStore(ir.CreateSelect(r.isInFirst, from[0], from[1]),
                          ir.CreateConstGEP1_64(window, values, k), Align(1));
  }
  ir.CreateBr(done);
}

} // namespace ptxrun::jit
