// Which libraries programs find, as ld.so(8) says.
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "loader/ptxrun/doctor.h"
#include "loader/ptxrun/installation.h"

namespace ptxrun::command {

namespace {

namespace fs = std::filesystem;

constexpr const char *kLibraries[] = {"libcuda.so.1",       "libcudart.so.12",    "libcudart.so.13",
                                      "libnvidia-ml.so.1",  "libnvrtc.so.12",     "libnvrtc.so.13",
                                      "libnvJitLink.so.12", "libnvJitLink.so.13", "libcudnn.so.9"};

std::vector<std::string> foldersOf(std::string_view path) {
  std::vector<std::string> folders;
  while (!path.empty()) {
    const size_t end = std::min(path.find_first_of(":;"), path.size());
    folders.emplace_back(end ? path.substr(0, end) : "."); // an empty one is the current folder
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return folders;
}

/// What the linker would load: an object of this machine; others it passes over.
bool isLoadable(const fs::path &file) {
  Elf64_Ehdr header{};
  std::ifstream stream(file, std::ios::binary);
  return stream.read(reinterpret_cast<char *>(&header), sizeof header) &&
         std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64 &&
         header.e_type == ET_DYN;
}

std::string findIn(const std::vector<std::string> &folders, std::string_view library) {
  for (const std::string &folder : folders)
    if (fs::path file = fs::path(folder) / library; isLoadable(file))
      return file.lexically_normal().string();
  return {};
}

/// ld.so.cache of glibc since 2.2: a header, entries, then the strings that they refer to from the
/// header's start.
struct CacheHeader {
  char magic[20];
  uint32_t entries, stringBytes;
  uint8_t flags, padding[3];
  uint32_t extension, unused[3];
};
struct CacheEntry {
  int32_t flags;
  uint32_t name, file, osVersion;
  uint64_t hardware;
};
static_assert(sizeof(CacheHeader) == 48 && sizeof(CacheEntry) == 24);
constexpr std::string_view kCacheMagic = "glibc-ld.so.cache1.1";
constexpr int32_t kX86Libc6 = 0x0303;

std::string findInCache(std::string_view library) {
  std::ifstream stream("/etc/ld.so.cache", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(stream), {}};
  const size_t start = all.find(kCacheMagic); // behind an older table in old systems
  if (start == std::string::npos || all.size() - start < sizeof(CacheHeader))
    return {};
  const std::string_view cache = std::string_view(all).substr(start);
  CacheHeader header;
  std::memcpy(&header, cache.data(), sizeof header);
  const auto text = [&](uint32_t at) {
    const std::string_view rest = at < cache.size() ? cache.substr(at) : std::string_view();
    return rest.substr(0, rest.find('\0'));
  };
  for (uint32_t i = 0; i < header.entries; ++i) {
    const size_t at = sizeof header + size_t(i) * sizeof(CacheEntry);
    if (at + sizeof(CacheEntry) > cache.size())
      break;
    CacheEntry entry;
    std::memcpy(&entry, cache.data() + at, sizeof entry);
    if (entry.flags == kX86Libc6 && text(entry.name) == library)
      if (std::string file(text(entry.file)); isLoadable(file))
        return file;
  }
  return {};
}

const std::vector<std::string> kDefaultFolders = {"/lib/x86_64-linux-gnu",
                                                  "/usr/lib/x86_64-linux-gnu",
                                                  "/lib64",
                                                  "/usr/lib64",
                                                  "/lib",
                                                  "/usr/lib"};

bool isSame(const fs::path &a, const fs::path &b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

/// LD_LIBRARY_PATH names our folder, and another libcuda.so.1 stands before ours.
void findShadow(Diagnosis &diagnosis, const fs::path &ours) {
  const std::string found = linkerFinds("libcuda.so.1");
  if (ours.empty() || found.empty() || isOurs(found))
    return;
  for (const std::string &folder : foldersOf(variable("LD_LIBRARY_PATH")))
    if (isSame(folder, ours))
      return diagnosis.find("library-path",
                            "LD_LIBRARY_PATH names " + folder + ", but " + found +
                                " is found before ours",
                            "put " + folder + " first in LD_LIBRARY_PATH, or use ptxrun exec");
}

void findPreloaded(Diagnosis &diagnosis) {
  for (const char *name : {"LD_PRELOAD", "LD_AUDIT"}) {
    const std::string value = variable(name);
    if (value.find("libcuda.so") != std::string::npos && !isOurs(value))
      diagnosis.find("preload", std::string(name) + " loads " + value + " into every program",
                     std::string("unset ") + name);
  }
}

} // namespace

std::string linkerFinds(std::string_view library, std::string_view runPath, bool isBeforeVariable) {
  const std::string first = isBeforeVariable ? findIn(foldersOf(runPath), library) : "";
  if (!first.empty())
    return first;
  if (std::string found = findIn(foldersOf(variable("LD_LIBRARY_PATH")), library); !found.empty())
    return found;
  if (std::string found = findIn(foldersOf(runPath), library); !found.empty())
    return found;
  if (std::string found = findInCache(library); !found.empty())
    return found;
  return findIn(kDefaultFolders, library);
}

std::string linkerFinds(std::string_view library) { return linkerFinds(library, "", false); }

bool isOurs(const std::string &file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return false;
  struct stat status;
  bool isFound = false;
  if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
    const size_t bytes = size_t(status.st_size);
    if (void *at = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0); at != MAP_FAILED) {
      isFound = memmem(at, bytes, "ptxrun", 6) != nullptr;
      munmap(at, bytes);
    }
  }
  close(descriptor);
  return isFound;
}

void examineLibraries(Diagnosis &diagnosis) {
  const fs::path ours = findLibraryFolder();
  if (ours.empty())
    diagnosis.find("installation", "the libraries are not beside the command",
                   "build or install all of ptxrun; ptxrun exec needs them");
  nlohmann::ordered_json all;
  std::string text;
  for (const char *name : kLibraries) {
    const std::string found = linkerFinds(name);
    std::error_code ignored;
    const bool isHere = !ours.empty() && fs::exists(ours / name, ignored);
    if (!ours.empty() && !isHere)
      diagnosis.find("installation", std::string(name) + " is not in " + ours.string(),
                     "build or install all of ptxrun");
    nlohmann::ordered_json one;
    one["program"] = found.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(found);
    one["isOurs"] = !found.empty() && isOurs(found);
    one["exec"] =
        isHere ? nlohmann::ordered_json((ours / name).string()) : nlohmann::ordered_json();
    all[name] = one;
    text += "\n  " + std::string(name) + std::string(20 - std::strlen(name), ' ') +
            (found.empty() ? "a program finds none"
                           : found + (one["isOurs"] ? " (ours)" : " (not ours)"));
  }
  diagnosis.know(
      "libraries",
      (ours.empty() ? "not installed" : "ptxrun exec takes those in " + ours.string()) + text, all);
  findShadow(diagnosis, ours);
  findPreloaded(diagnosis);
  std::ifstream driver("/proc/driver/nvidia/version");
  std::error_code ignored;
  if (driver || fs::exists("/dev/nvidiactl", ignored))
    diagnosis.notes.push_back(
        "NVIDIA's driver runs here: programs use the GPU unless they are started by ptxrun exec");
}

} // namespace ptxrun::command
