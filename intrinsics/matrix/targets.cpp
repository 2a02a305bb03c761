// All that Highway's headers call of its library (assertions where sanitizers are), in its place:
// libhwy 1.0 measures its clock in every process that loads it, 5 ms of 25 that a short run takes.
#include "intrinsics/matrix/targets.h"

#include <hwy/targets.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace hwy {

ChosenTarget &GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

/// Those of the CPU that PTXRUN_CPU allows.
int64_t SupportedTargets() {
  const char *value = std::getenv("PTXRUN_CPU");
  const std::string_view wanted = value ? value : "";
  int64_t targets = HWY_EMU128;
  const auto add = [&](int64_t target, bool isThere) {
    if (isThere)
      targets |= target;
    return isThere;
  };
  __builtin_cpu_init();
  add(HWY_SSSE3, __builtin_cpu_supports("ssse3")) &&
      add(HWY_SSE4, __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes") &&
                        __builtin_cpu_supports("pclmul")) &&
      add(HWY_AVX2, wanted != "sse4" && __builtin_cpu_supports("avx2") &&
                        __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                        __builtin_cpu_supports("lzcnt")) &&
      add(HWY_AVX3, wanted != "avx2" && __builtin_cpu_supports("avx512f") &&
                        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd"));
  return targets;
}

void Abort(const char *file, int line, const char *format, ...) {
  std::fprintf(stderr, "%s:%d: ", file, line);
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::abort();
}

} // namespace hwy

namespace ptxrun::matrix {

bool usesLongVectors() {
  static const bool uses = (hwy::SupportedTargets() & HWY_AVX3) != 0;
  return uses;
}

} // namespace ptxrun::matrix
