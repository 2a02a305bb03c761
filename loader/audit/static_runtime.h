// NVIDIA's static runtime inside an executable or shared object (nvcc's default).
#pragma once
#include <cstdint>

#include "loader/audit/object_file.h"

namespace ptxrun::audit {

/// Makes the runtime's functions in an object that has just been mapped jump to those of our
/// libcudart; nothing of the closed runtime is then run or answered. Does nothing to an object
/// without a runtime, or whose symbols were stripped.
///   path     the object's file, for its symbol table and for messages
///   address  where the object is loaded
void replaceStaticRuntime(const char *path, uint64_t address);

/// Whether a runtime is inside that cannot be replaced, since the file was stripped of its symbols.
bool hasStrippedRuntime(const ObjectFile &);

} // namespace ptxrun::audit
