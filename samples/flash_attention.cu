// Attention, O = softmax(Q K^T / sqrt(d)) V, without the matrix of scores (FlashAttention-2), for
// sm_80. A block has 64 queries of one head and goes through the keys 64 or 32 at a time: tiles
// come to shared memory by cp.async, two stages, what lies behind the end as zeros; scores by
// mma.m16n8k16; the softmax goes on from tile to tile, with the largest score so far and the sum of
// weights so far in registers, as are the weights and 16 rows of O for each of four warps.
// Q, K, V and O are length x heads x d, in f16 or bf16, any length. Also written are the logarithms
// of the sums of exp(score), heads x length, that a backward pass wants.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

constexpr int kQueries = 64, kPad = 8, kThreads = 128;
constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;

__device__ uint32_t sharedAddress(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

/// 16 bytes, zeros where there is no row.
__device__ void copy16(void *to, const void *from, bool isThere) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(sharedAddress(to)), "l"(from),
               "r"(isThere ? 16 : 0));
}

__device__ void loadFour(uint32_t (&r)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(sharedAddress(row)));
}

__device__ void loadFourTransposed(uint32_t (&r)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(sharedAddress(row)));
}

#define MULTIPLY(type)                                                                             \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0, %1, %2, %3}, "    \
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                     \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                    \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))

template <class T>
__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);
template <>
__device__ void multiply<half>(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  MULTIPLY("f16");
}
template <>
__device__ void multiply<nv_bfloat16>(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                      uint32_t b1) {
  MULTIPLY("bf16");
}

template <class T> __device__ uint32_t pack(float low, float high);
template <> __device__ uint32_t pack<half>(float low, float high) {
  uint32_t d;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
  return d;
}
template <> __device__ uint32_t pack<nv_bfloat16>(float low, float high) {
  uint32_t d;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
  return d;
}

__device__ float powerOfTwo(float x) {
  float d;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(x));
  return d;
}

/// Of the four lanes that share a row.
__device__ float largestOfRow(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffff, x, 2));
}

__device__ float sumOfRow(float x) {
  x += __shfl_xor_sync(0xffffffff, x, 1);
  return x + __shfl_xor_sync(0xffffffff, x, 2);
}

template <class T, int kRows, int kDepth> using Tile = T[kRows][kDepth + kPad];

template <class T, int kKeys, int kDepth> struct Shared {
  Tile<T, kQueries, kDepth> queries;
  Tile<T, kKeys, kDepth> keys[2], values[2];
};

/// What a thread keeps of its rows, lane / 4 and lane / 4 + 8 of the warp's.
template <int kDepth> struct Rows {
  float sums[kDepth / 8][4] = {};            ///< of weights times values
  float largest[2] = {-INFINITY, -INFINITY}; ///< score so far
  float weights[2] = {};                     ///< this thread's part of their sum
};

template <class T, int kRows, int kRow>
__device__ void fetch(T (&tile)[kRows][kRow], const T *from, int firstRow, int length, int stride) {
  constexpr int kPieces = (kRow - kPad) / 8;
#pragma unroll
  for (int i = threadIdx.x; i < kRows * kPieces; i += kThreads) {
    const int row = i / kPieces, column = i % kPieces * 8;
    const bool isThere = firstRow + row < length;
    copy16(&tile[row][column], from + (size_t)(isThere ? firstRow + row : 0) * stride + column,
           isThere);
  }
}

template <class T, int kKeys, int kDepth>
__device__ void multiplyKeys(float (&scores)[kKeys / 8][4],
                             const uint32_t (&queries)[kDepth / 16][4],
                             const Tile<T, kKeys, kDepth> &keys) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int step = 0; step < kDepth / 16; ++step)
#pragma unroll
    for (int pair = 0; pair < kKeys / 16; ++pair) {
      uint32_t b[4];
      loadFour(b, &keys[pair * 16 + lane / 16 * 8 + lane % 8][step * 16 + lane / 8 % 2 * 8]);
      multiply<T>(scores[2 * pair], queries[step], b[0], b[1]);
      multiply<T>(scores[2 * pair + 1], queries[step], b[2], b[3]);
    }
}

/// Keys behind the end, and with a causal mask those after the query, get no weight.
template <bool kIsCausal, int kTiles>
__device__ void mask(float (&scores)[kTiles][4], int firstKey, int firstRow, int length) {
#pragma unroll
  for (int j = 0; j < kTiles; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int key = firstKey + j * 8 + threadIdx.x % 4 * 2 + i % 2, row = firstRow + i / 2 * 8;
      if (key >= length || (kIsCausal && key > row))
        scores[j][i] = -INFINITY;
    }
}

/// Makes weights of scores; what was summed before is scaled to the largest score now.
template <int kDepth, int kTiles>
__device__ void takeExponentials(Rows<kDepth> &rows, float (&scores)[kTiles][4], float scale) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float largest = rows.largest[h];
#pragma unroll
    for (int j = 0; j < kTiles; ++j)
      largest = fmaxf(largest, fmaxf(scores[j][2 * h], scores[j][2 * h + 1]));
    largest = largestOfRow(largest); // not -infinity: the first tile has a key for every query
    const float factor = powerOfTwo((rows.largest[h] - largest) * scale);
    rows.largest[h] = largest;
    rows.weights[h] *= factor;
#pragma unroll
    for (int j = 0; j < kDepth / 8; ++j) {
      rows.sums[j][2 * h] *= factor;
      rows.sums[j][2 * h + 1] *= factor;
    }
#pragma unroll
    for (int j = 0; j < kTiles; ++j)
#pragma unroll
      for (int i = 2 * h; i < 2 * h + 2; ++i) {
        scores[j][i] = powerOfTwo(fmaf(scores[j][i], scale, -largest * scale));
        rows.weights[h] += scores[j][i];
      }
  }
}

/// An accumulator's pairs lie where those of an operand lie: weights need no shuffles.
template <class T, int kKeys, int kDepth>
__device__ void multiplyValues(Rows<kDepth> &rows, const float (&weights)[kKeys / 8][4],
                               const Tile<T, kKeys, kDepth> &values) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int pair = 0; pair < kKeys / 16; ++pair) {
    const float(&left)[4] = weights[2 * pair], (&right)[4] = weights[2 * pair + 1];
    const uint32_t a[4] = {pack<T>(left[0], left[1]), pack<T>(left[2], left[3]),
                           pack<T>(right[0], right[1]), pack<T>(right[2], right[3])};
#pragma unroll
    for (int j = 0; j < kDepth / 16; ++j) {
      uint32_t b[4];
      loadFourTransposed(b, &values[pair * 16 + lane % 16][j * 16 + lane / 16 * 8]);
      multiply<T>(rows.sums[2 * j], a, b[0], b[1]);
      multiply<T>(rows.sums[2 * j + 1], a, b[2], b[3]);
    }
  }
}

template <class T, int kDepth>
__device__ void store(const Rows<kDepth> &rows, T *o, float *logSums, int firstRow, int length,
                      int stride, float scale) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int row = firstRow + 8 * h;
    const float sum = sumOfRow(rows.weights[h]); // before the branch: all lanes take part
    if (row >= length)
      continue;
    T *to = o + (size_t)row * stride + threadIdx.x % 4 * 2;
#pragma unroll
    for (int j = 0; j < kDepth / 8; ++j)
      *(uint32_t *)(to + 8 * j) = pack<T>(rows.sums[j][2 * h] / sum, rows.sums[j][2 * h + 1] / sum);
    if (threadIdx.x % 4 == 0)
      logSums[row] = rows.largest[h] * scale * kLn2 + __logf(sum);
  }
}

template <class T, int kDepth, bool kIsCausal>
__device__ void attend(const T *q, const T *k, const T *v, T *o, float *logSums, int length,
                       int heads) {
  // Fewer keys where registers are short and where a mask leaves half of the last tile unused.
  constexpr int kKeys = kDepth == 64 && !kIsCausal ? 64 : 32;
  constexpr float kScale = kLog2E * (kDepth == 64 ? 0.125f : 0.0883883476f); // 1 / sqrt(kDepth)
  extern __shared__ __align__(16) unsigned char memory[];
  auto &tiles = *reinterpret_cast<Shared<T, kKeys, kDepth> *>(memory);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, head = blockIdx.y;
  const int firstQuery = blockIdx.x * kQueries, row = firstQuery + warp * 16 + lane / 4;
  const int stride = heads * kDepth, end = kIsCausal ? min(length, firstQuery + kQueries) : length;
  const int seenByAll = kIsCausal ? min(length, firstQuery + 1) : length;
  q += head * kDepth, k += head * kDepth, v += head * kDepth, o += head * kDepth;

  fetch(tiles.queries, q, firstQuery, length, stride);
  fetch(tiles.keys[0], k, 0, length, stride);
  fetch(tiles.values[0], v, 0, length, stride);
  asm volatile("cp.async.commit_group;");
  uint32_t queries[kDepth / 16][4];
  Rows<kDepth> rows;
  for (int first = 0, stage = 0; first < end; first += kKeys, stage ^= 1) {
    if (first + kKeys < end) {
      fetch(tiles.keys[stage ^ 1], k, first + kKeys, length, stride);
      fetch(tiles.values[stage ^ 1], v, first + kKeys, length, stride);
      asm volatile("cp.async.commit_group;");
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
    if (first == 0)
#pragma unroll
      for (int step = 0; step < kDepth / 16; ++step)
        loadFour(queries[step], &tiles.queries[warp * 16 + lane % 16][step * 16 + lane / 16 * 8]);
    float scores[kKeys / 8][4] = {};
    multiplyKeys<T, kKeys, kDepth>(scores, queries, tiles.keys[stage]);
    if (first + kKeys > seenByAll)
      mask<kIsCausal>(scores, first, row, length);
    takeExponentials(rows, scores, kScale);
    multiplyValues<T, kKeys, kDepth>(rows, scores, tiles.values[stage]);
    __syncthreads();
  }
  store(rows, o, logSums + head * length, row, length, stride, kScale);
}

#define KERNEL(name, T, kDepth, kIsCausal)                                                         \
  extern "C" __global__ void __launch_bounds__(kThreads)                                           \
      name(const T *q, const T *k, const T *v, T *o, float *logSums, int length, int heads) {      \
    attend<T, kDepth, kIsCausal>(q, k, v, o, logSums, length, heads);                              \
  }

KERNEL(attendHalf, half, 64, false)
KERNEL(attendHalfCausal, half, 64, true)
KERNEL(attendBfloatCausal128, nv_bfloat16, 128, true)
