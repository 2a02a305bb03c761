// LLVM ends the process where its code generator cannot go on ("Cannot select ...", out of
// registers, out of memory). A launch in somebody's program is no reason to.
#pragma once
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/Support/Error.h>

#include <optional>
#include <string>

namespace ptxrun::lower {

/// Runs work that calls LLVM. Where LLVM reports a fatal error meanwhile on this thread, the work
/// is left as it stands (what it held is never freed) and LLVM's message returned; empty if it came
/// to its end. Other threads' errors end the process, as without this.
std::optional<std::string> runUntilFatalError(llvm::function_ref<void()> work);

/// A stage; LLVM's fatal errors in it become internal errors of that stage.
template <class Out>
llvm::Expected<Out> withoutFatalErrors(const char *stage,
                                       llvm::function_ref<llvm::Expected<Out>()> run);

} // namespace ptxrun::lower

#include "translate/lower/internal_error.h"

template <class Out>
llvm::Expected<Out>
ptxrun::lower::withoutFatalErrors(const char *stage,
                                  llvm::function_ref<llvm::Expected<Out>()> run) {
  std::optional<llvm::Expected<Out>> result;
  const std::optional<std::string> fatal = runUntilFatalError([&] { result.emplace(run()); });
  if (fatal)
    return llvm::make_error<InternalError>(stage, "LLVM gave up: " + *fatal);
  return std::move(*result);
}
