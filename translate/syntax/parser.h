// From text to syntax tree.
#pragma once
#include <memory>

#include "translate/support/diagnostics.h"
#include "translate/support/source.h"
#include "translate/syntax/ast.h"

namespace ptxrun::syntax {

/// Parses one module. Never null: what could not be understood is missing from the tree and stands
/// in the diagnostics (check hasErrors()). The source must outlive the tree. Stack use is bounded
/// whatever the input; time is linear.
std::unique_ptr<ast::Module> parse(const support::SourceFile &, support::Diagnostics &);

} // namespace ptxrun::syntax
