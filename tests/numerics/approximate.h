// The approximate functions of 9.7.3 and 9.7.4: what the manual allows each, and how far from the
// function it is.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/numerics/array_run.h"

namespace ptxrun::numerics {

enum class Function { ex2, lg2, sin, cos, tanh, rcp, rsqrt, sqrt, div };
/// What errors are measured in: units of the exact result's last place (subnormal results have the
/// smallest normal number's), the exact result's size (at least the smallest normal number's), or
/// as they are.
enum class Unit { ulp, relative, absolute, magnitude };
enum class Format { f16, bf16, f32, f64 };

/// Inputs, the divisor's for div, with `low` <= |x| <= `high`, and NaN; or, if `isOutside`, all
/// others that are numbers.
struct Range {
  const char *text;
  double low, high;
  bool isOutside;
  Unit unit;
  double bound; ///< the manual's; infinity where it gives none
};

struct Approximation {
  const char *mnemonic;
  Function function;
  Format format;
  bool flushes;     ///< subnormal inputs and results are zeros
  bool isUpperWord; ///< only the upper words of input and result count (9.7.3.14, 9.7.3.17)
  std::vector<Range> ranges;

  unsigned arity() const { return function == Function::div ? 2 : 1; }
  unsigned bits() const { return format == Format::f64 ? 64 : format == Format::f32 ? 32 : 16; }
  bool isPacked() const; ///< f16x2, bf16x2: the same operand twice
  Instruction instruction() const;
};

std::span<const Approximation> approximations();
const char *unitText(Unit);

/// The worst of a range, over all inputs given so far.
struct Worst {
  uint64_t inputs = 0;
  double error = -1;
  uint64_t at[2] = {0, 0}, result = 0;
};

/// Errors of results against a reference in double (f64: long double) precision, which is itself
/// within 2^-49 of the function. `twins`: approximations of one function, format and arity that
/// differ in `.ftz`, the first without. a, b: the operands' bits, n of them; results[t]: what twin
/// t made of them; worst[t]: one for each of its ranges.
void measure(std::span<const Approximation> twins, const Bytes &a, const Bytes &b,
             std::span<const Bytes> results, size_t n, std::vector<std::vector<Worst>> &worst);

/// The same error for one input, exactly (MPFR, 256 bits).
double exactError(const Approximation &, Unit, const uint64_t (&at)[2], uint64_t result);

/// False where the CPU cannot run measure().
bool canMeasure();

} // namespace ptxrun::numerics
