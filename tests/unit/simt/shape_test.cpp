#include "tests/unit/simt/lane_text.h"

namespace ptxrun::simt {
namespace {

struct Analysed {
  lower::LaneModule lane;
  std::unique_ptr<ShapeAnalysis> shapes;
  Shape operator[](const char *name) const { return shapes->shape(named(*lane.kernel, name)); }
};

Analysed analyse(const std::string &body, unsigned lanes, std::array<uint32_t, 3> block) {
  Analysed a{laneModule(body), nullptr};
  GangShape gang{lanes, block};
  prepareFunction(*a.lane.kernel, gang, true);
  a.shapes = std::make_unique<ShapeAnalysis>(*a.lane.kernel, gang, false);
  return a;
}

std::vector<int64_t> times(unsigned lanes, int64_t step) {
  std::vector<int64_t> v;
  for (unsigned l = 0; l < lanes; ++l)
    v.push_back(int64_t(l) * step);
  return v;
}

TEST(Shape, ThreadIndexAlongARowAdvancesByOne) {
  Analysed a = analyse("%x = call i32 @ptx.sreg.tid.x()\nret void", 32, {256, 1, 1});
  ASSERT_TRUE(a["x"].hasOffsets());
  EXPECT_EQ(*a["x"].offsets, times(32, 1));
  EXPECT_EQ(a["x"].alignment, 5);
}

TEST(Shape, RowsOfSixteenRepeatWithinAGangOf32) {
  Analysed a = analyse("%x = call i32 @ptx.sreg.tid.x()\n%y = call i32 @ptx.sreg.tid.y()\nret void",
                       32, {16, 16, 1});
  ASSERT_TRUE(a["x"].hasOffsets() && a["y"].hasOffsets());
  for (unsigned l = 0; l < 32; ++l) {
    EXPECT_EQ((*a["x"].offsets)[l], l % 16);
    EXPECT_EQ((*a["y"].offsets)[l], l / 16);
  }
}

TEST(Shape, RowsOfSixteenAreUniformInAGangOf16) {
  Analysed a = analyse("%y = call i32 @ptx.sreg.tid.y()\nret void", 16, {16, 16, 1});
  EXPECT_TRUE(a["y"].isUniform());
}

TEST(Shape, WarpNumberAndComparisonWithWarpBoundAreUniform) {
  Analysed a =
      analyse("%x = call i32 @ptx.sreg.tid.x()\n%w = lshr i32 %x, 5\n%c = icmp ult i32 %x, 64\n"
              "%d = icmp ult i32 %x, 50\nret void",
              32, {256, 1, 1});
  EXPECT_TRUE(a["w"].isUniform());
  EXPECT_TRUE(a["c"].isUniform());
  EXPECT_TRUE(a["d"].isVarying());
}

TEST(Shape, WhatAllLanesTakeFromOneIsUniform) {
  const std::string body =
      "%x = call i32 @ptx.sreg.tid.x()\n"
      "%whole = call {i32, i1} @ptx.shfl.sync.idx(i32 %x, i32 0, i32 31, i32 -1)\n"
      "%segments = call {i32, i1} @ptx.shfl.sync.idx(i32 %x, i32 0, i32 6175, i32 -1)\n"
      "%each = call {i32, i1} @ptx.shfl.sync.idx(i32 %x, i32 %x, i32 31, i32 -1)\n"
      "%w = lshr i32 %x, 5\n"
      "%known = call {i32, i1} @ptx.shfl.sync.idx(i32 %w, i32 %x, i32 31, i32 -1)\nret void";
  for (unsigned lanes : {8u, 32u}) {
    Analysed a = analyse(body, lanes, {256, 1, 1});
    EXPECT_TRUE(a["whole"].isUniform());
    EXPECT_TRUE(a["segments"].isVarying());
    ASSERT_EQ(a["each"].hasOffsets(), lanes == 32); // of 8, the lanes asked are another gang's
    for (unsigned l = 0; a["each"].hasOffsets() && l < lanes; ++l)
      EXPECT_EQ((*a["each"].offsets)[l], l);
    EXPECT_EQ(a["known"].isUniform(), lanes == 32);
  }
}

TEST(Shape, EdgesOfUniformBranchesDoNotMakeAJoinVary) {
  // Lanes that part in `far` come to `end` by two edges, with one value; nobody comes from `near`
  // at the same time.
  const std::string body =
      "%x = call i32 @ptx.sreg.tid.x()\n%n = load i32, ptr %params\n%u = icmp eq i32 %n, 0\n"
      "br i1 %u, label %near, label %far\n"
      "near:\nbr label %end\n"
      "far:\n%m = add i32 %n, 1\n%v = icmp eq i32 %x, 3\nbr i1 %v, label %more, label %end\n"
      "more:\n%o = add i32 %m, 1\nbr label %end\n"
      "end:\n%same = phi i32 [ %n, %near ], [ %m, %far ], [ %m, %more ]\n"
      "%other = phi i32 [ %n, %near ], [ %m, %far ], [ %o, %more ]\nret void";
  Analysed a = analyse(body, 32, {64, 1, 1});
  EXPECT_TRUE(a["same"].isUniform());
  EXPECT_TRUE(a["other"].isVarying());
}

TEST(Shape, XorWithAConstantPermutesOffsets) {
  Analysed a =
      analyse("%x = call i32 @ptx.sreg.tid.x()\n%p = xor i32 %x, 5\n%q = xor i32 %x, 64\nret void",
              32, {128, 1, 1});
  for (unsigned l = 0; l < 32; ++l)
    EXPECT_EQ((*a["p"].offsets)[l], l ^ 5);
  EXPECT_EQ(*a["q"].offsets, times(32, 1));
}

TEST(Shape, GlobalIndexOfWholeWarpsExtendsExactly) {
  Analysed a = analyse(
      "%x = call i32 @ptx.sreg.tid.x()\n%b = call i32 @ptx.sreg.ctaid.x()\n%m = mul i32 %b, 256\n"
      "%i = add i32 %m, %x\n%e = sext i32 %i to i64\nret void",
      32, {256, 1, 1});
  EXPECT_FALSE(a["e"].isConditional);
  EXPECT_EQ(*a["e"].offsets, times(32, 1));
}

TEST(Shape, IndexWithUnknownBaseExtendsOnCondition) {
  Analysed a =
      analyse("%x = call i32 @ptx.sreg.tid.x()\n%n = load i32, ptr %params\n%i = add i32 %n, %x\n"
              "%e = sext i32 %i to i64\nret void",
              32, {256, 1, 1});
  EXPECT_TRUE(a["e"].isConditional);
}

TEST(Shape, StepsAreModulo64BitsAndPlacesFarApartAreLanesOwn) {
  Analysed a = analyse("%x = call i32 @ptx.sreg.tid.x()\n%w = zext i32 %x to i64\n"
                       "%hash = mul i64 %w, -7046029254386353131\n%high = shl i64 %w, 62\n"
                       "%far = inttoptr i64 %high to ptr\n"
                       "%wraps = getelementptr [2305843009213693952 x i64], ptr null, i64 %w\n"
                       "%near = getelementptr [512 x i64], ptr null, i64 %w\nret void",
                       32, {32, 1, 1});
  EXPECT_EQ(a.shapes->step(named(*a.lane.kernel, "hash")), -7046029254386353131);
  EXPECT_EQ(a.shapes->step(named(*a.lane.kernel, "high")), int64_t(1) << 62);
  EXPECT_TRUE(a["far"].isVarying());
  EXPECT_TRUE(a["wraps"].isUniform());
  EXPECT_EQ(a.shapes->step(named(*a.lane.kernel, "near")), 4096);
}

TEST(Divergence, PhiAtTheJoinOfADivergentBranchVaries) {
  Analysed a = analyse(
      "%x = call i32 @ptx.sreg.tid.x()\n%c = icmp ult i32 %x, 7\nbr i1 %c, label %t, label %j\n"
      "t:\nbr label %j\nj:\n%p = phi i32 [ 1, %t ], [ 2, %0 ]\nret void",
      32, {32, 1, 1});
  EXPECT_TRUE(a["p"].isVarying());
}

TEST(Divergence, CounterOfALoopLeftAtDifferentTimesIsUniformInsideAndVariesOutside) {
  Analysed a = analyse(
      "%x = call i32 @ptx.sreg.tid.x()\nbr label %l\nl:\n%k = phi i32 [ 0, %0 ], [ %n, %l ]\n"
      "%n = add i32 %k, 1\n%c = icmp ult i32 %n, %x\nbr i1 %c, label %l, label %e\n"
      "e:\n%out = add i32 %n, 0\n%store = add i32 %out, 0\nret void",
      32, {32, 1, 1});
  EXPECT_TRUE(a["k"].isUniform());
  EXPECT_TRUE(a["out"].isVarying());
}

TEST(Divergence, TwoWaysToOneBlockFromANestedBranchMeetThere) {
  // Lanes reach %m directly and by way of %b.
  Analysed a =
      analyse("%x = call i32 @ptx.sreg.tid.x()\n%c = icmp ult i32 %x, 7\n%d = icmp ult i32 %x, 20\n"
              "br i1 %c, label %m, label %b\nb:\nbr i1 %d, label %m, label %z\n"
              "m:\n%p = phi i32 [ 1, %0 ], [ 2, %b ]\nbr label %z\nz:\nret void",
              32, {32, 1, 1});
  EXPECT_TRUE(a["p"].isVarying());
}

} // namespace
} // namespace ptxrun::simt
