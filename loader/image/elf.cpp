// Host ELF files with fat binaries inside: executables and objects that nvcc made.
#include <elf.h>

#include <string_view>

#include "loader/image/layout.h"

namespace ptxrun::image {

namespace {

std::span<const std::byte> sectionBytes(std::span<const std::byte> elf, const Elf64_Shdr &section) {
  if (section.sh_type == SHT_NOBITS || section.sh_offset > elf.size() ||
      section.sh_size > elf.size() - section.sh_offset)
    return {};
  return elf.subspan(section.sh_offset, section.sh_size);
}

std::string_view nameAt(std::span<const std::byte> strings, size_t offset) {
  if (offset >= strings.size())
    return {};
  const auto *begin = reinterpret_cast<const char *>(strings.data()) + offset;
  const size_t room = strings.size() - offset;
  return {begin, strnlen(begin, room)};
}

/// Fat binaries follow each other, 8-byte aligned, with zero padding between them.
void splitSection(std::span<const std::byte> bytes,
                  std::vector<std::span<const std::byte>> &found) {
  while (bytes.size() >= fat_layout::kHeaderBytes) {
    if (readAs<uint32_t>(bytes, 0) != fat_layout::kMagic) {
      bytes = bytes.subspan(8);
      continue;
    }
    const uint64_t size = readAs<uint16_t>(bytes, fat_layout::kHeaderSizeOffset) +
                          readAs<uint64_t>(bytes, fat_layout::kBodySizeOffset);
    if (size < fat_layout::kHeaderBytes || size > bytes.size())
      return;
    found.push_back(bytes.first(size));
    bytes = bytes.subspan(std::min<size_t>(bytes.size(), (size + 7) & ~uint64_t{7}));
  }
}

} // namespace

std::vector<std::span<const std::byte>> findFatBinaries(std::span<const std::byte> elf) {
  std::vector<std::span<const std::byte>> found;
  const auto header = readAs<Elf64_Ehdr>(elf, 0);
  const auto sectionAt = [&](size_t index) {
    return readAs<Elf64_Shdr>(elf, header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff >= elf.size())
    return found;
  const auto strings = sectionBytes(elf, sectionAt(header.e_shstrndx));
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr section = sectionAt(i);
    const std::string_view name = nameAt(strings, section.sh_name);
    if (name == ".nv_fatbin" || name == "__nv_relfatbin")
      splitSection(sectionBytes(elf, section), found);
  }
  return found;
}

} // namespace ptxrun::image
