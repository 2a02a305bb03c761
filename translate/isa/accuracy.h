// What a form's results are worth, for people: exact, or within the bound that the ISA states.
#pragma once
#include <cstdint>
#include <string_view>

#include "translate/isa/table.h"

namespace ptxrun::isa {

struct Accuracy {
  enum class Kind : uint8_t {
    exact,       ///< every bit is the one that the manual prescribes
    approximate, ///< within `bound`, the same bits on every CPU and at every W
    unsupported, ///< not executed
  };
  Kind kind = Kind::exact;
  std::string_view bound; ///< of approximate forms: "2 ulp", "2^-22.9 relative"; else empty
};
Accuracy accuracyOf(const Form &);

} // namespace ptxrun::isa
