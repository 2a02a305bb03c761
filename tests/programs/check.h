// What the programs of this folder share: calls that must succeed, and values that must be right.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int failures = 0;

#define CHECK(call)                                                                                \
  do {                                                                                             \
    cudaError_t error_ = (call);                                                                   \
    if (error_ != cudaSuccess) {                                                                   \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));            \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)
#define EXPECT(...)                                                                                \
  do {                                                                                             \
    if (!(__VA_ARGS__) && ++failures < 20)                                                         \
      printf("%s:%d: wrong: %s\n", __FILE__, __LINE__, #__VA_ARGS__);                              \
  } while (0)

static int done() {
  printf(failures ? "FAILED\n" : "PASSED\n");
  return failures ? 1 : 0;
}
template <class T> static T *toDevice(const std::vector<T> &values) {
  T *d = nullptr;
  CHECK(cudaMalloc(&d, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(d, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return d;
}
template <class T> static std::vector<T> toHost(const T *d, size_t n) {
  std::vector<T> values(n);
  CHECK(cudaMemcpy(values.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}
