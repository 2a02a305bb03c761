#include "loader/libcuda/memory_operation.h"

#include <atomic>
#include <thread>
#include <type_traits>
#include <vector>

#include "loader/libcuda/copy.h"

namespace ptxrun::driver {

namespace {

template <class T> bool isReached(CUdeviceptr address, T value, unsigned flags) {
  const T now = std::atomic_ref<T>(*reinterpret_cast<T *>(address)).load(std::memory_order_acquire);
  switch (flags & 3) {
  case CU_STREAM_WAIT_VALUE_GEQ: // as distances on a circle
    return static_cast<std::make_signed_t<T>>(now - value) >= 0;
  case CU_STREAM_WAIT_VALUE_EQ:
    return now == value;
  case CU_STREAM_WAIT_VALUE_AND:
    return (now & value) != 0;
  default:
    return static_cast<T>(~(now | value)) != 0;
  }
}

template <class T> void wait(CUdeviceptr address, T value, unsigned flags) {
  while (!isReached(address, value, flags) && !shutdownFlag())
    std::this_thread::yield();
}

template <class T> void write(CUdeviceptr address, T value) {
  std::atomic_ref<T>(*reinterpret_cast<T *>(address)).store(value, std::memory_order_release);
}

class MemoryOperation final : public Operation {
 public:
  explicit MemoryOperation(std::span<const CUstreamBatchMemOpParams> parameters)
      : parameters_(parameters.begin(), parameters.end()) {}

  CUresult run(Context &) override {
    for (const CUstreamBatchMemOpParams &p : parameters_)
      switch (p.operation) {
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        wait<uint32_t>(p.waitValue.address, p.waitValue.value, p.waitValue.flags);
        break;
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        wait<uint64_t>(p.waitValue.address, p.waitValue.value64, p.waitValue.flags);
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        write<uint32_t>(p.writeValue.address, p.writeValue.value);
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        write<uint64_t>(p.writeValue.address, p.writeValue.value64);
        break;
      default:
        std::atomic_thread_fence(std::memory_order_seq_cst);
        break;
      }
    return CUDA_SUCCESS;
  }
  bool isLarge() const override {
    for (const CUstreamBatchMemOpParams &p : parameters_)
      if (p.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
          p.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64)
        return true;
    return false;
  }

 private:
  std::vector<CUstreamBatchMemOpParams> parameters_;
};

bool isGoodAddress(CUdeviceptr address, size_t bytes) {
  return address != 0 && address % bytes == 0 &&
         isAccessible(reinterpret_cast<const void *>(address), bytes);
}

bool isValid(const CUstreamBatchMemOpParams &p) {
  constexpr unsigned kWaitFlags = 3 | CU_STREAM_WAIT_VALUE_FLUSH;
  switch (p.operation) {
  case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    return isGoodAddress(p.waitValue.address, 4) && (p.waitValue.flags & ~kWaitFlags) == 0;
  case CU_STREAM_MEM_OP_WAIT_VALUE_64:
    return isGoodAddress(p.waitValue.address, 8) && (p.waitValue.flags & ~kWaitFlags) == 0;
  case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    return isGoodAddress(p.writeValue.address, 4) && p.writeValue.flags <= 1;
  case CU_STREAM_MEM_OP_WRITE_VALUE_64:
    return isGoodAddress(p.writeValue.address, 8) && p.writeValue.flags <= 1;
  case CU_STREAM_MEM_OP_BARRIER:
    return p.memoryBarrier.flags <= 1;
  case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
    return p.flushRemoteWrites.flags == 0;
  }
  return false;
}

} // namespace

CUresult makeMemoryOperation(std::span<const CUstreamBatchMemOpParams> parameters,
                             std::shared_ptr<Operation> &operation) {
  for (const CUstreamBatchMemOpParams &p : parameters)
    if (!isValid(p))
      return CUDA_ERROR_INVALID_VALUE;
  operation = std::make_shared<MemoryOperation>(parameters);
  return CUDA_SUCCESS;
}

} // namespace ptxrun::driver
