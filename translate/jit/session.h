// The process's ORC session: one LLJIT, made at first use, never destroyed.
#pragma once
#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <string>

namespace ptxrun::jit {

/// Executable memory of one linked object.
struct CodeRange {
  uint64_t begin = 0, end = 0;         ///< all executable sections
  uint64_t textBegin = 0, textEnd = 0; ///< section `.text`, which the line table describes
};

llvm::Expected<llvm::orc::LLJIT *> session();

/// The range of the object that was linked into `dylib`; known once a symbol of it was looked up.
/// Forgets it.
CodeRange takeCodeRange(const llvm::orc::JITDylib &dylib);

} // namespace ptxrun::jit
