#include "loader/image/register_limit.h"

#include <algorithm>
#include <charconv>

namespace ptxrun::image {

namespace {

constexpr std::string_view kMark = "\n// registers of a thread: at most ";

/// The number that the whole text is; 0 for anything else.
unsigned readNumber(std::string_view text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

} // namespace

std::string withRegisterLimit(std::string text, unsigned limit) {
  if (limit != 0)
    text.append(kMark).append(std::to_string(limit)).append("\n");
  return text;
}

unsigned registerLimit(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\0'))
    text.remove_suffix(1);
  const size_t mark = text.rfind('\n');
  if (mark == text.npos || !text.substr(mark).starts_with(kMark))
    return 0;
  return readNumber(text.substr(mark + kMark.size()));
}

unsigned smallerLimit(unsigned a, unsigned b) { return a == 0 || b == 0 ? a + b : std::min(a, b); }

unsigned registerLimitOption(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  constexpr std::string_view kName = "maxrregcount=";
  return word.starts_with(kName) ? readNumber(word.substr(kName.size())) : 0;
}

} // namespace ptxrun::image
