// What compiled code depends on besides the module it was made from.
#include <elf.h>
#include <link.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Config/llvm-config.h>
#include <sys/stat.h>

#include <cstring>

#include "translate/jit/jit.h"
#include "translate/jit/target.h"

namespace ptxrun::jit {

namespace {

struct BuildIdSearch {
  uint64_t address; ///< some code of ours
  std::string id;
};

/// The GNU build id among an object's notes; empty if it has none.
std::string buildIdAmong(const char *note, const char *end) {
  while (note + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) header;
    std::memcpy(&header, note, sizeof header);
    const char *name = note + sizeof header;
    const char *data = name + (header.n_namesz + 3) / 4 * 4;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(name, "GNU", 4) == 0)
      return llvm::toHex(llvm::StringRef(data, header.n_descsz));
    note = data + (header.n_descsz + 3) / 4 * 4;
  }
  return "";
}

/// What tells builds apart where the linker made no build id: the file's size and time.
std::string fileStamp(const char *path) {
  struct stat status;
  if (::stat(*path ? path : "/proc/self/exe", &status) != 0)
    return "unknown";
  return std::to_string(status.st_size) + "-" + std::to_string(status.st_mtim.tv_sec) + "-" +
         std::to_string(status.st_mtim.tv_nsec);
}

int searchObject(dl_phdr_info *info, size_t, void *data) {
  auto &search = *static_cast<BuildIdSearch *>(data);
  bool isOurs = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto &segment = info->dlpi_phdr[i];
    const uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && search.address >= begin &&
        search.address < begin + segment.p_memsz)
      isOurs = true;
  }
  if (!isOurs)
    return 0;
  for (int i = 0; i < info->dlpi_phnum && search.id.empty(); ++i) {
    const auto &segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE)
      continue;
    const char *begin = reinterpret_cast<const char *>(info->dlpi_addr + segment.p_vaddr);
    search.id = buildIdAmong(begin, begin + segment.p_memsz);
  }
  if (search.id.empty())
    search.id = fileStamp(info->dlpi_name);
  return 1;
}

/// Identifies the build of the object (program or shared library) that holds this translator.
const std::string &buildId() {
  static const std::string id = [] {
    BuildIdSearch search{reinterpret_cast<uint64_t>(&searchObject), ""};
    dl_iterate_phdr(searchObject, &search);
    return search.id;
  }();
  return id;
}

} // namespace

std::string codeFingerprint(CpuLevel level) {
  return "ptxrun " + buildId() + "; LLVM " LLVM_VERSION_STRING "; " + levelCpu(level) +
         levelFeatures(level) + "; tuned for " + tuneCpu();
}

} // namespace ptxrun::jit
