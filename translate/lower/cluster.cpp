// Clusters: mapa, getctarank, barrier.cluster, griddepcontrol, clusterlaunchcontrol, setmaxnreg
// (PTX ISA 9.7.9.23, 9.7.9.24, 9.7.13.3, 9.7.13.13, 9.7.13.17, 9.7.13.18, 9.7.19.5).
#include "intrinsics/abi.h"
#include "translate/lower/lane_builder.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;

namespace {

constexpr unsigned kShift = abi::kSharedWindowShift;

/// The operand's address as an offset in the cluster's arena: (rank << kShift) + offset in that
/// CTA's window.
llvm::Value *arenaOffset(LaneBuilder &b, const Instruction &in) {
  llvm::Value *address = b.readBits(in.operands[1], 64);
  if (LaneBuilder::space(in) == isa::StateSpace::generic)
    address = b.ir.CreateSub(address, b.sharedBase());
  return b.ir.CreateTrunc(address, b.intType(32));
}

} // namespace

void lowerMapa(LaneBuilder &b, const Instruction &in) {
  llvm::Value *place = b.ir.CreateAnd(arenaOffset(b, in), b.constant(32, (1u << kShift) - 1));
  llvm::Value *rank = b.ir.CreateShl(b.readBits(in.operands[2], 32), kShift);
  llvm::Value *address = b.ir.CreateZExt(b.ir.CreateOr(rank, place), b.intType(64));
  if (LaneBuilder::space(in) == isa::StateSpace::generic)
    address = b.ir.CreateAdd(address, b.sharedBase());
  b.write(in, 0, b.extend(address, b.intType(isa::bitWidth(in.type())), false));
}

void lowerGetctarank(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, b.ir.CreateLShr(arenaOffset(b, in), kShift));
}

void lowerBarrierClusterArrive(LaneBuilder &b, const Instruction &) {
  b.word("ptx.cluster.arrive", b.ir.getVoidTy(), {}, LaneBuilder::WordEffect::sync);
}

void lowerBarrierClusterWait(LaneBuilder &b, const Instruction &) {
  b.word("ptx.cluster.wait", b.ir.getVoidTy(), {}, LaneBuilder::WordEffect::sync);
}

/// griddepcontrol: launches of a stream run one after the other, so that what a grid depends on is
/// complete and flushed.
void lowerGriddepcontrol(LaneBuilder &, const Instruction &) {}

/// setmaxnreg moves hardware registers between warps.
void lowerSetmaxnreg(LaneBuilder &, const Instruction &) {}

void lowerClusterlaunchcontrolTryCancel(LaneBuilder &b, const Instruction &in) {
  // The result and the mbarrier are both in shared memory, in the same space.
  const auto space = LaneBuilder::space(in);
  const bool isMulticast = in.has(Token::multicast_cluster_all);
  b.word("ptx.cluster.try_cancel", b.ir.getVoidTy(),
         {b.hostPointer(in.operands[0], space), b.hostPointer(in.operands[1], space),
          b.constant(32, isMulticast)},
         LaneBuilder::WordEffect::memory);
}

/// The answer's layout is abi.h's (ptxrun_cluster_try_cancel): %ctaid in bytes 0 to 11, byte 12
/// tells success.
void lowerClusterlaunchcontrolQueryCancel(LaneBuilder &b, const Instruction &in) {
  const auto words = b.split(b.readBits(in.operands[1], 128), b.intType(32));
  if (in.has(Token::is_canceled))
    return b.write(in, 0, b.ir.CreateTrunc(words[3], b.intType(1)));
  if (in.has(Token::get_first_ctaid))
    return b.writeElements(in.operands[0], {words[0], words[1], words[2], b.constant(32, 0)});
  const unsigned axis = in.has(Token::get_first_ctaid_x)   ? 0
                        : in.has(Token::get_first_ctaid_y) ? 1
                                                           : 2;
  b.write(in, 0, words[axis]);
}

} // namespace ptxrun::lower
