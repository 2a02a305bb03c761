#include "translate/jit/code_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include "tests/unit/jit/gang_fixture.h"

namespace ptxrun::test {
namespace {

namespace fs = std::filesystem;
using jit::CacheKey;
using jit::CacheKeyBuilder;
using jit::CodeCache;
using jit::ObjectCode;

class Cache : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ptxrun-cache-test-XXXXXX").string();
    ASSERT_TRUE(::mkdtemp(pattern.data()));
    root_ = pattern;
    directory_ = root_ + "/cache";
  }
  void TearDown() override { fs::remove_all(root_); }

  static CacheKey key(uint64_t number) { return CacheKeyBuilder().add(number).finish(); }

  static ObjectCode object(size_t bytes, char fill) {
    ObjectCode code;
    code.kernel = "kernel";
    code.reason = "warp operations";
    code.needs.lanes = 16;
    code.needs.staticSharedBytes = 4096;
    code.entry = simt::EntryPoint::ctaRange;
    code.elf = std::string(bytes, fill);
    return code;
  }

  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    for (const auto &entry : fs::directory_iterator(directory_))
      out.push_back(entry.path());
    return out;
  }
  uint64_t bytesOnDisk() const {
    uint64_t sum = 0;
    for (const fs::path &file : files())
      sum += fs::file_size(file);
    return sum;
  }

  std::string root_, directory_;
};

TEST_F(Cache, ReturnsWhatWasStored) {
  const CodeCache cache(directory_);
  EXPECT_FALSE(cache.find(key(1)));
  cache.store(key(1), object(1000, 'a'));
  const auto found = cache.find(key(1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kernel, "kernel");
  EXPECT_EQ(found->reason, "warp operations");
  EXPECT_EQ(found->needs.lanes, 16u);
  EXPECT_EQ(found->needs.staticSharedBytes, 4096u);
  EXPECT_EQ(found->entry, simt::EntryPoint::ctaRange);
  EXPECT_EQ(found->elf, std::string(1000, 'a'));
  EXPECT_FALSE(cache.find(key(2)));
}

TEST_F(Cache, KeysOfDifferentPartsDiffer) {
  EXPECT_NE(CacheKeyBuilder().add("ab").add("c").finish(),
            CacheKeyBuilder().add("a").add("bc").finish());
  EXPECT_NE(CacheKeyBuilder().add(1).finish(), CacheKeyBuilder().add(2).finish());
  EXPECT_EQ(CacheKeyBuilder().add("ab").finish(), CacheKeyBuilder().add("ab").finish());
}

TEST_F(Cache, IgnoresAnEntryTruncatedAtAnyByteAndReplacesIt) {
  const CodeCache cache(directory_);
  cache.store(key(1), object(100, 'a'));
  const fs::path file = files().at(0);
  std::string whole(fs::file_size(file), '\0');
  std::ifstream(file, std::ios::binary).read(whole.data(), std::streamsize(whole.size()));
  for (size_t size = 0; size < whole.size(); size += 3) {
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(whole.data(), std::streamsize(size));
    EXPECT_FALSE(cache.find(key(1))) << size;
  }
  cache.store(key(1), object(100, 'b'));
  ASSERT_TRUE(cache.find(key(1)));
  EXPECT_EQ(cache.find(key(1))->elf, std::string(100, 'b'));
}

TEST_F(Cache, IgnoresAnEntryWithAnyByteChanged) {
  const CodeCache cache(directory_);
  cache.store(key(1), object(50, 'a'));
  const fs::path file = files().at(0);
  std::string whole(fs::file_size(file), '\0');
  std::ifstream(file, std::ios::binary).read(whole.data(), std::streamsize(whole.size()));
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = char(damaged[at] ^ 0x20);
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(damaged.data(), std::streamsize(damaged.size()));
    EXPECT_FALSE(cache.find(key(1))) << at;
  }
}

TEST_F(Cache, IgnoresAnEntryUnderTheWrongName) {
  const CodeCache cache(directory_);
  cache.store(key(1), object(50, 'a'));
  const fs::path first = files().at(0);
  cache.store(key(2), object(50, 'b'));
  for (const fs::path &file : files())
    if (file != first)
      fs::copy_file(first, file, fs::copy_options::overwrite_existing);
  EXPECT_TRUE(cache.find(key(1)));
  EXPECT_FALSE(cache.find(key(2)));
}

TEST_F(Cache, IgnoresAnEntryThatAnyoneMayWrite) {
  const CodeCache cache(directory_);
  cache.store(key(1), object(50, 'a'));
  fs::permissions(files().at(0), fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(cache.find(key(1)));
}

TEST_F(Cache, IgnoresAnEntryThatTheGroupMayWrite) {
  const CodeCache cache(directory_);
  cache.store(key(1), object(50, 'a'));
  fs::permissions(files().at(0), fs::perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(cache.find(key(1)));
}

TEST_F(Cache, IgnoresAnEntryOfSomebodyElse) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "files of others are made by root";
  const CodeCache cache(directory_);
  cache.store(key(1), object(50, 'a'));
  ASSERT_EQ(::chown(files().at(0).c_str(), 65534, 65534), 0);
  EXPECT_FALSE(cache.find(key(1)));
}

TEST_F(Cache, NeitherWaitsForNorFollowsWhatIsNoFile) {
  const CodeCache cache(directory_);
  cache.store(key(1), object(50, 'a'));
  const fs::path entry = files().at(0), moved = fs::path(root_) / "moved";
  const auto replaceBy = [&](const std::function<void()> &make) {
    fs::remove_all(entry);
    make();
    EXPECT_FALSE(cache.find(key(1)));
    cache.shrinkTo(1 << 20); // neither does sweeping
  };
  fs::copy_file(entry, moved);
  replaceBy([&] { fs::create_symlink(moved, entry); });
  replaceBy([&] { fs::create_symlink("/dev/zero", entry); });
  replaceBy([&] { fs::create_directory(entry); });
  replaceBy([&] { ASSERT_EQ(::mkfifo(entry.c_str(), 0600), 0); });
  cache.store(key(1), object(50, 'b'));
  ASSERT_TRUE(cache.find(key(1))) << "a pipe is replaced";
}

TEST_F(Cache, TakesNoMemoryForAnEntryThatIsTooLong) {
  const CodeCache cache(directory_);
  cache.store(key(1), object(50, 'a'));
  cache.store(key(2), object(50, 'a'));
  for (const fs::path &file : files()) {
    std::error_code code;
    fs::resize_file(file, uintmax_t{1} << 40, code);
    if (code)
      GTEST_SKIP() << "no sparse files here";
    break;
  }
  EXPECT_NE(bool(cache.find(key(1))), bool(cache.find(key(2))));
  cache.shrinkTo(1 << 20);
  EXPECT_EQ(files().size(), 1u) << "it would take the place of all others";
}

/// Headers whose lengths do not add up, or do so only modulo 2^64, behind any bytes.
TEST_F(Cache, RefusesWhateverIsChanged) {
  const CodeCache cache(directory_);
  cache.store(key(1), object(300, 'a'));
  const fs::path file = files().at(0);
  std::string whole(fs::file_size(file), '\0');
  std::ifstream(file, std::ios::binary).read(whole.data(), std::streamsize(whole.size()));
  constexpr unsigned kSeed = 20261122;
  RecordProperty("seed", kSeed);
  std::mt19937 random(kSeed);
  for (int round = 0; round < 500; ++round) {
    std::string damaged = whole;
    for (unsigned changes = 1 + random() % 4; changes-- > 0;) {
      const size_t at = random() % damaged.size();
      if (const uint64_t odd = random() % 3 ? ~uint64_t{0} << random() % 64 : random();
          random() % 2)
        std::memcpy(damaged.data() + at, &odd, std::min<size_t>(8, damaged.size() - at));
      else
        damaged[at] = char(damaged[at] ^ 1 << random() % 8);
    }
    if (random() % 8 == 0)
      damaged.resize(random() % (2 * damaged.size()));
    if (damaged == whole)
      continue;
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(damaged.data(), std::streamsize(damaged.size()));
    ASSERT_FALSE(cache.find(key(1))) << "round " << round;
  }
}

TEST_F(Cache, StaysBelowItsLimitAndKeepsWhatWasUsedLast) {
  const uint64_t limit = 100'000;
  const CodeCache cache(directory_, limit);
  for (uint64_t i = 0; i < 200; ++i) {
    cache.store(key(i), object(2000, 'a')); // larger than limit / 64: each store sweeps
    EXPECT_LE(bytesOnDisk(), limit);
  }
  EXPECT_TRUE(cache.find(key(199)));
  EXPECT_FALSE(cache.find(key(0)));
}

TEST_F(Cache, FindingMarksAnOldEntryAsUsed) {
  const CodeCache cache(directory_);
  cache.store(key(1), object(1000, 'a'));
  const fs::path first = files().at(0);
  cache.store(key(2), object(1000, 'b'));
  for (const fs::path &file : files())
    fs::last_write_time(file, fs::file_time_type::clock::now() -
                                  std::chrono::hours(file == first ? 50 : 40));
  ASSERT_TRUE(cache.find(key(1)));
  cache.shrinkTo(1500);
  EXPECT_TRUE(cache.find(key(1)));
  EXPECT_FALSE(cache.find(key(2)));
}

TEST_F(Cache, SweepsWhatKilledProcessesLeft) {
  const CodeCache cache(directory_);
  cache.store(key(1), object(10, 'a'));
  const fs::path old = fs::path(directory_) / "tmp-1-0-1",
                 fresh = fs::path(directory_) / "tmp-2-0-1";
  std::ofstream(old) << "half an ent";
  std::ofstream(fresh) << "half an ent";
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(3));
  cache.shrinkTo(1 << 20);
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh)) << "its process may still be writing";
  EXPECT_TRUE(cache.find(key(1)));
}

TEST_F(Cache, DoesNothingWhereItCannotWrite) {
  const CodeCache cache("/proc/ptxrun-no-such-place");
  cache.store(key(1), object(10, 'a'));
  EXPECT_FALSE(cache.find(key(1)));
}

TEST_F(Cache, ReadersSeeWholeEntriesWhileWritersAreKilled) {
  const CodeCache cache(directory_);
  const auto isWhole = [](const ObjectCode &code) {
    return code.elf.size() == 200'000 &&
           code.elf.find_first_not_of(code.elf[0]) == std::string::npos;
  };
  for (int round = 0; round < 20; ++round) {
    const pid_t writer = ::fork();
    ASSERT_GE(writer, 0);
    if (writer == 0) {
      for (char fill = 'a';; fill = fill == 'z' ? 'a' : char(fill + 1))
        cache.store(key(7), object(200'000, fill));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(3 + round % 7));
    if (const auto found = cache.find(key(7))) {
      EXPECT_TRUE(isWhole(*found));
    }
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
    if (const auto found = cache.find(key(7))) {
      EXPECT_TRUE(isWhole(*found));
    }
  }
  EXPECT_TRUE(cache.find(key(7)));
}

TEST_F(Cache, GivesKernelsToAProcessThatNeverCompiled) {
  const CodeCache cache(directory_);
  const pid_t compiler = ::fork();
  ASSERT_GE(compiler, 0);
  if (compiler == 0) {
    auto made = jit::compile(parseGang("define void @gang(ptr %l, ptr %c, ptr %g) {\n"
                                       "store i32 42, ptr %g\n ret void }"),
                             "k", jit::hostTarget());
    if (made)
      cache.store(key(3), *made);
    ::_exit(made ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(compiler, &status, 0), compiler);
  auto found = cache.find(key(3));
  ASSERT_TRUE(found);
  auto kernel = jit::load(std::move(*found), {}, {});
  ASSERT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());
  uint32_t written = 0;
  (*kernel)->code().gang(nullptr, nullptr, reinterpret_cast<abi::Gang *>(&written));
  EXPECT_EQ(written, 42u);
}

TEST_F(Cache, IsFoundThroughTheEnvironment) {
  ::setenv("PTXRUN_CACHE", "off", 1);
  EXPECT_EQ(jit::cacheDirectory(""), "");
  EXPECT_EQ(jit::cacheDirectory("/given"), "/given");
  ::setenv("PTXRUN_CACHE", "/elsewhere", 1);
  EXPECT_EQ(jit::cacheDirectory(""), "/elsewhere");
  ::unsetenv("PTXRUN_CACHE");
  ::setenv("XDG_CACHE_HOME", "/xdg", 1);
  EXPECT_EQ(jit::cacheDirectory(""), "/xdg/ptxrun");
  ::unsetenv("XDG_CACHE_HOME");
  ::setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(jit::cacheDirectory(""), "/home/someone/.cache/ptxrun");
}

} // namespace
} // namespace ptxrun::test
