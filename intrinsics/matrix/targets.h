// Which of the targets that Highway compiled tile.cpp for this CPU runs.
#pragma once
namespace ptxrun::matrix {

/// Whether vectors of 64 bytes are in use: the CPU has them and PTXRUN_CPU allows them.
bool usesLongVectors();

} // namespace ptxrun::matrix
