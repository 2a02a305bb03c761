#include "rt/launch/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "rt/launch/worker.h"

#ifndef __x86_64__
#error "the fiber switch is written for x86-64"
#endif

// The frame a left fiber keeps on its stack, from its stack pointer up: r15 r14 r13 r12 rbx rbp,
// return address. Returning by `ret` keeps the return predictor in step: gangs that switch at the
// same place (a barrier) return to the same address, so the prediction made for one is right for
// the next.
asm(R"(
.text
.p2align 4
.globl ptxrunFiberSwitch
.hidden ptxrunFiberSwitch
.type ptxrunFiberSwitch,@function
ptxrunFiberSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size ptxrunFiberSwitch,.-ptxrunFiberSwitch

.p2align 4
.hidden ptxrunFiberEntry
.type ptxrunFiberEntry,@function
ptxrunFiberEntry:
  .cfi_startproc
  .cfi_undefined rip
  movq %rbx, %rdi
  xorl %ebp, %ebp
  callq ptxrunFiberMain
  ud2
  .cfi_endproc
.size ptxrunFiberEntry,.-ptxrunFiberEntry
)");

extern "C" void ptxrunFiberEntry();

extern "C" __attribute__((visibility("hidden"), used, noreturn)) void
ptxrunFiberMain(ptxrun::rt::Fiber *fiber) {
  ptxrun::rt::arriveOnFiber(*fiber);
  for (;;)
    fiber->job(*fiber);
}

namespace ptxrun::rt {

namespace {
constexpr size_t kGuardBytes = abi::kStackGuardBytes;
/// What our own entry points (printf, reports) may need below the kernel's frames.
constexpr size_t kEntryPointBytes = 32 * 1024;
/// What handlers of the program's signals may need below that: they run on the stack of whatever
/// they interrupt. Memory that nobody touches costs nothing.
constexpr size_t kHandlerBytes = 512 * 1024;
constexpr size_t kSwitchWords = 7;

size_t roundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }
} // namespace

bool mapFiberStack(Fiber &fiber, size_t bytes) {
  const size_t handlers = fiber.worker->mayRunHandlers ? kHandlerBytes : 0;
  bytes = roundUp(bytes + kEntryPointBytes + handlers, 4096);
  void *memory = mmap(nullptr, bytes + kGuardBytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  fiber.stack = static_cast<char *>(memory) + kGuardBytes;
  fiber.stackBytes = bytes;
  if (mprotect(fiber.stack, bytes, PROT_READ | PROT_WRITE) != 0) {
    munmap(memory, bytes + kGuardBytes);
    fiber.stack = nullptr;
    return false;
  }
  resetFiber(fiber);
  return true;
}

void unmapFiberStack(Fiber &fiber) {
#ifdef PTXRUN_TSAN
  if (fiber.tsanFiber)
    __tsan_destroy_fiber(fiber.tsanFiber);
  fiber.tsanFiber = nullptr;
#endif
#ifdef PTXRUN_ASAN
  ASAN_UNPOISON_MEMORY_REGION(fiber.stack, fiber.stackBytes);
#endif
  munmap(fiber.stack - kGuardBytes, fiber.stackBytes + kGuardBytes);
  fiber.stack = nullptr;
}

char *fiberTop(const Fiber &fiber) { return fiber.stack + fiber.stackBytes - 64 - fiber.color; }

void resetFiber(Fiber &fiber) {
#ifdef PTXRUN_ASAN
  ASAN_UNPOISON_MEMORY_REGION(fiber.stack, fiber.stackBytes);
  fiber.fakeStack = nullptr;
#endif
#ifdef PTXRUN_TSAN
  if (fiber.tsanFiber)
    __tsan_destroy_fiber(fiber.tsanFiber);
  fiber.tsanFiber = __tsan_create_fiber(0);
#endif
  void *frame[kSwitchWords] = {nullptr,
                               nullptr,
                               nullptr,
                               nullptr,
                               &fiber,
                               nullptr,
                               reinterpret_cast<void *>(&ptxrunFiberEntry)};
  char *place = fiberTop(fiber) - sizeof frame;
  std::memcpy(place, frame, sizeof frame);
  fiber.stackPointer = place;
}

bool isInGuard(const Fiber &fiber, uint64_t address) {
  auto low = reinterpret_cast<uint64_t>(fiber.stack);
  return fiber.stack && address < low && address >= low - kGuardBytes;
}

#if defined(PTXRUN_ASAN) || defined(PTXRUN_TSAN)
void switchFiber(Fiber &from, Fiber &to) {
#ifdef PTXRUN_TSAN
  __tsan_switch_to_fiber(to.tsanFiber, 0);
#endif
#ifdef PTXRUN_ASAN
  to.worker->leaving = &from;
  const void *bottom = to.stack ? static_cast<const void *>(to.stack) : to.asanBottom;
  __sanitizer_start_switch_fiber(&from.fakeStack, bottom, to.stack ? to.stackBytes : to.asanBytes);
#endif
  ptxrunFiberSwitch(&from.stackPointer, to.stackPointer);
  arriveOnFiber(from);
}
#endif

void arriveOnFiber([[maybe_unused]] Fiber &here) {
#ifdef PTXRUN_ASAN
  const void *bottom = nullptr;
  size_t bytes = 0;
  __sanitizer_finish_switch_fiber(here.fakeStack, &bottom, &bytes);
  Fiber *left = here.worker->leaving;
  if (left && !left->stack) {
    left->asanBottom = bottom;
    left->asanBytes = bytes;
  }
#endif
}

} // namespace ptxrun::rt
