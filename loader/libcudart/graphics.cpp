// Graphics interoperability: resources in general, OpenGL, OpenGL as of CUDA 2.
#include "loader/libcuda/cuda_graphics_api.h"
#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

using cudaGraphicsResource_t = CUgraphicsResource;

PTXRUN_RUNTIME_API cudaError_t cudaGraphicsMapResources(int count,
                                                        cudaGraphicsResource_t *resources,
                                                        cudaStream_t stream) {
  return perform([&] {
    return count < 0 ? CUDA_ERROR_INVALID_VALUE
                     : cuGraphicsMapResources(static_cast<unsigned>(count), resources, stream);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphicsUnmapResources(int count,
                                                          cudaGraphicsResource_t *resources,
                                                          cudaStream_t stream) {
  return perform([&] {
    return count < 0 ? CUDA_ERROR_INVALID_VALUE
                     : cuGraphicsUnmapResources(static_cast<unsigned>(count), resources, stream);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphicsResourceGetMappedPointer(
    void **pointer, size_t *bytes, cudaGraphicsResource_t resource) {
  return perform([&] {
    CUdeviceptr address = 0;
    const CUresult result = cuGraphicsResourceGetMappedPointer(&address, bytes, resource);
    if (result == CUDA_SUCCESS && pointer)
      *pointer = reinterpret_cast<void *>(address);
    return result;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphicsSubResourceGetMappedArray(
    cudaArray_t *array, cudaGraphicsResource_t resource, unsigned index, unsigned level) {
  return perform(
      [&] { return cuGraphicsSubResourceGetMappedArray(array, resource, index, level); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphicsResourceGetMappedMipmappedArray(
    cudaMipmappedArray_t *array, cudaGraphicsResource_t resource) {
  return perform([&] { return cuGraphicsResourceGetMappedMipmappedArray(array, resource); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphicsResourceSetMapFlags(cudaGraphicsResource_t resource,
                                                               unsigned flags) {
  return perform([&] { return cuGraphicsResourceSetMapFlags(resource, flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource) {
  return perform([&] { return cuGraphicsUnregisterResource(resource); });
}

PTXRUN_RUNTIME_API cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource_t *resource,
                                                            unsigned buffer, unsigned flags) {
  return perform([&] { return cuGraphicsGLRegisterBuffer(resource, buffer, flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphicsGLRegisterImage(cudaGraphicsResource_t *resource,
                                                           unsigned image, unsigned target,
                                                           unsigned flags) {
  return perform([&] { return cuGraphicsGLRegisterImage(resource, image, target, flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGLGetDevices(unsigned *found, int *devices, unsigned room,
                                                CUGLDeviceList list) {
  return perform([&] { return cuGLGetDevices(found, devices, room, list); });
}

PTXRUN_RUNTIME_API cudaError_t cudaGLSetGLDevice(int device) {
  return perform([&] {
    CUdevice found = 0;
    return cuDeviceGet(&found, device);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaGLRegisterBufferObject(unsigned buffer) {
  return perform([&] { return cuGLRegisterBufferObject(buffer); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGLUnregisterBufferObject(unsigned buffer) {
  return perform([&] { return cuGLUnregisterBufferObject(buffer); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGLSetBufferObjectMapFlags(unsigned buffer, unsigned flags) {
  return perform([&] { return cuGLSetBufferObjectMapFlags(buffer, flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGLMapBufferObjectAsync(void **pointer, unsigned buffer,
                                                          cudaStream_t stream) {
  return perform([&] {
    CUdeviceptr address = 0;
    size_t bytes = 0;
    if (!pointer)
      return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = cuGLMapBufferObjectAsync(&address, &bytes, buffer, stream);
    if (result == CUDA_SUCCESS)
      *pointer = reinterpret_cast<void *>(address);
    return result;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaGLMapBufferObject(void **pointer, unsigned buffer) {
  return cudaGLMapBufferObjectAsync(pointer, buffer, nullptr);
}
PTXRUN_RUNTIME_API cudaError_t cudaGLUnmapBufferObjectAsync(unsigned buffer, cudaStream_t stream) {
  return perform([&] { return cuGLUnmapBufferObjectAsync(buffer, stream); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGLUnmapBufferObject(unsigned buffer) {
  return cudaGLUnmapBufferObjectAsync(buffer, nullptr);
}
