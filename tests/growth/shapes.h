// PTX of many shapes at any size, to see how the time to compile it grows.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ptxrun::growth {

/// One way a program can be large. The entry is `k` with `.param .u64 out` first.
struct Shape {
  std::string_view name;
  std::string_view meaning;
  /// The module; its instructions (or variables, parameters, ...) are in proportion to `size`.
  std::string (*write)(unsigned size);
  unsigned size; ///< at which its growth shows: the work is well above what an empty kernel takes
};

const std::vector<Shape> &shapes();

} // namespace ptxrun::growth
