// The generated pattern tables: what a form accepts, in a shape that match.cpp can walk. Internal
// to the isa library.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "translate/isa/match.h"
#include "translate/isa/table.h"

namespace ptxrun::isa {

/// A run in the generated list of target alternatives; length 0: every target.
struct TargetRule {
  uint16_t first;
  uint8_t count;
};
/// sm_90 (suffix 0): 90 or higher; sm_90a: exactly this; sm_100f: the family of sm_100 from it on,
/// with suffix f or a.
struct TargetAlternative {
  uint16_t sm;
  char suffix;
};

/// One token that a slot accepts, and what that token needs beyond what the form needs.
struct Choice {
  Token token;
  uint16_t since;
  TargetRule rule;
  bool isWide;   ///< only with 256-bit vectors
  bool isGlobal; ///< only with .global and generic addresses
};

/// How a slot's tokens are placed: types, state spaces, layouts (.row .col) and words that belong
/// to the instruction's name keep their order among themselves; vectors and other words stand
/// anywhere.
enum class SlotKind : uint8_t { word, type, space, layout, vector };

struct Slot {
  uint16_t firstChoice;
  uint16_t choiceCount;
  SlotKind kind;
  bool isOptional;
  bool isInPlace;
  uint8_t group; ///< slots with the same number > 0 are written together or not at all
  std::string_view name;
};

enum class OperandKind : uint8_t {
  value,
  sink,
  address,
  imm,
  label,
  labels,
  callee,
  prototype,
  list,
  any,    ///< mov's source: a value, special register, address of a variable or function
  addr,   ///< an address as a value: register, variable, variable + offset
  ptr,    ///< an address of 32 or 64 bits in a register
  pack,   ///< {a, b}: together as wide as the type
  unpack, ///< the same, written
  opaque, ///< a texture, sampler or surface: its variable, or a .u64 register with its address
};

/// Which state space an address must lie in.
enum class SpaceRule : uint8_t {
  none,
  fixed,
  slot,
  any,
  tmem,   ///< tensor memory: a 32-bit register
  opaque, ///< a texture, sampler or surface (OperandPattern::type): its variable or a 64-bit
          ///< register with its handle
};

struct ImmediateRange {
  int64_t low, high, step;
};

enum OperandFlags : uint16_t {
  kDestination = 1,
  kWider = 2,
  kSink = 4,
  kRegisterOnly = 8,
  kNegatable = 16,
  kOptional = 32,
  kJoined = 64,
  kDoubled = 128,
  kUnified = 256,
  kSpecial = 512,
  kSelectOne = 1024, ///< .b0 ... .b3, .h0, .h1
  kSelectHalves =
      2048, ///< two half-words of two registers, .h10; a destination: a mask of .h0, .h1, .h10
  kSelectBytes = 4096, ///< four bytes of two registers, .b7632; a destination: a mask
  kIndexed = 8192,     ///< coordinates of an array: the first element is a .u32 index
};

struct OperandPattern {
  std::string_view name;
  OperandKind kind;
  Type type; ///< with typeSlot < 0
  int8_t typeSlot;
  uint8_t arity[2]; ///< least and most elements of a vector; 0: a scalar
  int8_t
      aritySlot; ///< the arity is a number in what was written there, a scalar where nothing was:
  char arityLetter;     ///< the one behind this letter (m64n8k16: n), 0: the first
  int8_t arityFactor;   ///< times this; divided by it where it is negative
  int8_t conditionSlot; ///< present exactly if that slot was filled
  SpaceRule spaceRule;
  StateSpace space; ///< for SpaceRule::fixed
  int8_t spaceSlot;
  uint16_t firstRange;
  uint8_t rangeCount;
  uint16_t firstNested; ///< what follows the base inside an address's brackets
  uint8_t nestedCount;
  uint16_t flags;
};

struct Pattern {
  uint16_t firstSlot;
  uint8_t slotCount;
  uint16_t firstOperand;
  uint8_t operandCount;
  uint16_t until;   ///< last PTX version that has it; 0: all later ones
  uint16_t ceiling; ///< only below this sm; 0: no limit
  TargetRule rule;
  bool isWide; ///< 256-bit vectors are possible where the target has them (else 128 bits are the
               ///< most)
};

struct OpcodeEntry {
  std::string_view opcode;
  uint16_t first, count;
};

const Pattern &patternOf(const Form &);
std::span<const Slot> slotsOf(const Pattern &);
std::span<const Choice> choicesOf(const Slot &);
std::span<const OperandPattern> operandsOf(const Pattern &);
std::span<const OperandPattern> nestedOf(const OperandPattern &);
std::span<const ImmediateRange> rangesOf(const OperandPattern &);
/// Indices of the forms of an opcode ("cvt"), empty for an unknown one.
std::span<const uint16_t> formsOf(std::string_view opcode);
/// All opcodes, sorted.
std::span<const OpcodeEntry> opcodes();

bool allows(TargetRule, const Target &);
std::string describe(TargetRule);

/// Which choice each slot of a form was given by an opcode's modifiers.
struct Assignment {
  static constexpr size_t kMaxSlots = 24;
  uint8_t choice[kMaxSlots]; ///< index + 1, 0: not written
  uint8_t token[kMaxSlots];  ///< which written modifier
};
/// Places the modifiers of an instruction into the form's slots; false where they do not fit.
/// `placed`, if given, receives how many modifiers found a place (for choosing the nearest form).
bool assign(const Pattern &, std::span<const Token> modifiers, Assignment &,
            unsigned *placed = nullptr);

/// The operand half: binds arguments to the pattern's operands under an assignment.
struct OperandContext {
  const Pattern *pattern;
  const Assignment *assignment;
  const Target *target;
};
Type operandType(const OperandPattern &, const OperandContext &);
/// The vector arity an operand must have (0: scalar), as a range.
void operandArity(const OperandPattern &, const OperandContext &, unsigned &low, unsigned &high);
/// True if `argument` can stand for the operand. `why`, if given, receives the reason where not;
/// `element` the culprit.
bool fits(const OperandPattern &, const OperandContext &, const Argument &argument,
          std::string *why = nullptr, int *element = nullptr);
} // namespace ptxrun::isa
