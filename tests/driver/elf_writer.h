// Writes small ELF files byte by byte: programs with fat binaries inside, and cubins.
#pragma once
#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

namespace ptxrun::tests {

class ElfWriter {
 public:
  ElfWriter(uint16_t type, uint16_t machine) : type_(type), machine_(machine) {
    add("", SHT_NULL, {});
  }

  /// The section's number.
  uint16_t add(const std::string &name, uint32_t type, const std::vector<char> &bytes,
               uint32_t link = 0) {
    sections_.push_back({name, type, link, bytes});
    return static_cast<uint16_t>(sections_.size() - 1);
  }
  /// A symbol of the section .symtab, which is made of all of them in the end.
  ElfWriter &symbol(const std::string &name, unsigned char type, unsigned char binding,
                    uint16_t section, unsigned char other = 0) {
    symbols_.push_back(
        {name, {0, static_cast<unsigned char>(binding << 4 | type), other, section, 0, 0}});
    return *this;
  }
  ElfWriter &needs(const std::string &library) {
    needed_.push_back(library);
    return *this;
  }
  ElfWriter &flags(uint32_t value, unsigned char abiVersion) {
    flags_ = value;
    abiVersion_ = abiVersion;
    return *this;
  }

  std::vector<char> bytes() {
    addSymbols();
    addNeeded();
    return layOut();
  }

 private:
  struct Section {
    std::string name;
    uint32_t type, link;
    std::vector<char> bytes;
  };
  struct Symbol {
    std::string name;
    Elf64_Sym entry;
  };

  template <class T> static void append(std::vector<char> &out, const T &value) {
    const auto *begin = reinterpret_cast<const char *>(&value);
    out.insert(out.end(), begin, begin + sizeof value);
  }
  static uint32_t appendString(std::vector<char> &out, const std::string &text) {
    const auto at = static_cast<uint32_t>(out.size());
    out.insert(out.end(), text.c_str(), text.c_str() + text.size() + 1);
    return at;
  }

  void addSymbols() {
    if (symbols_.empty())
      return;
    std::vector<char> strings(1), table;
    append(table, Elf64_Sym{});
    for (Symbol &symbol : symbols_) {
      symbol.entry.st_name = appendString(strings, symbol.name);
      append(table, symbol.entry);
    }
    const uint16_t stringSection = add(".strtab", SHT_STRTAB, strings);
    add(".symtab", SHT_SYMTAB, table, stringSection);
  }
  void addNeeded() {
    if (needed_.empty())
      return;
    std::vector<char> strings(1), table;
    for (const std::string &library : needed_) {
      Elf64_Dyn entry{};
      entry.d_tag = DT_NEEDED;
      entry.d_un.d_val = appendString(strings, library);
      append(table, entry);
    }
    append(table, Elf64_Dyn{});
    const uint16_t stringSection = add(".dynstr", SHT_STRTAB, strings);
    add(".dynamic", SHT_DYNAMIC, table, stringSection);
  }
  std::vector<char> layOut() {
    std::vector<char> names(1), headers, out(sizeof(Elf64_Ehdr));
    add(".shstrtab", SHT_STRTAB, {});
    std::vector<uint32_t> nameOffsets;
    for (const Section &section : sections_)
      nameOffsets.push_back(appendString(names, section.name));
    sections_.back().bytes = names;
    for (size_t i = 0; i < sections_.size(); ++i) {
      Section &section = sections_[i];
      out.resize((out.size() + 7) / 8 * 8);
      Elf64_Shdr header{};
      header.sh_name = nameOffsets[i];
      header.sh_type = section.type;
      header.sh_link = section.link;
      header.sh_offset = out.size();
      header.sh_size = section.bytes.size();
      append(headers, header);
      out.insert(out.end(), section.bytes.begin(), section.bytes.end());
    }
    out.resize((out.size() + 7) / 8 * 8);
    Elf64_Ehdr header{};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_ident[EI_ABIVERSION] = abiVersion_;
    header.e_type = type_;
    header.e_machine = machine_;
    header.e_flags = flags_;
    header.e_ehsize = sizeof header;
    header.e_shoff = out.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(sections_.size());
    header.e_shstrndx = static_cast<uint16_t>(sections_.size() - 1);
    memcpy(out.data(), &header, sizeof header);
    out.insert(out.end(), headers.begin(), headers.end());
    return out;
  }

  const uint16_t type_, machine_;
  uint32_t flags_ = 0;
  unsigned char abiVersion_ = 0;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
  std::vector<std::string> needed_;
};

} // namespace ptxrun::tests
