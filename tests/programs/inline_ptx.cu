// nvcc: -arch=compute_90 -G
// Inline PTX as programs have it, compiled for debugging: special registers, predicates and branches, vector loads, carries, cache operators,
// mbarriers, prefetches, fences, bit fields, video, nanosleep, timers.
#include "check.h"
#include <cstdint>

__device__ uint64_t timer() {
  uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}
__device__ __noinline__ void add128(uint64_t &lo, uint64_t &hi, uint64_t a, uint64_t b) {
  asm("add.cc.u64 %0, %0, %2;\n\taddc.u64 %1, %1, %3;" : "+l"(lo), "+l"(hi) : "l"(a), "l"(b));
}
__global__ void everything(uint64_t *out, const uint4 *in, volatile int *flag) {
  int t = threadIdx.x;
  uint64_t *o = out + t * 24;
  unsigned lane, warp, sm, smCount, grid, u;
  asm volatile("mov.u32 %0, %%laneid; mov.u32 %1, %%warpid; mov.u32 %2, %%smid; mov.u32 %3, %%nsmid;" : "=r"(lane), "=r"(warp), "=r"(sm), "=r"(smCount));
  asm volatile("mov.u32 %0, %%nctaid.x;" : "=r"(grid));
  o[0] = lane, o[1] = warp, o[2] = sm < smCount, o[3] = grid;
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(in + t));
  o[4] = v.x + v.y + v.z + v.w;
  asm("{\n\t.reg .pred p;\n\tsetp.gt.s32 p, %1, 10;\n\tselp.u32 %0, 100, 200, p;\n\t@p add.u32 %0, %0, 7;\n\t}" : "=r"(u) : "r"(t));
  o[5] = u;
  uint64_t lo = ~0ull - 1, hi = 5;
  add128(lo, hi, t, 1);
  o[6] = lo, o[7] = hi;
  asm("bfe.u32 %0, %1, 4, 8;" : "=r"(u) : "r"(v.x));
  o[8] = u;
  asm("bfi.b32 %0, %1, %2, 8, 4;" : "=r"(u) : "r"(t), "r"(0xffffffffu));
  o[9] = u;
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(u) : "r"(v.x), "r"(v.y), "r"(v.z));
  o[10] = u;
  asm("vabsdiff.s32.s32.s32.add %0, %1, %2, %3;" : "=r"(u) : "r"(t), "r"(20), "r"(3));
  o[11] = u;
  asm("{ .reg .u32 a; mov.u32 a, %1; L_LOOP_%=: sub.u32 a, a, 1; add.u32 %0, %0, 2; .reg .pred q; setp.ne.u32 q, a, 0; @q bra L_LOOP_%=; }" : "+r"(u) : "r"(t % 5 + 1));
  o[12] = u;
  double d;
  asm("fma.rz.f64 %0, %1, %2, %3;" : "=d"(d) : "d"(1.0 + t), "d"(0.5), "d"(-0.25));
  o[13] = __double_as_longlong(d);
  unsigned short h;
  asm("{ cvt.rn.f16.f32 %0, %1; }" : "=h"(h) : "f"(t * 0.5f));
  o[14] = h;
  __shared__ uint64_t bar;
  __shared__ int data[64];
  unsigned address = (unsigned)__cvta_generic_to_shared(&bar);
  if (t == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(blockDim.x) : "memory");
  __syncthreads();
  data[t] = t * 3;
  uint64_t token;
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(address) : "memory");
  asm volatile("{\n\t.reg .pred ready;\n\tWAIT_%=:\n\tmbarrier.try_wait.acquire.cta.shared::cta.b64 ready, [%0], %1;\n\t@!ready bra WAIT_%=;\n\t}" ::"r"(address), "l"(token) : "memory");
  o[15] = data[63 - t];
  uint64_t start = timer();
  asm volatile("nanosleep.u32 2000;");
  o[16] = timer() - start < 1000000000;
  asm volatile("fence.acq_rel.gpu; prefetch.global.L2 [%0]; membar.sys;" ::"l"(in) : "memory");
  asm volatile("st.global.cs.u64 [%0], %1;" ::"l"(o + 17), "l"((uint64_t)t * t) : "memory");
  unsigned old;
  asm volatile("atom.global.acq_rel.gpu.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(o + 18), "r"(0), "r"(t + 1) : "memory");
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(o + 18), "l"(1ull << 32) : "memory");
  asm("prmt.b32 %0, %1, %2, 0x3210;" : "=r"(u) : "r"(v.y), "r"(0));
  o[19] = u;
  asm("{ .reg .b32 l, h; mov.b64 {l, h}, %1; mov.b64 %0, {h, l}; }" : "=l"(o[20]) : "l"(0x1111111122222222ull + t));
  asm volatile("bar.sync 3, 64; barrier.cta.arrive 4, 64;");
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u64 %0, 1, 0, p; }" : "=l"(o[21]));
  if (flag[0] == 12345)
    asm volatile("trap;");
}

int main() {
  std::vector<uint4> in(64);
  for (int i = 0; i < 64; ++i)
    in[i] = make_uint4(i * 2654435761u, i * 40503u, ~i, i << 20);
  uint4 *d = toDevice(in);
  uint64_t *o;
  int *flag;
  CHECK(cudaMallocManaged(&o, 64 * 24 * 8));
  CHECK(cudaMallocManaged(&flag, 4));
  CHECK(cudaMemset(o, 0, 64 * 24 * 8));
  *flag = 0;
  everything<<<3, 64>>>(o, d, flag);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemset(o, 0, 64 * 24 * 8));
  everything<<<1, 64>>>(o, d, flag);
  CHECK(cudaDeviceSynchronize());
  int elected[2] = {};
  for (uint64_t t = 0; t < 64; ++t) {
    uint64_t *r = o + t * 24;
    uint4 v = in[t];
    EXPECT(r[0] == t % 32 && r[1] < 64 && r[2] == 1 && r[3] == 1 && r[4] == v.x + v.y + v.z + v.w && r[5] == (t > 10 ? 107 : 200));
    EXPECT(r[6] == ~0ull - 1 + t && r[7] == 6 + (t >= 2) && r[8] == (v.x >> 4 & 255) && r[9] == (0xfffff0ffu | (t & 15) << 8) && r[10] == (v.x ^ v.y ^ v.z));
    unsigned u = (t > 20 ? t - 20 : 20 - t) + 3;
    EXPECT(r[11] == u && r[12] == u + 2 * (t % 5 + 1));
    double want = 0.25 + 0.5 * t;
    EXPECT(*(double *)&r[13] == want && r[15] == (63 - t) * 3 && r[16] == 1 && r[17] == t * t && r[18] == (1ull << 32 | (t + 1)));
    EXPECT(r[19] == v.y && r[20] == ((0x22222222ull + t) << 32 | 0x11111111ull));
    elected[t / 32] += r[21];
  }
  EXPECT(o[2 * 24 + 14] == 0x3c00 && elected[0] == 1 && elected[1] == 1);
  *flag = 12345;
  everything<<<1, 64>>>(o, d, flag);
  cudaError_t error = cudaDeviceSynchronize();
  EXPECT(error == cudaErrorIllegalInstruction || error == cudaErrorLaunchFailure);
  EXPECT(cudaDeviceSynchronize() == error);
  return done();
}
