// Case files: what an instruction gives for what, one case a line. See README.md for the format.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ptxrun::isa_test {

/// One operand or result as the signature names it ("s32", "f16x2", "pred", "imm", "{b32 b32}").
struct Slot {
  std::string type;
  unsigned bits = 32;     ///< of one element; 1 for pred
  unsigned count = 1;     ///< elements of a vector operand
  bool isNegated = false; ///< `!pred`
  bool isJoined = false;  ///< a `|` follows (results p|q)
  bool isPredicate() const { return type == "pred"; }
  bool isImmediate() const { return type == "imm"; }
  bool isFloat() const { return type == "f32" || type == "f64" || type == "f16" || type == "bf16"; }
  /// True if PTX accepts a literal here.
  bool mayBeLiteral() const;
};

/// Up to 256 bits: the elements of a vector operand one after the other in words of 64.
struct Value {
  std::array<uint64_t, 4> element{};
  bool isAnyNaN = false; ///< a result written `nan`
};

/// How far a result may lie from the value written.
struct Tolerance {
  enum class Kind { exact, ulp, absolute, relative } kind = Kind::exact;
  double bound = 0;
};

struct Case {
  unsigned line = 0;
  std::vector<Value> operands, results;
  Tolerance tolerance;
};

/// Consecutive cases of one instruction with one signature.
struct Group {
  std::string mnemonic;
  std::string code; ///< from a `=` line: PTX with $d0.. and $a0.. for results and operands; empty:
                    ///< the instruction
  std::vector<Slot> operands, results;
  bool allowsLiterals = true;
  std::vector<Case> cases;
  /// True if PTX accepts literals for every operand (predicates aside, which have none).
  bool hasLiteralForm() const;
};

struct CaseFile {
  std::string path;
  std::string version = "9.0", target = "sm_90";
  std::vector<Group> groups;
};

/// Throws std::runtime_error "path:line: what" where a line cannot be read.
CaseFile readCaseFile(const std::string &path);

} // namespace ptxrun::isa_test
