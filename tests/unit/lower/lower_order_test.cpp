// The ordering table: (.sem, .scope, space) as LLVM's ordering and sync scope, one line each.
#include <gtest/gtest.h>

#include "tests/unit/lower/lower_fixture.h"

namespace ptxrun::lower::test {
namespace {

struct Case {
  const char *ptx, *ir;
};

class MemoryOrder : public testing::TestWithParam<Case> {};

TEST_P(MemoryOrder, FollowsTheTable) {
  const Lowered k = lowerBody(std::string(GetParam().ptx) + " ret;");
  EXPECT_TRUE(k.contains(GetParam().ir)) << GetParam().ptx << "\nis not " << GetParam().ir << "\n"
                                         << k.ir;
}

// The result of each load is stored, so that it stays.
#define SHOWN " st.global.u32 [%rd30+64],%r1;"
constexpr Case kCases[] = {
    {"ld.global.u32 %r1,[%rd31];" SHOWN, "= load i32, ptr"},
    {"ld.volatile.global.u32 %r1,[%rd31];" SHOWN, "load volatile i32"},
    {"ld.relaxed.gpu.global.u32 %r1,[%rd31];" SHOWN, "syncscope(\"gpu\") monotonic, align 4"},
    {"ld.relaxed.cta.u32 %r1,[%rd31];" SHOWN, "syncscope(\"cta\") monotonic"},
    {"ld.acquire.gpu.u32 %r1,[%rd31];" SHOWN, "syncscope(\"gpu\") acquire"},
    {"ld.acquire.cluster.global.u32 %r1,[%rd31];" SHOWN, "syncscope(\"cluster\") acquire"},
    {"ld.acquire.sys.global.u32 %r1,[%rd31];" SHOWN, "load atomic i32, ptr"},
    {"ld.mmio.relaxed.sys.global.u32 %r1,[%rd31];" SHOWN, "load atomic volatile i32"},
    {"ld.relaxed.gpu.global.v2.u32 {%r1,%r2},[%rd31];" SHOWN, "load atomic i64"},
    {"ld.relaxed.gpu.global.v2.u64 {%rd1,%rd2},[%rd31]; st.global.u64 [%rd30],%rd1;",
     "load atomic i128"},
    {"st.release.gpu.u32 [%rd30],7;", "store atomic i32 7, ptr"},
    {"st.release.gpu.u32 [%rd30],7;", "syncscope(\"gpu\") release, align 4"},
    {"st.release.cta.shared.u32 [%r1],7;", "syncscope(\"cta\") release"},
    {"st.release.gpu.shared.u32 [%r1],7;", "syncscope(\"cta\") release"},
    {"st.volatile.shared.u32 [%r1],7;", "store volatile i32 7, ptr addrspace(3)"},
    {"st.relaxed.gpu.global.v2.u32 [%rd30],{%r1,%r2};", "store atomic i64"},
    {"atom.global.add.u32 %r1,[%rd30],1;" SHOWN, "atomicrmw add ptr"},
    {"atom.global.add.u32 %r1,[%rd30],1;" SHOWN, "i32 1 syncscope(\"gpu\") monotonic"},
    {"atom.add.acq_rel.cta.u32 %r1,[%rd30],1;" SHOWN, "syncscope(\"cta\") acq_rel"},
    {"atom.add.release.gpu.u32 %r1,[%rd30],1;" SHOWN, "syncscope(\"gpu\") release"},
    {"atom.global.sys.add.u32 %r1,[%rd30],1;" SHOWN, "i32 1 monotonic"},
    {"atom.shared.add.u32 %r1,[%r2],1;" SHOWN, "syncscope(\"cta\") monotonic"},
    {"red.global.add.f32 [%rd30],%f1;", "atomicrmw fadd ptr"},
    {"red.global.max.s32 [%rd30],%r1;", "atomicrmw max ptr"},
    {"red.global.min.u64 [%rd30],%rd31;", "atomicrmw umin ptr"},
    {"atom.global.inc.u32 %r1,[%rd30],9;" SHOWN, "atomicrmw uinc_wrap"},
    {"atom.global.dec.u32 %r1,[%rd30],9;" SHOWN, "atomicrmw udec_wrap"},
    {"atom.global.exch.b32 %r1,[%rd30],9;" SHOWN, "atomicrmw xchg"},
    {"atom.global.and.b32 %r1,[%rd30],9;" SHOWN, "atomicrmw and"},
    {"atom.global.or.b32 %r1,[%rd30],9;" SHOWN, "atomicrmw or"},
    {"atom.global.xor.b32 %r1,[%rd30],9;" SHOWN, "atomicrmw xor"},
    {"atom.global.cas.b32 %r1,[%rd30],0,1;" SHOWN, "cmpxchg ptr"},
    {"atom.acquire.gpu.global.cas.b64 %rd1,[%rd30],0,1;",
     "i64 1 syncscope(\"gpu\") acquire acquire"},
    {"atom.global.cas.b16 %h1,[%rd30],%h2,%h3;", "cmpxchg ptr"},
    {"red.global.add.noftz.f16 [%rd30],%h1;", "atomicrmw fadd ptr %1, half"},
    {"red.global.add.noftz.bf16x2 [%rd30],%r1;", "bfloat"},
    {"membar.cta;", "fence syncscope(\"cta\") seq_cst"},
    {"membar.gl;", "fence syncscope(\"gpu\") seq_cst"},
    {"membar.sys;", "fence seq_cst"},
    {"fence.sc.cta;", "fence syncscope(\"cta\") seq_cst"},
    {"fence.acq_rel.gpu;", "fence syncscope(\"gpu\") acq_rel"},
    {"fence.acq_rel.sys;", "fence acq_rel"},
    {"fence.proxy.async;", "fence syncscope(\"cta\") acq_rel"},
};

INSTANTIATE_TEST_SUITE_P(Table, MemoryOrder, testing::ValuesIn(kCases));

TEST(Atomics, OfPackedHalvesUpdateEachElementByItself) {
  const Lowered k = lowerBody("red.global.add.noftz.f16x2 [%rd30],%r1; ret;");
  EXPECT_EQ(k.count("atomicrmw fadd"), 2u);
}

} // namespace
} // namespace ptxrun::lower::test
