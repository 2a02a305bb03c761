#include "rt/exec/openmp.h"

#include <fcntl.h>
#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

namespace ptxrun::rt {

namespace {

/// libomp registers in a shared file named after the process and the user, to find a second OpenMP
/// runtime in the same process. Who is killed leaves the file; who is killed between its creation
/// and its first word leaves it empty, and the next process with that number dies of SIGBUS (no
/// bytes) or of "OMP: Error #15" (zeros) as libomp reads it. Only such a file is removed.
void removeHalfRegistration() {
  for (const char *folder : {"/dev/shm", "/tmp"}) {
    char path[96];
    std::snprintf(path, sizeof path, "%s/__KMP_REGISTERED_LIB_%d_%d", folder, int(getpid()),
                  int(getuid()));
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
      continue;
    char first = 0;
    const bool isHalf = read(file, &first, 1) == 0 || first == 0;
    close(file);
    if (isHalf)
      unlink(path);
  }
}

} // namespace

int openMpThreads() {
  static std::atomic<pid_t> checked{0}; // libomp registers once more in a fork's child
  if (const pid_t process = getpid(); checked.load(std::memory_order_relaxed) != process) {
    removeHalfRegistration();
    checked.store(process, std::memory_order_relaxed);
  }
  return omp_get_max_threads();
}

} // namespace ptxrun::rt
