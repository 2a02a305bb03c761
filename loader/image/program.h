// How a host program reaches CUDA, and what has to be added where its code cannot run.
#pragma once
#include "loader/image/contents.h"
#include "loader/image/elf_file.h"

namespace ptxrun::image {

/// Fills in the runtime and the libraries. `bytes`: all of the file; its fat binaries are known.
void describeProgram(const ElfFile &, std::span<const std::byte> bytes, Contents &);
/// 90 for a cubin of sm_90, from the flags in its header; 0 where they say nothing.
unsigned cubinArchitecture(std::span<const std::byte> cubin);

} // namespace ptxrun::image
