#include "translate/lower/memory_order.h"

#include "intrinsics/memory_order.h"
#include "translate/lower/lane_module.h"

namespace ptxrun::lower {

using abi::Operation;
using abi::Scope;
using abi::Sem;
using isa::StateSpace;
using isa::Token;

namespace {

abi::Memory memoryOf(StateSpace space) {
  return space == StateSpace::shared          ? abi::Memory::own
         : space == StateSpace::sharedCluster ? abi::Memory::cluster
                                              : abi::Memory::any;
}

Sem writtenSem(const check::Instruction &in) {
  switch (in.oneOf(
      {Token::relaxed, Token::acquire, Token::release, Token::acq_rel, Token::sc, Token::mmio})) {
  case Token::relaxed:
    return Sem::relaxed;
  case Token::mmio:
    return Sem::mmio;
  case Token::acquire:
    return Sem::acquire;
  case Token::release:
    return Sem::release;
  case Token::acq_rel:
    return Sem::acqRel;
  case Token::sc:
    return Sem::sc;
  default:
    return Sem::none;
  }
}

Scope writtenScope(const check::Instruction &in) {
  switch (in.oneOf({Token::cta, Token::cluster, Token::gpu, Token::gl, Token::sys})) {
  case Token::cta:
    return Scope::cta;
  case Token::cluster:
    return Scope::cluster;
  case Token::gpu:
  case Token::gl:
    return Scope::gpu;
  case Token::sys:
    return Scope::sys;
  default:
    return Scope::none;
  }
}

llvm::AtomicOrdering orderingOf(abi::Order order) {
  switch (order) {
  case abi::Order::relaxed:
    return llvm::AtomicOrdering::Monotonic;
  case abi::Order::acquire:
    return llvm::AtomicOrdering::Acquire;
  case abi::Order::release:
    return llvm::AtomicOrdering::Release;
  case abi::Order::acqRel:
    return llvm::AtomicOrdering::AcquireRelease;
  case abi::Order::seqCst:
    return llvm::AtomicOrdering::SequentiallyConsistent;
  default:
    return llvm::AtomicOrdering::NotAtomic;
  }
}

llvm::SyncScope::ID syncScope(llvm::LLVMContext &context, Scope scope) {
  switch (scope) {
  case Scope::cta:
    return context.getOrInsertSyncScopeID("cta");
  case Scope::cluster:
    return context.getOrInsertSyncScopeID("cluster");
  case Scope::gpu:
    return context.getOrInsertSyncScopeID("gpu");
  default:
    return llvm::SyncScope::System;
  }
}

MemoryOrder lookUp(llvm::LLVMContext &context, const check::Instruction &in, Operation operation,
                   Scope scope, StateSpace space) {
  MemoryOrder order;
  order.ordering = orderingOf(abi::orderOf(operation, writtenSem(in)));
  if (order.isAtomic())
    order.scope = syncScope(context, abi::effectiveScope(scope, memoryOf(space)));
  return order;
}

bool isPrivate(StateSpace space) {
  return space == StateSpace::local || space == StateSpace::param || space == StateSpace::constant;
}

} // namespace

MemoryOrder accessOrder(llvm::LLVMContext &context, const check::Instruction &in,
                        StateSpace space) {
  if (isPrivate(space))
    return {};
  MemoryOrder order = lookUp(context, in, Operation::access, writtenScope(in), space);
  order.isVolatile = in.has(Token::volatile_) || in.has(Token::mmio);
  return order;
}

MemoryOrder atomicOrder(llvm::LLVMContext &context, const check::Instruction &in,
                        StateSpace space) {
  const Scope written = writtenScope(in);
  return lookUp(context, in, Operation::readModifyWrite,
                written == Scope::none ? Scope::gpu : written, space);
}

MemoryOrder fenceOrder(llvm::LLVMContext &context, const check::Instruction &in) {
  const bool isMembar = in.form->opcode.starts_with("membar");
  return lookUp(context, in, isMembar ? Operation::membar : Operation::fence, writtenScope(in),
                StateSpace::generic);
}

namespace {
Scope scopeOf(llvm::LLVMContext &context, llvm::SyncScope::ID id) {
  if (id == llvm::SyncScope::SingleThread)
    return Scope::cta;
  for (const Scope scope : {Scope::cta, Scope::cluster, Scope::gpu})
    if (id == syncScope(context, scope))
      return scope;
  return Scope::sys;
}
} // namespace

bool staysOnOneThread(llvm::LLVMContext &context, llvm::SyncScope::ID id, unsigned addressSpace) {
  return abi::staysOnOneThread(scopeOf(context, id),
                               addressSpace == kShared ? abi::Memory::cluster : abi::Memory::any);
}

bool staysOnDevice(llvm::LLVMContext &context, llvm::SyncScope::ID id) {
  return abi::staysOnDevice(scopeOf(context, id));
}

} // namespace ptxrun::lower
