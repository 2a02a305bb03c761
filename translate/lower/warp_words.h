// Operations of a whole warp that the runtime performs on the registers of its lanes (vocabulary.h:
// ptx.warp.*): wgmma, tcgen05.ld and the like.
#pragma once
#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>

namespace llvm {
class CallInst;
class Value;
} // namespace llvm

namespace ptxrun::lower {

class LaneBuilder;

/// Calls the entry point ptxrun_<operation> once for the warp. `uniform` are i64s, the same for all
/// lanes; `registers` are i32s of each lane. Gives a struct of `results` i32s of each lane.
llvm::CallInst *callForWarp(LaneBuilder &, llvm::StringRef operation,
                            llvm::ArrayRef<llvm::Value *> uniform,
                            llvm::ArrayRef<llvm::Value *> registers, size_t results);

} // namespace ptxrun::lower
