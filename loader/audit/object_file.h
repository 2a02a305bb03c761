// An object's file as it lies on disk: its symbol table says what the loader's tables no longer
// know.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "loader/image/elf_file.h"

namespace ptxrun::audit {

/// Mapped for the object's lifetime. A file that is missing or no 64-bit ELF file has nothing in
/// it.
class ObjectFile {
 public:
  explicit ObjectFile(const char *path);
  ~ObjectFile();
  ObjectFile(const ObjectFile &) = delete;
  ObjectFile &operator=(const ObjectFile &) = delete;

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
  std::span<const std::byte> bytes_;
  image::ElfFile elf_;
};

} // namespace ptxrun::audit
