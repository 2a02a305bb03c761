#include "loader/machine/presence.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "loader/machine/device_info.h"

namespace ptxrun::machine {

namespace {

/// What the file is called in /proc; another layout takes another name.
constexpr const char *kName = "ptxrun presence 1";

struct Page {
  pid_t process; ///< a fork's child has the file, too, and uses nothing
  std::atomic<uint32_t> usedDevices;
  std::atomic<uint64_t> held[kMostDevices];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

std::atomic<Page *> own{nullptr};

Page *makePage() {
  const int file = memfd_create(kName, MFD_CLOEXEC);
  if (file < 0)
    return nullptr;
  void *page = ftruncate(file, sizeof(Page)) == 0
                   ? mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                   : MAP_FAILED;
  if (page == MAP_FAILED) {
    close(file);
    return nullptr;
  }
  static_cast<Page *>(page)->process = getpid();
  return static_cast<Page *>(page); // the file stays open: by it others find the page
}

/// Whether the link leads to a page; others' files are not opened, which may have effects.
bool isPage(const std::filesystem::path &link) {
  std::error_code error;
  const std::string target = std::filesystem::read_symlink(link, error).string();
  return !error && target.starts_with(std::string("/memfd:") + kName);
}

/// False where it is none of that process.
bool readPage(const std::filesystem::path &link, pid_t process, unsigned device,
              OtherProcess &found) {
  const int file = open(link.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return false;
  struct stat info;
  const bool isWhole = fstat(file, &info) == 0 && info.st_size == off_t(sizeof(Page));
  void *mapped = isWhole ? mmap(nullptr, sizeof(Page), PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
  close(file);
  if (mapped == MAP_FAILED)
    return false;
  const auto *page = static_cast<const Page *>(mapped);
  const bool isUsing = page->process == process && (page->usedDevices.load() >> device & 1) != 0;
  if (isUsing)
    found = {process, page->held[device].load()};
  munmap(mapped, sizeof(Page));
  return isUsing;
}

void findIn(const std::filesystem::path &folder, pid_t process, unsigned device,
            std::vector<OtherProcess> &all) {
  std::error_code error;
  OtherProcess found{};
  for (std::filesystem::directory_iterator at(folder / "fd", error), end; !error && at != end;
       at.increment(error))
    if (isPage(at->path()) && readPage(at->path(), process, device, found)) {
      all.push_back(found);
      return;
    }
}

} // namespace

void announceProcess() {
  if (!own.load())
    own.store(makePage());
}

void announceMemory(unsigned device, uint64_t bytes) {
  Page *page = own.load(std::memory_order_acquire);
  if (!page || device >= kMostDevices)
    return;
  page->held[device].store(bytes, std::memory_order_relaxed);
  page->usedDevices.fetch_or(1u << device, std::memory_order_relaxed);
}

std::vector<OtherProcess> otherProcesses(unsigned device) {
  std::vector<OtherProcess> all;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    pid_t process = 0;
    const auto [rest, problem] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (problem == std::errc() && rest == name.data() + name.size() && process != getpid())
      findIn(at->path(), process, device, all);
  }
  std::ranges::sort(all, {}, &OtherProcess::process);
  return all;
}

} // namespace ptxrun::machine
