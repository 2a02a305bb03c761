// Rows of what a block stages: where they are, what they cost, and the loop that stores them.
#pragma once
#include <map>
#include <vector>

#include "translate/simt/staged_stores.h"

namespace ptxrun::simt {

/// Stores that compute the same from other numbers, and all that threads do of them.
struct Group {
  std::vector<const Staged *> stores;
  std::vector<Instance> instances;
  /// Instances on end whose numbers go up by the same steps: where each row begins, and how long it
  /// is.
  struct Row {
    size_t first, count;
  };
  std::vector<Row> rows;
  std::vector<uint64_t> steps; ///< of each leaf, from one instance of a row to the next
};

/// What the rounds of gangs cost, in rows. The instances are in the order of threads.
float costAcrossRows(const Group &);

/// Finds the rows of the group, of at most `lanes` instances; in the order of places, or in that of
/// threads where rows are longer so.
void findRows(Group &, size_t lanes);

/// Makes a loop of the first gang over the rows, in front of `at`, which begins a block. `moved`:
/// phis of loops around it, and those that say how far they have been moved on.
void storeRows(llvm::Instruction &at, const GangShape &, const Nodes &, const Group &,
               std::map<llvm::PHINode *, llvm::PHINode *> &moved);

} // namespace ptxrun::simt
