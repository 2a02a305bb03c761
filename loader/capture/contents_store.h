// Large contents beside recordings, each once, in files named by their digest.
#pragma once
#include <array>
#include <string>
#include <string_view>

namespace ptxrun::capture {

using Digest = std::array<uint8_t, 32>; ///< BLAKE3

class ContentsStore {
 public:
  /// Nothing is made or read yet. Empty: none.
  explicit ContentsStore(std::string folder = {}) : folder_(std::move(folder)) {}
  bool exists() const { return !folder_.empty(); }

  /// Keeps the contents, unless they are there; false where that fails.
  bool keep(std::string_view contents, Digest &digest) const;
  /// Throws BadRecording where they are missing, or are not what the digest says.
  std::string find(const Digest &, uint64_t bytes) const;

 private:
  std::string pathOf(const Digest &) const;
  std::string folder_;
};

/// Where a recording's contents are: PTXRUN_INPUTS, or the recording's name with `.inputs` behind.
std::string contentsFolderOf(const std::string &recording);

} // namespace ptxrun::capture
