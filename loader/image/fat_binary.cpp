// Fat binaries: a header, then entries, each with a header of its own and a payload, possibly
// compressed.
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "loader/image/layout.h"
#include "loader/image/readable.h"

namespace ptxrun::image {

using device::Code;
using device::Outcome;

namespace {

constexpr size_t kShortestEntryHeader = 0x30;
constexpr uint64_t kLargestText = uint64_t{1} << 31;
/// Texts are compressed to a tenth, seldom to a fiftieth; what claims more is a few bytes that want
/// all memory.
constexpr uint64_t kLargestRatio = 100, kAlwaysAllowed = uint64_t{16} << 20;
constexpr size_t kLongestEntryHeader = entry_layout::kUncompressedBytes + 8; // what is read of it

Outcome broken(const char *what) {
  return Outcome::failed(Code::unsupportedImage, std::string("broken fat binary: ") + what);
}

Entry readEntry(std::span<const std::byte> header, std::span<const std::byte> payload) {
  Entry entry;
  entry.kind = static_cast<EntryKind>(readAs<uint16_t>(header, entry_layout::kKind));
  entry.architecture = readAs<uint32_t>(header, entry_layout::kArchitecture);
  const auto flags = readAs<uint64_t>(header, entry_layout::kFlags);
  entry.isLz4 = flags & entry_layout::kFlagLz4;
  entry.isZstd = flags & entry_layout::kFlagZstd;
  entry.suffix = flags & entry_layout::kFlagArchitectureSpecific ? 'a'
                 : flags & entry_layout::kFlagFamilySpecific     ? 'f'
                                                                 : 0;
  entry.versionMinor = readAs<uint16_t>(header, entry_layout::kVersionMinor);
  entry.versionMajor = readAs<uint16_t>(header, entry_layout::kVersionMajor);
  entry.payload = payload;
  if (entry.isLz4 || entry.isZstd) {
    const auto compressed = readAs<uint32_t>(header, entry_layout::kCompressedBytes);
    if (compressed != 0 && compressed <= payload.size())
      entry.payload = payload.first(compressed);
    if (header.size() >= entry_layout::kUncompressedBytes + 8)
      entry.uncompressedBytes = readAs<uint64_t>(header, entry_layout::kUncompressedBytes);
  }
  return entry;
}

Outcome unpackLz4(const Entry &entry, std::string &text) {
  text.resize(entry.uncompressedBytes);
  const int size =
      LZ4_decompress_safe(reinterpret_cast<const char *>(entry.payload.data()), text.data(),
                          static_cast<int>(entry.payload.size()), static_cast<int>(text.size()));
  if (size < 0)
    return broken("LZ4 data cannot be decompressed");
  text.resize(static_cast<size_t>(size));
  return {};
}

Outcome unpackZstd(const Entry &entry, std::string &text) {
  // The frame's own claim is held against the header's, before memory is taken for it.
  const auto claimed = ZSTD_getFrameContentSize(entry.payload.data(), entry.payload.size());
  if (claimed == ZSTD_CONTENTSIZE_ERROR ||
      (claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed > entry.uncompressedBytes))
    return broken("zstd data does not fit its header");
  text.resize(claimed == ZSTD_CONTENTSIZE_UNKNOWN ? entry.uncompressedBytes : claimed);
  const size_t size =
      ZSTD_decompress(text.data(), text.size(), entry.payload.data(), entry.payload.size());
  if (ZSTD_isError(size))
    return broken(ZSTD_getErrorName(size));
  text.resize(size);
  return {};
}

bool mayRun(const Entry &entry, Target target) {
  if (entry.kind != EntryKind::ptx)
    return false;
  if (entry.suffix == 'a')
    return entry.architecture == target.architecture;
  if (entry.suffix == 'f')
    return entry.architecture / 10 == target.architecture / 10 &&
           entry.architecture <= target.architecture;
  return true;
}

} // namespace

Outcome listEntries(std::span<const std::byte> bytes, std::vector<Entry> &entries, Extent extent) {
  if (bytes.size() < fat_layout::kHeaderBytes ||
      readAs<uint32_t>(bytes, fat_layout::kMagicOffset) != fat_layout::kMagic)
    return broken("no header");
  const size_t headerBytes = readAs<uint16_t>(bytes, fat_layout::kHeaderSizeOffset);
  const uint64_t bodyBytes = readAs<uint64_t>(bytes, fat_layout::kBodySizeOffset);
  if (headerBytes < fat_layout::kHeaderBytes || headerBytes > bytes.size() ||
      bodyBytes > bytes.size() - headerBytes)
    return broken("it is longer than the data");
  auto rest = bytes.subspan(headerBytes, bodyBytes);
  const auto isThere = [&](uint64_t count) {
    return extent == Extent::known || isReadable(rest.data(), count);
  };
  while (rest.size() >= kShortestEntryHeader) {
    if (!isThere(kShortestEntryHeader))
      return broken("it is longer than the memory it lies in");
    const uint64_t entryHeader = readAs<uint32_t>(rest, entry_layout::kHeaderBytes);
    const uint64_t payload = readAs<uint64_t>(rest, entry_layout::kPayloadBytes);
    if (entryHeader < kShortestEntryHeader || entryHeader > rest.size() ||
        payload > rest.size() - entryHeader)
      return broken("an entry is longer than the data");
    if (!isThere(std::min(entryHeader, uint64_t{kLongestEntryHeader})))
      return broken("it is longer than the memory it lies in");
    entries.push_back(readEntry(rest.first(entryHeader), rest.subspan(entryHeader, payload)));
    rest = rest.subspan(entryHeader + payload);
  }
  return {};
}

const Entry *chooseEntry(const std::vector<Entry> &entries, Target target) {
  const Entry *below = nullptr, *above = nullptr;
  for (const Entry &entry : entries) {
    if (!mayRun(entry, target))
      continue;
    if (entry.architecture <= target.architecture) {
      // Among equals the specific one: it was made for exactly this device.
      if (!below || entry.architecture > below->architecture ||
          (entry.architecture == below->architecture && entry.suffix && !below->suffix))
        below = &entry;
    } else if (!above || entry.architecture < above->architecture) {
      above = &entry;
    }
  }
  return below ? below : above;
}

Outcome unpackBytes(const Entry &entry, std::string &bytes) {
  if (entry.uncompressedBytes > kLargestText)
    return broken("an entry claims to be of more than 2 GiB");
  if (entry.uncompressedBytes > kAlwaysAllowed &&
      entry.uncompressedBytes / kLargestRatio > entry.payload.size())
    return broken("an entry claims to be more than 100 times as long as its compressed bytes");
  if (entry.isZstd)
    return unpackZstd(entry, bytes);
  if (entry.isLz4)
    return unpackLz4(entry, bytes);
  bytes.assign(reinterpret_cast<const char *>(entry.payload.data()), entry.payload.size());
  return {};
}

Outcome unpack(const Entry &entry, std::string &text) {
  Outcome outcome = unpackBytes(entry, text);
  text.resize(std::min(text.size(), text.find('\0')));
  return outcome;
}

} // namespace ptxrun::image
