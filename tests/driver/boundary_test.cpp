// Nothing that is thrown leaves the library: calls end in a result where memory is short, at any
// allocation, and whatever they are given.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <new>
#include <thread>

#include "tests/driver/driver_fixture.h"

namespace {
/// Allocations of this thread that still succeed; below 0: all do.
thread_local long allocationsLeft = -1;
thread_local bool hasFailed = false;

void *allocate(size_t bytes, size_t alignment) {
  if (allocationsLeft == 0) {
    hasFailed = true;
    throw std::bad_alloc();
  }
  if (allocationsLeft > 0)
    --allocationsLeft;
  if (void *memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment))
    return memory;
  throw std::bad_alloc();
}
} // namespace

// In place of the C++ library's, for the driver too.
// All of them: a sanitizer has its own, and knows which two belong together.
void *operator new(size_t bytes) { return allocate(bytes ? bytes : 1, 16); }
void *operator new[](size_t bytes) { return operator new(bytes); }
void *operator new(size_t bytes, const std::nothrow_t &) noexcept {
  try {
    return operator new(bytes);
  } catch (...) {
    return nullptr;
  }
}
void *operator new[](size_t bytes, const std::nothrow_t &none) noexcept {
  return operator new(bytes, none);
}
void *operator new(size_t bytes, std::align_val_t alignment) {
  return allocate(bytes ? bytes : 1, static_cast<size_t>(alignment));
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace ptxrun::tests {
namespace {

class Boundary : public DriverTest {
 protected:
  /// The call with its first allocation refused, then with its second, and so on until it succeeds
  /// without a refusal; all others must say that memory is short, or do without.
  void expectToSayWhenMemoryIsShort(const char *name, const std::function<CUresult()> &call) {
    for (long n = 0; n < 100'000; ++n) {
      hasFailed = false;
      allocationsLeft = n;
      const CUresult result = call();
      allocationsLeft = -1;
      if (!hasFailed) {
        EXPECT_EQ(nameOf(result), "CUDA_SUCCESS") << name;
        return;
      }
      if (result != CUDA_SUCCESS) {
        ASSERT_EQ(nameOf(result), "CUDA_ERROR_OUT_OF_MEMORY") << name << ", allocation " << n;
      }
    }
    FAIL() << name << " never succeeds";
  }
};

#define SHORT(call) expectToSayWhenMemoryIsShort(#call, [&] { return call; })

TEST_F(Boundary, CallsSayWhenMemoryIsShort) {
  CUfunction empty = function(kSmall, "empty"), store = function(kSmall, "store"), add = nullptr;
  CUmodule module = load(kAdd);
  CUdeviceptr memory = upload<uint32_t>({1, 2, 3, 4}), other = 0;
  ASSERT_CUDA(launch(empty, 1, 1, nullptr));
  ASSERT_CUDA(launch(store, 1, 1, nullptr, memory, 1));
  ASSERT_CUDA(cuCtxSynchronize());
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUcontext context = nullptr, popped = nullptr;
  CUarray array = nullptr;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  CUmemoryPool pool = nullptr;
  void *host = nullptr; // page-locked: copies from it are only queued
  ASSERT_CUDA(cuMemHostAlloc(&host, 4096, 0));
  const CUDA_ARRAY3D_DESCRIPTOR shape{16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  SHORT(cuModuleGetFunction(&add, module, "add"));
  SHORT(cuStreamCreate(&stream, 0));
  SHORT(cuEventCreate(&event, 0));
  SHORT(cuMemAlloc(&other, 4096));
  SHORT(cuMemAllocAsync(&other, 4096, stream));
  SHORT(cuMemAllocManaged(&other, 4096, CU_MEM_ATTACH_GLOBAL));
  SHORT(cuArray3DCreate(&array, &shape));
  SHORT(cuMemPoolCreate(&pool, &properties));
  SHORT(cuGraphCreate(&graph, 0));
  SHORT(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
  SHORT(cuGraphInstantiate(&exec, graph, 0));
  SHORT(cuGraphLaunch(exec, stream));
  SHORT(cuLaunchHostFunc(
      stream, [](void *) {}, nullptr));
  SHORT(cuEventRecord(event, stream));
  SHORT(cuStreamWaitEvent(stream, event, 0));
  SHORT(launch(store, 1, 1, stream, memory, 1));
  SHORT(cuMemcpyHtoDAsync(memory, host, 16, stream));
  SHORT(cuMemsetD32Async(memory, 7, 4, stream));
  SHORT(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  SHORT(launch(store, 1, 1, stream, memory, 1));
  SHORT(cuStreamEndCapture(stream, &graph));
  EXPECT_CUDA(cuStreamSynchronize(stream));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(download<uint32_t>(memory, 4), (std::vector<uint32_t>(4, 7)));
  SHORT(cuCtxCreate(&context, nullptr, 0, 0));
  EXPECT_CUDA(cuCtxPopCurrent(&popped));
}

TEST_F(Boundary, WorkThatFindsNoMemoryFailsItsContext) {
  CUfunction store = function(kSmall, "store");
  const CUdeviceptr memory = upload<uint32_t>({1});
  ASSERT_CUDA(launch(store, 1, 1, nullptr, memory, 1));
  ASSERT_CUDA(cuCtxSynchronize());
  const auto failEachInTurn = [&] {
    for (long n = 0; n < 50; ++n) {
      CUcontext context = nullptr;
      CUstream stream = nullptr;
      ASSERT_CUDA(cuCtxCreate(&context, nullptr, 0, 0));
      ASSERT_CUDA(cuStreamCreate(&stream, 0));
      CUfunction own = function(kSmall, "store");
      ASSERT_CUDA(cuLaunchHostFunc(
          stream, [](void *data) { delete new long(*static_cast<long *>(data)); }, &n));
      ASSERT_CUDA(launch(own, 1, 1, stream, memory, 1));
      allocationsLeft = n;
      const CUresult result = cuStreamSynchronize(stream);
      allocationsLeft = -1;
      if (result != CUDA_SUCCESS) {
        EXPECT_RESULT(result, CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_RESULT(cuStreamSynchronize(stream), CUDA_ERROR_OUT_OF_MEMORY); // it stays
      }
      EXPECT_CUDA(cuCtxDestroy(context));
    }
  };
  failEachInTurn();
  std::thread(failEachInTurn).join(); // one that has nothing yet of what launches need
  EXPECT_CUDA(launch(store, 1, 1, nullptr, memory, 1));
  EXPECT_CUDA(cuCtxSynchronize());
}

TEST_F(Boundary, ThingsThatAreNoModulesAreRefused) {
  CUmodule module = nullptr;
  EXPECT_RESULT(cuModuleLoad(&module, "/"), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_RESULT(cuModuleLoad(&module, "/dev/zero"), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_RESULT(cuModuleLoad(&module, "/no/such/file"), CUDA_ERROR_FILE_NOT_FOUND);
  CUlibrary library = nullptr;
  EXPECT_RESULT(cuLibraryLoadFromFile(&library, "/", nullptr, nullptr, 0, nullptr, nullptr, 0),
                CUDA_ERROR_INVALID_IMAGE);
}

TEST_F(Boundary, SizesThatNoMemoryHoldsAreRefused) {
  CUdeviceptr memory = 0;
  size_t pitch = 0;
  void *host = nullptr;
  for (const size_t bytes : {~size_t{0}, ~size_t{0} / 2, size_t{1} << 60}) {
    EXPECT_RESULT(cuMemAlloc(&memory, bytes), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_RESULT(cuMemAllocManaged(&memory, bytes, CU_MEM_ATTACH_GLOBAL),
                  CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_RESULT(cuMemAllocAsync(&memory, bytes, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_RESULT(cuMemHostAlloc(&host, bytes, 0), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_NE(cuMemAllocPitch(&memory, &pitch, bytes, bytes, 16), CUDA_SUCCESS);
  }
}

/// Every name that the library exports; with no arguments at all a call is refused, or finds
/// nothing to do.
TEST(BoundaryOfAll, EveryFunctionTakesNothing) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  ASSERT_TRUE(library) << dlerror();
  ASSERT_CUDA(cuInit(0));
  unsigned count = 0;
  for (const bool hasContext : {false, true}) {
    CUcontext context = nullptr;
    if (hasContext)
      ASSERT_CUDA(cuCtxCreate(&context, nullptr, 0, 0));
    const auto call = [&](const char *symbol) {
      using Any = int(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                      uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                      uintptr_t, uintptr_t);
      auto *function = reinterpret_cast<Any *>(dlsym(library, symbol));
      ASSERT_TRUE(function) << symbol;
      cuCtxSetCurrent(context); // some take the current one away
      const auto result =
          static_cast<CUresult>(function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
      EXPECT_NE(result, CUDA_ERROR_UNKNOWN) << symbol;
      ++count;
    };
#define FUNCTION(name, version, symbol) call(#symbol);
#define PER_THREAD(name, version, symbol) call(#symbol);
#define ALIAS(name, version, symbol)
#include "loader/libcuda/functions.def"
#undef FUNCTION
#undef PER_THREAD
#undef ALIAS
    if (hasContext) {
      cuCtxSetCurrent(context);
      EXPECT_CUDA(cuCtxDestroy(context));
    }
  }
  EXPECT_GT(count, 1000u);
}

} // namespace
} // namespace ptxrun::tests
