#include "loader/device/readable_name.h"

#include <cxxabi.h>

#include <cstdlib>

namespace ptxrun::device {

std::string readableName(const std::string &name) {
  if (!name.starts_with("_Z")) // __cxa_demangle takes `i` for a type
    return name;
  int status = 0;
  char *readable = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string text = status == 0 && readable ? readable : name;
  std::free(readable);
  return text;
}

} // namespace ptxrun::device
