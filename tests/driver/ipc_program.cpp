// Two processes share memory and events. Prints what is wrong; exit code 0 if nothing is.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "loader/libcuda/cuda_api.h"
#include "tests/driver/kernels.h"

namespace {

int channel = -1; ///< to the other process
const char *who = "parent";

#define CHECK(expression)                                                                          \
  do {                                                                                             \
    if (CUresult result = (expression); result != CUDA_SUCCESS) {                                  \
      const char *name = nullptr;                                                                  \
      cuGetErrorName(result, &name);                                                               \
      printf("%s, line %d: %s: %s\n", who, __LINE__, #expression, name);                           \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

void require(bool isRight, int line) {
  if (!isRight) {
    printf("%s, line %d: wrong\n", who, line);
    exit(1);
  }
}
#define REQUIRE(condition) require(condition, __LINE__)

template <class T> void tell(const T &value) {
  REQUIRE(write(channel, &value, sizeof value) == sizeof value);
}
template <class T> T hear() {
  T value;
  REQUIRE(read(channel, &value, sizeof value) == sizeof value);
  return value;
}

void tellFile(int file) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof file);
  memcpy(CMSG_DATA(header), &file, sizeof file);
  REQUIRE(sendmsg(channel, &message, 0) == 1);
}
int hearFile() {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  REQUIRE(recvmsg(channel, &message, 0) == 1);
  int file = -1;
  memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
  return file;
}

struct Device {
  Device() {
    CHECK(cuInit(0));
    CHECK(cuCtxCreate(&context, nullptr, 0, 0));
    CUmodule module = nullptr;
    CHECK(cuModuleLoadData(&module, ptxrun::tests::kSmall));
    CHECK(cuModuleGetFunction(&store, module, "store"));
    CHECK(cuModuleGetFunction(&churn, module, "churn"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  }
  void put(CUdeviceptr address, uint32_t value) {
    void *arguments[] = {&address, &value};
    CHECK(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  }
  void spend(CUdeviceptr address) {
    uint32_t rounds = 20'000'000;
    void *arguments[] = {&address, &rounds};
    CHECK(cuLaunchKernel(churn, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  }
  uint32_t word(CUdeviceptr address) {
    uint32_t value = 0;
    CHECK(cuMemcpyDtoH(&value, address, 4));
    return value;
  }
  CUcontext context = nullptr;
  CUfunction store = nullptr, churn = nullptr;
  CUstream stream = nullptr;
};

constexpr size_t kLarge = 8 << 20, kSmallBytes = 400;

void runParent() {
  Device device;
  CUdeviceptr large = 0, small = 0, other = 0, scratch = 0;
  CHECK(cuMemAlloc(&large, kLarge));
  CHECK(cuMemAlloc(&small, kSmallBytes));
  CHECK(cuMemAlloc(&other, kSmallBytes));
  CHECK(cuMemAlloc(&scratch, 4));
  CHECK(cuMemsetD32(large, 11, kLarge / 4));
  CHECK(cuMemsetD32(small, 22, kSmallBytes / 4));
  CHECK(cuMemsetD32(other, 33, kSmallBytes / 4));
  CUipcMemHandle handle;
  for (CUdeviceptr address : {large, small}) {
    CHECK(cuIpcGetMemHandle(&handle, address));
    tell(handle);
  }
  REQUIRE(device.word(large + kLarge - 4) == 11); // what was there stays
  REQUIRE(device.word(small) == 22);
  CUdeviceptr own = 0;
  REQUIRE(cuIpcOpenMemHandle(&own, handle, 0) == CUDA_ERROR_INVALID_CONTEXT);
  CUevent event = nullptr, ordinary = nullptr;
  CUipcEventHandle eventHandle;
  CHECK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  CHECK(cuEventCreate(&ordinary, 0));
  REQUIRE(cuIpcGetEventHandle(&eventHandle, ordinary) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuIpcGetEventHandle(&eventHandle, event));
  tell(eventHandle);

  // The child's record is waited for here, on the host and in a stream.
  REQUIRE(hear<int>() == 1);
  CHECK(cuEventSynchronize(event));
  REQUIRE(device.word(large + 4096) == 44);
  REQUIRE(device.word(small + 8) == 55);
  REQUIRE(device.word(other) == 33);
  REQUIRE(hear<int>() == 2);
  CHECK(cuStreamWaitEvent(device.stream, event, 0));
  CHECK(cuMemcpyDtoDAsync(scratch, small + 12, 4, device.stream));
  CHECK(cuStreamSynchronize(device.stream));
  REQUIRE(device.word(scratch) == 66);

  // And the other way round.
  device.spend(scratch);
  device.put(large, 77);
  CHECK(cuEventRecord(event, device.stream));
  tell(3);
  REQUIRE(hear<int>() == 4);

  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  size_t unit = 0;
  CHECK(cuMemGetAllocationGranularity(&unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUmemGenericAllocationHandle memory = 0;
  CHECK(cuMemCreate(&memory, unit, &properties, 0));
  int file = -1;
  CHECK(cuMemExportToShareableHandle(&file, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  tellFile(file);
  close(file);
  CUdeviceptr address = 0;
  const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                  CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CHECK(cuMemAddressReserve(&address, unit, 0, 0, 0));
  CHECK(cuMemMap(address, unit, 0, memory, 0));
  CHECK(cuMemSetAccess(address, unit, &access, 1));
  REQUIRE(hear<int>() == 5);
  REQUIRE(device.word(address) == 88);

  CUmemPoolProps poolProperties = {};
  poolProperties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  poolProperties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  poolProperties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  poolProperties.maxSize = 16 << 20;
  CUmemoryPool pool = nullptr;
  CHECK(cuMemPoolCreate(&pool, &poolProperties));
  CHECK(cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  tellFile(file);
  close(file);
  CUdeviceptr pooled = 0, beside = 0;
  CHECK(cuMemAllocFromPoolAsync(&pooled, 1000, pool, device.stream));
  CHECK(cuMemAllocFromPoolAsync(&beside, 4, pool, device.stream));
  CHECK(cuMemsetD32Async(beside, 12, 1, device.stream));
  CHECK(cuMemsetD32Async(pooled, 99, 250, device.stream));
  CHECK(cuStreamSynchronize(device.stream));
  CUmemPoolPtrExportData data;
  CHECK(cuMemPoolExportPointer(&data, pooled));
  tell(data);
  REQUIRE(hear<int>() == 6);
  REQUIRE(device.word(pooled + 996) == 111);
  REQUIRE(device.word(beside) == 12);
  CHECK(cuMemFreeAsync(pooled, device.stream));
  CHECK(cuStreamSynchronize(device.stream));
  CUdeviceptr reused = 0;
  CHECK(cuMemAllocFromPoolAsync(&reused, 1000, pool, device.stream));
  REQUIRE(reused == pooled);
  CHECK(cuMemFree(reused));
  CHECK(cuMemFree(large));
  CHECK(cuMemFree(small));
}

void runChild() {
  who = "child";
  Device device;
  const auto largeHandle = hear<CUipcMemHandle>(), smallHandle = hear<CUipcMemHandle>();
  CUdeviceptr large = 0, small = 0, again = 0;
  CHECK(cuIpcOpenMemHandle(&large, largeHandle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  CHECK(cuIpcOpenMemHandle(&small, smallHandle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  CHECK(cuIpcOpenMemHandle(&again, smallHandle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  REQUIRE(again == small);
  CHECK(cuIpcCloseMemHandle(again));
  REQUIRE(device.word(large + kLarge - 4) == 11);
  REQUIRE(device.word(small + kSmallBytes - 4) == 22);
  CUipcMemHandle nonsense = {};
  REQUIRE(cuIpcOpenMemHandle(&again, nonsense, 0) == CUDA_ERROR_INVALID_HANDLE);
  CUevent event = nullptr;
  CHECK(cuIpcOpenEventHandle(&event, hear<CUipcEventHandle>()));
  REQUIRE(cuEventQuery(event) == CUDA_SUCCESS); // never recorded
  CUdeviceptr scratch = 0;
  CHECK(cuMemAlloc(&scratch, 4));
  CHECK(cuMemsetD32(scratch, 0, 1));
  device.spend(scratch);
  device.put(large + 4096, 44);
  device.put(small + 8, 55);
  CHECK(cuEventRecord(event, device.stream));
  tell(1);
  CHECK(cuStreamSynchronize(device.stream));
  device.spend(scratch);
  device.put(small + 12, 66);
  CHECK(cuEventRecord(event, device.stream));
  tell(2);
  REQUIRE(hear<int>() == 3);
  CHECK(cuStreamWaitEvent(device.stream, event, 0));
  CHECK(cuStreamSynchronize(device.stream));
  REQUIRE(device.word(large) == 77);
  CHECK(cuIpcCloseMemHandle(large));
  CHECK(cuIpcCloseMemHandle(small));
  REQUIRE(cuIpcCloseMemHandle(small) == CUDA_ERROR_INVALID_VALUE);
  tell(4);

  const int file = hearFile();
  CUmemGenericAllocationHandle memory = 0;
  CHECK(cuMemImportFromShareableHandle(&memory,
                                       reinterpret_cast<void *>(static_cast<intptr_t>(file)),
                                       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(file);
  CUdeviceptr address = 0;
  constexpr size_t kUnit = 2 << 20;
  const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                  CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CHECK(cuMemAddressReserve(&address, kUnit, 0, 0, 0));
  CHECK(cuMemMap(address, kUnit, 0, memory, 0));
  CHECK(cuMemSetAccess(address, kUnit, &access, 1));
  device.put(address, 88);
  CHECK(cuStreamSynchronize(device.stream));
  tell(5);

  const int poolFile = hearFile();
  CUmemoryPool pool = nullptr;
  CHECK(cuMemPoolImportFromShareableHandle(
      &pool, reinterpret_cast<void *>(static_cast<intptr_t>(poolFile)),
      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  close(poolFile);
  auto data = hear<CUmemPoolPtrExportData>();
  CUdeviceptr pooled = 0;
  CHECK(cuMemPoolImportPointer(&pooled, pool, &data));
  REQUIRE(device.word(pooled) == 99);
  REQUIRE(cuMemAllocFromPoolAsync(&address, 4, pool, device.stream) == CUDA_ERROR_INVALID_VALUE);
  device.put(pooled + 996, 111);
  CHECK(cuMemFreeAsync(pooled, device.stream));
  CHECK(cuStreamSynchronize(device.stream));
  tell(6);
}

} // namespace

int main() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    return 1;
  const pid_t child = fork(); // before the driver is initialised in either
  channel = ends[child == 0 ? 1 : 0];
  close(ends[child == 0 ? 0 : 1]);
  if (child == 0) {
    runChild();
    return 0;
  }
  runParent();
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
