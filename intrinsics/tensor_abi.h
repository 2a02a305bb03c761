// Entry points of the runtime for wgmma and tcgen05 (PTX ISA 9.7.15, 9.7.16), and for several mma together; abi.h has all others.
//
// Operations of a warp take its registers where generated code has them: parts[l] is the address of the rows of the gang that has
// lane l of the warp (zero where there is none), row i its i-th register of W lanes. At W = 32 only parts[0] is set. Operands that
// are the same for all lanes come as `uniform`. Below W = 32 the gang with lane 0 makes the call while the others wait.
#pragma once
#include <cstdint>

namespace ptxrun::abi {
struct Gang;
}

extern "C" {
/// Several mma or wmma.mma (9.7.14) of a whole warp: matrix::multiplyGroup (intrinsics/matrix/group.h).
void ptxrun_matrix_group(const void *group, void *in, void *const *accumulators);

/// wgmma.mma_async of one warp at once: uniform (WgmmaForm, then for each product descriptor of A, of B, whether D counts); registers
/// D, then A's four of each product (where they are registers), then the metadata (of .sp). D's receive the result.
void ptxrun_wgmma(ptxrun::abi::Gang *, uint32_t mask, const uint64_t *uniform, const uint64_t *parts, uint32_t lanes);
/// Where asynchronous operations are put off, registers of products are known by numbers. wgmma.fence: uniform (count); all of them.
void ptxrun_wgmma_fence(ptxrun::abi::Gang *, uint32_t mask, const uint64_t *uniform, const uint64_t *parts, uint32_t lanes);
/// wgmma.mma_async: uniform as above, then the numbers of D's registers and A's, four of 16 bits to a word; register: metadata.
void ptxrun_wgmma_late(ptxrun::abi::Gang *, uint32_t mask, const uint64_t *uniform, const uint64_t *parts, uint32_t lanes);
void ptxrun_wgmma_commit(ptxrun::abi::Gang *, uint32_t mask, const uint64_t *uniform, const uint64_t *parts, uint32_t lanes);
/// wgmma.wait_group: uniform (groups that may be pending, count); all registers, those of completed products receive results.
void ptxrun_wgmma_wait(ptxrun::abi::Gang *, uint32_t mask, const uint64_t *uniform, const uint64_t *parts, uint32_t lanes);

/// tcgen05.alloc: uniform (.cta_group::2?, columns, host address that receives the tensor memory's). Suspends while there are no
/// columns, or until the peer asks too.
void ptxrun_tcgen05_alloc(ptxrun::abi::Gang *, uint32_t mask, const uint64_t *uniform, const uint64_t *parts, uint32_t lanes);
bool ptxrun_tcgen05_alloc_begin(ptxrun::abi::Gang *, uint32_t mask, const uint64_t *uniform, const uint64_t *parts, uint32_t lanes);
/// uniform (.cta_group::2?, columns, address)
void ptxrun_tcgen05_dealloc(ptxrun::abi::Gang *, uint32_t mask, const uint64_t *uniform, const uint64_t *parts, uint32_t lanes);
void ptxrun_tcgen05_relinquish(ptxrun::abi::Gang *, uint32_t mask, const uint64_t *uniform, const uint64_t *parts, uint32_t lanes);
/// uniform (TensorMoveForm, address); the registers, for a reduction one more.
void ptxrun_tcgen05_ld(ptxrun::abi::Gang *, uint32_t mask, const uint64_t *uniform, const uint64_t *parts, uint32_t lanes);
void ptxrun_tcgen05_st(ptxrun::abi::Gang *, uint32_t mask, const uint64_t *uniform, const uint64_t *parts, uint32_t lanes);
/// Performs stores of the warp that were put off.
void ptxrun_tcgen05_wait_st(ptxrun::abi::Gang *, uint32_t mask, const uint64_t *uniform, const uint64_t *parts, uint32_t lanes);
/// Issued by one thread. `form` is a TensorMmaForm; `a` a descriptor or an address; disabledLanes eight words where the form has them.
void ptxrun_tcgen05_mma(ptxrun::abi::Gang *, uint32_t lane, uint64_t form, uint32_t d, uint64_t a, uint64_t b, uint32_t descriptor,
                        uint32_t hasInput, uint32_t metadata, uint32_t scaleA, uint32_t scaleB, uint64_t zeroColumns,
                        const uint32_t *disabledLanes);
/// `form` is a TensorCopyForm.
void ptxrun_tcgen05_cp(ptxrun::abi::Gang *, uint32_t lane, uint64_t form, uint32_t address, uint64_t descriptor);
void ptxrun_tcgen05_shift(ptxrun::abi::Gang *, uint32_t lane, uint32_t isPair, uint32_t address);
/// Arrives once at the mbarrier, or with a CTA mask at those at its offset in these CTAs, when what was issued before is complete.
void ptxrun_tcgen05_commit(ptxrun::abi::Gang *, uint32_t lane, uint32_t isPair, void *object, uint32_t ctaMask);
}
