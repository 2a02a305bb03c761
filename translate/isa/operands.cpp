// The operand half of matching: does an argument fit an operand, and which argument is which
// operand.
#include <algorithm>

#include "translate/isa/operand_class.h"
#include "translate/isa/pattern.h"

namespace ptxrun::isa {
namespace {

using Kind = Argument::Kind;

/// One question, "does this argument fit", asked with or without wanting to know why not.
class Fit {
 public:
  Fit(const OperandPattern &o, const OperandContext &c, std::string *why, int *element)
      : o_(o), c_(c), why_(why), element_(element) {}

  bool test(const Argument &a) {
    switch (o_.kind) {
    case OperandKind::value:
      return value(a);
    case OperandKind::any:
      return any(a);
    case OperandKind::addr:
      return addressValue(a);
    case OperandKind::ptr:
      return pointer(a);
    case OperandKind::address:
      return address(a);
    case OperandKind::sink:
      return a.kind == Kind::sink || no("expected '_'", a);
    case OperandKind::imm:
      return immediate(a);
    case OperandKind::pack:
    case OperandKind::unpack:
      return pack(a);
    case OperandKind::opaque:
      return opaque(a);
    case OperandKind::label:
      return a.kind == Kind::label || no("expected a label", a);
    case OperandKind::labels:
      return a.kind == Kind::labels || no("expected the label of a .branchtargets list", a);
    case OperandKind::callee:
      return a.kind == Kind::function ||
             (a.kind == Kind::reg && isAddressRegister(a.type) && a.vector == 1) ||
             no("expected a function or a register with its address", a);
    case OperandKind::prototype:
      return a.kind == Kind::prototype || a.kind == Kind::variable ||
             no("expected the label of a .callprototype or .calltargets", a);
    case OperandKind::list:
      return a.kind == Kind::list || no("expected a list in parentheses", a);
    }
    return false;
  }

 private:
  bool no(std::string message, const Argument &found) {
    if (why_)
      *why_ = std::move(message) + ", found " + describe(found);
    return false;
  }
  /// That something else was wanted; the text is made for those who ask.
  bool isNot(Type type, const Argument &found, const char *more = "") {
    return why_ && no("expected " + wanted(type) + more, found);
  }
  bool has(OperandFlags flag) const { return (o_.flags & flag) != 0; }

  bool value(const Argument &a) {
    unsigned low, high;
    operandArity(o_, c_, low, high);
    const Type type = operandType(o_, c_);
    const bool isVector = o_.arity[1] != 0 || o_.aritySlot >= 0;
    if (high == 0 && isVector && a.kind == Kind::vector && a.elements.size() == 1)
      return elements(a, type); // {x} for x
    if (low == 0 && a.kind == Kind::variable && a.hasOffset)
      return addressSum(a, type);
    if (high == 1 && low == 0 && a.kind != Kind::vector)
      return scalar(a, type);
    return high == 0 ? scalar(a, type) : vector(a, type, std::max(low, 1u), high);
  }

  /// `var + 4` is a constant wherever an integer is read; a name alone is not.
  bool addressSum(const Argument &a, Type type) {
    const Family family = familyOf(type);
    const bool isRead = !has(kDestination) && !has(kRegisterOnly);
    return (isRead && a.base == Argument::Base::variable && a.integer >= 0 &&
            (family == Family::integer || family == Family::bits)) ||
           isNot(type, a);
  }

  bool scalar(const Argument &a, Type type) {
    switch (a.kind) {
    case Kind::reg:
      return reg(a, type);
    case Kind::integer:
    case Kind::floating:
      return constant(a, type);
    case Kind::sink:
      return (has(kDestination) && has(kSink)) || isNot(type, a);
    case Kind::special:
      if (has(kSpecial) && !isThere(a))
        return false;
      return (has(kSpecial) && a.vector == 1 && a.type != Type::pred) || isNot(type, a);
    default:
      return isNot(type, a);
    }
  }

  bool reg(const Argument &a, Type type) {
    if (a.vector != 1)
      return isNot(type, a);
    if (a.isNegated && (has(kDestination) || (type != Type::pred && !has(kNegatable))))
      return no("only a predicate that is read can be negated", a);
    if (a.selector != Token::none && !selects(selectorOf(a.selector)))
      return no("this byte or half-word selector cannot stand here", a);
    return registerFits(type, a.type, has(kWider), o_.typeSlot >= 0) || isNot(type, a);
  }

  bool selects(const Selector &s) const {
    if (has(kSelectOne))
      return s.count == 1 && s.elements[0] < (s.isHalf ? 2 : 4);
    const bool areHalves = has(kSelectHalves);
    if ((!areHalves && !has(kSelectBytes)) || s.isHalf != areHalves)
      return false;
    const unsigned lanes = areHalves ? 2 : 4;
    if (!has(kDestination))
      return s.count == lanes;
    for (unsigned i = 0; i != s.count; ++i) // a mask: lanes in falling order
      if (s.elements[i] >= lanes || (i && s.elements[i] >= s.elements[i - 1]))
        return false;
    return true;
  }

  bool constant(const Argument &a, Type type) {
    if (has(kDestination) || has(kRegisterOnly))
      return no("expected a register of type " + dotted(type), a);
    const Family family = familyOf(type);
    const bool isInteger =
        family == Family::integer || family == Family::bits || family == Family::predicate;
    const bool isPattern =
        a.isBitPattern && family == Family::bits && bitWidth(a.type) == bitWidth(type);
    if (a.kind == Kind::integer ? isInteger : family == Family::floating || isPattern)
      return o_.rangeCount == 0 || inRange(a);
    return isNot(type, a);
  }

  bool vector(const Argument &a, Type type, unsigned low, unsigned high) {
    const std::string size =
        low == high ? std::to_string(low) : std::to_string(low) + " to " + std::to_string(high);
    if (a.kind == Kind::reg && a.vector >= low && a.vector <= high && a.vector > 1)
      return registerFits(type, a.type, has(kWider)) ||
             no("expected elements of type " + dotted(type), a);
    if (a.kind == Kind::sink && has(kSink))
      return true;
    if (a.kind != Kind::vector || a.elements.size() < low || a.elements.size() > high)
      return no("expected a vector of " + size + (low == 1 && high == 1 ? " element" : " elements"),
                a);
    return elements(a, type);
  }

  /// All elements fit and not all are sinks. Where one is of a bit type, the others need only be as
  /// wide as it (they make one bit vector); else no two classes mix.
  bool elements(const Argument &a, Type type) {
    bool isNamed = false, isBitVector = false;
    for (const Argument &e : a.elements)
      isBitVector |= e.kind == Kind::reg && e.vector == 1 && isBits(e.type) &&
                     registerFits(type, e.type, has(kWider));
    unsigned width = 0;
    for (size_t i = 0; i != a.elements.size(); ++i) {
      const Argument &e = a.elements[i];
      if (element_)
        *element_ = int(i);
      if (e.kind == Kind::sink ? !has(kDestination) || has(kRegisterOnly)
                               : !elementFits(e, type, i, isBitVector))
        return e.kind == Kind::sink && isNot(type, e);
      isNamed |= e.kind != Kind::sink;
      if (e.kind != Kind::reg || (has(kIndexed) && i == 0))
        continue;
      if (width && bitWidth(e.type) != width)
        return no("the elements of a vector are equally wide", e);
      width = bitWidth(e.type);
    }
    if (element_)
      *element_ = -1;
    return isNamed || no("expected at least one register in the vector", a);
  }

  bool elementFits(const Argument &e, Type type, size_t index, bool isBitVector) {
    if (has(kIndexed) && index == 0)
      return scalar(e, Type::u32);
    const bool isPlainRegister =
        e.kind == Kind::reg && e.vector == 1 && !e.isNegated && e.selector == Token::none;
    if (isBitVector && isPlainRegister && e.type != Type::pred &&
        bitWidth(e.type) >= bitWidth(type))
      return true;
    return integerForFloat(e, type) || scalar(e, type);
  }

  /// ptxas takes {%u1, %u2} where .v2.f32 is asked for, as one vector of 64 bits.
  bool integerForFloat(const Argument &e, Type type) const {
    return has(kWider) && familyOf(type) == Family::floating && e.kind == Kind::reg &&
           e.vector == 1 && familyOf(e.type) == Family::integer &&
           bitWidth(e.type) == bitWidth(type);
  }

  bool any(const Argument &a) {
    const Type type = operandType(o_, c_);
    const Family family = familyOf(type);
    unsigned low, high;
    operandArity(o_, c_, low, high);
    if (high)
      return a.kind == Kind::special && a.vector == high ? isThere(a) && specialFits(a, type)
                                                         : value(a);
    if (a.kind == Kind::special) {
      if (!isThere(a))
        return false;
      if (a.vector != 1)
        return no("a component (.x, .y, .z) of the special register is missing", a);
      if (family == Family::floating || family == Family::half)
        return no("a special register has no floating point value", a);
      return family == Family::predicate ? a.type == Type::pred : specialFits(a, type);
    }
    if (a.kind == Kind::variable || a.kind == Kind::function)
      return family == Family::integer || family == Family::bits ||
             isNot(type, a, "; an address needs an integer type");
    return scalar(a, type);
  }

  /// Version and target rules of a special register.
  bool isThere(const Argument &a) {
    std::string reason;
    if (!c_.target || isAvailable(a.special, *c_.target, why_ ? &reason : nullptr))
      return true;
    if (why_)
      *why_ = "%" + std::string(spelling(a.special)) + " " + reason;
    return false;
  }

  bool specialFits(const Argument &a, Type type) {
    // %tid and its like were .u16 in PTX 1.x and may still be read so.
    if (bitWidth(a.type) == bitWidth(type) || (bitWidth(type) == 16 && componentsOf(a.special) > 1))
      return true;
    if (bitWidth(type) == 32 && bitWidth(a.type) == 64)
      return a.special == findSpecialRegister("gridid") ||
             no("the special register is 64 bits wide", a);
    return no("expected the special register's own width, " + std::to_string(bitWidth(a.type)) +
                  " bits",
              a);
  }

  bool addressValue(const Argument &a) {
    if (a.kind != Kind::variable)
      return scalar(a, operandType(o_, c_));
    const StateSpace space = writtenSpace();
    return space == StateSpace::generic || isWithin(a.space, space) ||
           no("expected a variable in ." + std::string(spelling(space)), a);
  }

  bool pointer(const Argument &a) {
    const unsigned bits = bitWidth(a.type);
    return a.kind == Kind::integer ||
           (a.kind == Kind::reg && a.vector == 1 && isAddressRegister(a.type) &&
            (bits == 32 || bits == 64)) ||
           no("expected a register with an address", a);
  }

  bool immediate(const Argument &a) {
    return a.kind == Kind::integer ? inRange(a) : no("expected an integer constant", a);
  }

  /// A constant among the operand's ranges. Of floating point ranges the lower end is excluded
  /// (createpolicy's fraction).
  bool inRange(const Argument &a) {
    std::string allowed;
    for (const ImmediateRange &r : rangesOf(o_)) {
      if (a.kind == Kind::floating
              ? !(a.floating <= double(r.low) || a.floating > double(r.high))
              : a.integer >= r.low && a.integer <= r.high &&
                    (uint64_t(a.integer) - uint64_t(r.low)) % uint64_t(r.step) == 0)
        return true;
      allowed += (allowed.empty() ? "" : ", ") + std::to_string(r.low);
      if (r.high != r.low)
        allowed += " to " + std::to_string(r.high) +
                   (r.step > 1 ? " in steps of " + std::to_string(r.step) : "");
    }
    if (why_)
      *why_ = "expected a constant of " + allowed + ", found " +
              (a.kind == Kind::floating ? std::to_string(a.floating) : std::to_string(a.integer));
    return false;
  }

  bool pack(const Argument &a) {
    const unsigned total = bitWidth(operandType(o_, c_));
    const bool isRead = o_.kind == OperandKind::pack;
    if (a.kind == Kind::reg && a.vector > 1)
      return bitWidth(a.type) * a.vector == total || no("the vector is not as wide as the type", a);
    const size_t n = a.elements.size();
    if (a.kind != Kind::vector || (n != 1 && n != 2 && n != 4) || total / n < 8)
      return no(
          "expected a vector of 1, 2 or 4 elements, " + std::to_string(total) + " bits in all", a);
    const Type element = total / n == 8    ? Type::b8
                         : total / n == 16 ? Type::b16
                         : total / n == 32 ? Type::b32
                         : total / n == 64 ? Type::b64
                                           : Type::b128;
    bool isNamed = false;
    for (size_t i = 0; i != n; ++i) {
      const Argument &e = a.elements[i];
      if (element_)
        *element_ = int(i);
      if (e.kind == Kind::sink && !isRead)
        continue;
      isNamed = true;
      if (e.kind == Kind::integer && isRead)
        continue;
      if (e.kind != Kind::reg || e.vector != 1 || !registerFits(element, e.type, false))
        return no("expected elements of " + std::to_string(total / n) + " bits", e);
    }
    if (element_)
      *element_ = -1;
    return isNamed || no("expected at least one register in the vector", a);
  }

  bool opaque(const Argument &a) {
    if (a.kind == Kind::variable)
      return a.type == Type::texref || a.type == Type::samplerref || a.type == Type::surfref ||
             a.isParameter || no("expected a texture, sampler or surface", a);
    return (a.kind == Kind::reg && a.vector == 1 && registerFits(Type::b64, a.type, false)) ||
           no("expected a texture, sampler or surface, or a 64-bit register with its handle", a);
  }

  bool address(const Argument &a) {
    if (a.kind != Kind::address)
      return no("expected an address in brackets", a);
    if (a.isUnified && !has(kUnified))
      return no("'.unified' cannot stand here", a);
    return base(a) && nested(a);
  }

  bool base(const Argument &a) {
    if (o_.spaceRule == SpaceRule::opaque)
      return opaqueBase(a);
    if (a.base == Argument::Base::reg)
      return addressRegister(a.type);
    if (o_.spaceRule == SpaceRule::tmem)
      return noAddress("expected a register with an address in tensor memory");
    StateSpace space = StateSpace::generic;
    if (!requiredSpace(space))
      return a.base == Argument::Base::variable ||
             noAddress("expected a register or a variable in the address");
    if (a.base == Argument::Base::none)
      return space == StateSpace::local ||
             noAddress("an absolute address is possible only in .local");
    if (space == StateSpace::generic
            ? a.space == StateSpace::global || a.space == StateSpace::shared ||
                  a.space == StateSpace::local
            : isWithin(a.space, space))
      return true;
    return noAddress("expected an address in " +
                     (space == StateSpace::generic ? std::string("generic space")
                                                   : "." + std::string(spelling(space))) +
                     ", found a variable in ." + std::string(spelling(a.space)));
  }

  /// 32-bit addresses of global memory went away with sm_80 (not for modules of .address_size 32,
  /// which we still take).
  bool addressRegister(Type type) {
    if (o_.spaceRule == SpaceRule::tmem)
      return (isBits(type) && bitWidth(type) == 32) ||
             noAddress("expected a .b32 register in the address");
    if (!isAddressRegister(type))
      return noAddress("expected an integer register in the address");
    StateSpace space = StateSpace::generic;
    const bool isElsewhere = !requiredSpace(space) ||
                             (space == StateSpace::generic && !isSharedOnly()) ||
                             space == StateSpace::global;
    return !isElsewhere || bitWidth(type) == 64 || !c_.target || c_.target->sm < 80 ||
           c_.target->addressBits == 32 || noAddress("expected a 64-bit register in the address");
  }

  /// The form knows no other space than .shared (mbarriers): a generic address may then be given as
  /// its 32-bit offset.
  bool isSharedOnly() const {
    if (o_.spaceSlot < 0)
      return false;
    for (const Choice &c : choicesOf(slotsOf(*c_.pattern)[o_.spaceSlot]))
      if (!spelling(c.token).starts_with("shared"))
        return false;
    return true;
  }

  bool opaqueBase(const Argument &a) {
    if (a.base == Argument::Base::variable)
      return a.type == o_.type || a.isParameter ||
             noAddress("expected a variable of type " + dotted(o_.type));
    return (a.base == Argument::Base::reg && isAddressRegister(a.type) && bitWidth(a.type) == 64) ||
           noAddress("expected a " + dotted(o_.type) + " or a 64-bit register with its handle");
  }

  bool noAddress(std::string message) {
    if (why_)
      *why_ = std::move(message);
    return false;
  }

  static bool isWithin(StateSpace declared, StateSpace space) {
    return declared == space ||
           (space == StateSpace::sharedCluster && declared == StateSpace::shared);
  }

  /// The space the address must lie in; false where any will do.
  bool requiredSpace(StateSpace &space) const {
    switch (o_.spaceRule) {
    case SpaceRule::fixed:
      space = o_.space;
      return true;
    case SpaceRule::slot:
      space = writtenSpace();
      return true;
    default:
      return false;
    }
  }

  StateSpace writtenSpace() const {
    if (o_.spaceSlot < 0 || !c_.assignment->choice[o_.spaceSlot])
      return StateSpace::generic;
    const Slot &slot = slotsOf(*c_.pattern)[o_.spaceSlot];
    const std::string_view word =
        spelling(choicesOf(slot)[c_.assignment->choice[o_.spaceSlot] - 1].token);
    if (word == "shared::cluster")
      return StateSpace::sharedCluster;
    if (word.starts_with("shared"))
      return StateSpace::shared;
    if (word.starts_with("param"))
      return StateSpace::param;
    return word == "const"    ? StateSpace::constant
           : word == "global" ? StateSpace::global
                              : StateSpace::local;
  }

  bool nested(const Argument &a) {
    auto parts = nestedOf(o_);
    size_t next = 0;
    for (const OperandPattern &part : parts) {
      if (next < a.elements.size() && isa::fits(part, c_, a.elements[next], why_, element_))
        ++next;
      else if (!(part.flags & kOptional))
        return next < a.elements.size()
                   ? false
                   : no("expected more inside the brackets: " + std::string(part.name), a);
    }
    return next == a.elements.size() || no("too much inside the brackets", a);
  }

  std::string wanted(Type type) const {
    std::string text = type == Type::pred ? "a predicate" : "a register";
    if (type != Type::pred)
      text += " of type " + dotted(type) + (has(kWider) ? " or wider" : "");
    if (!has(kDestination) && !has(kRegisterOnly) && type != Type::pred) {
      const Family family = familyOf(type);
      if (family == Family::integer || family == Family::bits)
        text += " or an integer constant";
      if (family == Family::floating)
        text += " or a floating point constant";
    }
    return text;
  }

  const OperandPattern &o_;
  const OperandContext &c_;
  std::string *why_;
  int *element_;
};

} // namespace

Type operandType(const OperandPattern &o, const OperandContext &c) {
  Type type = o.type;
  if (o.typeSlot >= 0) {
    const unsigned choice = c.assignment->choice[o.typeSlot];
    type =
        choice ? typeOf(choicesOf(slotsOf(*c.pattern)[o.typeSlot])[choice - 1].token) : Type::none;
  }
  return o.flags & kDoubled ? doubled(type) : type;
}

void operandArity(const OperandPattern &o, const OperandContext &c, unsigned &low, unsigned &high) {
  low = o.arity[0], high = o.arity[1];
  if (o.aritySlot < 0)
    return;
  low = high = 0;
  const unsigned choice = c.assignment->choice[o.aritySlot];
  if (!choice)
    return;
  std::string_view word = spelling(choicesOf(slotsOf(*c.pattern)[o.aritySlot])[choice - 1].token);
  if (o.arityLetter)
    word.remove_prefix(std::min(word.size(), word.find(o.arityLetter)));
  word.remove_prefix(std::min(word.size(), word.find_first_of("0123456789")));
  unsigned number = 0;
  for (; !word.empty() && word[0] >= '0' && word[0] <= '9'; word.remove_prefix(1))
    number = number * 10 + unsigned(word[0] - '0');
  low = high =
      o.arityFactor < 0 ? number / unsigned(-o.arityFactor) : number * unsigned(o.arityFactor);
}

bool fits(const OperandPattern &o, const OperandContext &c, const Argument &a, std::string *why,
          int *element) {
  return Fit(o, c, why, element).test(a);
}

} // namespace ptxrun::isa
