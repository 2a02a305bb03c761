#include "loader/ptxrun/array.h"

#include <cstring>

#include "loader/device/memory.h"
#include "loader/ptxrun/errors.h"

namespace ptxrun::command {

void Array::Release::operator()(char *memory) const { device::freeMemory(memory); }

Array::Array(Element element, std::vector<uint64_t> shape)
    : element_(element), shape_(std::move(shape)), count_(1) {
  bool isTooLarge = false;
  for (uint64_t extent : shape_)
    isTooLarge |= __builtin_mul_overflow(count_, extent, &count_);
  uint64_t bytes;
  isTooLarge |= __builtin_mul_overflow(count_, bytesOf(element_), &bytes);
  if (!isTooLarge)
    memory_.reset(static_cast<char *>(device::allocateMemory(bytes)));
  if (!memory_)
    throw Failed("no memory for a buffer " + describe());
}

Array Array::copy() const {
  Array result(element_, shape_);
  result.isFortranOrder = isFortranOrder;
  std::memcpy(result.data(), data(), bytes());
  return result;
}

std::string Array::describe() const {
  std::string text(nameOf(element_));
  text += '[';
  for (size_t i = 0; i < shape_.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape_[i]);
  return text + ']';
}

} // namespace ptxrun::command
