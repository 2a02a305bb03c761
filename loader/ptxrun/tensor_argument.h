// Tensor-maps as they are written on the command line and in launch descriptions: the arguments of
// cuTensorMapEncode* under their own names.
//
//   tensormap{buffer=x; type=f16; dims=64,128; box=64,8; swizzle=128B}
//
//   buffer            name of a buffer, with an offset in bytes if need be: x+1024
//   type              u8 u16 u32 s32 u64 s64 f16 f32 f32.ftz f64 bf16 tf32 tf32.ftz b4x16 b4x16_p64
//                     b6x16_p32 b6p2x16
//   dims              elements along each dimension, innermost first
//   strides           bytes from one element to the next along dimensions 1 and up; without it the
//                     tensor has no gaps
//   element_strides   traversal strides; all 1 without it
//   interleave        none (the default), 16B, 32B
//   swizzle           none (the default), 32B, 64B, 96B, 128B, 128B_atom_32B,
//                     128B_atom_32B_flip_8B, 128B_atom_64B
//   fill              zero (the default), nan
//   box               tiled: extents of the box
//   lower, upper      im2col: corners of the bounding box along W, H, D
//   channels, pixels  im2col: channels per pixel, pixels per column
//   mode              tiled, im2col, im2col_w or im2col_w_128; without it what the others say
//
// Numbers are expressions of the constants. A parameter of 128 bytes takes the map by value; one of
// 64 bits is given the address of a copy in global memory.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "loader/ptxrun/arguments.h"
#include "loader/ptxrun/expression.h"
#include "rt/memory/tensor_map.h"

namespace ptxrun::command {

/// Begins with "tensormap{".
bool isTensorMap(std::string_view text);

/// `lookup` finds the buffer. Throws UsageError, with what CUDA would have to say against the map.
rt::TensorMap makeTensorMap(std::string_view text, const BufferLookup &lookup,
                            const std::vector<Symbol> &constants);

} // namespace ptxrun::command
