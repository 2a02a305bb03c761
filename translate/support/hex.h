// Addresses as people read them.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

namespace ptxrun::support {

/// "0x7f3a00"
inline std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

} // namespace ptxrun::support
