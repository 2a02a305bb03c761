// Products of bytes by the tile registers of Intel's AMX.
#pragma once
#include "intrinsics/matrix/tile.h"

namespace ptxrun::matrix {

/// Whether this CPU has AMX-INT8 and AVX-512, and the kernel lets this process have tile registers;
/// asks for them once.
bool hasAmx();
/// multiplyIntegerTiles() with it, of registers as they are; k is a multiple of 16.
void amxTiles(const ByteProducts &, const PanelTiles &);

} // namespace ptxrun::matrix
