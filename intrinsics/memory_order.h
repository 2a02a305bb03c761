// The one table from (.sem, .scope, space) to what the host's memory has to do (PTX ISA chapter 8). Lowering, widening and the runtime
// ask here.
//
// clang-format off
//
//   .sem                            order     |  .scope              memory                      on the host
//   ------------------------------------------+--------------------------------------------------------------------------
//   ld, st: none, .weak             none      |  .cta                any                         compiler ordering
//           .volatile               volatile  |  .cluster            any                         compiler ordering
//           .relaxed                relaxed   |  .gpu, .sys, none    shared: the CTA's own or    compiler ordering
//           .mmio                   relaxed,  |                      its cluster's
//                                   volatile  |  .gpu, .sys, none    global, generic             real atomics
//           .acquire                acquire   |
//           .release                release   |  A CTA, and a cluster, runs on one thread of the host from start to end. So what
//   atom, red: none, .relaxed       relaxed   |  its threads do to each other is in program order already, once the compiler keeps
//           .acquire .release       the same  |  it; only other CTAs need the host's atomics, and only those that both name a scope
//           .acq_rel                acq_rel   |  of .gpu or .sys may expect them (8.7, moral strength). The scope of atom and red
//   fence:  none, .acq_rel          acq_rel   |  is .gpu where none is written; membar.gl is .gpu. `.local`, `.param` and `.const`
//           .acquire .release .sc   the same  |  belong to a thread, or nobody writes them: no order.
//   membar, fence.sc                seq_cst   |
//
// clang-format on
//
// Copies and reductions that the runtime does by itself (cp.async, bulk and tensor copies, red.async) are as .relaxed of their scope:
// plain in shared memory, one atomic read-modify-write per element in global memory.
#pragma once

namespace ptxrun::abi {

enum class Sem { none, weak, volatile_, relaxed, mmio, acquire, release, acqRel, sc };
enum class Scope { none, cta, cluster, gpu, sys };
enum class Memory { own, cluster, any };  ///< .shared(::cta), .shared::cluster, everything else
enum class Operation { access, readModifyWrite, fence, membar };
enum class Order { none, relaxed, acquire, release, acqRel, seqCst };

/// The left half of the table.
constexpr Order orderOf(Operation operation, Sem sem) {
  switch (sem) {
  case Sem::relaxed:
  case Sem::mmio: return Order::relaxed;
  case Sem::acquire: return Order::acquire;
  case Sem::release: return Order::release;
  case Sem::acqRel: return Order::acqRel;
  case Sem::sc: return Order::seqCst;
  default: break;
  }
  switch (operation) {
  case Operation::access: return Order::none;
  case Operation::readModifyWrite: return Order::relaxed;
  case Operation::fence: return Order::acqRel;
  default: return Order::seqCst;
  }
}

/// The widest scope that makes a difference in this memory: nobody beyond the CTA, or the cluster, can see it.
constexpr Scope effectiveScope(Scope scope, Memory memory) {
  if (memory == Memory::own)
    return Scope::cta;
  if (memory == Memory::cluster && scope != Scope::cta)
    return Scope::cluster;
  return scope;
}

/// The right half: all who may take part run on one thread of the host.
constexpr bool staysOnOneThread(Scope scope, Memory memory) {
  const Scope effective = effectiveScope(scope, memory);
  return effective == Scope::cta || effective == Scope::cluster;
}

/// Whether all who may take part are launches of this process: none of them the host, or another process. Where one launch runs by
/// itself (Launch::isSole), they are one thread of the host.
constexpr bool staysOnDevice(Scope scope) { return scope == Scope::cta || scope == Scope::cluster || scope == Scope::gpu; }

}  // namespace ptxrun::abi
