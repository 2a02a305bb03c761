// What virtual memory management has taken of the device's memory, and where it is mapped.
#pragma once
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "loader/libcuda/cuda_abi.h"
#include "loader/libcuda/handles.h"
#include "loader/libcuda/shared_memory.h"

namespace ptxrun::driver {

constexpr size_t kPhysicalGranularity = 2 << 20;
inline bool isWhole(size_t bytes) { return bytes != 0 && bytes % kPhysicalGranularity == 0; }
inline void *pointer(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

/// Bytes that cuMemCreate made on a device and that are still held, by handles or mappings.
size_t createdPhysicalBytes(CUdevice);
/// Where memory of these properties counts; the host's counts as the first device's.
CUdevice deviceOf(const CUmemAllocationProp &);
/// PROT_... for CU_MEM_ACCESS_FLAGS_PROT_...
int protectionOf(unsigned access);

struct Multicast;

/// What a handle of an allocation stands for: memory, or a multicast object, which has none of its
/// own. Handles and mappings hold it; handles are counted by how often they were given out.
class PhysicalMemory : public Object {
 public:
  static constexpr Kind kKind = Kind::physicalMemory;
  PhysicalMemory(OwnedFile file, size_t bytes, const CUmemAllocationProp &properties);
  PhysicalMemory(size_t bytes, std::unique_ptr<Multicast> multicast);
  ~PhysicalMemory() override;
  CUdevice device() const { return deviceOf(properties); }

  const OwnedFile file;
  const size_t bytes;
  const CUmemAllocationProp properties;
  const std::unique_ptr<Multicast> multicast; ///< null: memory
  std::atomic<int> handles{1};
};

/// A multicast object: what its first device has bound to it is seen where it is mapped, what the
/// others have at places of their own, which `multimem` instructions find (rt/memory/multicast.h).
/// Guarded by the address space's mutex.
struct Multicast {
  struct Binding {
    size_t bytes;
    std::shared_ptr<PhysicalMemory> memory;
    size_t memoryOffset;
  };
  struct Member {
    CUdevice device;
    std::map<size_t, Binding> bindings; ///< by offset
  };
  explicit Multicast(unsigned devices) : devices(devices) {}
  bool isComplete() const { return team.size() == devices; }
  Member *find(CUdevice);

  const unsigned devices;
  std::vector<Member> team; ///< in the order in which they joined
};

struct Mapping {
  size_t bytes, offset;
  std::shared_ptr<PhysicalMemory> memory;
  unsigned access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  std::vector<CUdeviceptr> replicas = {}; ///< of a multicast object: where its other devices' are
};
/// Maps what is bound to the mapping's part of a multicast object; the rest is closed.
void showBindings(CUdeviceptr, Mapping &);
/// Takes the places of other devices away.
void forgetReplicas(CUdeviceptr, Mapping &);

/// Reserved ranges and what is mapped into them, by address. Never destroyed.
struct AddressSpace {
  std::mutex mutex;
  std::map<CUdeviceptr, size_t> reserved;
  std::map<CUdeviceptr, Mapping> mapped;

  static AddressSpace &instance();
  bool isReserved(CUdeviceptr address, size_t bytes) const;
  bool isFree(CUdeviceptr address, size_t bytes) const;
  /// The mappings that the range consists of, whole ones side by side; empty if it does not.
  std::vector<std::map<CUdeviceptr, Mapping>::iterator> mappingsOf(CUdeviceptr address,
                                                                   size_t bytes);
  /// The mapping that contains the address, or the end.
  std::map<CUdeviceptr, Mapping>::iterator containing(CUdeviceptr address);
};

} // namespace ptxrun::driver
