// Why an instruction does not match: the nearest form, and the first thing about the instruction
// that is not as it says.
#include <algorithm>

#include "translate/isa/candidates.h"
#include "translate/isa/match.h"
#include "translate/isa/pattern.h"

namespace ptxrun::isa {
namespace {

/// Levenshtein distance, for names that are nearly right.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j != row.size(); ++j)
    row[j] = j;
  for (size_t i = 0; i != a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j != b.size(); ++j) {
      const size_t substitute = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, diagonal + 1, substitute});
    }
  }
  return row.back();
}

std::string_view nearestOpcode(std::string_view name) {
  std::string_view best;
  size_t least = std::max<size_t>(2, name.size() / 3) + 1;
  for (const OpcodeEntry &entry : opcodes())
    if (size_t d = name.size() > 32 ? least : distance(name, entry.opcode); d < least)
      least = d, best = entry.opcode;
  return best;
}

std::string inQuotes(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string choices(const Slot &slot) {
  std::string text;
  for (const Choice &c : choicesOf(slot)) {
    if (text.size() > 100)
      return text + " ...";
    text += (text.empty() ? "." : ", .") + std::string(spelling(c.token));
  }
  return text;
}

class Explainer {
 public:
  Explainer(const Target &target, std::string_view text, std::span<const Argument> args)
      : target_(target), text_(text), args_(args), spelled_(splitOpcode(text)) {
    for (const Spelling::Modifier &m : spelled_.modifiers)
      tokens_.push_back(m.token);
  }

  Mismatch run() {
    auto candidates = formsOf(spelled_.opcode);
    if (candidates.empty())
      return unknownOpcode();
    if (tokens_.size() > Assignment::kMaxSlots)
      return modifier(0, &forms()[candidates[0]], "too many modifiers");
    chooseNearest(candidates);
    for (size_t i = 0; i != tokens_.size(); ++i)
      if (tokens_[i] == Token::none)
        return modifier(i, nearest_, "unknown modifier " + inQuotes("." + std::string(word(i))));
    if (!fitsModifiers_)
      return wrongModifier();
    if (!unavailable_.empty())
      return whole(Mismatch::Part::opcode, unavailable_);
    return wrongOperand();
  }

 private:
  std::string_view word(size_t i) const {
    return text_.substr(spelled_.modifiers[i].offset, spelled_.modifiers[i].length);
  }

  Mismatch unknownOpcode() {
    Mismatch m;
    m.length = uint32_t(spelled_.opcode.size());
    m.message = "unknown instruction " + inQuotes(spelled_.opcode);
    if (std::string_view near = nearestOpcode(spelled_.opcode); !near.empty())
      m.message += "; did you mean " + inQuotes(near) + "?";
    return m;
  }

  Mismatch whole(Mismatch::Part part, std::string message) {
    Mismatch m;
    m.part = part;
    m.length = uint32_t(text_.size());
    m.message = std::move(message);
    m.nearest = nearest_;
    return m;
  }

  Mismatch modifier(size_t index, const Form *form, std::string message) {
    Mismatch m;
    m.part = Mismatch::Part::modifier;
    m.offset = spelled_.modifiers[index].offset - 1; // with its dot
    m.length = spelled_.modifiers[index].length + 1;
    m.message = std::move(message);
    m.nearest = form;
    return m;
  }

  /// Orders forms by how far they take the instruction: modifiers placed, then availability, then
  /// operands that fit.
  void chooseNearest(std::span<const uint16_t> candidates) {
    long best = -1000000;
    for (uint16_t index : candidates) {
      const Form &form = forms()[index];
      const Pattern &pattern = patternOf(form);
      Assignment a;
      unsigned placed = 0;
      const bool isWhole = assign(pattern, tokens_, a, &placed);
      std::string why;
      const bool isThere = !isWhole || isAvailable(form, a, target_, &why);
      long score = long(placed) * 100 - long(slotsOf(pattern).size());
      if (isWhole)
        score += 100000 + (isThere ? 50000 : 0) + 10 * operandsThatFit(pattern, a);
      if (score > best)
        best = score, nearest_ = &form, assignment_ = a, fitsModifiers_ = isWhole,
        unavailable_ = isThere ? "" : why;
    }
  }

  long operandsThatFit(const Pattern &pattern, const Assignment &a) const {
    auto operands = operandsOf(pattern);
    long count = 0;
    for (size_t i = 0; i < operands.size() && i < args_.size(); ++i)
      count += fits(operands[i], {&pattern, &a, &target_}, args_[i]);
    size_t least = 0;
    for (const OperandPattern &o : operands)
      least += !(o.flags & kOptional);
    return 2 * count - (args_.size() < least || args_.size() > operands.size() ? 3 : 0);
  }

  Mismatch wrongModifier() {
    auto slots = slotsOf(patternOf(*nearest_));
    for (size_t i = 0; i != tokens_.size(); ++i) {
      if (wasPlaced(i, slots.size()))
        continue;
      if (const Slot *slot = openSlot(slots))
        return modifier(i, nearest_,
                        "expected " + choices(*slot) + ", found " +
                            inQuotes("." + std::string(word(i))));
      return modifier(i, nearest_, inQuotes("." + std::string(word(i))) + " cannot stand here");
    }
    if (const Slot *slot = openSlot(slots))
      return whole(Mismatch::Part::opcode, "a modifier is missing: expected " + choices(*slot));
    return whole(Mismatch::Part::opcode, "these modifiers do not go together");
  }

  bool wasPlaced(size_t token, size_t slotCount) const {
    for (size_t i = 0; i != slotCount; ++i)
      if (assignment_.choice[i] && assignment_.token[i] == token)
        return true;
    return false;
  }

  /// The first mandatory slot that got nothing.
  const Slot *openSlot(std::span<const Slot> slots) const {
    for (size_t i = 0; i != slots.size(); ++i)
      if (!assignment_.choice[i] && !slots[i].isOptional)
        return &slots[i];
    return nullptr;
  }

  Mismatch wrongOperand() {
    const Pattern &pattern = patternOf(*nearest_);
    const OperandContext context{&pattern, &assignment_, &target_};
    auto operands = operandsOf(pattern);
    size_t next = 0, mandatory = 0, possible = 0;
    for (const OperandPattern &o : operands) {
      const bool isAsked = o.conditionSlot >= 0 && assignment_.choice[o.conditionSlot];
      mandatory += !(o.flags & kOptional) || isAsked;
      possible += o.conditionSlot < 0 || isAsked;
    }
    if (args_.size() < mandatory || args_.size() > possible)
      return whole(Mismatch::Part::arguments, countMessage(mandatory, possible));
    for (const OperandPattern &o : operands) {
      Mismatch m = whole(Mismatch::Part::argument, "");
      if (next == args_.size())
        break;
      if (fits(o, context, args_[next], &m.message, &m.element)) {
        ++next;
        continue;
      }
      if ((o.flags & kOptional) && args_.size() < possible)
        continue;
      m.argument = uint32_t(next);
      return m;
    }
    for (size_t i = 0; i != args_.size(); ++i)
      if (args_[i].isJoined) {
        Mismatch m =
            whole(Mismatch::Part::argument, "a second result after '|' is not possible here");
        m.argument = uint32_t(std::min(i + 1, args_.size() - 1));
        return m;
      }
    return whole(Mismatch::Part::arguments, "the operands do not fit");
  }

  std::string countMessage(size_t least, size_t most) const {
    std::string text = "expected " + std::to_string(least);
    if (most != least)
      text += " to " + std::to_string(most);
    return text + (most == 1 ? " operand" : " operands") + ", found " +
           std::to_string(args_.size());
  }

  const Target &target_;
  std::string_view text_;
  std::span<const Argument> args_;
  Spelling spelled_;
  std::vector<Token> tokens_;
  const Form *nearest_ = nullptr;
  Assignment assignment_{};
  bool fitsModifiers_ = false;
  std::string unavailable_;
};

} // namespace

Mismatch Matcher::explain(std::string_view opcode, std::span<const Argument> arguments) const {
  return Explainer(target(), opcode, arguments).run();
}

} // namespace ptxrun::isa
