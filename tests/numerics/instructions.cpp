#include "tests/numerics/instructions.h"

#include <algorithm>
#include <set>

#include "translate/isa/candidates.h"
#include "translate/isa/pattern.h"

namespace ptxrun::numerics {
namespace {

constexpr isa::Target kNewest{92, 103, 'a'};

bool isNumeric(const isa::Form &form) {
  for (const char *prefix : {"9.7.3.", "9.7.4.", "9.7.5.", "9.7.6.", "9.7.7."})
    if (form.section.starts_with(prefix))
      return true;
  return form.section == "9.7.9.21";
}

/// Formats of fewer than 16 bits, which isFloat does not count.
bool isNarrow(isa::Type type) { return type >= isa::Type::e4m3 && type <= isa::Type::s2f6x2; }

Field fieldOf(const isa::OperandPattern &operand, const isa::OperandContext &context) {
  Field field;
  unsigned low = 0, high = 0;
  isa::operandArity(operand, context, low, high);
  const isa::Type type = isa::operandType(operand, context);
  field.isPredicate = type == isa::Type::pred;
  field.bits = isa::bitWidth(type);
  field.count = std::max(1u, low);
  return field;
}

/// The instruction of one assignment; false where an operand is of a kind that is not a plain
/// value.
bool complete(const isa::Pattern &pattern, const isa::Assignment &assignment, Listed &made) {
  const isa::OperandContext context{&pattern, &assignment, &kNewest};
  bool isPartner = false, hasFloat = false;
  for (const isa::OperandPattern &operand : isa::operandsOf(pattern)) {
    const bool isJoined = isPartner;
    isPartner = operand.flags & isa::kJoined;
    if (operand.conditionSlot >= 0 && !assignment.choice[operand.conditionSlot])
      continue;
    if (operand.conditionSlot < 0 && (operand.flags & isa::kOptional) && !isJoined)
      continue;
    if (operand.kind != isa::OperandKind::value)
      return false;
    const isa::Type type = isa::operandType(operand, context);
    const Field field = fieldOf(operand, context);
    if (field.bits < 8 && !field.isPredicate)
      return false;
    hasFloat |= isa::isFloat(type) || isNarrow(type);
    const bool isResult = operand.flags & isa::kDestination;
    (isResult ? made.instruction.results : made.instruction.sources).push_back(field);
    (isResult ? made.results : made.sources).push_back(type);
  }
  return hasFloat || made.form->section == "9.7.9.21";
}

class Lister {
 public:
  explicit Lister(const isa::Form &form)
      : form_(form), pattern_(isa::patternOf(form)), slots_(isa::slotsOf(pattern_)) {}

  void list(std::vector<Listed> &all, std::set<std::string> &seen) { choose(0, all, seen); }

 private:
  void choose(size_t slot, std::vector<Listed> &all, std::set<std::string> &seen) {
    if (slot == slots_.size())
      return add(all, seen);
    const isa::Slot &one = slots_[slot];
    const auto choices = isa::choicesOf(one);
    // What is written together: as the group's first slot was.
    bool mayStay = !one.isOptional, mayFill = true;
    if (one.isOptional) {
      mayStay = true;
      for (size_t before = 0; before < slot && one.group; ++before)
        if (slots_[before].group == one.group) {
          mayFill = assignment_.choice[before] != 0;
          mayStay = !mayFill;
        }
      if (mayStay) {
        assignment_.choice[slot] = 0;
        choose(slot + 1, all, seen);
      }
    }
    const size_t count = one.name == "BoolOp" ? 1 : choices.size();
    for (size_t c = 0; c < count && mayFill; ++c) {
      assignment_.choice[slot] = static_cast<uint8_t>(c + 1);
      choose(slot + 1, all, seen);
    }
    assignment_.choice[slot] = 0;
  }

  void add(std::vector<Listed> &all, std::set<std::string> &seen) {
    if (!isa::isAvailable(form_, assignment_, kNewest, nullptr))
      return;
    Listed made;
    made.form = &form_;
    made.instruction.mnemonic = form_.opcode;
    for (size_t i = 0; i < slots_.size(); ++i)
      if (assignment_.choice[i]) {
        const isa::Token token = isa::choicesOf(slots_[i])[assignment_.choice[i] - 1].token;
        made.modifiers.push_back(token);
        made.instruction.mnemonic.append(".").append(isa::spelling(token));
      }
    if (!complete(pattern_, assignment_, made))
      return;
    if (seen.insert(made.instruction.mnemonic + "/" +
                    std::to_string(made.instruction.sources.size()))
            .second)
      all.push_back(std::move(made));
  }

  const isa::Form &form_;
  const isa::Pattern &pattern_;
  std::span<const isa::Slot> slots_;
  isa::Assignment assignment_{};
};

} // namespace

bool Listed::has(isa::Token token) const {
  return std::find(modifiers.begin(), modifiers.end(), token) != modifiers.end();
}

std::vector<Listed> floatInstructions() {
  std::vector<Listed> all;
  std::set<std::string> seen;
  for (const isa::Form &form : isa::forms())
    if (isNumeric(form) && form.effect == isa::Effect::lane && isa::patternOf(form).until == 0)
      Lister(form).list(all, seen);
  return all;
}

} // namespace ptxrun::numerics
