#include "translate/isa/bind.h"

#include <algorithm>

namespace ptxrun::isa {
namespace {

using Kind = Argument::Kind;

constexpr unsigned kTypeCount = unsigned(Type::surfref) + 1;
static_assert(kTypeCount <= 64, "a set of types is one word");

/// What a register can be declared as (PTX ISA 5.2).
constexpr Type kRegisterTypes[] = {Type::pred, Type::b8,  Type::b16,  Type::b32, Type::b64,
                                   Type::b128, Type::u8,  Type::u16,  Type::u32, Type::u64,
                                   Type::s8,   Type::s16, Type::s32,  Type::s64, Type::f16,
                                   Type::f32,  Type::f64, Type::f16x2};

uint64_t bit(Type type) { return uint64_t(1) << unsigned(type); }

bool isPlainRegister(const Argument &a) {
  return a.kind == Kind::reg && a.vector == 1 && !a.isNegated && a.selector == Token::none;
}

QuickOperand quickOperand(const OperandPattern &o, const OperandContext &c) {
  QuickOperand quick;
  unsigned low, high;
  operandArity(o, c, low, high);
  quick.type = operandType(o, c);
  quick.arity[0] = uint8_t(low), quick.arity[1] = uint8_t(high);
  Argument reg, address, vector;
  std::vector<Argument> elements(high ? std::max(low, 1u) : 0);
  reg.kind = Kind::reg;
  address.kind = Kind::address, address.base = Argument::Base::reg;
  vector.kind = Kind::vector, vector.elements = elements;
  for (Type type : kRegisterTypes) {
    reg.type = address.type = type;
    std::fill(elements.begin(), elements.end(), reg);
    quick.registers |= fits(o, c, reg) ? bit(type) : 0;
    quick.addresses |= fits(o, c, address) ? bit(type) : 0;
    quick.elements |= high && fits(o, c, vector) ? bit(type) : 0;
  }
  Argument constant;
  constant.kind = Kind::integer;
  quick.takesIntegers = o.rangeCount == 0 && fits(o, c, constant);
  return quick;
}

bool isUniformVector(const Argument &a, const QuickOperand &quick) {
  if (a.elements.size() < quick.arity[0] || a.elements.size() > quick.arity[1] ||
      a.elements.empty())
    return false;
  for (const Argument &e : a.elements)
    if (!isPlainRegister(e) || e.type != a.elements[0].type)
      return false;
  return true;
}

class Binder {
 public:
  Binder(const OperandContext &c, std::span<const QuickOperand> quick,
         std::span<const Argument> args, BoundOperand *bound)
      : c_(c), operands_(operandsOf(*c.pattern)), quick_(quick), args_(args), bound_(bound) {}

  bool from(size_t i, size_t j) {
    if (i == operands_.size())
      return j == args_.size();
    const OperandPattern &o = operands_[i];
    const bool isConditional = o.conditionSlot >= 0;
    const bool mayBePresent = !isConditional || c_.assignment->choice[o.conditionSlot];
    if (mayBePresent && j < args_.size() && fitsQuickly(i, args_[j]) && present(i, j))
      return true;
    if (!(o.flags & kOptional) || (isConditional && mayBePresent))
      return false;
    bound_[i] = {-1, quick_[i].type};
    return from(i + 1, j);
  }

 private:
  /// Operand i is argument j; a second result that is not written (`d{|p}`) is absent.
  bool present(size_t i, size_t j) {
    const bool isJoined = args_[j].isJoined, mayJoin = (operands_[i].flags & kJoined) != 0;
    bound_[i] = {int8_t(j), quick_[i].type};
    if (isJoined == mayJoin)
      return from(i + 1, j + 1);
    if (isJoined || !(operands_[i + 1].flags & kOptional))
      return false;
    bound_[i + 1] = {-1, quick_[i + 1].type};
    return from(i + 2, j + 1);
  }

  bool fitsQuickly(size_t i, const Argument &a) const {
    const QuickOperand &quick = quick_[i];
    switch (a.kind) {
    case Kind::reg:
      if (isPlainRegister(a))
        return (quick.registers & bit(a.type)) != 0;
      break;
    case Kind::integer:
      if (quick.takesIntegers)
        return true;
      break;
    case Kind::address:
      if (a.base == Argument::Base::reg && a.elements.empty() && !a.isUnified)
        return (quick.addresses & bit(a.type)) != 0;
      break;
    case Kind::vector:
      if (isUniformVector(a, quick))
        return (quick.elements & bit(a.elements[0].type)) != 0;
      break;
    default:
      break;
    }
    return fits(operands_[i], c_, a);
  }

  const OperandContext &c_;
  std::span<const OperandPattern> operands_;
  std::span<const QuickOperand> quick_;
  std::span<const Argument> args_;
  BoundOperand *bound_;
};

} // namespace

std::vector<QuickOperand> quickOperands(const OperandContext &c) {
  std::vector<QuickOperand> all;
  for (const OperandPattern &o : operandsOf(*c.pattern))
    all.push_back(quickOperand(o, c));
  return all;
}

bool bindOperands(const OperandContext &c, std::span<const QuickOperand> quick,
                  std::span<const Argument> args, BoundOperand *bound) {
  return Binder(c, quick, args, bound).from(0, 0);
}

} // namespace ptxrun::isa
