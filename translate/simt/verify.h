// The contracts of this stage, checked: between its steps in builds with assertions, and by tests.
#pragma once
#include <string>

#include "translate/simt/gang_module.h"

namespace ptxrun::simt {

/// What does not hold of a function behind prepareFunction (prepare.h): one return, no switches, no
/// irreducible loops, loop-simplified LCSSA form. Empty if all of it holds.
std::string whatIsUnprepared(llvm::Function &);

/// The sentence of a GangModule that does not hold, empty if all do:
///   - the IR is valid
///   - the function named after the entry is defined with that entry's type (intrinsics/abi.h) and
///     is the only one to be seen from outside
///   - what is called and not defined is an entry point of the runtime (`ptxrun_*`) or an
///   intrinsic:
///     no word of the vocabulary is left
///   - `cta_range` calls nothing that suspends, `gang_start` nothing that suspends on a stack
///   - accesses are generic: windows of other address spaces have become host addresses
///   - W is 1, 8, 16 or 32; the alignment of shared memory is a power of two
std::string verifyGangModule(const GangModule &);

} // namespace ptxrun::simt
