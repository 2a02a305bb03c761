#include "loader/libcuda/device_runtime.h"

#include <algorithm>
#include <string_view>

namespace ptxrun::driver {

namespace {

struct DeviceFunction {
  std::string_view name;
  std::string_view definition; ///< one line
};

constexpr DeviceFunction kFunctions[] = {
    // A conditional handle is the address of the value (graph.h).
    {"cudaGraphSetConditional",
     ".func cudaGraphSetConditional(.param .b64 handle, .param .b32 value) { .reg .b64 %h; "
     ".reg .b32 %v; ld.param.b64 %h, [handle]; ld.param.b32 %v, [value]; st.global.b32 [%h], %v; "
     "ret; }"},
};

bool isNameCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$';
}

/// Where the function's `.extern` declaration stands, its semicolon included; empty where there is
/// none.
std::string_view findDeclaration(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t after = at + name.size();
    if (after < text.size() && isNameCharacter(text[after]))
      continue;
    const size_t begin = text.substr(0, at).rfind(".extern");
    const size_t end = text.find(';', after);
    if (begin == std::string_view::npos || end == std::string_view::npos)
      continue;
    const std::string_view found = text.substr(begin, end + 1 - begin);
    // Nothing but the declaration lies between: no other statement, no body.
    if (found.find_first_of(";{}") == found.size() - 1 &&
        found.find(".func") != std::string_view::npos)
      return found;
  }
  return {};
}

} // namespace

std::string withDeviceRuntime(std::string ptx) {
  for (const auto &[name, definition] : kFunctions) {
    const std::string_view found = findDeclaration(ptx, name);
    if (found.empty())
      continue;
    const auto lines = static_cast<size_t>(std::ranges::count(found, '\n'));
    const auto place = static_cast<size_t>(found.data() - ptx.data());
    ptx.replace(place, found.size(), std::string(definition) + std::string(lines, '\n'));
  }
  return ptx;
}

} // namespace ptxrun::driver
