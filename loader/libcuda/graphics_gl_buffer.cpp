// Buffer objects of OpenGL.
#include "loader/capture/recorder.h"
#include "loader/libcuda/api.h"
#include "loader/libcuda/graphics_resource.h"
#include "loader/libcuda/memory.h"

namespace ptxrun::driver {

namespace {

constexpr unsigned kArrayBuffer = 0x8892, kArrayBufferBinding = 0x8894, kBufferSize = 0x8764;

/// While one lives, the buffer is bound; what was bound before is again at the end.
class BoundBuffer {
 public:
  BoundBuffer(const GlFunctions &gl, unsigned buffer) : gl_(gl) {
    gl_.glGetIntegerv(kArrayBufferBinding, &before_);
    gl_.glBindBuffer(kArrayBuffer, buffer);
  }
  ~BoundBuffer() { gl_.glBindBuffer(kArrayBuffer, static_cast<unsigned>(before_)); }
  BoundBuffer(const BoundBuffer &) = delete;
  BoundBuffer &operator=(const BoundBuffer &) = delete;

  size_t bytes() const {
    int64_t bytes = 0;
    int few = 0;
    if (gl_.glGetBufferParameteri64v)
      gl_.glGetBufferParameteri64v(kArrayBuffer, kBufferSize, &bytes);
    else
      gl_.glGetBufferParameteriv(kArrayBuffer, kBufferSize, &few);
    return static_cast<size_t>(bytes) + static_cast<size_t>(few);
  }

 private:
  const GlFunctions &gl_;
  int before_ = 0;
};

class GlBuffer final : public GraphicsResource {
 public:
  GlBuffer(unsigned name, unsigned flags) : GraphicsResource(flags), name_(name) {}
  ~GlBuffer() override { discard(); }
  CUresult pointer(CUdeviceptr *address, size_t *bytes) const override {
    *address = memory_;
    *bytes = bytes_;
    return CUDA_SUCCESS;
  }

 private:
  CUresult prepare(const GlFunctions &, Context &) override;
  CUresult fetch(const GlFunctions &, Context &) override;
  CUresult store(const GlFunctions &, Context &) override;
  void discard() {
    if (memory_)
      release(memory_);
    memory_ = 0;
    bytes_ = 0;
  }

  const unsigned name_;
  CUdeviceptr memory_ = 0;
  size_t bytes_ = 0;
};

/// Programs give buffers new sizes between mappings.
CUresult GlBuffer::prepare(const GlFunctions &gl, Context &context) {
  const size_t bytes = BoundBuffer(gl, name_).bytes();
  if (bytes == bytes_)
    return CUDA_SUCCESS;
  discard();
  if (bytes != 0)
    PTXRUN_TRY(allocate(&memory_, bytes, {MemoryUse::device, 0, &context}));
  bytes_ = bytes;
  return CUDA_SUCCESS;
}

CUresult GlBuffer::fetch(const GlFunctions &gl, Context &) {
  if (bytes_ == 0)
    return CUDA_SUCCESS;
  const BoundBuffer bound(gl, name_);
  capture::Recorder::Turn turn;
  gl.glGetBufferSubData(kArrayBuffer, 0, static_cast<ptrdiff_t>(bytes_),
                        reinterpret_cast<void *>(memory_));
  turn.copied({memory_, bytes_, bytes_, memory_, bytes_, bytes_, bytes_, 1, 1}); // its new contents
  return CUDA_SUCCESS;
}

CUresult GlBuffer::store(const GlFunctions &gl, Context &) {
  if (bytes_ == 0)
    return CUDA_SUCCESS;
  const BoundBuffer bound(gl, name_);
  if (bound.bytes() != bytes_) // it was given another size while it was mapped
    return CUDA_ERROR_UNKNOWN;
  gl.glBufferSubData(kArrayBuffer, 0, static_cast<ptrdiff_t>(bytes_),
                     reinterpret_cast<const void *>(memory_));
  return CUDA_SUCCESS;
}

} // namespace

CUresult makeGlBuffer(const GlFunctions &gl, unsigned buffer, unsigned flags,
                      std::shared_ptr<GraphicsResource> &resource) {
  if (!gl.glIsBuffer(buffer))
    return CUDA_ERROR_INVALID_HANDLE;
  resource = std::make_shared<GlBuffer>(buffer, flags);
  return CUDA_SUCCESS;
}

} // namespace ptxrun::driver
