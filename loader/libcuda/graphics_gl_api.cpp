// OpenGL: registering its objects, and the functions of CUDA 2, to which buffers go by their names.
#include <map>
#include <mutex>
#include <vector>

#include "loader/libcuda/api.h"
#include "loader/libcuda/graphics_resource.h"

using namespace ptxrun::driver;

namespace {

constexpr unsigned kBufferFlags =
    CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY | CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD;
constexpr unsigned kImageFlags = kBufferFlags | CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST |
                                 CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER;

/// Head of a registration.
CUresult enterGl(Context *&context, const GlFunctions *&gl) {
  PTXRUN_TRY(enter(context));
  GlState state;
  gl = currentGl(state);
  return gl ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

CUresult registerBuffer(CUgraphicsResource *handle, unsigned buffer, unsigned flags) {
  Context *context = nullptr;
  const GlFunctions *gl = nullptr;
  PTXRUN_TRY(enterGl(context, gl));
  if (!handle || (flags & ~kBufferFlags) || flags == kBufferFlags)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<GraphicsResource> resource;
  PTXRUN_TRY(makeGlBuffer(*gl, buffer, flags, resource));
  *handle = publish<CUgraphicsResource>(resource);
  return CUDA_SUCCESS;
}

/// Buffers registered by name. Never destroyed.
class NamedBuffers {
 public:
  static NamedBuffers &instance() {
    static auto *buffers = new NamedBuffers;
    return *buffers;
  }
  CUgraphicsResource find(unsigned name) {
    std::lock_guard lock(mutex_);
    const auto found = byName_.find(name);
    return found == byName_.end() ? nullptr : found->second;
  }
  void set(unsigned name, CUgraphicsResource resource) {
    std::lock_guard lock(mutex_);
    byName_[name] = resource;
  }
  void forget(unsigned name) {
    std::lock_guard lock(mutex_);
    byName_.erase(name);
  }

 private:
  std::mutex mutex_;
  std::map<unsigned, CUgraphicsResource> byName_;
};

CUresult mapNamed(CUdeviceptr *address, size_t *bytes, unsigned buffer, CUstream stream) {
  const CUgraphicsResource resource = NamedBuffers::instance().find(buffer);
  if (!resource)
    return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = mapResources(1, &resource, stream);
  if (result == CUDA_ERROR_UNKNOWN || result == CUDA_ERROR_ALREADY_MAPPED)
    return CUDA_ERROR_MAP_FAILED; // all that these functions can say
  PTXRUN_TRY(result);
  return cuGraphicsResourceGetMappedPointer_v2(address, bytes, resource);
}

CUresult unmapNamed(unsigned buffer, CUstream stream) {
  const CUgraphicsResource resource = NamedBuffers::instance().find(buffer);
  return resource ? unmapResources(1, &resource, stream) : CUDA_ERROR_INVALID_VALUE;
}

} // namespace

PTXRUN_API CUresult cuGraphicsGLRegisterBuffer(CUgraphicsResource *handle, unsigned buffer,
                                               unsigned flags) {
  return registerBuffer(handle, buffer, flags);
}

PTXRUN_API CUresult cuGraphicsGLRegisterImage(CUgraphicsResource *handle, unsigned image,
                                              unsigned target, unsigned flags) {
  Context *context = nullptr;
  const GlFunctions *gl = nullptr;
  PTXRUN_TRY(enterGl(context, gl));
  if (!handle || (flags & ~kImageFlags) || (flags & kBufferFlags) == kBufferFlags)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<GraphicsResource> resource;
  PTXRUN_TRY(makeGlImage(*gl, *context, image, target, flags, resource));
  *handle = publish<CUgraphicsResource>(resource);
  return CUDA_SUCCESS;
}

/// The one device serves any context of OpenGL.
PTXRUN_API CUresult cuGLGetDevices_v2(unsigned *found, CUdevice *devices, unsigned room,
                                      CUGLDeviceList list) {
  PTXRUN_TRY(checkInitialised());
  if (!found || (room != 0 && !devices) || list < CU_GL_DEVICE_LIST_ALL ||
      list > CU_GL_DEVICE_LIST_NEXT_FRAME)
    return CUDA_ERROR_INVALID_VALUE;
  GlState state;
  if (!currentGl(state))
    return state == GlState::noContext ? CUDA_ERROR_INVALID_GRAPHICS_CONTEXT
                                       : CUDA_ERROR_OPERATING_SYSTEM;
  *found = 1;
  if (room != 0)
    devices[0] = 0;
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuGLGetDevices(unsigned *found, CUdevice *devices, unsigned room,
                                   CUGLDeviceList list) {
  return cuGLGetDevices_v2(found, devices, room, list);
}

PTXRUN_API CUresult cuGLInit() { return checkInitialised(); }
PTXRUN_API CUresult cuGLCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}
PTXRUN_API CUresult cuGLCtxCreate(CUcontext *context, unsigned flags, CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}

PTXRUN_API CUresult cuGLRegisterBufferObject(unsigned buffer) {
  if (NamedBuffers::instance().find(buffer))
    return CUDA_ERROR_ALREADY_MAPPED;
  CUgraphicsResource resource = nullptr;
  PTXRUN_TRY(registerBuffer(&resource, buffer, CU_GRAPHICS_REGISTER_FLAGS_NONE));
  NamedBuffers::instance().set(buffer, resource);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuGLUnregisterBufferObject(unsigned buffer) {
  const CUgraphicsResource resource = NamedBuffers::instance().find(buffer);
  if (!resource)
    return CUDA_ERROR_INVALID_VALUE;
  PTXRUN_TRY(cuGraphicsUnregisterResource(resource));
  NamedBuffers::instance().forget(buffer);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuGLSetBufferObjectMapFlags(unsigned buffer, unsigned flags) {
  const CUgraphicsResource resource = NamedBuffers::instance().find(buffer);
  return resource ? cuGraphicsResourceSetMapFlags_v2(resource, flags) : CUDA_ERROR_INVALID_HANDLE;
}

PTXRUN_STREAM_API(cuGLMapBufferObject_v2, _ptds,
                  (CUdeviceptr * address, size_t *bytes, unsigned buffer),
                  (address, bytes, buffer)) {
  return mapNamed(address, bytes, buffer, nullptr);
}
PTXRUN_STREAM_API(cuGLMapBufferObjectAsync_v2, _ptsz,
                  (CUdeviceptr * address, size_t *bytes, unsigned buffer, CUstream stream),
                  (address, bytes, buffer, stream)) {
  return mapNamed(address, bytes, buffer, stream);
}
PTXRUN_API CUresult cuGLUnmapBufferObject(unsigned buffer) { return unmapNamed(buffer, nullptr); }
PTXRUN_API CUresult cuGLUnmapBufferObjectAsync(unsigned buffer, CUstream stream) {
  return unmapNamed(buffer, stream);
}
