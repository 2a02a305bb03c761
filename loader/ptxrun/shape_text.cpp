#include "loader/ptxrun/shape_text.h"

#include <charconv>

#include "loader/ptxrun/errors.h"

namespace ptxrun::command {

std::array<std::string, 3> parseShape(const std::string &text, const char *option) {
  std::array<std::string, 3> shape{"1", "1", "1"};
  size_t k = 0;
  for (size_t at = 0; at <= text.size(); ++k) {
    size_t end = std::min(text.find_first_of(",x", at), text.size());
    if (k == 3)
      throw UsageError(std::string(option) + " takes at most three extents: X,Y,Z");
    shape[k] = text.substr(at, end - at);
    bool isNumber =
        !shape[k].empty() && shape[k].find_first_not_of("0123456789") == std::string::npos;
    if (!isNumber)
      throw UsageError(std::string(option) + " takes X, X,Y or X,Y,Z, not '" + text + "'");
    at = end + 1;
  }
  return shape;
}

abi::Dim3 shapeOf(const std::string &text, const char *option) {
  const std::array<std::string, 3> texts = parseShape(text, option);
  uint32_t values[3];
  for (size_t k = 0; k < 3; ++k) {
    const char *end = texts[k].data() + texts[k].size();
    const auto [rest, error] = std::from_chars(texts[k].data(), end, values[k]);
    if (error != std::errc() || rest != end || values[k] == 0)
      throw UsageError(std::string(option) + " takes extents from 1 on, not '" + text + "'");
  }
  return {values[0], values[1], values[2]};
}

} // namespace ptxrun::command
