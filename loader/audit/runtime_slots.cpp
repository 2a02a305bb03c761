// Each function has a slot and, at first, a stub behind it that says which function was called:
//
//   slot:  address of stub N                     stub N:  push N
//                                                         jmp  bind
//   bind:  keep the registers that arguments travel in
//          slot := resolve(N)
//          give the registers back, drop N, jump to what resolve returned
//
// as the loader binds functions of shared objects lazily. libcudart cannot be loaded earlier: while
// the loader reports a new object, nothing may be loaded.
#include "loader/audit/runtime_slots.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <string>

#include "loader/audit/report.h"

namespace ptxrun::audit {

namespace {

#define FUNCTION(name) #name,
constexpr std::string_view kNames[] = {
#include "loader/libcudart/functions.def"
};
#undef FUNCTION
constexpr size_t kFunctions = std::size(kNames);
constexpr size_t kMajors = 2;
static_assert(kFunctions <= 512, "there are 1,024 stubs");
static_assert(std::ranges::is_sorted(kNames));

constexpr size_t kStubBytes = 16;
extern "C" const char ptxrunStubs[]; // 1,024 of kStubBytes each

struct Slots {
  std::array<void *, kMajors * kFunctions> address;
  Slots() {
    for (size_t n = 0; n < address.size(); ++n)
      address[n] = const_cast<char *>(ptxrunStubs) + n * kStubBytes;
  }
};
/// Filled when first asked for: the loader asks before constructors of this library would run.
Slots &slots() {
  static auto *const instance = new Slots;
  return *instance;
}

std::string &runtimePath(RuntimeMajor major) {
  static auto *const paths = new std::string[kMajors];
  return paths[size_t(major)];
}

[[noreturn]] void endWithout(std::string_view what) {
  report({"the CUDA runtime of this program cannot be replaced: ", what});
  _exit(127);
}

/// Our libcudart in the program's namespace, loaded once. Two threads that come here together load
/// the same library twice, which the loader counts.
void *runtime(RuntimeMajor major) {
  static std::atomic<void *> opened[kMajors];
  std::atomic<void *> &library = opened[size_t(major)];
  if (void *known = library.load())
    return known;
  void *const loaded = dlmopen(LM_ID_BASE, runtimePath(major).c_str(), RTLD_NOW);
  if (!loaded)
    endWithout(dlerror());
  library.store(loaded);
  return loaded;
}

} // namespace

void *const *runtimeSlot(RuntimeMajor major, std::string_view function) {
  const auto *const found = std::ranges::lower_bound(kNames, function);
  if (found == std::end(kNames) || *found != function)
    return nullptr;
  return &slots().address[size_t(major) * kFunctions + size_t(found - kNames)];
}

void setRuntimeFolder(std::string_view folder) {
  runtimePath(RuntimeMajor::cuda12).append(folder).append("libcudart.so.12");
  runtimePath(RuntimeMajor::cuda13).append(folder).append("libcudart.so.13");
}

extern "C" __attribute__((visibility("hidden"), used)) void *ptxrunResolve(size_t n) {
  const std::string_view name = kNames[n % kFunctions];
  void *const target = dlsym(runtime(RuntimeMajor(n / kFunctions)), name.data());
  if (!target)
    endWithout(dlerror());
  std::atomic_ref(slots().address[n]).store(target);
  return target;
}

// At entry of bind the stack holds N and the caller's return address, and is 16-byte aligned.
asm(R"(
  .text
  .p2align 4
  .type ptxrunBind, @function
ptxrunBind:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  sub $0xc0, %rsp
  .cfi_adjust_cfa_offset 0xc0
  movaps %xmm0, 0x00(%rsp)
  movaps %xmm1, 0x10(%rsp)
  movaps %xmm2, 0x20(%rsp)
  movaps %xmm3, 0x30(%rsp)
  movaps %xmm4, 0x40(%rsp)
  movaps %xmm5, 0x50(%rsp)
  movaps %xmm6, 0x60(%rsp)
  movaps %xmm7, 0x70(%rsp)
  mov %rdi, 0x80(%rsp)
  mov %rsi, 0x88(%rsp)
  mov %rdx, 0x90(%rsp)
  mov %rcx, 0x98(%rsp)
  mov %r8, 0xa0(%rsp)
  mov %r9, 0xa8(%rsp)
  mov %rax, 0xb0(%rsp)
  mov 0xc0(%rsp), %rdi
  call ptxrunResolve
  mov %rax, %r11
  movaps 0x00(%rsp), %xmm0
  movaps 0x10(%rsp), %xmm1
  movaps 0x20(%rsp), %xmm2
  movaps 0x30(%rsp), %xmm3
  movaps 0x40(%rsp), %xmm4
  movaps 0x50(%rsp), %xmm5
  movaps 0x60(%rsp), %xmm6
  movaps 0x70(%rsp), %xmm7
  mov 0x80(%rsp), %rdi
  mov 0x88(%rsp), %rsi
  mov 0x90(%rsp), %rdx
  mov 0x98(%rsp), %rcx
  mov 0xa0(%rsp), %r8
  mov 0xa8(%rsp), %r9
  mov 0xb0(%rsp), %rax
  add $0xc8, %rsp
  .cfi_adjust_cfa_offset -0xc8
  jmp *%r11
  .cfi_endproc
  .size ptxrunBind, .-ptxrunBind

  .p2align 4
  .hidden ptxrunStubs
  .globl ptxrunStubs
ptxrunStubs:
  .set n, 0
  .rept 1024
  pushq $n
  jmp ptxrunBind
  .p2align 4
  .set n, n + 1
  .endr
)");

} // namespace ptxrun::audit
