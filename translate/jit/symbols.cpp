#include "translate/jit/symbols.h"

#include <dlfcn.h>

#include <cmath>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>

#include "translate/jit/jit.h"

// Operations without an instruction on the lower CPU levels, from the compiler's own library.
extern "C" {
float __extendhfsf2(_Float16);
_Float16 __truncsfhf2(float);
_Float16 __truncdfhf2(double);
__int128 __divti3(__int128, __int128);
__int128 __modti3(__int128, __int128);
unsigned __int128 __udivti3(unsigned __int128, unsigned __int128);
unsigned __int128 __umodti3(unsigned __int128, unsigned __int128);
__int128 __fixsfti(float);
__int128 __fixdfti(double);
float __floattisf(__int128);
double __floattidf(__int128);
}

namespace ptxrun::jit {

namespace {

using Table = std::unordered_map<std::string, const void *>;

/// A bfloat in the low half of an XMM register, as LLVM passes it.
_Float16 truncateToBfloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  const bool isNan = (bits & 0x7fffffffu) > 0x7f800000u;
  const uint16_t rounded =
      isNan ? uint16_t((bits >> 16) | 0x40) : uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
  _Float16 out;
  std::memcpy(&out, &rounded, 2);
  return out;
}

/// Rounds once: to odd in binary32 first, which keeps what the second rounding needs.
_Float16 truncateDoubleToBfloat(double value) {
  float nearest = float(value);
  if (double(nearest) != value && std::isfinite(value) && std::isfinite(nearest)) {
    uint32_t bits;
    std::memcpy(&bits, &nearest, 4);
    const bool isBeyond = std::fabs(double(nearest)) > std::fabs(value);
    if (isBeyond)
      --bits;
    bits |= 1;
    std::memcpy(&nearest, &bits, 4);
  }
  return truncateToBfloat(nearest);
}

Table makeTable() {
  Table table;
  // The casts choose among the C++ overloads.
  using F1 = float (*)(float);
  using D1 = double (*)(double);
  using F2 = float (*)(float, float);
  using D2 = double (*)(double, double);
  const auto put = [&](const char *name, auto *function) {
    table[name] = reinterpret_cast<const void *>(function);
  };
  put("sqrtf", F1(::sqrtf));
  put("sqrt", D1(::sqrt));
  put("floorf", F1(::floorf));
  put("floor", D1(::floor));
  put("ceilf", F1(::ceilf));
  put("ceil", D1(::ceil));
  put("truncf", F1(::truncf));
  put("trunc", D1(::trunc));
  put("rintf", F1(::rintf));
  put("rint", D1(::rint));
  put("nearbyintf", F1(::nearbyintf));
  put("nearbyint", D1(::nearbyint));
  put("roundf", F1(::roundf));
  put("round", D1(::round));
  put("roundevenf", F1(::roundevenf));
  put("roundeven", D1(::roundeven));
  put("fminf", F2(::fminf));
  put("fmin", D2(::fmin));
  put("fmaxf", F2(::fmaxf));
  put("fmax", D2(::fmax));
  put("fmodf", F2(::fmodf));
  put("fmod", D2(::fmod));
  put("fmaf", static_cast<float (*)(float, float, float)>(::fmaf));
  put("fma", static_cast<double (*)(double, double, double)>(::fma));
  put("ldexpf", static_cast<float (*)(float, int)>(::ldexpf));
  put("ldexp", static_cast<double (*)(double, int)>(::ldexp));
  put("memcpy", &std::memcpy);
  put("memmove", &std::memmove);
  put("memset", &std::memset);
  put("memcmp", &std::memcmp);
  put("__extendhfsf2", &__extendhfsf2);
  put("__truncsfhf2", &__truncsfhf2);
  put("__truncdfhf2", &__truncdfhf2);
  put("__divti3", &__divti3);
  put("__modti3", &__modti3);
  put("__udivti3", &__udivti3);
  put("__umodti3", &__umodti3);
  put("__fixsfti", &__fixsfti);
  put("__fixdfti", &__fixdfti);
  put("__floattisf", &__floattisf);
  put("__floattidf", &__floattidf);
  put("__truncsfbf2", &truncateToBfloat);
  put("__truncdfbf2", &truncateDoubleToBfloat);
  return table;
}

struct Symbols {
  std::mutex mutex;
  Table table = makeTable();
};

Symbols &symbols() {
  static Symbols *instance = new Symbols;
  return *instance;
}

} // namespace

void registerRuntimeSymbol(std::string_view name, const void *address) {
  std::lock_guard lock(symbols().mutex);
  symbols().table[std::string(name)] = address;
}

const void *findProcessSymbol(std::string_view name) {
  std::lock_guard lock(symbols().mutex);
  const auto found = symbols().table.find(std::string(name));
  if (found != symbols().table.end())
    return found->second;
  return dlsym(RTLD_DEFAULT, std::string(name).c_str());
}

} // namespace ptxrun::jit
