// Writes what a program does on the device to a file that `ptxrun replay` runs again without it.
//
// One operation at a time: while a recording is made, launches, copies and fills take turns (Turn),
// so that there is one order of them. One that has to wait for seconds goes on at once, as it may
// be what the running one waits for; the recording then says that the two overlapped.
#pragma once
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <regex>
#include <string>
#include <unordered_map>

#include "loader/capture/blocks.h"
#include "loader/capture/common.h"
#include "loader/capture/events.h"
#include "loader/capture/image_event.h"
#include "loader/capture/memory_table.h"
#include "loader/capture/write_history.h"
#include "loader/device/observer.h"

namespace ptxrun::capture {

struct RecordOptions {
  std::string file;
  std::string kernel; ///< a (valid) regular expression that names must match; empty: all
  uint64_t first = 0, last = ~uint64_t{0}; ///< launches recorded, by their number from 0 on
  std::string trigger; ///< SIGUSR1, launch:N, kernel:REGEX: recording begins there; empty: at once
  uint64_t checkpointEvery = 0;  ///< launches; 0: as often as costs little
  bool keepsInputsApart = false; ///< large ones in a folder, by their digest (contentsFolderOf)
  std::string annotation; ///< JSON text, without braces: what the caller adds ("\"program\": ...")
};

/// "A-B", "A-", "-B" or "A"; false for anything else.
bool readLaunches(std::string_view text, RecordOptions &);
/// From PTXRUN_RECORD and PTXRUN_RECORD_KERNEL, _LAUNCHES, _TRIGGER, _CHECKPOINT, _INPUTS; false
/// where nothing is to be recorded.
/// `%p` in the file's name becomes the process's number. `problem` says what is wrong with them.
bool readRecordOptions(RecordOptions &, std::string &problem);

class Recorder final : public device::Observer {
 public:
  /// Begins, for the rest of the process; before the first allocation. What is wrong; empty:
  /// nothing.
  static std::string start(const RecordOptions &);
  /// Null where nothing is recorded.
  static Recorder *instance();
  /// The program ends: the file is complete.
  void finish();

  void moduleLoading() override;
  void moduleLoaded(const device::Module *, std::string_view text, void *variables) override;
  void moduleGone(const device::Module &) override;
  void allocated(void *base, size_t bytes) override;
  void freed(void *base) override;
  device::Outcome launch(device::Module &, const device::KernelInfo &,
                         const device::LaunchOptions &, const Run &) override;

  /// The host may write there without a call: managed memory, memory of the host.
  void noteHostVisible(const void *base);
  /// Every allocation, also those to come, is such memory.
  void noteAllHostVisible() { isAllHostVisible_ = true; }
  /// Host memory that kernels can use from now on, and until forgetHost.
  void noteHost(void *base, size_t bytes);
  void forgetHost(void *base);
  /// A texture or surface that kernels can use from now on, made or changed; and until forgetImage.
  void noteImage(const rt::ImageRecord &);
  void forgetImage(uint64_t handle);

  /// The turn of a copy or fill, taken around it; does nothing where nothing is recorded.
  class Turn {
   public:
    Turn();
    ~Turn();
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;
    /// Makes the copy if it is one that can be recorded on the way; false: it is the caller's to
    /// make, and to tell by copied().
    [[nodiscard]] bool copies(const CopyEvent &);
    /// What was done in the turn.
    void copied(const CopyEvent &);
    void filled(const FillEvent &);

   private:
    Recorder *const recorder_;
    bool isMine_ = false;
  };

 private:
  struct ModuleRecord {
    ModuleEvent event;
    bool isAnnounced = false;
    bool hasDoubles = false; ///< its text speaks of f64
  };

  explicit Recorder(const RecordOptions &options) : options_(options) {}
  bool openFile(std::string &problem);
  bool takeTurn();
  bool isWanted(const device::KernelInfo &, uint64_t number);
  void write(BlockType, std::string payload, size_t contentsAt = std::string::npos);
  void tellFull() const;
  bool isOwner() const;
  void announceAll();
  void announce(ModuleRecord &);
  void announce(const rt::ImageRecord &);
  void writeBlock(const std::vector<Span> &);
  void writeSpans(const std::vector<Span> &);
  void writePieces(const std::vector<Change> &);
  void recordChanges();
  void makeStale();
  const Range *recordedSource(const CopyEvent &);
  void writeRows(Range &, const CopyEvent &);
  std::vector<Change> lookAtResults(device::Module &, const device::KernelInfo &,
                                    const void *params);
  void maybeCheckpoint(uint64_t number);
  void writeAnnotation();

  RecordOptions options_; ///< whose file is the one that was opened
  const pid_t owner_ = getpid();
  std::regex kernel_, triggerKernel_;
  std::timed_mutex turns_;
  std::recursive_mutex state_; ///< guards what follows
  BlockWriter file_;
  WriteHistory history_; ///< of its write blocks
  MemoryTable memory_;
  std::unordered_map<const device::Module *, ModuleRecord> modules_;
  uint64_t nextModule_ = 1, launches_ = 0, sinceCheckpoint_ = 0;
  bool hasBegun_ = false, isTriggered_ = false, isAllHostVisible_ = false, isOver_ = false;
  std::atomic<bool> hasOverlapped_{false};
  std::chrono::steady_clock::time_point lastCheckpoint_;
};

} // namespace ptxrun::capture
