// NVIDIA's own libraries that compile and link code, which ours of the same name stand before.
#pragma once
#include <string>
#include <string_view>

namespace ptxrun::toolkit {

/// Where a library of NVIDIA's may be.
struct NvidiaLibrary {
  const char *file;     ///< "libnvrtc.so.13"
  const char *variable; ///< of the environment, with the path to it: "PTXRUN_NVRTC"
  const char *wheel;    ///< its folder in Python's package nvidia: "cuda_nvrtc/lib"
};

/// Opens the library that the program would get without us: the one that the variable names, the
/// one that the program asked for by its path, or the first in LD_LIBRARY_PATH, CUDA_HOME,
/// CUDA_PATH, the toolkit's and the system's folders, and Python's packages beside what is loaded.
/// Never one of ours. Null where there is none: the reason is then said once on stderr.
void *openNvidiaLibrary(const NvidiaLibrary &);

/// The same without the variable, which may be null, and without a word where there is none.
void *findNvidiaLibrary(const NvidiaLibrary &);

/// The function of that name; null where the library, or its version, has none.
void *findFunction(void *library, const char *name);

} // namespace ptxrun::toolkit
