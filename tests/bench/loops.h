// The same computations as a good programmer writes them for a CPU: OpenMP and SIMD C++, built with
// -O3 -march=native.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ptxrun::bench::loops {

void saxpy(size_t n, float a, const float *x, float *y);
void triad(size_t n, double s, double *a, const double *b, const double *c);
void copy4(size_t n, const float *from, float *to);
float reduce(size_t n, const float *x);
/// By one thread.
uint32_t sumOfWords(size_t n, const uint32_t *x);
void scan(size_t n, const uint32_t *in, uint32_t *out);
void stencil2d(int width, int height, const float *in, float *out);
void transpose(int width, int height, const float *in, float *out);
void spmv(int rows, const int *rowStart, const int *column, const float *value, const float *x,
          float *y);
void histogram(size_t words, const uint32_t *data, uint32_t *bins);
void blackScholes(size_t n, float rate, float volatility, const float *price, const float *strike,
                  const float *years, float *call, float *put);
void mandelbrot(int width, int height, int limit, float left, float top, float step,
                int *iterations);
void nbody(int n, float softening, const float *body, float *acceleration);
void sgemmInterchanged(int n, const float *a, const float *b, float *c);
/// n a multiple of 64.
void sgemmBlocked(int n, const float *a, const float *b, float *c);
/// c = a b^T modulo 2^32, a of rows x depth and b of columns x depth bytes by rows; multiples of
/// 128.
void gemmBytes(int rows, int columns, int depth, const int8_t *a, const int8_t *b, int32_t *c);
/// o = softmax(q k^T / 8) v of length x 64 each, length a multiple of 64.
void attention(int length, const float *q, const float *k, const float *v, float *o);
/// Sorts each run of `run` keys with std::sort.
void sortRuns(size_t runs, size_t run, uint32_t *keys);
/// n messages of one 64-byte block each, n a multiple of 16; digests of 32 bytes.
void sha256(size_t n, const uint32_t *message, uint32_t *digest);

} // namespace ptxrun::bench::loops
