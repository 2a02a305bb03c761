// The lane library as LLVM bitcode: what lowering links calls of LaneBuilder::library() from.
#pragma once
#include <string_view>

namespace ptxrun::intrinsics {

/// One bitcode module of functions `ptx_<operation>_<type>`: pure, scalar, without target
/// attributes, calling only LLVM intrinsics; data layout as LaneModules have it. Aligned to 16
/// bytes; lives as long as the process.
std::string_view laneLibraryBitcode();

} // namespace ptxrun::intrinsics
