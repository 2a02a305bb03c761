// Opaque variables (PTX ISA 5.3): the records that .texref, .samplerref and .surfref variables
// stand for. The variable's 8 bytes hold the record's handle.
#pragma once
#include "intrinsics/texture.h"
#include "translate/check/checked_module.h"

namespace ptxrun::device {

/// none for all other variables.
abi::ImageKind imageKindOf(const check::Variable &);
/// Makes the records of an opaque variable (one per element of an array) from its initial value and
/// writes their handles to `address`. Returns the first handle, 0 where there are too many. A
/// texture or surface is bound to nothing yet.
uint64_t placeOpaqueVariable(const check::Variable &, void *address);
/// Takes the records away again.
void removeOpaqueVariable(const check::Variable &, void *address);

} // namespace ptxrun::device
