// LaneModule: scalar LLVM IR, what one CUDA thread does. Made by lower, widened by simt.
#pragma once
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <vector>

namespace ptxrun::lower {

/// LLVM address spaces of a LaneModule: one per PTX state space. Pointers into `shared` are 32 bits wide.
enum AddressSpace : unsigned { kGeneric = 0, kGlobal = 1, kShared = 3, kConstant = 4, kLocal = 5 };

/// Data layout of every LaneModule (x86-64 with 32-bit `.shared` pointers).
inline constexpr const char *kLaneDataLayout =
    "e-m:e-p3:32:32-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";

/// One kernel and every function it can reach. The contract (checked by verifyLaneModule):
///  - `kernel` is `void (ptr)`: its argument points to the `.param` space. It returns by `ret void`; `exit` in a device
///    function is `call void @ptx.exit()` followed by `unreachable`.
///  - Device functions take and return first-class scalars (or, for aggregates in `.param` space, pointers to memory the
///    caller owns) and are `internal`, named `fn.<PTX name>`. What is not recursive gets inlined before simt.
///  - There are no indirect calls: a function's address is a number (function_address.h), a call through it a switch.
///  - Vectors are only loaded, stored, and made from or taken apart into elements (insertelement, extractelement).
///  - Everything that is not plain scalar IR is a call to a function named `ptx.*` (vocabulary.h).
///  - `.global` and `.const` variables are external globals named `ptxrun.var.<name>` in address space 0 that the loader binds;
///    `.local` variables and stack are allocas (address space 0), those that only hold constants internal constants.
///  - Shared variables are offsets in the CTA's own window, constants; `ptx.shared.base` is that window's host address. Only in
///    a module with hasClusterAddresses do addresses carry the CTA's rank, (%cluster_ctarank << abi::kSharedWindowShift) +
///    offset, and `ptx.shared.base` is the host address of the cluster's arena (rank 0's window).
///  - Atomic and ordered accesses are LLVM atomics with sync scopes "cta", "cluster", "gpu" ("" is sys);
///    `.volatile` is LLVM volatile. Addresses are `inttoptr` of integers.
///  - Each instruction's debug location is the PTX line (DILocation line = PTX line).
struct LaneModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  llvm::Function *kernel = nullptr;
  bool hasClusterAddresses = false;  ///< the kernel looks beyond its own CTA's shared memory, or may
  bool usesReservedShared = false;  ///< may use what is below abi::kSharedFirstOffset (module_builder.h)
  uint32_t paramBytes = 0;
  uint32_t staticSharedBytes = 0;  ///< from abi::kSharedFirstOffset on
  uint32_t staticSharedAlign = 1;
  std::vector<std::string> boundVariables;  ///< names of module variables that code refers to
};

}  // namespace ptxrun::lower
