// Whether what a kernel computes can depend on who runs first, found by reading its LaneModule.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "translate/lower/lane_module.h"

namespace ptxrun::observe {

/// Sentences name the PTX line; empty where there is nothing of the kind. Conservative where
/// threads communicate by atomics, ordered or volatile accesses, or where what is stored depends on
/// what others may store; plain accesses of shared memory are taken to be kept apart by the
/// kernel's barriers, and plain stores by different threads to addresses reckoned from their
/// numbers to be to different places, unless only a part of the number (its remainder, its
/// quotient, the block's) is in the address and no comparison chose one thread.
struct Dependence {
  std::string amongThreads;    ///< on the order of threads, even of one block
  std::string amongBlocks;     ///< on the order of blocks: matters where there are several
  bool writesAnywhere = false; ///< besides the memory that `writes` points to
  bool readsAnywhere = false;  ///< the same of reads
  bool usesVariables = false;  ///< writes variables of the module
  /// Offsets in the `.param` space of the pointers that it writes or reads through. Where memory
  /// behind one that is written is also behind another one, the result may depend on the order of
  /// blocks.
  std::vector<uint32_t> writes, reads;
};

/// The module must have been optimised for Tier::optimised.
Dependence examineDependence(const lower::LaneModule &);

} // namespace ptxrun::observe
