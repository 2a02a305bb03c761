// Runs a recording again, without the program, and compares what every launch wrote.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "loader/capture/blocks.h"
#include "loader/capture/events.h"
#include "loader/capture/image_event.h"
#include "loader/capture/memory_table.h"

namespace ptxrun::capture {

/// Where the parts of a recording are. Reading it checks every block.
struct RecordingIndex {
  struct Launch {
    uint64_t number = 0, offset = 0, bytesWritten = 0;
    std::string kernel;
    std::optional<ResultEvent> result; ///< none: it had not ended
  };
  struct Checkpoint {
    uint64_t number = 0, offset = 0;
  };
  std::string annotation;
  std::vector<Launch> launches;
  std::vector<Checkpoint> checkpoints;
  std::map<BlockType, std::pair<uint64_t, uint64_t>>
      blocks;              ///< how many of each type, and their bytes in all
  bool isComplete = false; ///< the program ended
  uint64_t bytes = 0;
};
/// Throws BadRecording.
RecordingIndex readIndex(const std::string &path);

struct Substitution {
  std::string module; ///< its name in the recording, or its number
  std::string text, name;
};

struct ReplayOptions {
  std::string file;
  uint64_t from = 0, to = ~uint64_t{0};
  std::vector<Substitution> substitutions;
  std::string schedule; ///< empty: as recorded
  std::optional<abi::Dim3> grid, block;
  CodeOptions code; ///< `lanes` where the recording leaves W open
  int threads = 0;
  device::Tiers tiers = device::Tiers::tiered;
  const std::atomic<bool> *cancel = nullptr;
  unsigned repeat = 1; ///< launches in [from, to] run so often, from the same contents
  std::function<void(std::string_view)> printf; ///< of launches in [from, to]
  rt::ScheduleRecord *scheduleRecord = nullptr; ///< of launch `to`
};

/// How a launch came out.
struct LaunchReport {
  const LaunchEvent *event = nullptr;
  const ResultEvent *recorded = nullptr; ///< null: it had not ended
  device::Outcome outcome;
  bool isVerified = false;       ///< there was something to compare with
  std::string difference;        ///< empty: none
  std::optional<uint64_t> piece; ///< address of the first piece of memory that differs
  std::vector<double> milliseconds;
  unsigned lanes = 0;
};

/// One process can replay one recording: addresses are those of the recorded program.
class Replayer {
 public:
  explicit Replayer(const ReplayOptions &options) : options_(options) {}
  /// Textures and surfaces go with it.
  ~Replayer();
  Replayer(const Replayer &) = delete;
  Replayer &operator=(const Replayer &) = delete;
  /// Runs launches up to options.to; `report` is told of each in [from, to], `before` just before
  /// it runs. Throws BadRecording.
  void run(const std::function<void(const LaunchReport &)> &report,
           const std::function<void(const LaunchEvent &, device::Module &,
                                    const device::KernelInfo &)> &before = nullptr);

  const MemoryTable &memory() const { return memory_; }
  device::Module *module(uint64_t id) const;
  const std::string &textOf(uint64_t id) const { return texts_.at(id); }
  /// Substitutions for modules that the recording does not load, by the names they were given.
  std::vector<std::string> unusedSubstitutions() const;
  /// "1 (name), 2 (name)": of what was loaded.
  std::string moduleNames() const;
  /// A range of addresses that could not be had: another start of the process may have it.
  static inline bool wasAddressTaken = false;

 private:
  void apply(const Block &);
  void load(const ModuleEvent &);
  void place(uint64_t base, uint64_t bytes, bool isHostVisible);
  void put(const WriteEvent &);
  void copy(const CopyEvent &);
  void fill(const FillEvent &);
  void bind(const ImageEvent &);
  void restore(const CheckpointEvent &);
  Range &rangeOf(uint64_t address, uint64_t bytes);
  LaunchReport launch(const LaunchEvent &, const ResultEvent *);
  device::LaunchOptions optionsOf(const LaunchEvent &, bool isInRange);
  void compare(const ResultEvent &, const std::vector<Change> &, const std::string &printed,
               LaunchReport &);
  void saveMemory();
  void restoreMemory();

  const ReplayOptions options_;
  MemoryTable memory_;
  std::map<uint64_t, std::unique_ptr<device::Module>> modules_;
  std::map<uint64_t, std::string> texts_, names_; ///< of modules, by id; names as recorded
  std::set<std::string> substituted_;
  std::map<uint64_t, uint64_t> variables_;     ///< of modules, by id
  std::set<uint64_t> owned_;                   ///< ranges that modules own
  std::map<uint64_t, abi::ImageKind> objects_; ///< textures and surfaces that no module owns
  std::vector<std::string> saved_;
  std::function<void(const LaunchEvent &, device::Module &, const device::KernelInfo &)> before_;
};

} // namespace ptxrun::capture
