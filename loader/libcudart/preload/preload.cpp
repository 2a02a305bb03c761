// libptxrun_preload.so, for executables with NVIDIA's static runtime inside (nvcc's default):
// before any constructor of the program runs, the runtime's functions in the executable, found by
// name in its own symbol table, become jumps to the same functions of our libcudart. Nothing of the
// closed runtime is run or answered.
//
//   LD_PRELOAD=lib/libptxrun_preload.so ./program
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// jmp *[rip+0], then the target's address.
constexpr unsigned char kJump[] = {0xff, 0x25, 0, 0, 0, 0};
constexpr size_t kJumpBytes = sizeof kJump + sizeof(void *);
constexpr const char *kStrippedMessage =
    "ptxrun: this program has the CUDA runtime inside it and was stripped of its symbols, so the "
    "runtime cannot be "
    "replaced; relink it with nvcc -cudart shared (or without -s)\n";

/// The running executable as a file, mapped for the constructor's time.
class ExecutableFile {
 public:
  ExecutableFile() {
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (file < 0)
      return;
    if (fstat(file, &info) == 0) {
      const auto bytes = static_cast<size_t>(info.st_size);
      void *mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
      if (mapped != MAP_FAILED)
        bytes_ = {static_cast<const char *>(mapped), bytes};
    }
    close(file);
  }
  ~ExecutableFile() {
    if (!bytes_.empty())
      munmap(const_cast<char *>(bytes_.data()), bytes_.size());
  }
  ExecutableFile(const ExecutableFile &) = delete;
  ExecutableFile &operator=(const ExecutableFile &) = delete;

  template <class T> std::span<const T> table(uint64_t offset, uint64_t bytes) const {
    if (offset > bytes_.size() || bytes > bytes_.size() - offset)
      return {};
    return {reinterpret_cast<const T *>(bytes_.data() + offset), bytes / sizeof(T)};
  }
  std::span<const Elf64_Shdr> sections() const {
    const auto header = table<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr));
    if (header.empty() || memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
        header[0].e_shentsize != sizeof(Elf64_Shdr))
      return {};
    return table<Elf64_Shdr>(header[0].e_shoff, header[0].e_shnum * sizeof(Elf64_Shdr));
  }
  const char *sectionName(const Elf64_Shdr &section) const {
    const auto header = table<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr));
    const Elf64_Shdr &names = sections()[header[0].e_shstrndx];
    return bytes_.data() + names.sh_offset + section.sh_name;
  }
  const char *string(uint64_t offset) const { return bytes_.data() + offset; }

 private:
  std::span<const char> bytes_;
};

struct RuntimeFunction {
  std::string_view name;
  uint64_t offset; // from the executable's load address
};

/// Functions named cuda* and __cuda* that the executable itself defines, by address.
std::vector<RuntimeFunction> findRuntimeFunctions(const ExecutableFile &file) {
  std::vector<RuntimeFunction> found;
  const auto sections = file.sections();
  for (const Elf64_Shdr &section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size())
      continue;
    const uint64_t strings = sections[section.sh_link].sh_offset;
    for (const Elf64_Sym &symbol : file.table<Elf64_Sym>(section.sh_offset, section.sh_size)) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
        continue;
      const std::string_view name = file.string(strings + symbol.st_name);
      if (name.starts_with("cuda") || name.starts_with("__cuda"))
        found.push_back({name, symbol.st_value});
    }
  }
  std::ranges::sort(found, {}, &RuntimeFunction::offset);
  return found;
}

bool hasFatBinary(const ExecutableFile &file) {
  return std::ranges::any_of(file.sections(), [&](const Elf64_Shdr &section) {
    return strcmp(file.sectionName(section), ".nv_fatbin") == 0;
  });
}

bool needsSharedRuntime() {
  bool isNeeded = false;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        *static_cast<bool *>(data) |= strstr(info->dlpi_name, "libcudart.so") != nullptr;
        return 0;
      },
      &isNeeded);
  return isNeeded;
}

uint64_t loadAddress() {
  uint64_t address = 0;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        *static_cast<uint64_t *>(data) = info->dlpi_addr;
        return 1; // the executable comes first
      },
      &address);
  return address;
}

/// Our libcudart of the version that is inside the executable: 12 is told by a function that 13 no
/// longer has.
void *openRuntime(const std::vector<RuntimeFunction> &functions) {
  const bool is12 = std::ranges::any_of(functions, [](const RuntimeFunction &function) {
    return function.name == "cudaGetDeviceProperties_v2";
  });
  Dl_info self{};
  dladdr(reinterpret_cast<void *>(&openRuntime), &self);
  std::string path = self.dli_fname ? self.dli_fname : "";
  path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
  path += is12 ? "libcudart.so.12" : "libcudart.so.13";
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fprintf(stderr, "ptxrun: %s\n", dlerror());
  return library;
}

bool redirect(char *function, void *target) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(function) & ~(page - 1);
  const uintptr_t end = reinterpret_cast<uintptr_t>(function) + kJumpBytes;
  auto *start = reinterpret_cast<void *>(begin);
  if (mprotect(start, end - begin, PROT_READ | PROT_WRITE) != 0)
    return false;
  memcpy(function, kJump, sizeof kJump);
  memcpy(function + sizeof kJump, &target, sizeof target);
  return mprotect(start, end - begin, PROT_READ | PROT_EXEC) == 0;
}

__attribute__((constructor)) void replaceRuntime() {
  // Programs that this one starts are asked afresh by whoever starts them.
  const bool isVerbose = getenv("PTXRUN_VERBOSE") != nullptr;
  const ExecutableFile file;
  const std::vector<RuntimeFunction> functions = findRuntimeFunctions(file);
  if (functions.empty()) {
    if (hasFatBinary(file) && !needsSharedRuntime())
      fputs(kStrippedMessage, stderr);
    return;
  }
  void *runtime = openRuntime(functions);
  if (!runtime)
    return;
  size_t replaced = 0;
  for (size_t i = 0; i < functions.size(); ++i) {
    const std::string name(functions[i].name);
    void *target = dlsym(runtime, name.c_str());
    if (!target)
      continue;
    const bool hasRoom = i + 1 == functions.size() ||
                         functions[i + 1].offset - functions[i].offset >= kJumpBytes ||
                         functions[i + 1].offset == functions[i].offset;
    auto *function = reinterpret_cast<char *>(loadAddress() + functions[i].offset);
    if (hasRoom && redirect(function, target))
      ++replaced;
    else
      fprintf(stderr, "ptxrun: %s in the program cannot be replaced\n", name.c_str());
  }
  if (isVerbose)
    fprintf(stderr, "ptxrun: replaced %zu functions of the CUDA runtime\n", replaced);
}

} // namespace
