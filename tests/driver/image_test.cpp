// Fat binaries and other images.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "loader/image/image.h"
#include "tests/driver/driver_fixture.h"
#include "tests/driver/elf_writer.h"
#include "tests/driver/fat_binary_writer.h"
#include "tests/driver/guarded_bytes.h"

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

namespace {

std::vector<char> bytesOf(std::string_view text) { return {text.begin(), text.end()}; }

/// One valid image of each kind that has meaning behind a plain address.
std::vector<std::vector<char>> validImages() {
  const std::string small = std::string(kSmall) + '\0';
  ElfWriter cubin(ET_EXEC, 190);
  cubin.symbol("k", STT_FUNC, STB_GLOBAL,
               cubin.add(".text.k", SHT_PROGBITS, std::vector<char>(64)));
  return {bytesOf(small), FatBinary().add(1, 70, small).bytes(),
          FatBinary().add(2, 90, "cubin").add(1, 70, small, kLz4).add(1, 80, kAdd).bytes(),
          FatBinary().add(1, 75, kAdd, kZstd).add(1, 80, small, kZstd).bytes(), cubin.bytes()};
}

/// Some bytes changed, or the end cut off, or a length set to an odd number.
void damage(std::vector<char> &image, std::mt19937 &random) {
  const auto below = [&](size_t limit) { return random() % limit; };
  constexpr uint64_t kOdd[] = {0,
                               1,
                               7,
                               0x7f,
                               0xff,
                               0xffff,
                               0x7fffffff,
                               0xffffffff,
                               1ull << 40,
                               0x7fffffffffffffff,
                               0xfffffffffffffff0,
                               UINT64_MAX};
  const size_t changes = 1 + below(4);
  for (size_t i = 0; i < changes; ++i) {
    const size_t at = below(image.size());
    switch (below(4)) {
    case 0:
      image[at] = static_cast<char>(random());
      break;
    case 1:
      image[at] = static_cast<char>(image[at] ^ 1 << below(8));
      break;
    case 2:
      memcpy(image.data() + at, &kOdd[below(std::size(kOdd))],
             std::min<size_t>(8, image.size() - at));
      break;
    default:
      if (below(4) == 0)
        image.resize(at + 1);
    }
  }
}

} // namespace

TEST_F(FatBinaryModule, DamagedImagesBeforeTheEndOfMemoryAreRefused) {
  const std::vector<std::vector<char>> valid = validImages();
  GuardedBytes memory(1 << 16);
  constexpr unsigned kSeed = 20261122;
  RecordProperty("seed", kSeed);
  std::mt19937 random(kSeed);
  size_t refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<char> image = valid[round % valid.size()];
    damage(image, random);
    const std::span<char> placed = memory.hold(image);
    CUmodule module = nullptr;
    CUjit_option option = CU_JIT_ERROR_LOG_BUFFER; // or each message would be printed
    void *log = nullptr;
    const CUresult result = cuModuleLoadDataEx(&module, placed.data(), 1, &option, &log);
    if (result == CUDA_SUCCESS) {
      ASSERT_CUDA(cuModuleUnload(module));
      continue;
    }
    ++refused;
    ASSERT_TRUE(result == CUDA_ERROR_INVALID_IMAGE || result == CUDA_ERROR_INVALID_PTX ||
                result == CUDA_ERROR_NO_BINARY_FOR_GPU)
        << "round " << round << ": " << result;
  }
  EXPECT_GT(refused, 5000u);
}

TEST_F(FatBinaryModule, TruncatedImagesBeforeTheEndOfMemoryAreInvalid) {
  GuardedBytes memory(1 << 16);
  for (const std::vector<char> &whole : validImages())
    for (size_t size = 0; size < whole.size(); size += 1 + size / 64) {
      const bool isElf = whole[0] == 0x7f; // of a cubin the header is enough
      CUlibrary library = nullptr;
      const void *image = memory.hold(std::span(whole).first(size)).data();
      const CUresult result =
          cuLibraryLoadData(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
      ASSERT_EQ(result,
                isElf && size >= 64 ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_INVALID_IMAGE)
          << size << " of " << whole.size();
    }
}

TEST_F(FatBinaryModule, AddressesThatLeadNowhereAreInvalid) {
  GuardedBytes memory(1 << 12);
  CUmodule module = nullptr;
  const Wrapper nowhere{0x466243B1, 1, memory.end(), nullptr};
  const Wrapper linkedNowhere{0x466243B1, 2, memory.end(), memory.end()};
  const Wrapper none{0x466243B1, 1, nullptr, nullptr};
  const void *objects[] = {memory.end() - 4, nullptr};
  const Wrapper linkedAtTheEnd{0x466243B1, 2, nullptr, objects};
  for (const void *image :
       {static_cast<const void *>(memory.end()), static_cast<const void *>(&nowhere),
        static_cast<const void *>(&linkedNowhere), static_cast<const void *>(&none),
        static_cast<const void *>(&linkedAtTheEnd), reinterpret_cast<const void *>(8)})
    EXPECT_RESULT(cuModuleLoadData(&module, image), CUDA_ERROR_INVALID_IMAGE);
  CUlinkState linker = nullptr;
  ASSERT_CUDA(cuLinkCreate_v2(0, nullptr, nullptr, &linker));
  EXPECT_RESULT(
      cuLinkAddData_v2(linker, CU_JIT_INPUT_PTX, memory.end() - 8, 16, "", 0, nullptr, nullptr),
      CUDA_ERROR_INVALID_IMAGE);
  EXPECT_CUDA(cuLinkDestroy(linker));
}

TEST(FatBinary, WhatClaimsToUnpackToAllMemoryIsRefused) {
  const std::string zeros(size_t{64} << 20, ' ');
  for (const Compression how : {kLz4, kZstd}) {
    const std::string message = chosenFor(FatBinary().add(1, 80, zeros, how), 90);
    // LZ4 cannot do better than 255 to 1, which is more than is allowed, too.
    EXPECT_NE(message.find("100 times"), std::string::npos) << message.substr(0, 100);
  }
  // What the header does not say, the frame does.
  std::vector<char> lies = FatBinary().add(1, 80, zeros, kZstd).bytes();
  put<uint64_t>(lies, 16 + 0x38, 1000);
  image::Image image;
  EXPECT_FALSE(image::readImage(std::as_bytes(std::span(lies)), {90}, image).isOk());
}

TEST_F(FatBinaryModule, WhatIsNoFileIsNotWaitedFor) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("ptxrun-image-" + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string pipe = folder / "pipe", sparse = folder / "sparse";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::ofstream(sparse).put(0);
  std::error_code code;
  fs::resize_file(sparse, uintmax_t{1} << 40, code); // not every file system can
  CUmodule module = nullptr;
  CUlinkState linker = nullptr;
  ASSERT_CUDA(cuLinkCreate_v2(0, nullptr, nullptr, &linker));
  for (const std::string &path : {folder.string(), pipe, sparse, std::string("/dev/zero")}) {
    EXPECT_RESULT(cuModuleLoad(&module, path.c_str()), CUDA_ERROR_INVALID_IMAGE) << path;
    EXPECT_RESULT(cuLinkAddFile_v2(linker, CU_JIT_INPUT_PTX, path.c_str(), 0, nullptr, nullptr),
                  CUDA_ERROR_INVALID_IMAGE)
        << path;
  }
  EXPECT_CUDA(cuLinkDestroy(linker));
  fs::remove_all(folder);
}

} // namespace ptxrun::tests
