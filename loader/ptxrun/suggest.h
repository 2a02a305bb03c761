// "Did you mean": the nearest of some names.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace ptxrun::command {

/// Single-letter edits between two names.
inline size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

/// The name nearest to `wanted`; one that contains it (a mangled name) counts as near. Empty when
/// none is.
inline std::string nearestName(std::string_view wanted, const std::vector<std::string> &names) {
  std::string best;
  size_t bestDistance = std::max<size_t>(2, wanted.size() / 3) + 1;
  for (const std::string &name : names) {
    size_t distance = name.find(wanted) != std::string::npos ? 0 : editDistance(wanted, name);
    if (distance < bestDistance)
      best = name, bestDistance = distance;
  }
  return best;
}

} // namespace ptxrun::command
