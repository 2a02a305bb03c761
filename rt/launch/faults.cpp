// How a faulting kernel is left: the handler runs on the alternate stack, records what happened in
// the worker's fault record, and changes the interrupted context so that returning from the handler
// starts `afterFault` on the top of the kernel's own stack, whose contents nobody needs any more.
// afterFault is ordinary code: it fails the launch and switches to the worker's native stack.
// Returning from the handler (instead of jumping out of it) restores signal mask and alternate
// stack.
#include "rt/launch/faults.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <mutex>

#include "rt/launch/code_ranges.h"
#include "rt/launch/failure.h"
#include "rt/launch/worker.h"
#include "rt/memory/device_memory.h"

namespace ptxrun::rt {

namespace {

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
/// Who gets the faults that are no kernel's: `previous` was there when our handler came last,
/// `first` when it came first. A handler of a program that came in between may end by calling the
/// one that it found, ours; then the fault goes on to the first.
struct sigaction previous[65], first[65];
std::mutex installation; ///< held while handlers are looked at and put in place
/// Programs' handlers with SA_ONSTACK run here where they have no such stack of their own.
constexpr size_t kAlternateStackBytes = 1024 * 1024;

/// What the handler saw, for afterFault.
struct FaultRecord {
  int signal = 0;
  uint64_t pc = 0;
  uint64_t address = 0;
  bool isWrite = false;
  bool isOverflow = false;
  bool isNotCanonical = false; ///< the processor does not tell such addresses
};
thread_local FaultRecord tlsFault;

/// The range of addresses of the library (or program) this code is in.
struct Module {
  uint64_t low = 0, high = 0;
};
Module ownModule;

int findOwnModule(dl_phdr_info *info, size_t, void *) {
  auto here = reinterpret_cast<uint64_t>(&findOwnModule);
  Module module{~uint64_t{0}, 0};
  bool isOwn = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto &segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD)
      continue;
    uint64_t low = info->dlpi_addr + segment.p_vaddr, high = low + segment.p_memsz;
    module.low = std::min(module.low, low);
    module.high = std::max(module.high, high);
    isOwn |= here >= low && here < high;
  }
  if (isOwn)
    ownModule = module;
  return isOwn;
}

bool isOnStack(const Fiber &fiber, uint64_t stackPointer) {
  auto low = reinterpret_cast<uint64_t>(fiber.stack);
  return stackPointer >= low && stackPointer <= low + fiber.stackBytes;
}

/// The call in the kernel that led to a function it called: just before the first word of the stack
/// from `stackPointer` up that points into kernel code (code that faulted may have no unwind
/// information); 0 if there is none.
PTXRUN_NO_ASAN uint64_t kernelCallSite(const Fiber &fiber, uint64_t stackPointer) {
  if (!isOnStack(fiber, stackPointer))
    return 0;
  auto *word = reinterpret_cast<const uint64_t *>(stackPointer & ~uint64_t{7});
  auto *top = reinterpret_cast<const uint64_t *>(fiberTop(fiber));
  for (int i = 0; i < 4096 && word < top; ++i, ++word)
    if (isKernelCode(*word))
      return *word - 1;
  return 0;
}

/// The kernel's place nearest to where it was left: the pc itself, or the call in the kernel that
/// led there (a fault in a function the kernel called, or a jump to a wild address).
uint64_t kernelPlace(const Fiber &fiber, uint64_t pc, uint64_t stackPointer) {
  if (isKernelCode(pc))
    return pc;
  uint64_t site = kernelCallSite(fiber, stackPointer);
  return site ? site : pc;
}

/// Whether the fault at `pc` is the running kernel's doing. Faults in our own code never are,
/// unless it says so.
bool isKernels(const Worker &worker, uint64_t pc, uint64_t address) {
  if (worker.current == &worker.native || !worker.running)
    return false;
  if (isKernelCode(pc) || worker.isInRuntimeForGuest || isInGuard(*worker.current, address))
    return true;
  return pc < ownModule.low || pc >= ownModule.high;
}

const char *describeSignal(int signal) {
  switch (signal) {
  case SIGFPE:
    return "arithmetic fault";
  case SIGILL:
    return "illegal instruction";
  default:
    return "illegal address";
  }
}

std::string describeSharedAddress(const GangState &g, uint64_t address) {
  int64_t offset = 0;
  const SharedArena *arena = groupOf(const_cast<GangState &>(g)).arena;
  if (!arena || !arena->contains(address, &offset))
    return "";
  char text[160];
  uint32_t bytes = groupOf(const_cast<GangState &>(g)).launch->sharedBytes;
  if (offset >= 0)
    snprintf(text, sizeof text,
             " (.shared address 0x%llx; the thread block's shared memory is 0x%x to 0x%x)",
             static_cast<unsigned long long>(offset), abi::kSharedFirstOffset,
             abi::kSharedFirstOffset + bytes);
  else
    snprintf(text, sizeof text, " (.shared address -0x%llx)",
             static_cast<unsigned long long>(-offset));
  return text;
}

std::string describeGlobalAddress(uint64_t address) {
  std::string place = describeDeviceAddress(address);
  return place.empty() ? "" : " (" + place + ")";
}

std::string faultMessage(const FaultRecord &fault, const GangState &g) {
  if (fault.isOverflow)
    return "stack overflow in " + describeGang(g);
  if (fault.isNotCanonical)
    return "illegal address: misaligned, or beyond 48 bits; access by " + describeGang(g);
  if (fault.signal != SIGSEGV && fault.signal != SIGBUS)
    return std::string(describeSignal(fault.signal)) + " in " + describeGang(g);
  char access[64];
  snprintf(access, sizeof access, "illegal address: %s at 0x%llx", fault.isWrite ? "write" : "read",
           static_cast<unsigned long long>(fault.address));
  return access + describeSharedAddress(g, fault.address) + describeGlobalAddress(fault.address) +
         " by " + describeGang(g);
}

PTXRUN_NO_ASAN [[noreturn]] void afterFault() {
  Worker &worker = *currentWorker();
#ifdef PTXRUN_ASAN
  ASAN_UNPOISON_MEMORY_REGION(worker.current->stack, worker.current->stackBytes);
#endif
  if (!worker.launch->isStopped() || tlsFault.signal != interruptSignal()) {
    const FaultRecord &fault = tlsFault;
    Failure f;
    f.status = fault.signal == SIGILL ? Status::trap : Status::illegalAddress;
    f.pc = reinterpret_cast<const void *>(fault.pc);
    f.address = fault.address;
    f.isWrite = fault.isWrite;
    f.message = faultMessage(fault, *worker.running);
    fillPlace(f, *worker.running);
    failLaunch(*worker.launch, std::move(f));
  }
  leaveForGood(worker);
}

/// Makes the interrupted context continue in afterFault.
void redirect(const Worker &worker, ucontext_t *context) {
  greg_t *registers = context->uc_mcontext.gregs;
  auto top = reinterpret_cast<uint64_t>(fiberTop(*worker.current)) - 256;
  registers[REG_RSP] = static_cast<greg_t>((top & ~uint64_t{15}) - 8);
  registers[REG_RBP] = 0;
  registers[REG_RIP] = reinterpret_cast<greg_t>(&afterFault);
  registers[REG_EFL] &= ~greg_t{0x400}; // direction flag
}

void callHandler(const struct sigaction &old, int signal, siginfo_t *info, void *context) {
  if (old.sa_flags & SA_SIGINFO) {
    old.sa_sigaction(signal, info, context);
    return;
  }
  if (old.sa_handler == SIG_IGN && signal == interruptSignal())
    return;
  if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
    old.sa_handler(signal);
    return;
  }
  if (signal == interruptSignal())
    return;
  // The default action: let the instruction fault again without us.
  sigaction(signal, &old, nullptr);
}

void callPrevious(int signal, siginfo_t *info, void *context) {
  // Where the call of `previous` that is going on has its frame; left behind by a handler that
  // jumped away, whose next call is not below it.
  static thread_local const char *calling = nullptr;
  const auto *here = static_cast<const char *>(__builtin_frame_address(0));
  const bool isFromPrevious =
      calling && here < calling && calling - here < ptrdiff_t{kAlternateStackBytes};
  if (isFromPrevious) {
    callHandler(first[signal], signal, info, context);
    return;
  }
  calling = here;
  callHandler(previous[signal], signal, info, context);
  calling = nullptr;
}

void handleFault(int signal, siginfo_t *info, void *raw) {
  auto *context = static_cast<ucontext_t *>(raw);
  Worker *worker = currentWorker();
  auto pc = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]);
  bool isSynchronous = info->si_code > 0;
  auto address = reinterpret_cast<uint64_t>(info->si_addr);
  if (!worker || !isSynchronous || !isKernels(*worker, pc, address)) {
    callPrevious(signal, info, raw);
    return;
  }
  auto stackPointer = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RSP]);
  tlsFault = {};
  tlsFault.signal = signal;
  tlsFault.pc = worker->latePlace && !isKernelCode(pc)
                    ? worker->latePlace
                    : kernelPlace(*worker->current, pc, stackPointer);
  tlsFault.address = address;
  tlsFault.isNotCanonical = signal == SIGSEGV && info->si_code == SI_KERNEL;
  tlsFault.isWrite = (context->uc_mcontext.gregs[REG_ERR] & 2) != 0;
  tlsFault.isOverflow = signal == SIGSEGV && isInGuard(*worker->current, tlsFault.address);
  redirect(*worker, context);
}

void handleInterrupt(int signal, siginfo_t *info, void *raw) {
  auto *context = static_cast<ucontext_t *>(raw);
  Worker *worker = currentWorker();
  if (!worker || info->si_code > 0) {
    callPrevious(signal, info, raw);
    return;
  }
  auto pc = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]);
  if (worker->current == &worker->native || !worker->launch || !worker->launch->isStopped() ||
      !isKernelCode(pc))
    return; // entry points and the scheduler see the stop themselves; generated code is hit by a
            // later signal
  tlsFault = {};
  tlsFault.signal = signal;
  redirect(*worker, context);
}

void install(int signal, void (*handler)(int, siginfo_t *, void *)) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, &previous[signal]);
}

/// Puts our handler before one that a program has installed since; true if there was one.
bool reinstall(int signal) {
  struct sigaction now;
  if (sigaction(signal, nullptr, &now) != 0 ||
      ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handleFault))
    return false;
  install(signal, handleFault);
  return true;
}

} // namespace

int interruptSignal() { return SIGRTMIN + 9; }

void installFaultHandlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    dl_iterate_phdr(findOwnModule, nullptr);
    std::lock_guard lock(installation);
    for (int signal : kFaults)
      install(signal, handleFault);
    install(interruptSignal(), handleInterrupt);
    std::copy(std::begin(previous), std::end(previous), std::begin(first));
  });
  tlsFault = {}; // makes the thread's instance now, not in a handler
}

void keepFaultHandlers(bool isUrgent) {
  // A system call: about 0.1 us, 1 us in a virtual machine that traps them.
  constexpr uint64_t kTicks = 60'000;
  static std::atomic<uint64_t> lookedAt{0};
  static std::atomic<unsigned> turn{0};
  installFaultHandlers();
  const uint64_t now = __builtin_ia32_rdtsc();
  if (!isUrgent && now - lookedAt.load(std::memory_order_relaxed) < kTicks)
    return;
  lookedAt.store(now, std::memory_order_relaxed);
  std::lock_guard lock(installation);
  // Who wants one of these wants them all, as a rule: the others are looked at in turn.
  constexpr unsigned kOthers = std::size(kFaults) - 1;
  if (reinstall(kFaults[0]) || isUrgent)
    for (int signal : kFaults)
      reinstall(signal);
  else
    reinstall(kFaults[1 + turn.fetch_add(1, std::memory_order_relaxed) % kOthers]);
}

void *installAlternateStack() {
  stack_t old;
  if (sigaltstack(nullptr, &old) == 0 && !(old.ss_flags & SS_DISABLE) && old.ss_size >= 32 * 1024)
    return nullptr;
  void *memory = mmap(nullptr, kAlternateStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = kAlternateStackBytes;
  sigaltstack(&stack, nullptr);
  return memory;
}

void removeAlternateStack(void *memory) {
  if (!memory)
    return;
  stack_t stack = {};
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
  munmap(memory, kAlternateStackBytes);
}

} // namespace ptxrun::rt
