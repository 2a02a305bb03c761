// mbarrier (PTX ISA 9.7.13.15) as words of the runtime. A CTA and its cluster stay on one thread of
// the host, so that the orders .release and .acquire at their scopes ask for nothing but the calls'
// own places.
#include "translate/lower/lane_builder.h"

namespace ptxrun::lower {

using check::Instruction;
using check::Operand;
using isa::Token;

namespace {

constexpr auto kMemory = LaneBuilder::WordEffect::memory;

llvm::Value *object(LaneBuilder &b, const Instruction &in, const Operand &address) {
  return b.hostPointer(address, LaneBuilder::space(in));
}

void countTransactions(LaneBuilder &b, const Instruction &in, llvm::StringRef word) {
  b.word(word, b.ir.getVoidTy(), {object(b, in, in.operands[0]), b.readBits(in.operands[1], 32)},
         kMemory);
}

} // namespace

void lowerMbarrierInit(LaneBuilder &b, const Instruction &in) {
  countTransactions(b, in, "ptx.mbarrier.init");
}

void lowerMbarrierInval(LaneBuilder &b, const Instruction &in) {
  b.word("ptx.mbarrier.inval", b.ir.getVoidTy(), {object(b, in, in.operands[0])}, kMemory);
}

void lowerMbarrierExpectTx(LaneBuilder &b, const Instruction &in) {
  countTransactions(b, in, "ptx.mbarrier.expect_tx");
}

void lowerMbarrierCompleteTx(LaneBuilder &b, const Instruction &in) {
  countTransactions(b, in, "ptx.mbarrier.complete_tx");
}

/// mbarrier.arrive and arrive_drop: `.expect_tx` is an expect-tx operation, then an arrival of
/// count 1; `.noComplete` is the program's promise that the phase does not end.
void lowerMbarrierArrive(LaneBuilder &b, const Instruction &in) {
  llvm::Value *barrier = object(b, in, in.operands[1]);
  llvm::Value *count = b.constant(32, 1);
  if (in.has(Token::expect_tx))
    b.word("ptx.mbarrier.expect_tx", b.ir.getVoidTy(), {barrier, b.readBits(in.operands[2], 32)},
           kMemory);
  else if (b.has(in, 2))
    count = b.readBits(in.operands[2], 32);
  const bool isDrop = in.form->instruction == "mbarrier.arrive_drop";
  if (in.has(Token::noComplete))
    return b.write(in, 0,
                   b.word("ptx.mbarrier.arrive_no_complete", b.intType(64),
                          {barrier, count, b.constant(32, isDrop)}, kMemory));
  b.write(in, 0,
          b.word(isDrop ? "ptx.mbarrier.arrive_drop" : "ptx.mbarrier.arrive", b.intType(64),
                 {barrier, count}, kMemory));
}

void lowerMbarrierPendingCount(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0,
          b.word("ptx.mbarrier.pending_count", b.intType(32), {b.readBits(in.operands[1], 64)},
                 LaneBuilder::WordEffect::pure));
}

/// mbarrier.test_wait and try_wait.
void lowerMbarrierWait(LaneBuilder &b, const Instruction &in) {
  const bool isParity = in.has(Token::parity);
  llvm::Value *state = isParity ? b.extend(b.readBits(in.operands[2], 32), b.intType(64), false)
                                : b.readBits(in.operands[2], 64);
  llvm::SmallVector<llvm::Value *, 4> arguments{object(b, in, in.operands[1]), state,
                                                b.constant(32, isParity)};
  const bool isTest = in.form->instruction == "mbarrier.test_wait";
  if (!isTest) // the largest hint is one less: ~0 is "no limit" to the runtime
    arguments.push_back(b.has(in, 3) ? b.ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin,
                                                                  b.readBits(in.operands[3], 32),
                                                                  b.constant(32, ~0u - 1))
                                     : b.constant(32, 0));
  b.write(in, 0,
          b.word(isTest ? "ptx.mbarrier.test_wait" : "ptx.mbarrier.try_wait", b.intType(1),
                 arguments, kMemory));
}

} // namespace ptxrun::lower
