// What recording and replaying do alike.
#pragma once
#include "loader/capture/memory_table.h"
#include "loader/device/device.h"

namespace ptxrun::capture {

/// How a launch is to run so that it can be repeated: as asked for, or, where its result may depend
/// on the schedule, in order at the W that it would have had.
void chooseOrder(device::Module &, const device::KernelInfo &, device::LaunchOptions &);

/// Looks anew at the memory that a launch can have written, and tells the pieces that are not what
/// they were. `variables`: where the module's are.
std::vector<Change> changesOf(MemoryTable &, const device::ScheduleDependence &,
                              const device::KernelInfo &, const void *params, uint64_t variables);

/// Adds the part of malloc's heap that is new.
void growHeap(MemoryTable &);

/// For a debugger, whose threads run one by one: instead of `fast`, or of a W that is pinned, the
/// order that comes nearest to what gangs of W lanes do: `gangs:W`. Threads that race come out as
/// they did, mostly.
void chooseDebuggedOrder(device::Module &, const device::KernelInfo &, device::LaunchOptions &);

} // namespace ptxrun::capture
