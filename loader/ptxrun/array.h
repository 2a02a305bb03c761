// An n-dimensional array in device memory: what a buffer argument points to.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "loader/ptxrun/element.h"

namespace ptxrun::command {

/// Owns its memory (device::allocateMemory). Moves, does not copy by itself.
class Array {
 public:
  Array() = default;
  /// Contents are undefined. Throws Failed when memory is exhausted.
  Array(Element, std::vector<uint64_t> shape);

  Element element() const { return element_; }
  const std::vector<uint64_t> &shape() const { return shape_; }
  uint64_t count() const { return count_; }
  uint64_t bytes() const { return count_ * bytesOf(element_); }
  char *data() { return memory_.get(); }
  const char *data() const { return memory_.get(); }
  const void *at(uint64_t index) const { return data() + index * bytesOf(element_); }
  void *at(uint64_t index) { return data() + index * bytesOf(element_); }
  Array copy() const;
  /// "f32[4, 8]"
  std::string describe() const;

  bool isFortranOrder = false; ///< .npy's flag, kept for writing; the bytes are used as they lie

 private:
  struct Release {
    void operator()(char *) const;
  };
  Element element_ = Element::u8;
  std::vector<uint64_t> shape_;
  uint64_t count_ = 0;
  std::unique_ptr<char, Release> memory_;
};

} // namespace ptxrun::command
