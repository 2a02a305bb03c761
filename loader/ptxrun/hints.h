// What is said of words on the command line that mean nothing, so that they need not be looked up.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "loader/ptxrun/suggest.h"

namespace CLI {
class App;
}

namespace ptxrun::command {

/// "; did you mean 'iota'?", or nothing.
inline std::string didYouMean(std::string_view wanted, const std::vector<std::string> &names) {
  const std::string near = nearestWord(wanted, names, std::max<size_t>(1, wanted.size() / 3));
  return near.empty() ? "" : "; did you mean '" + near + "'?";
}

/// "PATH: No such file or directory; did you mean ...?": why a file was not opened; `reason` is
/// errno.
std::string whyNotOpened(const std::string &path, int reason);

/// "run has no option '--grdi'; did you mean '--grid'?"
std::string unknownOption(const CLI::App &command, const std::string &word);

} // namespace ptxrun::command
