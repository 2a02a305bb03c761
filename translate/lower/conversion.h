// What the conversion handlers share (conversion.cpp: fundamental types; narrow_conversion.cpp: 8
// bits and less).
#pragma once
#include <string>

#include "translate/lower/floating.h"

namespace ptxrun::lower {

/// relu() where `.relu` was written.
llvm::Value *reluIfAsked(LaneBuilder &, const check::Instruction &, llvm::Value *);

/// The lane library's conversion from f32 to `type` with the rounding and .satfinite written:
/// "ptx_cvt_rn_satfinite_f16".
std::string conversionTo(const check::Instruction &, llvm::StringRef type);

} // namespace ptxrun::lower
