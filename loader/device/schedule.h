// Schedules as people write them, and script files.
//
//   ptxrun-schedule 1
//   async late          # when asynchronous copies happen, as for --async; may be left out
//   launch 0            # the first launch of the process; the lines below are its
//   resident 4          # blocks (or clusters) in flight at a time
//   start -> 0 3        # thread 3 of block 0 begins
//   0 3 17 -> 1 0       # at its 17th access or wait, thread 3 of block 0 gives way to thread 0 of
//   block 1
//   0 3 20 unordered    # its 20th is out of order: a store that others see late, a load made early
//   (rt/launch/weak_memory.h)
//
// Blocks and threads are linear numbers, x fastest. Everything that is not listed happens as under
// `serial`. Launches without a section run serially. `#` begins a comment.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "rt/launch/schedule.h"

namespace ptxrun::device {

struct LaunchOptions;

/// The scripts of a program's launches, by their number in the process.
struct ScheduleFile {
  std::string async; ///< when asynchronous copies happen; empty: as otherwise asked for
  std::map<uint64_t, rt::ScheduleScript> launches;
};

/// "fast", "serial", "reverse", "oldest-first", "lockstep", "gangs:N", "seed:N" or "script:FILE"
/// into the options' schedule, seed and script. What is wrong with the text or the file; empty:
/// nothing.
std::string readSchedule(std::string_view text, LaunchOptions &);
/// Lets the options follow a script.
void useScript(std::shared_ptr<const ScheduleFile>, LaunchOptions &);
/// The text of a schedule that readSchedule reads; "script" for scripts.
std::string scheduleText(const LaunchOptions &);
/// Reads the text of a script file; `name` is how the message calls it. What is wrong with it;
/// empty: nothing.
std::string parseScheduleFile(const std::string &name, std::string_view text, ScheduleFile &);
std::string writeScheduleFile(const ScheduleFile &);
/// What readSchedule takes.
inline constexpr const char *kScheduleForms =
    "fast|serial|reverse|oldest-first|lockstep|gangs:N|seed:N|script:FILE";
/// The orders that have a name and are neither fast nor serial.
inline constexpr const char *kNamedOrders[] = {"reverse", "oldest-first", "lockstep"};

} // namespace ptxrun::device
