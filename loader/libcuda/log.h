// The driver's log, as programs can read it (cuLogsDumpToMemory): what it had to say about calls
// and kernels that failed, whether stderr heard of it or not.
#pragma once
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "loader/libcuda/cuda_logs_api.h"

namespace ptxrun::driver {

/// Safe from any thread. Never destroyed.
class Log {
 public:
  static Log &instance();
  /// Remembers the message and hands it to every callback, on the calling thread.
  void add(const std::string &message);

  CUlogsCallbackHandle registerCallback(CUlogsCallback, void *data);
  /// False for a handle that is registered no more.
  bool unregisterCallback(CUlogsCallbackHandle);
  /// The number that the next entry will have.
  unsigned end() const;

  struct Lines {
    std::deque<std::string> lines; ///< each with time, thread and level, and its line feed
    bool isTruncated = false;      ///< older ones are gone
    unsigned end = 0;
  };
  /// The entries from number `first` on.
  Lines from(unsigned first) const;

 private:
  struct Callback {
    CUlogsCallback function;
    void *data;
  };
  mutable std::mutex mutex_;
  std::deque<std::string> lines_;
  size_t bytes_ = 0;
  unsigned first_ = 0; ///< the number of lines_[0]
  std::map<uintptr_t, Callback> callbacks_;
  uintptr_t nextCallback_ = 1;
};

} // namespace ptxrun::driver
