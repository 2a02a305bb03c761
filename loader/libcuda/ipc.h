// What processes of one host share: allocations that were made sharable in place, and the state of
// events.
#pragma once
#include <atomic>
#include <memory>

#include "loader/libcuda/shared_memory.h"
#include "loader/libcuda/stream.h"

namespace ptxrun::driver {

/// Forgets that an allocation was handed to other processes; they keep the memory.
void forgetExported(CUdeviceptr);
/// Unmaps memory of another process, however often it was opened; nothing for any other address.
void closeImported(CUdeviceptr);

/// How far an event's records have come, for every process that knows it. Records are numbered;
/// the last number given out is what a wait waits for.
class SharedEventState {
 public:
  /// Null where the system has no shared memory.
  static std::shared_ptr<SharedEventState> make();
  /// As another process's handle names it; null where that process is gone.
  static std::shared_ptr<SharedEventState> open(pid_t, int number);
  ~SharedEventState();
  SharedEventState(const SharedEventState &) = delete;
  SharedEventState &operator=(const SharedEventState &) = delete;

  uint64_t begin() { return words_->begun.fetch_add(1) + 1; }
  void end(uint64_t record);
  uint64_t last() const { return words_->begun; }
  bool isDone(uint64_t record) const { return words_->ended >= record; }
  /// Returns when the record is done, or the process ends.
  void wait(uint64_t record) const;
  int fileNumber() const { return file_.number(); }

 private:
  struct Words {
    std::atomic<uint64_t> begun, ended;
  };
  explicit SharedEventState(OwnedFile file) : file_(std::move(file)) {}
  bool map();
  OwnedFile file_;
  Words *words_ = nullptr;
};

/// Waits in a stream for a record that another process may have begun.
std::shared_ptr<Operation> makeSharedWait(std::shared_ptr<SharedEventState>, uint64_t record);

} // namespace ptxrun::driver
