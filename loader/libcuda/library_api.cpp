// Libraries and their kernels: modules that belong to no context.
#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/module.h"

using namespace ptxrun::driver;

namespace {

template <class Load> CUresult loadLibrary(CUlibrary *handle, Load load) {
  PTXRUN_TRY(checkInitialised());
  if (!handle)
    return CUDA_ERROR_INVALID_VALUE;
  auto library = std::make_shared<Library>();
  PTXRUN_TRY(load(*library));
  *handle = publish<CUlibrary>(library);
  return CUDA_SUCCESS;
}

CUresult enterLibrary(CUlibrary handle, std::shared_ptr<Library> &library) {
  PTXRUN_TRY(checkInitialised());
  library = resolve<Library>(handle);
  return library ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult getVariable(CUdeviceptr *address, size_t *bytes, CUlibrary handle, const char *name,
                     bool isManagedWanted) {
  std::shared_ptr<Library> library;
  PTXRUN_TRY(enterLibrary(handle, library));
  if (!name || (!address && !bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (const Context *context = currentContext())
    library = library->on(context->device());
  if (!library)
    return CUDA_ERROR_OUT_OF_MEMORY;
  const ptxrun::device::VariableInfo *variable = library->findVariable(name);
  if (!variable || (isManagedWanted && !variable->isManaged))
    return CUDA_ERROR_NOT_FOUND;
  if (address)
    *address = reinterpret_cast<CUdeviceptr>(variable->address);
  if (bytes)
    *bytes = variable->bytes;
  return CUDA_SUCCESS;
}

} // namespace

PTXRUN_API CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options,
                                      void **values, unsigned optionCount, CUlibraryOption *,
                                      void **, unsigned) {
  if (optionCount != 0 && (!options || !values))
    return CUDA_ERROR_INVALID_VALUE;
  return loadLibrary(library, [&](Module &into) {
    return loadImage(into, code, {optionCount, options, values});
  });
}

PTXRUN_API CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path,
                                          CUjit_option *options, void **values,
                                          unsigned optionCount, CUlibraryOption *, void **,
                                          unsigned) {
  if (optionCount != 0 && (!options || !values))
    return CUDA_ERROR_INVALID_VALUE;
  return loadLibrary(library, [&](Module &into) {
    return loadFile(into, path, {optionCount, options, values});
  });
}

PTXRUN_API CUresult cuLibraryUnload(CUlibrary handle) {
  PTXRUN_TRY(checkInitialised());
  auto library = withdraw<Library>(handle);
  if (!library)
    return CUDA_ERROR_INVALID_HANDLE;
  library->unload();
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary handle, const char *name) {
  std::shared_ptr<Library> library;
  PTXRUN_TRY(enterLibrary(handle, library));
  if (!kernel || !name)
    return CUDA_ERROR_INVALID_VALUE;
  Function *function = library->findFunction(name);
  if (!function)
    return CUDA_ERROR_NOT_FOUND;
  *kernel = handleOf<CUkernel>(function);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary handle) {
  std::shared_ptr<Library> library;
  PTXRUN_TRY(enterLibrary(handle, library));
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<unsigned>(library->functions().size());
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned room, CUlibrary handle) {
  std::shared_ptr<Library> library;
  PTXRUN_TRY(enterLibrary(handle, library));
  if (!kernels)
    return CUDA_ERROR_INVALID_VALUE;
  unsigned count = 0;
  for (Function *function : library->functions())
    if (count < room)
      kernels[count++] = handleOf<CUkernel>(function);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuLibraryGetModule(CUmodule *module, CUlibrary handle) {
  std::shared_ptr<Library> library;
  PTXRUN_TRY(enterLibrary(handle, library));
  if (!module)
    return CUDA_ERROR_INVALID_VALUE;
  const Context *context = currentContext();
  if (context && context->device() != 0)
    library = library->on(context->device());
  if (!library)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *module = handleOf<CUmodule>(library.get()); // one object, two handles' types
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                                       const char *name) {
  return getVariable(address, bytes, library, name, false);
}
PTXRUN_API CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                                        const char *name) {
  return getVariable(address, bytes, library, name, true);
}

PTXRUN_API CUresult cuLibraryGetUnifiedFunction(void **, CUlibrary, const char *) {
  return notSupported("cuLibraryGetUnifiedFunction");
}

PTXRUN_API CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
  PTXRUN_TRY(checkInitialised());
  if (!function)
    return CUDA_ERROR_INVALID_VALUE;
  const auto own = resolveFunction(kernel);
  if (!own)
    return CUDA_ERROR_INVALID_HANDLE;
  *function = handleOf<CUfunction>(own.get());
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) {
  PTXRUN_TRY(checkInitialised());
  if (!library)
    return CUDA_ERROR_INVALID_VALUE;
  auto function = resolveFunction(kernel);
  if (!function || function->module.kind() != Kind::library)
    return CUDA_ERROR_INVALID_HANDLE;
  *library = handleOf<CUlibrary>(&static_cast<Library &>(function->module).published());
  return CUDA_SUCCESS;
}
