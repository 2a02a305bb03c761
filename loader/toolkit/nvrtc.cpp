// libnvrtc.so.12 and .13: NVIDIA's NVRTC compiles, and where a program asks for machine code
// (sm_NN, nvrtcGetCUBIN) it is given PTX, which libcuda.so.1 loads like a cubin.
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "loader/boundary/guarded.h"
#include "loader/image/register_limit.h"
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

/// Programs whose machine code was asked for, and how many registers it may use (0: any).
class Programs {
 public:
  std::optional<unsigned> machineCode(void *program) {
    const std::lock_guard lock(mutex_);
    const auto found = limits_.find(program);
    return found == limits_.end() ? std::nullopt : std::optional(found->second);
  }
  void set(void *program, std::optional<unsigned> registerLimit) {
    const std::lock_guard lock(mutex_);
    if (registerLimit)
      limits_[program] = *registerLimit;
    else
      limits_.erase(program);
  }

 private:
  std::mutex mutex_;
  std::map<void *, unsigned> limits_;
};
Programs &programs() {
  static auto *const instance = new Programs; // programs are destroyed while the process ends
  return *instance;
}

/// What stands for a program's machine code: its PTX with what it was told of registers.
int getCode(void *program, unsigned registerLimit, std::string &code) {
  size_t bytes = 0;
  int result = forward("nvrtcGetPTXSize", program, &bytes);
  std::string ptx(bytes, '\0');
  if (result == kSuccess && bytes != 0)
    result = forward("nvrtcGetPTX", program, ptx.data());
  code = ptxrun::image::withRegisterLimit(ptx.c_str(), registerLimit);
  return result;
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
    const bool isMachineCode = result == kSuccess && options.wantsMachineCode;
    programs().set(program, isMachineCode ? std::optional(options.registerLimit) : std::nullopt);
    return result;
  });
}

PTXRUN_EXPORT int nvrtcDestroyProgram(void **program) {
  return guarded([&] {
    if (program)
      programs().set(*program, std::nullopt);
    return forward("nvrtcDestroyProgram", program);
  });
}

PTXRUN_EXPORT int nvrtcGetCUBINSize(void *program, size_t *bytes) {
  return guarded([&] {
    const std::optional<unsigned> limit = programs().machineCode(program);
    if (!limit)
      return forward("nvrtcGetCUBINSize", program, bytes);
    if (!bytes)
      return kInvalidInput;
    std::string code;
    const int result = getCode(program, *limit, code);
    if (result == kSuccess)
      *bytes = code.size() + 1;
    return result;
  });
}

PTXRUN_EXPORT int nvrtcGetCUBIN(void *program, char *to) {
  return guarded([&] {
    const std::optional<unsigned> limit = programs().machineCode(program);
    if (!limit)
      return forward("nvrtcGetCUBIN", program, to);
    if (!to)
      return kInvalidInput;
    std::string code;
    const int result = getCode(program, *limit, code);
    if (result == kSuccess)
      memcpy(to, code.c_str(), code.size() + 1);
    return result;
  });
}

PTXRUN_EXPORT const char *nvrtcGetErrorString(int result) {
  auto *const function =
      reinterpret_cast<const char *(*)(int)>(findFunction(nvrtc(), "nvrtcGetErrorString"));
  return function ? function(result) : "NVRTC is not here: see ptxrun's message on stderr";
}
