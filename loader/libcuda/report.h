// The driver's own words on stderr.
#pragma once
#include <string>

#include "loader/libcuda/cuda_abi.h"

namespace ptxrun::driver {

/// True when PTXRUN_VERBOSE is set: the driver explains itself on stderr.
bool isVerbose();
/// One line on stderr, "ptxrun: <text>".
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));
/// For what every launch of a kernel may repeat: only the first time; the others are counted.
void reportOnce(const std::string &text);
/// The process ends: how often each text was not repeated.
void reportRepeats();
/// CUDA_ERROR_NOT_SUPPORTED; says `what` on stderr once per name when verbose.
CUresult notSupported(const char *what);

} // namespace ptxrun::driver
