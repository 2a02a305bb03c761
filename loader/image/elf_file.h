// ELF files of 64 bits, read from bytes that may be broken: executables, shared objects and
// objects of the host, and cubins. Every offset and length is held against the file.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "loader/device/outcome.h"

namespace ptxrun::image {

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;                ///< SHT_PROGBITS, ...
  uint32_t link = 0;                ///< the section of its strings
  uint64_t flags = 0;               ///< SHF_ALLOC, ...
  std::span<const std::byte> bytes; ///< empty where it has none in the file, or lies outside of it
};

struct ElfSymbol {
  std::string_view name;
  unsigned type = 0, binding = 0; ///< STT_FUNC, STB_GLOBAL, ...
  uint8_t other = 0;
  uint16_t section = 0; ///< SHN_UNDEF: defined elsewhere
  uint64_t value = 0;   ///< of what is loaded, the address counted from the object's own
};

/// Refers to the bytes it was read from.
class ElfFile {
 public:
  /// unsupportedImage where the bytes are no ELF file of 64 bits, or its table of sections lies
  /// outside of them (a file that was cut short).
  static device::Outcome read(std::span<const std::byte>, ElfFile &);

  uint16_t type() const { return type_; }       ///< ET_EXEC, ET_DYN, ET_REL
  uint16_t machine() const { return machine_; } ///< EM_X86_64, kMachineCuda
  bool hasInterpreter() const { return hasInterpreter_; }
  std::span<const ElfSection> sections() const { return sections_; }
  /// The symbols of all tables of a type: SHT_SYMTAB or SHT_DYNSYM.
  std::vector<ElfSymbol> symbols(uint32_t tableType) const;
  void forEachSymbol(uint32_t tableType, const std::function<void(const ElfSymbol &)> &) const;
  /// The names of the shared objects that must be loaded with it (DT_NEEDED).
  std::vector<std::string_view> needed() const;

  static constexpr uint16_t kMachineCuda = 190; ///< EM_CUDA

 private:
  std::span<const std::byte> stringsOf(const ElfSection &) const;

  uint16_t type_ = 0, machine_ = 0;
  bool hasInterpreter_ = false;
  std::vector<ElfSection> sections_;
};

/// True for bytes that begin as any ELF file does.
bool isElf(std::span<const std::byte>);

} // namespace ptxrun::image
