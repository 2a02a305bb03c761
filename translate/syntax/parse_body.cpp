// Function bodies: statements, labels, scopes, instructions (PTX ISA 4.3).
#include "translate/syntax/parser_state.h"

namespace ptxrun::syntax {

using StatementKind = ast::Statement::Kind;

namespace {

ast::Statement makeStatement(StatementKind kind, support::NameId label = 0,
                             support::Span span = {}) {
  ast::Statement made;
  made.kind = kind;
  made.label = label;
  made.span = span;
  return made;
}

} // namespace

// Blocks stay flat, so their depth costs no stack.
bool Parser::body(ast::Function &function) {
  std::vector<ast::Statement> statements;
  size_t depth = 1;
  function.hasBody = true;
  advance(); // {
  while (depth > 0) {
    if (is(Kind::openBrace) || is(Kind::closeBrace)) {
      depth = is(Kind::openBrace) ? depth + 1 : depth - 1;
      StatementKind kind =
          is(Kind::openBrace) ? StatementKind::openBlock : StatementKind::closeBlock;
      if (depth > 0)
        statements.push_back(makeStatement(kind, 0, token_.span));
      else
        function.closingBrace = token_.span;
      advance();
      continue;
    }
    bool isModuleLevel =
        is(Kind::dotWord) && (dotWord() == keyword_entry || dotWord() == keyword_func ||
                              dotWord() == keyword_visible || dotWord() == keyword_section);
    if (is(Kind::end) || isModuleLevel) {
      failAtToken("'}' at the end of this function's body or block");
      break;
    }
    if (!statement(statements)) {
      if (diagnostics_.isFull())
        return false;
      skipStatement();
    }
  }
  for (const ast::Statement &one : statements)
    function.instructionCount += one.kind == StatementKind::instruction;
  function.body = module_.arena.copy(statements);
  return depth == 0;
}

// To behind the next semicolon, but never over a brace.
void Parser::skipStatement() {
  operands_.clear();
  isCall_ = false;
  while (!is(Kind::end) && !is(Kind::openBrace) && !is(Kind::closeBrace))
    if (accept(Kind::semicolon))
      return;
    else
      advance();
}

bool Parser::statement(std::vector<ast::Statement> &statements) {
  if (is(Kind::dotWord))
    return directiveStatement(statements);
  uint32_t begin = token_.span.begin;
  if (is(Kind::identifier)) {
    Span word = token_.span;
    if (text({word.end, word.end + 1}) != ".") {
      uint32_t position = lexer_.position();
      advance();
      if (is(Kind::colon)) {
        advance();
        NameId label = name(word);
        bool isTargets = isDotWord(keyword_branchtargets) || isDotWord(keyword_calltargets) ||
                         isDotWord(keyword_callprototype);
        if (isTargets)
          return targetsDirective(label, word, statements);
        statements.push_back(makeStatement(StatementKind::label, label, word));
        return true;
      }
      lexer_.setPosition(position);
      token_ = {Kind::identifier, word};
    }
    return instruction(statements, begin, 0, false, {});
  }
  if (!is(Kind::at))
    return failAtToken("an instruction, label or directive", "PTX ISA 4.3: statements");
  advance();
  bool isNegated = accept(Kind::exclamation);
  NameId guard;
  Span guardSpan;
  if (!identifier(guard, guardSpan, "a predicate register after '@'"))
    return false;
  if (!is(Kind::identifier))
    return failAtToken("an instruction after its guard predicate");
  return instruction(statements, begin, guard, isNegated, {begin, guardSpan.end});
}

bool Parser::instruction(std::vector<ast::Statement> &statements, uint32_t begin, NameId guard,
                         bool isNegated, Span guardSpan) {
  ast::Instruction made;
  made.guard = guard;
  made.isGuardNegated = isNegated;
  made.guardSpan = guardSpan;
  made.mnemonic = mnemonic(made.opcodeSpan);
  isCall_ = module_.mnemonics[made.mnemonic].opcode == "call";
  operands_.clear();
  if (!operandList(Kind::semicolon))
    return false;
  made.operands = module_.arena.copy(operands_);
  made.span = {begin, previousEnd_ - 1};
  statements.push_back(makeStatement(StatementKind::instruction));
  statements.back().instruction = module_.arena.make<ast::Instruction>(made);
  return true;
}

// The opcode and its modifiers, usually without blanks between them; the index in
// module_.mnemonics.
uint32_t Parser::mnemonic(Span &span) {
  uint32_t begin = token_.span.begin;
  uint32_t end = lexer_.endOfMnemonic(token_.span.end);
  lexer_.setPosition(end);
  previousEnd_ = end;
  token_ = lexer_.next();
  std::string_view whole = text({begin, end});
  bool hasBlanks = is(Kind::dotWord);
  if (hasBlanks) {
    scratch_ = whole;
    for (; is(Kind::dotWord); advance())
      scratch_ += text(token_.span);
    whole = scratch_;
  }
  span = from(begin);
  NameId id = hasBlanks ? mnemonics_.internCopy(whole) : mnemonics_.intern(whole);
  if (id <= module_.mnemonics.size())
    return id - 1;
  ast::Mnemonic made;
  made.text = hasBlanks ? module_.arena.copyText(whole) : whole;
  std::vector<std::string_view> parts;
  size_t at = made.text.find('.');
  made.opcode = made.text.substr(0, at);
  while (at != std::string_view::npos) {
    size_t next = made.text.find('.', at + 1);
    parts.push_back(
        made.text.substr(at + 1, next == std::string_view::npos ? next : next - at - 1));
    at = next;
  }
  made.modifiers = module_.arena.copy(parts);
  module_.mnemonics.push_back(made);
  return id - 1;
}

bool Parser::directiveStatement(std::vector<ast::Statement> &statements) {
  uint32_t begin = token_.span.begin;
  ast::Statement made = makeStatement(StatementKind::declaration);
  switch (dotWord()) {
  case keyword_loc:
    made.kind = StatementKind::loc;
    if (!locDirective(made.loc))
      return false;
    break;
  case keyword_pragma:
    made.kind = StatementKind::pragma;
    if (!pragmaDirective(made.pragma))
      return false;
    break;
  case keyword_reg:
  case keyword_local:
  case keyword_shared:
  case keyword_param:
  case keyword_global:
  case keyword_const:
  case keyword_align:
  case keyword_attribute:
  case keyword_tex:
    if (!declaration(ast::Linkage::none, begin, made.declaration))
      return false;
    break;
  case keyword_branchtargets:
  case keyword_calltargets:
  case keyword_callprototype:
    return failAtToken("a label before this directive ('name: " + std::string(text(token_.span)) +
                       " ...;')");
  default:
    return failAtToken("a directive that may stand in a function body", "PTX ISA 11: directives");
  }
  statements.push_back(made);
  return true;
}

bool Parser::targetsDirective(NameId label, Span labelSpan,
                              std::vector<ast::Statement> &statements) {
  auto *made = module_.arena.make<ast::TargetsDirective>();
  made->label = label;
  made->labelSpan = labelSpan;
  NameId word = dotWord();
  advance();
  if (word == keyword_callprototype) {
    made->kind = ast::TargetsDirective::Kind::callPrototype;
    auto *prototype = module_.arena.make<ast::Prototype>();
    prototype->hasReturns = is(Kind::openParen);
    if (prototype->hasReturns && !parameterList(prototype->returns))
      return false;
    if (!is(Kind::identifier) || name(token_.span) != keyword__)
      return failAtToken("'_' in the place of the function's name",
                         "PTX ISA 11.3.3: .callprototype");
    advance();
    if (!prototypeTail(*prototype, false) || !expect(Kind::semicolon, "after .callprototype"))
      return false;
    made->prototype = prototype;
  } else {
    made->kind = word == keyword_branchtargets ? ast::TargetsDirective::Kind::branchTargets
                                               : ast::TargetsDirective::Kind::callTargets;
    std::vector<ast::Operand> names;
    do {
      ast::Operand one;
      one.kind = ast::Operand::Kind::name;
      if (!identifier(one.name, one.span, "the name of a target"))
        return false;
      names.push_back(one);
    } while (accept(Kind::comma));
    if (!expect(Kind::semicolon, "or ',' after a target"))
      return false;
    made->names = module_.arena.copy(names);
  }
  made->span = from(labelSpan.begin);
  statements.push_back(makeStatement(StatementKind::targets));
  statements.back().targets = made;
  return true;
}

} // namespace ptxrun::syntax
