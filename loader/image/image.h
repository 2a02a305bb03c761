// Code images as programs hand them over: PTX text, fat binaries (bare, or behind nvcc's wrapper),
// cubins, host objects with fat binaries inside. What comes out is PTX text.
//
//   image        starts with                 answer
//   wrapper      0x466243B1                  the fat binary behind it; version 2: those of all
//   linked objects fat binary   0xBA55ED50                  the best PTX entry (chooseEntry),
//   decompressed cubin        "\x7FELF", machine 190      noBinaryForGpu: machine code for a GPU
//   host ELF     "\x7FELF"                   the fat binaries in its section .nv_fatbin (only where
//   the size is known) text         anything else               itself
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loader/device/outcome.h"

namespace ptxrun::image {

/// The compute capability that code is chosen for: 90 for 9.0, 120 for 12.0.
struct Target {
  unsigned architecture = 90;
};

/// PTX texts that make up one program. More than one: they are to be linked.
struct Image {
  std::vector<std::string> ptx;
  bool isText = false; ///< the image itself was text: a whole program, as somebody generated it
};

/// Reads an image of unknown length, as cuModuleLoadData gets it: its own headers (or the final
/// NUL) say where it ends. What they say is held against what is mapped: a broken image, or an
/// address that leads nowhere, is unsupportedImage.
device::Outcome readImage(const void *image, Target, Image &);
/// Reads an image that lies in `bytes`; nothing outside is touched, however broken it is.
device::Outcome readImage(std::span<const std::byte> bytes, Target, Image &);

enum class EntryKind : uint16_t { ptx = 1, cubin = 2, ltoIr = 8 };

/// One entry of a fat binary.
struct Entry {
  EntryKind kind = EntryKind::ptx;
  unsigned architecture = 0; ///< 90 for compute_90
  char suffix = 0;           ///< 'a' architecture-specific, 'f' family-specific, else 0
  unsigned versionMajor = 0, versionMinor = 0; ///< of the ISA, for PTX
  bool isLz4 = false, isZstd = false;
  std::span<const std::byte> payload; ///< as stored
  uint64_t uncompressedBytes = 0;     ///< 0 if not compressed
};

/// What is known of a range of bytes: that they are there, or only that a header says so.
enum class Extent { known, stated };

/// The entries of a fat binary that starts at `bytes`. Of a range that is only stated, headers are
/// read where they are readable; payloads are for the caller to look at (isReadable).
device::Outcome listEntries(std::span<const std::byte> bytes, std::vector<Entry> &,
                            Extent = Extent::known);
/// The entry to run: the greatest architecture at or below the target's; architecture-specific code
/// only on an exact match, family-specific code only within its family; failing that the nearest
/// general one above. Null if none fits.
const Entry *chooseEntry(const std::vector<Entry> &, Target);
/// The text of a PTX entry.
device::Outcome unpack(const Entry &, std::string &text);
/// What any entry holds, as long as it says it is. An entry that claims to unpack to more than 100
/// times its bytes (and more than 16 MiB) is refused before memory is taken for it.
device::Outcome unpackBytes(const Entry &, std::string &bytes);

/// A fat binary inside a file.
struct EmbeddedFatBinary {
  std::span<const std::byte> bytes;
  bool isOfObject = false; ///< one of those that make up a program together (nvcc -rdc=true)
};

class ElfFile;
/// A static library (.a), and what is in it.
bool isArchive(std::span<const std::byte>);
struct ArchiveMember {
  std::string_view name; ///< up to 15 characters of it; empty where it is longer
  std::span<const std::byte> bytes;
};
device::Outcome listMembers(std::span<const std::byte> archive, std::vector<ArchiveMember> &);

/// The fat binaries in the sections `.nv_fatbin` and `__nv_relfatbin` of a host ELF file, in order.
std::vector<EmbeddedFatBinary> findFatBinaries(const ElfFile &);

} // namespace ptxrun::image
