// The syntax tree of one PTX module: what was written, nothing resolved. Every node has its place
// in the source. Nodes live in the module's arena, names and mnemonics are interned: equal
// spelling, equal number.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "translate/support/arena.h"
#include "translate/support/names.h"
#include "translate/support/source.h"

namespace ptxrun::syntax::ast {

using support::NameId;
using support::Span;

// ---- Constant expressions and operands
// -------------------------------------------------------------------------

/// One item of a constant expression in postfix order (PTX ISA 4.5).
struct ExprItem {
  enum class Kind : uint8_t {
    integer,  ///< bits, isUnsigned
    float64,  ///< decimal or 0d literal: bits of the double
    float32,  ///< 0f literal: bits of the float in the low half
    warpSize, ///< WARP_SZ
    symbol,   ///< name of a variable, function or section label
    generic,  ///< generic(name)
    unary,    ///< op on the top item
    castSigned,
    castUnsigned, ///< (.s64) (.u64)
    binary,       ///< op on the two top items
    ternary,      ///< a ? b : c on the three top items
    mask,         ///< bits(inner): 0xff00(symbol), inner is the top item, bits the mask
  };
  Kind kind = Kind::integer;
  bool isUnsigned = false;
  enum class Base : uint8_t { decimal, hexadecimal, octal, binary } base = Base::decimal;
  enum class Op : uint8_t {
    none,
    plus,
    minus,
    logicalNot,
    complement,
    multiply,
    divide,
    remainder,
    add,
    subtract,
    shiftRight,
    shiftLeft,
    less,
    greater,
    lessEqual,
    greaterEqual,
    equal,
    notEqual,
    bitAnd,
    bitXor,
    bitOr,
    logicalAnd,
    logicalOr,
  } op = Op::none;
  NameId name = 0;
  uint64_t bits = 0;
  Span span;
};
using Expression = std::span<const ExprItem>;

/// One operand as written.
struct Operand {
  enum class Kind : uint8_t {
    name,       ///< %r1, label, variable, function; suffix for `%v.x`, `%r.b0`; isNegated for `!%p`
    constant,   ///< expression
    nameOffset, ///< name + expression (`var+4`, `[%r+-4]`'s inside)
    indexed,    ///< name[children[0]]: `array[%r1]`, `array[3]`, `array[%r1+2]`
    sink,       ///< _
    address,    ///< [children...], isUnified for a trailing `.unified`
    vector,     ///< {children...}
    list,       ///< (children...) of a call
    pair,       ///< children[0]|children[1]
  };
  Kind kind = Kind::sink;
  bool isNegated = false; ///< `!` before a name
  bool isMinus = false;   ///< `-` before a name (vmad)
  bool isUnified = false;
  NameId name = 0;
  NameId suffix = 0; ///< "x", "b0", "h1" after a name's dot; 0: none
  Span span;
  /// constant: items; nameOffset: the offset's items.
  Expression expression() const { return {items_, count_}; }
  /// address, vector, list, pair, indexed.
  std::span<const Operand> children() const { return {children_, count_}; }
  void setExpression(Expression e) { items_ = e.data(), count_ = uint32_t(e.size()); }
  void setChildren(std::span<const Operand> c) {
    children_ = c.data(), count_ = uint32_t(c.size());
  }

 private:
  uint32_t count_ = 0;
  union {
    const ExprItem *items_ = nullptr;
    const Operand *children_;
  };
};

// ---- Instructions and statements
// -------------------------------------------------------------------------------

/// One distinct dotted spelling ("ld.global.v2.u32") of the module. Shared by all instructions
/// written so.
struct Mnemonic {
  std::string_view text;   ///< whole, white space removed
  std::string_view opcode; ///< up to the first dot
  std::span<const std::string_view>
      modifiers; ///< without their dots: "global", "shared::cta", "v2", "u32"
};

struct Instruction {
  uint32_t mnemonic = 0; ///< index into Module::mnemonics
  NameId guard = 0;      ///< 0: none
  bool isGuardNegated = false;
  Span guardSpan;
  Span opcodeSpan; ///< the mnemonic
  Span span;       ///< guard to semicolon
  std::span<const Operand> operands;
};

/// What stands after `=`: an expression, or a list in braces of initialisers or of texref fields.
struct Initializer {
  bool isList = false;   ///< { elements }
  bool hasField = false; ///< `field = value` of a texref, samplerref or surfref
  NameId field = 0;
  Span span;
  std::span<const Initializer> elements;
  Expression value;
};

/// A literal array size or range; hexadecimal etc. are remembered through the span.
struct Dimension {
  uint64_t size = 0;
  bool isEmpty = false; ///< []
  Span span;
};

struct Declarator {
  NameId name = 0;
  Span span;
  bool hasRange = false; ///< %r<100>
  uint64_t range = 0;
  std::span<const Dimension> dimensions;
  const Initializer *initializer = nullptr;
};

/// Words that stand before a declaration or function: .extern .visible .weak .common.
enum class Linkage : uint8_t { none, external_, visible, weak, common };

struct Attribute {
  NameId name = 0; ///< managed, unified
  Span span;
  std::span<const ExprItem> arguments; ///< unified's two integers
};

/// Variables of any space, registers and parameters: `.global .align 8 .v2 .f32 a[4] = {...}, b;`
struct Declaration {
  Linkage linkage = Linkage::none;
  NameId space = 0;  ///< reg sreg const global local param shared tex
  NameId type = 0;   ///< "b32" "pred" "texref"
  NameId vector = 0; ///< "v2" "v4"; 0: none
  bool hasAlign = false;
  uint64_t align = 0;
  bool isPointer = false;  ///< .ptr
  NameId pointerSpace = 0; ///< .ptr.global ...
  bool hasPointerAlign = false;
  uint64_t pointerAlign = 0;
  Span span, spaceSpan, typeSpan;
  std::span<const Attribute> attributes;
  std::span<const Declarator> declarators;
};

/// .maxntid 1,2,3 and its like, of entries, functions and prototypes (PTX ISA 11.4).
struct PerformanceDirective {
  NameId name = 0;
  Span span;
  std::span<const ExprItem> arguments;       ///< integers
  std::span<const std::string_view> strings; ///< .pragma's, with their quotes
};

struct Prototype {
  bool hasReturns = false; ///< parentheses were written
  bool hasParameters = false;
  std::span<const Declaration> returns;
  std::span<const Declaration> parameters;
  std::span<const PerformanceDirective> directives;
};

struct LocDirective {
  uint32_t file = 0, line = 0, column = 0;
  bool hasFunctionName = false; ///< function_name label {+ offset}
  NameId functionName = 0;
  uint64_t functionOffset = 0;
  bool hasInlinedAt = false;
  uint32_t inlinedFile = 0, inlinedLine = 0, inlinedColumn = 0;
  Span span;
};

struct PragmaDirective {
  std::span<const std::string_view> strings; ///< with their quotes
  Span span;
};

/// `name: .branchtargets a, b;` `name: .calltargets f, g;` `name: .callprototype (...) _ (...);`
struct TargetsDirective {
  enum class Kind : uint8_t {
    branchTargets,
    callTargets,
    callPrototype
  } kind = Kind::branchTargets;
  NameId label = 0;
  Span labelSpan, span;
  std::span<const Operand> names;
  const Prototype *prototype = nullptr;
};

/// One statement of a function body. Blocks are flat: `openBlock` and `closeBlock` bracket theirs.
struct Statement {
  enum class Kind : uint8_t {
    instruction,
    label,
    declaration,
    openBlock,
    closeBlock,
    loc,
    pragma,
    targets
  };
  Kind kind = Kind::instruction;
  NameId label = 0; ///< label: its name
  Span span;        ///< label: the name; blocks: the brace; else empty, the node has it
  union {
    const Instruction *instruction = nullptr;
    const Declaration *declaration;
    const LocDirective *loc;
    const PragmaDirective *pragma;
    const TargetsDirective *targets;
  };
};

// ---- Module level
// ----------------------------------------------------------------------------------------------

struct Function {
  Linkage linkage = Linkage::none;
  bool isEntry = false;
  bool hasBody = false;
  NameId name = 0;
  Span nameSpan, span;
  std::span<const Attribute> attributes;
  Prototype prototype;
  std::span<const Statement> body;
  uint32_t instructionCount = 0;
  Span afterPrototype; ///< the `{` or `;` behind name, parameters and directives
  Span closingBrace;
};

struct FileDirective {
  uint32_t index = 0;
  std::string_view path; ///< without quotes
  bool hasTimestamp = false;
  uint64_t timestamp = 0, size = 0;
  Span span, after; ///< after: the token that shows that nothing more belongs to it
};

/// `5`, `-1`, `label`, `.debug_str+4`, `end-begin` in a section.
struct SectionValue {
  NameId symbol = 0; ///< with its dot for a section's name; 0: a number
  NameId minus = 0;  ///< symbol-minus
  bool isNegative = false;
  uint64_t number = 0; ///< the number, or what is added to symbol
  Span span;
};

/// `.section .debug_str { label: .b8 1,2 }`, in the order written.
struct SectionLine {
  NameId label = 0; ///< `label:` when type is 0
  NameId type = 0;  ///< b8 b16 b32 b64
  std::span<const SectionValue> values;
  Span span;
};
struct SectionDirective {
  NameId name = 0; ///< ".debug_str" without the dot
  std::span<const SectionLine> lines;
  Span span;
};

/// `.alias alias, aliasee;`
struct AliasDirective {
  NameId alias = 0, aliasee = 0;
  Span aliasSpan, aliaseeSpan, span;
};

struct Item {
  enum class Kind : uint8_t { declaration, function, file, section, pragma, alias, loc };
  Kind kind = Kind::declaration;
  union {
    const Declaration *declaration = nullptr;
    const Function *function;
    const FileDirective *file;
    const SectionDirective *section;
    const PragmaDirective *pragma;
    const AliasDirective *alias;
    const LocDirective *loc;
  };
};

struct Header {
  uint32_t versionMajor = 0, versionMinor = 0;
  Span version;
  std::span<const NameId> targets; ///< sm_90a, texmode_independent, debug, ...
  std::span<const Span> targetSpans;
  Span target;
  bool hasAddressSize = false;
  uint64_t addressSize = 0;
  Span addressSizeSpan;
};

/// A module and all it owns. The source must outlive it.
struct Module {
  const support::SourceFile *source = nullptr;
  support::Arena arena;
  support::NameTable names;
  std::vector<Mnemonic> mnemonics;
  Header header;
  std::vector<Item> items;
};

} // namespace ptxrun::syntax::ast
