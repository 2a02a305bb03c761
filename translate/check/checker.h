// The checker's state and steps, shared by its files; only they include this.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "translate/check/checked_module.h"
#include "translate/check/constants.h"
#include "translate/check/scopes.h"
#include "translate/support/diagnostics.h"
#include "translate/syntax/ast.h"
#include "translate/syntax/keywords.h"

namespace ptxrun::check {

namespace ast = syntax::ast;
using support::NameId;
using support::Span;

/// `.version` and `.target` of a header, checked against each other; where something is wrong, a
/// guess to go on with.
struct Header {
  isa::Target target;
  uint32_t addressBits = 64;
  bool isTexmodeIndependent = false;
};
Header checkHeader(const ast::Module &, support::Diagnostics &);

/// Place in the source as a line, for offsets that mostly ascend.
class LineCursor {
 public:
  explicit LineCursor(std::string_view text) : text_(text) {}
  uint32_t line(uint32_t offset);

 private:
  std::string_view text_;
  uint32_t offset_ = 0;
  uint32_t line_ = 1;
};

/// How many scopes are open directly inside a function: the module's and its own.
inline constexpr size_t kFunctionDepth = 2;

/// Checks one module, in the order of its text: names are declared before they are used, save
/// labels.
class Checker {
 public:
  Checker(const ast::Module &, support::Diagnostics &);
  std::unique_ptr<CheckedModule> run();

 private:
  // --- reports (checker.cpp)
  std::string_view text(NameId id) const { return tree_.names.text(id); }
  std::string quote(NameId id) const { return "'" + std::string(text(id)) + "'"; }
  bool error(Span, std::string message, std::string note = {});
  /// False and an error if the module's .version or .target is below what the feature needs.
  bool needs(Span, std::string_view feature, uint32_t version, uint32_t sm);

  // --- module level (check_module.cpp)
  void item(const ast::Item &);
  void alias(const ast::AliasDirective &);
  void pragma(std::span<const std::string_view>, Span, bool isInFunction);
  void file(const ast::FileDirective &);
  void section(const ast::SectionDirective &);
  void finish();

  // --- variables (check_variable.cpp)
  void declaration(const ast::Declaration &);
  /// Whether an alignment that stands there is a power of two; says so if not.
  bool hasGoodAlignment(const ast::Declaration &);
  void registers(const ast::Declaration &, isa::Type, uint8_t vector);
  void variables(const ast::Declaration &, isa::Type, uint8_t vector);
  void variable(const ast::Declarator &, NameId name, Variable made);
  bool isAllowedHere(const ast::Declaration &, isa::StateSpace);
  void declareVariable(const ast::Declarator &, NameId name, Variable *);
  Register *makeRegister(std::string_view name, isa::Type, uint8_t vector);
  isa::Type declaredType(const ast::Declaration &);
  uint8_t declaredVector(const ast::Declaration &, isa::Type);
  bool layOut(const ast::Declaration &, const ast::Declarator &, Variable &);
  bool attributes(const ast::Declaration &, Variable &);
  bool checkRedeclaration(const ast::Declarator &, const Variable &before, const Variable &now);

  // --- initialisers (check_initializer.cpp)
  void initialize(Variable &, const ast::Initializer &);
  void initializeList(Variable &, const ast::Initializer &, size_t dimension, uint64_t offset,
                      uint64_t bytes);
  void initializeScalar(Variable &, const ast::Initializer &, uint64_t offset);
  void initializeAddress(Variable &, const ast::Initializer &, uint64_t offset);
  bool reserveBytes(const ast::Initializer &, uint64_t offset, unsigned width);
  void initializeOpaque(Variable &, const ast::Initializer &);
  OpaqueField opaqueField(const ast::Initializer &, bool isWord);

  // --- functions (check_function.cpp)
  void function(const ast::Function &);
  Function *declareFunction(const ast::Function &);
  Prototype prototype(const ast::Prototype &, Function *, bool isEntry, bool isNamed);
  std::span<Variable *const> parameters(std::span<const ast::Declaration>, Function *, bool isEntry,
                                        bool areReturns, bool isNamed);
  bool checkParameter(const ast::Declaration &, Variable &, bool isEntry, bool areReturns,
                      bool isLast, size_t count);
  void bindParameters(const ast::Prototype &, const Prototype &, Function &);
  void directives(const ast::Function &, Function &);
  void checkParameterBytes(const Function &, Span end);
  void functionDirectives(std::span<const ast::PerformanceDirective>, Prototype &);
  bool isSamePrototype(const Prototype &, const Prototype &, std::string &difference);

  // --- bodies (check_body.cpp)
  void body(const ast::Function &, Function &);
  void collectLabels(const ast::Function &);
  void openBlock(uint32_t block);
  void placeLabel(const ast::Statement &);
  void targets(const ast::TargetsDirective &);
  void location(const ast::LocDirective &);
  void resolveFunctionNames();

  // --- instructions (check_instruction.cpp, check_operand.cpp)
  void instruction(const ast::Instruction &);
  bool matchIndexed(const isa::Matcher::Candidates &, isa::Match &);
  void checkParameterUse(const Instruction &);
  bool guard(const ast::Instruction &, Instruction &);
  void reportMismatch(const ast::Instruction &);
  void bindOperands(const isa::Match &, Instruction &);
  void settle(Operand &, isa::Type);
  void settleNested(Operand &);
  bool operands(const ast::Instruction &);
  bool operand(const ast::Operand &, isa::Argument &, Operand &);
  bool namedOperand(const ast::Operand &, isa::Argument &, Operand &);
  bool registerOperand(const ast::Operand &, const Register &, isa::Argument &, Operand &);
  bool specialOperand(const ast::Operand &, isa::SpecialRegister, isa::Argument &, Operand &);
  bool constantOperand(const ast::Operand &, isa::Argument &, Operand &);
  bool addressOperand(const ast::Operand &, isa::Argument &, Operand &);
  bool baseOperand(const ast::Operand &, isa::Argument &, Operand &);
  bool indexedOperand(const ast::Operand &, isa::Argument &, Operand &);
  bool compoundOperand(const ast::Operand &, isa::Argument &, Operand &);
  std::optional<int64_t> offset(ast::Expression, Span);
  Binding lookUp(NameId, Span);
  bool isSignatureParameter(const Variable &) const;

  // --- calls (check_call.cpp)
  bool callOperands(const ast::Instruction &);
  void call(const ast::Instruction &, Instruction &);
  bool checkConvention(const Prototype &, Span);
  void callArguments(std::span<const Operand>, std::span<Variable *const>, Span, bool areReturns);
  void callArgument(const Operand &, const Variable &, bool isReturn);

  const ast::Module &tree_;
  support::Diagnostics &diagnostics_;
  Header header_;
  std::unique_ptr<CheckedModule> result_;
  Module &module_;
  support::Arena &arena_;
  Scopes scopes_;
  LineCursor lines_;
  std::vector<uint8_t> bytes_; ///< of the initialiser being read
  std::vector<Relocation> relocations_;
  std::vector<const isa::Matcher::Candidates *> candidates_; ///< by mnemonic
  uint64_t constantBytes_ = 0;                               ///< of .const variables so far
  bool followsConvention_ = true;             ///< no function of the module has several results
  const ast::Instruction *current_ = nullptr; ///< the one whose operands are looked up
  Function *function_ = nullptr;              ///< the one being checked, null at module scope
  uint32_t location_ = 0;
  std::vector<uint32_t> firstLabelOfBlock_, nextLabel_; ///< chains through labelStatements_
  std::vector<const ast::Statement *> labelStatements_;
  std::vector<isa::Argument> arguments_, nestedArguments_;
  std::vector<Operand> operands_;
  std::unordered_map<uint64_t, uint32_t> locationOf_; ///< by file, line and column
  std::vector<const ast::SectionDirective *> sections_;
  std::unordered_set<uint32_t> fileNumbers_;
  struct PendingName {
    Span span;
    uint32_t location;
    NameId label;
    uint64_t offset;
  };
  std::vector<PendingName> pendingNames_;
};

} // namespace ptxrun::check
