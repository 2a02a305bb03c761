// The words a LaneModule may use beyond plain LLVM IR: functions named `ptx.*`, declared by lower, given meaning by simt.
// i1 arguments are predicates; `mask` is a membermask (bit = %laneid). PTX ISA sections in brackets.
//
//  Special registers [10], all `() -> i32` unless noted, memory(none) and speculatable except the counters:
//    ptx.sreg.{tid,ntid,ctaid,nctaid,clusterid,nclusterid,cluster_ctaid,cluster_nctaid}.{x,y,z}
//    ptx.sreg.{laneid,warpid,nwarpid,smid,nsmid,cluster_ctarank,cluster_nctarank,dynamic_smem_size,total_smem_size}
//    ptx.sreg.{lanemask_eq,lanemask_le,lanemask_lt,lanemask_ge,lanemask_gt}, ptx.sreg.envreg<N>, ptx.sreg.gridid -> i64
//    ptx.sreg.is_explicit_cluster -> i1
//    ptx.sreg.{clock -> i32, clock_hi -> i32, clock64 -> i64, globaltimer -> i64}   (has side effects: order is kept)
//  Addresses:
//    ptx.shared.base() -> i64        host address of `.shared` offset 0 (cvta.shared: base + zext(offset)); memory(none).
//                                    The CTA's own window, or with LaneModule::hasClusterAddresses the cluster's arena
//    ptx.shared.window() -> i64      bytes of the cluster's arena (isspacep.shared::cluster)
//    ptx.local.contains(i64) -> i1   isspacep.local
//  Warp collectives [9.7.13], convergent:
//    ptx.shfl.sync.{idx,up,down,bfly}(i32 a, i32 b, i32 c, i32 mask) -> {i32, i1}
//    ptx.vote.sync.{all,any,uni}(i1, i32 mask) -> i1; ptx.vote.sync.ballot(i1, i32 mask) -> i32; ptx.activemask() -> i32
//    ptx.match.any.sync.{i32,i64}(v, i32 mask) -> i32; ptx.match.all.sync.{i32,i64}(v, i32 mask) -> {i32, i1}
//    ptx.redux.sync.{add,min,max,umin,umax,and,or,xor}(i32, i32 mask) -> i32
//    ptx.redux.sync.{fmin,fmax}{,.abs}{,.nan}(float, i32 mask) -> float
//    ptx.elect.sync(i32 mask) -> {i32, i1}
//    ptx.bar.warp.sync(i32 mask)
//    ptx.matrix.warp.b<bits>.<I>.<D>(i64 ... a matrix::WarpOperation, I registers, i32 mask) -> {D registers} [9.7.14] (matrix.cpp)
//    (shfl, vote without .sync: mask = ptx.activemask())
//  CTA barriers [9.7.13.1], convergent, may suspend:
//    ptx.bar.sync(i32 id, i32 threads)   threads = 0: all; ptx.bar.arrive(i32 id, i32 threads)
//    ptx.bar.red.{popc}(i32 id, i32 threads, i1) -> i32; ptx.bar.red.{and,or}(i32 id, i32 threads, i1) -> i1
//  Scheduling: ptx.nanosleep(i32), ptx.yield(), ptx.yield.mbarrier(), ptx.yield.time() (made by simt)
//  Control: ptx.exit() then unreachable; ptx.trap() then unreachable; ptx.brkpt() then unreachable
//  Arithmetic with directed rounding, element by element, memory(none); only with ModuleBuilder::hasDirectedRounding:
//    ptx.rounded.{add,mul,div}.{rz,rm,rp}.{f32,f64}(a, b), ptx.rounded.sqrt...(a), ptx.rounded.fma...(a, b, c)
//  Library functions, run lane by lane: ptx.call.vprintf(ptr format, ptr args) -> i32, ptx.call.malloc(i64) -> i64,
//    ptx.call.free(i64), ptx.call.assertfail(ptr, ptr, i32 line, ptr function, i64 charsize) then unreachable
//  Operations of a whole warp that the runtime performs on its lanes' registers (warp_words.h), convergent:
//    ptx.warp.<entry>.<counts>(i64 uniform..., i32 registers..., i32 mask) -> {i32...}
//  Calls of the runtime (mbarrier, asynchronous copies, cluster barriers, textures and surfaces): the table in runtime_words.def
//  Lane mathematics that IR has no instruction for: functions of the lane library (intrinsics/lane, C++ compiled to bitcode,
//    names ptx_<op>_<type>, e.g. float ptx_ex2_approx_ftz_f32(float)); pure scalar code, inlined by lower's pass list, so that
//    simt sees only arithmetic and the bits are the same at every W and CPU level.
//  Metadata `ptx.ftz` on `atomicrmw fadd` of floats: subnormal operands and results become zero where the memory is not shared
//    memory (9.7.13.5). `ptx.ftz.always`: the same, of memory that is global for certain.
//  Metadata `ptx.aligned` on CTA barriers: all threads of a warp come to them together.
//  Metadata `ptx.addresses` on a kernel: the offsets in `.param` of 64-bit words that its text takes for generic addresses.
//  Anything else named `ptx.*` of memory(none) scalars is called lane by lane.
#pragma once
namespace ptxrun::lower::vocabulary {
inline constexpr const char *kPrefix = "ptx.";
inline constexpr const char *kFlushes = "ptx.ftz", *kAlwaysFlushes = "ptx.ftz.always";
inline constexpr const char *kAligned = "ptx.aligned";
inline constexpr const char *kAddresses = "ptx.addresses";
/// (i32) -> i64: the address in that space with this lower half. Gone when lower is done.
inline constexpr const char *kWholeLocalAddress = "ptx.local.whole";
inline constexpr const char *kWholeParamAddress = "ptx.param.whole";
inline constexpr const char *kWholeConstantAddress = "ptx.const.whole";
/// All instructions on textures and surfaces (runtime_words.def).
inline constexpr const char *kTexture = "ptx.texture";
}
