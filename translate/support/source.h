// Source text and places in it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ptxrun::support {

/// Byte offsets [begin, end) into a SourceFile's text.
struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// One PTX text and its name as diagnostics show it. Line starts are found once, on the first
/// question.
class SourceFile {
 public:
  SourceFile(std::string name, std::string text);
  const std::string &name() const { return name_; }
  std::string_view text() const { return text_; }

  struct Place {
    uint32_t line;   ///< from 1
    uint32_t column; ///< from 1, in bytes
  };
  /// Place of a byte offset; offsets past the end name the end. Not thread-safe on its first call.
  Place place(uint32_t offset) const;
  /// The text of a line (from 1) without its line end.
  std::string_view line(uint32_t number) const;

 private:
  void findLines() const;
  std::string name_;
  std::string text_;
  mutable std::vector<uint32_t> lineStarts_;
};

} // namespace ptxrun::support
