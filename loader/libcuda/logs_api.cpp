// The driver's log: what it keeps, and the functions that read it.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include "loader/libcuda/api.h"
#include "loader/libcuda/log.h"
#include "rt/launch/floating_environment.h"

namespace ptxrun::driver {

namespace {

constexpr size_t kMostBytes = 25600;

/// "[15:30:00.759][<thread>][CUDA][E] message".
std::string toLine(const std::string &message) {
  timespec now{};
  tm local{};
  clock_gettime(CLOCK_REALTIME, &now);
  localtime_r(&now.tv_sec, &local);
  char head[64];
  snprintf(head, sizeof head, "[%02d:%02d:%02d.%03ld][%d][CUDA][E] ", local.tm_hour, local.tm_min,
           local.tm_sec, now.tv_nsec / 1'000'000, gettid());
  return head + message + "\n";
}

} // namespace

Log &Log::instance() {
  static auto *log = new Log;
  return *log;
}

void Log::add(const std::string &message) {
  std::vector<Callback> callbacks; // called without the lock: they may use the log
  {
    std::lock_guard lock(mutex_);
    lines_.push_back(toLine(message));
    bytes_ += lines_.back().size();
    for (; bytes_ > kMostBytes && lines_.size() > 1; ++first_) {
      bytes_ -= lines_.front().size();
      lines_.pop_front();
    }
    for (const auto &[handle, callback] : callbacks_)
      callbacks.push_back(callback);
  }
  std::string text = message;
  rt::ProgramEnvironment environment;
  for (const Callback &callback : callbacks)
    callback.function(callback.data, CU_LOG_LEVEL_ERROR, text.data(), text.size());
}

CUlogsCallbackHandle Log::registerCallback(CUlogsCallback function, void *data) {
  std::lock_guard lock(mutex_);
  callbacks_[nextCallback_] = {function, data};
  return reinterpret_cast<CUlogsCallbackHandle>(nextCallback_++);
}

bool Log::unregisterCallback(CUlogsCallbackHandle handle) {
  std::lock_guard lock(mutex_);
  return callbacks_.erase(reinterpret_cast<uintptr_t>(handle)) == 1;
}

unsigned Log::end() const {
  std::lock_guard lock(mutex_);
  return first_ + static_cast<unsigned>(lines_.size());
}

Log::Lines Log::from(unsigned first) const {
  std::lock_guard lock(mutex_);
  Lines found;
  found.end = first_ + static_cast<unsigned>(lines_.size());
  found.isTruncated = first < first_;
  for (unsigned number = std::max(first, first_); number < found.end; ++number)
    found.lines.push_back(lines_[number - first_]);
  return found;
}

} // namespace ptxrun::driver

using namespace ptxrun::driver;

namespace {

constexpr char kIsTruncated[] = "Older messages were overwritten and are missing\n";
constexpr char kIsTooSmall[] =
    "The provided buffer is not large enough to hold all messages. Some messages will be missing\n";

/// The newest lines that fit into so many bytes, behind a line that says that others are missing;
/// empty if not even one does.
std::string newest(const Log::Lines &log, size_t bytes) {
  std::string text;
  const size_t room = bytes - std::min(bytes, sizeof kIsTooSmall - 1);
  for (auto line = log.lines.rbegin(); line != log.lines.rend(); ++line) {
    if (text.size() + line->size() > room)
      break;
    text.insert(0, *line);
  }
  return text.empty() ? text : kIsTooSmall + text;
}

std::string whole(const Log::Lines &log) {
  std::string text = log.isTruncated && !log.lines.empty() ? kIsTruncated : "";
  for (const std::string &line : log.lines)
    text += line;
  return text;
}

} // namespace

PTXRUN_API CUresult cuLogsRegisterCallback(CUlogsCallback function, void *data,
                                           CUlogsCallbackHandle *handle) {
  if (!function)
    return CUDA_ERROR_INVALID_VALUE;
  const CUlogsCallbackHandle made = Log::instance().registerCallback(function, data);
  if (handle)
    *handle = made;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  return Log::instance().unregisterCallback(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

PTXRUN_API CUresult cuLogsCurrent(CUlogIterator *end, unsigned flags) {
  if (!end || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  *end = Log::instance().end();
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuLogsDumpToFile(CUlogIterator *from, const char *path, unsigned flags) {
  if (!path || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  FILE *file = fopen(path, "w");
  if (!file)
    return CUDA_ERROR_INVALID_VALUE;
  const Log::Lines log = Log::instance().from(from ? *from : 0);
  const std::string text = whole(log);
  const bool isWritten = fwrite(text.data(), 1, text.size(), file) == text.size();
  if (fclose(file) != 0 || !isWritten)
    return CUDA_ERROR_OPERATING_SYSTEM;
  if (from)
    *from = log.end;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuLogsDumpToMemory(CUlogIterator *from, char *buffer, size_t *bytes,
                                       unsigned flags) {
  if (!buffer || !bytes || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const Log::Lines log = Log::instance().from(from ? *from : 0);
  const size_t room = *bytes;
  std::string text = whole(log);
  if (text.size() >= room && room != 0) // and the null at the end
    text = newest(log, room - 1);
  *bytes = 0;
  if (room == 0 || (text.empty() && !log.lines.empty()))
    return CUDA_ERROR_INVALID_VALUE;
  memcpy(buffer, text.c_str(), text.size() + 1);
  *bytes = text.size();
  if (from)
    *from = log.end;
  return CUDA_SUCCESS;
}
