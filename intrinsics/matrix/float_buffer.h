// Memory for floats that one call fills and the next one fills again.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace ptxrun::matrix {

/// Floats in whole cache lines, which are what was there before.
class FloatBuffer {
 public:
  FloatBuffer() = default;
  FloatBuffer(const FloatBuffer &other) { *this = other; }
  FloatBuffer(FloatBuffer &&other) noexcept
      : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  FloatBuffer &operator=(FloatBuffer &&other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  FloatBuffer &operator=(const FloatBuffer &other) {
    if (this != &other && other.size_ != 0)
      std::memcpy(get(other.size_), other.data(), other.size_ * sizeof(float));
    return *this;
  }
  /// At least so many.
  float *get(size_t count) {
    constexpr size_t kLine = 64;
    if (count > size_) {
      size_ = (count * sizeof(float) + kLine - 1) / kLine * kLine / sizeof(float);
      data_.reset(static_cast<float *>(std::aligned_alloc(kLine, size_ * sizeof(float))));
    }
    return data_.get();
  }
  const float *data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(float *p) const { std::free(p); }
  };
  std::unique_ptr<float, Free> data_;
  size_t size_ = 0;
};

} // namespace ptxrun::matrix
