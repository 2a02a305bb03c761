// libptxrun_audit.so, an audit library of the dynamic loader (rtld-audit(7)): sees every object
// that a program loads, at its start or by dlopen, before any code of it runs.
//
//   LD_AUDIT=lib/libptxrun_audit.so ./program
//
// It lives in a namespace of its own, so that the program's symbols and search paths stay as they
// are, and does two things:
//   - libraries that a GPU's driver or toolkit would bring are ours, whatever path is asked for
//   - NVIDIA's static runtime inside an object is replaced by our libcudart
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

#include "loader/audit/object_file.h"
#include "loader/audit/report.h"
#include "loader/audit/runtime_slots.h"
#include "loader/audit/static_runtime.h"
#include "loader/image/nvidia_libraries.h"

namespace ptxrun::audit {

namespace {

/// A library of ours, and the names under which programs ask for it.
struct Library {
  std::string_view file;
  std::string_view link; ///< the name without a version
};
constexpr Library kLibraries[] = {
    {"libcuda.so.1", "libcuda.so"},
    {"libcudart.so.12", ""},
    {"libcudart.so.13", "libcudart.so"},
    {"libnvidia-ml.so.1", "libnvidia-ml.so"},
    {"libnvrtc.so.12", ""},
    {"libnvrtc.so.13", "libnvrtc.so"},
    {"libnvJitLink.so.12", ""},
    {"libnvJitLink.so.13", "libnvJitLink.so"},
    {"libcudnn.so.9", "libcudnn.so"},
};

/// A library of ours that stands before NVIDIA's own asks by this for the one that the program
/// meant.
constexpr std::string_view kOriginal = "nvidia:";

constexpr const char *kStrippedRemedy =
    " has the CUDA runtime inside it and was stripped of its symbols, so the runtime cannot be "
    "replaced and will find no device; link it with nvcc -cudart shared (or without -s)";

/// Never destroyed: objects are loaded until the process ends.
struct State {
  std::string paths[std::size(kLibraries)];     ///< of ours; empty where it was not built
  std::string originals[std::size(kLibraries)]; ///< the path that a program gave last
  std::set<std::string> reported;               ///< objects
  State() {
    Dl_info self{};
    dladdr(static_cast<const void *>(&kLibraries), &self);
    const std::string_view path = self.dli_fname ? self.dli_fname : "";
    const std::string folder(path.substr(0, path.rfind('/') + 1)); // with its final slash
    for (size_t i = 0; i < std::size(kLibraries); ++i)
      if (std::string full = folder + std::string(kLibraries[i].file);
          access(full.c_str(), R_OK) == 0)
        paths[i] = std::move(full);
    setRuntimeFolder(folder);
  }
};

State &state() {
  static auto *const instance = new State;
  return *instance;
}

std::string_view fileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

const Library *findLibrary(std::string_view path) {
  const std::string_view file = fileName(path);
  const auto *const found = std::ranges::find_if(
      kLibraries, [&](const Library &l) { return file == l.file || file == l.link; });
  return found == std::end(kLibraries) ? nullptr : found;
}

/// The file of an object; the program's own has no name.
std::string pathOf(const link_map &object) {
  if (*object.l_name)
    return object.l_name;
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, size_t(length)) : std::string();
}

bool isOurs(std::string_view path) {
  return std::ranges::find(state().paths, path) != std::end(state().paths);
}

/// A runtime that asks for the driver itself was not replaced. NVIDIA's own libraries are named by
/// our driver, which sees them also where it was there before (cuGetExportTable).
void reportStrippedRuntime(const std::string &path) {
  const std::string_view file = fileName(path);
  if (file.starts_with("libcudart") || image::nvidiaLibrary(file) != image::NvidiaLibrary::none ||
      !state().reported.insert(path).second)
    return;
  if (hasStrippedRuntime(ObjectFile(path.c_str())))
    report({path, kStrippedRemedy});
}

} // namespace

extern "C" {

#define PTXRUN_EXPORT __attribute__((visibility("default")))

PTXRUN_EXPORT unsigned la_version(unsigned) { return LAV_CURRENT; }

/// What the loader opens in place of `name`.
PTXRUN_EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag) {
  char *const asked = const_cast<char *>(name);
  if (flag != LA_SER_ORIG)
    return asked;
  const bool isForOriginal = std::string_view(name).starts_with(kOriginal);
  const auto *const library = findLibrary(name + (isForOriginal ? kOriginal.size() : 0));
  if (!library)
    return asked;
  const size_t i = library - kLibraries;
  State &known = state();
  if (isForOriginal)
    return known.originals[i].empty() ? asked : known.originals[i].data();
  const std::string requester = pathOf(*reinterpret_cast<const link_map *>(*cookie));
  if (known.paths[i].empty() || isOurs(requester))
    return asked;
  if (library == kLibraries)
    reportStrippedRuntime(requester);
  if (strchr(name, '/'))
    known.originals[i] = name;
  return known.paths[i].data();
}

PTXRUN_EXPORT unsigned la_objopen(link_map *object, Lmid_t space, uintptr_t *) {
  if (const std::string path = pathOf(*object); space == LM_ID_BASE && !isOurs(path))
    replaceStaticRuntime(path.c_str(), object->l_addr);
  return 0; // calls between objects are of no interest
}
}

} // namespace ptxrun::audit
