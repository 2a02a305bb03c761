// What the thread's number decides, evaluated while compiling, against the same in C++.
#include "translate/simt/thread_numbers.h"

#include <llvm/IR/Dominators.h>

#include "tests/unit/simt/lane_text.h"

namespace ptxrun::simt {
namespace {

TEST(ThreadNumbers, AreThoseOfEachThread) {
  lower::LaneModule lane = laneModule(R"(
    %x = call i32 @ptx.sreg.tid.x()
    %y = call i32 @ptx.sreg.tid.y()
    %c = call i32 @ptx.sreg.ctaid.x()
    %rows = mul i32 %y, 20
    %k = add i32 %rows, %x
    %wide = sext i32 %k to i64
    %product = mul i64 %wide, 954437177
    %high = lshr i64 %product, 34
    %quotient = trunc i64 %high to i32
    %real = uitofp i32 %k to double
    %part = fdiv double %real, 7.0
    %seventh = fptoui double %part to i32
    %below = sub i32 %x, 10
    %half = ashr i32 %below, 1
    %rounded = sdiv i32 %below, 3
    %rest = srem i32 %below, 3
    %isBelow = icmp slt i32 %below, 0
    %size = select i1 %isBelow, i32 %half, i32 %k
    %most = call i32 @llvm.smax.i32(i32 %below, i32 3)
    %narrow = trunc i32 %k to i8
    %back = sext i8 %narrow to i32
    %elsewhere = add i32 %k, %c
    ret void)");
  llvm::Function &f = *lane.kernel;
  ThreadNumbers numbers(f, {20, 15, 1}, [](const llvm::BasicBlock &) { return false; });
  EXPECT_FALSE(numbers.isKnown(named(f, "c")));
  EXPECT_FALSE(numbers.isKnown(named(f, "elsewhere")));
  const auto is = [&](const char *name, int32_t expected, uint32_t thread) {
    ASSERT_TRUE(numbers.isKnown(named(f, name))) << name;
    EXPECT_EQ(uint32_t(numbers.valueOf(named(f, name))), uint32_t(expected))
        << name << " of thread " << thread;
  };
  for (uint32_t thread = 0; thread < 300; ++thread) {
    numbers.setThread(thread);
    const auto k = int32_t(thread), x = int32_t(thread % 20), below = x - 10;
    is("k", k, thread);
    is("quotient", k / 18, thread);
    is("seventh", k / 7, thread);
    is("half", below >> 1, thread);
    is("rounded", below / 3, thread);
    is("rest", below % 3, thread);
    is("size", below < 0 ? below >> 1 : k, thread);
    is("most", std::max(below, 3), thread);
    is("back", int8_t(k), thread);
  }
}

TEST(ThreadNumbers, FollowTheRoundsOfLoops) {
  lower::LaneModule lane = laneModule(R"(
    %x = call i32 @ptx.sreg.tid.x()
    br label %loop
  loop:
    %k = phi i32 [ %x, %0 ], [ %next, %loop ]
    %sum = phi i32 [ 0, %0 ], [ %more, %loop ]
    %more = add i32 %sum, %k
    %next = add i32 %k, 32
    %again = icmp ult i32 %next, 100
    br i1 %again, label %loop, label %end
  end:
    ret void)");
  llvm::Function &f = *lane.kernel;
  const llvm::DominatorTree dominators(f);
  const llvm::LoopInfo loops(dominators);
  ThreadNumbers numbers(f, {32, 1, 1},
                        [&](const llvm::BasicBlock &b) { return loops.isLoopHeader(&b); });
  const llvm::Loop &loop = **loops.begin();
  for (uint32_t thread = 0; thread < 32; ++thread) {
    numbers.setThread(thread);
    numbers.enter(loop);
    uint32_t sum = 0;
    for (uint32_t k = thread; k < 100; k += 32, numbers.next(loop)) {
      sum += k;
      EXPECT_EQ(numbers.valueOf(named(f, "k")), k);
      EXPECT_EQ(numbers.valueOf(named(f, "more")), sum);
      EXPECT_EQ(numbers.valueOf(named(f, "again")) != 0, k + 32 < 100);
    }
  }
}

} // namespace
} // namespace ptxrun::simt
