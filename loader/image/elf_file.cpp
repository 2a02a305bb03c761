#include "loader/image/elf_file.h"

#include <elf.h>

#include <cstring>
#include <string>

#include "loader/image/layout.h"

namespace ptxrun::image {

using device::Code;
using device::Outcome;

namespace {

Outcome broken(std::string what) {
  return Outcome::failed(Code::unsupportedImage, "broken ELF file: " + std::move(what));
}

/// `count` bytes from `offset` on; nothing where they do not all lie in the file.
std::span<const std::byte> part(std::span<const std::byte> file, uint64_t offset, uint64_t count) {
  if (offset > file.size() || count > file.size() - offset)
    return {};
  return file.subspan(offset, count);
}

std::string_view nameAt(std::span<const std::byte> strings, uint64_t offset) {
  if (offset >= strings.size())
    return {};
  const auto *begin = reinterpret_cast<const char *>(strings.data()) + offset;
  return {begin, strnlen(begin, strings.size() - offset)};
}

/// How many sections there are and which has their names: large numbers stand in section 0.
struct SectionTable {
  uint64_t offset = 0, count = 0, names = 0;
};

SectionTable sectionTable(std::span<const std::byte> file, const Elf64_Ehdr &header) {
  SectionTable table{header.e_shoff, header.e_shnum, header.e_shstrndx};
  const auto first = readAs<Elf64_Shdr>(part(file, header.e_shoff, sizeof(Elf64_Shdr)), 0);
  if (header.e_shoff != 0 && header.e_shnum == 0)
    table.count = first.sh_size;
  if (header.e_shstrndx == SHN_XINDEX)
    table.names = first.sh_link;
  return table;
}

bool hasProgramHeader(std::span<const std::byte> file, const Elf64_Ehdr &header, uint32_t type) {
  for (size_t i = 0; i < header.e_phnum; ++i) {
    const auto one = part(file, header.e_phoff + i * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
    if (!one.empty() && readAs<Elf64_Phdr>(one, 0).p_type == type)
      return true;
  }
  return false;
}

} // namespace

bool isElf(std::span<const std::byte> bytes) {
  return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

Outcome ElfFile::read(std::span<const std::byte> bytes, ElfFile &file) {
  if (!isElf(bytes))
    return broken("it does not begin as one");
  if (bytes.size() < sizeof(Elf64_Ehdr))
    return broken("it ends within its header");
  const auto header = readAs<Elf64_Ehdr>(bytes, 0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return Outcome::failed(
        Code::unsupportedImage,
        "the ELF file is not one of 64 bits, little endian: no such programs run here");
  file.type_ = header.e_type;
  file.machine_ = header.e_machine;
  file.hasInterpreter_ = hasProgramHeader(bytes, header, PT_INTERP);
  const SectionTable table = sectionTable(bytes, header);
  if (table.count == 0)
    return {};
  if (header.e_shentsize != sizeof(Elf64_Shdr))
    return broken("its sections are described in a way that is not known");
  if (table.count > bytes.size() / sizeof(Elf64_Shdr) ||
      part(bytes, table.offset, table.count * sizeof(Elf64_Shdr)).empty())
    return broken("it is " + std::to_string(bytes.size()) + " bytes, but its table of " +
                  std::to_string(table.count) + " sections is to begin at byte " +
                  std::to_string(table.offset) + "; was it cut short?");
  const auto headerAt = [&](uint64_t i) {
    return readAs<Elf64_Shdr>(bytes.subspan(table.offset + i * sizeof(Elf64_Shdr)), 0);
  };
  const auto contentsOf = [&](const Elf64_Shdr &section) {
    return section.sh_type == SHT_NOBITS ? std::span<const std::byte>()
                                         : part(bytes, section.sh_offset, section.sh_size);
  };
  const auto names = table.names < table.count ? contentsOf(headerAt(table.names)) : bytes.first(0);
  for (uint64_t i = 0; i < table.count; ++i) {
    const Elf64_Shdr section = headerAt(i);
    file.sections_.push_back({nameAt(names, section.sh_name), section.sh_type, section.sh_link,
                              section.sh_flags, contentsOf(section)});
  }
  return {};
}

std::span<const std::byte> ElfFile::stringsOf(const ElfSection &section) const {
  return section.link < sections_.size() ? sections_[section.link].bytes
                                         : std::span<const std::byte>();
}

void ElfFile::forEachSymbol(uint32_t tableType,
                            const std::function<void(const ElfSymbol &)> &visit) const {
  for (const ElfSection &section : sections_) {
    if (section.type != tableType)
      continue;
    const auto strings = stringsOf(section);
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= section.bytes.size(); at += sizeof(Elf64_Sym)) {
      const auto symbol = readAs<Elf64_Sym>(section.bytes, at);
      visit({nameAt(strings, symbol.st_name), symbol.st_info & 0xfu, unsigned{symbol.st_info} >> 4,
             symbol.st_other, symbol.st_shndx, symbol.st_value});
    }
  }
}

std::vector<ElfSymbol> ElfFile::symbols(uint32_t tableType) const {
  std::vector<ElfSymbol> found;
  forEachSymbol(tableType, [&](const ElfSymbol &symbol) { found.push_back(symbol); });
  return found;
}

std::vector<std::string_view> ElfFile::needed() const {
  std::vector<std::string_view> names;
  for (const ElfSection &section : sections_) {
    if (section.type != SHT_DYNAMIC)
      continue;
    const auto strings = stringsOf(section);
    for (size_t at = 0; at + sizeof(Elf64_Dyn) <= section.bytes.size(); at += sizeof(Elf64_Dyn)) {
      const auto entry = readAs<Elf64_Dyn>(section.bytes, at);
      if (entry.d_tag == DT_NULL)
        break;
      if (const std::string_view name = nameAt(strings, entry.d_un.d_val);
          entry.d_tag == DT_NEEDED && !name.empty())
        names.push_back(name);
    }
  }
  return names;
}

} // namespace ptxrun::image
