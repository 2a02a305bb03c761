// Words of the vocabulary that are calls of the runtime (intrinsics/abi.h), and how such a call is
// made. No LLVM here.
#pragma once
#include <cstdint>
#include <iterator>
#include <string_view>

#include "translate/lower/vocabulary.h"

namespace ptxrun::lower {

struct RuntimeWord {
  /// Who calls, and what stands before the word's own arguments. Argument types are the entry
  /// point's (bool is i1).
  enum class Call : uint8_t {
    pure,       ///< each active lane: entry(arguments...); reads and writes nothing
    lane,       ///< each active lane: entry(gang, arguments...)
    laneNumber, ///< each active lane: entry(gang, lane in the gang, arguments...)
    gang, ///< once: entry(gang, mask of the active lanes, arguments...); the arguments are the same
          ///< for all lanes
    copies, ///< once: entry(gang, mask, destinations[W], sources[W], bytes, sourceBytes[W])
            ///< (ptxrun_cp_async)
    texture, ///< once: the entry point of the CPU level, with operands in rows of W
             ///< (ptxrun_texture_*)
  };
  std::string_view word, entry;
  Call call = Call::lane;
  bool suspends = false; ///< there is an entry `<entry>_begin` for coroutines
};

/// Objects and places are host addresses (ptr). Null for an mbarrier: the lane's bulk groups.
/// Sections of the PTX ISA in brackets.
inline constexpr RuntimeWord kRuntimeWords[] = {
    // mbarrier [9.7.13.15]: (ptr, i32 count or bytes); arrivals return the i64 state; waits (ptr,
    // i64 state or parity,
    // i32 isParity{, i32 nanoseconds}) -> i1
    {"ptx.mbarrier.init", "ptxrun_mbarrier_init", RuntimeWord::Call::lane},
    {"ptx.mbarrier.inval", "ptxrun_mbarrier_inval", RuntimeWord::Call::lane},
    {"ptx.mbarrier.expect_tx", "ptxrun_mbarrier_expect_tx", RuntimeWord::Call::lane},
    {"ptx.mbarrier.complete_tx", "ptxrun_mbarrier_complete_tx", RuntimeWord::Call::lane},
    {"ptx.mbarrier.arrive", "ptxrun_mbarrier_arrive", RuntimeWord::Call::lane},
    {"ptx.mbarrier.arrive_drop", "ptxrun_mbarrier_arrive_drop", RuntimeWord::Call::lane},
    {"ptx.mbarrier.arrive_no_complete", "ptxrun_mbarrier_arrive_no_complete",
     RuntimeWord::Call::lane},
    {"ptx.mbarrier.pending_count", "ptxrun_mbarrier_pending_count", RuntimeWord::Call::pure},
    {"ptx.mbarrier.test_wait", "ptxrun_mbarrier_test_wait", RuntimeWord::Call::lane},
    {"ptx.mbarrier.try_wait", "ptxrun_mbarrier_try_wait", RuntimeWord::Call::lane, true},
    // cp.async [9.7.9.25.3]: (ptr destination, ptr source, i32 bytes, i32 source bytes)
    {"ptx.cp.async", "ptxrun_cp_async", RuntimeWord::Call::copies},
    {"ptx.cp.async.commit_group", "ptxrun_cp_async_commit_group", RuntimeWord::Call::gang},
    {"ptx.cp.async.wait_group", "ptxrun_cp_async_wait_group", RuntimeWord::Call::gang},
    {"ptx.cp.async.mbarrier.arrive", "ptxrun_cp_async_mbarrier_arrive",
     RuntimeWord::Call::laneNumber},
    // cp.async.bulk [9.7.9.25.4]: (ptr destination, ptr source, i32 bytes, ptr mbarrier, i32 byte
    // mask, CTA mask or
    // {i32 abi::ReduceOp, i32 abi::ReduceType})
    {"ptx.cp.async.bulk", "ptxrun_cp_async_bulk", RuntimeWord::Call::laneNumber},
    {"ptx.cp.async.bulk.multicast", "ptxrun_cp_async_bulk_multicast",
     RuntimeWord::Call::laneNumber},
    {"ptx.cp.reduce.async.bulk", "ptxrun_cp_reduce_async_bulk", RuntimeWord::Call::laneNumber},
    // st.async [9.7.9.12]: (ptr destination, i64 low, i64 high, i32 bytes, ptr mbarrier); red.async
    // [9.7.13.7]: (ptr destination, i64 value, ptr mbarrier, i32 abi::ReduceOp, i32
    // abi::ReduceType)
    {"ptx.st.async", "ptxrun_st_async", RuntimeWord::Call::laneNumber},
    {"ptx.red.async", "ptxrun_red_async", RuntimeWord::Call::laneNumber},
    {"ptx.bulk.commit_group", "ptxrun_bulk_commit_group", RuntimeWord::Call::gang},
    {"ptx.bulk.wait_group", "ptxrun_bulk_wait_group", RuntimeWord::Call::gang},
    // cp.async.bulk.tensor [9.7.9.25.5]: load (ptr destination, ptr map, ptr coordinates, i32
    // abi::TensorMode, ptr im2col
    // offsets, ptr mbarrier, i32 CTA mask), store and reduce (ptr map, ptr coordinates, i32 mode,
    // ptr source{, i32
    // abi::ReduceOp}); tensormap.replace [9.7.9.26]: (ptr map, i32 abi::TensorField, i32 ordinal,
    // i64 value)
    {"ptx.cp.tensor.load", "ptxrun_cp_tensor_load", RuntimeWord::Call::laneNumber},
    {"ptx.cp.tensor.store", "ptxrun_cp_tensor_store", RuntimeWord::Call::laneNumber},
    {"ptx.cp.tensor.reduce", "ptxrun_cp_tensor_reduce", RuntimeWord::Call::laneNumber},
    {"ptx.tensormap.replace", "ptxrun_tensormap_replace", RuntimeWord::Call::lane},
    // barrier.cluster [9.7.13.3], clusterlaunchcontrol.try_cancel [9.7.13.17] (ptr result, ptr
    // mbarrier, i32 isMulticast)
    {"ptx.cluster.arrive", "ptxrun_cluster_arrive", RuntimeWord::Call::gang},
    {"ptx.cluster.wait", "ptxrun_cluster_wait", RuntimeWord::Call::gang, true},
    // an access of memory that follows, in watched code (translate/observe): (i64 address, i32
    // bytes,
    // i32 abi::AccessKind, i32 line)
    {"ptx.observe.access", "ptxrun_access", RuntimeWord::Call::lane},
    // debugged code: a call of a function begins (ptr frame, i32 its number), an instruction
    // follows (i32 its number), the call
    // ends (i32: the thread does, too) (check/debug_frame.h)
    {"ptx.debug.enter", "ptxrun_debug_enter", RuntimeWord::Call::lane},
    {"ptx.debug.step", "ptxrun_debug_step", RuntimeWord::Call::lane},
    {"ptx.debug.leave", "ptxrun_debug_leave", RuntimeWord::Call::lane},
    {"ptx.cluster.try_cancel", "ptxrun_cluster_try_cancel", RuntimeWord::Call::laneNumber},
    // tex, tld4, txq, suld, sust, sured, suq [9.7.10, 9.7.11]: (i32 abi::TextureOperation packed, a
    // constant, i64 texture or surface, i64 sampler, abi::kTextureRows rows of i32, poison where
    // the
    // operation has none) -> {abi::kTextureResults i32}; istypep: (i64 handle, i32 abi::ImageKind)
    {vocabulary::kTexture, "ptxrun_texture_", RuntimeWord::Call::texture},
    {"ptx.istypep", "ptxrun_istypep", RuntimeWord::Call::pure},
    // tcgen05 [9.7.16]: mma (i64 abi::TensorMmaForm, i32 d, i64 a, i64 b, i32 descriptor, i32
    // hasInput,
    // i32 metadata, i32 scale-A, i32 scale-B, i64 zero columns, ptr disabled lanes), cp (i64
    // abi::TensorCopyForm, i32 address, i64 descriptor), shift (i32 isPair, i32 address), commit
    // (i32
    // isPair, ptr mbarrier, i32 CTA mask)
    {"ptx.tcgen05.mma", "ptxrun_tcgen05_mma", RuntimeWord::Call::laneNumber},
    {"ptx.tcgen05.cp", "ptxrun_tcgen05_cp", RuntimeWord::Call::laneNumber},
    {"ptx.tcgen05.shift", "ptxrun_tcgen05_shift", RuntimeWord::Call::laneNumber},
    {"ptx.tcgen05.commit", "ptxrun_tcgen05_commit", RuntimeWord::Call::laneNumber},
};

/// Null where the name is no word of the runtime.
constexpr const RuntimeWord *findRuntimeWord(std::string_view name) {
  for (const RuntimeWord &word : kRuntimeWords)
    if (word.word == name)
      return &word;
  return nullptr;
}

} // namespace ptxrun::lower
