#include "loader/image/readable.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "rt/launch/sanitizers.h"

namespace ptxrun::image {

namespace {

constexpr uintptr_t kPageBytes = 4096; // the smallest there are on x86-64
constexpr size_t kMaskBytes = 8;       // the kernel's sigset_t

/// rt_sigprocmask copies the mask before it looks at what is to be done with it: asked for
/// something that does not exist, it fails with EFAULT or EINVAL and changes nothing. Unlike
/// process_vm_readv it is allowed everywhere, and unlike mincore it sees protection and the ends of
/// files. A mask at address 0 would be none at all: the second word of the page is asked for.
bool isPageReadable(uintptr_t page) {
  constexpr long kNoSuchAction = -1;
  const int before = errno;
  const long result =
      syscall(SYS_rt_sigprocmask, kNoSuchAction, page + kMaskBytes, nullptr, kMaskBytes);
  const bool isReadable = result == 0 || errno != EFAULT;
  errno = before;
  return isReadable;
}

bool arePagesReadable(const void *address, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  if (bytes > UINTPTR_MAX - begin)
    return false;
  const uintptr_t end = begin + bytes;
  for (uintptr_t page = begin & ~(kPageBytes - 1); page < end; page += kPageBytes)
    if (!isPageReadable(page))
      return false;
  return true;
}

} // namespace

bool isReadable(const void *address, size_t bytes) {
  if (!arePagesReadable(address, bytes))
    return false;
#ifdef PTXRUN_ASAN // what belongs to nobody, the sanitizer would report
  if (bytes != 0 && __asan_region_is_poisoned(const_cast<void *>(address), bytes))
    return false;
#endif
  return true;
}

std::optional<std::string_view> textAt(const void *address) {
  const auto *text = static_cast<const char *>(address);
  for (const char *at = text;;) {
    const size_t left = kPageBytes - reinterpret_cast<uintptr_t>(at) % kPageBytes;
    if (!arePagesReadable(at, left)) // the text may end before the page
      return std::nullopt;
    if (const void *end = memchr(at, 0, left))
      return std::string_view(text, static_cast<size_t>(static_cast<const char *>(end) - text));
    at += left;
  }
}

device::Outcome readFile(const char *path, std::vector<char> &bytes) {
  using device::Code;
  using device::Outcome;
  constexpr off_t kLargestFile = off_t{4} << 30;
  const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (file < 0)
    return Outcome::failed(Code::fileNotFound, std::string(path) + ": " + strerror(errno));
  const auto read = [&]() -> Outcome {
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
      return Outcome::failed(Code::unsupportedImage, std::string(path) + " is not a file");
    if (status.st_size > kLargestFile)
      return Outcome::failed(Code::unsupportedImage,
                             std::string(path) + " has more than 4 GiB: no image is that long");
    bytes.resize(static_cast<size_t>(status.st_size));
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t got = ::read(file, bytes.data() + done, bytes.size() - done);
      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        return Outcome::failed(Code::fileNotFound, std::string(path) + ": " + strerror(errno));
      if (got == 0)
        break; // it became shorter
      done += static_cast<size_t>(got);
    }
    bytes.resize(done);
    return {};
  };
  Outcome outcome = read();
  close(file);
  return outcome;
}

} // namespace ptxrun::image
