// CUDA arrays: rows one behind the other in device memory, layers and slices one behind the other.
#pragma once
#include <memory>
#include <vector>

#include "loader/libcuda/api.h"
#include "loader/libcuda/handles.h"
#include "rt/texture/texture.h"

namespace ptxrun::driver {

/// A format as textures know it.
struct TexelFormat {
  rt::ChannelType type = rt::ChannelType::f32;
  unsigned channels = 0;   ///< 0: as the caller says
  bool isFraction = false; ///< UNORM and SNORM formats
};
/// CUDA_ERROR_NOT_SUPPORTED for the block-compressed and video formats, INVALID_VALUE for numbers
/// that mean nothing and for channel counts other than 1, 2 and 4.
CUresult readFormat(CUarray_format, unsigned channels, TexelFormat &);
/// The same for a view's; NONE leaves the format as it is.
CUresult readViewFormat(CUresourceViewFormat, TexelFormat &);

/// Device memory that goes with its last owner.
class ArrayMemory {
 public:
  explicit ArrayMemory(size_t bytes);
  ~ArrayMemory();
  ArrayMemory(const ArrayMemory &) = delete;
  ArrayMemory &operator=(const ArrayMemory &) = delete;
  char *base() const { return base_; } ///< null where there was not enough

 private:
  char *base_;
};

/// An array: one level. Those of a mipmap share its memory.
class Array final : public Object {
 public:
  static constexpr Kind kKind = Kind::array;
  Array(std::shared_ptr<ArrayMemory> memory, const CUDA_ARRAY3D_DESCRIPTOR &description,
        const rt::Image &image, bool isFraction, bool isLevel)
      : Object(kKind), description(description), image(image), isFraction(isFraction),
        isLevel(isLevel), memory_(std::move(memory)) {}
  const CUDA_ARRAY3D_DESCRIPTOR description;
  const rt::Image image;
  const bool isFraction;
  const bool isLevel; ///< destroyed with its mipmap only

 private:
  const std::shared_ptr<ArrayMemory> memory_;
};

class MipmappedArray final : public Object {
 public:
  static constexpr Kind kKind = Kind::mipmappedArray;
  MipmappedArray(std::shared_ptr<ArrayMemory> memory, const CUDA_ARRAY3D_DESCRIPTOR &description,
                 const rt::Image &image, bool isFraction);
  const CUDA_ARRAY3D_DESCRIPTOR description;
  const rt::Image image;
  const bool isFraction;
  std::vector<std::shared_ptr<Array>> levels;

 private:
  const std::shared_ptr<ArrayMemory> memory_;
};

/// Where the levels of such an array lie, from offset 0 on; base is null. INVALID_VALUE for
/// descriptions that CUDA refuses, NOT_SUPPORTED for sparse arrays and formats we do not have.
CUresult layOut(const CUDA_ARRAY3D_DESCRIPTOR &, unsigned levels, rt::Image &, TexelFormat &);

} // namespace ptxrun::driver
