#include "rt/memory/device_memory.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "rt/launch/sanitizers.h"
#include "tests/unit/rt/kernels.h"

namespace ptxrun::rt::test {
namespace {

uint64_t place(const void *p) { return reinterpret_cast<uint64_t>(p); }

TEST(DeviceMemory, AlignsSmallBlocksTo256AndLargeOnesTo2MiB) {
  for (uint64_t bytes : {1ul, 100ul, 256ul, 5000ul, 100'000ul}) {
    void *p = allocateDevice(bytes);
    ASSERT_TRUE(p);
    EXPECT_EQ(place(p) % 256, 0u);
    std::memset(p, 1, bytes);
    EXPECT_TRUE(freeDevice(p));
  }
  for (uint64_t bytes : {2ul << 20, (5ul << 20) + 4}) {
    void *p = allocateDevice(bytes);
    ASSERT_TRUE(p);
    EXPECT_EQ(place(p) % (2 << 20), 0u);
    std::memset(p, 1, bytes);
    EXPECT_TRUE(freeDevice(p));
  }
}

TEST(DeviceMemory, FindsTheAllocationOfAnAddress) {
  uint64_t before = deviceBytesInUse();
  char *p = static_cast<char *>(allocateDevice(1000, 7));
  for (uint64_t offset : {0, 1, 999}) {
    auto found = findDevice(place(p + offset));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->base, place(p));
    EXPECT_EQ(found->bytes, 1000u);
    EXPECT_EQ(found->tag, 7u);
  }
  EXPECT_FALSE(findDevice(place(p + 1000)));
  EXPECT_FALSE(findDevice(place(p) - 1));
  EXPECT_EQ(deviceBytesInUse() - before, 1000u);
  EXPECT_FALSE(freeDevice(p + 1));
  EXPECT_TRUE(freeDevice(p));
  EXPECT_FALSE(freeDevice(p));
  EXPECT_EQ(deviceBytesInUse(), before);
}

TEST(DeviceMemory, RefusesZeroAndTooMuch) {
  EXPECT_EQ(allocateDevice(0), nullptr);
  EXPECT_EQ(allocateDevice(~uint64_t{0}), nullptr);
  EXPECT_EQ(allocateDevice(uint64_t{1} << 60), nullptr);
}

/// Mappings of this process.
size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<size_t>(
      std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n'));
}

TEST(DeviceMemory, LeavesNothingMappedOfWhatIsFreedInTheArenaOfRecordings) {
#ifdef PTXRUN_TSAN
  GTEST_SKIP() << "the arena's addresses are the sanitizer's";
#endif
  ASSERT_TRUE(useDeviceArena());
  const auto once = [] {
    for (uint64_t bytes : {100ul, 3ul << 20})
      freeDevice(allocateDevice(bytes));
  };
  once();
  const size_t before = mappings();
  for (int turn = 0; turn < 100; ++turn)
    once();
  EXPECT_LE(mappings(), before + 5);
}

// As recordings that somebody changed may ask: pages of small blocks, then of a large one, again
// and again.
TEST(DeviceMemory, PlacesBlocksWhereOthersWere) {
#ifdef PTXRUN_TSAN
  GTEST_SKIP() << "the arena's addresses are the sanitizer's";
#endif
  constexpr uint64_t kBase = kDeviceArena + (uint64_t{1} << 30), kPage = 4096;
  for (int turn = 0; turn < 3; ++turn)
    for (uint64_t bytes : {uint64_t{50}, 3 * kPage, kPage + 7}) {
      auto *p = static_cast<unsigned char *>(allocateDeviceAt(kBase, bytes, 0));
      ASSERT_TRUE(p) << turn << " " << bytes;
      EXPECT_TRUE(std::all_of(p, p + bytes, [](unsigned char c) { return c == 0; }));
      std::memset(p, 1, bytes);
      EXPECT_TRUE(freeDevice(p));
    }
}

TEST(DeviceMemory, SaysHowFarOutsideAnAddressIs) {
  char *p = static_cast<char *>(allocateDevice(1024));
  char at[40];
  snprintf(at, sizeof at, "0x%llx", static_cast<unsigned long long>(place(p)));
  std::string text = describeDeviceAddress(place(p) + 1024 + 8);
  EXPECT_NE(
      text.find("is 8 bytes past the end of an allocation of 1024 bytes at " + std::string(at)),
      std::string::npos)
      << text;
  EXPECT_NE(
      describeDeviceAddress(place(p) - 4).find("is 4 bytes before an allocation of 1024 bytes"),
      std::string::npos);
  freeDevice(p);
  EXPECT_NE(describeDeviceAddress(place(p) + 4)
                .find("is byte 4 of an allocation of 1024 bytes at " + std::string(at) +
                      " that was freed"),
            std::string::npos);
  EXPECT_EQ(describeDeviceAddress(0x1000), "");
}

TEST(DeviceMemory, HoldsManySmallBlocks) {
  std::vector<uint32_t *> blocks;
  for (uint32_t i = 0; i < 20'000; ++i) {
    auto *p = static_cast<uint32_t *>(allocateDevice(4 + i % 700));
    ASSERT_TRUE(p) << i;
    *p = i;
    blocks.push_back(p);
  }
  for (uint32_t i = 0; i < blocks.size(); ++i)
    ASSERT_EQ(*blocks[i], i);
  for (uint32_t *p : blocks)
    ASSERT_TRUE(freeDevice(p));
}

KERNEL void overrunGang(const Launch *l, Cta *, Gang *) {
  auto *p = *static_cast<volatile uint32_t *const *>(l->params);
  for (int i = 0;; ++i)
    p[i] = 1;
}

bool guardIsExact() {
  const char *guard = getenv("PTXRUN_GUARD");
  return guard && strcmp(guard, "exact") == 0;
}

TEST(DeviceMemory, LeavesAtLeast256BytesBehindABlockUsable) {
  if (guardIsExact())
    GTEST_SKIP() << "PTXRUN_GUARD=exact";
  std::vector<uint8_t *> blocks;
  for (uint64_t i = 0; i < 9000; ++i) { // the last of them share slabs
    const uint64_t bytes = i % 512 * 64 + i % 3 + 1;
    auto *p = static_cast<uint8_t *>(allocateDevice(bytes));
    ASSERT_TRUE(p);
    memset(p, 1, bytes);
    memset(p + bytes, 2, 256);
    blocks.push_back(p);
  }
  for (uint64_t i = 0; i < blocks.size(); ++i) {
    const uint64_t bytes = i % 512 * 64 + i % 3 + 1;
    ASSERT_EQ(blocks[i][0], 1);
    ASSERT_EQ(blocks[i][bytes - 1], 1);
    ASSERT_EQ(blocks[i][bytes + 255], 2);
    ASSERT_TRUE(freeDevice(blocks[i]));
  }
  auto *large = static_cast<uint8_t *>(allocateDevice(4 << 20));
  memset(large + (4 << 20), 2, 256);
  freeDevice(large);
}

/// Where a block's end is a multiple of its alignment, with PTXRUN_GUARD=exact the first byte
/// behind it is out of bounds; else the first behind the 256 that are left.
TEST(DeviceMemory, OverrunOfABlockIsSeenAtItsEnd) {
  KernelCodeRegistration registration;
  const bool isExact = guardIsExact();
  for (uint64_t bytes : {256ul, 4096ul, 64ul * 1024, 4ul << 20}) {
    void *p = allocateDevice(bytes);
    Failure f = run(launch(fiberKernel(overrunGang), {1}, {1}, &p));
    EXPECT_EQ(f.status, Status::illegalAddress);
    if (isExact)
      EXPECT_EQ(f.address, place(p) + bytes);
    else
      EXPECT_GE(f.address, place(p) + bytes + 256);
    EXPECT_LE(f.address, place(p) + bytes + (isExact ? 0 : 4096));
    EXPECT_NE(f.message.find(isExact ? "just past the end of an allocation of"
                                     : "bytes past the end of an allocation of"),
              std::string::npos)
        << f.message;
    freeDevice(p);
  }
}

} // namespace
} // namespace ptxrun::rt::test
