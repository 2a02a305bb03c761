// printf of kernels: formats, strings, widths, many arguments, return values, the size of the buffer. The output is compared by the program
// itself, which reads what it wrote.
#include "check.h"
#include <cstring>
#include <string>
#include <unistd.h>

__global__ void formats(int *result) {
  const char *word = "word";
  result[0] = printf("%d %5d|%-5d|%05d %+d %x %X %#x %o %u\n", 1, 42, 42, 42, 7, 255, 255, 255, 8, 4000000000u);
  result[1] = printf("%f %.3f %10.2f|%-10.1f| %e %g %G %a\n", 1.5, 3.14159, 2.71828, 0.5, 12345.678, 1e-10, 1e20, 1.0);
  result[2] = printf("%s %10s|%-10s|%.2s %c%c %%\n", word, word, word, word, 'x', 'y');
  result[3] = printf("%lld %llu %ld %lx %hd %hhd %zu\n", -1ll, ~0ull, 1l << 40, 0xabcdefl, (short)-3, (char)65, (size_t)99);
  result[4] = printf("none\n");
  result[5] = printf("%d %f %d %f %d %f %d %f %d %f %d %f %d %f %d %f %d\n", 1, 2., 3, 4., 5, 6., 7, 8., 9, 10., 11, 12., 13, 14., 15, 16., 17);
  result[6] = printf("%*d|%-*d|%.*f\n", 6, 1, 6, 2, 3, 1.23456);
  result[7] = printf("inf %f %f nan %f\n", INFINITY, -INFINITY, NAN);
}
__global__ void order() {
  if (threadIdx.x % 8 == 0)
    printf("t%d.%d ", blockIdx.x, threadIdx.x);
}

int main() {
  char name[] = "/tmp/print_formats_XXXXXX";
  int file = mkstemp(name), before = dup(1);
  fflush(stdout);
  dup2(file, 1);
  int *result;
  CHECK(cudaMallocManaged(&result, 64));
  formats<<<1, 1>>>(result);
  CHECK(cudaDeviceSynchronize());
  order<<<2, 32>>>();
  CHECK(cudaDeviceSynchronize());
  fflush(stdout);
  dup2(before, 1);
  std::string text(5000, 0);
  text.resize(pread(file, &text[0], 5000, 0));
  unlink(name);
  char want[2000];
  int n = sprintf(want, "%d %5d|%-5d|%05d %+d %x %X %#x %o %u\n", 1, 42, 42, 42, 7, 255, 255, 255, 8, 4000000000u);
  n += sprintf(want + n, "%f %.3f %10.2f|%-10.1f| %e %g %G %a\n", 1.5, 3.14159, 2.71828, 0.5, 12345.678, 1e-10, 1e20, 1.0);
  n += sprintf(want + n, "%s %10s|%-10s|%.2s %c%c %%\n", "word", "word", "word", "word", 'x', 'y');
  n += sprintf(want + n, "%lld %llu %ld %lx %hd %hhd %zu\n", -1ll, ~0ull, 1l << 40, 0xabcdefl, (short)-3, (char)65, (size_t)99);
  n += sprintf(want + n, "none\n1 %f 3 %f 5 %f 7 %f 9 %f 11 %f 13 %f 15 %f 17\n", 2., 4., 6., 8., 10., 12., 14., 16.);
  n += sprintf(want + n, "%*d|%-*d|%.*f\n", 6, 1, 6, 2, 3, 1.23456);
  n += sprintf(want + n, "inf %f %f nan %f\n", INFINITY, -INFINITY, NAN);
  EXPECT(text.compare(0, n, want) == 0);
  if (failures)
    printf("got:\n%s\nwant:\n%s\n", text.c_str(), want);
  int count = 0;
  for (size_t at = text.find("t", n); at != std::string::npos; at = text.find("t", at + 1))
    ++count;
  EXPECT(count == 8);
  const int arguments[] = {10, 8, 6, 7, 0, 17, 6, 3};
  for (int i = 0; i < 8; ++i)
    EXPECT(result[i] == arguments[i]);
  size_t size = 0;
  CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 16));
  CHECK(cudaDeviceGetLimit(&size, cudaLimitPrintfFifoSize));
  EXPECT(size >= 1 << 16);
  return done();
}
