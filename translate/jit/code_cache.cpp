#include "translate/jit/code_cache.h"

#include <fcntl.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/BLAKE3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <vector>

namespace ptxrun::jit {

namespace fs = std::filesystem;

namespace {

constexpr char kMagic[8] = {'p', 't', 'x', 'r', 'u', 'n', 'K', '2'};
constexpr const char *kEntrySuffix = ".kernel";
constexpr const char *kTemporaryPrefix = "tmp-";
constexpr auto kTouchInterval =
    std::chrono::hours(1); // finding an entry marks it at most this often
constexpr auto kTemporaryLifetime =
    std::chrono::hours(1); // older ones belong to a process that died

using Digest = std::array<uint8_t, 32>;

/// Followed by kernel name, reason and object, in this order. All numbers little-endian, as the CPU
/// has them.
struct Header {
  char magic[8];
  Digest digest; ///< BLAKE3 of everything after this field: what follows is run
  CacheKey key;
  abi::KernelNeeds needs;
  simt::EntryPoint entry;
  uint32_t reserved;
  uint64_t nameBytes, reasonBytes, elfBytes;
};
static_assert(std::is_trivially_copyable_v<Header>);
constexpr size_t kDigestedFrom = offsetof(Header, key);

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  explicit operator bool() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

bool readAll(int descriptor, char *to, size_t bytes) {
  while (bytes != 0) {
    const ssize_t got = ::read(descriptor, to, bytes);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    to += got;
    bytes -= size_t(got);
  }
  return true;
}

bool writeAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return false;
    bytes.remove_prefix(size_t(put));
  }
  return true;
}

Digest digestOf(std::string_view entry) {
  llvm::BLAKE3 hasher;
  hasher.update(llvm::StringRef(entry.data(), entry.size()).drop_front(kDigestedFrom));
  return hasher.final();
}

std::string encode(const CacheKey &key, const ObjectCode &code) {
  Header header;
  std::memset(static_cast<void *>(&header), 0, sizeof header); // padding is digested too
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.key = key;
  header.needs = code.needs;
  header.entry = code.entry;
  header.nameBytes = code.kernel.size();
  header.reasonBytes = code.reason.size();
  header.elfBytes = code.elf.size();
  std::string entry(reinterpret_cast<const char *>(&header), sizeof header);
  entry += code.kernel;
  entry += code.reason;
  entry += code.elf;
  const Digest digest = digestOf(entry);
  std::memcpy(entry.data() + offsetof(Header, digest), &digest, sizeof digest);
  return entry;
}

/// Whether a header belongs to this key and to a file of so many bytes. Asked before memory is
/// taken for the rest.
bool isHeaderOf(const Header &header, const CacheKey &key, uint64_t fileBytes) {
  const uint64_t rest = fileBytes - sizeof header;
  return std::memcmp(header.magic, kMagic, sizeof kMagic) == 0 && header.key == key &&
         header.nameBytes <= rest && header.reasonBytes <= rest - header.nameBytes &&
         header.elfBytes == rest - header.nameBytes - header.reasonBytes;
}

/// Of an entry whose header belongs to it.
std::optional<ObjectCode> decode(const Header &header, std::string_view entry) {
  if (header.digest != digestOf(entry))
    return std::nullopt;
  ObjectCode code;
  size_t at = sizeof header;
  const auto take = [&](uint64_t bytes) {
    const std::string_view part = entry.substr(at, bytes);
    at += bytes;
    return std::string(part);
  };
  code.kernel = take(header.nameBytes);
  code.reason = take(header.reasonBytes);
  code.elf = take(header.elfBytes);
  code.needs = header.needs;
  code.entry = header.entry;
  return code;
}

/// Code from a file that somebody else may have written is not run.
bool isTrusted(const struct stat &status) {
  return S_ISREG(status.st_mode) && (status.st_uid == ::geteuid() || status.st_uid == 0) &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

void markUsed(int descriptor, const struct stat &status) {
  using std::chrono::system_clock;
  if (system_clock::now() - system_clock::from_time_t(status.st_mtime) < kTouchInterval)
    return;
  ::futimens(descriptor, nullptr);
}

double randomFraction() {
  thread_local std::minstd_rand generator(std::random_device{}());
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

std::string temporaryName() {
  static std::atomic<uint32_t> counter = 0;
  return kTemporaryPrefix + std::to_string(::getpid()) + "-" + std::to_string(counter++) + "-" +
         std::to_string(std::random_device{}());
}

} // namespace

struct CacheKeyBuilder::State {
  llvm::BLAKE3 hasher;
};

CacheKeyBuilder::CacheKeyBuilder() : state_(std::make_unique<State>()) {}
CacheKeyBuilder::~CacheKeyBuilder() = default;

CacheKeyBuilder &CacheKeyBuilder::add(std::string_view part) {
  add(uint64_t(part.size()));
  state_->hasher.update(llvm::StringRef(part.data(), part.size()));
  return *this;
}

CacheKeyBuilder &CacheKeyBuilder::add(uint64_t number) {
  uint8_t bytes[8];
  std::memcpy(bytes, &number, 8);
  state_->hasher.update(llvm::ArrayRef<uint8_t>(bytes, 8));
  return *this;
}

CacheKey CacheKeyBuilder::finish() { return state_->hasher.final(); }

CodeCache::CodeCache(std::string directory, uint64_t limitBytes)
    : directory_(std::move(directory)), limitBytes_(limitBytes) {}

std::string CodeCache::pathOf(const CacheKey &key) const {
  return directory_ + "/" + llvm::toHex(key, /*LowerCase=*/true) + kEntrySuffix;
}

std::optional<ObjectCode> CodeCache::find(const CacheKey &key) const {
  // Whatever has the entry's name (a pipe, a link, a device) is neither waited for nor followed.
  const File file(
      ::open(pathOf(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat status;
  if (!file || ::fstat(file.descriptor(), &status) != 0 || !isTrusted(status))
    return std::nullopt;
  const auto bytes = uint64_t(status.st_size);
  Header header;
  if (bytes < sizeof header || bytes > limitBytes_ ||
      !readAll(file.descriptor(), reinterpret_cast<char *>(&header), sizeof header) ||
      !isHeaderOf(header, key, bytes))
    return std::nullopt;
  std::string entry(bytes, '\0');
  std::memcpy(entry.data(), static_cast<const void *>(&header), sizeof header);
  if (!readAll(file.descriptor(), entry.data() + sizeof header, bytes - sizeof header))
    return std::nullopt;
  std::optional<ObjectCode> code = decode(header, entry);
  if (code)
    markUsed(file.descriptor(), status);
  return code;
}

void CodeCache::store(const CacheKey &key, const ObjectCode &code) const {
  std::error_code ignored;
  if (fs::create_directories(directory_, ignored))
    fs::permissions(directory_, fs::perms::owner_all, ignored);
  const std::string entry = encode(key, code);
  const std::string temporary = directory_ + "/" + temporaryName();
  bool isWritten = false;
  {
    const File file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file)
      return;
    isWritten = writeAll(file.descriptor(), entry);
  }
  if (!isWritten || ::rename(temporary.c_str(), pathOf(key).c_str()) != 0) {
    ::unlink(temporary.c_str());
    return;
  }
  // One sweep per 1/64 of the limit written, down to 3/4: the limit is passed with a chance of
  // e^-16.
  if (randomFraction() * double(limitBytes_) < 64.0 * double(entry.size()))
    shrinkTo(limitBytes_ / 4 * 3);
}

void CodeCache::shrinkTo(uint64_t bytes) const {
  struct Entry {
    fs::file_time_type used;
    uint64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator it(directory_, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code gone; // another process may sweep at the same time
    const std::string name = it->path().filename().string();
    const auto used = it->last_write_time(gone);
    if (gone)
      continue;
    if (name.starts_with(kTemporaryPrefix)) {
      if (now - used > kTemporaryLifetime)
        fs::remove(it->path(), gone);
      continue;
    }
    if (!name.ends_with(kEntrySuffix))
      continue;
    if (it->symlink_status(gone).type() != fs::file_type::regular)
      continue;
    const uint64_t size = it->file_size(gone);
    if (gone)
      continue;
    if (size > limitBytes_) { // none of ours, and would take the place of all of them
      fs::remove(it->path(), gone);
      continue;
    }
    entries.push_back({used, size, it->path()});
    total += size;
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return a.used < b.used; });
  for (const Entry &entry : entries) {
    if (total <= bytes)
      return;
    fs::remove(entry.path, error);
    total -= entry.bytes;
  }
}

std::string cacheDirectory(const std::string &wanted) {
  if (!wanted.empty())
    return wanted;
  const auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  const std::string chosen = variable("PTXRUN_CACHE");
  if (chosen == "off" || chosen == "0")
    return "";
  if (!chosen.empty())
    return chosen;
  if (const std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty())
    return xdg + "/ptxrun";
  if (const std::string home = variable("HOME"); !home.empty())
    return home + "/.cache/ptxrun";
  return "";
}

bool hasEntries(const std::string &directory) {
  std::error_code none;
  return !directory.empty() && fs::directory_iterator(directory, none) != fs::directory_iterator();
}

} // namespace ptxrun::jit
