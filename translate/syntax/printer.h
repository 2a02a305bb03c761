// From syntax tree back to PTX text.
#pragma once
#include <map>
#include <span>
#include <string>

#include "translate/syntax/ast.h"

namespace ptxrun::syntax {

/// The module as PTX. Parsing the text gives the same tree (isSameTree), for every tree that was
/// parsed without errors; comments, blanks and redundant parentheses are gone, the spelling of
/// constants is normalised within their base.
std::string print(const ast::Module &);
/// Other spellings for symbols (variables, functions, labels) of a module.
using Respellings = std::map<support::NameId, std::string>;
/// Some items of a module, without its header.
std::string print(const ast::Module &, std::span<const ast::Item>, const Respellings &);
/// One constant expression, for messages and tests.
std::string print(const ast::Module &, ast::Expression);

} // namespace ptxrun::syntax
