// wgmma where asynchronous operations are put off (RunOptions::asyncCopies). The registers that
// products use are seen as they were at the last wgmma.fence; results are given back by
// wgmma.wait_group. So a kernel that leaves one of them out computes with old values.
#pragma once
#include <vector>

#include "rt/tensor/wgmma.h"

namespace ptxrun::rt {

struct LateProduct {
  WgmmaOperands operands; ///< without registers
  uint64_t group = 0;     ///< the warp's group it belongs to
  uint64_t number = 0;    ///< of the warp's products, as WarpgroupTiles counts them
  uint16_t numbers[132];  ///< of D's registers, and A's where they are registers, in `registers`
  uint32_t metadata[32];
  bool isDone = false;
};

struct LateProducts {
  std::vector<LateProduct> pending; ///< in program order
  std::vector<uint32_t> registers;  ///< 32 lanes of each, as at the fence or by products since
  uint64_t groups = 0;              ///< committed so far
};

} // namespace ptxrun::rt
