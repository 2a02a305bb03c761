#include "loader/libcuda/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace ptxrun::driver {

OwnedFile::~OwnedFile() {
  if (isOpen())
    close(number_);
}

OwnedFile &OwnedFile::operator=(OwnedFile &&other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

OwnedFile OwnedFile::make(size_t bytes) {
  OwnedFile file(memfd_create("ptxrun device memory", MFD_CLOEXEC));
  if (file.isOpen() && ftruncate(file.number_, static_cast<off_t>(bytes)) != 0)
    return OwnedFile();
  return file;
}

OwnedFile OwnedFile::copyOf(int number) { return OwnedFile(fcntl(number, F_DUPFD_CLOEXEC, 0)); }

OwnedFile OwnedFile::ofProcess(pid_t process, int number) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(number);
  return OwnedFile(open(path.c_str(), O_RDWR | O_CLOEXEC));
}

size_t OwnedFile::bytes() const {
  struct stat info;
  return fstat(number_, &info) == 0 ? static_cast<size_t>(info.st_size) : 0;
}

int duplicateFile(const OwnedFile &file) { return fcntl(file.number(), F_DUPFD, 0); }

void *mapShared(const OwnedFile &file, void *at, size_t bytes, uint64_t offset) {
  void *mapped = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0),
                      file.number(), static_cast<off_t>(offset));
  return mapped == MAP_FAILED ? nullptr : mapped;
}

} // namespace ptxrun::driver
