// The parser's state and steps, shared by its files; only they include this.
#pragma once
#include <string>
#include <vector>

#include "translate/syntax/ast.h"
#include "translate/syntax/keywords.h"
#include "translate/syntax/lexer.h"

namespace ptxrun::syntax {

/// Recursive descent with one token of lookahead. A step that fails has reported why and returns
/// false; the statement or directive around it then skips to where the next one can begin.
class Parser {
 public:
  Parser(ast::Module &, const support::SourceFile &, support::Diagnostics &);
  void parseModule();

 private:
  using Kind = Token::Kind;
  using Span = support::Span;
  using NameId = support::NameId;

  // --- tokens (parser.cpp)
  void advance() { previousEnd_ = token_.span.end, token_ = lexer_.next(); }
  bool is(Kind kind) const { return token_.kind == kind; }
  bool accept(Kind);
  bool expect(Kind, std::string_view where);
  bool isDotWord(NameId keyword) const { return is(Kind::dotWord) && dotWord() == keyword; }
  /// Keyword or other name of the current `.word`, without its dot.
  NameId dotWord() const;
  NameId name(Span span) { return module_.names.intern(lexer_.text(span)); }
  std::string_view text(Span span) const { return lexer_.text(span); }
  Span from(uint32_t begin) const { return {begin, previousEnd_ > begin ? previousEnd_ : begin}; }
  bool fail(Span, std::string message, std::string note = {});
  bool failAtToken(std::string expected, std::string note = {});
  std::string found() const;
  bool readUnsigned(uint64_t &value, std::string_view what);
  bool readUnsigned32(uint32_t &value, std::string_view what);
  bool identifier(NameId &name, Span &span, std::string_view what);

  // --- module level (parse_module.cpp)
  bool header();
  bool versionDirective();
  bool targetDirective();
  bool addressSizeDirective();
  bool moduleItem();
  void skipModuleItem();
  bool aliasDirective();
  bool function(ast::Linkage, uint32_t begin);
  bool attributes(std::vector<ast::Attribute> &);

  // --- declarations (parse_declaration.cpp)
  ast::Linkage linkage();
  bool declarationHead(ast::Declaration &, std::vector<ast::Attribute> &);
  bool declaration(ast::Linkage, uint32_t begin, const ast::Declaration *&);
  bool declarator(ast::Declarator &, bool isParameter);
  bool dimensions(std::vector<ast::Dimension> &);
  bool initializer(ast::Initializer &, int depth);
  bool initializerElement(ast::Initializer &, int depth);
  bool parameter(ast::Declaration &);
  bool parameterList(std::span<const ast::Declaration> &);
  bool prototypeTail(ast::Prototype &, bool isEntry);
  bool performanceDirective(std::vector<ast::PerformanceDirective> &, bool isEntry, bool &isOne);

  // --- function bodies (parse_body.cpp)
  bool body(ast::Function &);
  bool statement(std::vector<ast::Statement> &);
  bool directiveStatement(std::vector<ast::Statement> &);
  bool targetsDirective(NameId label, Span labelSpan, std::vector<ast::Statement> &);
  bool instruction(std::vector<ast::Statement> &, uint32_t begin, NameId guard, bool isNegated,
                   Span guardSpan);
  uint32_t mnemonic(Span &);
  void skipStatement();

  // --- operands and expressions (parse_operand.cpp, parse_expression.cpp)
  bool operandList(Kind close);
  bool operand(ast::Operand &, int depth);
  bool primaryOperand(ast::Operand &, int depth);
  bool namedOperand(ast::Operand &);
  bool arrayIndex(ast::Operand &);
  bool bracketed(ast::Operand &, ast::Operand::Kind, Kind close, int depth);
  bool expression(ast::Expression &);
  bool expressionItems(int minimumPrecedence, int depth);
  bool unaryItem(int depth);
  bool primaryItem(int depth);
  bool literalItem();

  // --- debugging directives (parse_debug.cpp)
  bool fileDirective();
  bool locDirective(const ast::LocDirective *&);
  bool sectionDirective();
  bool sectionValue(ast::SectionValue &);
  bool pragmaDirective(const ast::PragmaDirective *&);
  bool pragmaStrings(std::vector<std::string_view> &);

  ast::Module &module_;
  support::Diagnostics &diagnostics_;
  Lexer lexer_;
  Token token_;
  uint32_t previousEnd_ = 0;
  support::NameTable mnemonics_;       ///< number - 1 is the index into module_.mnemonics
  std::vector<ast::Operand> operands_; ///< scratch stack of operandList
  std::vector<ast::ExprItem> items_;   ///< scratch stack of expression
  std::string scratch_;
  bool isCall_ = false; ///< `(...)` is an argument list, not an expression
};

} // namespace ptxrun::syntax
