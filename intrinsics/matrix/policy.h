// The numerics policy as a launch names it: fast, exact, or an architecture.
#pragma once
#include <compare>
#include <optional>
#include <string_view>

#include "intrinsics/matrix/element.h"

namespace ptxrun::matrix {

struct PolicyChoice {
  bool isExact = false; ///< of the module's own target
  Policy policy = Policy::fast;
  auto operator<=>(const PolicyChoice &) const = default;
};

/// "fast", "exact" or "sm_NN" (from sm_70 on, a or f behind it is allowed); null for anything else.
std::optional<PolicyChoice> readPolicy(std::string_view text);

/// `sm` is the module's target.
constexpr Policy resolve(PolicyChoice choice, unsigned sm) {
  return choice.isExact ? policyOfTarget(sm) : choice.policy;
}

/// "fast", "sm_70" and so on.
const char *policyName(Policy);

} // namespace ptxrun::matrix
