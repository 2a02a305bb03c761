// Host memory of all kinds: pinned, mapped, registered, write-combined, portable, managed; what pointers say about themselves; fills of two and three
// dimensions; symbols.
#include "check.h"
// nvcc: -arch=compute_90
__constant__ float table[64];
__constant__ struct { int a; double b; char name[8]; } record;
__device__ int array[100];
__device__ double scalar = 2.5;
__device__ __managed__ int shared[10] = {3, 1, 4, 1, 5};

__global__ void doubled(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] *= 2;
}
__global__ void use(float *out, double *d) {
  out[threadIdx.x] = table[63 - threadIdx.x] * record.a + array[threadIdx.x];
  if (threadIdx.x == 0)
    *d = record.b + scalar + shared[2] + record.name[1], scalar = 8;
}

int main() {
  const int n = 4096;
  int *pinned, *mapped, *device, *combined;
  CHECK(cudaMallocHost(&pinned, n * 4));
  CHECK(cudaHostAlloc(&mapped, n * 4, cudaHostAllocMapped | cudaHostAllocPortable));
  CHECK(cudaHostAlloc(&combined, n * 4, cudaHostAllocWriteCombined));
  CHECK(cudaHostGetDevicePointer((void **)&device, mapped, 0));
  unsigned flags = 0;
  CHECK(cudaHostGetFlags(&flags, mapped));
  EXPECT((flags & (cudaHostAllocMapped | cudaHostAllocPortable)) == (cudaHostAllocMapped | cudaHostAllocPortable));
  for (int i = 0; i < n; ++i)
    pinned[i] = mapped[i] = combined[i] = i;
  doubled<<<n / 256, 256>>>(device, n);
  doubled<<<n / 256, 256>>>(pinned, n);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i)
    EXPECT(mapped[i] == 2 * i && pinned[i] == 2 * i);
  std::vector<int> ordinary(n + 4096);
  for (int i = 0; i < n; ++i)
    ordinary[i] = 7 * i;
  CHECK(cudaHostRegister(ordinary.data(), n * 4, cudaHostRegisterMapped));
  EXPECT(cudaHostRegister(ordinary.data(), n * 4, cudaHostRegisterMapped) == cudaErrorHostMemoryAlreadyRegistered);
  cudaGetLastError();
  CHECK(cudaHostGetDevicePointer((void **)&device, ordinary.data(), 0));
  doubled<<<n / 256, 256>>>(device, n);
  CHECK(cudaDeviceSynchronize());
  EXPECT(ordinary[n - 1] == 14 * (n - 1));
  cudaPointerAttributes a;
  CHECK(cudaPointerGetAttributes(&a, ordinary.data() + 5));
  EXPECT(a.type == cudaMemoryTypeHost && a.hostPointer == ordinary.data() + 5 && a.devicePointer == device + 5);
  CHECK(cudaHostUnregister(ordinary.data()));
  EXPECT(cudaHostUnregister(ordinary.data()) == cudaErrorHostMemoryNotRegistered);
  cudaGetLastError();
  CHECK(cudaPointerGetAttributes(&a, ordinary.data()));
  EXPECT(a.type == cudaMemoryTypeUnregistered && a.devicePointer == nullptr);
  CHECK(cudaPointerGetAttributes(&a, shared));
  EXPECT(a.type == cudaMemoryTypeManaged);
  EXPECT(cudaHostGetDevicePointer((void **)&device, (void *)&n, 0) == cudaErrorInvalidValue);
  cudaGetLastError();
  int *d;
  CHECK(cudaMalloc(&d, n * 4));
  CHECK(cudaPointerGetAttributes(&a, d));
  EXPECT(a.type == cudaMemoryTypeDevice && a.devicePointer == d && a.hostPointer == nullptr);
  EXPECT(cudaFreeHost(d) == cudaErrorInvalidValue);

  EXPECT(cudaFree((char *)d + 4) == cudaErrorInvalidValue);
  cudaGetLastError();

  // fills
  cudaPitchedPtr box;
  CHECK(cudaMalloc3D(&box, make_cudaExtent(100, 20, 5)));
  CHECK(cudaMemset3D(box, 1, make_cudaExtent(100, 20, 5)));
  cudaPitchedPtr part = box;
  part.ptr = (char *)box.ptr + 10 + 3 * box.pitch;
  CHECK(cudaMemset3D(part, 0x42, make_cudaExtent(50, 10, 3)));
  CHECK(cudaMemset2D((char *)box.ptr + 4 * box.pitch * 20, box.pitch, 0x77, 4, 20));
  std::vector<char> bytes(100 * 20 * 5);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = box, copy.dstPtr = make_cudaPitchedPtr(bytes.data(), 100, 100, 20);
  copy.extent = make_cudaExtent(100, 20, 5), copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  for (int z = 0; z < 5; ++z)
    for (int y = 0; y < 20; ++y)
      for (int x = 0; x < 100; ++x) {
        char want = x >= 10 && x < 60 && y >= 3 && y < 13 && z < 3 ? 0x42 : z == 4 && x < 4 ? 0x77 : 1;
        EXPECT(bytes[(z * 20 + y) * 100 + x] == want);
      }

  // symbols
  float values[64];
  for (int i = 0; i < 64; ++i)
    values[i] = i;
  CHECK(cudaMemcpyToSymbol(table, values, 32 * 4));
  CHECK(cudaMemcpyToSymbol(table, values + 32, 32 * 4, 32 * 4));
  struct { int a; double b; char name[8]; } hostRecord = {3, 0.25, "ab"};
  CHECK(cudaMemcpyToSymbolAsync(record, &hostRecord, sizeof hostRecord, 0, cudaMemcpyHostToDevice, 0));
  int *address;
  size_t size = 0;
  CHECK(cudaGetSymbolAddress((void **)&address, array));
  CHECK(cudaGetSymbolSize(&size, array));
  EXPECT(size == 400);
  CHECK(cudaMemset(address, 0, 400));
  int ten = 10;
  CHECK(cudaMemcpy(address + 5, &ten, 4, cudaMemcpyHostToDevice));
  float *out;
  double *sum;
  CHECK(cudaMallocManaged(&out, 64 * 4));
  CHECK(cudaMallocManaged(&sum, 8));
  use<<<1, 64>>>(out, sum);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i)
    EXPECT(out[i] == (63 - i) * 3 + (i == 5 ? 10 : 0));
  EXPECT(*sum == 0.25 + 2.5 + 4 + 'b');
  double s = 0;
  CHECK(cudaMemcpyFromSymbol(&s, scalar, 8));
  EXPECT(s == 8);
  EXPECT(cudaMemcpyToSymbol(table, values, 300) == cudaErrorInvalidValue);
  EXPECT(cudaGetSymbolSize(&size, &ten) == cudaErrorInvalidSymbol);
  EXPECT(cudaMemcpyToSymbol(&ten, values, 4) == cudaErrorInvalidSymbol);
  cudaGetLastError();
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFreeHost(mapped));
  CHECK(cudaFreeHost(combined));
  return done();
}
