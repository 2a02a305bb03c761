// Where things stand in fat binaries and their wrappers, and reading them from unaligned bytes.
#pragma once
#include <cstring>

#include "loader/image/image.h"

namespace ptxrun::image {

namespace wrapper_layout {
inline constexpr uint32_t kMagic = 0x466243B1;
inline constexpr size_t kVersion = 4, kData = 8, kSecond = 16, kBytes = 24;
/// The second pointer leads to a null-terminated array of the fat binaries of the single objects.
inline constexpr uint32_t kVersionLinked = 2;
} // namespace wrapper_layout

namespace fat_layout {
inline constexpr uint32_t kMagic = 0xBA55ED50;
inline constexpr size_t kMagicOffset = 0, kHeaderSizeOffset = 6, kBodySizeOffset = 8;
inline constexpr size_t kHeaderBytes = 16;
} // namespace fat_layout

namespace entry_layout {
inline constexpr size_t kKind = 0x00, kHeaderBytes = 0x04, kPayloadBytes = 0x08;
inline constexpr size_t kCompressedBytes = 0x10, kArchitecture = 0x1C, kFlags = 0x28;
inline constexpr size_t kVersionMinor = 0x18, kVersionMajor = 0x1A;
inline constexpr size_t kUncompressedBytes = 0x38;
inline constexpr uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;
inline constexpr uint64_t kFlagArchitectureSpecific = 0x100000, kFlagFamilySpecific = 0x200000;
} // namespace entry_layout

template <class T> T readAs(std::span<const std::byte> bytes, size_t offset) {
  T value{};
  if (offset + sizeof(T) <= bytes.size())
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

} // namespace ptxrun::image
