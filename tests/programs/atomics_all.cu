// nvcc: -arch=compute_90
// Every atomic of CUDA C++: functions of all scopes, 16 to 128 bits, vectors of floats, wrap-around, __nv_atomic_* built-ins, in global and shared memory.
#include "check.h"
#include <cstring>

struct Slots {
  int add, sub, exchange, least, most, both, any, either, cas;
  unsigned inc, dec, umax;
  unsigned long long wide, wideMax, wideAnd;
  long long signedMin;
  float f;
  double d;
  unsigned short half;
  alignas(16) float4 four;
  alignas(8) float2 two;
  int block, system;
  alignas(16) unsigned __int128 whole;
  int built, builtMax;
  double builtDouble;
};
__device__ void all(Slots &s, int t) {
  atomicAdd(&s.add, t), atomicSub(&s.sub, 2), atomicExch(&s.exchange, 77), atomicMin(&s.least, -t), atomicMax(&s.most, t * 3);
  atomicAnd(&s.both, ~(1 << t % 8)), atomicOr(&s.any, 1 << t % 20), atomicXor(&s.either, t), atomicInc(&s.inc, 9), atomicDec(&s.dec, 6), atomicMax(&s.umax, 0xf0000000u + t);
  for (int old = s.cas, seen;; old = seen)
    if ((seen = atomicCAS(&s.cas, old, old * 1 + 3)) == old)
      break;
  atomicAdd(&s.wide, 1ull << 33), atomicMax(&s.wideMax, (unsigned long long)t << 40), atomicAnd(&s.wideAnd, ~(1ull << t % 64)), atomicMin(&s.signedMin, -(long long)t << 35);
  atomicAdd(&s.f, 0.5f), atomicAdd(&s.d, 0.25);
  for (unsigned short old = s.half, seen;; old = seen)
    if ((seen = atomicCAS(&s.half, old, (unsigned short)(old + 3))) == old)
      break;
  atomicAdd_block(&s.block, 1), atomicAdd_system(&s.system, 2);
}
__global__ void inGlobal(Slots *s) {
  int t = threadIdx.x + blockIdx.x * blockDim.x;
  all(*s, t);
  atomicAdd(&s->four, make_float4(1, 2, 3, 4)), atomicAdd(&s->two, make_float2(t, 1));
  unsigned __int128 old = s->whole, next;
  do
    next = old + ((unsigned __int128)1 << 70) + 1;
  while (!__nv_atomic_compare_exchange(&s->whole, &old, &next, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE));
  __nv_atomic_fetch_add(&s->built, 2, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_SYSTEM);
  __nv_atomic_fetch_max(&s->builtMax, t, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_add(&s->builtDouble, 1.5, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}
__global__ void inShared(Slots *out, const Slots *first) {
  __shared__ Slots s;
  if (threadIdx.x == 0)
    s = *first;
  __syncthreads();
  all(s, threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0)
    *out = s;
}

int main() {
  Slots start, *global, *shared;
  memset(&start, 0, sizeof start);
  start.both = 0xffff, start.wideAnd = ~0ull, start.signedMin = 5;
  CHECK(cudaMallocManaged(&global, sizeof start));
  CHECK(cudaMallocManaged(&shared, sizeof start));
  Slots *first = toDevice(std::vector<Slots>{start});
  *global = start;
  inGlobal<<<5, 60>>>(global);
  inShared<<<1, 300>>>(shared, first);
  CHECK(cudaDeviceSynchronize());
  int either = 0;
  unsigned dec = 0;
  for (int t = 0; t < 300; ++t)
    either ^= t, dec = dec == 0 || dec > 6 ? 6 : dec - 1;
  for (Slots *s : {global, shared}) {
    EXPECT(s->add == 44850 && s->sub == -600 && s->exchange == 77 && s->least == -299 && s->most == 897 && s->both == 0xff00 && s->any == 0xfffff);
    EXPECT(s->either == either && s->inc == 0 && s->dec == dec && s->umax == 0xf0000000u + 299 && s->cas == 900 && s->half == 900);
    EXPECT(s->wide == 300ull << 33 && s->wideMax == 299ull << 40 && s->wideAnd == 0 && s->signedMin == -(299ll << 35));
    EXPECT(s->f == 150 && s->d == 75 && s->block == 300 && s->system == 600);
  }
  EXPECT(global->four.x == 300 && global->four.w == 1200 && global->two.x == 44850 && global->two.y == 300);
  EXPECT((unsigned long long)global->whole == 300 && (unsigned long long)(global->whole >> 64) == 300ull << 6);
  EXPECT(global->built == 600 && global->builtMax == 299 && global->builtDouble == 450);
  return done();
}
