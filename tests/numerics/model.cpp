#include "tests/numerics/model.h"

#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <optional>

namespace ptxrun::numerics {
namespace {

using isa::Token;
using isa::Type;

/// A binary floating-point format. Infinities and NaNs as IEEE 754 has them, unless said otherwise.
struct Format {
  unsigned bits, mantissa; ///< of the element, of its stored fraction
  int bias;
  bool hasInfinity = true;
  uint64_t largest = 0; ///< magnitude of the largest number, where there is no infinity
  uint64_t nan =
      0; ///< the NaN's magnitude, or what conversions give for it, where there is no infinity
  unsigned stored = 0; ///< bits that an element has in a packed operand, where more than `bits`
  unsigned shift = 0;  ///< zero bits below the element (tf32)

  unsigned width() const { return stored ? stored : bits + shift; }
  uint64_t sign() const { return uint64_t{1} << (bits - 1); }
  uint64_t infinity() const { return ((sign() >> mantissa) - 1) << mantissa; }
  uint64_t largestNumber() const { return hasInfinity ? infinity() - 1 : largest; }
  bool isNaN(uint64_t magnitude) const {
    return hasInfinity ? magnitude > infinity() : nan > largest && magnitude == nan;
  }
};

constexpr Format kF64{64, 52, 1023}, kF32{32, 23, 127}, kF16{16, 10, 15}, kBf16{16, 7, 127},
    kTf32{19, 10, 127, true, 0, 0, 0, 13}, kE4m3{8, 3, 7, false, 0x7e, 0x7f}, kE5m2{8, 2, 15},
    kE2m3{6, 3, 1, false, 0x1f, 0x1f, 8}, kE3m2{6, 2, 3, false, 0x1f, 0x1f, 8},
    kE2m1{4, 1, 1, false, 0x7, 0x7};

std::optional<Format> formatOf(Type type) {
  switch (type) {
  case Type::f64:
    return kF64;
  case Type::f32:
  case Type::f32x2:
    return kF32;
  case Type::f16:
  case Type::f16x2:
    return kF16;
  case Type::bf16:
  case Type::bf16x2:
    return kBf16;
  default:
    return std::nullopt;
  }
}

/// The format a conversion's suffix names; its operand may be typed by its bits alone.
std::optional<Format> formatOf(Token token) {
  const std::string_view name = isa::spelling(token);
  constexpr std::pair<std::string_view, Format> kNames[] = {
      {"f64", kF64},     {"f32", kF32},     {"f16", kF16},     {"f16x2", kF16},
      {"bf16", kBf16},   {"bf16x2", kBf16}, {"tf32", kTf32},   {"e4m3x2", kE4m3},
      {"e5m2x2", kE5m2}, {"e2m3x2", kE2m3}, {"e3m2x2", kE3m2}, {"e2m1x2", kE2m1}};
  for (const auto &[text, format] : kNames)
    if (name == text)
      return format;
  return std::nullopt;
}

struct Number {
  mpfr_t value;
  Number() { mpfr_init2(value, 64); }
  ~Number() { mpfr_clear(value); }
  Number(const Number &) = delete;
  Number &operator=(const Number &) = delete;
};

void read(const Format &format, uint64_t bits, mpfr_t to) {
  bits &= 2 * format.sign() - 1;
  const bool isNegative = bits & format.sign();
  const uint64_t magnitude = bits & (format.sign() - 1),
                 fraction = magnitude & ((uint64_t{1} << format.mantissa) - 1);
  const int exponent = int(magnitude >> format.mantissa);
  if (format.isNaN(magnitude)) {
    mpfr_set_nan(to);
    mpfr_setsign(to, to, isNegative, MPFR_RNDN);
    return;
  }
  if (format.hasInfinity && magnitude == format.infinity())
    return mpfr_set_inf(to, isNegative ? -1 : 1);
  const uint64_t digits = exponent ? fraction | uint64_t{1} << format.mantissa : fraction;
  mpfr_set_ui_2exp(to, digits, std::max(exponent, 1) - format.bias - int(format.mantissa),
                   MPFR_RNDN);
  mpfr_setsign(to, to, isNegative, MPFR_RNDN);
}

/// Bits of a number that the format has.
uint64_t write(const Format &format, const mpfr_t from) {
  const uint64_t sign = mpfr_signbit(from) ? format.sign() : 0;
  if (mpfr_zero_p(from))
    return sign;
  if (mpfr_inf_p(from))
    return sign | format.infinity();
  const int exponent = std::max(int(mpfr_get_exp(from)) - 1, 1 - format.bias);
  Number digits;
  mpfr_mul_2si(digits.value, from, int(format.mantissa) - exponent, MPFR_RNDN);
  mpfr_abs(digits.value, digits.value, MPFR_RNDN);
  // The hidden bit of `digits` carries into the exponent's field.
  return sign | ((uint64_t(exponent + format.bias - 1) << format.mantissa) +
                 mpfr_get_uj(digits.value, MPFR_RNDN));
}

/// What remains after rounding to the format's digits: its range. `difference`: MPFR's, of that
/// rounding.
void intoRange(const Format &format, mpfr_t value, int difference, mpfr_rnd_t rounding) {
  const mpfr_exp_t low = mpfr_get_emin(), high = mpfr_get_emax();
  mpfr_set_emin(2 - format.bias - int(format.mantissa));
  const int most = int(format.largestNumber() >> format.mantissa) - format.bias + 1;
  mpfr_set_emax(most);
  difference = mpfr_check_range(value, difference, rounding);
  mpfr_subnormalize(value, difference, rounding);
  mpfr_set_emin(low);
  mpfr_set_emax(high);
}

enum class Operation {
  add,
  sub,
  mul,
  fma,
  div,
  rcp,
  sqrt,
  abs,
  neg,
  min,
  max,
  copysign,
  convert,
  toInteger,
  none
};

} // namespace

struct Model::Impl {
  Operation operation = Operation::none;
  Format from[3] = {kF32, kF32, kF32}, to = kF32;
  bool isFromInteger = false, isToInteger = false, isSignedFrom = false, isSignedTo = false;
  unsigned integerBits = 0;
  bool flushes = false, saturates = false, isRelu = false, isFinite = false, propagates = false,
       isAbs = false, hasXorSign = false, joinsTwo = false, isAway = false,
       isRoundedToIntegral = false;
  bool fromF64OrTo64 = false;
  mpfr_rnd_t rounding = MPFR_RNDN;
  unsigned sources = 1;

  uint64_t smallest(const Format &format) const { return uint64_t{1} << format.mantissa; }
  bool flushesFormat(const Format &format) const {
    // cvt: .ftz concerns f32 alone (9.7.9.21).
    return flushes && (format.bits == 32 || (format.bits == 16 && operation != Operation::convert));
  }
  uint64_t flushed(const Format &format, uint64_t bits) const {
    const uint64_t sign = bits & format.sign();
    return flushesFormat(format) && (bits & (format.sign() - 1)) < smallest(format) ? sign : bits;
  }

  void readOperand(unsigned j, uint64_t bits, mpfr_t to) const {
    const Format &format = from[j];
    bits &= 2 * format.sign() - 1;
    mpfr_set_prec(to, 64);
    read(format, flushed(format, bits), to);
  }

  int apply(mpfr_t r, const Number *x) const {
    switch (operation) {
    case Operation::add:
      return mpfr_add(r, x[0].value, x[1].value, rounding);
    case Operation::sub:
      return mpfr_sub(r, x[0].value, x[1].value, rounding);
    case Operation::mul:
      return mpfr_mul(r, x[0].value, x[1].value, rounding);
    case Operation::fma:
      return mpfr_fma(r, x[0].value, x[1].value, x[2].value, rounding);
    case Operation::div:
      return mpfr_div(r, x[0].value, x[1].value, rounding);
    case Operation::rcp:
      return mpfr_ui_div(r, 1, x[0].value, rounding);
    case Operation::sqrt:
      return mpfr_sqrt(r, x[0].value, rounding);
    case Operation::abs:
      return mpfr_abs(r, x[0].value, rounding);
    case Operation::neg:
      return mpfr_neg(r, x[0].value, rounding);
    case Operation::copysign:
      return mpfr_copysign(r, x[1].value, x[0].value, rounding);
    case Operation::min:
    case Operation::max:
      return leastOrGreatest(r, x);
    default:
      if (isRoundedToIntegral)
        return mpfr_rint(r, x[0].value, rounding), 0;
      return mpfr_set(r, x[0].value, rounding);
    }
  }

  /// min, max: a number wins over NaN unless .NaN is written; -0 < +0; .abs of the operands;
  /// .xorsign gives the sign.
  int leastOrGreatest(mpfr_t r, const Number *x) const {
    Number best, next;
    bool hasNaN = false, isNegative = false;
    mpfr_set_nan(best.value);
    for (unsigned j = 0; j < sources; ++j) {
      hasNaN |= mpfr_nan_p(x[j].value);
      isNegative ^= mpfr_signbit(x[j].value) != 0;
      mpfr_set(next.value, x[j].value, MPFR_RNDN);
      if (isAbs)
        mpfr_abs(next.value, next.value, MPFR_RNDN);
      if (mpfr_nan_p(best.value))
        mpfr_set(best.value, next.value, MPFR_RNDN);
      else if (operation == Operation::min)
        mpfr_min(best.value, best.value, next.value, MPFR_RNDN);
      else
        mpfr_max(best.value, best.value, next.value, MPFR_RNDN);
      // Among zeros the sign decides, whichever MPFR takes.
      if (mpfr_zero_p(best.value) && mpfr_zero_p(next.value) && !mpfr_nan_p(x[j].value)) {
        const bool wantsNegative = operation == Operation::min;
        const bool seen = mpfr_signbit(next.value) != 0;
        if (seen == wantsNegative)
          mpfr_set(best.value, next.value, MPFR_RNDN);
      }
    }
    if (hasNaN && propagates)
      mpfr_set_nan(best.value);
    else if (hasXorSign)
      mpfr_setsign(best.value, best.value, isNegative, MPFR_RNDN);
    return mpfr_set(r, best.value, MPFR_RNDN);
  }

  Expected toFormat(const Number *x) const {
    Number r;
    mpfr_set_prec(r.value, to.mantissa + 1);
    const int difference = apply(r.value, x);
    if (mpfr_nan_p(r.value)) {
      if (saturates)
        return {0};
      return to.hasInfinity || to.nan > to.largest ? Expected{to.nan, true} : Expected{to.nan};
    }
    if (!isRoundedToIntegral)
      intoRange(to, r.value, difference, rounding);
    uint64_t bits = mpfr_inf_p(r.value) && !to.hasInfinity
                        ? to.largest | (mpfr_signbit(r.value) ? to.sign() : 0)
                        : write(to, r.value);
    if ((isFinite || !to.hasInfinity) && (bits & (to.sign() - 1)) > to.largestNumber())
      bits = (bits & to.sign()) | to.largestNumber();
    bits = flushed(to, bits);
    const bool isNegative = bits & to.sign();
    if ((saturates || isRelu) && (isNegative || bits == 0))
      return {0};
    const uint64_t one = uint64_t(to.bias) << to.mantissa;
    if (saturates && bits > one)
      bits = one;
    return {bits};
  }

  Expected toInteger(const mpfr_t x) const {
    const uint64_t mask = integerBits == 64 ? ~uint64_t{0} : (uint64_t{1} << integerBits) - 1,
                   top = uint64_t{1} << (integerBits - 1);
    if (mpfr_nan_p(x))
      return {fromF64OrTo64 ? top : 0};
    Number r;
    mpfr_set_prec(r.value, 128);
    mpfr_rint(r.value, x, rounding);
    const uint64_t highest = isSignedTo ? top - 1 : mask;
    if (mpfr_cmp_ui(r.value, highest) > 0)
      return {highest};
    if (!isSignedTo)
      return {mpfr_sgn(r.value) <= 0 ? 0 : mpfr_get_uj(r.value, MPFR_RNDN)};
    if (mpfr_sgn(r.value) < 0) {
      mpfr_neg(r.value, r.value, MPFR_RNDN);
      return {
          (mpfr_cmp_ui(r.value, top) > 0 ? top : uint64_t{0} - mpfr_get_uj(r.value, MPFR_RNDN)) &
          mask};
    }
    return {mpfr_get_uj(r.value, MPFR_RNDN)};
  }

  Expected awayFromZero(uint64_t bits) const { // cvt.rna.tf32.f32
    const uint64_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
      return {0, true};
    uint64_t rounded =
        magnitude == 0x7f800000 ? magnitude : (magnitude + 0x1000) & ~uint64_t{0x1fff};
    if (isFinite)
      rounded = std::min<uint64_t>(rounded, 0x7f7fe000);
    return {((bits & 0x80000000) | rounded) >> 13};
  }
};

Model::~Model() = default;

Model::Model(const Listed &listed) : impl_(std::make_unique<Impl>()) {
  Impl &m = *impl_;
  const std::string_view opcode = listed.form->opcode;
  constexpr std::pair<std::string_view, Operation> kOperations[] = {
      {"add", Operation::add},           {"sub", Operation::sub},    {"mul", Operation::mul},
      {"fma", Operation::fma},           {"mad", Operation::fma},    {"div", Operation::div},
      {"rcp", Operation::rcp},           {"sqrt", Operation::sqrt},  {"abs", Operation::abs},
      {"neg", Operation::neg},           {"min", Operation::min},    {"max", Operation::max},
      {"copysign", Operation::copysign}, {"cvt", Operation::convert}};
  for (const auto &[name, operation] : kOperations)
    if (opcode == name)
      m.operation = operation;
  if (m.operation == Operation::none || listed.results.size() != 1)
    return;
  for (const Token token : listed.modifiers) {
    const std::string_view name = isa::spelling(token);
    if (name == "approx" || name == "full" || name == "oob" || name == "rs" ||
        name.find("ue8m0") != name.npos || name.find("s2f6") != name.npos)
      return;
    if (name == "rz" || name == "rzi")
      m.rounding = MPFR_RNDZ;
    if (name == "rm" || name == "rmi")
      m.rounding = MPFR_RNDD;
    if (name == "rp" || name == "rpi")
      m.rounding = MPFR_RNDU;
    m.isAway |= name == "rna";
    m.isRoundedToIntegral |= name.size() == 3 && name[0] == 'r' && name[2] == 'i';
    m.flushes |= name == "ftz";
    m.saturates |= name == "sat";
    m.isRelu |= name == "relu";
    m.isFinite |= name == "satfinite";
    m.propagates |= name == "NaN";
    m.isAbs |= name == "abs";
    m.hasXorSign |= name == "xorsign";
  }
  m.sources = static_cast<unsigned>(listed.sources.size());
  if (m.operation != Operation::convert) {
    for (unsigned j = 0; j < m.sources; ++j) {
      const auto format = formatOf(listed.sources[j]);
      if (!format)
        return;
      m.from[j] = *format;
    }
    const auto format = formatOf(listed.results[0]);
    if (!format)
      return;
    m.to = *format;
    parts_ = listed.instruction.results[0].bits / m.to.width();
    isKnown_ = true;
    return;
  }
  // The last two modifiers name the types: destination and source.
  const size_t n = listed.modifiers.size();
  const auto to = formatOf(listed.modifiers[n - 2]), from = formatOf(listed.modifiers[n - 1]);
  const Type result = listed.results[0], source = listed.sources[0];
  if (!to && !from)
    return; // integers
  m.isToInteger = !to;
  m.isFromInteger = !from;
  if (to)
    m.to = *to;
  if (from)
    std::fill_n(m.from, 3, *from);
  if (!to && !isa::isSigned(result) && !isa::isUnsigned(result))
    return;
  if (!from && !isa::isSigned(source) && !isa::isUnsigned(source))
    return;
  m.isSignedTo = isa::isSigned(result);
  m.isSignedFrom = isa::isSigned(source);
  m.integerBits = m.isToInteger ? isa::bitWidth(result) : isa::bitWidth(source);
  m.fromF64OrTo64 = m.isToInteger && (m.integerBits == 64 || from->bits == 64);
  m.isRoundedToIntegral &= !m.isToInteger;
  parts_ = to ? std::max(1u, listed.instruction.results[0].bits / m.to.width()) : 1;
  m.joinsTwo = m.sources == 2;
  isKnown_ = true;
}

unsigned Model::partBits() const {
  return impl_->isToInteger ? impl_->integerBits : impl_->to.width();
}

Expected Model::result(const uint64_t *operands, unsigned part) const {
  const Impl &m = *impl_;
  Number x[3];
  const auto shifted = [&](Expected e) { return Expected{e.bits << m.to.shift, e.isNaN}; };
  if (m.isAway)
    return shifted(m.awayFromZero(operands[0]));
  if (m.isFromInteger) {
    const unsigned unused = 64 - m.integerBits;
    if (m.isSignedFrom)
      mpfr_set_sj(x[0].value, int64_t(operands[0] << unused) >> unused, MPFR_RNDN);
    else
      mpfr_set_uj(x[0].value, operands[0] << unused >> unused, MPFR_RNDN);
    return m.toFormat(x);
  }
  for (unsigned j = 0; j < m.sources; ++j) {
    // d = {a, b}: the first source is the upper element.
    const unsigned element = m.joinsTwo ? 0 : part;
    const unsigned which = m.joinsTwo ? 1 - part : j;
    m.readOperand(j, operands[which] >> (element * m.from[j].width()), x[j].value);
    if (m.joinsTwo)
      break;
  }
  if (m.isToInteger)
    return m.toInteger(x[0].value);
  return shifted(m.toFormat(x));
}

bool Model::isResultNaN(uint64_t bits) const {
  if (impl_->isToInteger)
    return false;
  const Format &to = impl_->to;
  return to.isNaN(bits >> to.shift & (to.sign() - 1));
}

} // namespace ptxrun::numerics
