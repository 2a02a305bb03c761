// The printer's state and steps, shared by its files; only they include this.
#pragma once
#include <string>

#include "translate/syntax/printer.h"

namespace ptxrun::syntax {

class Printer {
 public:
  Printer(const ast::Module &module, const Respellings *respellings)
      : module_(module), respellings_(respellings) {}
  void header();
  void items(std::span<const ast::Item>);
  void expression(ast::Expression);
  std::string take() { return std::move(out_); }

 private:
  std::string_view text(support::NameId id) const { return module_.names.text(id); }
  /// Of what a module names: variables, functions, labels, registers.
  std::string_view symbol(support::NameId id) const;
  void word(support::NameId id) { (out_ += '.') += text(id), out_ += ' '; }
  void number(uint64_t value) { out_ += std::to_string(value); }
  void leaf(const ast::ExprItem &);

  void linkage(ast::Linkage);
  void attributes(std::span<const ast::Attribute>);
  void declaration(const ast::Declaration &);
  void declarationHead(const ast::Declaration &);
  void declarator(const ast::Declarator &);
  void initializer(const ast::Initializer &);
  void parameters(std::span<const ast::Declaration>);
  void prototypeTail(const ast::Prototype &);
  void function(const ast::Function &);
  void statement(const ast::Statement &);
  void instruction(const ast::Instruction &);
  void operand(const ast::Operand &);
  template <typename Range, typename One> void list(const Range &range, One one);
  void targets(const ast::TargetsDirective &);
  void pragma(std::span<const std::string_view>);
  void file(const ast::FileDirective &);
  void loc(const ast::LocDirective &);
  void section(const ast::SectionDirective &);

  const ast::Module &module_;
  const Respellings *respellings_; ///< or null
  std::string out_;
};

} // namespace ptxrun::syntax
