// From groups of cases to PTX. Two kernels per batch of groups, with parameters (in, out, mask),
// .u64 each:
//
//  registers_<k>  Thread i computes case i of every group from operands it loads, in passes: under
//  the full mask; in a
//                 branch taken where mask[i] is set; guarded by @p, p being mask[i], over registers
//                 that hold kUntouched. Groups take turns with the last two (hasPass), which depend
//                 little on the instruction.
//  literals_<k>   Every thread computes every case of the groups that PTX allows literals in,
//  operands written as literals.
//
// Slots are 32 bytes. The first of `in` holds kUntouched. Operand j of group g, thread i is at
// in + 32 + ((g * kMaxOperands + j) * threads + i) * 32; result r of
// pass p at out + (((p * groups + g) * kMaxResults + r) * threads + i) * 32, and of case c as
// literals at out + ((c * kMaxResults) + r) * 32, cases counted through the batch.
#pragma once
#include <span>
#include <string>

#include "tests/isa/case_file.h"

namespace ptxrun::isa_test {

inline constexpr unsigned kMaxOperands = 6, kMaxResults = 4, kPasses = 3, kSlotBytes = 32;
/// What result registers hold before a guarded instruction.
inline constexpr uint64_t kUntouched = 0x5a5a5a5a5a5a5a5aull;

/// True if the kernel has this pass (0, 1 or 2) for group number `group` of its batch.
bool hasPass(unsigned group, unsigned pass);
/// The kernel `registers_<index>`.
std::string writeRegisterKernel(std::span<const Group> groups, unsigned index, unsigned threads);
/// The kernel `literals_<index>`.
std::string writeLiteralKernel(std::span<const Group> groups, unsigned index);
/// `.version`, `.target`, `.address_size`.
std::string writeHeader(const CaseFile &);

} // namespace ptxrun::isa_test
