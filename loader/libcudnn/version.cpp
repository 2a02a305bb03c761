// Versions. Programs compare them with the cuDNN that they were built for, so where NVIDIA's is
// installed, they are what it says; else those of the functions listed here.
#include <dlfcn.h>

#include "loader/libcudnn/cudnn_abi.h"
#include "loader/libcudnn/exports.h"
#include "loader/toolkit/nvidia_library.h"

namespace ptxrun::cudnn {

namespace {

size_t askNvidia(const char *function, size_t otherwise) {
  static void *const library = toolkit::findNvidiaLibrary({"libcudnn.so.9", nullptr, "cudnn/lib"});
  void *const found = toolkit::findFunction(library, function);
  return found ? reinterpret_cast<size_t (*)()>(found)() : otherwise;
}

size_t version() {
  static const size_t known = askNvidia("cudnnGetVersion", 91900);
  return known;
}

} // namespace
} // namespace ptxrun::cudnn

extern "C" {

size_t cudnnGetVersion() { return ptxrun::cudnn::version(); }

size_t cudnnGetCudartVersion() { return ptxrun::cudnn::askNvidia("cudnnGetCudartVersion", 13010); }

size_t cudnnGetMaxDeviceVersion() {
  return ptxrun::cudnn::askNvidia("cudnnGetMaxDeviceVersion", 1210);
}

/// A version is major * 10000 + minor * 100 + patch level.
cudnnStatus_t cudnnGetProperty(int property, int *value) {
  if (!value)
    return CUDNN_STATUS_BAD_PARAM;
  const size_t version = ptxrun::cudnn::version();
  switch (property) {
  case MAJOR_VERSION:
    *value = int(version / 10000);
    return CUDNN_STATUS_SUCCESS;
  case MINOR_VERSION:
    *value = int(version / 100 % 100);
    return CUDNN_STATUS_SUCCESS;
  case PATCH_LEVEL:
    *value = int(version % 100);
    return CUDNN_STATUS_SUCCESS;
  }
  return CUDNN_STATUS_BAD_PARAM;
}

// Whether the libraries that make up cuDNN are of one version: here they are one library.
cudnnStatus_t cudnnGraphVersionCheck() { return CUDNN_STATUS_SUCCESS; }
cudnnStatus_t cudnnOpsVersionCheck() { return CUDNN_STATUS_SUCCESS; }
cudnnStatus_t cudnnCnnVersionCheck() { return CUDNN_STATUS_SUCCESS; }
cudnnStatus_t cudnnAdvVersionCheck() { return CUDNN_STATUS_SUCCESS; }
}
