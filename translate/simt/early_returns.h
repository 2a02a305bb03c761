// Threads that return before barriers that others wait at.
#pragma once
#include <llvm/IR/Function.h>

namespace ptxrun::simt {

/// Lets threads that would return (`if (i >= n) return;`) walk along past the barriers behind it,
/// doing nothing else, so that all gangs of a CTA come to the same barriers:
///
///     if (done) return; a; bar.sync; b     =>     if (!done) a; bar.sync; if (!done) b
///
/// Where they would walk through loops, none does in CTAs of which all return, which bar.red tells:
/// such a loop may have no end. Only where what decides about the barriers is the same for the
/// whole CTA, and nothing but barriers of all its threads is waited for. `kernel` as prepared; its
/// loops are again in the form that prepare gives them. Returns true if it changed.
bool walkAlongToBarriers(llvm::Function &kernel);

} // namespace ptxrun::simt
