#include "translate/lower/memory_order.h"

namespace ptxrun::lower {

using isa::StateSpace;
using isa::Token;
using llvm::AtomicOrdering;

namespace {

llvm::SyncScope::ID scopeOf(llvm::LLVMContext &context, Token scope, StateSpace space) {
  if (space == StateSpace::shared)
    scope = Token::cta;
  if (space == StateSpace::sharedCluster && scope != Token::cta)
    scope = Token::cluster;
  switch (scope) {
  case Token::cta:
    return context.getOrInsertSyncScopeID("cta");
  case Token::cluster:
    return context.getOrInsertSyncScopeID("cluster");
  case Token::gpu:
  case Token::gl:
    return context.getOrInsertSyncScopeID("gpu");
  default:
    return llvm::SyncScope::System;
  }
}

AtomicOrdering orderingOf(const check::Instruction &in, AtomicOrdering otherwise) {
  switch (in.oneOf(
      {Token::relaxed, Token::acquire, Token::release, Token::acq_rel, Token::sc, Token::mmio})) {
  case Token::relaxed:
  case Token::mmio:
    return AtomicOrdering::Monotonic;
  case Token::acquire:
    return AtomicOrdering::Acquire;
  case Token::release:
    return AtomicOrdering::Release;
  case Token::acq_rel:
    return AtomicOrdering::AcquireRelease;
  case Token::sc:
    return AtomicOrdering::SequentiallyConsistent;
  default:
    return otherwise;
  }
}

Token writtenScope(const check::Instruction &in) {
  return in.oneOf({Token::cta, Token::cluster, Token::gpu, Token::gl, Token::sys});
}

bool isPrivate(StateSpace space) {
  return space == StateSpace::local || space == StateSpace::param || space == StateSpace::constant;
}

} // namespace

MemoryOrder accessOrder(llvm::LLVMContext &context, const check::Instruction &in,
                        StateSpace space) {
  if (isPrivate(space))
    return {};
  MemoryOrder order;
  order.isVolatile = in.has(Token::volatile_) || in.has(Token::mmio);
  order.ordering = orderingOf(in, AtomicOrdering::NotAtomic);
  if (order.isAtomic())
    order.scope = scopeOf(context, writtenScope(in), space);
  return order;
}

MemoryOrder atomicOrder(llvm::LLVMContext &context, const check::Instruction &in,
                        StateSpace space) {
  const Token written = writtenScope(in);
  MemoryOrder order;
  order.ordering = orderingOf(in, AtomicOrdering::Monotonic);
  order.scope = scopeOf(context, written == Token::none ? Token::gpu : written, space);
  return order;
}

MemoryOrder fenceOrder(llvm::LLVMContext &context, const check::Instruction &in) {
  const bool isMembar = in.form->opcode.starts_with("membar");
  MemoryOrder order;
  order.ordering = orderingOf(in, isMembar ? AtomicOrdering::SequentiallyConsistent
                                           : AtomicOrdering::AcquireRelease);
  order.scope = scopeOf(context, writtenScope(in), StateSpace::generic);
  return order;
}

} // namespace ptxrun::lower
