// Small CTAs that neighbour each other in the grid, run as one block, so that gangs have lanes for
// all of them.
#pragma once
#include <array>
#include <string_view>

#include "rt/launch/launch.h"
#include "translate/check/checked_module.h"
#include "translate/support/code_options.h"

namespace ptxrun::device {

/// How a kernel tells one CTA from another, found by reading its PTX.
struct Joinable {
  /// Nothing that it does, or waits for, is a matter of one CTA or of one warp.
  bool isAny = false;
  /// Along this axis it uses nothing but %ctaid * %ntid + %tid.
  std::array<bool, 3> isByIndex{};
  /// The %ntid that this presumes of an axis (%ctaid.x * 16 + %tid.x); 0: none.
  std::array<uint32_t, 3> presumed{};
};

Joinable readJoinable(const check::Module &, std::string_view kernel);

/// How many CTAs along each axis of the grid become one block of at most 1024 threads: as many as
/// give gangs of 32 lanes rows of their own, as long as the grid has some blocks for each worker.
/// All ones where nothing is to be gained. The grid is a multiple of them along y and z.
BlockShape chooseJoinedCtas(const Joinable &, const rt::RunOptions &, int workers);

} // namespace ptxrun::device
