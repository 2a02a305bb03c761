// An ELF file as it lies on disk: its symbol table says what the loader's tables no longer know.
#pragma once
#include <elf.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ptxrun::audit {

/// Mapped for the object's lifetime. What does not fit into the file reads as empty; a file that is
/// missing or no 64-bit ELF file has nothing in it.
class ElfFile {
 public:
  explicit ElfFile(const char *path);
  ~ElfFile();
  ElfFile(const ElfFile &) = delete;
  ElfFile &operator=(const ElfFile &) = delete;

  struct Function {
    std::string_view name; ///< lives as long as the file
    uint64_t offset;       ///< from the object's load address
  };
  /// Functions of the full symbol table that are defined here and whose name starts with `cuda` or
  /// `__cuda`, by address. None where the file was stripped.
  std::vector<Function> cudaFunctions() const;
  /// Whether the read-only data has this text, with its final NUL.
  bool hasText(std::string_view) const;

 private:
  template <class T> std::span<const T> table(uint64_t offset, uint64_t bytes) const;
  std::span<const Elf64_Shdr> sections() const;
  std::string_view textAt(const Elf64_Shdr &strings, uint64_t offset) const;

  std::span<const char> bytes_;
};

} // namespace ptxrun::audit
