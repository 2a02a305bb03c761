// Special registers (PTX ISA 10): where a gang is, and what the records of the launch and the CTA
// say.
#include "intrinsics/abi.h"
#include "translate/simt/collectives.h"

namespace ptxrun::simt {

using llvm::Value;

/// From the record of the launch, which does not change while kernels run.
Value *Collectives::launchField(size_t offset, llvm::Type *type) {
  return field(kLaunch, offset, type, true);
}

/// %ntid
Value *Collectives::blockExtent(unsigned axis) {
  if (context_.options.block[0])
    return b_.getInt32(context_.options.block[axis]);
  return launchField(offsetof(abi::Launch, block) + 4 * axis, b_.getInt32Ty());
}

Value *Collectives::emitBlockExtent(const llvm::CallBase &, const Word &word) {
  return blockExtent(word.axis);
}

Value *Collectives::emitThreadIndex(const llvm::CallBase &call, const Word &word) {
  const auto block = context_.options.block;
  const unsigned axis = word.axis;
  const Shape shape = shapes_.shape(&call);
  Value *first = argument(kFirstThread);
  Value *thread = first;
  if (shape.isVarying() && lanes_ > 1) {
    llvm::SmallVector<llvm::Constant *> lane;
    for (unsigned l = 0; l < lanes_; ++l)
      lane.push_back(b_.getInt32(l));
    thread = b_.CreateAdd(b_.CreateVectorSplat(lanes_, first), llvm::ConstantVector::get(lane));
  }
  auto bound = [&](Value *v) {
    return thread->getType()->isVectorTy() ? b_.CreateVectorSplat(lanes_, v) : v;
  };
  // With constant offsets the base is that of lane 0; a coordinate that starts over inside the gang
  // has base 0.
  if (shape.hasOffsets() && shape.alignment == 63)
    return b_.getInt32(0);
  if (axis == 0)
    return block[1] * block[2] == 1 && block[0] ? thread
                                                : b_.CreateURem(thread, bound(blockExtent(0)));
  if (axis == 1) {
    Value *row = b_.CreateUDiv(thread, bound(blockExtent(0)));
    return block[2] == 1 ? row : b_.CreateURem(row, bound(blockExtent(1)));
  }
  return b_.CreateUDiv(thread, bound(b_.CreateMul(blockExtent(0), blockExtent(1))));
}

/// The warp's lane that the gang's first lane is.
Value *Collectives::firstLaneOfGang() {
  return lanes_ == 32 ? static_cast<Value *>(b_.getInt32(0))
                      : b_.CreateAnd(argument(kFirstThread), 31);
}

Value *Collectives::emitLaneNumber(const llvm::CallBase &, const Word &) {
  return firstLaneOfGang();
}

Value *Collectives::emitLaneMask(const llvm::CallBase &, const Word &word) {
  Value *laneBase = firstLaneOfGang();
  llvm::SmallVector<llvm::Constant *> steps;
  for (unsigned l = 0; l < lanes_; ++l)
    steps.push_back(b_.getInt32(l));
  Value *lane = lanes_ == 1 ? laneBase
                            : b_.CreateAdd(b_.CreateVectorSplat(lanes_, laneBase),
                                           llvm::ConstantVector::get(steps));
  Value *one = llvm::ConstantInt::get(lane->getType(), 1), *bit = b_.CreateShl(one, lane);
  Value *below = b_.CreateSub(bit, one);
  if (word.op == Op::lanemaskEq)
    return bit;
  if (word.op == Op::lanemaskLt)
    return below;
  Value *upTo = b_.CreateOr(below, bit);
  if (word.op == Op::lanemaskLe)
    return upTo;
  return b_.CreateNot(word.op == Op::lanemaskGt ? upTo : below);
}

/// Places and extents along one axis, of CTAs and clusters.
Value *Collectives::emitGridPlace(const llvm::CallBase &, const Word &word) {
  llvm::Type *i32 = b_.getInt32Ty();
  auto ofLaunch = [&](size_t offset) { return launchField(offset + 4 * word.axis, i32); };
  switch (word.op) {
  case Op::ctaid:
    return argument(kCtaX + word.axis);
  case Op::nctaid:
    return ofLaunch(offsetof(abi::Launch, grid));
  case Op::clusterNctaid:
    return ofLaunch(offsetof(abi::Launch, cluster));
  case Op::clusterCtaid:
    return field(kCta, offsetof(abi::Cta, clusterCtaid) + 4 * word.axis, i32, false);
  // Not Cta::clusterid: code that runs a range of CTAs without clusters writes only `ctaid`.
  case Op::clusterid:
    return b_.CreateUDiv(argument(kCtaX + word.axis), ofLaunch(offsetof(abi::Launch, cluster)));
  default: // nclusterid
    return b_.CreateUDiv(ofLaunch(offsetof(abi::Launch, grid)),
                         ofLaunch(offsetof(abi::Launch, cluster)));
  }
}

Value *Collectives::emitClusterRegister(const llvm::CallBase &, const Word &word) {
  llvm::Type *i32 = b_.getInt32Ty();
  if (word.op == Op::clusterCtarank)
    return field(kCta, offsetof(abi::Cta, clusterRank), i32, false);
  if (word.op == Op::isExplicitCluster)
    return b_.CreateIsNotNull(launchField(offsetof(abi::Launch, isExplicitCluster), i32));
  Value *n = launchField(offsetof(abi::Launch, cluster), i32);
  for (unsigned a = 1; a < 3; ++a)
    n = b_.CreateMul(n, launchField(offsetof(abi::Launch, cluster) + 4 * a, i32));
  return n;
}

Value *Collectives::emitWarpNumber(const llvm::CallBase &, const Word &word) {
  if (word.op == Op::warpid)
    return b_.CreateLShr(argument(kFirstThread), 5);
  Value *threads = b_.getInt32(1);
  for (unsigned a = 0; a < 3; ++a)
    threads = b_.CreateMul(threads, blockExtent(a));
  return b_.CreateLShr(b_.CreateAdd(threads, b_.getInt32(31)), 5);
}

Value *Collectives::emitRecordField(const llvm::CallBase &, const Word &word) {
  llvm::Type *i32 = b_.getInt32Ty();
  switch (word.op) {
  case Op::smid:
    return field(kCta, offsetof(abi::Cta, smid), i32, false);
  case Op::nsmid:
    return launchField(offsetof(abi::Launch, workerCount), i32);
  case Op::gridid:
    return launchField(offsetof(abi::Launch, gridId), b_.getInt64Ty());
  case Op::dynamicSmemSize:
    return launchField(offsetof(abi::Launch, dynamicSharedBytes), i32);
  default: // total_smem_size
    return b_.CreateAdd(launchField(offsetof(abi::Launch, dynamicSharedBytes), i32),
                        launchField(offsetof(abi::Launch, staticSharedBytes), i32));
  }
}

Value *Collectives::emitClock(const llvm::CallBase &, const Word &word) {
  Value *time = runtime(word.op == Op::globaltimer ? "ptxrun_globaltimer" : "ptxrun_clock64",
                        b_.getInt64Ty(), {});
  if (word.op == Op::clock)
    return b_.CreateTrunc(time, b_.getInt32Ty());
  if (word.op == Op::clockHi)
    return b_.CreateTrunc(b_.CreateLShr(time, 32), b_.getInt32Ty());
  return time;
}

/// %envreg1 and 2: the workspace of the grid's barrier, as the runtime library of CUDA asks for it.
Value *Collectives::emitEnvironment(const llvm::CallBase &, const Word &word) {
  if (word.op == Op::envreg)
    return b_.getInt32(0);
  Value *workspace = launchField(offsetof(abi::Launch, gridWorkspace), b_.getInt64Ty());
  return b_.CreateTrunc(word.op == Op::envreg1 ? b_.CreateLShr(workspace, 32) : workspace,
                        b_.getInt32Ty());
}

Value *Collectives::emitSharedWindow(const llvm::CallBase &, const Word &word) {
  if (word.op == Op::sharedWindow)
    return b_.getInt64(uint64_t(16) << abi::kSharedWindowShift);
  return b_.CreatePtrToInt(sharedBase(), b_.getInt64Ty());
}

Value *Collectives::emitReportedThreads(const llvm::CallBase &call, const Word &) {
  Value *place =
      b_.CreateConstGEP1_64(b_.getInt8Ty(), argument(kGang), offsetof(abi::Gang, laneCount));
  Value *before = b_.CreateLoad(b_.getInt32Ty(), place, /*isVolatile=*/true);
  b_.CreateStore(firstLaneOf(call.getArgOperand(0)), place, /*isVolatile=*/true);
  return before;
}

} // namespace ptxrun::simt
