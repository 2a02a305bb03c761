// Several texts as one (loader/image/link_text.h): what the linked code then computes.
#include <cuda.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "loader/image/link_text.h"

namespace {

using namespace ptxrun;

constexpr const char *kHead = ".version 8.0\n.target sm_70\n.address_size 64\n";

/// What kernel `k` stores through its only parameter, of the texts as one module.
std::vector<uint32_t> results(const std::vector<std::string> &texts, size_t count) {
  const auto merged = image::mergeTexts(texts);
  EXPECT_TRUE(merged);
  if (!merged)
    return {};
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  CUcontext context;
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  CUmodule module;
  EXPECT_EQ(cuModuleLoadData(&module, merged->c_str()), CUDA_SUCCESS) << *merged;
  CUfunction kernel;
  EXPECT_EQ(cuModuleGetFunction(&kernel, module, "k"), CUDA_SUCCESS);
  CUdeviceptr out;
  EXPECT_EQ(cuMemAlloc(&out, 4 * count), CUDA_SUCCESS);
  void *parameters[] = {&out};
  EXPECT_EQ(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr),
            CUDA_SUCCESS);
  std::vector<uint32_t> words(count);
  EXPECT_EQ(cuMemcpyDtoH(words.data(), out, 4 * count), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(out), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS); // other tests have none
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  return words;
}

/// A kernel that calls the functions and stores what each gives.
std::string kernelOf(const std::vector<std::string> &functions) {
  std::string text = kHead;
  for (const std::string &name : functions)
    text += ".extern .func (.param .b32 r) " + name + "();\n";
  text += ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<3>;\n"
          "ld.param.u64 %rd1, [out];\n";
  for (size_t i = 0; i < functions.size(); ++i)
    text += "{ .param .b32 r; call (r), " + functions[i] +
            ", (); ld.param.b32 %r1, [r]; st.global.b32 [%rd1+" + std::to_string(4 * i) +
            "], %r1; }\n";
  return text + "ret;\n}\n";
}

std::string functionOf(const std::string &before, const std::string &name,
                       const std::string &body) {
  return before + "(.param .b32 r) " + name + "()\n{\n.reg .b32 %r<4>; .reg .b32 %v;\n" + body +
         "st.param.b32 [r], %r1;\nret;\n}\n";
}

} // namespace

TEST(LinkText, OwnNamesStayApart) {
  // Both have a variable `x` and a function `own`; the second has `x$1` as well.
  const std::string first = kHead + std::string(".global .b32 x = 5;\n") +
                            functionOf(".func ", "own", "mov.b32 %r1, 100;\n") +
                            functionOf(".visible .func ", "f",
                                       "{ .param .b32 q; call (q), own, (); ld.param.b32 %r2, [q]; "
                                       "}\nld.global.b32 %r3, [x];\nadd.u32 %r1, %r2, %r3;\n");
  const std::string second =
      kHead + std::string("  .global .b32 x = 7, x$1 = 9;\n.func (.param .b32 r) own();\n") +
      functionOf(
          ".visible .func ", "g",
          "{ .param .b32 q; call (q), own, (); ld.param.b32 %r2, [q]; }\n"
          "{ .reg .v2 .b32 %w; mov.b32 %w.x, 1000; mov.b32 %w.y, 0; add.u32 %r2, %r2, %w.x; }\n"
          "ld.global.b32 %r3, [x];\nadd.u32 %r1, %r2, %r3;\n"
          "ld.global.b32 %r3, [x$1];\nadd.u32 %r1, %r1, %r3;\n") +
      functionOf(".func ", "own", "mov.b32 %r1, 200;\n");
  EXPECT_EQ(results({kernelOf({"f", "g"}), first, second}, 2),
            (std::vector<uint32_t>{105, 200 + 1000 + 7 + 9}));
}

TEST(LinkText, OwnNamesGiveWayToThoseForAll) {
  const std::string first =
      kHead + functionOf(".func ", "h", "mov.b32 %r1, 1;\n") +
      functionOf(".visible .func ", "f",
                 "{ .param .b32 q; call (q), h, (); ld.param.b32 %r1, [q]; }\n");
  const std::string second = kHead + functionOf(".visible .func ", "h", "mov.b32 %r1, 2;\n");
  EXPECT_EQ(results({first, kernelOf({"f", "h"}), second}, 2), (std::vector<uint32_t>{1, 2}));
}

TEST(LinkText, OfWeakDefinitionsTheFirstCounts) {
  const std::string body = "ld.global.b32 %r1, [w];\n";
  const std::string first =
      kHead + std::string(".weak .global .b32 w = 3;\n") + functionOf(".weak .func ", "f", body);
  const std::string second = kHead + std::string(".weak .global .b32 w = 4;\n") +
                             functionOf(".weak .func ", "f", "mov.b32 %r1, 8;\n") +
                             functionOf(".visible .func ", "g", body);
  EXPECT_EQ(results({first, second, kernelOf({"f", "g"})}, 2), (std::vector<uint32_t>{3, 3}));
}

TEST(LinkText, VariablesOfOthersAreFound) {
  const std::string declares =
      kHead + std::string(".extern .global .b32 a, b;\n/* .extern */\n") +
      functionOf(".visible .func ", "f",
                 "ld.global.b32 %r1, [a];\nld.global.b32 %r2, [b];\nadd.u32 %r1, %r1, %r2;\n");
  const std::string defines =
      kHead + std::string(".visible .global .b32 a = 11;\n.visible .global .b32 b = 20;\n");
  EXPECT_EQ(results({kernelOf({"f"}), declares, defines}, 1), (std::vector<uint32_t>{31}));
  EXPECT_EQ(results({defines, declares, kernelOf({"f"})}, 1), (std::vector<uint32_t>{31}));
}

TEST(LinkText, HasTheHighestVersionAndTarget) {
  const std::string first = ".version 7.8\n.target sm_90, debug\n.address_size 64\n"
                            ".extern .func f();\n";
  const std::string second = ".version 8.0 .target sm_90a .address_size 64\n"
                             ".visible .func f()\n{\nret;\n}\n";
  const auto merged = image::mergeTexts(std::array{first, second});
  ASSERT_TRUE(merged);
  EXPECT_TRUE(merged->starts_with(".version 8.0\n.target sm_90a\n")) << *merged;
}

TEST(LinkText, KeepsLinesWithTheirFiles) {
  const std::string first = std::string(kHead) + ".extern .func f();\n.file 1 \"a.cu\"\n"
                                                 ".visible .func a()\n{\n.loc 1 10 1\nret;\n}\n";
  const std::string second = std::string(kHead) + ".file 1 \"b.cu\"\n"
                                                  ".visible .func f()\n{\n.loc 1 20 1\nret;\n}\n";
  const auto merged = image::mergeTexts(std::array{first, second});
  ASSERT_TRUE(merged);
  EXPECT_NE(merged->find(".file 2 \"b.cu\""), std::string::npos) << *merged;
  EXPECT_NE(merged->find(".loc 1 10 1"), std::string::npos) << *merged;
  EXPECT_NE(merged->find(".loc 2 20 1"), std::string::npos) << *merged;
}

TEST(LinkText, IsForTextsThatNeedOneAnother) {
  const std::string alone = kHead + functionOf(".visible .func ", "f", "mov.b32 %r1, 1;\n");
  const std::string shared = std::string(kHead) + ".extern .shared .b8 s[];\n";
  const std::string needs = std::string(kHead) + ".extern .func g();\n";
  EXPECT_FALSE(image::mergeTexts(std::array{alone, shared}));
  EXPECT_FALSE(image::mergeTexts(std::array{needs}));
  EXPECT_FALSE(image::mergeTexts(std::array{needs, std::string("int main() {}")}));
  EXPECT_TRUE(image::mergeTexts(std::array{alone, needs}));
}
