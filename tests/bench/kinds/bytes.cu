// Strings, checksums and ciphers.

// Three bytes become four letters; the table is constant memory.
__constant__ char kLetters[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
extern "C" __global__ void base64(int triples, const unsigned char *in, uchar4 *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= triples) return;
  unsigned v = in[3 * i] << 16 | in[3 * i + 1] << 8 | in[3 * i + 2];
  out[i] = make_uchar4(kLetters[v >> 18], kLetters[v >> 12 & 63], kLetters[v >> 6 & 63], kLetters[v & 63]);
}

// A message for each thread, one byte after the other.
extern "C" __global__ void crc32(int n, int length, const unsigned *table, const unsigned char *in, unsigned *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned crc = ~0u;
  for (int k = 0; k < length; ++k) crc = crc >> 8 ^ table[(crc ^ in[i * length + k]) & 255];
  out[i] = ~crc;
}

extern "C" __global__ void fnv64(int n, int length, const unsigned char *in, unsigned long long *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long hash = 0xcbf29ce484222325ull;
  for (int k = 0; k < length; ++k) hash = (hash ^ in[i * length + k]) * 0x100000001b3ull;
  out[i] = hash;
}

// Characters of UTF-8: bytes that do not continue one.
extern "C" __global__ void utf8Count(int n, const unsigned char *in, int *count) {
  __shared__ int warps[8];
  int mine = 0, t = threadIdx.x;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) mine += (in[i] & 0xc0) != 0x80;
  for (int d = 16; d > 0; d /= 2) mine += __shfl_down_sync(~0u, mine, d);
  if (t % 32 == 0) warps[t / 32] = mine;
  __syncthreads();
  if (t == 0) {
    for (int w = 1; w < 8; ++w) mine += warps[w];
    atomicAdd(count, mine);
  }
}

extern "C" __global__ void upperCase(int n, const char *in, char *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  char c = in[i];
  out[i] = c >= 'a' && c <= 'z' ? c - 32 : c;
}

__device__ unsigned rotate(unsigned v, int by) { return v << by | v >> (32 - by); }

// One block of 64 bytes for each thread.
extern "C" __global__ void md5(int n, const unsigned *sines, const uint4 *in, uint4 *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned w[16];
  for (int k = 0; k < 4; ++k) ((uint4 *)w)[k] = in[i * 4 + k];
  unsigned a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
  const int shifts[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
#pragma unroll
  for (int k = 0; k < 64; ++k) {
    unsigned f, g;
    if (k < 16) f = (b & c) | (~b & d), g = k;
    else if (k < 32) f = (d & b) | (~d & c), g = (5 * k + 1) % 16;
    else if (k < 48) f = b ^ c ^ d, g = (3 * k + 5) % 16;
    else f = c ^ (b | ~d), g = 7 * k % 16;
    f += a + sines[k] + w[g];
    a = d;
    d = c;
    c = b;
    b += rotate(f, shifts[k / 16 * 4 + k % 4]);
  }
  out[i] = make_uint4(a + 0x67452301, b + 0xefcdab89, c + 0x98badcfe, d + 0x10325476);
}

// Rounds of AES by four tables of words, staged in shared memory; a state of 16 bytes for each thread.
extern "C" __global__ void aesRounds(int n, const unsigned *tables, const unsigned *keys, const uint4 *in, uint4 *out) {
  __shared__ unsigned t[4][256];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) t[k / 256][k % 256] = tables[k];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint4 s = in[i];
  for (int r = 0; r < 9; ++r) {
    const unsigned *key = keys + 4 * r;
    uint4 d;
    d.x = t[0][s.x & 255] ^ t[1][s.y >> 8 & 255] ^ t[2][s.z >> 16 & 255] ^ t[3][s.w >> 24] ^ key[0];
    d.y = t[0][s.y & 255] ^ t[1][s.z >> 8 & 255] ^ t[2][s.w >> 16 & 255] ^ t[3][s.x >> 24] ^ key[1];
    d.z = t[0][s.z & 255] ^ t[1][s.w >> 8 & 255] ^ t[2][s.x >> 16 & 255] ^ t[3][s.y >> 24] ^ key[2];
    d.w = t[0][s.w & 255] ^ t[1][s.x >> 8 & 255] ^ t[2][s.y >> 16 & 255] ^ t[3][s.z >> 24] ^ key[3];
    s = d;
  }
  out[i] = s;
}

// Where a pattern of up to 16 bytes begins.
extern "C" __global__ void findPattern(int n, int length, const char *text, const char *pattern, unsigned char *found) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + length > n) return;
  int k = 0;
  while (k < length && text[i + k] == pattern[k]) ++k;
  found[i] = k == length;
}

// ChaCha20's key stream: a block of 64 bytes for each thread.
#define QUARTER(a, b, c, d) \
  a += b; d = rotate(d ^ a, 16); c += d; b = rotate(b ^ c, 12); \
  a += b; d = rotate(d ^ a, 8); c += d; b = rotate(b ^ c, 7);
extern "C" __global__ void chacha(int n, const unsigned *key, uint4 *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x[16], s[16];
  for (int k = 0; k < 16; ++k) s[k] = x[k] = key[k] + (k == 12 ? i : 0);
#pragma unroll 1
  for (int r = 0; r < 10; ++r) {
    QUARTER(x[0], x[4], x[8], x[12]) QUARTER(x[1], x[5], x[9], x[13])
    QUARTER(x[2], x[6], x[10], x[14]) QUARTER(x[3], x[7], x[11], x[15])
    QUARTER(x[0], x[5], x[10], x[15]) QUARTER(x[1], x[6], x[11], x[12])
    QUARTER(x[2], x[7], x[8], x[13]) QUARTER(x[3], x[4], x[9], x[14])
  }
  for (int k = 0; k < 16; ++k) x[k] += s[k];
  for (int k = 0; k < 4; ++k) out[4 * i + k] = make_uint4(x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]);
}
