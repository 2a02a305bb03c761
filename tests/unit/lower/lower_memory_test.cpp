// ld, st, variables and addresses as IR.
#include <gtest/gtest.h>

#include "intrinsics/abi.h"
#include "tests/unit/lower/lower_fixture.h"

namespace ptxrun::lower::test {
namespace {

TEST(Load, OfAVectorIsOneAccessOfItsWholeAlignment) {
  const Lowered k = lowerBody("ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd31+16];\n"
                              "st.global.v4.f32 [%rd30], {%f4,%f3,%f2,%f1}; ret;");
  EXPECT_EQ(k.count("load <4 x float>"), 1u);
  EXPECT_EQ(k.count("store <4 x float>"), 1u);
  EXPECT_EQ(k.count("align 16"), 2u);
  EXPECT_EQ(k.count("inttoptr"), 2u);
}

TEST(Load, OfAKernelParameterIsInvariant) {
  const Lowered k =
      lowerModule(".visible .entry k(.param .u32 a, .param .u64 p) {\n"
                  ".reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
                  "ld.param.u32 %r1,[a]; ld.param.u64 %rd1,[p]; st.global.u32 [%rd1], %r1; ret; }");
  ASSERT_TRUE(k.lane);
  EXPECT_EQ(k.count("!invariant.load"), 2u);
  EXPECT_TRUE(k.contains("ptr %params, i64 8"));
  EXPECT_EQ(k.lane->paramBytes, 16u);
}

TEST(Load, NonCoherentAndConstantAreInvariantOrdinaryIsNot) {
  const Lowered nc = lowerBody("ld.global.nc.f32 %f1,[%rd31]; st.global.f32 [%rd30],%f1; ret;");
  EXPECT_EQ(nc.count("!invariant.load"), 3u);
  const Lowered plain = lowerBody("ld.global.f32 %f1,[%rd31]; st.global.f32 [%rd30],%f1; ret;");
  EXPECT_EQ(plain.count("!invariant.load"), 2u);
}

TEST(Load, ExtendsByTheSignOfItsType) {
  const Lowered s = lowerBody("ld.global.s8 %r1,[%rd31]; st.global.u32 [%rd30],%r1; ret;");
  EXPECT_TRUE(s.contains("sext i8"));
  const Lowered u = lowerBody("ld.global.u8 %r1,[%rd31]; st.global.u32 [%rd30],%r1; ret;");
  EXPECT_TRUE(u.contains("zext i8"));
}

TEST(Store, TruncatesAWiderRegister) {
  const Lowered k = lowerBody("ld.global.u32 %r1,[%rd31]; st.global.u8 [%rd30],%r1; ret;");
  EXPECT_TRUE(k.contains("store i8"));
}

TEST(Store, UnderAGuardIsBranchedAround) {
  const Lowered k = lowerBody("ld.global.u32 %r1,[%rd31]; setp.ne.u32 %p1,%r1,0;\n"
                              "@%p1 st.global.u32 [%rd30],%r1; ret;");
  EXPECT_EQ(k.count("br i1"), 1u);
}

// The two greatest numbers and their places, in two arrays, as compilers unroll it.
TEST(Store, ToSeveralArraysWhereWaysMeetLeavesRegisters) {
  std::string body = ".local .align 8 .b8 depot[16];\n"
                     "mov.u64 %rd1, depot; add.u64 %rd2, %rd1, 4;\n"
                     "add.u64 %rd3, %rd1, 8; add.u64 %rd4, %rd3, 4;\n"
                     "st.local.v2.u32 [%rd2+-4], {0, 0}; st.local.v2.u32 [%rd4+-4], {0, 0};\n";
  for (const char *number : {"1", "2", "3"}) {
    const std::string n = number;
    body += "ld.global.u32 %r1, [%rd31+4*" + n + "]; ld.local.u32 %r2, [%rd2];\n" +
            "setp.le.u32 %p1, %r1, %r2; @%p1 bra next" + n + ";\n" +
            "ld.local.u32 %r3, [%rd2+-4]; setp.le.u32 %p2, %r1, %r3;\n" +
            "mov.u64 %rd5, %rd2; mov.u64 %rd6, %rd4; @%p2 bra put" + n + ";\n" +
            "st.local.u32 [%rd2], %r3; ld.local.u32 %r4, [%rd4+-4]; st.local.u32 [%rd4], %r4;\n" +
            "add.u64 %rd5, %rd2, -4; add.u64 %rd6, %rd4, -4;\n" + //
            "put" + n + ":\nst.local.u32 [%rd5], %r1; mov.u32 %r5, " + n + ";\n" +
            "st.local.u32 [%rd6], %r5;\nnext" + n + ":\n";
  }
  const Lowered k = lowerBody(body + "ld.local.v4.u32 {%r3, %r4, %r5, %r6}, [%rd1];\n"
                                     "st.global.v4.u32 [%rd30], {%r3, %r4, %r5, %r6}; ret;");
  EXPECT_FALSE(k.contains("alloca"));
  EXPECT_EQ(k.count("store "), 1u);
}

// Two arrays in one variable, read at an index that is not known.
constexpr const char *kFilledTable =
    ".local .align 8 .b8 depot[16];\nmov.u64 %rd1, depot;\n"
    "mov.b64 %rd2, 0x0403020104030201;\nst.local.u64 [%rd1], %rd2;\n"
    "st.local.v2.u32 [%rd1+8], {7, -1};\n"
    "ld.global.u32 %r1, [%rd31];\nand.b32 %r1, %r1, 15;\ncvt.u64.u32 %rd3, %r1;\n"
    "add.u64 %rd4, %rd1, %rd3;\n";

TEST(LocalArray, OfConstantsIsOneForAllThreads) {
  const Lowered k = lowerBody(std::string(kFilledTable) +
                              "ld.local.u8 %r2, [%rd4]; st.global.u32 [%rd30], %r2; ret;");
  EXPECT_EQ(k.count("alloca"), 0u);
  EXPECT_EQ(k.count("store"), 1u);
  EXPECT_TRUE(k.contains("internal constant [16 x i8] "
                         "c\"\\01\\02\\03\\04\\01\\02\\03\\04\\07\\00\\00\\00\\FF\\FF\\FF\\FF\""));
}

TEST(LocalArray, OfConstantsThatAreWrittenTwiceStays) {
  const Lowered k = lowerBody(std::string(kFilledTable) +
                              "ld.local.u8 %r2, [%rd4];\nbar.sync 0;\nmov.u32 %r3, 9;\n"
                              "st.local.u8 [%rd1+3], %r3;\nld.local.u8 %r4, [%rd4];\n"
                              "add.u32 %r2, %r2, %r4;\nst.global.u32 [%rd30], %r2; ret;");
  EXPECT_EQ(k.count("alloca"), 1u);
}

TEST(LocalArray, ThatIsWrittenAtAnUnknownIndexStays) {
  const Lowered k =
      lowerBody(std::string(kFilledTable) +
                "mov.u32 %r3, 9;\nst.local.u8 [%rd4], %r3;\nld.local.u32 %r2, [%rd1];\n"
                "st.global.u32 [%rd30], %r2; ret;");
  EXPECT_EQ(k.count("alloca"), 1u);
}

TEST(LocalArray, WhoseAddressGoesElsewhereStays) {
  const Lowered k = lowerBody(std::string(kFilledTable) +
                              "ld.local.u8 %r2, [%rd4]; st.global.u64 [%rd30], %rd1;\n"
                              "st.global.u32 [%rd30+8], %r2; ret;");
  EXPECT_EQ(k.count("alloca"), 1u);
}

TEST(Variable, SharedOnesAreOffsetsInTheWindowStaticFirstThenDynamic) {
  const Lowered k =
      lowerModule(".extern .shared .align 16 .b8 dyn[];\n"
                  ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
                  ".shared .align 4 .b8 a[20]; .shared .align 8 .b8 c[8];\n"
                  "ld.param.u64 %rd1,[p]; mov.u32 %r1, a; mov.u32 %r2, c; mov.u32 %r3, dyn;\n"
                  "st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r2; st.global.u32 [%rd1+8], "
                  "%r3; ret; }");
  ASSERT_TRUE(k.lane);
  EXPECT_TRUE(k.contains("store i32 1024,"));
  EXPECT_TRUE(k.contains("store i32 1048,"));
  EXPECT_TRUE(k.contains("store i32 1056,"));
  EXPECT_EQ(k.lane->staticSharedBytes, 32u);
  EXPECT_EQ(k.lane->staticSharedAlign, 16u);
}

TEST(Variable, SharedIsAccessedInItsAddressSpace) {
  const Lowered k =
      lowerBody(".shared .align 4 .f32 tile[256]; mov.u32 %r1, tile; mov.u32 %r2, %tid.x;\n"
                "shl.b32 %r3,%r2,2; add.s32 %r4,%r1,%r3; ld.shared.f32 %f1,[%r4];\n"
                "st.global.f32 [%rd30],%f1; ret;");
  EXPECT_TRUE(k.contains("to ptr addrspace(3)"));
  EXPECT_TRUE(k.contains("load float, ptr addrspace(3)"));
}

TEST(Variable, GlobalOnesAreExternalAndListed) {
  const Lowered k = lowerModule(
      ".global .align 4 .u32 counter;\n.global .align 4 .u32 unused;\n"
      ".visible .entry k() { .reg .b32 %r<2>;\n"
      "ld.global.u32 %r1,[counter]; add.u32 %r1,%r1,1; st.global.u32 [counter+0],%r1; ret; }");
  ASSERT_TRUE(k.lane);
  EXPECT_TRUE(k.contains("@ptxrun.var.counter = external global"));
  EXPECT_EQ(k.lane->boundVariables, std::vector<std::string>{"counter"});
}

TEST(Variable, LocalArraysAreReachedThroughTheirAlloca) {
  const Lowered k = lowerBody(
      ".local .align 16 .b8 depot[64]; .reg .b64 %SP; .reg .b64 %SPL;\n"
      "mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL; ld.global.u32 %r1,[%rd31];\n"
      "mul.wide.u32 %rd2,%r1,4; add.u64 %rd3,%SP,%rd2; cvta.to.local.u64 %rd4,%rd3;\n"
      "st.local.u32 [%rd4],%r1; ld.local.u32 %r2,[%SPL+8]; st.global.u32 [%rd30],%r2; ret;");
  EXPECT_TRUE(k.contains("alloca"));
  EXPECT_FALSE(k.contains("ptrtoint"));
  EXPECT_TRUE(k.contains("getelementptr"));
}

TEST(Variable, LocalScalarsBecomeValues) {
  const Lowered k = lowerBody(
      ".local .align 4 .b8 x[4]; mov.u64 %rd1, x; ld.global.u32 %r1,[%rd31];\n"
      "st.local.u32 [%rd1],%r1; ld.local.u32 %r2,[%rd1]; st.global.u32 [%rd30],%r2; ret;");
  EXPECT_FALSE(k.contains("alloca"));
}

TEST(Variable, LocalAddressesThatLoopsMoveOnAreReachedThroughTheirAlloca) {
  const Lowered k =
      lowerBody(".local .align 16 .b8 a[64]; mov.u64 %rd1, a; mov.u64 %rd2, %rd1; mov.u32 %r1, 0;\n"
                "ld.global.u32 %r3,[%rd31];\n"
                "UP: st.local.u32 [%rd2],%r1; add.u64 %rd2,%rd2,4; add.u32 %r1,%r1,1;\n"
                "setp.lt.u32 %p1,%r1,%r3; @%p1 bra UP;\n"
                "DOWN: sub.u64 %rd2,%rd2,4; ld.local.u32 %r2,[%rd2]; st.global.u32 [%rd30],%r2;\n"
                "setp.ne.u64 %p2,%rd2,%rd1; @%p2 bra DOWN; ret;");
  EXPECT_TRUE(k.contains("alloca"));
  EXPECT_EQ(k.count("inttoptr"), 2u); // the parameters
}

TEST(Variable, LocalAddressesOfTwoVariablesStayApart) {
  const Lowered k =
      lowerBody(".local .align 4 .b8 a[4]; .local .align 4 .b8 b[4]; mov.u64 %rd1, a;\n"
                "mov.u64 %rd2, b; ld.global.u32 %r1,[%rd31]; st.local.u32 [%rd1],5;\n"
                "st.local.u32 [%rd2],7; setp.eq.u32 %p1,%r1,0; selp.b64 %rd3,%rd1,%rd2,%p1;\n"
                "st.local.u32 [%rd3],%r1; ld.local.u32 %r2,[%rd1]; ld.local.u32 %r3,[%rd2];\n"
                "st.global.u32 [%rd30],%r2; st.global.u32 [%rd30+4],%r3; ret;");
  EXPECT_EQ(k.count("alloca"), 2u);
}

TEST(Variable, ListsThatUnrolledLoopsKeepInOrderBecomeValues) {
  const Lowered k = lowerBody(
      ".local .align 4 .b8 list[8]; mov.u64 %rd1, list; add.u64 %rd2,%rd1,4;\n"
      "st.local.u32 [%rd1],9; st.local.u32 [%rd2],9; ld.global.u32 %r1,[%rd31];\n"
      "ld.local.u32 %r2,[%rd2]; setp.ge.u32 %p1,%r1,%r2; @%p1 bra DONE;\n"
      "mov.u64 %rd3,%rd2; ld.local.u32 %r3,[%rd1]; setp.le.u32 %p2,%r3,%r1; @%p2 bra PUT;\n"
      "st.local.u32 [%rd2],%r3; mov.u64 %rd3,%rd1;\n"
      "PUT: st.local.u32 [%rd3],%r1;\n"
      "DONE: ld.local.u32 %r4,[%rd1]; ld.local.u32 %r5,[%rd2]; st.global.u32 [%rd30],%r4;\n"
      "st.global.u32 [%rd30+4],%r5; ret;");
  EXPECT_FALSE(k.contains("alloca"));
}

TEST(Variable, LocalAddressesPutTogetherByOrAreSumsToo) {
  const Lowered k =
      lowerBody(".local .align 8 .b8 x[8]; mov.u64 %rd1, x; or.b64 %rd2,%rd1,4;\n"
                "ld.global.u32 %r1,[%rd31]; st.local.u32 [%rd2],%r1; ld.local.u32 %r2,[%rd1+4];\n"
                "st.global.u32 [%rd30],%r2; ret;");
  EXPECT_FALSE(k.contains("alloca"));
}

TEST(Cvta, AddsTheWindowsBaseForSharedAndNothingForGlobal) {
  const Lowered shared = lowerBody(".shared .u32 x; mov.u64 %rd1, x; cvta.shared.u64 %rd2,%rd1;\n"
                                   "st.global.u64 [%rd30],%rd2; ret;");
  EXPECT_TRUE(shared.contains("call i64 @ptx.shared.base()"));
  const Lowered global =
      lowerBody("cvta.to.global.u64 %rd2,%rd30; st.global.u64 [%rd2],%rd2; ret;");
  EXPECT_EQ(global.count("call"), 0u);
}

TEST(Cvta, ToSharedUndoesCvtaShared) {
  const Lowered k = lowerBody(".shared .u32 x; mov.u64 %rd1, x; cvta.shared.u64 %rd2,%rd1;\n"
                              "cvta.to.shared.u64 %rd3,%rd2; st.global.u64 [%rd30],%rd3; ret;");
  EXPECT_TRUE(k.contains("store i64 1024"));
}

TEST(Register, HoldingFloatsInB32NeedsNoCasts) {
  const Lowered k =
      lowerBody("mov.b32 %r1, 0; mov.u32 %r2, 0;\n"
                "L: mul.wide.u32 %rd1,%r2,4; add.s64 %rd2,%rd31,%rd1; ld.global.b32 %r3,[%rd2];\n"
                "add.f32 %r1,%r1,%r3; add.s32 %r2,%r2,1; setp.lt.u32 %p1,%r2,100; @%p1 bra L;\n"
                "st.global.b32 [%rd30],%r1; ret;");
  EXPECT_EQ(k.count("bitcast"), 1u); // behind the loop: the one NaN that is stored
  EXPECT_TRUE(k.contains("phi float"));
}

} // namespace
} // namespace ptxrun::lower::test
