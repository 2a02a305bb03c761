// A trace of what happens when, as a file that Perfetto and chrome://tracing show (the JSON array
// of trace events).
//
//   category   where                       what
//   launch     the thread that launches    a launch: kernel, grid, block, W
//   compile    the thread that compiles    a module that is loaded, a kernel that is compiled or
//   found in the cache copy       the thread that copies      a copy or fill of the host cta
//   workers                     a CTA, a cluster, or CTAs that ran straight through one after the
//   other async      workers                     an asynchronous copy when it is performed wait of
//   their own                from the first arrival at a barrier to the last; a wait for an
//   mbarrier
//
// What code does without the runtime is not seen: barriers of kernels that run region by region,
// cp.async that copies at once. Off (the default), each place costs one test of a constant.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ptxrun::rt::trace {

/// Set by start(), before any launch.
extern bool isTracing;
inline bool isOn() { return __builtin_expect(isTracing, false); }

/// Writes to this file from now on, until the process ends or finish(). False where it cannot be
/// written.
bool start(const std::string &file);
/// The file is complete. Nothing is traced any more.
void finish();

/// Something on the calling thread's track, in nanoseconds of nowNs(). `arguments`: members of a
/// JSON object, may be empty. Any thread.
void span(const char *category, std::string_view name, uint64_t begin, uint64_t end,
          std::string_view arguments = {});
/// Something that overlaps with others: on a track of its own.
void overlapping(const char *category, std::string_view name, uint64_t begin, uint64_t end,
                 std::string_view arguments = {});
/// What the calling thread's track is called; the first name stays.
void nameThread(std::string_view name);
/// `"text"` with what JSON asks for.
std::string quoted(std::string_view text);

/// A span from here to the end of the scope.
class Scope {
 public:
  Scope(const char *category, std::string_view name);
  ~Scope();
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;
  /// Adds `"name": value`, value as JSON.
  void add(std::string_view name, std::string_view value);
  void add(std::string_view name, uint64_t value);

 private:
  const char *const category_;
  std::string name_, arguments_;
  uint64_t begin_ = 0;
};

// Of workers; to be called only where isOn().

/// Somebody waits at `place`; the first one's time counts.
void waitBegins(const void *place);
/// Nobody waits there any more.
void waitEnds(const void *place, std::string_view name, std::string_view arguments = {});

} // namespace ptxrun::rt::trace
