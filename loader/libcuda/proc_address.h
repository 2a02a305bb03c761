// From names to addresses; see functions.def.
#pragma once
#include <string_view>

namespace ptxrun::driver {

/// What findFunction has to say besides the address.
enum class Lookup { found, unknownName, versionTooLow };

/// The function of the greatest version at or below the one asked for; among those with and without
/// per-thread default stream the one that was asked for, or what there is. `address` is null unless
/// found.
Lookup findFunction(std::string_view name, int version, bool isPerThread, void **address);

} // namespace ptxrun::driver
