#include "loader/capture/blocks.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "loader/capture/hash.h"
#include "rt/launch/own_thread.h"

namespace ptxrun::capture {

namespace {

constexpr uint64_t kHeaderBytes = 16;
constexpr uint32_t kMostBytes = uint32_t{1} << 30;
/// Smaller blocks are not worth compressing.
constexpr size_t kWorthPacking = 256;
/// zstd's fastest levels are negative.
constexpr int kLevel = -3;
/// A part of contents, from the middle, that tells whether compressing is worth while.
constexpr size_t kSample = 1 << 15;
constexpr double kWorthSaving = 0.95;
/// Blocks from here on are left to the thread, which is this far behind at most.
constexpr size_t kWorthWaiting = 1 << 18, kMostWaiting = size_t{1} << 28;
constexpr size_t kMostBuffers = 32;
/// Smaller contents are not worth a file of their own.
constexpr size_t kWorthKeepingApart = 1 << 16;
enum Encoding : uint16_t { asItIs, zstd, keptApart };

uint32_t fold(uint64_t hash) { return static_cast<uint32_t>(hash ^ hash >> 32); }

uint32_t headerCheckOf(const BlockHeader &header) {
  return fold(hashBytes(&header, offsetof(BlockHeader, headerCheck)));
}

bool writeAll(int file, iovec *parts, int count) {
  while (count > 0) {
    const ssize_t wrote = writev(file, parts, count);
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote <= 0)
      return false;
    auto left = static_cast<size_t>(wrote);
    for (; count > 0 && left >= parts->iov_len; ++parts, --count)
      left -= parts->iov_len;
    if (count > 0) {
      parts->iov_base = static_cast<char *>(parts->iov_base) + left;
      parts->iov_len -= left;
    }
  }
  return true;
}

bool isRegular(int file) {
  struct stat info {};
  return fstat(file, &info) == 0 && S_ISREG(info.st_mode);
}

/// Takes the file for this process, until it is closed; true where another one has it. Where files
/// cannot be locked, nobody has.
bool isLockedByOthers(int file) {
  return isRegular(file) && flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

bool isEmptied(int file) { return !isRegular(file) || ftruncate(file, 0) == 0; }

} // namespace

const char *nameOf(BlockType type) {
  static constexpr const char *names[] = {
      "",     "annotation", "module", "unload",     "allocate", "free",  "write", "copy",
      "fill", "launch",     "result", "checkpoint", "end",      "image", "drop",  "again"};
  const auto number = static_cast<size_t>(type);
  return number < std::size(names) ? names[number] : "unknown";
}

BlockWriter::~BlockWriter() { close(); }

bool BlockWriter::close() {
  {
    std::lock_guard lock(mutex_);
    isClosing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
  if (file_ >= 0)
    ::close(file_);
  file_ = -1;
  return !hasFailed_;
}

bool BlockWriter::open(const std::string &path, std::string &problem) {
  file_ = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
  isTaken_ = file_ >= 0 && isLockedByOthers(file_);
  if (isTaken_) {
    ::close(file_);
    file_ = -1;
    problem = path + ": another process records to it";
    return false;
  }
  char header[kHeaderBytes] = {};
  std::memcpy(header, kMagic, sizeof kMagic);
  std::memcpy(header + 8, &kVersion, sizeof kVersion);
  iovec part{header, sizeof header};
  if (file_ >= 0 && isEmptied(file_) && writeAll(file_, &part, 1))
    return true;
  problem = path + ": " + std::strerror(errno);
  close();
  return false;
}

std::string_view BlockWriter::pack(std::string_view payload, size_t contentsAt,
                                   uint16_t &encoding) {
  encoding = asItIs;
  const std::string_view contents = payload.substr(std::min(contentsAt, payload.size()));
  if (Digest digest;
      store_.exists() && contents.size() >= kWorthKeepingApart && store_.keep(contents, digest)) {
    encoding = keptApart;
    packed_.assign(digest.begin(), digest.end());
    packed_ += payload.substr(0, contentsAt);
    return packed_;
  }
  if (payload.size() < kWorthPacking)
    return payload;
  packed_.resize(ZSTD_compressBound(payload.size()));
  if (payload.size() >= 8 * kSample) {
    const size_t sample = ZSTD_compress(packed_.data(), packed_.size(),
                                        payload.data() + payload.size() / 2, kSample, kLevel);
    if (ZSTD_isError(sample) || static_cast<double>(sample) > kSample * kWorthSaving)
      return payload;
  }
  const size_t size =
      ZSTD_compress(packed_.data(), packed_.size(), payload.data(), payload.size(), kLevel);
  if (ZSTD_isError(size) || size >= payload.size())
    return payload;
  encoding = zstd;
  return std::string_view(packed_).substr(0, size);
}

bool BlockWriter::writeNow(const Job &job) {
  BlockHeader header;
  const std::string_view stored = pack(job.payload, job.contentsAt, header.encoding);
  header.type = static_cast<uint16_t>(job.type);
  header.bytes = static_cast<uint32_t>(job.payload.size());
  header.stored = static_cast<uint32_t>(stored.size());
  header.check = fold(hashBytes(stored.data(), header.stored));
  header.headerCheck = headerCheckOf(header);
  iovec parts[] = {{&header, sizeof header}, {const_cast<char *>(stored.data()), header.stored}};
  return writeAll(file_, parts, 2);
}

bool BlockWriter::write(BlockType type, std::string payload, size_t contentsAt) {
  std::unique_lock lock(mutex_);
  if (file_ < 0 || hasFailed_ || isClosing_ || payload.size() > kMostBytes)
    return false;
  const size_t bytes = payload.size();
  if (jobs_.empty() && bytes < kWorthWaiting) {
    hasFailed_ = !writeNow({type, std::move(payload), contentsAt});
    return !hasFailed_;
  }
  changed_.wait(lock, [&] { return jobs_.empty() || waitingBytes_ + bytes <= kMostWaiting; });
  waitingBytes_ += bytes;
  jobs_.push_back({type, std::move(payload), contentsAt});
  if (!thread_.joinable())
    thread_ = std::thread([this] { performJobs(); });
  lock.unlock();
  changed_.notify_all();
  return true;
}

void BlockWriter::performJobs() {
  rt::becomeOwnThread();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !jobs_.empty() || isClosing_; });
    if (jobs_.empty())
      return;
    Job &job = jobs_.front(); // stays there, so that nobody overtakes it
    const bool isLost = hasFailed_;
    lock.unlock();
    const bool isWritten = !isLost && writeNow(job);
    lock.lock();
    hasFailed_ |= !isWritten;
    waitingBytes_ -= job.payload.size();
    if (buffers_.size() < kMostBuffers && job.payload.size() >= kWorthWaiting)
      buffers_.push_back(std::move(job.payload));
    jobs_.pop_front();
    changed_.notify_all();
  }
}

std::string BlockWriter::takeBuffer() {
  std::lock_guard lock(mutex_);
  if (buffers_.empty())
    return {};
  std::string buffer = std::move(buffers_.back());
  buffers_.pop_back();
  buffer.clear();
  return buffer;
}

BlockReader::BlockReader(const std::string &path) : path_(path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (file < 0 || fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    const std::string reason = file < 0 ? std::strerror(errno) : "not a file";
    if (file >= 0)
      ::close(file);
    throw BadRecording(path + ": " + reason);
  }
  bytes_ = static_cast<uint64_t>(info.st_size);
  if (bytes_ >= kHeaderBytes) {
    void *mapped = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
    data_ = mapped == MAP_FAILED ? nullptr : static_cast<const char *>(mapped);
  }
  ::close(file);
  if (!data_ || std::memcmp(data_, kMagic, sizeof kMagic) != 0) {
    release();
    throw BadRecording(path + ": this is no recording of ptxrun");
  }
  uint32_t version;
  std::memcpy(&version, data_ + 8, sizeof version);
  if (version != kVersion) {
    release();
    throw BadRecording(path + ": the recording has version " + std::to_string(version) +
                       "; this ptxrun reads version " + std::to_string(kVersion));
  }
  at_ = kHeaderBytes;
}

BlockReader::~BlockReader() { release(); }

void BlockReader::release() {
  if (data_)
    munmap(const_cast<char *>(data_), bytes_);
  data_ = nullptr;
}

/// False where what is stored is no payload of that size.
bool BlockReader::unpack(const BlockHeader &header, const char *stored,
                         std::string &payload) const {
  payload.resize(header.bytes);
  switch (header.encoding) {
  case asItIs:
    if (header.bytes != header.stored)
      return false;
    std::memcpy(payload.data(), stored, header.bytes);
    return true;
  case zstd:
    return ZSTD_decompress(payload.data(), header.bytes, stored, header.stored) == header.bytes;
  case keptApart: {
    Digest digest;
    const size_t start = header.stored - digest.size(); // what is here of it
    if (header.stored < digest.size() || start > header.bytes)
      return false;
    std::memcpy(digest.data(), stored, digest.size());
    const std::string contents =
        ContentsStore(contentsFolderOf(path_)).find(digest, header.bytes - start);
    std::memcpy(payload.data(), stored + digest.size(), start);
    std::memcpy(payload.data() + start, contents.data(), contents.size());
    return true;
  }
  }
  return false;
}

bool BlockReader::next(Block &block) {
  do
    if (!readAt(at_, block))
      return false;
  while (!isKnown(block.type));
  if (block.type == BlockType::write)
    writes_.push_back(block.offset);
  return true;
}

void BlockReader::readWrite(uint64_t number, Block &block) {
  if (number >= writes_.size())
    throw BadRecording(path_ + ": the block at byte " + std::to_string(block.offset) +
                       " speaks of contents that are not in the file");
  uint64_t at = writes_[number];
  readAt(at, block);
}

/// The block at `at`, which becomes the end of it; false where the file ends before.
bool BlockReader::readAt(uint64_t &at, Block &block) {
  const auto fail = [&](const std::string &what) {
    throw BadRecording(path_ + ": the block at byte " + std::to_string(at) + " " + what);
  };
  BlockHeader header;
  if (at >= bytes_)
    return false;
  if (bytes_ - at < sizeof header) {
    wasCut_ = true;
    return false;
  }
  std::memcpy(&header, data_ + at, sizeof header);
  if (headerCheckOf(header) != header.headerCheck || header.bytes > kMostBytes)
    fail("is damaged (the checksum of its header does not match)");
  if (bytes_ - at - sizeof header < header.stored) {
    wasCut_ = true;
    return false;
  }
  const char *stored = data_ + at + sizeof header;
  if (fold(hashBytes(stored, header.stored)) != header.check)
    fail("is damaged (its checksum does not match)");
  block.offset = at;
  block.type = static_cast<BlockType>(header.type & ~kSkippable);
  if (!unpack(header, stored, block.payload))
    fail("is damaged (it cannot be decoded)");
  if (!isKnown(block.type) && !(header.type & kSkippable))
    fail("has type " + std::to_string(header.type) + ", which this ptxrun does not know");
  at += sizeof header + header.stored;
  return true;
}

} // namespace ptxrun::capture
