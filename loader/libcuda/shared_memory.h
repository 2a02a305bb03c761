// Memory that several mappings, of this process and of others, show at once: files without names.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace ptxrun::driver {

/// An open file that is closed at the end.
class OwnedFile {
 public:
  explicit OwnedFile(int number = -1) : number_(number) {}
  ~OwnedFile();
  OwnedFile(OwnedFile &&other) noexcept : number_(other.number_) { other.number_ = -1; }
  OwnedFile &operator=(OwnedFile &&) noexcept;
  int number() const { return number_; }
  bool isOpen() const { return number_ >= 0; }

  /// So many bytes of zeros; not open where the system has none.
  static OwnedFile make(size_t bytes);
  /// Another number for a file of this process.
  static OwnedFile copyOf(int number);
  /// A file of another process of the same user, which must still run.
  static OwnedFile ofProcess(pid_t, int number);
  size_t bytes() const;

 private:
  int number_;
};

/// Another number for the same file, for a program to keep; negative where the system has none.
int duplicateFile(const OwnedFile &);

/// Maps the file, readable and writable, anywhere (`at` null) or in the place of what is there.
/// Null where the system refuses.
void *mapShared(const OwnedFile &, void *at, size_t bytes, uint64_t offset);

} // namespace ptxrun::driver
