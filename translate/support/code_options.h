// CodeOptions: what a launch asks of its code, one value from the launch down to every stage. Knows
// nothing of LLVM.
#pragma once
#include <array>
#include <compare>
#include <cstdint>

#include "intrinsics/matrix/policy.h"

namespace ptxrun {

namespace simt {
enum class Pass : uint8_t; // passes.h
}

/// The instruction set that code may use. Code of a level runs on every CPU that has it.
enum class CpuLevel : uint8_t { sse4, avx2, avx512 };

/// Whose costs count; `other` has those of a CPU in the middle.
enum class CpuModel : uint8_t { other, zen3, zen4, zen5, skylakeX, iceLake, sapphireRapids };

/// How much work goes into code. W and every bit of the results are the same in both.
enum class Tier : uint8_t {
  baseline,  ///< ready soon: one version of the code, under masks; for the first launch
  optimised, ///< up to six times the compilation, code that is up to five times as fast
};

/// Passes of simt to leave out.
class PassSet {
 public:
  bool has(simt::Pass p) const { return bits_ >> unsigned(p) & 1; }
  void add(simt::Pass p) { bits_ |= uint64_t(1) << unsigned(p); }
  uint64_t bits() const { return bits_; }
  auto operator<=>(const PassSet &) const = default;

 private:
  uint64_t bits_ = 0;
};

/// What of every access of memory is checked (translate/observe).
struct Checks {
  bool alignment = false;
  auto operator<=>(const Checks &) const = default;
};

using BlockShape = std::array<uint32_t, 3>;

/// What each option means stands in code_options.def.
struct CodeOptions {
#define CODE_OPTION(type, name, default_, meaning) type name = default_;
#define CODE_SETTING(type, name, default_, word, effect, read, takes, meaning) type name = default_;
#include "translate/support/code_options.def"
#undef CODE_SETTING
#undef CODE_OPTION

  auto operator<=>(const CodeOptions &) const = default;
};

/// each(name, value) for every option, in order.
template <class Each> void forEachOption(const CodeOptions &options, Each each) {
#define CODE_OPTION(type, name, default_, meaning) each(#name, options.name);
#define CODE_SETTING(type, name, default_, word, effect, read, takes, meaning)                     \
  each(#name, options.name);
#include "translate/support/code_options.def"
#undef CODE_SETTING
#undef CODE_OPTION
}

} // namespace ptxrun
