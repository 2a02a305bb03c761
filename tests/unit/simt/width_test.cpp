// How many lanes a kernel gets: what threads wait for, what its code costs.
#include "tests/unit/simt/lane_text.h"

namespace ptxrun::simt {
namespace {

TEST(Width, CollectivesKeepTheWarpTogether) {
  GangModule g = widened("%v = call i1 @ptx.vote.sync.all(i1 true, i32 -1)\nret void",
                         {.lanes = 0, .block = {16, 16, 1}});
  EXPECT_EQ(g.needs.lanes, 32u);
}

/// A shuffle among `members` under `condition` of the thread's number %x and its lane %l.
TEST(Width, MembersThatComeTogetherStayInAGang) {
  const auto lanesWith = [](const std::string &condition, const char *members, unsigned threads) {
    return widened("%x = call i32 @ptx.sreg.tid.x()\n%l = and i32 %x, 31\n"
                   "%base = load i64, ptr %params\n%g = inttoptr i64 %base to ptr\n" +
                       condition +
                       "br i1 %c, label %some, label %done\nsome:\n"
                       "%pair = call {i32, i1} @ptx.shfl.sync.idx(i32 %x, i32 3, i32 31, i32 " +
                       members +
                       ")\n%v = extractvalue {i32, i1} %pair, 0\n"
                       "store i32 %v, ptr %g, align 4\nbr label %done\ndone:\n"
                       "%all = call i1 @ptx.vote.sync.all(i1 %c, i32 -1)\nret void",
                   {.lanes = 0, .block = {threads, 1, 1}})
        .needs.lanes;
  };
  EXPECT_EQ(lanesWith("%c = icmp ult i32 %x, 16\n", "65535", 64), 32u);
  EXPECT_EQ(lanesWith("%c = icmp sgt i32 %x, 47\n", "-65536", 64), 32u);
  EXPECT_EQ(lanesWith("%c = icmp ult i32 %l, 8\n", "255", 64), 32u);
  EXPECT_EQ(lanesWith("%c = icmp eq i32 %l, 8\n", "256", 64), 32u);
  EXPECT_EQ(lanesWith("%d = icmp ugt i32 %l, 7\n%e = icmp ult i32 %l, 12\n%c = and i1 %d, %e\n",
                      "3840", 64),
            32u);
  EXPECT_EQ(lanesWith("%c = icmp ult i32 %x, 64\n", "-1", 128), 32u);
  const std::string tiles = "%t = and i32 %l, 16\n%m = shl i32 65535, %t\n",
                    first = "%c = icmp ult i32 %x, 16\n";
  EXPECT_EQ(lanesWith(tiles + first, "%m", 64), 32u);
  EXPECT_EQ(lanesWith("%t = and i32 %l, 24\n%m = shl i32 255, %t\n" + first, "%m", 64), 32u);
  EXPECT_EQ(lanesWith("%t = and i32 %l, 24\n%m = shl i32 65535, %t\n" + first, "%m", 64), 1u);
  EXPECT_EQ(lanesWith(tiles + "%c = icmp ult i32 %x, 8\n", "%m", 64), 1u);
  // One of those named goes elsewhere.
  EXPECT_EQ(lanesWith("%c = icmp ult i32 %x, 15\n", "65535", 64), 1u);
  EXPECT_EQ(lanesWith("%c = icmp ult i32 %x, 16\n", "131071", 64), 1u);
  EXPECT_EQ(lanesWith("%c = icmp ne i32 %l, 8\n", "65535", 64), 1u);
  EXPECT_EQ(lanesWith("%m = mul i32 %x, 3\n%c = icmp ult i32 %m, 16\n", "65535", 64), 1u);
}

/// Lanes that voted alike, and halves of a warp where others returned: those named are there, or
/// gone. Not where they part by something else, or wait elsewhere.
TEST(Width, GroupsThatPartTogetherStayInAGang) {
  const auto lanesWith = [](const std::string &members, const char *condition,
                            const char *guard = "never", const char *behind = "") {
    return widened(
               "%x = call i32 @ptx.sreg.tid.x()\n%base = load i64, ptr %params\n"
               "%e = zext i32 %x to i64\n%o = shl i64 %e, 2\n%a = add i64 %base, %o\n"
               "%g = inttoptr i64 %a to ptr\n%n = load i32, ptr %g\n%m = load i32, ptr %params\n"
               "%p = icmp slt i32 %n, 9\n%q = icmp sgt i32 %n, 4\n%half = icmp ult i32 %x, 16\n"
               "%some = icmp uge i32 %x, %m\n%b = call i32 @ptx.vote.sync.ballot(i1 %p, i32 -1)\n"
               "%np = icmp sge i32 %n, 9\n%other = sext i1 %np to i32\n"
               "%mine = xor i32 %b, %other\n%b1 = add i32 %b, 1\n%alike = icmp ult i32 %b1, 2\n"
               "%all = select i1 %alike, i32 -1, i32 %mine\n%yours = select i1 %q, i32 -1, i32 "
               "%mine\n"
               "%b2 = xor i32 %b, 7\n%never = icmp ult i32 %x, 0\nbr i1 %" +
                   std::string(guard) + ", label %done, label %on\non:\nbr i1 %" + condition +
                   ", label %a1, label %a2\na1:\n"
                   "%u = call {i32, i1} @ptx.shfl.sync.idx(i32 %x, i32 3, i32 31, i32 " +
                   members +
                   ")\n%v = extractvalue {i32, i1} %u, 0\nstore i32 %v, ptr %g\nbr label %z\n"
                   "a2:\n%w = call i1 @ptx.vote.sync.all(i1 %q, i32 " +
                   (members == "65535" ? "-65536" : members) +
                   ")\nstore i1 %w, ptr %g\nbr label %z\n"
                   "done:\n" +
                   behind + "br label %z\nz:\nret void",
               {.lanes = 0, .block = {64, 1, 1}})
        .needs.lanes;
  };
  EXPECT_EQ(lanesWith("%mine", "p"), 32u);
  EXPECT_EQ(lanesWith("%all", "np"), 32u);
  EXPECT_EQ(lanesWith("65535", "half", "some"), 32u);
  EXPECT_EQ(lanesWith("%mine", "q"), 1u);
  EXPECT_EQ(lanesWith("%yours", "p"), 1u); // all are named where they need not have voted alike
  EXPECT_EQ(lanesWith("%b2", "p"), 1u);
  EXPECT_EQ(lanesWith("65535", "p", "some"), 1u);
  EXPECT_EQ(lanesWith("65535", "half", "some", "call void @ptx.bar.sync(i32 0, i32 0)\n"), 1u);
}

/// Rows apart that threads walk along, reading and writing: lines of the cache are many, and
/// vectors none.
TEST(Width, ThreadsThatWalkAlongRowsAreFew) {
  const auto lanesWith = [](const std::string &row, const std::string &work,
                            const std::string &at = "%oa",
                            const std::string &before = "br label %start\nstart:\n") {
    return widened(
               "%x = call i32 @ptx.sreg.tid.x()\n%n = load i32, ptr %params\n"
               "%pin = getelementptr i8, ptr %params, i64 8\n%in = load i64, ptr %pin\n"
               "%pout = getelementptr i8, ptr %params, i64 16\n%out = load i64, ptr %pout\n" +
                   row + before +
                   "br label %loop\nloop:\n%k = phi i32 [ 0, %start ], [ %l, %loop ]\n"
                   "%s = phi float [ 0.0, %start ], [ %t, %loop ]\n"
                   "%j = add i32 %first, %k\n%e = sext i32 %j to i64\n%o = shl i64 %e, 2\n"
                   "%ia = add i64 %in, %o\n%ip = inttoptr i64 %ia to ptr\n"
                   "%oa = add i64 %out, %o\n%op = inttoptr i64 " +
                   at +
                   " to ptr\n"
                   "%v = load float, ptr %ip, align 4\n%u = fadd float %s, %v\n" +
                   work +
                   "store float %t, ptr %op, align 4\n%l = add i32 %k, 1\n"
                   "%c = icmp ult i32 %l, %n\nbr i1 %c, label %loop, label %end\nend:\nret void",
               {.lanes = 0, .block = {128, 1, 1}, .level = CpuLevel::avx512})
        .needs.lanes;
  };
  const std::string apart = "%first = mul i32 %x, %n\n", beside = "%first = shl i32 %x, 0\n";
  const std::string little = "%t = fmul float %u, 0.5\n";
  const auto products = [](unsigned count) {
    std::string all = "%w0 = fmul float %u, %v\n";
    for (unsigned k = 0; k < count; ++k)
      all += "%w" + std::to_string(k + 1) + " = fmul float %w" + std::to_string(k) + ", %u\n";
    return all + "%t = fadd float %w" + std::to_string(count) + ", %v\n";
  };
  EXPECT_EQ(lanesWith(apart, little), 1u);
  EXPECT_EQ(lanesWith(apart, products(8)), 8u);
  EXPECT_EQ(lanesWith(apart, products(35)), 16u); // a register
  EXPECT_EQ(lanesWith(apart, products(80)), 32u); // beside which rows are nothing
  EXPECT_EQ(lanesWith("%first = mul i32 %x, 1024\n", little), 1u);
  EXPECT_GT(lanesWith(beside, little), 8u);        // neighbours
  EXPECT_GT(lanesWith(apart, little, "%out"), 8u); // writes no row
  const std::string reads =                        // the first 12 elements
      "br label %head\nhead:\n%h = phi i32 [ 0, %0 ], [ %hn, %head ]\n"
      "%hs = phi float [ 0.0, %0 ], [ %hu, %head ]\n%hj = add i32 %first, %h\n"
      "%he = sext i32 %hj to i64\n%ho = shl i64 %he, 2\n%ha = add i64 %in, %ho\n"
      "%hp = inttoptr i64 %ha to ptr\n%hv = load float, ptr %hp, align 4\n"
      "%hu = fadd float %hs, %hv\n%hn = add i32 %h, 1\n%hc = icmp ult i32 %hn, 12\n"
      "br i1 %hc, label %head, label %start\nstart:\n";
  EXPECT_EQ(lanesWith(apart, "%t = fmul float %u, %hu\n", "%oa", reads), 1u);
  EXPECT_GT(lanesWith(beside, "%t = fmul float %u, %hu\n", "%oa", reads), 8u);
}

/// Rows apart that threads only read: as many lanes as a register has elements, as long as they are
/// no narrower, and there is little else to do.
TEST(Width, ThreadsThatReadRowsAreARegister) {
  const auto lanesWith = [](CpuLevel level, const std::string &row, const std::string &type,
                            const std::string &work = "%t = add TYPE %s, %v\n", unsigned step = 4) {
    std::string text = "%x = call i32 @ptx.sreg.tid.x()\n%x64 = zext i32 %x to i64\n"
                       "%n = load i64, ptr %params\n"
                       "%pin = getelementptr i8, ptr %params, i64 8\n%in = load i64, ptr %pin\n" +
                       row +
                       "%from = add i64 %in, %first\nbr label %loop\nloop:\n"
                       "%k = phi i64 [ 0, %0 ], [ %l, %loop ]\n"
                       "%s = phi TYPE [ 0, %0 ], [ %t, %loop ]\n"
                       "%at = phi i64 [ %from, %0 ], [ %next, %loop ]\n"
                       "%p = inttoptr i64 %at to ptr\n%v = load TYPE, ptr %p\n" +
                       work +
                       "%next = add i64 %at, SIZE\n%l = add i64 %k, 1\n%c = icmp ult i64 %l, %n\n"
                       "br i1 %c, label %loop, label %end\nend:\n"
                       "%to = add i64 %in, %x64\n%q = inttoptr i64 %to to ptr\n"
                       "store TYPE %t, ptr %q, align 1\nret void";
    const auto replace = [&](const std::string &what, const std::string &by) {
      for (size_t at; (at = text.find(what)) != std::string::npos;)
        text.replace(at, what.size(), by);
    };
    replace("TYPE", type);
    replace("SIZE", std::to_string(type == "i8" ? step / 4 : step));
    return widened(text, {.lanes = 0, .block = {128, 1, 1}, .level = level}).needs.lanes;
  };
  const std::string apart = "%first = mul i64 %x64, %n\n", beside = "%first = shl i64 %x64, 2\n";
  EXPECT_EQ(lanesWith(CpuLevel::avx2, apart, "i32"), 8u);
  EXPECT_EQ(lanesWith(CpuLevel::avx512, apart, "i32"), 16u);
  EXPECT_EQ(lanesWith(CpuLevel::avx2, "%first = mul i64 %x64, 4000\n", "i32",
                      "%t = add TYPE %s, %v\n", 64), // unrolled
            8u);
  EXPECT_GT(lanesWith(CpuLevel::avx2, apart, "i8"), 8u); // a register of bytes has 32
  EXPECT_GT(lanesWith(CpuLevel::avx2, beside, "i32"), 8u);
  std::string much = "%w0 = mul i32 %s, %v\n";
  for (unsigned k = 0; k < 19; ++k)
    much += "%w" + std::to_string(k + 1) + " = mul i32 %w" + std::to_string(k) + ", %v\n";
  EXPECT_GT(lanesWith(CpuLevel::avx2, apart, "i32", much + "%t = add i32 %w19, %v\n"), 8u);
}

/// A register's worth, where more would be long code.
TEST(Width, LongCodeHasFewLanes) {
  const auto lanesOf = [](unsigned length, CpuLevel level) {
    std::string body = "%base = load i64, ptr %params\n%x0 = call i32 @ptx.sreg.tid.x()\n";
    for (unsigned k = 0; k < length; ++k) {
      const std::string n = std::to_string(k);
      body += "%x" + std::to_string(k + 1) + " = " + (k % 2 ? "xor" : "mul") + " i32 %x" + n +
              ", " + std::to_string(2 * k + 77) + "\n";
    }
    body += "%e = zext i32 %x0 to i64\n%o = shl i64 %e, 2\n%a = add i64 %base, %o\n"
            "%p = inttoptr i64 %a to ptr\nstore i32 %x" +
            std::to_string(length) + ", ptr %p, align 4\nret void";
    return widened(body, {.lanes = 0, .block = {128, 1, 1}, .level = level}).needs.lanes;
  };
  EXPECT_EQ(lanesOf(400, CpuLevel::avx2), 32u);
  EXPECT_EQ(lanesOf(2000, CpuLevel::avx2), 8u);
  EXPECT_EQ(lanesOf(2000, CpuLevel::sse4), 8u);
  EXPECT_EQ(lanesOf(400, CpuLevel::avx512), 32u);
  EXPECT_EQ(lanesOf(2000, CpuLevel::avx512), 16u);
}

/// Two registers' worth, where rounds of one would wait for the one before.
TEST(Width, LongCodeWhoseRoundsWaitHasMoreLanes) {
  const auto lanesOf = [](unsigned chains, CpuLevel level) {
    std::string body = "%base = load i64, ptr %params\n%n = trunc i64 %base to i32\n"
                       "%x0 = call i32 @ptx.sreg.tid.x()\n%f = uitofp i32 %x0 to float\n"
                       "br label %loop\nloop:\n%k = phi i32 [ 0, %0 ], [ %l, %loop ]\n";
    const auto value = [](unsigned chain, unsigned k) {
      return "%v" + std::to_string(chain) + "." + std::to_string(k);
    };
    const unsigned length = 2000 / chains;
    for (unsigned c = 0; c < chains; ++c)
      body += value(c, 0) + " = phi float [ %f, %0 ], [ " + value(c, length) + ", %loop ]\n";
    for (unsigned c = 0; c < chains; ++c)
      for (unsigned k = 0; k < length; ++k)
        body += value(c, k + 1) + " = " + (k % 2 ? "fadd" : "fmul") + " float " + value(c, k) +
                ", 0.5\n";
    body += "%l = add i32 %k, 1\n%c = icmp ult i32 %l, %n\nbr i1 %c, label %loop, label %end\n"
            "end:\n%e = zext i32 %x0 to i64\n%o = shl i64 %e, 2\n";
    for (unsigned c = 0; c < chains; ++c)
      body += "%a" + std::to_string(c) + " = add i64 %base, " + std::to_string(4096 * c) + "\n%b" +
              std::to_string(c) + " = add i64 %a" + std::to_string(c) + ", %o\n%p" +
              std::to_string(c) + " = inttoptr i64 %b" + std::to_string(c) +
              " to ptr\nstore float " + value(c, length) + ", ptr %p" + std::to_string(c) +
              ", align 4\n";
    return widened(body + "ret void", {.lanes = 0, .block = {128, 1, 1}, .level = level})
        .needs.lanes;
  };
  EXPECT_EQ(lanesOf(1, CpuLevel::avx2), 16u);
  EXPECT_EQ(lanesOf(1, CpuLevel::avx512), 32u);
  EXPECT_EQ(lanesOf(20, CpuLevel::avx2), 8u);
  EXPECT_EQ(lanesOf(20, CpuLevel::avx512), 16u);
}

/// Each element of a vector that lanes load from places of their own takes registers.
TEST(Width, LanesWithVectorsAreFewer) {
  const auto lanesWith = [](const char *loadsAndSum) {
    const std::string body =
        std::string("%t = call i32 @ptx.sreg.tid.x()\n%i = zext i32 %t to i64\n"
                    "%base = load i64, ptr %params\n%o4 = shl i64 %i, 2\n%o8 = shl i64 %i, 3\n"
                    "%ia = add i64 %base, %o4\n%ip = inttoptr i64 %ia to ptr\n"
                    "%k = load i32, ptr %ip, align 4\n%kw = sext i32 %k to i64\n"
                    "%ko = shl i64 %kw, 5\n%a = add i64 %base, %ko\n%b = add i64 %a, 16\n"
                    "%p = inttoptr i64 %a to ptr\n%q = inttoptr i64 %b to ptr\n") +
        loadsAndSum +
        "%ra = add i64 %base, %o8\n%rp = inttoptr i64 %ra to ptr\n"
        "store double %sum, ptr %rp, align 8\nret void";
    return widened(body, {.lanes = 0, .block = {128, 1, 1}, .level = CpuLevel::avx2}).needs.lanes;
  };
  EXPECT_EQ(lanesWith("%x = load double, ptr %p, align 8\n%y = load double, ptr %q, align 8\n"
                      "%sum = fadd double %x, %y\n"),
            32u);
  EXPECT_EQ(lanesWith("%x = load <2 x double>, ptr %p, align 16\n"
                      "%y = load <2 x double>, ptr %q, align 16\n"
                      "%x0 = extractelement <2 x double> %x, i32 0\n"
                      "%x1 = extractelement <2 x double> %x, i32 1\n"
                      "%y0 = extractelement <2 x double> %y, i32 0\n"
                      "%y1 = extractelement <2 x double> %y, i32 1\n"
                      "%m = fmul double %y0, %y1\n%n = fmul double %x0, %x1\n"
                      "%sum = fadd double %m, %n\n"),
            16u);
}

/// Threads of 16 x 16 count in a column each: `counts[value][thread]`; `row`: the distance of the
/// row of %v in bytes.
TEST(Width, LanesThatCountInTheirOwnColumnsExchangeNothing) {
  const auto lanesWith = [](const std::string &row, const char *loaded) {
    return widened("%x = call i32 @ptx.sreg.tid.x()\n%y = call i32 @ptx.sreg.tid.y()\n"
                   "%base = load i64, ptr %params\n%g = inttoptr i64 %base to ptr\n"
                   "%r = shl i32 %y, 4\n%t = add i32 %r, %x\n%o = shl i32 %t, 2\n"
                   "%e = zext i32 %o to i64\n%a = add i64 %base, %e\n"
                   "%from = inttoptr i64 %a to ptr\n%v = load i32, ptr %from, align 4\n"
                   "%shifted = shl i32 %v, 10\n%row = " +
                       row +
                       "\n%at = add i32 %row, %o\n%p = inttoptr i32 %at to ptr addrspace(3)\n"
                       "%old = load i32, ptr addrspace(3) %p, align 4\n%new = add i32 %old, 1\n"
                       "store i32 %new, ptr addrspace(3) %p, align 4\n"
                       "%at2 = add i32 %o, " +
                       loaded +
                       "\n%q = inttoptr i32 %at2 to ptr addrspace(3)\n"
                       "%w = load i32, ptr addrspace(3) %q, align 4\n"
                       "store i32 %w, ptr %from, align 4\nret void",
                   {.lanes = 0, .block = {16, 16, 1}})
        .needs.lanes;
  };
  EXPECT_EQ(lanesWith("mul i32 %v, 1024", "2048"), 16u);
  EXPECT_EQ(lanesWith("mul i32 %v, 1024", "2052"), 32u); // a neighbour's
  EXPECT_EQ(lanesWith("mul i32 %v, 1024", "2050"), 32u); // the half of it
  EXPECT_EQ(lanesWith("mul i32 %v, 64", "2048"), 32u);   // the row of threads after it
  EXPECT_EQ(lanesWith("mul i32 %v, 1028", "2048"), 32u);
  EXPECT_EQ(lanesWith("and i32 %shifted, 31744", "2048"), 16u); // (v & 31) * 1024
  EXPECT_EQ(lanesWith("and i32 %shifted, 31744", "2052"), 32u);
  EXPECT_EQ(lanesWith("and i32 %v, 31744", "2048"), 16u);
  EXPECT_EQ(lanesWith("and i32 %v, 32704", "2048"), 32u); // multiples of 64
}

/// A loop of as many rounds as each thread computes, behind guards for none and for few, as nvcc
/// unrolls them; a round multiplies and adds `work` times.
std::string roundsThatDiffer(unsigned work) {
  std::string body =
      "%x = call i32 @ptx.sreg.tid.x()\n%base = load i64, ptr %params\n"
      "%scattered = mul i32 %x, 7919\n%some = and i32 %scattered, 63\n%n = add i32 %some, 64\n"
      "%e = zext i32 %x to i64\n%o = shl i64 %e, 3\n%a = add i64 %base, %o\n"
      "%p = inttoptr i64 %a to ptr\n%none = icmp slt i32 %n, 1\n"
      "br i1 %none, label %done, label %guard\n"
      "guard:\n%first = load double, ptr %p, align 8\n%few = icmp ult i32 %n, 4\n"
      "br i1 %few, label %store, label %loop\n"
      "loop:\n%k = phi i32 [ 0, %guard ], [ %next, %loop ]\n"
      "%v0 = phi double [ %first, %guard ], [ %v" +
      std::to_string(work) + ", %loop ]\n";
  for (unsigned k = 0; k < work; ++k)
    body += "%v" + std::to_string(k + 1) + " = call double @llvm.fma.f64(double %v" +
            std::to_string(k) + ", double %first, double 0.5)\n";
  return body +
         "%next = add i32 %k, 1\n%more = icmp slt i32 %next, %n\n"
         "br i1 %more, label %loop, label %store\n"
         "store:\n%result = phi double [ %first, %guard ], [ %v" +
         std::to_string(work) +
         ", %loop ]\nstore double %result, ptr %p, align 8\n"
         "br label %done\ndone:\nret void";
}

TEST(Width, RoundsThatThreadsComputeAreDoneByGangs) {
  const CodeOptions options{.lanes = 0, .block = {256, 1, 1}, .level = CpuLevel::avx2};
  EXPECT_GE(widened(roundsThatDiffer(40), options).needs.lanes, 8u);
}

/// Products of numbers of four words, as elliptic curves have them: one lane's carries are flags.
/// Not where words are multiplied alone.
TEST(Width, CarriesOfNumbersOfSeveralWordsAreFlagsOfOneLane) {
  const auto lanesOf = [](bool doCarry) {
    std::string body =
        "%x = call i32 @ptx.sreg.tid.x()\n%e = zext i32 %x to i64\n%o = shl i64 %e, 3\n"
        "%base = load i64, ptr %params\n%at = add i64 %base, %o\n"
        "%p = inttoptr i64 %at to ptr\n%v = load i64, ptr %p\n";
    std::string sum = "%v";
    for (int k = 0; k < 64; ++k) {
      const auto name = [n = std::to_string(k)](const char *of) { return std::string(of) + n; };
      body += name("%f") + " = add i64 %v, " + std::to_string(k) + "\n" + name("%w") +
              " = zext i64 " + name("%f") + " to i128\n" + name("%q") + " = mul nuw i128 " +
              name("%w") + ", " + name("%w") + "\n" + name("%h") + " = lshr i128 " + name("%q") +
              ", 64\n" + name("%u") + " = trunc i128 " + name("%h") + " to i64\n" + name("%s") +
              " = add i64 " + sum + ", " + name("%u") + "\n";
      sum = name("%s");
      if (!doCarry)
        continue;
      body += name("%l") + " = icmp ult i64 " + name("%s") + ", " + name("%u") + "\n" + name("%c") +
              " = zext i1 " + name("%l") + " to i64\n" + name("%t") + " = add i64 " + name("%f") +
              ", " + name("%c") + "\n" + name("%r") + " = add i64 " + name("%s") + ", " +
              name("%t") + "\n" + name("%m") + " = icmp ult i64 " + name("%r") + ", " + name("%t") +
              "\n" + name("%d") + " = zext i1 " + name("%m") + " to i64\n" + name("%z") +
              " = add i64 " + name("%r") + ", " + name("%d") + "\n";
      sum = name("%z");
    }
    body += "store i64 " + sum + ", ptr %p\nret void";
    return widened(
               body,
               {.lanes = 0, .block = {256, 1, 1}, .level = CpuLevel::avx2, .model = CpuModel::zen3})
        .needs.lanes;
  };
  EXPECT_EQ(lanesOf(true), 1u);
  EXPECT_GT(lanesOf(false), 1u);
}

/// An interpreter: each round does one of many things with the thread's own memory, by what it has
/// read. A gang does most of them each time.
TEST(Width, ThreadsThatEachGoOneOfManyWaysAreFasterAlone) {
  const auto lanesOf = [](const char *place) {
    std::string body =
        "%x = call i32 @ptx.sreg.tid.x()\n%n = load i32, ptr %params\n%xe = zext i32 %x to i64\n"
        "%xo = shl i64 %xe, 10\n%base = load i64, ptr %params\n%own = add i64 %base, %xo\n"
        "br label %round\nround:\n%k = phi i32 [ 0, %0 ], [ %next, %z ]\n"
        "%acc = phi i32 [ %x, %0 ], [ %made, %z ]\n%ke = zext i32 %k to i64\n%a = add i64 " +
        std::string(place) +
        ", %ke\n%p = inttoptr i64 %a to ptr\n%op = load i8, ptr %p\nswitch i8 %op, label %w0 [";
    std::string ways, made = "z:\n%made = phi i32 ";
    for (int k = 0; k < 64; ++k) {
      const std::string n = std::to_string(k), a = "%a" + n, e = "%e" + n, s = "%s" + n,
                        p = "%p" + n, v = "%v" + n, r = "%r" + n;
      if (k > 0)
        body += " i8 " + n + ", label %w" + n;
      ways += "w" + n + ":\n" + a + " = and i32 %acc, " + std::to_string(1020 - 4 * k) + "\n" + e +
              " = zext i32 " + a + " to i64\n" + s + " = add i64 %own, " + e + "\n" + p +
              " = inttoptr i64 " + s + " to ptr\n" + v + " = load i32, ptr " + p + "\n" + r +
              " = mul i32 " + v + ", " + n + "\nstore i32 " + r + ", ptr " + p + "\nbr label %z\n";
      made += std::string(k ? ", " : "") + "[ " + r + ", %w" + n + " ]";
    }
    body += " ]\n" + ways + made +
            "\n%next = add i32 %k, 1\n%more = icmp ult i32 %next, %n\n"
            "br i1 %more, label %round, label %end\nend:\n%q = inttoptr i64 %own to ptr\n"
            "store i32 %made, ptr %q\nret void";
    return widened(
               body,
               {.lanes = 0, .block = {256, 1, 1}, .level = CpuLevel::avx2, .model = CpuModel::zen3})
        .needs.lanes;
  };
  EXPECT_EQ(lanesOf("%own"), 1u);
}

/// Two walks through memory for each edge, from root to root: of as many edges as a thread has, of
/// which some have more than others, or until both roots are one, which lanes come to alike.
TEST(Width, RoundsThatAreTriedAgainDoNotPartLanes) {
  const auto lanesOf = [](const char *from, const char *goesOn) {
    const auto walk = [](const std::string &n, const std::string &start, const char *before,
                         const char *next) {
      return "f" + n + ":\n%u" + n + " = phi i32 [ " + start + ", %" + before + " ], [ %v" + n +
             ", %f" + n + " ]\n%e" + n + " = zext i32 %u" + n + " to i64\n%o" + n +
             " = shl i64 %e" + n + ", 2\n%a" + n + " = add i64 %base, %o" + n + "\n%p" + n +
             " = inttoptr i64 %a" + n + " to ptr\n%v" + n + " = load i32, ptr %p" + n + "\n%c" + n +
             " = icmp eq i32 %v" + n + ", %u" + n + "\nbr i1 %c" + n + ", label %" + next +
             ", label %f" + n + "\n";
    };
    const std::string body =
        "entry:\n%base = load i64, ptr %params\n%x = call i32 @ptx.sreg.tid.x()\n"
        "%xe = zext i32 %x to i64\n%xo = shl i64 %xe, 2\n%xa = add i64 %base, %xo\n"
        "%xp = inttoptr i64 %xa to ptr\n%n = load i32, ptr %xp\nbr label %outer\n"
        "outer:\n%i = phi i32 [ 0, %entry ], [ %i1, %met ]\n"
        "%l = phi i32 [ %x, %entry ], [ %s, %met ]\n%m = phi i32 [ %n, %entry ], [ %r, %met ]\n"
        "%start = add i32 %l, " +
        std::string(from) + "\nbr label %f1\n" + walk("1", "%start", "outer", "met1") +
        "met1:\n%s = phi i32 [ %u1, %f1 ]\nbr label %f2\n" + walk("2", "%m", "met1", "met") +
        "met:\n%r = phi i32 [ %u2, %f2 ]\n" + goesOn + "\nbr i1 %more, label %outer, label %z\n" +
        "z:\nstore i32 %r, ptr %xp\nret void";
    return widened(
               body,
               {.lanes = 0, .block = {256, 1, 1}, .level = CpuLevel::avx2, .model = CpuModel::zen3})
        .needs.lanes;
  };
  EXPECT_EQ(lanesOf("%i", "%i1 = add i32 %i, 1\n%more = icmp slt i32 %i1, %n"), 1u);
  EXPECT_GT(lanesOf("0", "%i1 = xor i32 %i, %s\n%more = icmp ne i32 %s, %r"), 1u);
}

/// Threads of 8 x 8 store an element each at `stored`, and read what is at `read`.
TEST(Width, LanesExchangeNothingByDifferentArrays) {
  const auto lanesWith = [](const std::string &read) {
    return widened("%x = call i32 @ptx.sreg.tid.x()\n%y = call i32 @ptx.sreg.tid.y()\n"
                   "%base = load i64, ptr %params\n%g = inttoptr i64 %base to ptr\n"
                   "%row = shl i32 %y, 3\n%own = add i32 %row, %x\n%o = shl i32 %own, 2\n"
                   "%to = add i32 %o, 1024\n%p = inttoptr i32 %to to ptr addrspace(3)\n"
                   "%v = load i32, ptr %g, align 4\nstore i32 %v, ptr addrspace(3) %p, align 4\n" +
                       read +
                       "%q = inttoptr i32 %from to ptr addrspace(3)\n"
                       "%w = load i32, ptr addrspace(3) %q, align 4\n"
                       "store i32 %w, ptr %g, align 4\nret void",
                   {.lanes = 0, .block = {8, 8, 1}})
        .needs.lanes;
  };
  // 1024 to 1279 is what they store
  EXPECT_EQ(lanesWith("%f = shl i32 %x, 5\n%from = add i32 %f, 1280\n"), 8u);
  EXPECT_EQ(lanesWith("%f = shl i32 %x, 5\n%from = add i32 %f, 1276\n"), 32u);
  EXPECT_EQ(lanesWith("%f = shl i32 %x, 5\n%from = sub i32 1244, %f\n"), 32u);
  EXPECT_EQ(lanesWith("%from = add i32 0, 2048\n"), 8u);
  EXPECT_EQ(lanesWith("%from = add i32 0, 1100\n"), 32u);
  EXPECT_EQ(lanesWith("%f = mul i32 %v, 4\n%from = add i32 %f, 1280\n"), 32u); // wraps
}

TEST(Width, LockAmongLanesRunsThreadByThread) {
  GangModule g = widened(
      "%base = load i64, ptr %params\n%p = inttoptr i64 %base to ptr\nbr label %l\nl:\n"
      "%r = cmpxchg ptr %p, i32 0, i32 1 acquire monotonic\n%ok = extractvalue { i32, i1 } %r, 1\n"
      "br i1 %ok, label %z, label %l\nz:\nstore atomic i32 0, ptr %p release, align 4\nret void",
      {.lanes = 0, .block = {64, 1, 1}});
  EXPECT_EQ(g.needs.lanes, 1u);
  EXPECT_NE(g.reason.find("wait for each other"), std::string::npos);
}

// A table of {key, value}: lanes that have their place write beside the keys that others look at.
std::string probingLoop(unsigned valueAt) {
  return "entry:\n%base = load i64, ptr %params\n%key = call i32 @ptx.sreg.tid.x()\nbr label "
         "%l\nl:\n"
         "%slot = phi i32 [ %key, %entry ], [ %next, %l ]\n%i = zext i32 %slot to i64\n"
         "%o = shl nuw nsw i64 %i, 3\n%a = add i64 %base, %o\n%p = inttoptr i64 %a to ptr\n"
         "%r = cmpxchg ptr %p, i32 -1, i32 %key monotonic monotonic\n"
         "%ok = extractvalue { i32, i1 } %r, 1\n%next = add i32 %slot, 1\n"
         "br i1 %ok, label %z, label %l\nz:\n%v = add i64 %a, " +
         std::to_string(valueAt) +
         "\n%q = inttoptr i64 %v to ptr\nstore i32 -1, ptr %q, align 4\nret void";
}

TEST(Width, FieldsBesideThoseThatLoopsPollEndNoWait) {
  EXPECT_EQ(widened(probingLoop(4), {.lanes = 0, .block = {64, 1, 1}}).needs.lanes, 32u);
}

TEST(Width, ThePolledFieldOfAnyElementEndsAWait) {
  EXPECT_EQ(widened(probingLoop(0), {.lanes = 0, .block = {64, 1, 1}}).needs.lanes, 1u);
  EXPECT_EQ(widened(probingLoop(8), {.lanes = 0, .block = {64, 1, 1}}).needs.lanes, 1u);
  EXPECT_EQ(widened(probingLoop(2), {.lanes = 0, .block = {64, 1, 1}}).needs.lanes,
            1u); // half of it
}

// Threads look for a zero, to be replaced, at `%p` (or the first element, `%first`) of an array
// that all write to.
std::string search(const char *pointer, const char *bound) {
  return "entry:\n%base = load i64, ptr %params\n%first = inttoptr i64 %base to ptr\n"
         "%me = call i32 @ptx.sreg.tid.x()\nbr label %l\nl:\n"
         "%k = phi i32 [ %me, %entry ], [ %next, %on ]\n%i = zext i32 %k to i64\n"
         "%o = shl i64 %i, 2\n%a = add i64 %base, %o\n%p = inttoptr i64 %a to ptr\n"
         "%r = cmpxchg ptr " +
         std::string(pointer) +
         ", i32 0, i32 %me monotonic monotonic\n%v = extractvalue { i32, i1 } %r, 0\n"
         "%isZero = icmp eq i32 %v, 0\n"
         "br i1 %isZero, label %z, label %on\non:\n%next = add i32 %k, 1\n%more = " +
         bound +
         "\nbr i1 %more, label %l, label %z\nz:\n%m = zext i32 %me to i64\n%n = add i64 %base, %m\n"
         "%q = inttoptr i64 %n to ptr\nstore i32 0, ptr %q, align 4\nret void";
}

TEST(Width, SearchesThatACounterEndsAreNoWaits) {
  const CodeOptions options{.lanes = 0, .block = {64, 1, 1}};
  constexpr const char *kCounted = "icmp slt i32 %next, 1000", *kEndless = "icmp ne i32 %v, 17";
  EXPECT_EQ(widened(search("%p", kCounted), options).needs.lanes, 32u);
  EXPECT_EQ(widened(search("%p", kEndless), options).needs.lanes, 1u);
  EXPECT_EQ(widened(search("%first", kCounted), options).needs.lanes,
            1u); // one place, again and again
}

/// Probing that goes on until a slot is empty or its own: a compare-and-swap of others changes
/// empty slots alone, and whoever finds one has left. A store may empty one; so may a swap from
/// what the loop goes on at.
TEST(Width, ProbingForAnEmptySlotIsNoWaitForThoseThatFillSome) {
  const auto lanesOf = [](const char *leftAt, const char *behind) {
    const std::string body =
        "entry:\n%base = load i64, ptr %params\n%me = call i32 @ptx.sreg.tid.x()\nbr label %outer\n"
        "outer:\n%i = phi i32 [ 0, %entry ], [ %i1, %found ]\nbr label %probe\n"
        "probe:\n%h = phi i32 [ %me, %outer ], [ %h1, %probe ]\n%w = and i32 %h, 63\n"
        "%e = zext i32 %w to i64\n%o = shl i64 %e, 2\n%a = add i64 %base, %o\n"
        "%p = inttoptr i64 %a to ptr\n"
        "%r = cmpxchg ptr %p, i32 -1, i32 %me monotonic monotonic\n"
        "%v = extractvalue { i32, i1 } %r, 0\n%isFree = icmp eq i32 %v, " +
        std::string(leftAt) +
        "\n%isMine = icmp eq i32 %v, %me\n%isFound = or i1 %isFree, %isMine\n%h1 = add i32 %w, 3\n"
        "br i1 %isFound, label %found, label %probe\nfound:\n" +
        behind +
        "\n%i1 = add i32 %i, 1\n%more = icmp ult i32 %i1, 9\nbr i1 %more, label %outer, label %z\n"
        "z:\nret void";
    return widened(body, {.lanes = 0, .block = {64, 1, 1}}).needs.lanes;
  };
  EXPECT_EQ(lanesOf("-1", ""), 32u);
  EXPECT_EQ(lanesOf("-1", "cmpxchg ptr %p, i32 -1, i32 7 monotonic monotonic"), 32u);
  EXPECT_EQ(lanesOf("-1", "store i32 -1, ptr %p"), 1u);
  EXPECT_EQ(lanesOf("-1", "cmpxchg ptr %p, i32 7, i32 -1 monotonic monotonic"), 1u);
  EXPECT_EQ(lanesOf("-2", ""), 1u);
}

/// Probing that looks at a slot before it compares and swaps: of a table in `.shared` memory,
/// behind which lanes that have their slot count in another one. `behind`: where a lane goes from
/// its swap.
TEST(Width, ProbingThatLooksFirstIsNoWaitForThoseThatFillSlots) {
  const auto lanesOf = [](const char *behind, const char *countsAt) {
    const std::string body =
        "entry:\n%me = call i32 @ptx.sreg.tid.x()\nbr label %outer\n"
        "outer:\n%i = phi i32 [ 0, %entry ], [ %i1, %found ]\n%w0 = and i32 %me, 63\n"
        "br label %probe\n"
        "probe:\n%h = phi i32 [ %w0, %outer ], [ %h1, %taken ], [ %h, %tried ]\n"
        "%o = shl i32 %h, 2\n%p = inttoptr i32 %o to ptr addrspace(3)\n"
        "%key = load i32, ptr addrspace(3) %p\n%isFree = icmp eq i32 %key, -1\n"
        "br i1 %isFree, label %try, label %taken\n"
        "try:\n%r = cmpxchg ptr addrspace(3) %p, i32 -1, i32 %me monotonic monotonic\n"
        "%v = extractvalue { i32, i1 } %r, 0\n%wasFree = icmp eq i32 %v, -1\n"
        "%isMine = icmp eq i32 %v, %me\n%isFound = or i1 %wasFree, %isMine\n" +
        std::string(behind) +
        "tried:\nbr i1 %isFound, label %found, label %probe\n"
        "taken:\n%next = add i32 %h, 1\n%h1 = and i32 %next, 63\n"
        "%isThere = icmp eq i32 %key, %me\nbr i1 %isThere, label %found, label %probe\n"
        "found:\n%at = phi i32 [ %h, %tried ], [ %h, %taken ]\n%n = shl i32 %at, 2\n"
        "%c = add i32 %n, " +
        countsAt +
        "\n%q = inttoptr i32 %c to ptr addrspace(3)\n"
        "atomicrmw add ptr addrspace(3) %q, i32 1 monotonic\n"
        "%i1 = add i32 %i, 1\n%more = icmp ult i32 %i1, 9\nbr i1 %more, label %outer, label %z\n"
        "z:\nret void";
    return widened(body, {.lanes = 0, .block = {64, 1, 1}}).needs.lanes;
  };
  EXPECT_EQ(lanesOf("br label %tried\n", "256"), 32u);
  EXPECT_EQ(lanesOf("br label %tried\n", "252"), 1u); // the last key
  // Some try again without a look at what they found.
  EXPECT_EQ(
      lanesOf("%isOdd = icmp slt i32 %v, 5\nbr i1 %isOdd, label %taken, label %tried\n", "256"),
      1u);
}

/// Walks through volatile memory that go on only while numbers fall end by themselves.
TEST(Width, WalksThatOnlyGoDownAreNoWaits) {
  const auto lanesOf = [](const char *goesOn) {
    const std::string body =
        "entry:\n%base = load i64, ptr %params\n%me = call i32 @ptx.sreg.tid.x()\nbr label %walk\n"
        "walk:\n%x = phi i32 [ %me, %entry ], [ %v, %walk ]\n%e = zext i32 %x to i64\n"
        "%o = shl i64 %e, 2\n%a = add i64 %base, %o\n%p = inttoptr i64 %a to ptr\n"
        "%v = load volatile i32, ptr %p\n%more = icmp " +
        std::string(goesOn) +
        " i32 %v, %x\nbr i1 %more, label %walk, label %z\n"
        "z:\n%me64 = zext i32 %me to i64\n%mo = shl i64 %me64, 2\n%ma = add i64 %base, %mo\n"
        "%mp = inttoptr i64 %ma to ptr\nstore volatile i32 %x, ptr %mp\nret void";
    return widened(body, {.lanes = 32, .block = {64, 1, 1}}).needs.lanes;
  };
  EXPECT_EQ(lanesOf("ult"), 32u);
  EXPECT_EQ(lanesOf("sgt"), 32u);
  EXPECT_EQ(lanesOf("ule"), 1u);
  EXPECT_EQ(lanesOf("ne"), 1u);
}

TEST(Width, BarrierUnderADivergentBranchRunsThreadByThread) {
  std::string body =
      "%x = call i32 @ptx.sreg.tid.x()\n%c = icmp ult i32 %x, 7\nbr i1 %c, label %t, label %f\n"
      "t:\ncall void @ptx.bar.sync(i32 0, i32 0)\nbr label %z\nf:\ncall void @ptx.bar.sync(i32 0, "
      "i32 0)\nbr label %z\nz:\nret void";
  EXPECT_EQ(widened(body, {.lanes = 0, .block = {64, 1, 1}}).needs.lanes, 1u);
}

/// Rounds that each thread counts for itself, or reads, around barriers: gangs, as long as lanes
/// find the same. Not where something else needs threads, or barriers are several.
TEST(Width, LanesThatPartAroundBarriersAreThreadsOnlyThen) {
  const auto lanesOf = [](std::string_view inRound, std::string_view behind = "",
                          PassSet left = {}) {
    const std::string body =
        "%x = call i32 @ptx.sreg.tid.x()\n%base = load i64, ptr %params\n"
        "%e = zext i32 %x to i64\n%o = shl i64 %e, 2\n%a = add i64 %base, %o\n"
        "%p = inttoptr i64 %a to ptr\nbr label %l\n"
        "l:\n%k = phi i32 [ 0, %0 ], [ %next, %l ]\n" +
        std::string(inRound) +
        "\ncall void @ptx.bar.sync(i32 0, i32 0)\n%next = add i32 %k, 1\n%n = load i32, ptr %p\n"
        "%more = icmp ult i32 %next, %n\nbr i1 %more, label %l, label %z\n"
        "z:\ncall void @ptx.bar.sync(i32 0, i32 0)\n" +
        std::string(behind) + "\nstore i32 %next, ptr %p\nret void";
    return widened(body, {.block = {128, 1, 1}, .passesLeftOut = left}).needs.lanes;
  };
  EXPECT_EQ(lanesOf(""), 32u);
  EXPECT_EQ(lanesOf("%s = atomicrmw add ptr %p, i32 1 monotonic"), 32u);
  EXPECT_EQ(lanesOf("call void @ptx.bar.sync(i32 1, i32 0)"), 1u);
  EXPECT_EQ(lanesOf("", "call void @ptx.bar.sync(i32 0, i32 64)"), 1u);
  EXPECT_EQ(lanesOf("", "%v = call i1 @ptx.vote.sync.all(i1 true, i32 -1)"), 1u);
  PassSet left;
  ASSERT_EQ(simt::readPasses("-thread-mode", left), "");
  EXPECT_EQ(lanesOf("", "", left), 1u);
}

TEST(Width, BarrierOfWholeWarpsStaysWide) {
  std::string body =
      "%x = call i32 @ptx.sreg.tid.x()\n%c = icmp ult i32 %x, 32\nbr i1 %c, label %t, label %z\n"
      "t:\ncall void @ptx.bar.sync(i32 1, i32 32)\nbr label %z\nz:\nret void";
  EXPECT_EQ(widened(body, {.lanes = 0, .block = {64, 1, 1}}).needs.lanes, 32u);
}

} // namespace
} // namespace ptxrun::simt
