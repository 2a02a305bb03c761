// Events: a place in a stream, and the time when the stream got there.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>

#include "loader/libcuda/context.h"

namespace ptxrun::driver {

class SharedEventState;

class Event : public Object, public std::enable_shared_from_this<Event> {
 public:
  static constexpr Kind kKind = Kind::event;
  Event(Context &context, unsigned flags) : Object(kKind), context(context), flags(flags) {}

  Context &context;
  const unsigned flags;
  /// Of events between processes; else null.
  std::shared_ptr<SharedEventState> shared;
  bool hasTiming() const { return !(flags & CU_EVENT_DISABLE_TIMING); }

  /// Appends a record of this event to the stream; earlier records are forgotten, waits for them
  /// stay.
  void record(Stream &);
  /// The same in two steps, for an operation that the caller hands to a stream: until endRecord the
  /// event is what it was.
  struct Pending;
  Pending beginRecord();
  void endRecord(const Pending &, Ticket);

  /// Where capturing streams stood when it was last recorded in one; null if it was recorded
  /// otherwise since.
  std::shared_ptr<StreamCapture> captured() const;
  void setCaptured(std::shared_ptr<StreamCapture>);
  /// Whether the last record is done, wherever it was made.
  bool isReached() const;
  /// Returns when it is.
  void synchronise() const;
  /// Makes the stream wait for it.
  void delay(const std::shared_ptr<Stream> &) const;
  /// The place of the last record; an empty ticket if there was none.
  Ticket place() const;
  bool isRecorded() const { return place().stream != nullptr; }
  /// When the last record was reached, in ns of a steady clock. Meaningful once its ticket is done.
  int64_t time() const;

 private:
  struct Record {
    Ticket ticket;
    std::atomic<int64_t> time{0};
  };
  class RecordOperation;
  mutable std::mutex mutex_;
  std::shared_ptr<Record> last_;
  std::shared_ptr<StreamCapture> captured_;
};

struct Event::Pending {
  std::shared_ptr<Record> record;
  std::shared_ptr<Operation> operation;
};

} // namespace ptxrun::driver
