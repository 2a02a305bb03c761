// Values of the stopped program, and the expressions that name them: C's operators, casts, members,
// `*p@8` and `(@shared float *)16` as cuda-gdb has them; registers by their PTX names (`%r5`,
// `$r5`).
#pragma once
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "loader/debug/machine.h"
#include "loader/debug/source_map.h"
#include "loader/debug/variables.h"

namespace ptxrun::debug {

/// What a person asked for cannot be had; the message says why.
struct DebugError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct DebugValue {
  const Type *type = nullptr;
  std::string bytes;               ///< type->bytes of them
  std::optional<uint64_t> address; ///< host address, where it lies in memory
};

/// One call of a thread that stands still, or of none.
struct View {
  const Thread *thread = nullptr; ///< null: the focus has not begun, or has ended
  size_t call = 0;                ///< in thread->calls
  GangPlace place;                ///< the focus
  const LaunchFacts *launch = nullptr;
};

/// Of one module.
class Evaluator {
 public:
  Evaluator(const SourceMap &, const DebugInfo &, Types &);

  /// Throws DebugError.
  DebugValue evaluate(const std::string &expression, const View &);
  /// As print shows it; `format` is one of gdb's letters x d u o t a c f, or 0.
  std::string format(const DebugValue &, char format = 0, uint64_t mostElements = 200) const;
  /// An integer or an address of the value.
  static int64_t asInteger(const DebugValue &);
  static bool isTrue(const DebugValue &);
  /// Of floating point values.
  static double asReal(const DebugValue &);

  DebugValue registerValue(const check::Register &, const View &) const;
  DebugValue variableValue(const SourceVariable &, const View &) const;
  DebugValue member(const DebugValue &,
                    size_t number) const; ///< of records, arrays; of pointers what they point to
  size_t memberCount(const DebugValue &) const;
  std::string memberName(const DebugValue &, size_t number) const;
  /// The function of the call.
  const check::Function *functionOf(const View &) const;
  uint32_t instructionOf(const View &) const;

  /// Host memory; false where some of it cannot be read.
  static bool readMemory(uint64_t address, void *to, uint64_t bytes);
  Types &types() { return types_; }
  /// Values that print showed: $1, $2...
  std::vector<DebugValue> history;

 private:
  friend class ExpressionParser;
  DebugValue named(const std::string &, const View &) const;
  std::optional<DebugValue> ptxVariable(const std::string &, const View &) const;
  std::optional<DebugValue> builtin(const std::string &) const;
  std::optional<uint64_t> addressOf(const check::Variable &, const View &) const;
  DebugValue load(const Type *, uint64_t address) const;
  DebugValue number(const char *type, uint64_t value) const;
  DebugValue special(const std::string &name, const View &) const;
  std::string formatScalar(const Type &, const char *bytes, char format) const;

  const SourceMap &map_;
  const DebugInfo &info_;
  Types &types_;
  const Type *index3_;
  /// Of kernels, by name: their `.shared` variables and where they are.
  mutable std::map<std::string, std::vector<std::pair<const check::Variable *, uint32_t>>> shared_;
};

/// "(3,0,0)" of a linear number.
std::string coordinates(uint64_t linear, abi::Dim3 shape);

} // namespace ptxrun::debug
