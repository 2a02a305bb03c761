#include "loader/libcudart/registration.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "loader/libcudart/runtime.h"

namespace ptxrun::runtime {

namespace {

struct ManagedVariable {
  void **hostPointer; // what host code reads to find the variable
  std::string name;
};

struct FatBinary {
  const void *wrapper = nullptr;
  CUlibrary library = nullptr;
  CUresult result = CUDA_ERROR_NOT_INITIALIZED; // of loading
  bool isLoaded = false;
  std::vector<ManagedVariable> managed;
};

struct Kernel {
  FatBinary *binary;
  std::string name;
  std::atomic<CUkernel> handle = nullptr;
  Kernel(FatBinary *binary, std::string name) : binary(binary), name(std::move(name)) {}
};

struct Variable {
  FatBinary *binary;
  std::string name;
  size_t bytes;
};

/// Never destroyed: programs unregister while the process ends.
struct Registry {
  std::recursive_mutex mutex;
  std::deque<FatBinary> binaries;
  std::deque<Kernel> allKernels; ///< which stay: stubs keep handles
  std::unordered_map<const void *, Kernel *> kernels;
  std::unordered_map<CUfunction, const void *> stubs; ///< of kernels that were asked for so
  std::unordered_map<const void *, Variable> variables;
};

Registry &registry() {
  static auto *instance = new Registry;
  return *instance;
}

/// Loads a fat binary once and gives managed variables their addresses. Called with the mutex held.
CUresult load(FatBinary &binary) {
  if (binary.isLoaded)
    return binary.result;
  binary.result = enter();
  if (binary.result != CUDA_SUCCESS)
    return binary.result;
  binary.isLoaded = true;
  binary.result =
      cuLibraryLoadData(&binary.library, binary.wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0);
  for (const ManagedVariable &variable : binary.managed) {
    CUdeviceptr address = 0;
    if (binary.result == CUDA_SUCCESS && cuLibraryGetManaged(&address, nullptr, binary.library,
                                                             variable.name.c_str()) == CUDA_SUCCESS)
      *variable.hostPointer = reinterpret_cast<void *>(address);
  }
  return binary.result;
}

/// The kernel's handle; its fat binary is loaded at the first question. Called with the mutex held.
cudaError_t loadKernel(Kernel &entry, CUkernel &kernel) {
  if (!entry.handle.load()) {
    CUkernel found = nullptr;
    if (const CUresult result = load(*entry.binary); result != CUDA_SUCCESS)
      return static_cast<cudaError_t>(result);
    if (cuLibraryGetKernel(&found, entry.binary->library, entry.name.c_str()) != CUDA_SUCCESS)
      return cudaErrorInvalidDeviceFunction;
    entry.handle = found;
  }
  kernel = entry.handle;
  return cudaSuccess;
}

FatBinary &binaryOf(void **handle) { return *reinterpret_cast<FatBinary *>(handle); }

} // namespace

cudaError_t findKernel(const void *hostStub, CUkernel &kernel) {
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  const auto found = all.kernels.find(hostStub);
  if (found == all.kernels.end()) {
    CUfunction function = nullptr;
    kernel = static_cast<CUkernel>(const_cast<void *>(hostStub));
    const bool isHandle = hostStub && cuKernelGetFunction(&function, kernel) == CUDA_SUCCESS;
    return isHandle ? cudaSuccess : cudaErrorInvalidDeviceFunction;
  }
  return loadKernel(*found->second, kernel);
}

const void *stubOf(CUfunction function) {
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  if (const auto known = all.stubs.find(function); known != all.stubs.end())
    return known->second;
  for (const auto &[stub, entry] : all.kernels) {
    CUfunction one = nullptr;
    if (const CUkernel kernel = entry->handle)
      if (cuKernelGetFunction(&one, kernel) == CUDA_SUCCESS)
        all.stubs[one] = stub;
  }
  const auto found = all.stubs.find(function);
  return found == all.stubs.end() ? nullptr : found->second;
}

cudaError_t findVariable(const void *hostShadow, CUdeviceptr &address, size_t &bytes) {
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  const auto found = all.variables.find(hostShadow);
  if (found == all.variables.end())
    return cudaErrorInvalidSymbol;
  const Variable &variable = found->second;
  if (const CUresult result = load(*variable.binary); result != CUDA_SUCCESS)
    return static_cast<cudaError_t>(result);
  return cuLibraryGetGlobal(&address, &bytes, variable.binary->library, variable.name.c_str()) ==
                 CUDA_SUCCESS
             ? cudaSuccess
             : cudaErrorInvalidSymbol;
}

} // namespace ptxrun::runtime

using namespace ptxrun::runtime;

PTXRUN_RUNTIME_API void **__cudaRegisterFatBinary(void *wrapper) {
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  all.binaries.emplace_back().wrapper = wrapper;
  return reinterpret_cast<void **>(&all.binaries.back());
}

PTXRUN_RUNTIME_API void __cudaRegisterFatBinaryEnd(void **) {}

PTXRUN_RUNTIME_API void __cudaUnregisterFatBinary(void **handle) {
  if (!handle)
    return;
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  FatBinary &binary = binaryOf(handle);
  all.stubs.clear();
  std::erase_if(all.kernels, [&](const auto &entry) {
    if (entry.second->binary != &binary)
      return false;
    entry.second->handle = nullptr;
    return true;
  });
  std::erase_if(all.variables, [&](const auto &entry) { return entry.second.binary == &binary; });
  if (binary.library)
    cuLibraryUnload(binary.library);
  binary.library = nullptr;
}

PTXRUN_RUNTIME_API char __cudaInitModule(void **handle) {
  if (!handle)
    return false;
  std::lock_guard lock(registry().mutex);
  return load(binaryOf(handle)) == CUDA_SUCCESS;
}

PTXRUN_RUNTIME_API void __cudaRegisterFunction(void **handle, const char *hostStub, char *,
                                               const char *name, int, void *, void *, void *,
                                               void *, int *) {
  if (!handle)
    return;
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  all.kernels[hostStub] = &all.allKernels.emplace_back(&binaryOf(handle), name);
}

PTXRUN_RUNTIME_API void __cudaRegisterVar(void **handle, char *hostShadow, char *, const char *name,
                                          int, size_t bytes, int, int) {
  if (!handle)
    return;
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  all.variables[hostShadow] = {&binaryOf(handle), name, bytes};
}

PTXRUN_RUNTIME_API void __cudaRegisterManagedVar(void **handle, void **hostPointer, char *,
                                                 const char *name, int, size_t bytes, int, int) {
  if (!handle)
    return;
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  binaryOf(handle).managed.push_back({hostPointer, name});
  all.variables[hostPointer] = {&binaryOf(handle), name, bytes};
}

PTXRUN_RUNTIME_API cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol) {
  return perform([&] {
    CUdeviceptr address = 0;
    size_t bytes = 0;
    if (!pointer)
      return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t found = findVariable(symbol, address, bytes);
    *pointer = reinterpret_cast<void *>(address);
    return static_cast<CUresult>(found);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol) {
  return perform([&] {
    CUdeviceptr address = 0;
    if (!bytes)
      return CUDA_ERROR_INVALID_VALUE;
    return static_cast<CUresult>(findVariable(symbol, address, *bytes));
  });
}
