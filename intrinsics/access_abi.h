// Entry points of the runtime for single accesses of memory that are more than a load or store:
// those that checks find wrong (translate/observe), and multimem (PTX ISA 9.7.9.14).
#pragma once
#include <cstdint>

#include "intrinsics/abi.h"

namespace ptxrun::abi {

/// What multimem does with the values of several devices: a ReduceOp, a ReduceType of the elements,
/// and whether sums of halves are f32 until the end (.acc::f32).
inline constexpr uint32_t multimemForm(ReduceOp op, ReduceType type, bool isWide) {
  return uint32_t(op) | uint32_t(type) << 8 | uint32_t(isWide) << 16;
}
/// In the place of a ReduceType: 8-bit floats.
inline constexpr uint32_t kMultimemByteFloats = 255;

} // namespace ptxrun::abi

extern "C" {
/// Only in code that checks alignment: the thread in this lane of the gang is about to access
/// memory at an address that is no multiple of `alignment`. `kind` as ptxrun_access has it. Ends
/// the launch.
[[noreturn]] void ptxrun_misaligned(ptxrun::abi::Gang *, uint32_t lane, uint64_t address,
                                    uint32_t alignment, uint32_t kind, uint32_t line);

/// Whether any multicast object of several devices is mapped: else multimem is a plain access.
bool ptxrun_multimem_several();
/// The place at a multicast address in the memory of device `number` of its team, in the order in
/// which they joined; null: there are fewer, 0 gives the address itself.
void *ptxrun_multimem_replica(void *address, uint32_t number);
/// Reduces what lies at the address on all devices, in their order, into `result` (4, 8 or 16
/// bytes).
void ptxrun_multimem_load(ptxrun::abi::Gang *, const void *address, void *result, uint32_t form,
                          uint32_t bytes);
/// Stores on all devices but the first.
void ptxrun_multimem_store(ptxrun::abi::Gang *, void *address, const void *value, uint32_t bytes);
/// Reduces the value into memory of all devices but the first, each element atomically.
void ptxrun_multimem_reduce(ptxrun::abi::Gang *, void *address, const void *value, uint32_t form,
                            uint32_t bytes);
}
