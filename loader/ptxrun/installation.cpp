#include "loader/ptxrun/installation.h"

#include <string>

#include "loader/ptxrun/errors.h"

namespace ptxrun::command {

namespace {

namespace fs = std::filesystem;

fs::path binFolder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

} // namespace

fs::path findLibraryFolder() {
  const fs::path bin = binFolder();
  for (const char *folder : {"../lib", "../" PTXRUN_LIBDIR, "../" PTXRUN_PRIVATE_LIBDIR})
    if (std::error_code ignored; fs::exists(bin / folder / kAudit, ignored))
      return fs::canonical(bin / folder);
  return {};
}

fs::path libraryFolder() {
  if (fs::path found = findLibraryFolder(); !found.empty())
    return found;
  throw UsageError(std::string(kAudit) + " is not in " +
                   (binFolder() / "../lib").lexically_normal().string() +
                   "; build or install the libraries first");
}

fs::path programFolder() {
  return (binFolder() / "../" PTXRUN_LIBEXECDIR "/ptxrun").lexically_normal();
}

} // namespace ptxrun::command
