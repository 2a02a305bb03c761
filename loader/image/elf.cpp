// Host ELF files with fat binaries inside: executables and objects that nvcc made.
#include "loader/image/elf_file.h"
#include "loader/image/layout.h"

namespace ptxrun::image {

namespace {

/// Fat binaries follow each other, 8-byte aligned, with zero padding between them. The last one may
/// be longer than what is there: listEntries says so.
void splitSection(std::span<const std::byte> bytes, bool isOfObject,
                  std::vector<EmbeddedFatBinary> &found) {
  while (bytes.size() >= fat_layout::kHeaderBytes) {
    if (readAs<uint32_t>(bytes, 0) != fat_layout::kMagic) {
      bytes = bytes.subspan(8);
      continue;
    }
    const uint64_t header = readAs<uint16_t>(bytes, fat_layout::kHeaderSizeOffset);
    const uint64_t body = readAs<uint64_t>(bytes, fat_layout::kBodySizeOffset);
    const bool isWhole = header >= fat_layout::kHeaderBytes && header <= bytes.size() &&
                         body <= bytes.size() - header;
    const size_t size = isWhole ? header + body : bytes.size();
    found.push_back({bytes.first(size), isOfObject});
    bytes = bytes.subspan(std::min<size_t>(bytes.size(), (size + 7) & ~size_t{7}));
  }
}

} // namespace

std::vector<EmbeddedFatBinary> findFatBinaries(const ElfFile &file) {
  std::vector<EmbeddedFatBinary> found;
  for (const ElfSection &section : file.sections())
    if (section.name == ".nv_fatbin" || section.name == "__nv_relfatbin")
      splitSection(section.bytes, section.name == "__nv_relfatbin", found);
  return found;
}

} // namespace ptxrun::image
