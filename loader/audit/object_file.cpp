#include "loader/audit/object_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace ptxrun::audit {

ObjectFile::ObjectFile(const char *path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return;
  struct stat info {};
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    const auto bytes = static_cast<size_t>(info.st_size);
    void *mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED)
      bytes_ = {static_cast<const std::byte *>(mapped), bytes};
  }
  close(file);
  image::ElfFile::read(bytes_, elf_);
}

ObjectFile::~ObjectFile() {
  if (!bytes_.empty())
    munmap(const_cast<std::byte *>(bytes_.data()), bytes_.size());
}

std::vector<ObjectFile::Function> ObjectFile::cudaFunctions() const {
  std::vector<Function> found;
  elf_.forEachSymbol(SHT_SYMTAB, [&](const image::ElfSymbol &symbol) {
    const bool isOfCuda = symbol.name.starts_with("cuda") || symbol.name.starts_with("__cuda");
    if (isOfCuda && symbol.type == STT_FUNC && symbol.section != SHN_UNDEF)
      found.push_back({symbol.name, symbol.value});
  });
  std::ranges::sort(found, {}, &Function::offset);
  return found;
}

bool ObjectFile::hasText(std::string_view text) const {
  const std::string whole = std::string(text) + '\0';
  constexpr uint64_t kKinds = SHF_ALLOC | SHF_EXECINSTR | SHF_WRITE;
  return std::ranges::any_of(elf_.sections(), [&](const image::ElfSection &section) {
    const std::string_view data(reinterpret_cast<const char *>(section.bytes.data()),
                                section.bytes.size());
    return section.type == SHT_PROGBITS && (section.flags & kKinds) == SHF_ALLOC &&
           data.find(whole) != data.npos;
  });
}

} // namespace ptxrun::audit
