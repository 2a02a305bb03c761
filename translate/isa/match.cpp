// The Matcher: candidates per opcode text, found once and kept, then operands per instruction.
#include "translate/isa/match.h"

#include <array>
#include <deque>
#include <unordered_map>
#include <vector>

#include "translate/isa/candidates.h"
#include "translate/isa/pattern.h"

namespace ptxrun::isa {

Spelling splitOpcode(std::string_view text) {
  Spelling s;
  size_t begin = 0;
  for (bool isFirst = true; begin <= text.size(); isFirst = false) {
    const size_t end = std::min(text.find('.', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (isFirst)
      s.opcode = word;
    else
      s.modifiers.push_back({findToken(word), uint32_t(begin), uint32_t(end - begin)});
    begin = end + 1;
  }
  return s;
}

namespace {

bool isGlobalOrGeneric(const Pattern &pattern, const Assignment &assignment) {
  auto slots = slotsOf(pattern);
  for (size_t i = 0; i != slots.size(); ++i)
    if (slots[i].kind == SlotKind::space && assignment.choice[i])
      return choicesOf(slots[i])[assignment.choice[i] - 1].token == Token::global;
  return true;
}

/// Vectors of memory instructions: 128 bits at most; 256 as .v8 of 32 or .v4 of 64 bits from
/// PTX 8.8 and sm_100 on.
bool isVectorPossible(const Pattern &pattern, const Assignment &assignment, const Target &target,
                      bool isWideAsked, std::string *why) {
  auto slots = slotsOf(pattern);
  unsigned count = 1, width = 0;
  for (size_t i = 0; i != slots.size(); ++i) {
    if (!assignment.choice[i])
      continue;
    const Token token = choicesOf(slots[i])[assignment.choice[i] - 1].token;
    if (slots[i].kind == SlotKind::vector)
      count = unsigned(spelling(token)[1] - '0');
    if (slots[i].kind == SlotKind::type && !width)
      width = bitWidth(typeOf(token));
  }
  const unsigned total = count * width;
  const bool isWide = total == 256 && (width == 32 || width == 64);
  if ((count == 1 || total <= 128) && !isWideAsked)
    return true;
  if (pattern.isWide && isWide && target.version >= 88 && target.sm >= 100)
    return true;
  if (why)
    *why = !pattern.isWide || (!isWide && !isWideAsked)
               ? "a vector of more than 128 bits is not possible here"
           : isWide ? "256-bit vectors need PTX ISA 8.8 or later and sm_100 or higher"
                    : "an L2 eviction priority needs a 256-bit vector: .v8 of 32 or .v4 of 64 bits";
  return false;
}

} // namespace

bool isAvailable(const Form &form, const Assignment &assignment, const Target &target,
                 std::string *why) {
  const Pattern &pattern = patternOf(form);
  auto needs = [&](unsigned since, TargetRule rule, const std::string &what) {
    const bool isOldEnough = target.version >= since, isOnTarget = allows(rule, target);
    if (why && !isOldEnough)
      *why = what + " needs PTX ISA " + std::to_string(since / 10) + "." +
             std::to_string(since % 10) + " or later";
    else if (why && !isOnTarget)
      *why = what + " needs " + describe(rule);
    return isOldEnough && isOnTarget;
  };
  if (!needs(form.since, pattern.rule, "this form"))
    return false;
  if (pattern.until && target.version > pattern.until &&
      (!pattern.ceiling || target.sm >= pattern.ceiling)) {
    if (why)
      *why = "this form was removed after PTX ISA " + std::to_string(pattern.until / 10) + "." +
             std::to_string(pattern.until % 10);
    return false;
  }
  auto slots = slotsOf(pattern);
  bool isWideAsked = false;
  for (size_t i = 0; i != slots.size(); ++i)
    if (assignment.choice[i]) {
      const Choice &choice = choicesOf(slots[i])[assignment.choice[i] - 1];
      isWideAsked |= choice.isWide;
      if (choice.isGlobal && !isGlobalOrGeneric(pattern, assignment)) {
        if (why)
          *why = "'." + std::string(spelling(choice.token)) +
                 "' is possible with .global and generic addresses only";
        return false;
      }
      if (!needs(choice.since, choice.rule, "'." + std::string(spelling(choice.token)) + "'"))
        return false;
    }
  return isVectorPossible(pattern, assignment, target, isWideAsked, why);
}

struct Matcher::State {
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  Target target;
  std::unordered_map<std::string, std::unique_ptr<Candidates>, Hash, std::equal_to<>> known;
};

Matcher::Matcher(Target target) : state_(std::make_unique<State>()) { state_->target = target; }
Matcher::~Matcher() = default;
const Target &Matcher::target() const { return state_->target; }

namespace {

/// What handlers will read: tokens and types in the form's order, the vector arity.
void fillIn(Candidate &c) {
  auto slots = slotsOf(*c.pattern);
  for (size_t i = 0; i != slots.size(); ++i) {
    if (!c.assignment.choice[i])
      continue;
    const Token token = choicesOf(slots[i])[c.assignment.choice[i] - 1].token;
    c.modifiers.push_back(token);
    if (slots[i].kind == SlotKind::type)
      c.types.push_back(typeOf(token));
    if (slots[i].kind == SlotKind::vector)
      c.vector = uint8_t(spelling(token)[1] - '0');
  }
}

} // namespace

const Matcher::Candidates &Matcher::resolve(std::string_view opcode) {
  auto known = state_->known.find(opcode);
  if (known != state_->known.end())
    return *known->second;
  auto found = std::make_unique<Candidates>();
  const Spelling spelled = splitOpcode(opcode);
  std::vector<Token> tokens;
  bool isKnown = spelled.modifiers.size() <= Assignment::kMaxSlots;
  for (const Spelling::Modifier &m : spelled.modifiers) {
    isKnown &= m.token != Token::none;
    tokens.push_back(m.token);
  }
  for (uint16_t index : isKnown ? formsOf(spelled.opcode) : std::span<const uint16_t>()) {
    Candidate c;
    c.form = &forms()[index];
    c.pattern = &patternOf(*c.form);
    if (!assign(*c.pattern, tokens, c.assignment) ||
        !isAvailable(*c.form, c.assignment, state_->target, nullptr))
      continue;
    fillIn(c);
    found->list.push_back(std::move(c));
  }
  return *state_->known.emplace(std::string(opcode), std::move(found)).first->second;
}

bool Matcher::match(const Candidates &candidates, std::span<const Argument> arguments,
                    Match &out) const {
  if (arguments.size() > Match::kMaxOperands)
    return false;
  for (const Candidate &c : candidates.list) {
    const OperandContext context{c.pattern, &c.assignment, &state_->target};
    if (c.operands.empty() && c.pattern->operandCount)
      c.operands = quickOperands(context);
    if (!bindOperands(context, c.operands, arguments, out.operands))
      continue;
    out.form = c.form;
    out.modifiers = c.modifiers;
    out.types = c.types;
    out.vector = c.vector;
    out.operandCount = uint8_t(c.pattern->operandCount);
    return true;
  }
  return false;
}

} // namespace ptxrun::isa
