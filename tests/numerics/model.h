// What exact instructions must give, by MPFR: every result is the exact one, rounded once.
#pragma once
#include <cstdint>
#include <memory>

#include "tests/numerics/instructions.h"

namespace ptxrun::numerics {

struct Expected {
  uint64_t bits = 0;
  bool isNaN = false; ///< any NaN of the format
};

/// One instruction's meaning.
class Model {
 public:
  explicit Model(const Listed &);
  ~Model();
  /// False for what is not modelled: approximations, comparisons, stochastic rounding, scale
  /// factors, fma.oob.
  bool isKnown() const { return isKnown_; }
  /// Elements of the result: 2 for packed types.
  unsigned parts() const { return parts_; }
  unsigned partBits() const;
  /// Element `part` of the result; operands are as registers hold them.
  Expected result(const uint64_t *operands, unsigned part) const;
  /// True if `bits` is a NaN of the result's format.
  bool isResultNaN(uint64_t bits) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  bool isKnown_ = false;
  unsigned parts_ = 1;
};

} // namespace ptxrun::numerics
