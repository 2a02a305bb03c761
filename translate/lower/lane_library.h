// The lane library (intrinsics/lane): scalar mathematics in bitcode, linked into a module as far as
// it is called.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>

namespace ptxrun::lower {

/// Defines every declared `ptx_*` function of the module from the embedded library, as internal
/// functions that are always inlined. Only what is called is read. A name the library lacks is an
/// error.
llvm::Error linkLaneLibrary(llvm::Module &);

} // namespace ptxrun::lower
