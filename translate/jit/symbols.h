// Addresses that generated code may refer to: the runtime's entry points and the C functions LLVM's
// code generator calls.
#pragma once
#include <string_view>

namespace ptxrun::jit {

/// Null if no such symbol was registered and the process has none.
const void *findProcessSymbol(std::string_view name);

} // namespace ptxrun::jit
