#include "loader/ptxrun/hints.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace ptxrun::command {

std::string whyNotOpened(const std::string &path, int reason) {
  namespace fs = std::filesystem;
  std::string message = path + ": " + std::strerror(reason);
  if (reason != ENOENT)
    return message;
  const fs::path wanted(path);
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : ".";
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(entry->path().filename().string());
  const std::string near = nearestWord(wanted.filename().string(), names, 2);
  if (!near.empty())
    message += "; did you mean " +
               (wanted.has_parent_path() ? (wanted.parent_path() / near).string() : near) + "?";
  else if (!fs::exists(folder, error))
    message += ": there is no folder " + folder.string();
  return message;
}

} // namespace ptxrun::command
