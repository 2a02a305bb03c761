// The processors that this process may use: they are the device.
#pragma once
#include <vector>

namespace ptxrun::nvml {

/// A set of processors, one bit each, from the lowest bit of the first word on.
using ProcessorSet = std::vector<unsigned long>;

/// Where the process may run: the affinity of its first thread, so that threads which bind
/// themselves change nothing. Empty where the system does not say.
ProcessorSet usableProcessors();
bool contains(const ProcessorSet &, unsigned processor);

} // namespace ptxrun::nvml
