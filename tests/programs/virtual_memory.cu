// Virtual memory management as vectorAddMMAP has it: a vector that grows in place; shared by file descriptors; and memory handed on by IPC
// handles to a second process.
#include "check.h"
#include <cstring>
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#define DRIVER(call) EXPECT((call) == CUDA_SUCCESS)
__global__ void add(float *a, const float *b, size_t n) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    a[i] += b[i];
}
__global__ void fill(int *p, int v, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    p[i] = v + i;
}

int main(int argc, char **argv) {
  if (argc > 1) { // the second process: reads a handle, checks, writes
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
    EXPECT(read(0, &memory, sizeof memory) == sizeof memory && read(0, &event, sizeof event) == sizeof event);
    int *p, first = 0;
    cudaEvent_t e;
    CHECK(cudaIpcOpenMemHandle((void **)&p, memory, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenEventHandle(&e, event));
    CHECK(cudaStreamWaitEvent(0, e, 0));
    CHECK(cudaMemcpy(&first, p + 99, 4, cudaMemcpyDeviceToHost));
    EXPECT(first == 1099);
    fill<<<1, 64>>>(p, 5000, 100);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaIpcCloseMemHandle(p));
    return failures ? 1 : 0;
  }
  CHECK(cudaSetDevice(0));
  CHECK(cudaFree(nullptr));
  CUdevice device;
  DRIVER(cuDeviceGet(&device, 0));
  int supported = 0;
  DRIVER(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device));
  EXPECT(supported == 1);
  CUmemAllocationProp p = {};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED, p.location.type = CU_MEM_LOCATION_TYPE_DEVICE, p.location.id = device;
  p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  size_t unit;
  DRIVER(cuMemGetAllocationGranularity(&unit, &p, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  CUdeviceptr base, view;
  DRIVER(cuMemAddressReserve(&base, 4 * unit, 0, 0, 0));
  CUmemGenericAllocationHandle parts[3], imported;
  CUmemAccessDesc access = {};
  access.location = p.location, access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  for (int i = 0; i < 3; ++i) {
    DRIVER(cuMemCreate(&parts[i], unit, &p, 0));
    DRIVER(cuMemMap(base + i * unit, unit, 0, parts[i], 0));
    DRIVER(cuMemSetAccess(base + i * unit, unit, &access, 1));
  }
  size_t n = 3 * unit / 4;
  std::vector<float> b(n);
  for (size_t i = 0; i < n; ++i)
    b[i] = i % 1000;
  float *db = toDevice(b), *a = (float *)base;
  CHECK(cudaMemset(a, 0, n * 4));
  for (int i = 0; i < 2; ++i)
    add<<<20, 256>>>(a, db, n);
  std::vector<float> got = toHost(a, n);
  size_t wrong = 0;
  for (size_t i = 0; i < n; ++i)
    wrong += got[i] != 2 * b[i];
  EXPECT(wrong == 0);
  int fd = -1;
  DRIVER(cuMemExportToShareableHandle(&fd, parts[1], CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  DRIVER(cuMemImportFromShareableHandle(&imported, (void *)(size_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(fd);
  DRIVER(cuMemAddressReserve(&view, unit, 0, 0, 0));
  DRIVER(cuMemMap(view, unit, 0, imported, 0));
  DRIVER(cuMemSetAccess(view, unit, &access, 1));
  fill<<<1, 256>>>((int *)view, 7, 1000);
  CHECK(cudaMemcpy(got.data(), a + unit / 4, 4000, cudaMemcpyDefault));
  EXPECT(((int *)got.data())[999] == 1006);
  DRIVER(cuMemUnmap(view, unit));
  DRIVER(cuMemUnmap(base, 3 * unit));
  for (auto h : parts)
    DRIVER(cuMemRelease(h));
  DRIVER(cuMemAddressFree(base, 4 * unit));

  int *shared, pipes[2];
  CHECK(cudaMalloc(&shared, 400));
  fill<<<1, 32>>>(shared, 1000, 100);
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t event;
  cudaEvent_t e;
  CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming | cudaEventInterprocess));
  CHECK(cudaEventRecord(e));
  CHECK(cudaIpcGetMemHandle(&memory, shared));
  CHECK(cudaIpcGetEventHandle(&event, e));
  CHECK(cudaDeviceSynchronize());
  EXPECT(pipe(pipes) == 0);
  pid_t child = fork();
  if (child == 0) {
    dup2(pipes[0], 0);
    execl("/proc/self/exe", argv[0], "second", nullptr);
    _exit(9);
  }
  EXPECT(write(pipes[1], &memory, sizeof memory) > 0 && write(pipes[1], &event, sizeof event) > 0);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT(status == 0);
  int last = 0;
  CHECK(cudaMemcpy(&last, shared + 99, 4, cudaMemcpyDeviceToHost));
  EXPECT(last == 5099);
  return done();
}
