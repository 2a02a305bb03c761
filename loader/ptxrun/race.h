// Which two accesses raced for a difference between two runs.
#pragma once
#include <optional>

#include "rt/launch/schedule.h"

namespace ptxrun::command {

struct Race {
  rt::ScheduleAccess first, second; ///< in the order of the run that differs
};

/// The first access of `other` (in time) that follows another write to its memory than it does in
/// `usual`, and the write that came to lie on the other side of it. Accesses are told apart by
/// their threads and points.
std::optional<Race> findRace(const rt::ScheduleRecord &usual, const rt::ScheduleRecord &other);

} // namespace ptxrun::command
