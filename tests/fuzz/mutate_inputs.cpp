// Millions of damaged inputs of one kind in one process. Nothing may crash, throw what nobody
// expects, take a second of the CPU, or much memory.
//
//   mutate_inputs KIND [count=N] [seconds=S] [seed=N] [keep=DIR]
//   mutate_inputs KIND FILE ...          these inputs as they are
//
// KIND: image, npy, description, cache, module. With keep, DIR/KIND.current is the input that the
// process died of.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>

#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/expression.h"
#include "loader/ptxrun/npy.h"
#include "loader/ptxrun/plan.h"
#include "tests/driver/elf_writer.h"
#include "tests/driver/fat_binary_writer.h"
#include "tests/driver/kernels.h"
#include "tests/fuzz/image_input.h"
#include "tests/fuzz/long_run.h"
#include "tests/fuzz/mutations.h"
#include "translate/check/check.h"
#include "translate/jit/code_cache.h"

namespace ptxrun::tests {

namespace {

namespace fs = std::filesystem;

class Kind {
 public:
  virtual ~Kind() = default;
  /// Valid inputs.
  virtual std::vector<std::string> seeds() = 0;
  /// Reads one; returns however bad it is.
  virtual void read(const std::string &input) = 0;
};

/// A file without a place: its contents are set anew for each input.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("input", MFD_CLOEXEC)) {}
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  void set(const std::string &bytes) const { setContents(descriptor_, bytes); }

  static void setContents(int descriptor, const std::string &bytes) {
    if (ftruncate(descriptor, static_cast<off_t>(bytes.size())) != 0 ||
        pwrite(descriptor, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      std::abort();
  }

 private:
  const int descriptor_;
};

std::string contentsOf(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The repository's files of a kind, those that are not large.
std::vector<std::string> filesOf(std::initializer_list<const char *> folders, const char *extension,
                                 size_t most) {
  std::vector<fs::path> paths;
  for (const char *folder : folders)
    for (const auto &entry : fs::directory_iterator(fs::path(PTXRUN_SOURCE) / folder))
      if (entry.path().extension() == extension && entry.file_size() <= most)
        paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end()); // the same order everywhere
  std::vector<std::string> contents;
  for (const fs::path &path : paths)
    contents.push_back(contentsOf(path));
  return contents;
}

class ImageKind final : public Kind {
 public:
  std::vector<std::string> seeds() override {
    const auto text = [](const std::vector<char> &bytes) {
      return std::string(bytes.begin(), bytes.end());
    };
    const std::string small = std::string(kSmall) + '\0';
    const FatBinary plain = FatBinary().add(1, 70, small);
    const FatBinary lz4 = FatBinary().add(2, 90, "cubin").add(1, 70, small, kLz4).add(1, 80, kAdd);
    const FatBinary zstd = FatBinary().add(1, 75, kAdd, kZstd).add(1, 80, small, kZstd);
    ElfWriter cubin(ET_EXEC, 190);
    const uint16_t code = cubin.add(".text.k", SHT_PROGBITS, std::vector<char>(64));
    cubin.symbol("k", STT_FUNC, STB_GLOBAL, code, 0x10);
    const std::vector<char> cubinBytes = cubin.bytes();
    const FatBinary both = FatBinary()
                               .add(2, 90, text(cubinBytes))
                               .add(1, 90, small, kZstd)
                               .add(8, 90, "\xed\x43\x4e\x7f");
    ElfWriter program(ET_EXEC, EM_X86_64);
    program.add(".nv_fatbin", SHT_PROGBITS, both.bytes());
    program.needs("libcudart.so.12").needs("libc.so.6").symbol("main", STT_FUNC, STB_GLOBAL, 1);
    ElfWriter object(ET_REL, EM_X86_64);
    object.add("__nv_relfatbin", SHT_PROGBITS, lz4.bytes());
    const std::string objectBytes = text(object.bytes());
    char header[61];
    std::snprintf(header, sizeof header, "%-16s%-12s%-6s%-6s%-8s%-10zu`\n", "one.o/", "0", "0", "0",
                  "644", objectBytes.size());
    return {small,
            text(plain.bytes()),
            text(lz4.bytes()),
            text(zstd.bytes()),
            text(both.bytes()),
            text(cubinBytes),
            text(program.bytes()),
            objectBytes,
            "!<arch>\n" + std::string(header) + objectBytes};
  }
  void read(const std::string &input) override { tryImage(input, /*isBehindAddress=*/true); }
};

class NpyKind final : public Kind {
 public:
  std::vector<std::string> seeds() override {
    using command::Array;
    using command::Element;
    std::vector<std::string> all;
    const auto add = [&](Element element, std::vector<uint64_t> shape) {
      Array array(element, std::move(shape));
      if (array.bytes() != 0)
        std::memset(array.data(), 1, array.bytes());
      file_.set("");
      command::writeNpy(file_.path(), array);
      all.push_back(contentsOf(file_.path()));
    };
    add(Element::f32, {4, 3});
    add(Element::u8, {100});
    add(Element::c128, {});
    add(Element::bf16, {2, 2, 2});
    add(Element::i64, {0, 7});
    return all;
  }
  void read(const std::string &input) override {
    file_.set(input);
    try {
      command::readNpy(file_.path());
    } catch (const command::UsageError &) {
    } catch (const command::Failed &) {
    }
  }

 private:
  MemoryFile file_;
};

class DescriptionKind final : public Kind {
 public:
  std::vector<std::string> seeds() override {
    return filesOf({"samples", "tests/regress", "tests/sync"}, ".toml", 8192);
  }
  void read(const std::string &input) override {
    file_.set(input);
    try {
      const command::Plan plan = command::readDescription(file_.path());
      for (const command::Expectation &expectation : plan.expectations)
        command::Expression(expectation.value, plan.constants);
      for (const command::Launch &launch : plan.launches)
        for (const std::string &extent : launch.grid)
          command::Expression(extent, plan.constants).asInteger();
    } catch (const command::UsageError &) {
    }
  }

 private:
  MemoryFile file_;
};

class CacheKind final : public Kind {
 public:
  CacheKind()
      : folder_("/dev/shm/ptxrun-mutate-" + std::to_string(getpid())), cache_(folder_),
        key_(jit::CacheKeyBuilder().add("fuzz").finish()) {
    jit::ObjectCode code;
    code.kernel = "kernel";
    code.reason = "written by a test";
    code.elf = std::string(700, 'e');
    cache_.store(key_, code);
    const fs::path entry = fs::directory_iterator(folder_)->path();
    valid_ = contentsOf(entry);
    descriptor_ = open(entry.c_str(), O_RDWR | O_CLOEXEC);
  }
  ~CacheKind() override {
    close(descriptor_);
    fs::remove_all(folder_);
  }
  std::vector<std::string> seeds() override { return {valid_}; }
  void read(const std::string &input) override {
    MemoryFile::setContents(descriptor_, input);
    if (cache_.find(key_).has_value() != (input == valid_)) {
      std::fprintf(stderr, "a damaged entry was believed, or a valid one was not\n");
      std::abort();
    }
  }

 private:
  const std::string folder_;
  const jit::CodeCache cache_;
  const jit::CacheKey key_;
  std::string valid_;
  int descriptor_ = -1;
};

class ModuleKind final : public Kind {
 public:
  std::vector<std::string> seeds() override {
    return filesOf({"samples", "tests/regress", "tests/diagnostics", "tests/sync"}, ".ptx", 6000);
  }
  void read(const std::string &input) override {
    support::SourceFile source("input.ptx", input);
    support::Diagnostics diagnostics(source);
    const bool isOk = check::parseAndCheck(source, diagnostics) != nullptr;
    if (isOk == diagnostics.hasErrors())
      std::abort();
    diagnostics.text();
  }
};

std::unique_ptr<Kind> kindNamed(std::string_view name) {
  if (name == "image")
    return std::make_unique<ImageKind>();
  if (name == "npy")
    return std::make_unique<NpyKind>();
  if (name == "description")
    return std::make_unique<DescriptionKind>();
  if (name == "cache")
    return std::make_unique<CacheKind>();
  if (name == "module")
    return std::make_unique<ModuleKind>();
  return nullptr;
}

double cpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

long mostMemoryKiB() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/// A copy of the input that outlives the process.
class Keeper {
 public:
  Keeper(const std::string &folder, const std::string &kind) {
    if (folder.empty())
      return;
    fs::create_directories(folder);
    path_ = folder + "/" + kind + ".current";
    descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  }
  void keep(const std::string &input) const {
    if (descriptor_ >= 0)
      MemoryFile::setContents(descriptor_, input);
  }
  void succeed() const {
    if (descriptor_ >= 0)
      fs::remove(path_);
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

struct Settings : fuzz::LongRun {
  Settings() : LongRun(100'000) {}
  std::string kind;
  std::vector<std::string> files;
};

bool readArgument(std::string_view text, Settings &settings) {
  if (text.find('=') == std::string_view::npos)
    return settings.files.emplace_back(text), true;
  return fuzz::readSetting(text, settings);
}

int run(const Settings &settings) {
  const std::unique_ptr<Kind> kind = kindNamed(settings.kind);
  for (const std::string &file : settings.files)
    kind->read(contentsOf(file));
  if (!settings.files.empty())
    return 0;
  const std::vector<std::string> seeds = kind->seeds();
  for (const std::string &seed : seeds)
    kind->read(seed);
  std::printf("%s: %zu valid inputs, seed=%llu\n", settings.kind.c_str(), seeds.size(),
              static_cast<unsigned long long>(settings.seed));
  std::fflush(stdout);
  const Keeper keeper(settings.keep, settings.kind);
  Mutations mutations(settings.seed);
  const long memoryBefore = mostMemoryKiB();
  const std::time_t end = std::time(nullptr) + static_cast<std::time_t>(settings.seconds);
  double slowest = 0, before = cpuSeconds();
  uint64_t done = 0;
  for (; done < settings.count; ++done) {
    if (done % 64 == 0 && settings.seconds != 0 && std::time(nullptr) >= end)
      break;
    std::string input = seeds[mutations.below(seeds.size())];
    mutations.damage(input, seeds);
    keeper.keep(input);
    if (done % 256 == 0)
      alarm(60); // a hang ends the process
    kind->read(input);
    const double now = cpuSeconds();
    if (now - before > slowest)
      slowest = now - before;
    before = now;
    if (slowest > 1) {
      std::fprintf(stderr, "an input of %zu bytes took %.1f s\n", input.size(), slowest);
      return 1;
    }
  }
  const long memory = mostMemoryKiB() - memoryBefore;
  std::printf("%s: %llu inputs; the slowest took %.1f ms; %ld MiB more memory than before\n",
              settings.kind.c_str(), static_cast<unsigned long long>(done), slowest * 1e3,
              memory >> 10);
#if defined(__has_feature) && __has_feature(address_sanitizer)
  constexpr long kMostMiB = 1024; // the sanitizer keeps what was freed for a while
#else
  constexpr long kMostMiB = 256; // inputs have at most 64 KiB
#endif
  if (memory > kMostMiB << 10)
    return 1;
  keeper.succeed();
  return 0;
}

} // namespace

} // namespace ptxrun::tests

int main(int count, char **arguments) {
  using namespace ptxrun::tests;
  Settings settings;
  bool isUnderstood = count > 1 && kindNamed(arguments[1]);
  for (int i = 2; i < count; ++i)
    isUnderstood = isUnderstood && readArgument(arguments[i], settings);
  if (!isUnderstood) {
    std::fprintf(stderr, "mutate_inputs image|npy|description|cache|module "
                         "[count=N] [seconds=S] [seed=N] [keep=DIR] | FILE ...\n");
    return 2;
  }
  settings.kind = arguments[1];
  return run(settings);
}
