// Control flow, calls and collectives as IR.
#include <gtest/gtest.h>

#include "tests/unit/lower/lower_fixture.h"

namespace ptxrun::lower::test {
namespace {

constexpr const char *kStoreCall = "{ .reg .b32 a<3>; .reg .b64 q;\n"
                                   "ld.param.u64 q,[p]; ld.global.u32 a1,[q];\n"
                                   "{ .param .b32 arg; .param .b32 res; st.param.b32 [arg],a1;\n"
                                   "call.uni (res), f, (arg);\n ld.param.b32 a2,[res]; }\n"
                                   "st.global.u32 [q],a2; ret; }";

std::string withFunction(std::string_view function) {
  return std::string(function) + "\n.visible .entry k(.param .u64 p)\n" + kStoreCall;
}

/// nvcc divides 64 bits twice, in 32 bits where these do; the 64-bit way alone is the same.
TEST(Division, OfWideNumbersHasOneWay) {
  const auto branches = [](std::string_view narrow) {
    return lowerBody(
               "ld.global.u64 %rd1,[%rd31]; ld.global.u64 %rd2,[%rd31+8];\n"
               "or.b64 %rd3,%rd2,%rd1; and.b64 %rd4,%rd3,-4294967296; setp.eq.s64 %p1,%rd4,0;\n"
               "@%p1 bra NARROW;\n"
               "div.s64 %rd5,%rd1,%rd2; mul.lo.s64 %rd6,%rd5,%rd2; sub.s64 %rd7,%rd1,%rd6;\n"
               "bra.uni END;\n"
               "NARROW: cvt.u32.u64 %r1,%rd1; cvt.u32.u64 %r2,%rd2; " +
               std::string(narrow) +
               " cvt.u64.u32 %rd5,%r3; cvt.u64.u32 %rd7,%r5;\n"
               "END: st.global.u64 [%rd30],%rd5; st.global.u64 [%rd30+8],%rd7; ret;")
        .count("br i1");
  };
  EXPECT_EQ(branches("div.u32 %r3,%r1,%r2; mul.lo.s32 %r4,%r3,%r2; sub.s32 %r5,%r1,%r4;"), 0u);
  EXPECT_EQ(branches("div.u32 %r3,%r1,%r2; rem.u32 %r5,%r1,%r2;"), 0u);
  // Something else than the wide way does.
  EXPECT_EQ(branches("div.u32 %r3,%r2,%r1; rem.u32 %r5,%r1,%r2;"), 1u);
  EXPECT_EQ(branches("div.u32 %r3,%r1,%r2; rem.u32 %r5,%r2,%r1;"), 1u);
  EXPECT_EQ(branches("div.s32 %r3,%r1,%r2; rem.u32 %r5,%r1,%r2;"), 1u);
}

TEST(Call, OfAnOrdinaryFunctionIsInlined) {
  const Lowered k = lowerModule(
      withFunction(".func (.param .b32 r) f(.param .b32 x) { .reg .b32 a<3>;\n"
                   "ld.param.b32 a1,[x]; add.s32 a2,a1,5; st.param.b32 [r],a2; ret; }"));
  EXPECT_EQ(k.count("call"), 0u);
  EXPECT_FALSE(k.contains("alloca"));
  EXPECT_EQ(k.count("define"), 1u);
  EXPECT_TRUE(k.contains("add i32"));
}

TEST(Call, OfARecursiveFunctionStaysACallOfScalars) {
  const Lowered k = lowerModule(
      withFunction(".func (.param .b32 r) f(.param .b32 x) { .reg .b32 a<6>; .reg .pred p;\n"
                   "ld.param.b32 a1,[x]; setp.lt.s32 p,a1,2; @p bra DONE; sub.s32 a2,a1,1;\n"
                   "{ .param .b32 y; .param .b32 s; st.param.b32 [y],a2; call.uni (s), f, (y); "
                   "ld.param.b32 a3,[s]; }\n"
                   "mul.lo.s32 a1,a1,a3;\nDONE: st.param.b32 [r],a1; ret; }"));
  EXPECT_TRUE(k.contains("define internal i32 @fn.f(i32"));
  EXPECT_EQ(k.count("call i32 @fn.f("), 2u);
}

TEST(Call, PassesAggregatesByPointerAndSroaTakesThemApart) {
  const Lowered k = lowerModule(
      ".func (.param .align 4 .b8 r[8]) f(.param .align 4 .b8 x[8]) { .reg .f32 a<4>;\n"
      "ld.param.f32 a1,[x]; ld.param.f32 a2,[x+4]; add.f32 a3,a1,a2; st.param.f32 [r],a3; "
      "st.param.f32 [r+4],a2; ret; }\n"
      ".visible .entry k(.param .u64 p) { .reg .f32 a<4>; .reg .b64 q; ld.param.u64 q,[p];\n"
      "{ .param .align 4 .b8 arg[8]; .param .align 4 .b8 res[8]; st.param.f32 [arg],0f3F800000; "
      "st.param.f32 [arg+4],0f40000000;\n"
      "call.uni (res), f, (arg); ld.param.f32 a1,[res]; ld.param.f32 a2,[res+4]; }\n"
      "st.global.f32 [q],a1; st.global.f32 [q+4],a2; ret; }");
  EXPECT_FALSE(k.contains("alloca"));
  EXPECT_TRUE(k.contains("store float 3.0"));
  EXPECT_TRUE(k.contains("store float 2.0"));
}

TEST(Call, OfAFunctionWithoutBodyNamesIt) {
  const Lowered k = lowerModule(withFunction(".extern .func (.param .b32 r) f(.param .b32 x);"));
  EXPECT_FALSE(k.lane);
  EXPECT_NE(k.diagnostics.find("`f`"), std::string::npos) << k.diagnostics;
}

TEST(Refusal, IsToldOncePerFormWithItsLines) {
  std::string body;
  for (int i = 0; i < 128; ++i)
    body += "call f;\n";
  const Lowered k = lowerModule(".extern .func f();\n.visible .entry k() {\n" + body + "ret; }");
  EXPECT_FALSE(k.lane);
  EXPECT_NE(k.diagnostics.find("defined nowhere in the module (and 127 more, in lines "),
            std::string::npos)
      << k.diagnostics;
  EXPECT_EQ(k.diagnostics.find("error:"), k.diagnostics.rfind("error:")) << k.diagnostics;
}

TEST(Call, OfVprintfIsAWord) {
  const Lowered k = lowerModule(
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.global .align 1 .b8 "
      "text[4] = {104,105,10,0};\n"
      ".visible .entry k() { .reg .b32 a; .reg .b64 q<3>; mov.u64 q0,text; cvta.global.u64 q1,q0;\n"
      "{ .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f],q1; st.param.b64 [v],0;\n"
      "call.uni (r), vprintf, (f, v); ld.param.b32 a,[r]; } ret; }");
  EXPECT_TRUE(k.contains("call i32 @ptx.call.vprintf(ptr"));
}

TEST(Call, ThroughAnAddressChoosesAmongTheFunctionsWhoseAddressIsTaken) {
  const Lowered k = lowerModule(
      ".func (.param .b32 r) f(.param .b32 x) { .reg .b32 a; ld.param.b32 a,[x]; add.s32 a,a,5; "
      "st.param.b32 [r],a; ret; }\n"
      ".func (.param .b32 r) g(.param .b32 x) { .reg .b32 a; ld.param.b32 a,[x]; mul.lo.s32 a,a,7; "
      "st.param.b32 [r],a; ret; }\n"
      ".func h(.param .b32 x) { ret; }\n"
      ".global .u64 table[3] = {f, g, h};\n"
      ".visible .entry k(.param .u64 p) { .reg .b32 a<3>; .reg .b64 q<3>; ld.param.u64 q0,[p]; "
      "ld.global.u64 q1,[q0];\n"
      "{ .param .b32 arg; .param .b32 res; st.param.b32 [arg],3;\n"
      "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
      "call (res), q1, (arg), proto; ld.param.b32 a1,[res]; }\n st.global.u32 [q0],a1; ret; }");
  EXPECT_TRUE(k.contains("switch i64"));
  EXPECT_TRUE(k.contains("i64 65536, label"));
  EXPECT_TRUE(k.contains("i64 65552, label"));
  EXPECT_FALSE(k.contains("i64 65568, label"));
  EXPECT_TRUE(k.contains("@ptx.trap()"));
}

TEST(Exit, InADeviceFunctionEndsTheLaneAndInTheKernelReturns) {
  const Lowered inlined =
      lowerModule(".func f() { exit; }\n.visible .entry k() { call.uni f; ret; }");
  EXPECT_FALSE(inlined.contains("ptx.exit"));
  EXPECT_TRUE(inlined.contains("ret void"));
  const Lowered kept = lowerModule(
      ".func f() { .reg .pred p; .reg .b32 a; mov.u32 a,%laneid; setp.eq.u32 p,a,3; @p exit;\n"
      "call.uni f; ret; }\n.visible .entry k() { call.uni f; ret; }");
  EXPECT_TRUE(kept.contains("call void @ptx.exit()"));
}

TEST(Brx, IsASwitch) {
  const Lowered k =
      lowerBody("ld.global.u32 %r1,[%rd31];\nts: .branchtargets A, B, C;\nbrx.idx %r1, ts;\n"
                "A: st.global.u32 [%rd30],1; ret;\nB: st.global.u32 [%rd30],2; ret;\nC: "
                "st.global.u32 [%rd30],3; ret;");
  EXPECT_TRUE(k.contains("switch i32"));
}

TEST(Guard, OnALaneInstructionKeepsTheOldValue) {
  const Lowered k = lowerBody("ld.global.u32 %r1,[%rd31]; mov.u32 %r2,5; setp.gt.u32 %p1,%r1,9;\n"
                              "@!%p1 mov.u32 %r2,%r1; st.global.u32 [%rd30],%r2; ret;");
  EXPECT_TRUE(k.contains("select i1"));
  EXPECT_EQ(k.count("br "), 0u);
}

TEST(SpecialRegister, CarriesItsRange) {
  const Lowered k = lowerBody("mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.y; add.s32 %r1,%r1,%r2; "
                              "st.global.u32 [%rd30],%r1; ret;");
  EXPECT_TRUE(k.contains("call i32 @ptx.sreg.tid.x(), "));
  EXPECT_TRUE(k.contains("!{i32 0, i32 1024}"));
  EXPECT_TRUE(k.contains("!{i32 0, i32 65535}"));
  EXPECT_TRUE(k.contains("add nuw nsw i32")) << "ranges prove that the sum does not wrap";
}

TEST(Collective, IsAConvergentCallWithItsMask) {
  const Lowered k = lowerBody("ld.global.u32 %r1,[%rd31]; shfl.sync.down.b32 %r2|%p1,%r1,16,31,-1; "
                              "vote.sync.ballot.b32 %r3,%p1,-1;\n"
                              "match.any.sync.b32 %r4,%r1,-1; match.all.sync.b64 %r5|%p2,%rd31,-1; "
                              "redux.sync.add.s32 %r6,%r1,-1;\n"
                              "redux.sync.min.u32 %r7,%r1,-1; activemask.b32 %r8; elect.sync "
                              "%r9|%p3,-1; vote.sync.all.pred %p4,%p3,-1;\n"
                              "bar.warp.sync -1; st.global.v4.u32 [%rd30],{%r2,%r3,%r4,%r5}; "
                              "st.global.v4.u32 [%rd30+16],{%r6,%r7,%r8,%r9};\n"
                              "selp.u32 %r10,1,0,%p4; selp.u32 %r11,1,0,%p2; st.global.v2.u32 "
                              "[%rd30+32],{%r10,%r11}; ret;");
  for (const char *call :
       {"{ i32, i1 } @ptx.shfl.sync.down(i32 %", "i32 @ptx.vote.sync.ballot(i1",
        "i32 @ptx.match.any.sync.i32(i32", "{ i32, i1 } @ptx.match.all.sync.i64(i64",
        "i32 @ptx.redux.sync.add(i32", "i32 @ptx.redux.sync.umin(i32", "i32 @ptx.activemask()",
        "{ i32, i1 } @ptx.elect.sync(i32 -1)", "i1 @ptx.vote.sync.all(i1",
        "void @ptx.bar.warp.sync(i32 -1)"})
    EXPECT_TRUE(k.contains(std::string("call ") + call)) << call << "\n" << k.ir;
  EXPECT_TRUE(k.contains("convergent"));
}

TEST(Barrier, IsAConvergentCallThatOrdersMemory) {
  const Lowered k = lowerBody(
      ".shared .align 4 .u32 x; ld.global.u32 %r1,[%rd31]; st.shared.u32 [x],%r1; bar.sync 0;\n"
      "ld.shared.u32 %r2,[x]; barrier.sync 1, 64; bar.arrive 2, 128; setp.eq.u32 %p1,%r2,0;\n"
      "bar.red.popc.u32 %r3,0,%p1; bar.red.or.pred %p2,3,%p1; selp.u32 %r4,1,0,%p2;\n"
      "st.global.v2.u32 [%rd30],{%r3,%r4}; ret;");
  EXPECT_TRUE(k.contains("call void @ptx.bar.sync(i32 0, i32 0)"));
  EXPECT_TRUE(k.contains("call void @ptx.bar.sync(i32 1, i32 64)"));
  EXPECT_TRUE(k.contains("call void @ptx.bar.arrive(i32 2, i32 128)"));
  EXPECT_TRUE(k.contains("call i32 @ptx.bar.red.popc(i32 0, i32 0, i1"));
  EXPECT_TRUE(k.contains("call i1 @ptx.bar.red.or(i32 3, i32 0, i1"));
  EXPECT_TRUE(k.contains("load i32, ptr addrspace(3)"))
      << "a store does not pass its value over a barrier";
}

TEST(Lowering, OfTexturesIsOneWordWithARowForEachOperand) {
  const Lowered k = lowerBody("istypep.texref %p1, %rd1;\n"
                              "@%p1 suld.b.2d.b32.zero %r1, [%rd1, {%r2, %r3}];\n"
                              "st.global.u32 [%rd30], %r1; ret;");
  EXPECT_TRUE(k.lane) << k.diagnostics;
  EXPECT_TRUE(k.contains("call i1 @ptx.istypep(i64"));
  EXPECT_TRUE(k.contains("call { i32, i32, i32, i32 } @ptx.texture(i32"));
}

TEST(DebugLocation, IsThePtxLine) {
  const Lowered k =
      lowerModule(".visible .entry k(.param .u64 p) {\n.reg .b64 q;\nld.param.u64 q,[p];\n"
                  "st.global.u32 [q],1;\nret; }");
  EXPECT_TRUE(k.contains("!DILocation(line: 7,"));
}

} // namespace
} // namespace ptxrun::lower::test
