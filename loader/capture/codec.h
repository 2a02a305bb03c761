// Numbers and texts as bytes: little-endian base-128 numbers, texts with their length.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ptxrun::capture {

/// A recording that cannot be read: cut, changed, or from a newer version. `what` says where.
class BadRecording : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Encoder {
 public:
  void number(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  void fixed(uint64_t value) { raw(&value, sizeof value); }
  void text(std::string_view text) {
    number(text.size());
    bytes_.append(text);
  }
  void raw(const void *data, size_t bytes) {
    bytes_.append(static_cast<const char *>(data), bytes);
  }
  const std::string &bytes() const { return bytes_; }
  bool isEmpty() const { return bytes_.empty(); }
  void clear() { bytes_.clear(); }

 private:
  std::string bytes_;
};

/// Throws BadRecording where the bytes end too soon.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}
  uint64_t number() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<uint8_t>(raw(1)[0]);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80)
        return value;
    }
    throw BadRecording("a number is too long");
  }
  uint32_t number32() {
    const uint64_t value = number();
    if (value > UINT32_MAX)
      throw BadRecording("a number is too large");
    return static_cast<uint32_t>(value);
  }
  uint64_t fixed() {
    uint64_t value;
    std::memcpy(&value, raw(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(raw(number())); }
  std::string_view raw(uint64_t bytes) {
    if (bytes > rest_.size())
      throw BadRecording("a block ends too soon");
    const std::string_view found = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return found;
  }
  bool isAtEnd() const { return rest_.empty(); }
  size_t bytesLeft() const { return rest_.size(); }

 private:
  std::string_view rest_;
};

} // namespace ptxrun::capture
