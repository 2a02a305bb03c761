// Writes fat binaries byte by byte, from the documented layout.
#pragma once
#include <lz4.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace ptxrun::tests {

enum Compression { kPlain, kLz4, kZstd };
inline constexpr uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000, kFlagA = 0x100000,
                          kFlagF = 0x200000;

template <class T> void put(std::vector<char> &out, size_t at, T value) {
  memcpy(out.data() + at, &value, sizeof value);
}

inline std::string compress(const std::string &text, Compression how) {
  if (how == kPlain)
    return text;
  const bool isLz4 = how == kLz4;
  std::string out(isLz4 ? static_cast<size_t>(LZ4_compressBound(static_cast<int>(text.size())))
                        : ZSTD_compressBound(text.size()),
                  '\0');
  const size_t bytes = isLz4
                           ? static_cast<size_t>(LZ4_compress_default(text.data(), out.data(),
                                                                      static_cast<int>(text.size()),
                                                                      static_cast<int>(out.size())))
                           : ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  out.resize(bytes);
  return out;
}

class FatBinary {
 public:
  FatBinary() {
    bytes_.resize(16);
    put<uint32_t>(bytes_, 0, 0xBA55ED50);
    put<uint16_t>(bytes_, 4, 1);
    put<uint16_t>(bytes_, 6, 16);
  }
  FatBinary &add(uint16_t kind, uint32_t architecture, const std::string &text,
                 Compression how = kPlain, uint64_t flags = 0) {
    const std::string payload = compress(text, how);
    const size_t padded = (payload.size() + 7) / 8 * 8, at = bytes_.size();
    bytes_.resize(at + 64 + padded);
    put<uint16_t>(bytes_, at, kind);
    put<uint32_t>(bytes_, at + 4, 64);
    put<uint64_t>(bytes_, at + 8, padded);
    put<uint32_t>(bytes_, at + 0x10, how == kPlain ? 0 : static_cast<uint32_t>(payload.size()));
    put<uint16_t>(bytes_, at + 0x1A, 8); // of the ISA: 8.0, as the texts of the tests have it
    put<uint32_t>(bytes_, at + 0x1C, architecture);
    put<uint64_t>(bytes_, at + 0x28,
                  flags |
                      (how == kLz4    ? kFlagLz4
                       : how == kZstd ? kFlagZstd
                                      : 0) |
                      0x11);
    put<uint64_t>(bytes_, at + 0x38, how == kPlain ? 0 : text.size());
    memcpy(bytes_.data() + at + 64, payload.data(), payload.size());
    put<uint64_t>(bytes_, 8, bytes_.size() - 16);
    return *this;
  }
  const std::vector<char> &bytes() const { return bytes_; }
  const void *data() const { return bytes_.data(); }

 private:
  std::vector<char> bytes_;
};

struct Wrapper {
  uint32_t magic = 0x466243B1, version = 1;
  const void *data = nullptr;
  const void *second = nullptr;
};

} // namespace ptxrun::tests
