// Libraries: device code that a program loads at run time, and its kernels.
#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

namespace {

CUresult toPointer(CUresult result, CUdeviceptr address, void **pointer) {
  if (result == CUDA_SUCCESS && pointer)
    *pointer = reinterpret_cast<void *>(address);
  return result;
}

} // namespace

PTXRUN_RUNTIME_API cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                                   CUjit_option *options, void **values,
                                                   unsigned optionCount,
                                                   CUlibraryOption *libraryOptions,
                                                   void **libraryValues,
                                                   unsigned libraryOptionCount) {
  return perform([&] {
    return cuLibraryLoadData(library, code, options, values, optionCount, libraryOptions,
                             libraryValues, libraryOptionCount);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path,
                                                       CUjit_option *options, void **values,
                                                       unsigned optionCount,
                                                       CUlibraryOption *libraryOptions,
                                                       void **libraryValues,
                                                       unsigned libraryOptionCount) {
  return perform([&] {
    return cuLibraryLoadFromFile(library, path, options, values, optionCount, libraryOptions,
                                 libraryValues, libraryOptionCount);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return perform([&] { return cuLibraryUnload(library); });
}
PTXRUN_RUNTIME_API cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library,
                                                    const char *name) {
  return perform([&] { return cuLibraryGetKernel(kernel, library, name); });
}
PTXRUN_RUNTIME_API cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library) {
  return perform([&] { return cuLibraryGetKernelCount(count, library); });
}
PTXRUN_RUNTIME_API cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned room,
                                                           cudaLibrary_t library) {
  return perform([&] { return cuLibraryEnumerateKernels(kernels, room, library); });
}
PTXRUN_RUNTIME_API cudaError_t cudaLibraryGetGlobal(void **pointer, size_t *bytes,
                                                    cudaLibrary_t library, const char *name) {
  return perform([&] {
    CUdeviceptr address = 0;
    return toPointer(cuLibraryGetGlobal(&address, bytes, library, name), address, pointer);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaLibraryGetManaged(void **pointer, size_t *bytes,
                                                     cudaLibrary_t library, const char *name) {
  return perform([&] {
    CUdeviceptr address = 0;
    return toPointer(cuLibraryGetManaged(&address, bytes, library, name), address, pointer);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaLibraryGetUnifiedFunction(void **function, cudaLibrary_t library,
                                                             const char *name) {
  return perform([&] { return cuLibraryGetUnifiedFunction(function, library, name); });
}
PTXRUN_RUNTIME_API cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel,
                                                               CUfunction_attribute which,
                                                               int value, int device) {
  return perform([&] { return cuKernelSetAttribute(which, value, kernel, device); });
}
