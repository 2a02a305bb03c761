// Memory of a thread's own that one call fills and the next one fills again.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>

namespace ptxrun::matrix {

/// Floats in whole cache lines.
class Scratch {
 public:
  /// At least so many; what there was before is lost where it has to grow.
  float *atLeast(size_t floats) {
    constexpr size_t kLine = 64;
    if (size_ < floats) {
      size_ = floats;
      const size_t bytes = (floats * sizeof(float) + kLine - 1) / kLine * kLine;
      memory_.reset(static_cast<float *>(std::aligned_alloc(kLine, bytes)));
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(float *p) const { std::free(p); }
  };
  std::unique_ptr<float, Free> memory_;
  size_t size_ = 0;
};

} // namespace ptxrun::matrix
