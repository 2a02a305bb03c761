// Warp operations: shuffles, votes, matches, reductions; with partial warps and from divergent code.
constexpr unsigned kAll = 0xffffffffu;

extern "C" __global__ void shuffleModes(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], r = 0;
  r += __shfl_sync(kAll, v, 5);
  r = r * 3 + __shfl_sync(kAll, v, v & 31);
  r = r * 3 + __shfl_up_sync(kAll, v, 3);
  r = r * 3 + __shfl_down_sync(kAll, v, 7);
  r = r * 3 + __shfl_xor_sync(kAll, v, 11);
  out[i] = r;
}
CASE(shuffleModes, grid(2), block(64), in(128), out(128))

extern "C" __global__ void shuffleSegments(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], r = 0;
  r += __shfl_sync(kAll, v, 5, 8);
  r = r * 3 + __shfl_sync(kAll, v, v & 15, 16);
  r = r * 3 + __shfl_up_sync(kAll, v, 2, 4);
  r = r * 3 + __shfl_down_sync(kAll, v, 3, 8);
  r = r * 3 + __shfl_xor_sync(kAll, v, 5, 8);
  r = r * 3 + __shfl_xor_sync(kAll, v, 16, 16);
  r = r * 3 + __shfl_down_sync(kAll, v, 1, 2);
  out[i] = r;
}
CASE(shuffleSegments, grid(2), block(64), in(128), out(128))

extern "C" __global__ void shuffleTypes(const int *in, float *outFloat, long long *outLong, double *outDouble) {
  int t = threadIdx.x;
  float f = in[t] * 0.5f;
  long long l = in[t] * 1000000007ll;
  double d = in[t] / 16.0;
  outFloat[t] = __shfl_xor_sync(kAll, f, 1) + __shfl_sync(kAll, f, 9);
  outLong[t] = __shfl_down_sync(kAll, l, 4) ^ __shfl_up_sync(kAll, l, 1);
  outDouble[t] = __shfl_sync(kAll, d, (t * 3) & 31);
}
CASE(shuffleTypes, grid(1), block(64), in(64), out(64), out(64), out(64))

extern "C" __global__ void butterfly(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i];
  for (int mask = 16; mask > 0; mask /= 2) v += __shfl_xor_sync(kAll, v, mask);
  out[i] = v;
}
CASE(butterfly, grid(3), block(96), in(288), out(288))

extern "C" __global__ void warpScan(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = in[i];
  for (int offset = 1; offset < 32; offset *= 2) {
    int below = __shfl_up_sync(kAll, v, offset);
    if (lane >= offset) v += below;
  }
  out[i] = v;
}
CASE(warpScan, grid(2), block(128), in(256), out(256))

extern "C" __global__ void votes(const int *in, unsigned *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
  unsigned ballot = __ballot_sync(kAll, v & 1);
  unsigned r = ballot ^ __popc(ballot & ((1u << (threadIdx.x & 31)) - 1));
  r += __any_sync(kAll, (v & 255) == 3) ? 1 : 0;
  r += __all_sync(kAll, (v & 7) != 8) ? 2 : 0;
  r += __all_sync(kAll, (v & 31) < 30) ? 4 : 0;
  out[i] = r;
}
CASE(votes, grid(4), block(64), in(256), out(256))
CASE(votes, grid(4), block(50), in(200), out(200))

extern "C" __global__ void matches(const int *in, unsigned *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned same = __match_any_sync(kAll, in[i] & 7);
  int leader = __ffs(same) - 1;
  out[i] = same + __shfl_sync(kAll, in[i], leader) + __popc(same);
}
CASE(matches, grid(2), block(64), in(128), out(128))

extern "C" __global__ void warpReductions(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = static_cast<int>(__reduce_add_sync(kAll, static_cast<unsigned>(in[i]))) ^ __reduce_max_sync(kAll, in[i] >> 3);
}
CASE(warpReductions, grid(2), block(64), in(128), out(128))
CASE(warpReductions, grid(2), block(45), in(90), out(90))

// The mask names lanes that do not exist or have left: only live ones take part.
extern "C" __global__ void lanesMissing(const int *in, int *out, int n) {
  int t = threadIdx.x;
  if (t >= n) return;
  unsigned ballot = __ballot_sync(kAll, in[t] & 1);
  int r = __shfl_sync(kAll, in[t], 2) + __popc(ballot);
  if ((t & 31) > 20) {
    out[t] = r;
    return;
  }
  out[t] = r * 2 + static_cast<int>(__ballot_sync(kAll, in[t] & 2));
}
CASE(lanesMissing, grid(1), block(96), in(96), out(96), 70)
CASE(lanesMissing, grid(1), block(70), in(96), out(96), 96)

// Half of the warp on each side of a branch, each with a mask of its own.
extern "C" __global__ void halfWarps(const int *in, int *out) {
  int t = threadIdx.x, lane = t & 31, r;
  if (lane < 16) {
    r = __shfl_xor_sync(0x0000ffffu, in[t], 3);
    r += __popc(__ballot_sync(0x0000ffffu, in[t] & 1));
  } else {
    r = __shfl_sync(0xffff0000u, in[t], 16 + (lane * 3 & 15)) * 2;
    for (int k = 0; k < 3; ++k) r += __shfl_down_sync(0xffff0000u, r, 1, 16);
  }
  out[t] = r;
}
CASE(halfWarps, grid(1), block(64), in(64), out(64))

// Odd and even lanes: masks interleaved.
extern "C" __global__ void oddLanes(const int *in, int *out) {
  int t = threadIdx.x, r = in[t];
  if (t & 1) {
    for (int k = 0; k < 4; ++k) r = r * 3 + __shfl_xor_sync(0xaaaaaaaau, r, 2 << (k & 1));
  } else {
    r ^= static_cast<int>(__ballot_sync(0x55555555u, r & 4));
  }
  __syncwarp();
  out[t] = r + __shfl_sync(kAll, r, (t + 1) & 31);
}
CASE(oddLanes, grid(1), block(64), in(64), out(64))

// One meeting of the whole warp, reached along two paths: two instructions with the same mask.
extern "C" __global__ void meetOnTwoPaths(const int *in, int *out) {
  int t = threadIdx.x, r;
  if (in[t] & 1) {
    int mine = in[t] * 3;
    r = __shfl_sync(kAll, mine, (t + 1) & 31) + 1000;
  } else {
    int mine = in[t] ^ 77;
    if (in[t] & 2) mine += 5;
    r = __shfl_sync(kAll, mine, (t + 1) & 31) - 1000;
  }
  out[t] = r;
}
CASE(meetOnTwoPaths, grid(1), block(64), in(64), out(64))

// Lanes that leave a loop at different times meet afterwards.
extern "C" __global__ void meetAfterLoop(const int *in, int *out) {
  int t = threadIdx.x, v = in[t] & 63, count = 0;
  while (v > 3) v = v * 3 / 4, ++count;
  __syncwarp();
  int most = count;
  for (int mask = 16; mask; mask /= 2) most = max(most, __shfl_xor_sync(kAll, most, mask));
  out[t] = most * 100 + count;
}
CASE(meetAfterLoop, grid(1), block(96), in(96), out(96))

// A loop that the warp leaves together, by vote.
extern "C" __global__ void loopByVote(const int *in, int *out) {
  int t = threadIdx.x, v = in[t] & 255, rounds = 0;
  while (__any_sync(kAll, v > 7)) {
    if (v > 7) v = (v * 5 / 8) ^ (rounds & 1);
    ++rounds;
  }
  out[t] = v + rounds * 256;
}
CASE(loopByVote, grid(1), block(128), in(128), out(128))

// Values pass through shared memory between lanes, ordered by syncwarp alone.
extern "C" __global__ void throughSharedMemory(const int *in, int *out) {
  __shared__ int staged[64];
  int t = threadIdx.x, lane = t & 31, base = t & ~31, r = in[t];
  for (int k = 0; k < 5; ++k) {
    staged[t] = r;
    __syncwarp();
    r = r * 3 + staged[base + ((lane + 1 + k) & 31)];
    __syncwarp();
  }
  if (lane < 16) {
    staged[t] = r;
    __syncwarp(0xffff);
    r -= staged[base + (lane ^ 5)];
  }
  out[t] = r;
}
CASE(throughSharedMemory, grid(1), block(64), in(64), out(64))

extern "C" __global__ void warpBitonicSort(const int *in, int *out) {
  int t = threadIdx.x, lane = t & 31, key = in[t];
  for (int size = 2; size <= 32; size *= 2)
    for (int distance = size / 2; distance > 0; distance /= 2) {
      int other = __shfl_xor_sync(kAll, key, distance);
      bool keepsLow = ((lane & distance) == 0) == ((lane & size) == 0 || size == 32);
      key = keepsLow ? min(key, other) : max(key, other);
    }
  out[t] = key;
}
CASE(warpBitonicSort, grid(1), block(96), in(96), out(96))

// Compaction: positions by ballot and one atomic per warp; the order among warps is free, so the result is a count per value.
extern "C" __global__ void compaction(const int *in, int *counts, unsigned *total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool isKept = i < n && (in[i] & 3) != 0;
  unsigned ballot = __ballot_sync(kAll, isKept);
  int lane = threadIdx.x & 31, leader = __ffs(ballot) - 1;
  unsigned base = 0;
  if (lane == leader) base = atomicAdd(total, static_cast<unsigned>(__popc(ballot)));
  base = ballot ? __shfl_sync(kAll, base, leader) : 0;
  if (isKept) atomicAdd(&counts[base + __popc(ballot & ((1u << lane) - 1))], 1);
}
CASE(compaction, grid(4), block(64), in(250), inout(256, zeros()), inout(1, zeros()), 250)
