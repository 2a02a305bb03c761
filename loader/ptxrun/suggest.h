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

/// The name nearest to `wanted`, at most `most` edits away; empty: none.
inline std::string nearestWord(std::string_view wanted, const std::vector<std::string> &names,
                               size_t most) {
  std::string best;
  size_t bestDistance = most + 1;
  for (const std::string &name : names)
    if (const size_t distance = editDistance(wanted, name); distance < bestDistance)
      best = name, bestDistance = distance;
  return best;
}

/// The same, but one that contains it (a mangled name) counts as near.
inline std::string nearestName(std::string_view wanted, const std::vector<std::string> &names) {
  for (const std::string &name : names)
    if (name.find(wanted) != std::string::npos)
      return name;
  return nearestWord(wanted, names, std::max<size_t>(2, wanted.size() / 3));
}

} // namespace ptxrun::command
