// The page that shows counts of warps: one HTML file that needs nothing else.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "intrinsics/abi.h"
#include "loader/plot/warp_counts.h"

namespace ptxrun::check {
struct Module;
}

namespace ptxrun::plot {

/// One launch on a page.
struct PlottedLaunch {
  std::string kernel;
  abi::Dim3 grid, block;
  uint64_t warps = 0;
  std::map<uint32_t, Counts> counts; ///< by instruction (check/debug_frame.h has the numbers)
  std::string outcome;               ///< what went wrong; empty: nothing
};

/// The page of launches of one module. `text` is the PTX. Source files that `.loc` names are shown
/// where they can be read.
std::string makePage(const std::string &name, const std::string &text, const check::Module &,
                     const std::vector<PlottedLaunch> &);

} // namespace ptxrun::plot
