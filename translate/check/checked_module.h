// CheckedModule: every name resolved, every instruction bound to its entry in the instruction
// table, operands typed. The hand-over from check to lower. Everything is owned by the module's
// arena and lives as long as the module.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "translate/isa/match.h"
#include "translate/isa/table.h"
#include "translate/isa/types.h"
#include "translate/support/arena.h"
#include "translate/support/source.h"

namespace ptxrun::check {

struct Function;
struct Variable;

/// A `.reg` variable after `%r<n>` was expanded. Index is dense within its function.
struct Register {
  std::string_view name;
  isa::Type type = isa::Type::none;
  uint8_t vector = 1; ///< 2 or 4 for `.v2 .v4` registers
  uint32_t index = 0;
};

/// An initialiser's address part: the bytes [offset, offset+width) hold the address of `symbol`
/// plus addend (mask()).
struct Relocation {
  uint32_t offset = 0;
  uint8_t width = 8;                  ///< bytes stored
  uint8_t shift = 0;                  ///< for mask(): which byte of the address, times 8
  bool isGeneric = false;             ///< generic(symbol)
  const Variable *variable = nullptr; ///< exactly one of variable and function is set
  const Function *function = nullptr;
  int64_t addend = 0;
};

/// A field of an opaque variable's initial value: `filter_mode = linear`, `width = 4` (PTX ISA 5.3).
struct OpaqueField {
  std::string_view name;
  std::string_view word; ///< empty where the value is a number
  int64_t number = 0;
};

enum class Linkage : uint8_t { internal, external_, visible, weak, common };

/// A `.global .const .shared .local .param` variable, at module or function scope.
struct Variable {
  std::string_view name;
  isa::StateSpace space = isa::StateSpace::global;
  isa::Type type = isa::Type::none; ///< element type
  uint8_t vector = 1;
  std::span<const uint64_t> dimensions; ///< empty for a scalar; a first dimension of 0 is `[]`
  uint64_t bytes = 0;                   ///< total size; 0 for `extern .shared x[]`
  uint32_t alignment = 1;               ///< bytes
  Linkage linkage = Linkage::internal;
  bool isManaged = false;
  bool isPointer = false; ///< `.param .u64 .ptr` (or `.ptr.global` ...)
  std::span<const uint8_t>
      initializer; ///< the first bytes; the rest, or all where it is empty, is zero
  std::span<const Relocation> relocations;
  std::span<const OpaqueField> fields; ///< of .texref, .samplerref and .surfref variables
  Function *function = nullptr; ///< the function it is declared in, null at module scope
  uint32_t index = 0;           ///< dense within its function (or module)
  support::Span span;
};

struct Label {
  std::string_view name;
  uint32_t index = 0;     ///< dense within its function
  uint32_t statement = 0; ///< index into Function::body of the first instruction at or after the
                          ///< label; may be body.size()
};

/// `.callprototype`, or a function's own signature. Parameters are `.reg` or `.param` variables.
struct Prototype {
  std::span<Variable *const> returns;
  std::span<Variable *const> parameters;
  bool isNoReturn = false;
};

/// One checked operand. `kind` says which fields are set.
struct Operand {
  enum class Kind : uint8_t {
    absent,   ///< an optional operand that was not written
    sink,     ///< `_`
    reg,      ///< reg, isNegated for `!p`
    integer,  ///< integer (two's complement, already truncated to the operand's width)
    floating, ///< bits: IEEE bits of the operand's type (f32 in the low half)
    special,  ///< special: a special register
    address,  ///< [base + offset]: reg or variable or neither; also `var` or `var+4` as a value
             ///< (mov, st of an address); `var[%r1+2]` has both: variable + scale * reg + offset
    vector,    ///< elements: {a, b, c, d}; each a reg, sink, integer, floating
    function,  ///< function's address (mov) or callee
    label,     ///< branch target
    labels,    ///< `.branchtargets` list of brx.idx: labels
    prototype, ///< `.callprototype` of an indirect call, or functions of `.calltargets`
    tensor, ///< [address, ...]: elements[0] is the address, then what follows it: {coordinates}, or
            ///< a sampler and {coordinates}
    list,   ///< call's (a, b, c): elements
  };
  Kind kind = Kind::absent;
  bool isNegated = false;           ///< `!p`, `-r`
  bool isUnified = false;           ///< `[a].unified`
  isa::Type type = isa::Type::none; ///< the type the instruction reads or writes this operand as
  uint8_t component =
      0; ///< 1..4: element x, y, z, w of a vector register or special register; 0: whole
  const Register *reg = nullptr;
  const Variable *variable = nullptr;
  const Function *function = nullptr;
  const Prototype *prototype = nullptr;
  isa::SpecialRegister special{};
  isa::Token selector{}; ///< `.b0 ... .b3`, `.h0`, `.h1` of a video instruction's register
  uint32_t scale = 0;    ///< address with variable and reg: bytes per index
  int64_t integer = 0;   ///< the value; for address: the byte offset
  uint64_t bits = 0;
  const Label *label = nullptr;
  std::span<const Operand> elements;
  std::span<const Label *const> labels;
  std::span<const Function *const> functions;
  support::Span span;
  explicit operator bool() const { return kind != Kind::absent; }
};

struct Instruction {
  const isa::Form *form = nullptr;       ///< its entry in the instruction table
  std::span<const isa::Token> modifiers; ///< what was written, in the form's order (types included)
  std::span<const isa::Type>
      types; ///< the positional type suffixes in the form's order (cvt: destination, source)
  uint8_t vector = 1; ///< `.v2 .v4 .v8`
  std::span<const Operand>
      operands; ///< one per operand of the form, in its order; absent where optional
  const Register *guard = nullptr; ///< @p, @!p
  bool isGuardNegated = false;
  support::Span span;
  uint32_t line = 0;     ///< PTX line, from 1
  uint32_t location = 0; ///< index into Module::locations, 0 = none

  bool has(isa::Token) const;
  /// The modifier among `set` that was written, or Token::none.
  isa::Token oneOf(std::initializer_list<isa::Token> set) const;
  isa::Type type(size_t i = 0) const { return i < types.size() ? types[i] : isa::Type::none; }
};

/// `.loc file line column {, function_name label+n, inlined_at file line column}`
struct Location {
  uint32_t file = 0, line = 0, column = 0;
  uint32_t inlinedAt = 0; ///< index of another Location, 0 = none
  std::string_view functionName;
};

struct Function {
  std::string_view name;
  bool isEntry = false;
  bool isDeclaration = false; ///< no body (extern, or forward declaration never defined)
  const Function *aliasee =
      nullptr; ///< `.alias`: the function whose body stands for this declaration
  Linkage linkage = Linkage::internal;
  Prototype signature; ///< for entries: no returns, parameters are the kernel's `.param`s in order
  std::vector<Register *> registers;
  std::vector<Variable *> variables; ///< declared inside: .local .shared .param, any scope depth
  std::vector<Label *> labels;
  std::vector<Instruction> body;
  // Performance and cluster directives (11.4); 0 = not given.
  std::array<uint32_t, 3> maxntid{}, reqntid{}, reqnctapercluster{};
  uint32_t maxnreg = 0, minnctapersm = 0, maxclusterrank = 0;
  bool explicitcluster = false, blocksareclusters = false;
  support::Span span;
  uint32_t line = 0;
};

struct Module {
  uint32_t version = 0;  ///< 9.2 is 92
  uint32_t target = 0;   ///< sm_90a is 90
  char targetSuffix = 0; ///< 'a', 'f' or 0
  uint32_t addressBits = 64;
  std::vector<Function *> functions;
  std::vector<Variable *> variables;
  std::vector<std::string_view> files; ///< `.file` n at index n
  std::vector<Location> locations;     ///< [0] is unused
  const support::SourceFile *source = nullptr;
  const Function *findFunction(std::string_view) const;
};

/// A Module with all it points to: arena, and the matcher that holds the modifiers' spans. The
/// source text that names point into must outlive it. Does not move, so references into module()
/// stay good.
class CheckedModule {
 public:
  explicit CheckedModule(isa::Target target) : matcher_(target) {}
  CheckedModule(const CheckedModule &) = delete;
  CheckedModule &operator=(const CheckedModule &) = delete;
  const Module &module() const { return module_; }

 private:
  friend class Checker;
  Module module_;
  support::Arena arena_;
  isa::Matcher matcher_;
  std::deque<Function> functions_;
};

} // namespace ptxrun::check
