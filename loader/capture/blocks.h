// The file of a recording: a header and blocks, one behind the other. README.md has the format.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "loader/capture/codec.h"
#include "loader/capture/contents_store.h"

namespace ptxrun::capture {

inline constexpr char kMagic[8] = {'P', 'T', 'X', 'R', 'U', 'N', 'R', '\n'};
inline constexpr uint32_t kVersion = 1;

enum class BlockType : uint16_t {
  annotation = 1, ///< JSON: who recorded what, where
  module = 2,
  unload = 3,
  allocate = 4,
  free = 5,
  write = 6, ///< the host changed memory
  copy = 7,  ///< between memory that is recorded
  fill = 8,
  launch = 9,
  result = 10,
  checkpoint = 11,
  end = 12,
  image = 13, ///< a texture or surface was made, or bound anew
  drop = 14,  ///< it is gone
  again = 15, ///< the host wrote what it had written before
};
const char *nameOf(BlockType);
constexpr bool isKnown(BlockType type) {
  return type >= BlockType::annotation && type <= BlockType::again;
}
/// A reader that does not know a block's type may go on without it.
inline constexpr uint16_t kSkippable = 0x8000;

/// What precedes every block's bytes.
struct BlockHeader {
  uint16_t type = 0;
  uint16_t encoding = 0;    ///< 0: as it is; 1: zstd; 2: the end of it is kept elsewhere
  uint32_t stored = 0;      ///< bytes in the file
  uint32_t bytes = 0;       ///< decoded
  uint32_t check = 0;       ///< of what is stored
  uint32_t headerCheck = 0; ///< of the fields above
};
static_assert(sizeof(BlockHeader) == 20);

/// Appends blocks to a new file. Each is written by one system call, so that what was written stays
/// readable however the process ends: small ones at once, large ones (and what comes while they are
/// under way) by a thread of the writer's, since compressing takes longer than what is recorded.
class BlockWriter {
 public:
  ~BlockWriter();
  /// False and `problem` where the file cannot be made, or another process is writing to it
  /// (`isTaken`).
  bool open(const std::string &path, std::string &problem);
  bool isTaken() const { return isTaken_; }
  /// From now on, large contents go there.
  void keepContentsIn(ContentsStore store) { store_ = std::move(store); }
  /// False where the file could not be written (full); nothing is written after that. Contents of
  /// memory begin at `contentsAt`.
  bool write(BlockType, std::string payload, size_t contentsAt = std::string_view::npos);
  /// An empty string whose memory was that of a payload.
  std::string takeBuffer();
  /// All that was written is in the file, which is closed. False where it could not be written.
  bool close();

 private:
  /// What stands in the file for a payload.
  std::string_view pack(std::string_view payload, size_t contentsAt, uint16_t &encoding);

  struct Job {
    BlockType type{};
    std::string payload;
    size_t contentsAt = 0;
  };
  bool writeNow(const Job &);
  void performJobs();

  int file_ = -1;
  std::string packed_;
  std::mutex mutex_; ///< guards what follows
  std::condition_variable changed_;
  std::deque<Job> jobs_; ///< the first is being written
  size_t waitingBytes_ = 0;
  std::vector<std::string> buffers_;
  bool isClosing_ = false, hasFailed_ = false, isTaken_ = false;
  std::thread thread_; ///< started by the first large block
  ContentsStore store_;
};

/// One block of a file.
struct Block {
  BlockType type{};
  uint64_t offset = 0; ///< of its header in the file
  std::string payload;
};

/// Reads a file from its start. A file that ends within a block is cut there (`wasCut`): the rest
/// of a killed process.
class BlockReader {
 public:
  /// Throws BadRecording where the file is no recording, or of a newer version.
  explicit BlockReader(const std::string &path);
  ~BlockReader();
  /// False at the end. Throws BadRecording where a block's check fails.
  bool next(Block &);
  /// The same of the file's write block of that number, counted from 0; of those that next() came
  /// past. Throws BadRecording where there is none.
  void readWrite(uint64_t number, Block &);
  bool wasCut() const { return wasCut_; }
  uint64_t bytes() const { return bytes_; }

 private:
  void release();
  bool readAt(uint64_t &at, Block &);
  bool unpack(const BlockHeader &, const char *stored, std::string &payload) const;
  std::string path_;
  const char *data_ = nullptr;
  uint64_t bytes_ = 0, at_ = 0;
  std::vector<uint64_t> writes_; ///< offsets of the write blocks until here
  bool wasCut_ = false;
};

} // namespace ptxrun::capture
