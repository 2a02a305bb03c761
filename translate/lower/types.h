// PTX types as IR types.
#pragma once
#include <llvm/IR/Type.h>

#include "translate/isa/types.h"

namespace ptxrun::lower {

/// pred is i1, f16 half, bf16 bfloat, f32 and tf32 float, f64 double; everything else an integer of
/// its width. Null for Type::none and the opaque types.
llvm::Type *irType(llvm::LLVMContext &, isa::Type);

/// As irType, for memory: pred does not occur there; opaque references are i64 handles.
unsigned memoryBits(isa::Type);

} // namespace ptxrun::lower
