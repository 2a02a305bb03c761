#include "loader/audit/elf_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace ptxrun::audit {

ElfFile::ElfFile(const char *path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return;
  struct stat info {};
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    const auto bytes = static_cast<size_t>(info.st_size);
    void *mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED)
      bytes_ = {static_cast<const char *>(mapped), bytes};
  }
  close(file);
}

ElfFile::~ElfFile() {
  if (!bytes_.empty())
    munmap(const_cast<char *>(bytes_.data()), bytes_.size());
}

template <class T> std::span<const T> ElfFile::table(uint64_t offset, uint64_t bytes) const {
  if (offset > bytes_.size() || bytes > bytes_.size() - offset || offset % alignof(T) != 0)
    return {};
  return {reinterpret_cast<const T *>(bytes_.data() + offset), bytes / sizeof(T)};
}

std::span<const Elf64_Shdr> ElfFile::sections() const {
  const auto header = table<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr));
  if (header.empty() || memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      header[0].e_ident[EI_CLASS] != ELFCLASS64 || header[0].e_shentsize != sizeof(Elf64_Shdr))
    return {};
  return table<Elf64_Shdr>(header[0].e_shoff, header[0].e_shnum * sizeof(Elf64_Shdr));
}

std::string_view ElfFile::textAt(const Elf64_Shdr &strings, uint64_t offset) const {
  const auto all = table<char>(strings.sh_offset, strings.sh_size);
  if (offset >= all.size())
    return {};
  return {all.data() + offset, strnlen(all.data() + offset, all.size() - offset)};
}

std::vector<ElfFile::Function> ElfFile::cudaFunctions() const {
  std::vector<Function> found;
  const auto all = sections();
  for (const Elf64_Shdr &section : all) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= all.size())
      continue;
    for (const Elf64_Sym &symbol : table<Elf64_Sym>(section.sh_offset, section.sh_size)) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
        continue;
      const std::string_view name = textAt(all[section.sh_link], symbol.st_name);
      if (name.starts_with("cuda") || name.starts_with("__cuda"))
        found.push_back({name, symbol.st_value});
    }
  }
  std::ranges::sort(found, {}, &Function::offset);
  return found;
}

bool ElfFile::hasText(std::string_view text) const {
  return std::ranges::any_of(sections(), [&](const Elf64_Shdr &section) {
    if (section.sh_type != SHT_PROGBITS ||
        (section.sh_flags & (SHF_ALLOC | SHF_EXECINSTR | SHF_WRITE)) != SHF_ALLOC)
      return false;
    const auto bytes = table<char>(section.sh_offset, section.sh_size);
    const std::string_view data(bytes.data(), bytes.size());
    for (size_t at = data.find(text); at != data.npos; at = data.find(text, at + 1))
      if (at + text.size() < data.size() && data[at + text.size()] == 0)
        return true;
    return false;
  });
}

} // namespace ptxrun::audit
