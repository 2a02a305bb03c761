// Which 64-bit words among a kernel's parameters are addresses, as far as its text says so.
#pragma once
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>

#include "translate/check/checked_module.h"

namespace ptxrun::lower {

class ModuleBuilder;

/// The offsets in `.param` of what is loaded into registers that nothing else writes and that
/// `cvta.to` takes for generic addresses (9.7.9.20).
llvm::SmallVector<int64_t, 8> addressParameters(const check::Function &kernel,
                                                const ModuleBuilder &);

/// Writes them down (vocabulary::kAddresses) at the kernel that is made of it.
void setAddressParameters(llvm::Function &kernel, llvm::ArrayRef<int64_t> offsets);
bool isAddressParameter(const llvm::Function &kernel, int64_t offset);

} // namespace ptxrun::lower
