// Kernel arguments: from text to the bytes of the `.param` space, by the kernel's own parameter
// list.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loader/device/device.h"

namespace ptxrun::command {

/// The address of a buffer: a name with an optional offset in bytes ("x+16"), a source that is made
/// on the spot, or a tensor-map (tensor_argument.h). nullopt when the text is none of these.
using BufferLookup = std::function<std::optional<const void *>(std::string_view)>;

/// "saxpy(n: .u32, a: .f32, x: .u64, y: .u64)"
std::string signatureOf(const device::KernelInfo &);
/// ".u32", ".align 8 .b8[24]"
std::string typeOf(const device::Parameter &);

/// Fills the parameter buffer of a launch. Scalars: 12, -3, 0x1f, 2.5, 1e-3, inf, nan, 0f3F800000
/// (bits). A 64-bit parameter takes a number or a buffer. Structs: {i32 5, f32 2.0, ptr x}, fields
/// at their natural alignment. Throws UsageError that shows the parameter list.
std::vector<std::byte> packArguments(const device::KernelInfo &,
                                     const std::vector<std::string> &texts, const BufferLookup &);

/// What is said where a launch with these arguments met an illegal address: which 64-bit parameters
/// were given as numbers that are no addresses, in lines of their own. Empty: none.
std::string notAddresses(const device::KernelInfo &, const std::vector<std::string> &texts);

} // namespace ptxrun::command
