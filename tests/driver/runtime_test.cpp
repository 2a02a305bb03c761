// The runtime API as nvcc's host code uses it, without nvcc: the registration and launch protocol
// by hand.
#include <gtest/gtest.h>

#include <thread>

#include "tests/driver/fat_binary_writer.h"
#include "tests/driver/guarded_bytes.h"
#include "tests/driver/kernels.h"

namespace {

struct Dim3 {
  unsigned x, y, z;
};

} // namespace

extern "C" {
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *,
                            void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
unsigned __cudaPushCallConfiguration(Dim3, Dim3, size_t, void *);
int __cudaPopCallConfiguration(Dim3 *, Dim3 *, size_t *, void *);
int __cudaGetKernel(void **, const void *);
int __cudaLaunchKernel(void *, Dim3, Dim3, void **, size_t, void *);
int cudaLaunchKernel(const void *, Dim3, Dim3, void **, size_t, void *);
int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int cudaDeviceSynchronize();
int cudaDeviceReset();
int cudaMemset(void *, int, size_t);
int cudaGetFuncBySymbol(void **, const void *);
int cudaGetLastError();
int cudaPeekAtLastError();
const char *cudaGetErrorName(int);
int cudaRuntimeGetVersion(int *);
int cudaGetDevice(int *);
int cudaGetDeviceCount(int *);
int cudaSetDevice(int);
int cudaDeviceCanAccessPeer(int *, int, int);
int cudaDeviceEnablePeerAccess(int, unsigned);
int cudaPointerGetAttributes(void *, const void *);
int cudaMemcpyPeer(void *, int, const void *, int, size_t);
int cudaImportExternalSemaphore(void **, const void *);
}

namespace ptxrun::tests {

namespace {

constexpr int kToDevice = 1, kToHost = 2;
constexpr int kInvalidValue = 1, kInvalidConfiguration = 9, kInvalidSymbol = 13,
              kMissingConfiguration = 52, kInvalidDeviceFunction = 98, kNotSupported = 801;

/// A program of one fat binary with the variables module; its stubs and shadows are addresses in
/// this class.
class RegisteredProgram {
 public:
  RegisteredProgram() {
    binary_.add(1, 70, kVariables, kZstd);
    wrapper_.data = binary_.data();
    handle_ = __cudaRegisterFatBinary(&wrapper_);
    __cudaRegisterFunction(handle_, &readStub, &readStub, "read", -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterFunction(handle_, &missingStub, &missingStub, "missing", -1, nullptr, nullptr,
                           nullptr, nullptr, nullptr);
    __cudaRegisterVar(handle_, &scaleShadow, &scaleShadow, "scale", 0, 4, 1, 0);
    __cudaRegisterFatBinaryEnd(handle_);
  }
  ~RegisteredProgram() { __cudaUnregisterFatBinary(handle_); }
  char readStub = 0, missingStub = 0, scaleShadow = 0;

 private:
  FatBinary binary_;
  Wrapper wrapper_;
  void **handle_ = nullptr;
};

/// A <<<1, 1>>> launch as nvcc 13 writes it, which keeps what it found once.
int launchAsCompiled(const void *stub, void **arguments, void *&kernel) {
  void *stream = nullptr;
  Dim3 grid{}, block{};
  size_t shared = 0;
  if (const int error = kernel ? 0 : __cudaGetKernel(&kernel, stub))
    return error;
  __cudaPushCallConfiguration({1, 1, 1}, {1, 1, 1}, 0, nullptr);
  if (const int error = __cudaPopCallConfiguration(&grid, &block, &shared, &stream))
    return error;
  return __cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
int launchAsCompiled(const void *stub, void **arguments) {
  void *kernel = nullptr;
  return launchAsCompiled(stub, arguments, kernel);
}

} // namespace

TEST(Runtime, LaunchesRegisteredKernels) {
  RegisteredProgram program;
  void *out = nullptr;
  ASSERT_EQ(cudaMalloc(&out, 12), 0);
  void *arguments[] = {&out};
  ASSERT_EQ(launchAsCompiled(&program.readStub, arguments), 0);
  uint32_t values[3] = {};
  ASSERT_EQ(cudaMemcpy(values, out, 12, kToHost), 0);
  EXPECT_EQ(values[0], 30u);
  EXPECT_EQ(values[1], 20u);
  EXPECT_EQ(values[2], 7u);
  const uint32_t scale = 100;
  ASSERT_EQ(cudaMemcpyToSymbol(&program.scaleShadow, &scale, 4, 0, kToDevice), 0);
  ASSERT_EQ(cudaLaunchKernel(&program.readStub, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr), 0);
  ASSERT_EQ(cudaMemcpy(values, out, 12, kToHost), 0);
  EXPECT_EQ(values[2], 100u);
  EXPECT_EQ(cudaFree(out), 0);
}

TEST(Runtime, BeginsAnewAfterAReset) {
  RegisteredProgram program;
  void *out = nullptr;
  ASSERT_EQ(cudaMalloc(&out, 12), 0);
  void *arguments[] = {&out};
  const uint32_t scale = 100;
  ASSERT_EQ(cudaMemcpyToSymbol(&program.scaleShadow, &scale, 4, 0, kToDevice), 0);
  void *kernel = nullptr, *function = nullptr;
  ASSERT_EQ(launchAsCompiled(&program.readStub, arguments, kernel), 0);
  ASSERT_EQ(cudaGetFuncBySymbol(&function, &program.readStub), 0);
  ASSERT_EQ(cudaDeviceReset(), 0);
  EXPECT_EQ(cudaFree(out), kInvalidValue);
  ASSERT_EQ(cudaMalloc(&out, 12), 0);
  ASSERT_EQ(launchAsCompiled(&program.readStub, arguments, kernel), 0);
  uint32_t values[3] = {};
  ASSERT_EQ(cudaMemcpy(values, out, 12, kToHost), 0);
  EXPECT_EQ(values[2], 7u); // the variable's first value
  values[2] = 0;
  ASSERT_EQ(cudaMemset(out, 0, 12), 0);
  ASSERT_EQ(cudaLaunchKernel(function, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr), 0);
  ASSERT_EQ(cudaMemcpy(values, out, 12, kToHost), 0);
  EXPECT_EQ(values[2], 7u);
  EXPECT_EQ(cudaFree(out), 0);
  cudaGetLastError();
}

TEST(Runtime, RemembersTheLastErrorUntilItIsAskedFor) {
  RegisteredProgram program;
  void *out = nullptr;
  void *arguments[] = {&out};
  EXPECT_EQ(cudaLaunchKernel(&program.readStub, {1, 1, 1}, {2000, 1, 1}, arguments, 0, nullptr),
            kInvalidConfiguration);
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
  EXPECT_EQ(cudaPeekAtLastError(), kInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), kInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), 0);
  EXPECT_STREQ(cudaGetErrorName(kInvalidConfiguration), "cudaErrorInvalidConfiguration");
}

TEST(Runtime, CallsALaunchOfTooMuchSharedMemoryAnInvalidValue) {
  RegisteredProgram program;
  void *out = nullptr;
  void *arguments[] = {&out};
  EXPECT_EQ(cudaLaunchKernel(&program.readStub, {1, 1, 1}, {1, 1, 1}, arguments, 300000, nullptr),
            kInvalidValue);
  EXPECT_EQ(cudaLaunchKernel(&program.readStub, {1, 0, 1}, {1, 1, 1}, arguments, 0, nullptr),
            kInvalidConfiguration);
  cudaGetLastError();
}

/// With PTXRUN_DEVICES=3.
TEST(RuntimeDevices, AreChosenByThreads) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), 0);
  if (count != 3)
    GTEST_SKIP() << "PTXRUN_DEVICES=3";
  RegisteredProgram program;
  void *out[3] = {};
  const int kInvalidDevice = 101;
  EXPECT_EQ(cudaSetDevice(3), kInvalidDevice);
  cudaGetLastError();
  for (int device = 0; device < 3; ++device) {
    ASSERT_EQ(cudaSetDevice(device), 0);
    const uint32_t scale = 100 + static_cast<unsigned>(device);
    ASSERT_EQ(cudaMalloc(&out[device], 12), 0);
    ASSERT_EQ(cudaMemcpyToSymbol(&program.scaleShadow, &scale, 4, 0, kToDevice), 0);
  }
  for (int device = 0; device < 3; ++device) {
    ASSERT_EQ(cudaSetDevice(device), 0);
    void *arguments[] = {&out[device]};
    ASSERT_EQ(launchAsCompiled(&program.readStub, arguments), 0);
    uint32_t values[3] = {};
    ASSERT_EQ(cudaMemcpy(values, out[device], 12, kToHost), 0);
    struct {
      int type, device;
      void *addresses[2];
      long reserved[8];
    } attributes{};
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, out[device]), 0);
    EXPECT_EQ(attributes.device, device);
    EXPECT_EQ(values[0], 30u);
    EXPECT_EQ(values[2], 100u + static_cast<unsigned>(device));
  }
  int current = -1, can = -1;
  EXPECT_EQ(cudaGetDevice(&current), 0);
  EXPECT_EQ(current, 2);
  std::thread([&] { EXPECT_EQ(cudaGetDevice(&current), 0); }).join();
  EXPECT_EQ(current, 0);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 2, 0), 0);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), 0);
  EXPECT_EQ(cudaMemcpyPeer(out[0], 0, out[2], 2, 12), 0);
  uint32_t values[3] = {};
  ASSERT_EQ(cudaMemcpy(values, out[0], 12, kToHost), 0);
  EXPECT_EQ(values[2], 102u);
  ASSERT_EQ(cudaSetDevice(0), 0);
}

TEST(Runtime, TellsWhatIsNotThere) {
  RegisteredProgram program;
  void *kernel = nullptr;
  char unknown = 0;
  EXPECT_EQ(__cudaGetKernel(&kernel, &program.missingStub), kInvalidDeviceFunction);
  EXPECT_EQ(__cudaGetKernel(&kernel, &unknown), kInvalidDeviceFunction);
  EXPECT_EQ(cudaMemcpyToSymbol(&unknown, &unknown, 1, 0, kToDevice), kInvalidSymbol);
  Dim3 grid{}, block{};
  size_t shared = 0;
  void *stream = nullptr;
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), kMissingConfiguration);
  EXPECT_EQ(cudaImportExternalSemaphore(&kernel, nullptr), kNotSupported);
  int version = 0;
  EXPECT_EQ(cudaRuntimeGetVersion(&version), 0);
  EXPECT_GE(version, 13000);
  cudaGetLastError();
}

TEST(RuntimeRegistration, DamagedFatBinariesAreInvalidKernelImages) {
  constexpr int kInvalidKernelImage = 200; // cudaErrorInvalidKernelImage
  const std::vector<char> whole = FatBinary().add(1, 70, kVariables, kZstd).bytes();
  GuardedBytes memory(1 << 16);
  for (const size_t size : {size_t{0}, size_t{8}, size_t{17}, whole.size() - 9}) {
    Wrapper wrapper;
    wrapper.data = memory.hold(std::span(whole).first(size)).data();
    void **handle = __cudaRegisterFatBinary(&wrapper);
    char stub = 0;
    __cudaRegisterFunction(handle, &stub, &stub, "read", -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
    __cudaRegisterFatBinaryEnd(handle);
    EXPECT_EQ(launchAsCompiled(&stub, nullptr), kInvalidKernelImage) << size;
    cudaGetLastError();
    __cudaUnregisterFatBinary(handle);
  }
}

} // namespace ptxrun::tests
