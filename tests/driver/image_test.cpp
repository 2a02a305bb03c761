// Fat binaries and other images.
#include "loader/image/image.h"
#include "tests/driver/driver_fixture.h"
#include "tests/driver/fat_binary_writer.h"

namespace ptxrun::tests {

namespace {

/// The text chosen for a device, or the message.
std::string chosenFor(const FatBinary &fat, unsigned architecture) {
  image::Image image;
  const device::Outcome outcome =
      image::readImage(std::as_bytes(std::span(fat.bytes())), {architecture}, image);
  return outcome.isOk() ? image.ptx.at(0) : outcome.message;
}

} // namespace

TEST(FatBinary, TakesTheGreatestArchitectureNotAboveTheDevice) {
  FatBinary fat;
  fat.add(1, 75, "p75").add(1, 90, "p90").add(1, 80, "p80").add(2, 90, "cubin").add(1, 100, "p100");
  EXPECT_EQ(chosenFor(fat, 90), "p90");
  EXPECT_EQ(chosenFor(fat, 89), "p80");
  EXPECT_EQ(chosenFor(fat, 121), "p100");
  EXPECT_EQ(chosenFor(fat, 70), "p75"); // nothing below: the nearest above
}

TEST(FatBinary, TakesSpecificCodeOnlyWhereItWasMadeFor) {
  FatBinary fat;
  fat.add(1, 90, "p90a", kPlain, kFlagA).add(1, 80, "p80").add(1, 100, "p100f", kPlain, kFlagF);
  EXPECT_EQ(chosenFor(fat, 90), "p90a");
  EXPECT_EQ(chosenFor(fat, 89), "p80");
  EXPECT_EQ(chosenFor(fat, 103), "p100f");
  EXPECT_EQ(chosenFor(fat, 120), "p80");
}

TEST(FatBinary, Decompresses) {
  std::string text;
  for (int i = 0; i < 500; ++i)
    text += "line " + std::to_string(i % 7) + "\n";
  EXPECT_EQ(chosenFor(FatBinary().add(1, 80, text, kLz4), 90), text);
  EXPECT_EQ(chosenFor(FatBinary().add(1, 80, text, kZstd), 90), text);
}

TEST(FatBinary, SaysWhatToAddWhereThereIsNoPtx) {
  const std::string message = chosenFor(FatBinary().add(2, 86, "cubin"), 90);
  EXPECT_NE(message.find("machine code for sm_86"), std::string::npos) << message;
  EXPECT_NE(message.find("-gencode arch=compute_90,code=compute_90"), std::string::npos) << message;
}

TEST(FatBinary, SurvivesEveryTruncationAndFlip) {
  FatBinary fat;
  fat.add(1, 75, std::string(100, 'x'), kLz4).add(1, 80, std::string(100, 'y'), kZstd);
  const std::vector<char> whole = fat.bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<char> part(whole.begin(), whole.begin() + static_cast<long>(size));
    image::Image image;
    EXPECT_FALSE(image::readImage(std::as_bytes(std::span(part)), {90}, image).isOk() &&
                 image.ptx.empty());
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::vector<char> flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x80);
    image::Image image;
    image::readImage(std::as_bytes(std::span(flipped)), {90}, image);
  }
}

using FatBinaryModule = DriverTest;

TEST_F(FatBinaryModule, LoadsBareAndWrapped) {
  FatBinary fat;
  fat.add(1, 70, std::string(kSmall) + '\0', kZstd);
  const Wrapper wrapper{0x466243B1, 1, fat.data(), nullptr};
  for (const void *image : {fat.data(), static_cast<const void *>(&wrapper)}) {
    CUmodule module = nullptr;
    ASSERT_CUDA(cuModuleLoadData(&module, image));
    CUfunction function = nullptr;
    EXPECT_CUDA(cuModuleGetFunction(&function, module, "store"));
  }
  CUmodule module = nullptr;
  EXPECT_CUDA(cuModuleLoadFatBinary(&module, fat.data()));
}

TEST_F(FatBinaryModule, FindsFunctionsOfAllLinkedObjects) {
  FatBinary whole, first, second;
  whole.add(2, 90, "cubin");
  first.add(1, 70, kSmall);
  second.add(1, 70, kAdd);
  const void *objects[] = {first.data(), second.data(), nullptr};
  const Wrapper wrapper{0x466243B1, 2, whole.data(), objects};
  CUmodule module = nullptr;
  ASSERT_CUDA(cuModuleLoadData(&module, &wrapper));
  CUfunction function = nullptr;
  EXPECT_CUDA(cuModuleGetFunction(&function, module, "store"));
  EXPECT_CUDA(cuModuleGetFunction(&function, module, "add"));
}

TEST_F(FatBinaryModule, WithoutPtxIsNoBinaryForThisDevice) {
  FatBinary fat;
  fat.add(2, 90, "cubin");
  char log[512] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  CUmodule module = nullptr;
  EXPECT_RESULT(cuModuleLoadDataEx(&module, fat.data(), 2, options, values),
                CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_NE(strstr(log, "-gencode"), nullptr) << log;
  // A cubin: an ELF file for machine 190.
  std::vector<char> cubin(64);
  memcpy(cubin.data(),
         "\x7f"
         "ELF\x02\x01",
         6);
  put<uint16_t>(cubin, 18, 190);
  EXPECT_RESULT(cuModuleLoadDataEx(&module, cubin.data(), 2, options, values),
                CUDA_ERROR_NO_BINARY_FOR_GPU);
}

} // namespace ptxrun::tests
