// Modules.
#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/module.h"

using namespace ptxrun::driver;

namespace {

template <class Load> CUresult loadModule(CUmodule *handle, Load load) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!handle)
    return CUDA_ERROR_INVALID_VALUE;
  auto module = std::make_shared<LoadedModule>();
  PTXRUN_TRY(load(*module));
  *handle = publish<CUmodule>(module);
  return CUDA_SUCCESS;
}

CUresult enterModule(CUmodule handle, std::shared_ptr<Module> &module) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  module = resolveModule(handle);
  return module ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

} // namespace

PTXRUN_API CUresult cuModuleLoad(CUmodule *module, const char *path) {
  return loadModule(module, [&](Module &into) { return loadFile(into, path, {}); });
}

PTXRUN_API CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return loadModule(module, [&](Module &into) { return loadImage(into, image, {}); });
}

PTXRUN_API CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned optionCount,
                                       CUjit_option *options, void **values) {
  if (optionCount != 0 && (!options || !values))
    return CUDA_ERROR_INVALID_VALUE;
  return loadModule(module, [&](Module &into) {
    return loadImage(into, image, {optionCount, options, values});
  });
}

PTXRUN_API CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatBinary) {
  return cuModuleLoadData(module, fatBinary);
}

PTXRUN_API CUresult cuModuleUnload(CUmodule handle) {
  PTXRUN_TRY(checkInitialised());
  auto module = withdraw<LoadedModule>(handle);
  if (!module)
    return CUDA_ERROR_INVALID_HANDLE;
  module->unload();
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
  PTXRUN_TRY(checkInitialised());
  if (!mode)
    return CUDA_ERROR_INVALID_VALUE;
  // Kernels are compiled at their first use, whatever CUDA_MODULE_LOADING asks for.
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuModuleGetFunction(CUfunction *function, CUmodule handle, const char *name) {
  std::shared_ptr<Module> module;
  PTXRUN_TRY(enterModule(handle, module));
  if (!function || !name || !*name)
    return CUDA_ERROR_INVALID_VALUE;
  Function *found = module->findFunction(name);
  if (!found)
    return CUDA_ERROR_NOT_FOUND;
  *function = handleOf<CUfunction>(found);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule handle) {
  std::shared_ptr<Module> module;
  PTXRUN_TRY(enterModule(handle, module));
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<unsigned>(module->functions().size());
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned room,
                                               CUmodule handle) {
  std::shared_ptr<Module> module;
  PTXRUN_TRY(enterModule(handle, module));
  if (!functions)
    return CUDA_ERROR_INVALID_VALUE;
  unsigned count = 0;
  for (Function *function : module->functions())
    if (count < room)
      functions[count++] = handleOf<CUfunction>(function);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule handle,
                                         const char *name) {
  std::shared_ptr<Module> module;
  PTXRUN_TRY(enterModule(handle, module));
  if (!name || (!address && !bytes))
    return CUDA_ERROR_INVALID_VALUE;
  const ptxrun::device::VariableInfo *variable = module->findVariable(name);
  if (!variable)
    return CUDA_ERROR_NOT_FOUND;
  if (address)
    *address = reinterpret_cast<CUdeviceptr>(variable->address);
  if (bytes)
    *bytes = variable->bytes;
  return CUDA_SUCCESS;
}
