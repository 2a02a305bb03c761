// A recorded launch as something to debug.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace ptxrun::debug {
class Program;
}

namespace ptxrun::command {

/// `before` tells which launches before this one changed the memory around an address.
using ProgramVisit =
    std::function<bool(debug::Program &, std::function<std::string(uint64_t address)> before)>;

/// Replays a recording up to a launch (none: the first that failed, else the first) and visits that
/// one, to be run in the order of the schedule (empty: as recorded). What the visit returned.
/// Throws UsageError, capture::BadRecording.
bool visitRecorded(const std::string &file, std::optional<uint64_t> launch,
                   const std::string &schedule, const ProgramVisit &visit);

} // namespace ptxrun::command
