#include "loader/capture/blocks.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "loader/capture/hash.h"

namespace ptxrun::capture {

namespace {

constexpr uint64_t kHeaderBytes = 16;
constexpr uint32_t kMostBytes = uint32_t{1} << 30;
/// Smaller blocks are not worth compressing.
constexpr size_t kWorthPacking = 256;
/// zstd's fastest levels are negative.
constexpr int kLevel = -3;

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

} // namespace

const char *nameOf(BlockType type) {
  static constexpr const char *names[] = {"",       "annotation", "module", "unload", "allocate",
                                          "free",   "write",      "copy",   "fill",   "launch",
                                          "result", "checkpoint", "end"};
  const auto number = static_cast<size_t>(type);
  return number < std::size(names) ? names[number] : "unknown";
}

BlockWriter::~BlockWriter() { close(); }

void BlockWriter::close() {
  if (file_ >= 0)
    ::close(file_);
  file_ = -1;
}

bool BlockWriter::open(const std::string &path, std::string &problem) {
  file_ = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  char header[kHeaderBytes] = {};
  std::memcpy(header, kMagic, sizeof kMagic);
  std::memcpy(header + 8, &kVersion, sizeof kVersion);
  iovec part{header, sizeof header};
  if (file_ >= 0 && writeAll(file_, &part, 1)) {
    bytes_ = kHeaderBytes;
    return true;
  }
  problem = path + ": " + std::strerror(errno);
  close();
  return false;
}

bool BlockWriter::write(BlockType type, std::string_view payload) {
  if (file_ < 0 || payload.size() > kMostBytes)
    return false;
  BlockHeader header;
  header.type = static_cast<uint16_t>(type);
  header.bytes = header.stored = static_cast<uint32_t>(payload.size());
  const char *stored = payload.data();
  if (payload.size() >= kWorthPacking) {
    packed_.resize(ZSTD_compressBound(payload.size()));
    const size_t size =
        ZSTD_compress(packed_.data(), packed_.size(), payload.data(), payload.size(), kLevel);
    if (!ZSTD_isError(size) && size < payload.size()) {
      header.encoding = 1;
      header.stored = static_cast<uint32_t>(size);
      stored = packed_.data();
    }
  }
  header.check = fold(hashBytes(stored, header.stored));
  header.headerCheck = headerCheckOf(header);
  iovec parts[] = {{&header, sizeof header}, {const_cast<char *>(stored), header.stored}};
  if (!writeAll(file_, parts, 2)) {
    close();
    return false;
  }
  bytes_ += sizeof header + header.stored;
  return true;
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

bool BlockReader::next(Block &block) {
  for (;;) {
    const auto fail = [&](const std::string &what) {
      throw BadRecording(path_ + ": the block at byte " + std::to_string(at_) + " " + what);
    };
    BlockHeader header;
    if (at_ >= bytes_)
      return false;
    if (bytes_ - at_ < sizeof header) {
      wasCut_ = true;
      return false;
    }
    std::memcpy(&header, data_ + at_, sizeof header);
    if (headerCheckOf(header) != header.headerCheck || header.bytes > kMostBytes)
      fail("is damaged (the checksum of its header does not match)");
    if (bytes_ - at_ - sizeof header < header.stored) {
      wasCut_ = true;
      return false;
    }
    const char *stored = data_ + at_ + sizeof header;
    if (header.encoding > 1 || fold(hashBytes(stored, header.stored)) != header.check)
      fail("is damaged (its checksum does not match)");
    block.offset = at_;
    block.type = static_cast<BlockType>(header.type & ~kSkippable);
    block.payload.resize(header.bytes);
    if (header.encoding == 0 && header.bytes == header.stored)
      std::memcpy(block.payload.data(), stored, header.bytes);
    else if (header.encoding == 0 || ZSTD_decompress(block.payload.data(), header.bytes, stored,
                                                     header.stored) != header.bytes)
      fail("is damaged (it cannot be decompressed)");
    if (!isKnown(block.type) && !(header.type & kSkippable))
      fail("has type " + std::to_string(header.type) + ", which this ptxrun does not know");
    at_ += sizeof header + header.stored;
    if (isKnown(block.type))
      return true;
  }
}

} // namespace ptxrun::capture
