// A small reader of PTX statements for the matcher's own tests: enough of the language to turn
// `.reg`, variable and function declarations and instructions into Arguments. The real front end is
// translate/syntax and translate/check.
#pragma once
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "translate/isa/match.h"

namespace ptxrun::isa::test {

/// Names that instructions may use, by declaration.
class Environment {
 public:
  /// `.reg .b32 %r<4>, x;`, `.shared .align 8 .b8 sv[64];`, `.param .u64 p`, `.func f`, `.entry k`:
  /// anything else is ignored.
  void declare(std::string_view statement, bool isParameter = false);
  void declareLabel(std::string_view name, Argument::Kind kind = Argument::Kind::label);
  /// The argument that a bare name stands for; kind sink with an empty optional type where it is
  /// unknown.
  bool find(std::string_view name, Argument &) const;

 private:
  std::map<std::string, Argument, std::less<>> names_;
};

/// One instruction: opcode text and operands.
struct Written {
  std::string opcode;
  std::vector<Argument> arguments;
  std::deque<std::vector<Argument>> storage; ///< elements of vectors, lists and addresses
  bool isUnderstood = true; ///< false where this reader met a name or operand it does not know
};

/// Reads `@p add.s32 %r1, %r2, 5` (guard and semicolon optional).
Written readInstruction(std::string_view text, const Environment &);

/// Splits a module's body at semicolons and braces; comments removed.
std::vector<std::string> statements(std::string_view text);

} // namespace ptxrun::isa::test
