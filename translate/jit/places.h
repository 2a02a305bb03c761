// Code address to PTX line, from the line table of a kernel's object.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ptxrun::jit {

/// The PTX line of the instruction at `offset` bytes into section `.text` of a relocatable ELF
/// object; 0 if the line table does not say. Decodes the table anew: for reports after a fault, not
/// for hot paths.
uint32_t lineAt(std::string_view elf, uint64_t offset);

} // namespace ptxrun::jit
