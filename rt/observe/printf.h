// Device printf: text of a launch, collected and delivered once.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "rt/launch/worker.h"

namespace ptxrun::rt {

/// Formats as CUDA's device printf does: `arguments` holds 4-byte integers and 8-byte integers,
/// doubles and pointers, each aligned to its size. Appends to `out`; returns the number of
/// arguments used. Reads memory the kernel named.
int formatText(std::string &out, const char *format, const void *arguments);
/// Adds to the text of the launch; whole pieces of different threads do not mix.
void appendText(LaunchState &, std::string_view);
/// Hands what has been printed to whom it is for. Under the launch's lock, or when its workers have
/// left.
void deliverText(LaunchState &);
/// Copies a string the kernel named, cut where it does not fit; null gives "".
void copyGuestText(Worker &, char *to, size_t capacity, const char *from);
template <size_t N> void copyGuestText(Worker &worker, char (&to)[N], const char *from) {
  copyGuestText(worker, to, N, from);
}

} // namespace ptxrun::rt
