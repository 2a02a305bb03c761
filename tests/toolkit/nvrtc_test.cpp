// libnvrtc.so as a program opens it. PTXRUN_NVRTC names a library that stands for NVIDIA's.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

class Nvrtc : public testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(NVRTC_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(library_) << dlerror();
    ASSERT_EQ((call<int>("nvrtcCreateProgram", &program_, "source", "name", 0, none_, none_)), 0);
  }
  void TearDown() override { call<int>("nvrtcDestroyProgram", &program_); }

  template <class Result, class... Arguments> Result call(const char *name, Arguments... given) {
    return reinterpret_cast<Result (*)(Arguments...)>(dlsym(library_, name))(given...);
  }
  int compile(std::vector<const char *> options) {
    return call<int>("nvrtcCompileProgram", program_, int(options.size()),
                     static_cast<const char *const *>(options.data()));
  }
  std::string get(const char *sizeName, const char *name) {
    size_t bytes = 0;
    EXPECT_EQ(call<int>(sizeName, program_, &bytes), 0);
    std::string text(bytes, '\0');
    if (bytes != 0) {
      EXPECT_EQ(call<int>(name, program_, text.data()), 0);
      text.pop_back();
    }
    return text;
  }

  void *library_ = nullptr, *program_ = nullptr;
  const char *const *none_ = nullptr;
};

TEST_F(Nvrtc, GivesPtxWhereMachineCodeWasAskedFor) {
  ASSERT_EQ(compile({"-arch=sm_90a", "-O3"}), 0);
  EXPECT_EQ(get("nvrtcGetCUBINSize", "nvrtcGetCUBIN"), "-arch=compute_90a -O3 ");
  EXPECT_EQ(get("nvrtcGetPTXSize", "nvrtcGetPTX"), "-arch=compute_90a -O3 ");
}

TEST_F(Nvrtc, MachineCodeKeepsItsLimitOfRegisters) {
  ASSERT_EQ(compile({"-arch=sm_90", "--maxrregcount=40"}), 0);
  const std::string ptx = get("nvrtcGetPTXSize", "nvrtcGetPTX");
  EXPECT_EQ(ptx, "-arch=compute_90 --maxrregcount=40 ");
  EXPECT_EQ(get("nvrtcGetCUBINSize", "nvrtcGetCUBIN"),
            ptx + "\n// registers of a thread: at most 40\n");
}

TEST_F(Nvrtc, HasNoMachineCodeWherePtxWasAskedFor) {
  ASSERT_EQ(compile({"-arch=compute_90"}), 0);
  EXPECT_EQ(get("nvrtcGetCUBINSize", "nvrtcGetCUBIN"), "");
  EXPECT_EQ(get("nvrtcGetPTXSize", "nvrtcGetPTX"), "-arch=compute_90 ");
}

TEST_F(Nvrtc, HandsOnWhatNvidiasAnswers) {
  EXPECT_EQ(compile({"-arch=sm_90", "--fail"}), 6);
  EXPECT_STREQ(call<const char *>("nvrtcGetErrorString", 6), "SIX");
  int major = 0, minor = 0;
  EXPECT_EQ(call<int>("nvrtcVersion", &major, &minor), 0);
  EXPECT_EQ(major * 10 + minor, 777);
}

TEST_F(Nvrtc, FunctionsThatNvidiasLacksAreInternalErrors) {
  constexpr int kInternalError = 11;
  EXPECT_EQ(call<int>("nvrtcGetProgramLog", program_, nullptr), kInternalError);
}

} // namespace
