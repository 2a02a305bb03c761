// nvcc: -arch=compute_90
// Bulk and tensor copies as the programming guide writes them: cuda::barrier, cp_async_bulk, tensor maps from cuTensorMapEncodeTiled by
// cudaGetDriverEntryPoint, reductions in bulk, stores behind proxies' fences, swizzles.
#include "check.h"
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda/std/utility>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
namespace ptx = cuda::ptx;

__global__ void plusOne(int *data, size_t offset) {
  __shared__ alignas(16) int part[512];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  if (threadIdx.x == 0)
    cuda::memcpy_async(part, data + offset + blockIdx.x * 512, cuda::aligned_size_t<16>(sizeof part), bar);
  bar.arrive_and_wait();
  for (int i = threadIdx.x; i < 512; i += blockDim.x)
    part[i] += 1;
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_shared_to_global(data + offset + blockIdx.x * 512, part, sizeof part);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}
__global__ void tile(const __grid_constant__ CUtensorMap map, int x, int y, int add) {
  __shared__ alignas(128) int part[8][32];
  __shared__ barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_global_to_shared(&part, &map, x, y, bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof part);
  } else
    token = bar.arrive();
  bar.wait(std::move(token));
  for (int r = 0; r < 8; ++r)
    part[r][threadIdx.x] = part[r][threadIdx.x] * 2 + add;
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_shared_to_global(&map, x, y, &part);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
    (&bar)->~barrier();
  }
}
__global__ void sumUp(int *out) {
  __shared__ alignas(16) int part[64];
  part[threadIdx.x] = threadIdx.x + blockIdx.x;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out, part, sizeof part);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}

int main() {
  const int n = 512 * 6;
  std::vector<int> v(n);
  for (int i = 0; i < n; ++i)
    v[i] = i;
  int *d = toDevice(v);
  plusOne<<<5, 128>>>(d, 512);
  std::vector<int> got = toHost(d, n);
  for (int i = 0; i < n; ++i)
    EXPECT(got[i] == i + (i >= 512));
  void *entry = nullptr;
  cudaDriverEntryPointQueryResult status;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &status));
  EXPECT(entry && status == cudaDriverEntryPointSuccess);
  auto encode = (decltype(&cuTensorMapEncodeTiled))entry;
  const cuuint64_t width = 100, height = 20;
  CUtensorMap map;
  cuuint64_t size[] = {width, height}, stride[] = {112 * sizeof(int)};
  cuuint32_t box[] = {32, 8}, steps[] = {1, 1};
  EXPECT(encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, d, size, stride, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  std::vector<int> before = got;
  tile<<<1, 32>>>(map, 80, 15, 7); // over two edges
  CHECK(cudaDeviceSynchronize());
  got = toHost(d, n);
  for (int i = 0; i < n; ++i) {
    int x = i % 112, y = i / 112;
    bool isIn = x >= 80 && x < 100 && y >= 15 && y < 20;
    EXPECT(got[i] == (isIn ? before[i] * 2 + 7 : before[i]));
  }
  stride[0] = 111 * sizeof(int); // not a multiple of 16
  EXPECT(encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, d, size, stride, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_ERROR_INVALID_VALUE);
  int *sum;
  CHECK(cudaMallocManaged(&sum, 256));
  CHECK(cudaMemset(sum, 0, 256));
  sumUp<<<10, 64>>>(sum);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i)
    EXPECT(sum[i] == 10 * i + 45);
  return done();
}
