// libnvrtc.so.12 and .13: NVIDIA's NVRTC compiles, and where a program asks for machine code
// (sm_NN, nvrtcGetCUBIN) it is given PTX, which libcuda.so.1 loads like a cubin.
#include <cstdio>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "loader/boundary/guarded.h"
#include "loader/toolkit/architecture.h"
#include "loader/toolkit/nvidia_library.h"

using namespace ptxrun::toolkit;

namespace {

// nvrtcResult
constexpr int kSuccess = 0, kOutOfMemory = 1, kInvalidInput = 3, kInternalError = 11;

/// A function's body, with what it throws made a result.
template <class Body> int guarded(Body &&body) {
  using ptxrun::boundary::Thrown;
  return ptxrun::boundary::guarded(body, [](Thrown thrown) {
    return thrown == Thrown::outOfMemory ? kOutOfMemory : kInternalError;
  });
}

void *nvrtc() {
  static void *const library =
      openNvidiaLibrary({PTXRUN_NVRTC_FILE, "PTXRUN_NVRTC", "cuda_nvrtc/lib"});
  return library;
}

/// What NVIDIA's function of this name answers.
template <class... Parameters> int forward(const char *name, Parameters... arguments) {
  auto *const function = reinterpret_cast<int (*)(Parameters...)>(findFunction(nvrtc(), name));
  if (function)
    return function(arguments...);
  if (nvrtc())
    std::fprintf(stderr, "ptxrun: NVIDIA's " PTXRUN_NVRTC_FILE " has no %s\n", name);
  return kInternalError;
}

/// Programs whose machine code was asked for.
struct Programs {
  std::mutex mutex;
  std::set<void *> withMachineCode;

  bool wantMachineCode(void *program) {
    const std::lock_guard lock(mutex);
    return withMachineCode.contains(program);
  }
  void set(void *program, bool wantsMachineCode) {
    const std::lock_guard lock(mutex);
    if (wantsMachineCode)
      withMachineCode.insert(program);
    else
      withMachineCode.erase(program);
  }
};
Programs &programs() {
  static auto *const instance = new Programs; // programs are destroyed while the process ends
  return *instance;
}

} // namespace

#define PTXRUN_EXPORT extern "C" __attribute__((visibility("default")))
#define FORWARD(name, parameters, arguments)                                                       \
  PTXRUN_EXPORT int name parameters {                                                              \
    return guarded([&] {                                                                           \
      return std::apply([](auto... given) { return forward(#name, given...); },                    \
                        std::make_tuple arguments);                                                \
    });                                                                                            \
  }
#include "loader/toolkit/nvrtc_functions.def"

PTXRUN_EXPORT int nvrtcCompileProgram(void *program, int count, const char *const *given) {
  if (count < 0 || (count > 0 && !given))
    return kInvalidInput;
  return guarded([&] {
    const CompilerOptions options = wantPtx({given, given + count});
    std::vector<const char *> words;
    for (const std::string &word : options.words)
      words.push_back(word.c_str());
    const int result = forward("nvrtcCompileProgram", program, count,
                               static_cast<const char *const *>(words.data()));
    programs().set(program, result == kSuccess && options.wantsMachineCode);
    return result;
  });
}

PTXRUN_EXPORT int nvrtcDestroyProgram(void **program) {
  return guarded([&] {
    if (program)
      programs().set(*program, false);
    return forward("nvrtcDestroyProgram", program);
  });
}

PTXRUN_EXPORT int nvrtcGetCUBINSize(void *program, size_t *bytes) {
  return guarded([&] {
    return forward(programs().wantMachineCode(program) ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize",
                   program, bytes);
  });
}

PTXRUN_EXPORT int nvrtcGetCUBIN(void *program, char *code) {
  return guarded([&] {
    return forward(programs().wantMachineCode(program) ? "nvrtcGetPTX" : "nvrtcGetCUBIN", program,
                   code);
  });
}

PTXRUN_EXPORT const char *nvrtcGetErrorString(int result) {
  auto *const function =
      reinterpret_cast<const char *(*)(int)>(findFunction(nvrtc(), "nvrtcGetErrorString"));
  return function ? function(result) : "NVRTC is not here: see ptxrun's message on stderr";
}
