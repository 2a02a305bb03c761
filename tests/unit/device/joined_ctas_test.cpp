// Which kernels' CTAs may run as one block, and how many of a launch's do.
#include "loader/device/joined_ctas.h"

#include <gtest/gtest.h>

#include "translate/check/check.h"

namespace ptxrun::device {
namespace {

constexpr const char *kHeader = ".version 9.0\n.target sm_90a\n.address_size 64\n";
constexpr const char *kRegisters = ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<9>;\n";
constexpr const char *kIndex = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; "
                               "mad.lo.s32 %r4, %r1, %r2, %r3;\n";

Joinable read(const std::string &body, const std::string &before = "") {
  support::SourceFile source("t.ptx", kHeader + before + ".visible .entry k(.param .u64 in)\n{\n" +
                                          kRegisters + "ld.param.u64 %d1, [in];\n" + body +
                                          "\nret;\n}\n");
  support::Diagnostics diagnostics(source);
  const auto owner = check::parseAndCheck(source, diagnostics);
  EXPECT_TRUE(owner) << diagnostics.text();
  return owner ? readJoinable(owner->module(), "k") : Joinable{};
}

bool isAny(const std::string &body, const std::string &before = "") {
  return read(body, before).isAny;
}

TEST(JoinedCtas, NothingThatIsOfACtaOrWarp) {
  EXPECT_TRUE(isAny("st.global.u32 [%d1], %r4; red.global.add.u32 [%d1], 1;"));
  EXPECT_TRUE(isAny("atom.global.add.u32 %r1, [%d1], 1;"));
  EXPECT_FALSE(isAny("bar.sync 0;"));
  EXPECT_FALSE(isAny("shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;"));
  EXPECT_FALSE(isAny("mov.u32 %r1, %laneid;"));
  EXPECT_FALSE(isAny("mov.u64 %d2, %clock64;"));
  EXPECT_FALSE(isAny("st.shared.u32 [s], %r4;", ".shared .b32 s;\n"));
  EXPECT_FALSE(isAny("mov.u64 %d2, s;", ".shared .b32 s;\n"));
}

TEST(JoinedCtas, NobodyThatMayWaitForAnother) {
  EXPECT_FALSE(isAny("ld.volatile.global.u32 %r1, [%d1];"));
  EXPECT_FALSE(isAny("ld.acquire.gpu.global.u32 %r1, [%d1];"));
  EXPECT_FALSE(isAny("ld.relaxed.gpu.global.u32 %r1, [%d1];"));
  EXPECT_FALSE(isAny("atom.global.cas.b32 %r1, [%d1], 0, 1;"));
  EXPECT_FALSE(isAny("atom.global.exch.b32 %r1, [%d1], 1;"));
}

TEST(JoinedCtas, ReadsFunctionsThatAreCalled) {
  EXPECT_TRUE(isAny("call f;", ".func f() { ret; }\n"));
  EXPECT_FALSE(isAny("call f;", ".func f() { bar.sync 0; ret; }\n"));
  EXPECT_FALSE(isAny("call f;", ".extern .func f();\n"));
  const Joinable found = read(std::string(kIndex) + "call f;",
                              ".func f() { .reg .b32 %r; mov.u32 %r, %tid.x; ret; }\n");
  EXPECT_TRUE(found.isAny);
  EXPECT_FALSE(found.isByIndex[0]);
}

TEST(JoinedCtas, OneIndexAlongAnAxis) {
  EXPECT_TRUE(read(kIndex).isByIndex[0]);
  EXPECT_TRUE(read("mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mul.wide.u32 %d2, %r1, %r2; "
                   "mov.u32 %r3, %tid.x; cvt.u64.u32 %d3, %r3; add.s64 %d4, %d2, %d3;")
                  .isByIndex[0]);
  EXPECT_FALSE(read(std::string(kIndex) + "add.s32 %r5, %r1, 1;").isByIndex[0]);
  EXPECT_FALSE(read(std::string(kIndex) + "st.global.u32 [%d1], %r3;").isByIndex[0]);
  // A thread's of another axis; two values of one register.
  EXPECT_FALSE(read("mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.y; "
                    "mad.lo.s32 %r4, %r1, %r2, %r3;")
                   .isByIndex[0]);
  EXPECT_FALSE(read("mov.u32 %r1, %ctaid.x; @%p1 mov.u32 %r1, 0; mov.u32 %r2, %ntid.x; "
                    "mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;")
                   .isByIndex[0]);
  const Joinable shifted = read("mov.u32 %r1, %ctaid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, %tid.x; "
                                "or.b32 %r4, %r2, %r3;");
  EXPECT_TRUE(shifted.isByIndex[0]);
  EXPECT_EQ(shifted.presumed[0], 16u);
}

rt::RunOptions launch(abi::Dim3 grid, abi::Dim3 block) {
  rt::RunOptions options;
  options.grid = grid;
  options.block = block;
  return options;
}

TEST(JoinedCtas, AsManyAsGiveRowsOfLanes) {
  const Joinable byNumber{.isAny = true};
  const Joinable byIndex{.isAny = true, .isByIndex = {true, true, true}};
  using Shape = BlockShape;
  EXPECT_EQ(chooseJoinedCtas(byIndex, launch({64, 64, 1}, {4, 4, 1}), 2), (Shape{8, 8, 1}));
  EXPECT_EQ(chooseJoinedCtas(byNumber, launch({64, 64, 1}, {4, 4, 1}), 2), (Shape{8, 8, 1}));
  EXPECT_EQ(chooseJoinedCtas(byIndex, launch({64, 64, 1}, {16, 16, 1}), 2), (Shape{2, 2, 1}));
  EXPECT_EQ(chooseJoinedCtas(byIndex, launch({4096, 1, 1}, {1, 1, 1}), 2), (Shape{32, 1, 1}));
  EXPECT_EQ(chooseJoinedCtas(byIndex, launch({63, 72, 1}, {4, 4, 1}), 2), (Shape{8, 8, 1}));
  EXPECT_EQ(chooseJoinedCtas(byIndex, launch({64, 63, 1}, {4, 4, 1}), 2), (Shape{8, 1, 1}));
  // Blocks of a warp or more that know their number, rows of 32, blocks that are no part of a row,
  // grids that are too small for all workers.
  EXPECT_EQ(chooseJoinedCtas(byNumber, launch({64, 64, 1}, {16, 16, 1}), 2), (Shape{1, 1, 1}));
  EXPECT_EQ(chooseJoinedCtas(byIndex, launch({64, 64, 1}, {32, 8, 1}), 2), (Shape{1, 1, 1}));
  EXPECT_EQ(chooseJoinedCtas(byIndex, launch({4096, 1, 1}, {3, 1, 1}), 2), (Shape{1, 1, 1}));
  EXPECT_EQ(chooseJoinedCtas(byIndex, launch({64, 64, 1}, {4, 4, 1}), 32), (Shape{1, 1, 1}));
  EXPECT_EQ(chooseJoinedCtas(byIndex, launch({16, 4, 1}, {8, 8, 1}), 2), (Shape{1, 1, 1}));
  EXPECT_EQ(chooseJoinedCtas(Joinable{}, launch({64, 64, 1}, {4, 4, 1}), 2), (Shape{1, 1, 1}));
}

} // namespace
} // namespace ptxrun::device
