// Random numbers by Philox 4x32-10 (Salmon et al., 2011): four words from a counter and a key, one counter per thread.
extern "C" __global__ void philox(int n, unsigned key0, unsigned key1, uint4 *__restrict__ out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned c0 = i, c1 = 0, c2 = 0, c3 = 0;
  for (int round = 0; round < 10; ++round) {
    unsigned low0 = 0xD2511F53u * c0, high0 = __umulhi(0xD2511F53u, c0);
    unsigned low1 = 0xCD9E8D57u * c2, high1 = __umulhi(0xCD9E8D57u, c2);
    c0 = high1 ^ c1 ^ key0;
    c1 = low1;
    c2 = high0 ^ c3 ^ key1;
    c3 = low0;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  out[i] = make_uint4(c0, c1, c2, c3);
}
