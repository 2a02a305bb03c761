// The part of the summary that knows instructions.
#pragma once
#include <string_view>

#include "translate/check/checked_module.h"

namespace ptxrun::device::summary {

/// The kernel is to be launched, for the first time: its instructions are counted, and those of
/// functions that it may call, as the text has them. To be called only where isOn(), from any
/// thread.
void noteForms(const check::Module &, std::string_view kernel);

} // namespace ptxrun::device::summary
