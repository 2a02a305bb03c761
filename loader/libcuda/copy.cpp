#include "loader/libcuda/copy.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "loader/capture/recorder.h"
#include "loader/device/summary.h"
#include "loader/libcuda/memory.h"
#include "rt/observe/trace.h"

namespace ptxrun::driver {

namespace {

/// Operations over more bytes than this are left to a worker where the call may return early.
constexpr size_t kLargeBytes = 256 << 10;

/// Memory of the device, as opposed to the host's, pinned or not. Arrays and variables of modules
/// are in no record.
bool isOnDevice(const void *address) {
  if (const auto record = findMemory(address))
    return record->use != MemoryUse::host && record->use != MemoryUse::registered;
  return device::findAllocation(address).has_value();
}

/// A transfer of the summary, from here to the end of the scope.
class CountedTransfer {
 public:
  CountedTransfer(const void *to, const void *from, size_t bytes) : bytes_(bytes) {
    using enum device::summary::Direction;
    if (!device::summary::isOn())
      return;
    const bool isToDevice = isOnDevice(to), isFromDevice = isOnDevice(from);
    direction_ = isToDevice ? (isFromDevice ? deviceToDevice : hostToDevice)
                            : (isFromDevice ? deviceToHost : hostToHost);
    watch_ = {};
  }
  explicit CountedTransfer(size_t filledBytes) : bytes_(filledBytes) {}
  ~CountedTransfer() {
    if (device::summary::isOn())
      device::summary::noteTransfer(direction_, bytes_, watch_.nanoseconds());
  }
  CountedTransfer(const CountedTransfer &) = delete;
  CountedTransfer &operator=(const CountedTransfer &) = delete;

 private:
  const size_t bytes_;
  device::summary::Direction direction_ = device::summary::Direction::fill;
  device::summary::Stopwatch watch_;
};

template <class T> void fillRow(char *row, T value, size_t count) {
  auto *elements = reinterpret_cast<T *>(row);
  std::fill(elements, elements + count, value);
}

/// Whether a byte can be read, asked of the kernel; yes where it will not say.
bool isMapped(const void *address) {
  char byte;
  const iovec local{&byte, 1}, remote{const_cast<void *>(address), 1};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1 || errno != EFAULT;
}

} // namespace

CUresult CopyOperation::run(Context &) {
  rt::trace::Scope traced("copy", "copy");
  traced.add("bytes", width_ * height_ * depth_);
  const CountedTransfer counted(to_.base, from_.base, width_ * height_ * depth_);
  capture::Recorder::Turn turn;
  const auto number = [](const char *address) { return reinterpret_cast<uint64_t>(address); };
  const capture::CopyEvent copy{
      number(to_.base), to_.pitch, to_.slice, number(from_.base), from_.pitch, from_.slice,
      width_,           height_,   depth_};
  if (!turn.copies(copy)) {
    copyRows();
    turn.copied(copy);
  }
  return CUDA_SUCCESS;
}

void CopyOperation::copyRows() const {
  if (height_ * depth_ == 1 || (depth_ == 1 && to_.pitch == width_ && from_.pitch == width_)) {
    memmove(to_.base, from_.base, width_ * height_);
    return;
  }
  for (size_t z = 0; z < depth_; ++z)
    for (size_t y = 0; y < height_; ++y)
      memmove(to_.base + z * to_.slice + y * to_.pitch,
              from_.base + z * from_.slice + y * from_.pitch, width_);
}

bool CopyOperation::isLarge() const { return width_ * height_ * depth_ > kLargeBytes; }

CUresult PiecesOperation::run(Context &) {
  rt::trace::Scope traced("copy", "copies");
  traced.add("pieces", pieces_.size());
  const Piece first = pieces_.empty() ? Piece{} : pieces_.front();
  const CountedTransfer counted(first.to, first.from, device::summary::isOn() ? totalBytes() : 0);
  capture::Recorder::Turn turn;
  for (const Piece &piece : pieces_) {
    const capture::CopyEvent copy{reinterpret_cast<uint64_t>(piece.to),
                                  piece.bytes,
                                  piece.bytes,
                                  reinterpret_cast<uint64_t>(piece.from),
                                  piece.bytes,
                                  piece.bytes,
                                  piece.bytes,
                                  1,
                                  1};
    if (turn.copies(copy))
      continue;
    memmove(piece.to, piece.from, piece.bytes);
    turn.copied(copy);
  }
  return CUDA_SUCCESS;
}

size_t PiecesOperation::totalBytes() const {
  size_t bytes = 0;
  for (const Piece &piece : pieces_)
    bytes += piece.bytes;
  return bytes;
}

bool PiecesOperation::isLarge() const { return totalBytes() > kLargeBytes; }

CUresult FillOperation::run(Context &) {
  rt::trace::Scope traced("copy", "fill");
  traced.add("bytes", width_ * height_ * elementBytes_);
  const CountedTransfer counted(width_ * height_ * elementBytes_);
  capture::Recorder::Turn turn;
  for (size_t y = 0; y < height_; ++y) {
    char *row = base_ + y * pitch_;
    switch (elementBytes_) {
    case 1:
      memset(row, static_cast<int>(value_), width_);
      break;
    case 2:
      fillRow(row, static_cast<uint16_t>(value_), width_);
      break;
    default:
      fillRow(row, static_cast<uint32_t>(value_), width_);
      break;
    }
  }
  turn.filled({reinterpret_cast<uint64_t>(base_), pitch_, value_, elementBytes_, width_, height_});
  return CUDA_SUCCESS;
}

bool FillOperation::isLarge() const { return width_ * height_ * elementBytes_ > kLargeBytes; }

CUresult perform(Context &context, Stream &stream, std::shared_ptr<Operation> operation,
                 Completion completion) {
  // With nothing queued anywhere in the context, every order is kept by doing it now.
  if (context.isIdle() && (completion == Completion::waits || !operation->isLarge()))
    return operation->run(context);
  const Ticket ticket = stream.submit(std::move(operation));
  if (completion == Completion::async)
    return CUDA_SUCCESS;
  stream.drive(ticket.sequence);
  return context.error();
}

bool isPinned(const void *address) { return findMemory(address).has_value(); }

bool isAccessible(const void *address, size_t bytes) {
  if (bytes == 0)
    return true;
  const auto *at = static_cast<const char *>(address);
  for (auto record = findMemory(at); record; record = findMemory(at)) {
    const size_t left = record->bytes - static_cast<size_t>(at - static_cast<char *>(record->base));
    if (bytes <= left)
      return true;
    if (record->use != MemoryUse::mapped) {
      // A module's variable lies in one piece with others.
      const auto piece = device::findAllocation(at);
      return piece && bytes <= piece->bytes -
                                   static_cast<size_t>(at - static_cast<const char *>(piece->base));
    }
    at += left; // mappings lie side by side
    bytes -= left;
  }
  if (at != address)
    return false;
  return isMapped(address) && isMapped(static_cast<const char *>(address) + bytes - 1);
}

} // namespace ptxrun::driver
