#include "loader/toolkit/nvidia_library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <vector>

namespace ptxrun::toolkit {

namespace {

namespace fs = std::filesystem;

fs::path ownFolder() {
  Dl_info self{};
  dladdr(reinterpret_cast<void *>(&ownFolder), &self);
  std::error_code ignored;
  return fs::canonical(fs::path(self.dli_fname ? self.dli_fname : ""), ignored).parent_path();
}

void addSearchPath(const char *variable, std::vector<fs::path> &folders) {
  const char *const value = getenv(variable);
  for (std::string_view rest = value ? value : ""; !rest.empty();) {
    const size_t end = std::min(rest.find(':'), rest.size());
    if (end != 0)
      folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

/// Python's package folders, by the objects that are loaded from them.
std::set<std::string> packageFolders() {
  std::set<std::string> found;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        const std::string_view path = info->dlpi_name;
        for (const std::string_view name : {"/site-packages/", "/dist-packages/"})
          if (const size_t at = path.find(name); at != path.npos)
            static_cast<std::set<std::string> *>(data)->emplace(path.substr(0, at + name.size()));
        return 0;
      },
      &found);
  return found;
}

std::vector<fs::path> searchFolders(const NvidiaLibrary &library) {
  std::vector<fs::path> folders;
  addSearchPath("LD_LIBRARY_PATH", folders);
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *const toolkit = getenv(variable))
      folders.push_back(fs::path(toolkit) / "lib64");
  for (const std::string &packages : packageFolders())
    for (const char *folder : {library.wheel, "cu13/lib"})
      folders.push_back(fs::path(packages) / "nvidia" / folder);
  folders.emplace_back("/usr/local/cuda/lib64");
  std::error_code error;
  for (const auto &entry : fs::directory_iterator("/usr/local", error))
    if (entry.path().filename().string().starts_with("cuda-"))
      folders.push_back(entry.path() / "lib64");
  for (const char *folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"})
    folders.emplace_back(folder);
  return folders;
}

void *openFile(const fs::path &path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }

} // namespace

void *findNvidiaLibrary(const NvidiaLibrary &library) {
  // The audit library of `ptxrun exec` knows what the program asked for.
  if (void *const opened = openFile(std::string("nvidia:") + library.file))
    return opened;
  const fs::path own = ownFolder();
  for (const fs::path &folder : searchFolders(library)) {
    std::error_code ignored;
    const fs::path file = fs::canonical(folder / library.file, ignored);
    if (file.empty() || file.parent_path() == own)
      continue;
    if (void *const opened = openFile(file))
      return opened;
  }
  return nullptr;
}

void *openNvidiaLibrary(const NvidiaLibrary &library) {
  if (const char *const given = getenv(library.variable)) {
    void *const opened = openFile(given);
    if (!opened)
      std::fprintf(stderr, "ptxrun: %s: %s\n", library.variable, dlerror());
    return opened;
  }
  if (void *const found = findNvidiaLibrary(library))
    return found;
  std::fprintf(stderr,
               "ptxrun: NVIDIA's %s is not here, and this program compiles with it: install it, "
               "and name it by %s=PATH if it is in no usual place\n",
               library.file, library.variable);
  return nullptr;
}

void *findFunction(void *library, const char *name) {
  return library ? dlsym(library, name) : nullptr;
}

} // namespace ptxrun::toolkit
