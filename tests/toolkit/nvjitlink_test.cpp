// libnvJitLink.so as programs built with different toolkits call it. PTXRUN_NVJITLINK names a
// library that stands for NVIDIA's, where LTO-IR is compiled.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "loader/libcuda/cuda_api.h"

namespace {

constexpr int kMissingArchitecture = 2, kInvalidInput = 3, kPtxCompile = 4, kUnrecognisedInput = 8,
              kLtoNotEnabled = 18;
enum Input { kPtx = 2, kLtoIr = 3, kAny = 10 };

constexpr std::string_view kCaller = R"(.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) twice (.param .b32 x);
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd1; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 21;
  { .param .b32 x; .param .b32 r; st.param.b32 [x], %r1; call (r), twice, (x); ld.param.b32 %r2, [r]; }
  st.global.u32 [%rd1], %r2;
  ret; })";
constexpr std::string_view kCallee = R"(.version 8.0
.target sm_80
.address_size 64
.visible .func (.param .b32 r) twice (.param .b32 x) {
  .reg .b32 %r1;
  ld.param.b32 %r1, [x]; add.s32 %r1, %r1, %r1; st.param.b32 [r], %r1; ret; })";

class NvJitLink : public testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(NVJITLINK_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(library_) << dlerror();
  }
  void TearDown() override {
    if (handle_)
      EXPECT_EQ(call("nvJitLinkDestroy", &handle_), 0);
    EXPECT_EQ(handle_, nullptr);
  }

  template <class... Arguments> int call(const std::string &name, Arguments... given) {
    return reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, name.c_str()))(given...);
  }
  int create(std::vector<const char *> options) {
    return call("nvJitLinkCreate", &handle_, uint32_t(options.size()), options.data());
  }
  int add(Input input, std::string_view data) {
    return call("nvJitLinkAddData", handle_, int(input), static_cast<const void *>(data.data()),
                data.size(), "part");
  }
  std::string get(const std::string &name) {
    size_t bytes = 0;
    EXPECT_EQ(call(name + "Size", handle_, &bytes), 0);
    std::string text(bytes, '\0');
    EXPECT_EQ(call(name, handle_, text.data()), 0);
    return text;
  }

  void *library_ = nullptr, *handle_ = nullptr;
};

/// What the kernel k of an image stores.
uint32_t run(const std::string &image) {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  CUdeviceptr out = 0;
  uint32_t value = 0;
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleLoadData(&module, image.data()), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&kernel, module, "k"), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc_v2(&out, sizeof value), CUDA_SUCCESS);
  void *arguments[] = {&out};
  EXPECT_EQ(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH_v2(&value, out, sizeof value), CUDA_SUCCESS);
  return value;
}

TEST_F(NvJitLink, LinksPtxByTheDriver) {
  ASSERT_EQ(create({"-arch=sm_80"}), 0);
  ASSERT_EQ(add(kPtx, kCaller), 0);
  ASSERT_EQ(add(kAny, kCallee), 0);
  ASSERT_EQ(call("nvJitLinkComplete", handle_), 0) << get("nvJitLinkGetErrorLog");
  EXPECT_EQ(run(get("nvJitLinkGetLinkedCubin")), 42u);
}

TEST_F(NvJitLink, KeepsTheLimitOfRegisters) {
  ASSERT_EQ(create({"-arch=sm_80", "-maxrregcount=2"}), 0);
  ASSERT_EQ(add(kPtx, kCaller), 0);
  ASSERT_EQ(add(kPtx, kCallee), 0);
  ASSERT_EQ(call("nvJitLinkComplete", handle_), 0) << get("nvJitLinkGetErrorLog");
  const std::string image = get("nvJitLinkGetLinkedCubin");
  EXPECT_EQ(run(image), 42u);
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  int registers = 0;
  ASSERT_EQ(cuModuleLoadData(&module, image.data()), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&kernel, module, "k"), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel), CUDA_SUCCESS);
  EXPECT_EQ(registers, 2);
}

TEST_F(NvJitLink, HasTheNamesOfEveryToolkitsHeader) {
  for (int minor = 0; minor < 10; ++minor) {
    const std::string version = "_" + std::to_string(NVJITLINK_MAJOR) + "_" + std::to_string(minor);
    const char *options[] = {"-arch=sm_80"};
    void *handle = nullptr;
    EXPECT_EQ(call("__nvJitLinkCreate" + version, &handle, uint32_t(1), options), 0);
    EXPECT_EQ(call("__nvJitLinkDestroy" + version, &handle), 0);
  }
}

TEST_F(NvJitLink, SaysWhatIsWrong) {
  EXPECT_EQ(create({"-O3"}), kMissingArchitecture);
  EXPECT_EQ(handle_, nullptr);
  ASSERT_EQ(create({"-arch=sm_80"}), 0);
  EXPECT_EQ(add(kPtx, ""), kInvalidInput);
  EXPECT_EQ(add(kLtoIr, "\xed\x43\x4e\x7f"), kLtoNotEnabled);
  size_t bytes = 0;
  EXPECT_EQ(call("nvJitLinkGetLinkedCubinSize", handle_, &bytes), kInvalidInput);
}

TEST_F(NvJitLink, LogNamesTheErrorInThePtx) {
  ASSERT_EQ(create({"-arch=sm_80"}), 0);
  ASSERT_EQ(add(kPtx, kCaller), 0);
  ASSERT_EQ(add(kPtx, ".version 8.0\n.target sm_80\n.address_size 64\n.func f() { frob; }"), 0);
  EXPECT_EQ(call("nvJitLinkComplete", handle_), kPtxCompile);
  const std::string log = get("nvJitLinkGetErrorLog");
  EXPECT_NE(log.find("frob"), std::string::npos) << log;
}

TEST_F(NvJitLink, UnknownInputsAreNamed) {
  ASSERT_EQ(create({"-arch=sm_80"}), 0);
  ASSERT_EQ(add(kAny, "!<arch>\nsomething"), 0);
  EXPECT_EQ(call("nvJitLinkComplete", handle_), kUnrecognisedInput);
  EXPECT_NE(get("nvJitLinkGetErrorLog").find("library (.a) is damaged"), std::string::npos);
}

// What stands for NVIDIA's says how many bytes of LTO-IR it was given.
TEST_F(NvJitLink, LtoIrBecomesPtxByNvidias) {
  ASSERT_EQ(create({"-arch=sm_80", "-lto", "-O3"}), 0);
  ASSERT_EQ(add(kLtoIr, "\xed\x43\x4e\x7f..."), 0);
  ASSERT_EQ(add(kAny, "\xed\x43\x4e\x7f...."), 0);
  ASSERT_EQ(call("nvJitLinkComplete", handle_), 0) << get("nvJitLinkGetErrorLog");
  const std::string ptx = get("nvJitLinkGetLinkedPtx");
  EXPECT_NE(ptx.find("-arch=sm_80 -lto -O3 -ptx "), std::string::npos) << ptx;
  EXPECT_NE(ptx.find("parts = 7 + 8 + 0;"), std::string::npos) << ptx;
}

} // namespace
