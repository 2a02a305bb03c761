// Textures of OpenGL, as CUDA arrays.
#include "loader/libcuda/api.h"
#include "loader/libcuda/array.h"
#include "loader/libcuda/copy.h"
#include "loader/libcuda/gl_texture.h"
#include "loader/libcuda/graphics_resource.h"

namespace ptxrun::driver {

namespace {

/// The arrays of one size of the texture: all of it, and each layer or face by itself.
class GlArrays {
 public:
  ~GlArrays() { discard(); }
  CUresult make(const CUDA_ARRAY3D_DESCRIPTOR &, unsigned levels);
  void discard();
  bool isMade() const { return whole_ != nullptr; }
  const std::shared_ptr<MipmappedArray> &whole() const { return whole_; }
  /// Null where there is none. Volumes are not taken apart.
  Array *part(unsigned index, unsigned level) const;

 private:
  void addParts(const std::shared_ptr<ArrayMemory> &, const Array &level);
  bool hasParts() const { return !parts_.empty(); }

  std::shared_ptr<MipmappedArray> whole_;
  std::vector<std::shared_ptr<Array>> parts_; // level by level
};

CUresult GlArrays::make(const CUDA_ARRAY3D_DESCRIPTOR &description, unsigned levels) {
  rt::Image image;
  TexelFormat format;
  PTXRUN_TRY(layOut(description, levels, image, format));
  auto memory = std::make_shared<ArrayMemory>(image.bytes);
  image.base = memory->base();
  if (!image.base)
    return CUDA_ERROR_OUT_OF_MEMORY;
  whole_ = std::make_shared<MipmappedArray>(memory, description, image, format.isFraction);
  Registry::instance().add(whole_);
  for (const auto &level : whole_->levels) {
    Registry::instance().add(level);
    if (image.isLayered || image.isCube)
      addParts(memory, *level);
  }
  return CUDA_SUCCESS;
}

void GlArrays::addParts(const std::shared_ptr<ArrayMemory> &memory, const Array &level) {
  for (unsigned index = 0; index < level.image.layers; ++index) {
    rt::Image image = level.image;
    image.isLayered = image.isCube = false;
    image.layers = 1;
    image.base += index * image.level[0].slice;
    image.bytes = image.level[0].slice;
    CUDA_ARRAY3D_DESCRIPTOR description = level.description;
    description.Depth = 0;
    description.Flags &= ~(CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    parts_.push_back(std::make_shared<Array>(memory, description, image, level.isFraction, true));
    Registry::instance().add(parts_.back());
  }
}

void GlArrays::discard() {
  for (const auto &part : parts_)
    withdraw<Array>(handleOf<CUarray>(part.get()));
  parts_.clear();
  if (!whole_)
    return;
  for (const auto &level : whole_->levels)
    withdraw<Array>(handleOf<CUarray>(level.get()));
  withdraw<MipmappedArray>(handleOf<CUmipmappedArray>(whole_.get()));
  whole_ = nullptr;
}

Array *GlArrays::part(unsigned index, unsigned level) const {
  const unsigned count = hasParts() ? whole_->image.layers : 1;
  if (level >= whole_->levels.size() || index >= count)
    return nullptr;
  return hasParts() ? parts_[level * count + index].get() : whole_->levels[level].get();
}

class GlImage final : public GraphicsResource {
 public:
  GlImage(unsigned name, unsigned target, unsigned flags)
      : GraphicsResource(flags), name_(name), target_(target) {}
  CUresult prepare(const GlFunctions &, Context &) override;
  CUresult array(CUarray *, unsigned index, unsigned level) const override;
  CUresult mipmappedArray(CUmipmappedArray *array) const override {
    *array = handleOf<CUmipmappedArray>(arrays_.whole().get());
    return CUDA_SUCCESS;
  }

 private:
  CUresult fetch(const GlFunctions &, Context &) override;
  CUresult store(const GlFunctions &, Context &) override;
  /// Calls `transfer` with every level and face: number of each, where it lies in the array, and
  /// as many bytes without gaps.
  template <class Transfer> void forEachImage(const GlTexture &, Transfer) const;

  const unsigned name_, target_;
  GlTextureShape shape_;
  GlArrays arrays_;
};

/// Programs give textures new sizes between mappings.
CUresult GlImage::prepare(const GlFunctions &gl, Context &) {
  GlTextureShape shape;
  if (!GlTexture(gl, name_, target_).readShape(shape))
    return CUDA_ERROR_INVALID_VALUE;
  if (registerFlags() & CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST)
    shape.description.Flags |= CUDA_ARRAY3D_SURFACE_LDST;
  if (registerFlags() & CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER)
    shape.description.Flags |= CUDA_ARRAY3D_TEXTURE_GATHER;
  if (arrays_.isMade() && shape == shape_)
    return CUDA_SUCCESS;
  arrays_.discard();
  shape_ = shape;
  return arrays_.make(shape.description, shape.levels);
}

CUresult GlImage::array(CUarray *array, unsigned index, unsigned level) const {
  Array *part = arrays_.part(index, level);
  if (!part)
    return CUDA_ERROR_INVALID_VALUE;
  *array = handleOf<CUarray>(part);
  return CUDA_SUCCESS;
}

template <class Transfer> void GlImage::forEachImage(const GlTexture &gl, Transfer transfer) const {
  std::vector<char> pixels;
  const rt::Image &image = arrays_.whole()->image;
  for (unsigned number = 0; number < image.levels; ++number) {
    const rt::ImageLevel &level = image.level[number];
    const size_t width = size_t{level.width} * image.texelBytes();
    const size_t depth = image.isCube ? 1 : size_t{level.depth} * image.layers;
    pixels.resize(width * level.height * depth);
    for (unsigned face = 0; face < gl.faces(); ++face) {
      const CopySide array{image.base + level.offset + face * level.slice, level.pitch,
                           level.slice};
      const CopySide plain{pixels.data(), width, width * level.height};
      transfer(number, face, array, plain, width, level.height, depth);
    }
  }
}

CUresult GlImage::fetch(const GlFunctions &functions, Context &context) {
  const GlTexture gl(functions, name_, target_);
  forEachImage(gl, [&](unsigned level, unsigned face, CopySide array, CopySide plain, size_t width,
                       size_t height, size_t depth) {
    gl.read(shape_, level, face, plain.base);
    CopyOperation(array, plain, width, height, depth).run(context);
  });
  return CUDA_SUCCESS;
}

CUresult GlImage::store(const GlFunctions &functions, Context &context) {
  const GlTexture gl(functions, name_, target_);
  GlTextureShape shape;
  if (!gl.readShape(shape) || !(shape == shape_)) // it was given another while it was mapped
    return CUDA_ERROR_UNKNOWN;
  forEachImage(gl, [&](unsigned level, unsigned face, CopySide array, CopySide plain, size_t width,
                       size_t height, size_t depth) {
    CopyOperation(plain, array, width, height, depth).run(context);
    gl.write(shape_, level, face, plain.base);
  });
  return CUDA_SUCCESS;
}

} // namespace

CUresult makeGlImage(const GlFunctions &gl, Context &context, unsigned image, unsigned target,
                     unsigned flags, std::shared_ptr<GraphicsResource> &resource) {
  if (target == kGlRenderbuffer)
    return notSupported("interoperability with renderbuffers");
  if (!isGlTextureTarget(target))
    return CUDA_ERROR_INVALID_VALUE;
  if (!gl.glIsTexture(image))
    return CUDA_ERROR_INVALID_HANDLE;
  auto made = std::make_shared<GlImage>(image, target, flags);
  PTXRUN_TRY(made->prepare(gl, context)); // what CUDA does not have is refused now
  resource = std::move(made);
  return CUDA_SUCCESS;
}

} // namespace ptxrun::driver
