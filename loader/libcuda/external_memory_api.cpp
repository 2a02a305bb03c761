// Memory that other APIs made, where it is a file that can be mapped: Vulkan's on processors, the
// driver's own of other processes.
#include "loader/libcuda/external_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/memory.h"
#include "loader/libcuda/shared_memory.h"

namespace ptxrun::driver {

namespace {

class ExternalMemory final : public Object {
 public:
  static constexpr Kind kKind = Kind::externalMemory;
  ExternalMemory(OwnedFile file, size_t bytes)
      : Object(kKind), file(std::move(file)), bytes(bytes) {}
  const OwnedFile file;
  const size_t bytes;
};

struct Mapping {
  void *base; ///< at a whole page
  size_t bytes;
};

/// Buffers by their address. Never destroyed.
struct Mappings {
  std::mutex mutex;
  std::map<CUdeviceptr, Mapping> byAddress;
  static Mappings &instance() {
    static auto *mappings = new Mappings;
    return *mappings;
  }
};

/// Maps [offset, offset + bytes) of the file; files are mapped from whole pages on.
CUresult mapBuffer(const ExternalMemory &memory, size_t offset, size_t bytes, Context &context,
                   CUdeviceptr &address) {
  const size_t page = static_cast<size_t>(getpagesize()), lead = offset % page;
  void *base = mapShared(memory.file, nullptr, lead + bytes, offset - lead);
  if (!base)
    return CUDA_ERROR_INVALID_VALUE; // a handle to what is no memory
  address = reinterpret_cast<CUdeviceptr>(base) + lead;
  noteMapped(reinterpret_cast<void *>(address), bytes, {MemoryUse::mapped, 0, &context});
  Mappings &all = Mappings::instance();
  std::lock_guard lock(all.mutex);
  all.byAddress[address] = {base, lead + bytes};
  return CUDA_SUCCESS;
}

} // namespace

CUresult releaseExternalBuffer(CUdeviceptr address) {
  Mappings &all = Mappings::instance();
  std::lock_guard lock(all.mutex);
  const auto found = all.byAddress.find(address);
  if (found == all.byAddress.end())
    return CUDA_ERROR_INVALID_VALUE;
  forgetMapped(reinterpret_cast<void *>(address));
  munmap(found->second.base, found->second.bytes);
  all.byAddress.erase(found);
  return CUDA_SUCCESS;
}

} // namespace ptxrun::driver

using namespace ptxrun::driver;

/// The file becomes the driver's, which closes it.
PTXRUN_API CUresult cuImportExternalMemory(CUexternalMemory *handle,
                                           const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *d) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!handle || !d || d->size == 0 || (d->flags & ~unsigned{CUDA_EXTERNAL_MEMORY_DEDICATED}))
    return CUDA_ERROR_INVALID_VALUE;
  if (d->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD)
    return notSupported("external memory by other handles than opaque file descriptors");
  OwnedFile file = OwnedFile::copyOf(d->handle.fd);
  if (!file.isOpen())
    return CUDA_ERROR_INVALID_HANDLE;
  if (file.bytes() < d->size)
    return CUDA_ERROR_INVALID_VALUE;
  *handle = publish<CUexternalMemory>(std::make_shared<ExternalMemory>(std::move(file), d->size));
  close(d->handle.fd);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *address, CUexternalMemory handle,
                                                    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *d) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  const auto memory = resolve<ExternalMemory>(handle);
  if (!memory)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!address || !d || d->flags != 0 || d->size == 0 || d->offset > memory->bytes ||
      d->size > memory->bytes - d->offset)
    return CUDA_ERROR_INVALID_VALUE;
  return mapBuffer(*memory, d->offset, d->size, *context, *address);
}

/// Buffers in it stay until they are freed.
PTXRUN_API CUresult cuDestroyExternalMemory(CUexternalMemory handle) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  return withdraw<ExternalMemory>(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
