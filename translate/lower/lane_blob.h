// The lane library's bitcode, embedded at build time (CMakeLists.txt).
#pragma once
#include <span>

namespace ptxrun::lower {

std::span<const char> laneLibraryBitcode();

}  // namespace ptxrun::lower
