// Makes translate and rt known to each other, once per process.
#pragma once

namespace ptxrun::device {

/// Hands rt's entry points to the compiler and the compiler's code ranges to rt. Must precede the
/// first compilation.
void joinTranslateAndRuntime();

} // namespace ptxrun::device
