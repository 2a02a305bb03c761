#include "tests/unit/simt/lane_text.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

struct Counts {
  unsigned maskedLoads = 0, maskedStores = 0, gathers = 0, scatters = 0, vectorLoads = 0,
           vectorStores = 0;
};

Counts count(const llvm::Module &m) {
  Counts c;
  for (const llvm::Function &f : m)
    for (const llvm::Instruction &i : llvm::instructions(f)) {
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&i)) {
        c.maskedLoads += call->getIntrinsicID() == llvm::Intrinsic::masked_load;
        c.maskedStores += call->getIntrinsicID() == llvm::Intrinsic::masked_store;
        c.gathers += call->getIntrinsicID() == llvm::Intrinsic::masked_gather;
        c.scatters += call->getIntrinsicID() == llvm::Intrinsic::masked_scatter;
      }
      c.vectorLoads += llvm::isa<llvm::LoadInst>(i) && i.getType()->isVectorTy();
      if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
        c.vectorStores += store->getValueOperand()->getType()->isVectorTy();
    }
  return c;
}

const char *kIndex =
    "%x = call i32 @ptx.sreg.tid.x()\n%b = call i32 @ptx.sreg.ctaid.x()\n%m = mul i32 %b, 256\n"
    "%i = add i32 %m, %x\n%e = sext i32 %i to i64\n%o = shl i64 %e, 2\n%base = load i64, ptr "
    "%params\n"
    "%a = add i64 %base, %o\n%p = inttoptr i64 %a to ptr\n";

TEST(Widen, NeighbouringLanesLoadAndStoreVectorsWithoutMasks) {
  GangModule g =
      widened(std::string(kIndex) + "%v = load float, ptr %p, align 4\n%w = fadd float %v, 1.0\n"
                                    "store float %w, ptr %p, align 4\nret void",
              {.lanes = 32, .block = {256, 1, 1}});
  Counts c = count(*g.module);
  EXPECT_EQ(c.maskedLoads + c.maskedStores + c.gathers + c.scatters, 0u);
  EXPECT_GT(c.vectorLoads, 0u);
  EXPECT_EQ(g.entry, EntryPoint::ctaRange);
}

/// Where a gang is a warp, its collectives see who is left; elsewhere the others may wait for them.
TEST(Widen, OfLanesThatLeaveOnlyGangsOfTheirWarpAreTold) {
  const char *body = "%x = call i32 @ptx.sreg.tid.x()\n%n = load i32, ptr %params\n"
                     "%c = icmp slt i32 %x, %n\nbr i1 %c, label %t, label %z\nt:\n"
                     "%v = call i32 @ptx.vote.sync.ballot(i1 true, i32 -1)\nbr label %z\n"
                     "z:\nret void";
  for (unsigned lanes : {8u, 16u, 32u}) {
    const GangModule g = widened(body, {.lanes = lanes, .block = {64, 1, 1}});
    EXPECT_EQ(g.module->getFunction("ptxrun_exit_lanes") != nullptr, lanes < 32);
    EXPECT_EQ(g.needs.tracksExits, lanes < 32);
  }
}

/// What the stage answers of a module that it cannot widen; empty if it can.
std::string problemOf(const std::string &body, CodeOptions options) {
  llvm::Expected<GangModule> gang = widen(laneModule(body), options);
  return gang ? "" : llvm::toString(gang.takeError());
}

TEST(Widen, WhatHasNoWideFormIsAnErrorWithItsName) {
  const std::string body = "%x = call i32 @ptx.sreg.tid.x()\n%base = load i64, ptr %params\n"
                           "%p = inttoptr i64 %base to ptr\n%v = load <4 x i32>, ptr %p\n"
                           "%e = extractelement <4 x i32> %v, i32 %x\nstore i32 %e, ptr %p\n"
                           "ret void";
  EXPECT_EQ(problemOf(body, {.lanes = 1, .block = {64, 1, 1}}), "");
  EXPECT_EQ(problemOf(body, {.lanes = 8, .block = {64, 1, 1}}),
            "internal error in stage simt: element of a vector with a variable index");
}

TEST(Widen, BrokenModulesAreNotWidened) {
  const std::string problem = problemOf("%y = add i32 %x, 1\n%x = call i32 @ptx.sreg.tid.x()\n"
                                        "%base = load i64, ptr %params\n"
                                        "%p = inttoptr i64 %base to ptr\n"
                                        "store i32 %y, ptr %p\nret void",
                                        {.lanes = 8, .block = {64, 1, 1}});
  EXPECT_NE(problem.find("Instruction does not dominate all uses"), std::string::npos) << problem;
}

/// An address whose index may wrap between lanes crosses the end of a loop in a phi; the slow path
/// behind the test goes back to what the phi merges.
TEST(Widen, AddressesWithConditionsCrossLoops) {
  const std::string body =
      std::string("%x = call i32 @ptx.sreg.tid.x()\n%b = call i32 @ptx.sreg.ctaid.x()\n"
                  "%m = mul i32 %b, 37\n%i = add i32 %m, %x\n%e = zext i32 %i to i64\n"
                  "%o = shl i64 %e, 2\n%base = load i64, ptr %params\n%a = add i64 %base, %o\n"
                  "%p = inttoptr i64 %a to ptr\nbr label %l\n"
                  "l:\n%n = phi i32 [ 0, %0 ], [ %n1, %l ]\n%n1 = add i32 %n, 1\n"
                  "%c = icmp ult i32 %n1, 3\nbr i1 %c, label %l, label %z\n"
                  "z:\n%q = phi ptr [ %p, %l ]\nstore i32 %x, ptr %q\nret void");
  for (unsigned lanes : {8u, 16u, 32u})
    EXPECT_EQ(problemOf(body, {.lanes = lanes, .block = {37, 1, 1}, .tier = Tier::baseline}), "");
}

TEST(Widen, GuardedBodyHasAVersionWithoutMasks) {
  std::string body = std::string(kIndex) +
                     "%c = icmp slt i32 %i, 1000\nbr i1 %c, label %t, label %z\nt:\n"
                     "%v = load float, ptr %p, align 4\nstore float %v, ptr %p, align 4\nbr label "
                     "%z\nz:\nret void";
  Counts c = count(*widened(body, {.lanes = 32, .block = {256, 1, 1}}).module);
  EXPECT_EQ(c.vectorLoads, 2u); // of CTAs whose gangs all do without, and of such gangs
  EXPECT_EQ(c.maskedLoads, 1u);
  EXPECT_EQ(c.gathers + c.scatters, 0u);
}

/// c[y][x] = sum of a[y][k] * b[k][x]: the rows of a block of 16 x 16 all read b[k][0..15].
TEST(Widen, GangsThatShareLoadsRunInLockstep) {
  const char *body =
      "%x = call i32 @ptx.sreg.tid.x()\n%y = call i32 @ptx.sreg.tid.y()\n%base = load i64, ptr "
      "%params\n"
      "%x8 = zext i32 %x to i64\n%xo = shl i64 %x8, 2\n%b0 = add i64 %base, %xo\n"
      "%y8 = zext i32 %y to i64\n%yo = shl i64 %y8, 8\n%a0 = add i64 %base, %yo\nbr label %l\n"
      "l:\n%k = phi i64 [ 0, %0 ], [ %k1, %l ]\n%s = phi float [ 0.0, %0 ], [ %s1, %l ]\n"
      "%ko = shl i64 %k, 6\n%bk = add i64 %b0, %ko\n%bp = inttoptr i64 %bk to ptr\n%bv = load "
      "float, ptr %bp, align 4\n"
      "%ao = shl i64 %k, 2\n%ak = add i64 %a0, %ao\n%ap = inttoptr i64 %ak to ptr\n%av = load "
      "float, ptr %ap, align 4\n"
      "%p = fmul float %av, %bv\n%s1 = fadd float %s, %p\n%k1 = add i64 %k, 1\n%z = icmp eq i64 "
      "%k1, 64\n"
      "br i1 %z, label %e, label %l\ne:\n%c = add i64 %a0, %xo\n%cp = inttoptr i64 %c to "
      "ptr\nstore float %s1, ptr %cp, align 4\nret void";
  GangModule g = widened(body, {.lanes = 16, .block = {16, 16, 1}, .level = CpuLevel::avx512});
  Counts c = count(*g.module);
  EXPECT_EQ(c.vectorLoads, 1u);  // of b, for all rows
  EXPECT_EQ(c.vectorStores, 8u); // of c, one per row
}

/// Each thread goes through a row of `*(i64 *)(params + 8)` words; rows begin as many bytes apart.
std::string overRows(const std::string &inLoop) {
  return "%x = call i32 @ptx.sreg.tid.x()\n%base = load i64, ptr %params\n"
         "%second = getelementptr i8, ptr %params, i64 8\n%length = load i64, ptr %second\n"
         "%x8 = zext i32 %x to i64\n%row = mul i64 %x8, %length\n%start = add i64 %base, %row\n"
         "%to = shl i64 %x8, 2\n%place = add i64 %to, %length\n%q = inttoptr i64 %place to ptr\n"
         "br label %l\nl:\n%k = phi i64 [ 0, %0 ], [ %k1, %l ]\n"
         "%a = phi i64 [ %start, %0 ], [ %a1, %l ]\n%s = phi float [ 0.0, %0 ], [ %s1, %l ]\n" +
         inLoop +
         "%a1 = add i64 %a, 4\n%k1 = add i64 %k, 1"
         "\n%z = icmp eq i64 %k1, %length\nbr i1 %z, label %e, label %l\ne:\n"
         "store float %s1, ptr %q, align 4\nret void";
}
const char *kOneOfRow =
    "%p = inttoptr i64 %a to ptr\n%v = load float, ptr %p, align 4\n%s1 = fadd float %s, %v\n";

/// The sixteen values of a line are one load per lane and shuffles; what is left over is gathered.
TEST(Widen, LoopsOverRowsOfLanesReadLinesWhole) {
  GangModule g =
      widened(overRows(kOneOfRow), {.lanes = 16, .block = {256, 1, 1}, .level = CpuLevel::avx512});
  Counts c = count(*g.module);
  EXPECT_EQ(c.vectorLoads, 16u);
  EXPECT_EQ(c.gathers, 1u);
  GangModule narrow =
      widened(overRows(kOneOfRow), {.lanes = 16, .block = {256, 1, 1}, .level = CpuLevel::avx2});
  EXPECT_EQ(count(*narrow.module).vectorLoads, 16u); // of 32 bytes
}

/// Three floats a thread: as many vectors as they fill, and no mask. One of three alone, on
/// AVX-512: the same vectors under masks.
TEST(Widen, StructuresAreStoredWhole) {
  std::string body =
      "%x = call i32 @ptx.sreg.tid.x()\n%base = load i64, ptr %params\n%x8 = zext i32 %x to i64\n"
      "%o = mul i64 %x8, 12\n%a = add i64 %base, %o\n%b = add i64 %a, 4\n%c = add i64 %a, 8\n"
      "%p = inttoptr i64 %a to ptr\n%q = inttoptr i64 %b to ptr\n%r = inttoptr i64 %c to ptr\n"
      "%v = sitofp i32 %x to float\n%w = fmul float %v, %v\nstore float %w, ptr %r, align 4\n";
  Counts alone = count(
      *widened(body + "ret void", {.lanes = 16, .block = {64, 1, 1}, .level = CpuLevel::avx512})
           .module);
  EXPECT_EQ(alone.maskedStores, 3u);
  body += "store float %v, ptr %p, align 4\nstore float %v, ptr %q, align 4\nret void";
  for (CpuLevel level : {CpuLevel::avx512, CpuLevel::avx2}) {
    Counts c = count(*widened(body, {.lanes = 16, .block = {64, 1, 1}, .level = level}).module);
    EXPECT_EQ(c.vectorStores, level == CpuLevel::avx512 ? 3u : 6u);
    EXPECT_EQ(c.maskedStores + c.scatters, 0u);
  }
}

/// A store that every round repeats leaves the loop in the version for rows that lie elsewhere.
TEST(Widen, StoresThatEveryRoundRepeatsGoBehindTheLoop) {
  GangModule g = widened(overRows(std::string(kOneOfRow) + "store float %s1, ptr %q, align 4\n"),
                         {.lanes = 16, .block = {256, 1, 1}, .level = CpuLevel::avx512});
  Counts c = count(*g.module);
  EXPECT_EQ(c.vectorLoads, 16u); // a store in the loop would keep its loads apart
  EXPECT_EQ(c.gathers, 2u);      // of what is left over, and of the version that stores
}

TEST(Widen, BarriersOfTheWholeBlockCutTheKernelIntoRegions) {
  GangModule g = widened("call void @ptx.bar.sync(i32 0, i32 0)\nret void",
                         {.lanes = 32, .block = {256, 1, 1}});
  EXPECT_EQ(g.entry, EntryPoint::ctaRange);
  EXPECT_FALSE(g.needs.maySuspend);
}

TEST(Widen, GangsThatOthersScheduleAreCoroutines) {
  GangModule g = widened("call void @ptx.bar.sync(i32 0, i32 0)\nret void",
                         {.lanes = 32, .block = {256, 1, 1}, .schedulesGangs = true});
  EXPECT_EQ(g.entry, EntryPoint::gangStart);
  EXPECT_TRUE(g.needs.maySuspend);
}

/// Which barrier a gang comes to next must not be its own affair: here warps 0 and 1 meet at one,
/// the others at another.
TEST(Widen, GangsThatChooseTheirBarrierAreCoroutines) {
  const char *body =
      "%x = call i32 @ptx.sreg.tid.x()\n%c = icmp ult i32 %x, 64\nbr i1 %c, label %a, label %b\n"
      "a:\ncall void @ptx.bar.sync(i32 0, i32 0)\nbr label %z\nb:\ncall void @ptx.bar.sync(i32 0, "
      "i32 0)\nbr label %z\n"
      "z:\nret void";
  EXPECT_EQ(widened(body, {.lanes = 32, .block = {256, 1, 1}}).entry, EntryPoint::gangStart);
}

/// Quotients below zero might part lanes of one warp before a barrier; only .aligned forbids that.
TEST(Widen, LanesAgreeOnRoundedBoundsBeforeAlignedBarriers) {
  const auto lanesWith = [](const char *barrier) {
    const std::string body =
        std::string("%x = call i32 @ptx.sreg.tid.x()\n%n = load i32, ptr %params\nbr label %a\n"
                    "a:\n%i = phi i32 [ %x, %0 ], [ %j, %a ]\n") +
        barrier +
        "\n%j = add i32 %i, 64\n%s = ashr i32 %j, 31\n%u = lshr i32 %s, 26\n"
        "%r = add i32 %j, %u\n%q = ashr i32 %r, 6\n%c = icmp slt i32 %q, %n\n"
        "br i1 %c, label %a, label %z\nz:\n" +
        barrier + "\nret void";
    CodeOptions options{.lanes = 32, .block = {64, 1, 1}};
    EXPECT_EQ(simt::readPasses("-thread-mode", options.passesLeftOut), "");
    return widened(body, options).needs.lanes;
  };
  EXPECT_EQ(lanesWith("call void @ptx.bar.sync(i32 0, i32 0), !ptx.aligned !{}"), 32u);
  EXPECT_EQ(lanesWith("call void @ptx.bar.sync(i32 0, i32 0)"), 1u);
}

/// The function in which the last lanes of a loop run the rest of it waits for nobody: lanes that
/// leave the kernel around it keep nobody waiting.
TEST(Widen, LoopsWithAFunctionForTheLastLanesAreNoWaits) {
  const char *body =
      "%x = call i32 @ptx.sreg.tid.x()\n%e = zext i32 %x to i64\n%o = shl i64 %e, 2\n"
      "%base = load i64, ptr %params\n%a = add i64 %base, %o\n%p = inttoptr i64 %a to ptr\n"
      "call void @ptx.bar.sync(i32 0, i32 0)\n"
      "%n = load i32, ptr %p\n%c = icmp ugt i32 %n, 7\nbr i1 %c, label %loop, label %end\n"
      "loop:\n%k = phi i32 [ 0, %0 ], [ %k1, %loop ]\n%place = mul i32 %k, %n\n"
      "%pe = zext i32 %place to i64\n%po = shl i64 %pe, 2\n%pa = add i64 %base, %po\n"
      "%pp = inttoptr i64 %pa to ptr\n%entry = load i32, ptr %pp\n%k1 = add i32 %k, 1\n"
      "%more = icmp ult i32 %entry, %n\nbr i1 %more, label %loop, label %next\n"
      "next:\nstore i32 %k, ptr %p\n%d = icmp ugt i32 %n, 9\n"
      "br i1 %d, label %second, label %end\n"
      "second:\nstore i32 0, ptr %p\nbr label %end\n"
      "end:\nret void";
  GangModule g = widened(body, {.lanes = 32, .block = {256, 1, 1}});
  EXPECT_TRUE(llvm::any_of(*g.module,
                           [](const llvm::Function &f) { return f.getName().contains("alone"); }));
  EXPECT_EQ(g.entry, EntryPoint::ctaRange);
}

/// What the next CTA reads of a row is fetched: as much as this one has, however far away that is.
TEST(Widen, OfFarRowsNoMoreIsFetchedThanABlockReads) {
  const auto fetches = [](const char *step) {
    const GangModule g =
        widened(std::string("%x = call i32 @ptx.sreg.tid.x()\n%y = call i32 @ptx.sreg.tid.y()\n"
                            "%c = call i32 @ptx.sreg.ctaid.x()\n%base = load i64, ptr %params\n"
                            "call void @ptx.bar.sync(i32 0, i32 0)\n%far = mul i32 %c, ") +
                    step +
                    "\n%row = mul i32 %y, 48\n%t = add i32 %row, %x\n%i = add i32 %far, %t\n"
                    "%w = urem i32 %t, 90\n%at = add i32 %far, %w\n%e = zext i32 %at to i64\n"
                    "%o = shl i64 %e, 3\n%a = add i64 %base, %o\n%p = inttoptr i64 %a to ptr\n"
                    "%v = load double, ptr %p\n%ie = zext i32 %i to i64\n%io = shl i64 %ie, 3\n"
                    "%b = add i64 %base, %io\n%q = inttoptr i64 %b to ptr\nstore double %v, ptr "
                    "%q\nret void",
                {.lanes = 8, .block = {48, 2, 1}, .level = CpuLevel::avx2});
    unsigned n = 0;
    for (const llvm::Function &f : *g.module)
      for (const llvm::Instruction &i : llvm::instructions(f))
        if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i))
          n += call->getIntrinsicID() == llvm::Intrinsic::prefetch;
    return n;
  };
  EXPECT_LT(fetches("1000000"), 100u);
}

TEST(Widen, BarriersOfSomeThreadsAreNoRegions) {
  GangModule g = widened("call void @ptx.bar.sync(i32 1, i32 64)\nret void",
                         {.lanes = 32, .block = {256, 1, 1}});
  EXPECT_EQ(g.entry, EntryPoint::gangStart);
}

unsigned countAtomics(const llvm::Module &m) {
  unsigned n = 0;
  for (const llvm::Function &f : m)
    for (const llvm::Instruction &i : llvm::instructions(f))
      n += llvm::isa<llvm::AtomicRMWInst>(i);
  return n;
}

bool hasBlock(const llvm::Module &m, llvm::StringRef name) {
  for (const llvm::Function &f : m)
    for (const llvm::BasicBlock &b : f)
      if (b.getName() == name)
        return true;
  return false;
}

const char *kFromBase = "%base = load i64, ptr %params\n%e = sext i32 %at to i64\n%o = shl i64 %e, "
                        "2\n%a = add i64 %base, %o\n%p = inttoptr i64 %a to ptr\n"
                        "%v = load float, ptr %p, align 4\n%q = inttoptr i64 %base to ptr\n"
                        "store float %v, ptr %q, align 4\nret void";

TEST(Widen, ClampedIndexIsARowWhereTheBoundIsNotMet) {
  // The guess alone: without the version for gangs of which no lane meets the bound.
  CodeOptions options{.lanes = 32, .block = {256, 1, 1}, .level = CpuLevel::avx512};
  ASSERT_EQ(readPasses("-clamped-indices", options.passesLeftOut), "");
  GangModule g = widened(std::string("%x = call i32 @ptx.sreg.tid.x()\n%y = add nsw i32 %x, -1\n"
                                     "%n = call i32 @ptx.sreg.ctaid.x()\n"
                                     "%at = call i32 @llvm.smax.i32(i32 %y, i32 %n)\n") +
                             kFromBase,
                         options);
  Counts c = count(*g.module);
  EXPECT_EQ(c.vectorLoads, 1u);
  EXPECT_EQ(c.gathers, 1u);
}

TEST(Widen, IndexWithExchangedBitsIsARowWhereLanesKeepTheirs) {
  GangModule g =
      widened(std::string("%x = call i32 @ptx.sreg.tid.x()\n%n = call i32 @ptx.sreg.ctaid.x()\n"
                          "%at = xor i32 %x, %n\n") +
                  kFromBase,
              {.lanes = 32, .block = {256, 1, 1}, .level = CpuLevel::avx512});
  Counts c = count(*g.module);
  EXPECT_EQ(c.vectorLoads, 1u);
  EXPECT_EQ(c.gathers, 1u);
}

TEST(Widen, LanesThatCountUpOnePlaceDoItInOneOperation) {
  GangModule g =
      widened("%base = load i64, ptr %params\n%p = inttoptr i64 %base to ptr\n"
              "%x = call i32 @ptx.sreg.tid.x()\n%t = atomicrmw add ptr %p, i32 %x monotonic\n"
              "%o = zext i32 %t to i64\n%a = add i64 %base, %o\n%q = inttoptr i64 %a to ptr\n"
              "store i32 %x, ptr %q, align 4\nret void",
              {.lanes = 32, .block = {256, 1, 1}});
  EXPECT_EQ(countAtomics(*g.module), 1u);
}

const char *kRow = "%x = call i32 @ptx.sreg.tid.x()\n%y = call i32 @ptx.sreg.tid.y()\n"
                   "%b = call i32 @ptx.sreg.ctaid.x()\n%m = mul i32 %b, 16\n%i = add i32 %m, %x\n"
                   "%r = mul i32 %y, 4096\n%k = add i32 %r, %i\n%e = sext i32 %k to i64\n"
                   "%o = shl i64 %e, 2\n%base = load i64, ptr %params\n%a = add i64 %base, %o\n"
                   "%p = inttoptr i64 %a to ptr\n";

TEST(Widen, BlocksOfRowsRunRowByRow) {
  const std::string body = std::string(kRow) + "store i32 %x, ptr %p, align 4\nret void";
  CodeOptions options{.lanes = 16, .block = {16, 16, 1}};
  EXPECT_TRUE(hasBlock(*widened(body, options).module, "row"));
  options.block = {256, 1, 1};
  EXPECT_FALSE(hasBlock(*widened(body, options).module, "row"));
}

TEST(Widen, BlocksThatKeepAnOrderDoNotRunRowByRow) {
  const std::string atomic =
      std::string(kRow) + "%old = atomicrmw add ptr %p, i32 1 monotonic\nret void";
  const std::string isVolatile =
      std::string(kRow) + "store volatile i32 %x, ptr %p, align 4\nret void";
  for (const std::string &body : {atomic, isVolatile})
    EXPECT_FALSE(hasBlock(*widened(body, {.lanes = 16, .block = {16, 16, 1}}).module, "row"));
}

TEST(Widen, MaskedRowsMayBeginBelowSharedMemory) {
  const char *body =
      "%x = call i32 @ptx.sreg.tid.x()\n%n = call i32 @ptx.sreg.ctaid.x()\n"
      "%c = icmp uge i32 %x, %n\nbr i1 %c, label %t, label %z\nt:\n%d = sub i32 %x, %n\n"
      "%o = shl i32 %d, 2\n%a = add i32 %o, 1024\n%p = inttoptr i32 %a to ptr addrspace(3)\n"
      "%v = load i32, ptr addrspace(3) %p, align 4\n%f = add nuw i32 %o, 4096\n"
      "%q = inttoptr i32 %f to ptr addrspace(3)\nstore i32 %v, ptr addrspace(3) %q, align 4\n"
      "br label %z\nz:\nret void";
  Counts c =
      count(*widened(body, {.lanes = 32, .block = {256, 1, 1}, .level = CpuLevel::avx512}).module);
  EXPECT_EQ(c.gathers, 0u); // rt leaves the page in front open (rt/memory/shared_arena.h)
  EXPECT_EQ(c.maskedLoads, 1u);
  EXPECT_EQ(c.scatters, 0u);
}

TEST(Widen, SaturatingConversionsAreVectors) {
  GangModule g = widened(std::string(kIndex) + "%v = load float, ptr %p, align 4\n"
                                               "%w = call i32 @llvm.fptosi.sat.i32.f32(float %v)\n"
                                               "store i32 %w, ptr %p, align 4\nret void",
                         {.lanes = 32, .block = {256, 1, 1}});
  for (const llvm::Function &f : *g.module)
    EXPECT_NE(f.getIntrinsicID(), llvm::Intrinsic::fptosi_sat);
}

/// Bytes of lanes that lie 16 apart would be one row of 512 elements, whose shuffles the compiler
/// takes a tenth of a second for, each.
TEST(Widen, BytesFarApartAreNoOneRow) {
  const auto isBlended = [](unsigned lanes, const char *step) {
    const GangModule g = widened(
        std::string("%x = call i32 @ptx.sreg.tid.x()\n%base = load i64, ptr %params\n"
                    "%g = inttoptr i64 %base to ptr\n%v = load i8, ptr %g, align 1\n"
                    "%o = mul i32 %x, ") +
            step +
            "\n%p = inttoptr i32 %o to ptr addrspace(3)\n"
            "store i8 %v, ptr addrspace(3) %p, align 1\nret void",
        {.lanes = lanes, .block = {256, 1, 1}, .level = CpuLevel::avx2, .model = CpuModel::zen3});
    return g.module && llvm::any_of(*g.module, [](const llvm::Function &f) {
             return f.getName().starts_with(kBlendingStore);
           });
  };
  EXPECT_TRUE(isBlended(32, "2"));
  EXPECT_FALSE(isBlended(32, "16"));
}

} // namespace
} // namespace ptxrun::simt
