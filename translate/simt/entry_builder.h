// What the builders of entry points share: access to the records of intrinsics/abi.h, the loop over
// CTAs.
#pragma once
#include "translate/simt/entry.h"

namespace ptxrun::simt {

struct Entry {
  llvm::IRBuilder<> b;
  const ModuleContext &context;
  llvm::Value *launch = nullptr, *cta = nullptr, *gang = nullptr;

  llvm::Value *place(llvm::Value *record, size_t offset) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), record, offset);
  }
  llvm::Value *read(llvm::Value *record, size_t offset) {
    return b.CreateAlignedLoad(b.getInt32Ty(), place(record, offset), llvm::Align(4));
  }
  /// From the record of the launch, which does not change while kernels run.
  llvm::Value *readLaunch(size_t offset) {
    auto *load = llvm::cast<llvm::LoadInst>(read(launch, offset));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                      llvm::MDNode::get(load->getContext(), {}));
    return load;
  }
  void write(llvm::Value *record, size_t offset, llvm::Value *v) {
    b.CreateAlignedStore(v, place(record, offset), llvm::Align(4));
  }

  /// Of the grid, along the axis that CTAs are counted along n-th.
  llvm::Value *gridExtent(unsigned n) {
    const unsigned axis = context.gridAxis(n);
    llvm::Value *ctas = readLaunch(offsetof(abi::Launch, grid) + 4 * axis);
    const uint32_t joined = context.options.joinedCtas[axis];
    return joined == 1
               ? ctas
               : b.CreateUDiv(b.CreateAdd(ctas, b.getInt32(joined - 1)), b.getInt32(joined));
  }
  /// Where the CTA is along that axis: for its code, and for reports.
  void writeCtaid(llvm::Value *(&ctaid)[3], unsigned n, llvm::Value *at) {
    const unsigned axis = context.gridAxis(n);
    ctaid[axis] = at;
    write(cta, offsetof(abi::Cta, ctaid) + 4 * axis, at);
  }

  /// Lanes below `count`.
  llvm::Value *lanesBelow(llvm::Value *count) {
    const unsigned w = context.lanes;
    if (w == 1)
      return b.getTrue();
    llvm::SmallVector<llvm::Constant *> n;
    for (unsigned l = 0; l < w; ++l)
      n.push_back(b.getInt32(l));
    return b.CreateICmpULT(llvm::ConstantVector::get(n), b.CreateVectorSplat(w, count));
  }
  llvm::CallInst *call(llvm::Function *body, llvm::Value *const ctaid[3], llvm::Value *firstThread,
                       llvm::Value *mask) {
    return b.CreateCall(body, {launch, cta, gang, ctaid[0], ctaid[1], ctaid[2], firstThread, mask});
  }
  /// The lanes of a full gang.
  llvm::Value *allLanes() {
    if (context.gangThreads < context.lanes)
      return lanesBelow(b.getInt32(context.gangThreads));
    return context.lanes == 1 ? static_cast<llvm::Value *>(b.getTrue())
                              : llvm::Constant::getAllOnesValue(
                                    llvm::FixedVectorType::get(b.getInt1Ty(), context.lanes));
  }
  /// Writes into the record of the gang that runs next, for reports and collectives: what changes
  /// from gang to gang, ...
  void writeFirstThread(llvm::Value *thread) {
    write(gang, offsetof(abi::Gang, firstThread), thread);
  }
  /// ... and what may not.
  void writeLanes(llvm::Value *count) {
    write(gang, offsetof(abi::Gang, laneCount), count);
    write(gang, offsetof(abi::Gang, liveMask), b.getInt32(~0u));
  }
  /// Threads of a CTA: a constant where the block is compiled in.
  llvm::Value *threadCount() {
    llvm::Value *n = b.getInt32(1);
    for (unsigned a = 0; a < 3; ++a)
      n = b.CreateMul(n, context.options.block[0]
                             ? static_cast<llvm::Value *>(b.getInt32(context.options.block[a]))
                             : readLaunch(offsetof(abi::Launch, block) + 4 * a));
    return n;
  }
};

/// An entry point; its own code comes from the line of the kernel `body` is made of.
llvm::Function *makeEntry(ModuleContext &, llvm::StringRef name, llvm::Type *result,
                          llvm::ArrayRef<llvm::Type *>, const llvm::Function &body,
                          llvm::GlobalValue::LinkageTypes = llvm::GlobalValue::ExternalLinkage);
/// An empty abi::CtaRangeFunction.
llvm::Function *makeCtaRange(ModuleContext &, const llvm::Function &body);
/// What is emitted from now on belongs to the function's own line.
void setLine(llvm::IRBuilder<> &, const llvm::Function &);

struct CtaLoop {
  llvm::Value *ctaid[3];
  llvm::Value *threads;   ///< of a CTA
  llvm::BasicBlock *next; ///< where code of a CTA ends
};
/// for cta in [first, end) in an empty abi::CtaRangeFunction whose entry block `e` stands in; goes
/// on emitting where the code of one CTA begins.
CtaLoop openCtaLoop(Entry &, llvm::Function &);

} // namespace ptxrun::simt
