// What watchpoints look at while a launch runs.
#pragma once
#include <cstring>
#include <optional>
#include <string>

#include "loader/debug/machine.h"
#include "loader/debug/session.h"

namespace ptxrun::debug {

/// Memory that is looked at for writes: of all threads, or `.shared` memory of one block.
class WatchedMemory {
 public:
  WatchedMemory(uint64_t address, uint64_t bytes, std::optional<uint64_t> sharedOffset,
                uint64_t block)
      : address_(address), bytes_(bytes), sharedOffset_(sharedOffset), block_(block) {
    if (!sharedOffset_)
      contents_.assign(reinterpret_cast<const char *>(address_), bytes_);
  }

  void access(const Thread &thread, uint64_t address, uint32_t bytes, abi::AccessKind kind) {
    const bool isWrite = kind == abi::AccessKind::store || kind == abi::AccessKind::atomic;
    const uint64_t here = addressFor(thread);
    if (isWrite && here && address < here + bytes_ && address + bytes > here) {
      writer_ = thread.place;
      writtenAt_ = thread.last;
    }
  }
  /// Before an instruction: whether it was written since the last one.
  bool wasWritten(const Thread &thread) {
    changed = false;
    const bool isWritten = writtenAt_.has_value();
    const uint64_t here = addressFor(thread);
    if (here && contents_.empty()) { // the block begins
      contents_.assign(reinterpret_cast<const char *>(here), bytes_);
    } else if (here &&
               std::memcmp(reinterpret_cast<const char *>(here), contents_.data(), bytes_) != 0) {
      changed = true;
      before = contents_;
      contents_.assign(reinterpret_cast<const char *>(here), bytes_);
    }
    if (isWritten || changed) {
      time = writtenAt_.value_or(previous_);
      who = writtenAt_ ? writer_ : previousPlace_;
    }
    writtenAt_.reset();
    return isWritten || changed;
  }
  /// The instruction comes next; if memory changes, it was that one.
  void note(const Thread &thread, Time now) {
    previous_ = now;
    previousPlace_ = thread.place;
  }
  const std::string &contents() const { return contents_; }

  bool changed = false;
  std::string before;
  Time time = 0; ///< of the instruction that wrote
  GangPlace who;

 private:
  uint64_t addressFor(const Thread &thread) const {
    if (!sharedOffset_)
      return address_;
    return thread.place.block == block_ ? reinterpret_cast<uint64_t>(thread.window) + *sharedOffset_
                                        : 0;
  }

  const uint64_t address_, bytes_;
  const std::optional<uint64_t> sharedOffset_;
  const uint64_t block_;
  std::string contents_;
  std::optional<Time> writtenAt_;
  GangPlace writer_, previousPlace_;
  Time previous_ = 0;
};

/// A register of one call of one thread, or a variable that lies in registers. Outside that call it
/// has no value.
class WatchedRegister {
 public:
  WatchedRegister(Session &session, const RegisterPlace &where, const std::string &expression)
      : session_(session), where_(where), expression_(expression) {}

  /// Execution begins or goes on.
  void begin(const Machine &machine) {
    if (const Thread *thread = machine.living(where_.thread))
      now_ = valueIn(*thread);
  }
  GangPlace thread() const { return where_.thread; }

  /// Before an instruction of any thread: whether the one before gave it another value.
  bool hasChanged(const Thread &thread) {
    if (thread.place != where_.thread)
      return false;
    std::optional<std::string> value = valueIn(thread);
    if (!value)
      return false;
    const bool isOther = now_ && *now_ != *value;
    if (isOther)
      before_ = *now_;
    now_ = std::move(value);
    return isOther;
  }
  /// A call of a thread ends.
  void leave(const Thread &thread) {
    if (thread.place == where_.thread && thread.calls.size() == where_.call + 1)
      now_.reset();
  }
  const std::string &before() const { return before_; }
  const std::string &now() const { return *now_; }

 private:
  /// As print shows it; nothing where the call is not there, or the variable is nowhere just now.
  std::optional<std::string> valueIn(const Thread &thread) const {
    if (thread.calls.size() <= where_.call || thread.calls[where_.call].function != where_.function)
      return std::nullopt;
    try {
      Evaluator &evaluator = session_.module().evaluator;
      return evaluator.format(
          evaluator.evaluate(expression_, session_.viewOf(thread, where_.call)));
    } catch (const DebugError &) {
      return std::nullopt;
    }
  }

  Session &session_;
  const RegisterPlace where_;
  const std::string expression_;
  std::optional<std::string> now_;
  std::string before_;
};

} // namespace ptxrun::debug
