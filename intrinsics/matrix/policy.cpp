#include "intrinsics/matrix/policy.h"

#include <charconv>

namespace ptxrun::matrix {

std::optional<PolicyChoice> readPolicy(std::string_view text) {
  if (text == "fast")
    return PolicyChoice{};
  if (text == "exact")
    return PolicyChoice{true, Policy::fast};
  if (!text.starts_with("sm_"))
    return std::nullopt;
  text.remove_prefix(3);
  unsigned sm = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sm);
  const std::string_view suffix(end, size_t(text.data() + text.size() - end));
  if (error != std::errc() || sm < 70 || sm > 129 ||
      !(suffix.empty() || suffix == "a" || suffix == "f"))
    return std::nullopt;
  return PolicyChoice{false, policyOfTarget(sm)};
}

const char *policyName(Policy policy) {
  constexpr const char *kNames[] = {"fast",  "sm_70", "sm_75",  "sm_80",
                                    "sm_89", "sm_90", "sm_100", "sm_120"};
  return kNames[static_cast<unsigned>(policy)];
}

} // namespace ptxrun::matrix
