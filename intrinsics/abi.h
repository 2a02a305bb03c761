// What generated code and the runtime share. Plain C++ data: no LLVM, no PTX text, nothing of ours is included.
//
// A launch is cut into CTAs; a CTA belongs to one OpenMP worker; a CTA's threads are cut into gangs of W lanes
// (W = 1, 8, 16 or 32; a gang never spans two warps). Generated code reads these structures by field offset
// (simt takes the offsets with offsetof, so a change here needs no second place).
#pragma once
#include <cstddef>
#include <cstdint>

namespace ptxrun::abi {

/// Threads in a warp (PTX ISA 10: WARP_SZ).
inline constexpr uint32_t kWarpSize = 32;

/// Bytes of the `.shared` window one CTA can address; the CTA of cluster rank r sees its own window at offset
/// r << kSharedWindowShift of the cluster's arena. A `.shared` address is (rank << kSharedWindowShift) + offset.
inline constexpr uint32_t kSharedWindowShift = 24;
/// The first byte of a CTA's static shared memory inside its window. Below lies the reserved region
/// (%reserved_smem_offset_*), mapped only for kernels that ask where it is.
inline constexpr uint32_t kSharedFirstOffset = 1024;
/// %reserved_smem_offset_0 and _1. Cooperative groups keep 288 bytes of every block at the second.
inline constexpr uint32_t kReservedSharedOffsets[2] = {0, 512};

/// Inaccessible bytes below every stack that kernels run on. Generated code touches larger frames in steps of this.
inline constexpr uint32_t kStackGuardBytes = 64 * 1024;

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

/// Everything that is the same for all CTAs of a launch. Owned by rt, read-only for generated code.
struct Launch {
  Dim3 grid;                       ///< %nctaid
  Dim3 block;                      ///< %ntid
  Dim3 cluster;                    ///< %cluster_nctaid; 1,1,1 where no cluster was asked for
  uint32_t isExplicitCluster = 0;  ///< %is_explicit_cluster
  uint32_t staticSharedBytes = 0;
  uint32_t dynamicSharedBytes = 0;  ///< %dynamic_smem_size
  uint32_t workerCount = 1;         ///< %nsmid
  uint64_t gridId = 0;              ///< %gridid
  uint64_t gridWorkspace = 0;       ///< %envreg2:%envreg1: zeroed memory of a cooperative launch (grid barriers)
  const void *params = nullptr;     ///< the kernel's `.param` space, laid out as the PTX declares it
  void *rt = nullptr;               ///< rt's own record of the launch
  /// One worker runs it, and no other launch of the process runs: nobody comes in between a load and a store, but who takes
  /// part in `.sys` scope. Any call of an entry point, and nothing else, may end it.
  uint32_t isSole = 0;
};

/// One CTA while it runs. Owned by rt. Generated code that loops over CTAs itself (CtaRangeFunction) writes `ctaid`.
struct Cta {
  const Launch *launch = nullptr;
  Dim3 ctaid;                   ///< %ctaid
  uint32_t clusterRank = 0;     ///< %cluster_ctarank
  Dim3 clusterCtaid{0, 0, 0};   ///< %cluster_ctaid
  Dim3 clusterid{0, 0, 0};      ///< %clusterid
  uint32_t smid = 0;            ///< %smid: the worker's number
  char *sharedBase = nullptr;   ///< host address of `.shared` address 0: the *cluster's* arena (rank 0's window), or with
                                ///< KernelNeeds::hasOwnWindow the CTA's own window
  void *rt = nullptr;           ///< rt's own record of the CTA
};

/// One gang while it runs. Owned by rt.
struct Gang {
  Cta *cta = nullptr;
  uint32_t firstThread = 0;  ///< linear thread number (x fastest) of lane 0 in the CTA; a multiple of W
  uint32_t laneCount = 0;    ///< lanes that exist, 1..W; fewer than W only in the last gang of a CTA
  uint32_t liveMask = 0;     ///< lanes that have not exited; generated code keeps it only where KernelNeeds::tracksExits
  void *rt = nullptr;        ///< rt's own record of the gang (fiber, wait reason)
};

/// A kernel that may suspend: runs one gang to its end. Called on a fiber; suspends inside ptxrun_* entry points.
using GangFunction = void (*)(const Launch *, Cta *, Gang *);
/// A kernel that never suspends: runs every thread of the CTAs with linear numbers [first, end), x fastest (but KernelNeeds::leadingAxis).
/// Uses and overwrites `cta->ctaid`. `gang` is scratch (one record, reused for each gang in turn): code that can fault or
/// trap keeps gang->firstThread and laneCount true, reports read them. Never used for launches with explicit clusters.
using CtaRangeFunction = void (*)(const Launch *, Cta *, Gang *, uint64_t first, uint64_t end);
/// A kernel whose every suspension point is inline (LLVM switched-resume coroutine): `start` runs a gang to its first
/// suspension and returns the frame; the frame's first word is the resume function `void(void*)`, null when the gang is done.
/// The frame comes from ptxrun_frame_alloc and is reclaimed by rt (coro.free / destroy need not be called). A kernel that
/// ends without suspending may return null instead of a frame. Such code calls only the two-step forms (ptxrun_*_begin)
/// of the entry points that suspend, see below.
using GangStartFunction = void *(*)(const Launch *, Cta *, Gang *);

/// What a compiled kernel asks of the runtime. Filled by translate, read by rt.
struct KernelNeeds {
  uint32_t lanes = 32;               ///< W
  uint32_t staticSharedBytes = 0;    ///< from kSharedFirstOffset on
  uint32_t staticSharedAlign = 1;
  uint32_t stackBytes = 64 * 1024;   ///< native stack a fiber of this kernel needs
  bool maySuspend = false;           ///< has barriers, spins or waits: needs gangFunction (or gangStart), not ctaRange
  bool tracksExits = false;
  bool hasBarriers = false;  ///< whether or not a gang suspends at them
  bool usesReservedShared = false;  ///< may use the bytes below kSharedFirstOffset
  bool hasDeviceUpdates = false;  ///< atomics of `.gpu` scope: faster where the launch is the sole one (Launch::isSole)
  /// Threads of a CTA (Gang::firstThread) and CTAs of the grid (CtaRangeFunction) are counted along this axis first, in whose
  /// place x is; 0: x.
  uint8_t leadingAxis = 0;
  /// So many CTAs along each axis of the grid run as one, of so many times the threads along that axis: `.ctaid` of records
  /// and CtaRangeFunction count these. Of the last ones along an axis threads may exceed the grid: code lets them return.
  Dim3 joinedCtas;
  bool hasOwnWindow = false;  ///< `.shared` addresses are offsets in the CTA's own window; else they carry the CTA's rank
};

/// A compiled kernel as rt sees it: code, in one of the three forms at least, and needs. The code is owned by translate::jit and outlives every
/// launch of it.
struct KernelCode {
  GangFunction gang = nullptr;
  CtaRangeFunction ctaRange = nullptr;  ///< only where !needs.maySuspend
  GangStartFunction gangStart = nullptr;  ///< preferred to `gang`
  KernelNeeds needs;
};

/// Addresses begin to begin + bytes - 1.
struct AddressRange {
  uint64_t begin, bytes;
};

/// The most bytes one thread reads or writes at once (`.v8.b32`).
inline constexpr uint64_t kMaxAccessBytes = 32;

/// How a gang's lanes access memory by an index of fewer than 64 bits that is extended: where it wraps between lanes, they
/// lie 2^indexBits * scale apart from where they would otherwise. Constant data beside the kernel's code; lane l's address
/// is base + addressOffsets()[l] + scale * (extend(index + indexOffsets()[l]) - extend(index) - indexOffsets()[l]).
struct WrappedAccess {
  uint64_t lanes;
  uint64_t bytes;  ///< of each lane: 1, 2, 4, 8, 16 or 32
  uint64_t indexBits;
  uint64_t isSigned;  ///< how the index is extended
  uint64_t scale;
  const uint64_t *addressOffsets() const { return &scale + 1; }
  const uint64_t *indexOffsets() const { return addressOffsets() + lanes; }
};

/// Why a gang suspends; shown in reports.
enum class WaitReason : uint32_t { barrier, warp, spin, sleep, mbarrier, clusterBarrier, asyncCopy, grid, time };

/// Why generated code stops a launch (argument of ptxrun_trap).
enum class TrapKind : uint32_t { trap, breakpoint, assertion, illegalInstruction, notConvergent };

/// Operation and element type of cp.reduce.async(.bulk) and red.async.
enum class ReduceOp : uint32_t { add, min, max, inc, dec, and_, or_, xor_ };
enum class ReduceType : uint32_t { u32, s32, u64, s64, f16, bf16, f32, f64, b32, b64 };

/// .load_mode of tensor copies. tile4: .tile::gather4 and .tile::scatter4.
enum class TensorMode : uint32_t { tile, tile4, im2col, im2colNoOffsets, im2colW, im2colW128 };
/// A mode as the entry points take it also says, above these bits, how many coordinates there are; 0 stands for all five.
inline constexpr uint32_t kTensorModeBits = 8;
/// In ctaMask of a tensor load: .cta_group::2, the mbarriers told are those in the pairs' CTAs with the operand's parity.
inline constexpr uint32_t kCtaPairSignal = 0x80000000;
/// Fields of tensormap.replace.
enum class TensorField : uint32_t {
  globalAddress, rank, boxDim, globalDim, globalStride, elementStride,
  elementType, interleave, swizzle, swizzleAtomicity, fill
};

/// What ptxrun_access announces. `other`: an operation of the runtime that reads or writes memory (copies, mbarriers). `fence`: a
/// fence, or an operation of several threads that orders their accesses (barriers, collectives); no access, and nobody else goes first.
enum class AccessKind : uint32_t { load, store, atomic, other, fence };
inline constexpr uint32_t kAccessKindMask = 15;
/// Added to an AccessKind: the address is an offset in the `.shared` window, else it is a host address.
inline constexpr uint32_t kAccessShared = 16;
/// How it is ordered: what comes after it in the thread is, what came before is; its scope is more than the CTA.
inline constexpr uint32_t kAccessAcquires = 32, kAccessReleases = 64, kAccessBeyondCta = 128;
/// It waits for all threads of the CTA or cluster that have not exited: what those that have did is before it.
inline constexpr uint32_t kAccessWaitsForAll = 256;

}  // namespace ptxrun::abi

// Entry points of the runtime that generated code calls; rt defines them, jit resolves them by name. `mask` arguments
// hold one bit per lane of the gang (bit 0 = lane 0). Sections are the PTX ISA's.
//
// Two forms of everything that suspends:
//   on fibers (GangFunction)            ptxrun_X(...)        returns when the wait is over
//   in coroutines (GangStartFunction)   ptxrun_X_begin(...)  never switches stacks. Returns true when the gang must suspend:
//                                       the code then does coro.suspend at once (no other entry point in between) and is
//                                       resumed when the wait is over; false: it just goes on. Results are written through
//                                       pointers, which must stay valid over the suspension (they point into the frame).
extern "C" {
/// bar.sync / barrier.sync (9.7.13.1): `threads` = 0 means all threads of the CTA. Suspends.
/// The arrival of a gang stands for all lanes of the gang that have not exited (at W = 1 arrival is per thread, exactly);
/// a warp has arrived when all its gangs with live lanes have; `threads` counts warps, as the ISA says.
void ptxrun_bar_sync(ptxrun::abi::Gang *, uint32_t barrier, uint32_t threads, uint32_t mask);
bool ptxrun_bar_sync_begin(ptxrun::abi::Gang *, uint32_t barrier, uint32_t threads, uint32_t mask);
/// bar.arrive: suspends until the other threads of the warp have arrived (never where the warp is one gang).
void ptxrun_bar_arrive(ptxrun::abi::Gang *, uint32_t barrier, uint32_t threads, uint32_t mask);
bool ptxrun_bar_arrive_begin(ptxrun::abi::Gang *, uint32_t barrier, uint32_t threads, uint32_t mask);
/// bar.red: suspends, returns how many participating threads had their predicate set (popc); `.and` and `.or`
/// are derived: *participants receives the number of threads that took part.
uint32_t ptxrun_bar_red(ptxrun::abi::Gang *, uint32_t barrier, uint32_t threads, uint32_t mask, uint32_t predicates,
                        uint32_t *participants);
/// result[0] = popc, result[1] = participants, valid when the wait is over (also where false is returned).
bool ptxrun_bar_red_begin(ptxrun::abi::Gang *, uint32_t barrier, uint32_t threads, uint32_t mask, uint32_t predicates,
                          uint32_t *result);
/// The lanes in `mask` have exited: they no longer count at barriers and collectives. Not needed at the gang's end: what
/// is left of a gang exits when its function returns (or its coroutine is done).
void ptxrun_exit_lanes(ptxrun::abi::Gang *, uint32_t mask);
/// Lets others run. Called on back edges of spin loops, failed waits and nanosleep (hint in ns, 0 = none).
void ptxrun_yield(ptxrun::abi::Gang *, ptxrun::abi::WaitReason, uint32_t nanoseconds);
bool ptxrun_yield_begin(ptxrun::abi::Gang *, ptxrun::abi::WaitReason, uint32_t nanoseconds);
/// The one collective of gangs narrower than a warp: waits until every live thread of the warp named in `memberMask`
/// (bit = %laneid) has arrived with the same memberMask at an operation of the same name ("vote.sync.any": instruction and
/// qualifiers; the string outlives the launch), then fills all 32 entries of `out` (threads that take part; the rest are zero)
/// and returns the mask of threads that took part. `in` has W entries, valid where `mask` (gang lanes) is set. Lanes of one
/// gang with different masks call once per mask.
uint32_t ptxrun_warp_gather(ptxrun::abi::Gang *, const char *operation, uint32_t memberMask, uint32_t mask,
                            const uint64_t *in, uint64_t *out);
bool ptxrun_warp_gather_begin(ptxrun::abi::Gang *, const char *operation, uint32_t memberMask, uint32_t mask,
                              const uint64_t *in, uint64_t *out, uint32_t *participants);
/// Only in watched code (W = 1, on fibers): a thread is about to access `bytes` bytes of memory. `kind` is an AccessKind, perhaps
/// with kAccessShared; `line` the PTX line. Lets another thread go first where the schedule says so.
void ptxrun_access(ptxrun::abi::Gang *, uint64_t address, uint32_t bytes, uint32_t kind, uint32_t line);
/// activemask for gangs narrower than a warp: the lanes of the warp that come to the same site, as far as they come without
/// waiting for anything. Suspends until no thread of the CTA's group can run and no lane of the warp waits here at a site
/// before this one (or all live lanes of the warp are here). Each place in the kernel, each call that was inlined too, is a
/// site of its own, numbered in the order in which gangs come to them.
uint32_t ptxrun_active_lanes(ptxrun::abi::Gang *, uint32_t site, uint32_t mask);
bool ptxrun_active_lanes_begin(ptxrun::abi::Gang *, uint32_t site, uint32_t mask, uint32_t *active);
/// mma, mma.sp, wmma.mma (9.7.14) of a whole warp: matrix::multiplyWarp (intrinsics/matrix/warp.h).
void ptxrun_matrix_warp(const void *operation, const void *in, void *out);
/// barrier.cluster.arrive / .wait (9.7.13.3). Counting as for bar_sync. Arrive never suspends; wait ends when all threads of
/// the cluster that have not exited have arrived. In a launch without clusters the CTA is its own cluster.
void ptxrun_cluster_arrive(ptxrun::abi::Gang *, uint32_t mask);
void ptxrun_cluster_wait(ptxrun::abi::Gang *, uint32_t mask);
bool ptxrun_cluster_wait_begin(ptxrun::abi::Gang *, uint32_t mask);

/// mbarrier objects (9.7.13.15), one lane each. `object` is the host address of the 8 bytes in shared memory, of this CTA or
/// another of the cluster. They hold, opaque to kernels: bits 0-19 pending arrivals, 20-39 expected arrivals of the next
/// phase, 40-60 tx-count (signed), 61-63 phase modulo 8. Counts out of range or more arrivals than pending fail the launch.
void ptxrun_mbarrier_init(ptxrun::abi::Gang *, void *object, uint32_t count);
void ptxrun_mbarrier_inval(ptxrun::abi::Gang *, void *object);
void ptxrun_mbarrier_expect_tx(ptxrun::abi::Gang *, void *object, uint32_t transactions);
void ptxrun_mbarrier_complete_tx(ptxrun::abi::Gang *, void *object, uint32_t transactions);
/// Return the state before the arrival. `.expect_tx` is ptxrun_mbarrier_expect_tx before, with count 1.
uint64_t ptxrun_mbarrier_arrive(ptxrun::abi::Gang *, void *object, uint32_t count);
uint64_t ptxrun_mbarrier_arrive_drop(ptxrun::abi::Gang *, void *object, uint32_t count);
/// The same for `lanes` lanes, each with this count. Returns the state before the first arrival.
uint64_t ptxrun_mbarrier_arrive_lanes(ptxrun::abi::Gang *, void *object, uint32_t count, uint32_t lanes);
uint64_t ptxrun_mbarrier_arrive_drop_lanes(ptxrun::abi::Gang *, void *object, uint32_t count, uint32_t lanes);
/// .noComplete: an arrival that completes the phase fails the launch.
uint64_t ptxrun_mbarrier_arrive_no_complete(ptxrun::abi::Gang *, void *object, uint32_t count, uint32_t isDrop);
uint32_t ptxrun_mbarrier_pending_count(uint64_t state);
/// Whether the phase of `state` (isParity = 0) or with parity `state` (isParity = 1) is complete; never suspends.
bool ptxrun_mbarrier_test_wait(ptxrun::abi::Gang *, void *object, uint64_t state, uint32_t isParity);
/// try_wait of lanes that name the same object and phase: suspends until the phase completes, or until nothing else can run
/// (the time limit); nanoseconds = 0 is the system's limit, ~0 none. Lanes with differing objects or phases are tested one by one,
/// and where none is complete the gang waits for the first one's. _begin writes 0 or 1 to *isComplete.
bool ptxrun_mbarrier_try_wait(ptxrun::abi::Gang *, void *object, uint64_t state, uint32_t isParity, uint32_t nanoseconds);
bool ptxrun_mbarrier_try_wait_begin(ptxrun::abi::Gang *, void *object, uint64_t state, uint32_t isParity,
                                    uint32_t nanoseconds, uint32_t *isComplete);

/// cp.async (9.7.9.25.3): lane i of `mask` copies sourceBytes[i] (all `bytes`, 4 8 or 16, where the array is null) from
/// sources[i] to destinations[i] and fills the rest of `bytes` with zeros. When it happens is RunOptions::asyncCopies.
void ptxrun_cp_async(ptxrun::abi::Gang *, uint32_t mask, void *const *destinations, const void *const *sources,
                     uint32_t bytes, const uint32_t *sourceBytes);
void ptxrun_cp_async_commit_group(ptxrun::abi::Gang *, uint32_t mask);
/// wait_group `pending`; wait_all is commit_group and wait_group 0. Never suspends: what has to be complete is completed.
void ptxrun_cp_async_wait_group(ptxrun::abi::Gang *, uint32_t mask, uint32_t pending);
/// cp.async.mbarrier.arrive of one lane.
void ptxrun_cp_async_mbarrier_arrive(ptxrun::abi::Gang *, uint32_t lane, void *object, uint32_t isNoinc);

/// cp.async.bulk (9.7.9.25.4) of one lane, any direction; a copy with `mbarrier` completes `bytes` of its tx-count, one without
/// belongs to the lane's bulk groups. byteMask is .cp_mask's (0xffff: all; bit i: byte i of every 16);
/// its bits 16 to 19 and 20 to 23 are .ignore_oob's bytes to leave out at the beginning and at the end.
void ptxrun_cp_async_bulk(ptxrun::abi::Gang *, uint32_t lane, void *destination, const void *source, uint32_t bytes,
                          void *mbarrier, uint32_t byteMask);
/// .multicast::cluster: to the same offset in the shared memory of every CTA whose rank is in ctaMask, signalling the mbarrier
/// at the same offset there. destination and mbarrier are addresses in any CTA of the cluster.
void ptxrun_cp_async_bulk_multicast(ptxrun::abi::Gang *, uint32_t lane, void *destination, const void *source,
                                    uint32_t bytes, void *mbarrier, uint32_t ctaMask);
/// cp.reduce.async.bulk: destination[i] = destination[i] op source[i]; atomic per element where the destination is not shared.
void ptxrun_cp_reduce_async_bulk(ptxrun::abi::Gang *, uint32_t lane, void *destination, const void *source, uint32_t bytes,
                                 void *mbarrier, ptxrun::abi::ReduceOp, ptxrun::abi::ReduceType);
/// st.async (9.7.9.12) of one lane: the lowest `bytes`, at most 16, of high:low; completes them at `mbarrier`.
void ptxrun_st_async(ptxrun::abi::Gang *, uint32_t lane, void *destination, uint64_t low, uint64_t high, uint32_t bytes,
                     void *mbarrier);
/// red.async (9.7.13.7) of one lane: *destination = *destination op value; completes the type's bytes at `mbarrier`.
void ptxrun_red_async(ptxrun::abi::Gang *, uint32_t lane, void *destination, uint64_t value, void *mbarrier,
                      ptxrun::abi::ReduceOp, ptxrun::abi::ReduceType);
void ptxrun_bulk_commit_group(ptxrun::abi::Gang *, uint32_t mask);
/// cp.async.bulk.wait_group(.read) `pending`.
void ptxrun_bulk_wait_group(ptxrun::abi::Gang *, uint32_t mask, uint32_t pending, uint32_t isRead);

/// cp.async.bulk.tensor from global memory (9.7.9.25.5.2) of one lane: `map` is a tensor-map (rt/memory/tensor_map.h),
/// coordinates has as many entries as the mode says (kTensorModeBits), im2colOffsets three (W, H, D in mode im2col; wHalo, wOffset in
/// im2colW and im2colW128). Completes the bytes of the whole box. ctaMask has CTAs: multicast, as above; kCtaPairSignal changes whom it tells.
void ptxrun_cp_tensor_load(ptxrun::abi::Gang *, uint32_t lane, void *destination, const void *map,
                           const int32_t *coordinates, ptxrun::abi::TensorMode, const uint16_t *im2colOffsets,
                           void *mbarrier, uint32_t ctaMask);
/// cp.async.bulk.tensor to global memory; belongs to the lane's bulk groups.
void ptxrun_cp_tensor_store(ptxrun::abi::Gang *, uint32_t lane, const void *map, const int32_t *coordinates,
                            ptxrun::abi::TensorMode, const void *source);
/// cp.reduce.async.bulk.tensor; the element type is the map's.
void ptxrun_cp_tensor_reduce(ptxrun::abi::Gang *, uint32_t lane, const void *map, const int32_t *coordinates,
                             ptxrun::abi::TensorMode, const void *source, ptxrun::abi::ReduceOp);
/// tensormap.replace (9.7.9.26): `ordinal` is 0 for fields that have one value. Values as in the manual's table 33.
void ptxrun_tensormap_replace(ptxrun::abi::Gang *, void *map, ptxrun::abi::TensorField, uint32_t ordinal, uint64_t value);

/// clusterlaunchcontrol.try_cancel (9.7.13.17): takes the next cluster of the grid that has not started, if there is one, writes
/// the 16-byte answer to `result` and completes 16 bytes of `mbarrier`'s tx-count; with isMulticast at the same offsets in
/// every CTA of the cluster. The answer: bytes 0-11 %ctaid of the first CTA of the taken cluster, byte 12 bit 0 set if one was
/// taken.
void ptxrun_cluster_try_cancel(ptxrun::abi::Gang *, uint32_t lane, void *result, void *mbarrier, uint32_t isMulticast);

/// Texture and surface instructions (9.7.10, 9.7.11) of the lanes in `mask`, for code of each CPU level. intrinsics/texture.h says what
/// `operation` is, which rows of `lanes` (W) words `in` and `out` have, and when textures and samplers have one handle per lane.
void ptxrun_texture_sse4(ptxrun::abi::Gang *, uint32_t mask, uint32_t operation, uint32_t lanes, const uint64_t *textures,
                         const uint64_t *samplers, const uint32_t *in, uint32_t *out);
void ptxrun_texture_avx2(ptxrun::abi::Gang *, uint32_t mask, uint32_t operation, uint32_t lanes, const uint64_t *textures,
                         const uint64_t *samplers, const uint32_t *in, uint32_t *out);
void ptxrun_texture_avx512(ptxrun::abi::Gang *, uint32_t mask, uint32_t operation, uint32_t lanes, const uint64_t *textures,
                           const uint64_t *samplers, const uint32_t *in, uint32_t *out);
/// istypep (9.7.10.6): whether a handle, or the address of an opaque variable, is of this abi::ImageKind.
bool ptxrun_istypep(uint64_t handle, uint32_t kind);

/// Memory for a coroutine frame, 256-byte aligned; lives until the gang ends. At most one per gang.
void *ptxrun_frame_alloc(ptxrun::abi::Gang *, uint64_t bytes);
/// Where the running gang's local memory is (isspacep.local, 9.7.9.18): the whole stack it runs on, and its coroutine frame (empty
/// where there is none). Neither changes while the gang runs.
ptxrun::abi::AddressRange ptxrun_local_stack(ptxrun::abi::Gang *);
ptxrun::abi::AddressRange ptxrun_local_frame(ptxrun::abi::Gang *);
/// Loads and stores of the lanes in `mask`, in the order of lanes, where the index of lane 0 (zero-extended) wraps on the way to
/// others. `wide` holds the lanes' parts one behind the other; `base` is lane 0's address. A fault is one of the instruction before
/// `place`; null: of the call.
void ptxrun_load_wrapped(char *wide, const char *base, uint64_t index, const ptxrun::abi::WrappedAccess *, uint32_t mask,
                         const void *place);
void ptxrun_store_wrapped(const char *wide, char *base, uint64_t index, const ptxrun::abi::WrappedAccess *, uint32_t mask,
                          const void *place);
/// Stops the launch; does not return. `line` is the PTX line, 0 if unknown.
[[noreturn]] void ptxrun_trap(ptxrun::abi::Gang *, ptxrun::abi::TrapKind, uint32_t mask, uint32_t line);
/// Device-side library functions, one lane each (CUDA's device runtime).
int32_t ptxrun_vprintf(ptxrun::abi::Gang *, const char *format, const void *arguments);
void *ptxrun_malloc(ptxrun::abi::Gang *, uint64_t bytes);
void ptxrun_free(ptxrun::abi::Gang *, void *);
/// CUDA's line for each lane of `mask`, at least one.
[[noreturn]] void ptxrun_assertfail(ptxrun::abi::Gang *, uint32_t mask, const char *message, const char *file, uint32_t line,
                                    const char *function);
/// %clock64 (a steady counter at about 1 GHz), %globaltimer (nanoseconds since the epoch).
uint64_t ptxrun_clock64();
uint64_t ptxrun_globaltimer();
}
