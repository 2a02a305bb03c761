// cp.async and cp.async.bulk without tensors (PTX ISA 9.7.9.25.3, 9.7.9.25.4, 9.7.9.25.6),
// st.async, red.async, st.bulk (9.7.9.12, 9.7.9.13, 9.7.13.7).
#include "translate/lower/async_operands.h"
#include "translate/lower/lane_builder.h"
#include "translate/lower/memory_access.h"
#include "translate/lower/module_builder.h"

namespace ptxrun::lower {

using check::Instruction;
using check::Operand;
using isa::StateSpace;
using isa::Token;

namespace {
constexpr auto kMemory = LaneBuilder::WordEffect::memory;
}

// --- cp.async ----------------------------------------------------------------------------------

namespace {

/// The bytes to copy: fewer than the whole where src-size or ignore-src says so.
llvm::Value *sourceBytesOf(LaneBuilder &b, const Instruction &in, llvm::Value *bytes) {
  if (b.has(in, 3) && in.operands[3].type == isa::Type::pred) // ignore-src
    return b.select(b.read(in, 3), b.constant(32, 0), bytes);
  if (b.has(in, 3) && in.operands[3].type == isa::Type::u32)
    return b.readBits(in.operands[3], 32);
  return bytes;
}

void copyNow(LaneBuilder &b, const Instruction &in) {
  const unsigned bytes = static_cast<unsigned>(in.operands[2].integer);
  llvm::Type *i32 = b.intType(32);
  llvm::Type *type = bytes == 4 ? i32 : llvm::FixedVectorType::get(i32, bytes / 4);
  llvm::Value *source = b.pointer(in.operands[1], StateSpace::global);
  llvm::Value *destination = b.pointer(in.operands[0], StateSpace::shared);
  llvm::Value *value = b.ir.CreateAlignedLoad(type, source, llvm::Align(bytes));
  b.ir.CreateAlignedStore(value, destination, llvm::Align(bytes));
}

void copyByRuntime(LaneBuilder &b, const Instruction &in, llvm::Value *sourceBytes) {
  const CopyEnds ends = endsOf(b, in);
  b.word("ptx.cp.async", b.ir.getVoidTy(),
         {ends.destination, ends.source, b.readBits(in.operands[2], 32), sourceBytes}, kMemory);
}

} // namespace

// cp.async: `bytes` at the destination, of which the first source bytes are copied and the rest is
// zero. It may complete at once:
//   if (source bytes == bytes) *destination = *source; else the runtime copies and fills;
void lowerCpAsync(LaneBuilder &b, const Instruction &in) {
  llvm::Value *bytes = b.readBits(in.operands[2], 32), *sourceBytes = sourceBytesOf(b, in, bytes);
  if (b.module().options().defersCopies)
    return copyByRuntime(b, in, sourceBytes);
  if (sourceBytes == bytes)
    return copyNow(b, in);
  llvm::BasicBlock *whole = b.newBlock("copy.whole"), *part = b.newBlock("copy.part"),
                   *after = b.newBlock("copied");
  b.ir.CreateCondBr(b.ir.CreateICmpEQ(sourceBytes, bytes), whole, part);
  b.ir.SetInsertPoint(whole);
  copyNow(b, in);
  b.ir.CreateBr(after);
  b.ir.SetInsertPoint(part);
  copyByRuntime(b, in, sourceBytes);
  b.ir.CreateBr(after);
  b.ir.SetInsertPoint(after);
}

void lowerCpAsyncCommitGroup(LaneBuilder &b, const Instruction &) {
  b.word("ptx.cp.async.commit_group", b.ir.getVoidTy(), {}, kMemory);
}

/// cp.async.wait_group N, and wait_all: commit_group and wait_group 0.
void lowerCpAsyncWaitGroup(LaneBuilder &b, const Instruction &in) {
  const bool isAll = in.operands.empty();
  if (isAll)
    lowerCpAsyncCommitGroup(b, in);
  b.word("ptx.cp.async.wait_group", b.ir.getVoidTy(),
         {isAll ? b.constant(32, 0) : b.readBits(in.operands[0], 32)}, kMemory);
}

void lowerCpAsyncMbarrierArrive(LaneBuilder &b, const Instruction &in) {
  b.word(
      "ptx.cp.async.mbarrier.arrive", b.ir.getVoidTy(),
      {b.hostPointer(in.operands[0], LaneBuilder::space(in)), b.constant(32, in.has(Token::noinc))},
      kMemory);
}

// --- cp.async.bulk -----------------------------------------------------------------------------

namespace {
/// .ignore_oob: the bytes to leave out at both ends, where the runtime looks for them.
llvm::Value *ignoredEnds(LaneBuilder &b, const Instruction &in) {
  const auto count = [&](unsigned operand, unsigned shift) {
    llvm::Value *bytes = b.ir.CreateAnd(b.readBits(in.operands[operand], 32), b.constant(32, 15));
    return b.ir.CreateShl(bytes, b.constant(32, shift));
  };
  return b.ir.CreateOr(b.constant(32, 0xffff), b.ir.CreateOr(count(3, 16), count(4, 20)));
}

void copyBulk(LaneBuilder &b, const Instruction &in, const CopyEnds &ends) {
  llvm::Value *bytes = b.readBits(in.operands[2], 32), *mbarrier = mbarrierPointer(b, in);
  llvm::Value *mask = maskOperandOf(b, in);
  const bool isMulticast = in.has(Token::multicast_cluster);
  if (in.has(Token::ignore_oob))
    mask = ignoredEnds(b, in);
  else
    mask = mask ? b.extend(mask, b.intType(32), false) : b.constant(32, 0xffff);
  b.word(isMulticast ? "ptx.cp.async.bulk.multicast" : "ptx.cp.async.bulk", b.ir.getVoidTy(),
         {ends.destination, ends.source, bytes, mbarrier, mask}, kMemory);
}

void reduceBulk(LaneBuilder &b, const Instruction &in, const CopyEnds &ends) {
  b.word("ptx.cp.reduce.async.bulk", b.ir.getVoidTy(),
         {ends.destination, ends.source, b.readBits(in.operands[2], 32), mbarrierPointer(b, in),
          b.constant(32, static_cast<uint32_t>(reduceOpOf(in))),
          b.constant(32, static_cast<uint32_t>(reduceTypeOf(in.type())))},
         kMemory);
}

} // namespace

void lowerCpAsyncBulk(LaneBuilder &b, const Instruction &in) { copyBulk(b, in, endsOf(b, in)); }

void lowerCpReduceAsyncBulk(LaneBuilder &b, const Instruction &in) {
  reduceBulk(b, in, endsOf(b, in));
}

/// To the memory of every device of the team.
void lowerMultimemCpAsyncBulk(LaneBuilder &b, const Instruction &in) {
  const CopyEnds ends = endsOf(b, in);
  copyBulk(b, in, ends);
  forOtherReplicas(b, ends.destination, [&](llvm::Value *place) {
    copyBulk(b, in, {place, ends.source});
  });
}

void lowerMultimemCpReduceAsyncBulk(LaneBuilder &b, const Instruction &in) {
  const CopyEnds ends = endsOf(b, in);
  reduceBulk(b, in, ends);
  forOtherReplicas(b, ends.destination, [&](llvm::Value *place) {
    reduceBulk(b, in, {place, ends.source});
  });
}

/// Prefetches promise nothing.
void lowerCpAsyncBulkPrefetch(LaneBuilder &, const Instruction &) {}

void lowerCpAsyncBulkCommitGroup(LaneBuilder &b, const Instruction &) {
  b.word("ptx.bulk.commit_group", b.ir.getVoidTy(), {}, kMemory);
}

void lowerCpAsyncBulkWaitGroup(LaneBuilder &b, const Instruction &in) {
  b.word("ptx.bulk.wait_group", b.ir.getVoidTy(),
         {b.readBits(in.operands[0], 32), b.constant(32, in.has(Token::read))}, kMemory);
}

// --- Stores and reductions that complete transactions ------------------------------------------

namespace {
void completeTransactions(LaneBuilder &b, const Instruction &in, unsigned bytes) {
  if (mbarrierOf(in))
    b.word("ptx.mbarrier.complete_tx", b.ir.getVoidTy(),
           {mbarrierPointer(b, in, LaneBuilder::space(in)), b.constant(32, bytes)}, kMemory);
}
} // namespace

/// st.async may complete at once: the store, then its bytes. One without mbarrier is a release
/// store.
void lowerStAsync(LaneBuilder &b, const Instruction &in) {
  const unsigned bytes = in.vector * isa::bitWidth(in.type()) / 8;
  if (!mbarrierOf(in) || !b.module().options().defersCopies) {
    lowerStore(b, in);
    return completeTransactions(b, in, bytes);
  }
  const StateSpace space = LaneBuilder::space(in);
  llvm::Value *value = b.join(b.readElements(in.operands[1], in.type()));
  value = b.extend(value, b.intType(128), false);
  b.word("ptx.st.async", b.ir.getVoidTy(),
         {b.hostPointer(in.operands[0], space), b.ir.CreateTrunc(value, b.intType(64)),
          b.ir.CreateTrunc(b.ir.CreateLShr(value, 64), b.intType(64)), b.constant(32, bytes),
          mbarrierPointer(b, in, space)},
         kMemory);
}

void lowerRedAsync(LaneBuilder &b, const Instruction &in) {
  const unsigned bits = isa::bitWidth(in.type());
  if (!mbarrierOf(in) || !b.module().options().defersCopies) {
    lowerRed(b, in);
    return completeTransactions(b, in, bits / 8);
  }
  const StateSpace space = LaneBuilder::space(in);
  b.word("ptx.red.async", b.ir.getVoidTy(),
         {b.hostPointer(in.operands[0], space),
          b.extend(b.readBits(in.operands[1], bits), b.intType(64), false),
          mbarrierPointer(b, in, space), b.constant(32, static_cast<uint32_t>(reduceOpOf(in))),
          b.constant(32, static_cast<uint32_t>(reduceTypeOf(in.type())))},
         kMemory);
}

// for (i = 0; i < size; i += 8) *(u64 *)(a + i) = 0
void lowerStBulk(LaneBuilder &b, const Instruction &in) {
  llvm::Type *i64 = b.intType(64);
  llvm::Value *base = b.hostPointer(in.operands[0], LaneBuilder::space(in));
  llvm::Value *size = b.extend(b.read(in, 1), i64, false);
  llvm::BasicBlock *before = b.ir.GetInsertBlock(), *loop = b.newBlock("fill"),
                   *after = b.newBlock("filled");
  b.ir.CreateCondBr(b.ir.CreateICmpEQ(size, b.constant(64, 0)), after, loop);
  b.ir.SetInsertPoint(loop);
  llvm::PHINode *at = b.ir.CreatePHI(i64, 2);
  b.ir.CreateAlignedStore(b.constant(64, 0), b.ir.CreateGEP(b.ir.getInt8Ty(), base, at),
                          llvm::Align(8));
  llvm::Value *next = b.ir.CreateAdd(at, b.constant(64, 8));
  at->addIncoming(b.constant(64, 0), before);
  at->addIncoming(next, loop);
  b.ir.CreateCondBr(b.ir.CreateICmpULT(next, size), loop, after);
  b.ir.SetInsertPoint(after);
}

} // namespace ptxrun::lower
