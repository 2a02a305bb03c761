// One thread of the process for work that nobody waits for.
#pragma once
#include <functional>

namespace ptxrun::device {

/// Runs the job after those given before, on a thread of its own that starts with the first one and
/// ends with endBackground (device.h).
void runInBackground(std::function<void()> job);

} // namespace ptxrun::device
