// Compiled kernels on disk, one file each, named by the hash of everything their bytes depend on.
//
// Any number of processes may share a directory, and any of them may be killed at any moment: an
// entry is written to a temporary file and renamed into place, and is believed only if it is a file
// of this user (or root) that nobody else may write, and the BLAKE3 digest over all of it holds. A
// damaged entry, a link, a pipe, a folder count as absent; the next store replaces what it can. The
// directory stays below its limit: storing sweeps it now and then (the larger the entry, the
// likelier), least recently used first; finding an entry marks it as used.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "translate/jit/jit.h"

namespace ptxrun::jit {

using CacheKey = std::array<uint8_t, 32>;

/// BLAKE3 over strings, each with its length, so that no two lists of parts run together.
class CacheKeyBuilder {
 public:
  CacheKeyBuilder();
  ~CacheKeyBuilder();
  CacheKeyBuilder &add(std::string_view part);
  CacheKeyBuilder &add(uint64_t number);
  CacheKey finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

inline constexpr uint64_t kDefaultCacheBytes = 512ull << 20;

class CodeCache {
 public:
  /// The directory is made when the first entry is stored.
  explicit CodeCache(std::string directory, uint64_t limitBytes = kDefaultCacheBytes);
  /// Never waits, and takes memory only for an entry whose header fits its file.
  std::optional<ObjectCode> find(const CacheKey &) const;
  /// Failing (a full disk, no permission) only means that the entry is not there next time.
  void store(const CacheKey &, const ObjectCode &) const;
  /// Deletes least recently used entries until at most `bytes` are left, and what killed processes
  /// left behind.
  void shrinkTo(uint64_t bytes) const;
  const std::string &directory() const { return directory_; }

 private:
  std::string pathOf(const CacheKey &) const;
  std::string directory_;
  uint64_t limitBytes_;
};

/// Where the cache lies: `wanted`, else $PTXRUN_CACHE, else $XDG_CACHE_HOME/ptxrun, else
/// ~/.cache/ptxrun; empty if PTXRUN_CACHE is `off` (or 0) or there is no such place.
std::string cacheDirectory(const std::string &wanted);

/// Whether there are entries in this directory (of whatever module or version).
bool hasEntries(const std::string &directory);

} // namespace ptxrun::jit
