// SHA-256, MD5 and CRC-32 of many messages at once, one a thread, beside the published values and a host's implementation.
#include "check.h"
#include <string>
// nvcc: -arch=compute_90
__constant__ unsigned kRound[64];
__constant__ unsigned kSine[64];
__constant__ unsigned char kShift[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};

#define ROTATE(x, n) ((x) >> (n) | (x) << (32 - (n)))
__host__ __device__ inline void sha256Block(unsigned *h, const unsigned *m, const unsigned *k) {
  unsigned w[64], s[8];
  for (int i = 0; i < 16; ++i)
    w[i] = m[i];
  for (int i = 16; i < 64; ++i) {
    unsigned a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (ROTATE(a, 7) ^ ROTATE(a, 18) ^ a >> 3) + w[i - 7] + (ROTATE(b, 17) ^ ROTATE(b, 19) ^ b >> 10);
  }
  for (int i = 0; i < 8; ++i)
    s[i] = h[i];
  for (int i = 0; i < 64; ++i) {
    unsigned t1 = s[7] + (ROTATE(s[4], 6) ^ ROTATE(s[4], 11) ^ ROTATE(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
    unsigned t2 = (ROTATE(s[0], 2) ^ ROTATE(s[0], 13) ^ ROTATE(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    for (int j = 7; j > 0; --j)
      s[j] = s[j - 1];
    s[4] += t1, s[0] = t1 + t2;
  }
  for (int i = 0; i < 8; ++i)
    h[i] += s[i];
}
__host__ __device__ inline void md5Block(unsigned *h, const unsigned *m, const unsigned *sine, const unsigned char *shift) {
  unsigned a = h[0], b = h[1], c = h[2], d = h[3];
  for (int i = 0; i < 64; ++i) {
    unsigned f, g;
    switch (i / 16) {
    case 0: f = (b & c) | (~b & d), g = i; break;
    case 1: f = (d & b) | (~d & c), g = (5 * i + 1) % 16; break;
    case 2: f = b ^ c ^ d, g = (3 * i + 5) % 16; break;
    default: f = c ^ (b | ~d), g = 7 * i % 16;
    }
    unsigned r = shift[i / 16 * 4 + i % 4], x = a + f + sine[i] + m[g];
    a = d, d = c, c = b;
    b += x << r | x >> (32 - r);
  }
  h[0] += a, h[1] += b, h[2] += c, h[3] += d;
}
/// One block of 64 bytes with the message, its padding and its length.
__host__ __device__ inline void pad(const unsigned char *text, int n, unsigned *m, bool isBig) {
  for (int i = 0; i < 16; ++i) {
    unsigned v = 0;
    for (int b = 0; b < 4; ++b) {
      int at = i * 4 + b;
      unsigned c = at < n ? text[at] : at == n ? 0x80 : 0;
      v |= c << (isBig ? 24 - 8 * b : 8 * b);
    }
    m[i] = v;
  }
  m[isBig ? 15 : 14] = n * 8;
}
__global__ void hash(const unsigned char *texts, const int *lengths, unsigned *sha, unsigned *md5, unsigned *crc, int n) {
  __shared__ unsigned table[256];
  for (int t = threadIdx.x; t < 256; t += blockDim.x) {
    unsigned c = t;
    for (int k = 0; k < 8; ++k)
      c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
    table[t] = c;
  }
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const unsigned char *text = texts + i * 56;
  unsigned m[16], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  pad(text, lengths[i], m, true);
  sha256Block(h, m, kRound);
  for (int k = 0; k < 8; ++k)
    sha[i * 8 + k] = h[k];
  unsigned g[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  pad(text, lengths[i], m, false);
  md5Block(g, m, kSine, kShift);
  *(uint4 *)(md5 + i * 4) = make_uint4(g[0], g[1], g[2], g[3]);
  unsigned c = ~0u;
  for (int k = 0; k < lengths[i]; ++k)
    c = table[(c ^ text[k]) & 255] ^ c >> 8;
  crc[i] = ~c;
}

int main() {
  // the constants by their definitions: roots of primes, sines
  unsigned round[64], sine[64];
  for (int i = 0, p = 2; i < 64; ++p) {
    bool isPrime = true;
    for (int q = 2; q * q <= p; ++q)
      isPrime &= p % q != 0;
    if (isPrime)
      round[i++] = unsigned((std::cbrt((long double)p) - std::floor(std::cbrt((long double)p))) * 4294967296.0L);
  }
  for (int i = 0; i < 64; ++i)
    sine[i] = unsigned(std::fabs(std::sin((long double)(i + 1))) * 4294967296.0L);
  const unsigned char shift[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
  CHECK(cudaMemcpyToSymbol(kRound, round, sizeof round));
  CHECK(cudaMemcpyToSymbol(kSine, sine, sizeof sine));
  const int n = 5000;
  std::vector<unsigned char> texts(n * 56);
  std::vector<int> lengths(n);
  std::string first[] = {"", "abc", "The quick brown fox jumps over the lazy dog", "123456789"};
  for (int i = 0; i < n; ++i) {
    std::string s = i < 4 ? first[i] : "message " + std::to_string(i * 7919) + std::string(i % 30, 'x');
    lengths[i] = int(s.size());
    memcpy(&texts[i * 56], s.data(), s.size());
  }
  unsigned char *dt = toDevice(texts);
  int *dl = toDevice(lengths);
  unsigned *sha, *md5, *crc;
  CHECK(cudaMalloc(&sha, n * 32));
  CHECK(cudaMalloc(&md5, n * 16));
  CHECK(cudaMalloc(&crc, n * 4));
  hash<<<(n + 127) / 128, 128>>>(dt, dl, sha, md5, crc, n);
  CHECK(cudaGetLastError());
  std::vector<unsigned> s = toHost(sha, n * 8), m = toHost(md5, n * 4), c = toHost(crc, n);
  EXPECT(s[0] == 0xe3b0c442 && s[7] == 0x7852b855); // of nothing
  EXPECT(s[8] == 0xba7816bf && s[15] == 0xf20015ad); // abc
  EXPECT(m[0] == 0xd98c1dd4 && m[4] == 0x98500190);  // d41d8cd9..., 90015098...
  EXPECT(c[3] == 0xcbf43926 && c[0] == 0);
  for (int i = 0; i < n; ++i) {
    unsigned w[16], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    pad(&texts[i * 56], lengths[i], w, true);
    sha256Block(h, w, round);
    EXPECT(memcmp(h, &s[i * 8], 32) == 0);
    unsigned g[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    pad(&texts[i * 56], lengths[i], w, false);
    md5Block(g, w, sine, shift);
    EXPECT(memcmp(g, &m[i * 4], 16) == 0);
  }
  return done();
}
