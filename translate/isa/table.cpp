// The generated tables and the questions about them that need no matching.
#include "translate/isa/table.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "translate/isa/match.h"
#include "translate/isa/pattern.h"

namespace ptxrun::isa {
namespace {

struct SpecialRule {
  uint16_t since;
  TargetRule rule;
};

#include "isa_tables.inc"

constexpr std::string_view kTokenSpellings[] = {
    "",
#define PTXRUN_TOKEN(identifier, spelling) spelling,
#include "isa_tokens.inc"
#undef PTXRUN_TOKEN
};

struct SpecialInfo {
  std::string_view spelling;
  Type type;
  uint8_t components;
};
constexpr SpecialInfo kSpecials[] = {
    {"", Type::none, 0},
#define PTXRUN_SPECIAL(identifier, spelling, type, components) {spelling, Type::type, components},
#include "isa_special.inc"
#undef PTXRUN_SPECIAL
};

/// Name to index, sorted at first use.
template <size_t N> class NameIndex {
 public:
  template <class Name> explicit NameIndex(Name name) {
    for (size_t i = 0; i != N; ++i)
      order_[i] = {name(i), uint16_t(i)};
    std::sort(order_.begin(), order_.end());
  }
  /// 0 where there is none.
  uint16_t find(std::string_view spelling) const {
    auto at = std::lower_bound(order_.begin(), order_.end(), Entry{spelling, 0});
    return at != order_.end() && at->first == spelling ? at->second : 0;
  }

 private:
  using Entry = std::pair<std::string_view, uint16_t>;
  std::array<Entry, N> order_;
};

constexpr size_t kTypeCount = size_t(Type::surfref) + 1;

/// The Type of each token.
std::array<Type, std::size(kTokenSpellings)> typesOfTokens() {
  std::array<Type, std::size(kTokenSpellings)> types{};
  for (size_t i = 1; i != types.size(); ++i)
    types[i] = findType(kTokenSpellings[i]);
  return types;
}

} // namespace

std::string_view spelling(Token token) { return kTokenSpellings[size_t(token)]; }
std::string_view spelling(SpecialRegister special) { return kSpecials[size_t(special)].spelling; }
std::span<const Form> forms() { return kForms; }

const Pattern &patternOf(const Form &form) { return kPatterns[form.pattern]; }
std::span<const Slot> slotsOf(const Pattern &p) { return {kSlots + p.firstSlot, p.slotCount}; }
std::span<const Choice> choicesOf(const Slot &s) {
  return {kChoices + s.firstChoice, s.choiceCount};
}
std::span<const OperandPattern> operandsOf(const Pattern &p) {
  return {kOperands + p.firstOperand, p.operandCount};
}
std::span<const OperandPattern> nestedOf(const OperandPattern &o) {
  return {kOperands + o.firstNested, o.nestedCount};
}
std::span<const ImmediateRange> rangesOf(const OperandPattern &o) {
  return {kRanges + o.firstRange, o.rangeCount};
}
std::span<const OpcodeEntry> opcodes() { return kOpcodes; }

std::span<const uint16_t> formsOf(std::string_view opcode) {
  auto at =
      std::lower_bound(std::begin(kOpcodes), std::end(kOpcodes), opcode,
                       [](const OpcodeEntry &e, std::string_view name) { return e.opcode < name; });
  if (at == std::end(kOpcodes) || at->opcode != opcode)
    return {};
  return {kOpcodeForms + at->first, at->count};
}

Token findToken(std::string_view name) {
  static const NameIndex<std::size(kTokenSpellings)> index(
      [](size_t i) { return kTokenSpellings[i]; });
  return Token(index.find(name));
}

Type findType(std::string_view name) {
  static const NameIndex<kTypeCount> index([](size_t i) { return spelling(Type(i)); });
  return Type(index.find(name));
}

SpecialRegister findSpecialRegister(std::string_view name) {
  static const NameIndex<std::size(kSpecials)> index(
      [](size_t i) { return kSpecials[i].spelling; });
  return SpecialRegister(index.find(name));
}

Type typeOf(Token token) {
  static const auto types = typesOfTokens();
  return types[size_t(token)];
}

Type typeOf(SpecialRegister special) { return kSpecials[size_t(special)].type; }
unsigned componentsOf(SpecialRegister special) { return kSpecials[size_t(special)].components; }

namespace {

/// Family-specific targets: members of a family share features from its first member on (PTX
/// ISA 11.1.2). sm_101 was renamed to sm_110 and is no member of sm_100's family.
bool isSameFamily(unsigned first, unsigned sm) {
  const unsigned firstFamily = first == 101 ? 11 : first / 10, family = sm == 101 ? 11 : sm / 10;
  return firstFamily == family && (sm >= first || (first == 110 && sm == 101));
}

bool allows(TargetAlternative wanted, const Target &target) {
  switch (wanted.suffix) {
  case 'a':
    return target.sm == wanted.sm && target.suffix == 'a';
  case 'f':
    return isSameFamily(wanted.sm, target.sm) && target.suffix != 0;
  default:
    return target.sm >= wanted.sm;
  }
}

} // namespace

bool allows(TargetRule rule, const Target &target) {
  if (rule.count == 0)
    return true;
  return std::any_of(kTargets + rule.first, kTargets + rule.first + rule.count,
                     [&](TargetAlternative a) { return allows(a, target); });
}

std::string describe(TargetRule rule) {
  std::string text;
  for (unsigned i = 0; i != rule.count; ++i) {
    const TargetAlternative a = kTargets[rule.first + i];
    text += (i == 0 ? "sm_" : i + 1 == rule.count ? " or sm_" : ", sm_") + std::to_string(a.sm);
    text += a.suffix == 'a'   ? "a"
            : a.suffix == 'f' ? "f (or higher in the same family)"
                              : " or higher";
  }
  return text;
}

std::string targetText(const Form &form) { return describe(patternOf(form).rule); }

bool isAvailable(SpecialRegister special, const Target &target, std::string *why) {
  if (special == SpecialRegister::none)
    return false;
  const SpecialRule &rule = kSpecialRules[size_t(special) - 1];
  const bool isOldEnough = target.version >= rule.since, isOnTarget = allows(rule.rule, target);
  if (why && !isOldEnough)
    *why = "needs PTX ISA " + std::to_string(rule.since / 10) + "." +
           std::to_string(rule.since % 10) + " or later";
  else if (why && !isOnTarget)
    *why = "needs " + describe(rule.rule);
  return isOldEnough && isOnTarget;
}

} // namespace ptxrun::isa
