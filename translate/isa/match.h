// The matcher: from an instruction as written to its Form, with every modifier in its place and
// every operand typed. It takes plain data, so that it knows nothing of syntax trees; check fills
// in Arguments and reads the Match.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "translate/isa/table.h"
#include "translate/isa/types.h"

namespace ptxrun::isa {

/// `.version`, `.target` and `.address_size` of the module: 7.8 is 78; sm_90a is {90, 'a'}; suffix
/// 0 where none was written.
struct Target {
  uint32_t version = 92;
  uint32_t sm = 90;
  char suffix = 0;
  uint8_t addressBits = 64; ///< `.address_size`
};

/// One operand as written, names resolved. `kind` says which fields matter.
struct Argument {
  enum class Kind : uint8_t {
    sink, ///< `_`
    reg,  ///< a register, whole or one component: type, vector (arity when a `.v2 .v4` register is
          ///< named whole), isNegated
    special,  ///< special, type (of the component), vector (4 when `%tid` is named whole)
    integer,  ///< an integer literal or constant expression: integer
    floating, ///< a floating literal: type f32 (`0f...`) or f64 (`0d...`, decimal)
    address,  ///< `[base + offset, ...]`: base, and type (register), space (variable) or integer
             ///< (absolute address); elements: what follows the first comma inside the brackets
             ///< (tensor coordinates, sampler ...)
    variable, ///< a variable's (or parameter's) name as a value, `var`, `var + 4`, `var[4]`: space,
              ///< type, isParameter
    function, ///< a function's name
    label,    ///< a label
    labels,   ///< name of a `.branchtargets` list
    prototype, ///< name of a `.callprototype` or `.calltargets`
    vector,    ///< `{a, b}`: elements
    list,      ///< `(a, b)` of call: elements
  };
  enum class Base : uint8_t { none, reg, variable };

  Kind kind = Kind::sink;
  Type type = Type::none;
  uint8_t vector = 1;
  StateSpace space = StateSpace::generic; ///< where the variable was declared (address with
                                          ///< Base::variable, variable)
  Base base = Base::none;                 ///< of an address; none: `[4096]`
  bool isNegated = false;                 ///< `!p`, or `-r` (vmad)
  bool isUnified = false;                 ///< `.unified` stands behind the address
  bool isIndexed = false; ///< `var[4]`, `var[%r1]`: stands for an address (`ld`) or a value (`mov`)
  bool hasOffset = false; ///< `var + 4`: as a value, where an integer is read
  bool isJoined = false;  ///< `d|p`: a `|` stands between this argument and the next
  bool isParameter =
      false; ///< the variable is a function's or kernel's `.param` (not one declared in a body)
  Token selector =
      Token::none; ///< findSelector() of what stands behind a video instruction's register
  SpecialRegister special = SpecialRegister::none;
  int64_t integer = 0;
  bool isBitPattern =
      false;           ///< a floating literal written 0f... or 0d...: stands for .b32 or .b64 too
  double floating = 1; ///< value of a floating literal (for the few operands with a range)
  std::span<const Argument> elements;
};

/// One operand of the form: which argument it is and what the instruction reads or writes it as.
struct BoundOperand {
  int8_t argument = -1; ///< index into the arguments; -1: optional and not written
  Type type =
      Type::none; ///< for vectors the type of each element; none for addresses, labels, functions
};

/// The answer. `modifiers` and `types` live as long as the Matcher and are the same spans for the
/// same opcode text.
struct Match {
  static constexpr size_t kMaxOperands = 16;
  const Form *form = nullptr;
  std::span<const Token> modifiers; ///< what was written, in the form's order (types included)
  std::span<const Type> types;      ///< the positional type suffixes, in the form's order
  uint8_t vector = 1;               ///< `.v2 .v4 .v8`
  uint8_t operandCount = 0;
  BoundOperand operands[kMaxOperands];
};

/// Why nothing matched, in terms of the nearest legal form.
struct Mismatch {
  enum class Part : uint8_t { opcode, modifier, argument, arguments };
  Part part = Part::opcode;
  uint32_t offset = 0, length = 0; ///< opcode, modifier: the place inside the opcode text
  uint32_t argument = 0;           ///< argument: its index (`arguments` is about their number)
  int32_t element = -1; ///< argument: the wrong element of a vector or list, -1: all of it
  std::string message;  ///< "expected a .u32, .s32 or .b32 register, found %f1 of type .f32"-like,
                        ///< without place
  const Form *nearest = nullptr; ///< null when the opcode itself is unknown
};

/// Matches the instructions of one module. Keeps what it found out about each opcode text, so that
/// the second `add.s32` costs one hash lookup. Not thread-safe; one per module.
class Matcher {
 public:
  explicit Matcher(Target);
  ~Matcher();
  Matcher(const Matcher &) = delete;
  Matcher &operator=(const Matcher &) = delete;

  /// All forms an opcode with its modifiers can be, before looking at operands.
  struct Candidates;
  /// `opcode` is the text as written without blanks ("add.rn.f32"). The result lives as long as the
  /// Matcher.
  const Candidates &resolve(std::string_view opcode);
  /// Finds the form that fits the arguments; false when none does (then ask explain).
  bool match(const Candidates &, std::span<const Argument>, Match &) const;
  /// What is wrong with an instruction that does not match. Slow path.
  Mismatch explain(std::string_view opcode, std::span<const Argument>) const;

  const Target &target() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// True where `special` may be read under the target; else why not.
bool isAvailable(SpecialRegister, const Target &, std::string *why = nullptr);
/// The special register of a name without `%` and component ("tid", "clock64"), none where there is
/// none.
SpecialRegister findSpecialRegister(std::string_view name);
/// Type of a special register (of one component) and its number of components (1, or 4 for tid and
/// the like).
Type typeOf(SpecialRegister);
unsigned componentsOf(SpecialRegister);

/// Selectors and masks of video operands: `.b0`, `.h1`, and of the SIMD ones `.h32`, `.b7654`,
/// `.b20`.
struct Selector {
  bool isHalf = false;      ///< half-words, else bytes
  uint8_t count = 0;        ///< 0: none
  uint8_t elements[4] = {}; ///< as written, highest lane first
};
/// A selector by its spelling without the dot, Token::none where it is none. (Not a token of the
/// table: spelling(Token) and the modifiers of forms do not know it.)
Token findSelector(std::string_view spelling);
Selector selectorOf(Token);

/// A type suffix by its spelling without the dot ("f16x2"), Type::none where it is none.
Type findType(std::string_view spelling);
/// A modifier by its spelling without the leading dot ("L2::cache_hint"), Token::none where no form
/// uses it.
Token findToken(std::string_view spelling);
/// The Type that a token names, Type::none where it is no type.
Type typeOf(Token);

} // namespace ptxrun::isa
