// Accelerations of n bodies (x, y, z, mass) under their gravity, all pairs, tiles of 256 bodies through shared memory.
constexpr int kTile = 256;

extern "C" __global__ void nbody(int n, float softening, const float4 *__restrict__ body, float4 *__restrict__ acceleration) {
  __shared__ float4 tile[kTile];
  int i = blockIdx.x * kTile + threadIdx.x;
  float4 me = i < n ? body[i] : make_float4(0, 0, 0, 0);
  float ax = 0, ay = 0, az = 0;
  for (int base = 0; base < n; base += kTile) {
    int j = base + threadIdx.x;
    tile[threadIdx.x] = j < n ? body[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < kTile; ++k) {
      float4 other = tile[k];
      float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      float squared = dx * dx + dy * dy + dz * dz + softening;
      float inverse = rsqrtf(squared);
      float weight = other.w * inverse * inverse * inverse;
      ax += dx * weight;
      ay += dy * weight;
      az += dz * weight;
    }
    __syncthreads();
  }
  if (i < n) acceleration[i] = make_float4(ax, ay, az, 0);
}
