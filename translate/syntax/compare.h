// Equality of syntax trees, for the promise that parse and print are inverse.
#pragma once
#include "translate/syntax/ast.h"

namespace ptxrun::syntax {

/// True if both say the same: everything but places in the source. Else `difference` names the
/// first place in `a`.
bool isSameTree(const ast::Module &a, const ast::Module &b, support::Span &difference);

} // namespace ptxrun::syntax
