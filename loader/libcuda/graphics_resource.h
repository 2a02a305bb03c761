// Objects of a graphics API that kernels use. There is no memory that both could share: a resource
// has memory of its own, which gets the object's contents when it is mapped and gives them back
// when it is unmapped.
#pragma once
#include <memory>

#include "loader/libcuda/context.h"
#include "loader/libcuda/cuda_graphics_api.h"
#include "loader/libcuda/gl_functions.h"

namespace ptxrun::driver {

class GraphicsResource : public Object {
 public:
  static constexpr Kind kKind = Kind::graphicsResource;
  explicit GraphicsResource(unsigned registerFlags)
      : Object(kKind), registerFlags_(registerFlags) {}

  bool isMapped() const { return isMapped_; }
  void setMapFlags(unsigned flags) { mapFlags_ = flags; }
  /// The object's contents become the memory's, unless they are to be discarded. On the thread that
  /// has the graphics context.
  CUresult map(Context &);
  /// And back, unless kernels only read.
  CUresult unmap(Context &);

  /// What kernels use, while it is mapped.
  virtual CUresult pointer(CUdeviceptr *, size_t *bytes) const;
  virtual CUresult array(CUarray *, unsigned index, unsigned level) const;
  virtual CUresult mipmappedArray(CUmipmappedArray *) const;

 protected:
  unsigned registerFlags() const { return registerFlags_; }

 private:
  /// Makes memory of the object's present size.
  virtual CUresult prepare(const GlFunctions &, Context &) = 0;
  virtual CUresult fetch(const GlFunctions &, Context &) = 0;
  virtual CUresult store(const GlFunctions &, Context &) = 0;
  bool has(unsigned flag) const { return ((registerFlags_ | mapFlags_) & flag) != 0; }

  const unsigned registerFlags_;
  unsigned mapFlags_ = CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE;
  bool isMapped_ = false;
};

/// A buffer object of the current context. CUDA_ERROR_INVALID_HANDLE for what is none.
CUresult makeGlBuffer(const GlFunctions &, unsigned buffer, unsigned flags,
                      std::shared_ptr<GraphicsResource> &);
/// A texture. CUDA_ERROR_INVALID_HANDLE for what is none, INVALID_VALUE for targets, formats and
/// sizes that CUDA does not have, NOT_SUPPORTED for renderbuffers.
CUresult makeGlImage(const GlFunctions &, Context &, unsigned image, unsigned target,
                     unsigned flags, std::shared_ptr<GraphicsResource> &);

/// cuGraphicsMapResources and cuGraphicsUnmapResources.
CUresult mapResources(unsigned count, const CUgraphicsResource *, CUstream);
CUresult unmapResources(unsigned count, const CUgraphicsResource *, CUstream);

} // namespace ptxrun::driver
