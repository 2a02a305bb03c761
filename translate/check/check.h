// From syntax tree to CheckedModule: names resolved, types and state spaces checked, every
// instruction bound to its form.
#pragma once
#include <memory>

#include "translate/check/checked_module.h"
#include "translate/support/diagnostics.h"
#include "translate/syntax/ast.h"

namespace ptxrun::check {

/// Checks a tree that was parsed without errors. Null if anything is wrong (diagnostics say what,
/// all of it in one pass). The tree may go afterwards; the source must outlive the result.
/// Unresolved externals are no error.
std::unique_ptr<CheckedModule> check(const syntax::ast::Module &, support::Diagnostics &);

/// Parses and checks. Null if anything is wrong. What could be parsed is checked even where
/// something else could not.
std::unique_ptr<CheckedModule> parseAndCheck(const support::SourceFile &, support::Diagnostics &);

} // namespace ptxrun::check
