// The modifier half of matching: written modifiers into the slots of one form.
//
//   name part    slots in place (`cp.async.bulk`, `mul.wide`): one after the other, right behind
//   the opcode types        in the order written, each into the next type slot that has it spaces
//   likewise, and layouts (.row .col) other words  anywhere, each into the first free slot that has
//   it
#include <cstring>
#include <vector>

#include "translate/isa/pattern.h"

namespace ptxrun::isa {
namespace {

const std::vector<bool> &spaceTokens() {
  static const auto table = [] {
    std::vector<bool> t(size_t(1) << 16, false);
    for (const char *name : {"const", "global", "local", "param", "param::entry", "param::func",
                             "shared", "shared::cta", "shared::cluster"})
      t[size_t(findToken(name))] = true;
    return t;
  }();
  return table;
}

SlotKind kindOf(Token token) {
  if (token == Token::row || token == Token::col)
    return SlotKind::layout;
  if (typeOf(token) != Type::none)
    return SlotKind::type;
  return spaceTokens()[size_t(token)] ? SlotKind::space : SlotKind::word;
}

/// Index + 1 of the token among the slot's choices, 0 where it is none of them.
unsigned choiceIn(const Slot &slot, Token token) {
  auto choices = choicesOf(slot);
  for (size_t i = 0; i != choices.size(); ++i)
    if (choices[i].token == token)
      return unsigned(i + 1);
  return 0;
}

class Assigner {
 public:
  Assigner(std::span<const Slot> slots, std::span<const Token> tokens, Assignment &out)
      : slots_(slots), tokens_(tokens), out_(out) {
    std::memset(&out_, 0, sizeof out_);
  }

  bool run(unsigned &placed) {
    size_t token = placeName();
    bool isWhole = token != kFailed;
    for (token = isWhole ? token : 0; isWhole && token != tokens_.size(); ++token)
      isWhole = place(token);
    placed = placed_;
    return isWhole && isComplete();
  }

 private:
  static constexpr size_t kFailed = size_t(-1);

  size_t placeName() {
    size_t token = 0;
    for (size_t i = 0; i != slots_.size() && slots_[i].isInPlace; ++i) {
      const unsigned choice = token < tokens_.size() ? choiceIn(slots_[i], tokens_[token]) : 0;
      if (choice)
        fill(i, choice, token++);
      else if (!slots_[i].isOptional)
        return kFailed;
    }
    return token;
  }

  bool place(size_t token) {
    const SlotKind kind = kindOf(tokens_[token]);
    if (kind == SlotKind::type)
      return placeInOrder(token, kind, nextType_);
    if (kind == SlotKind::layout)
      return placeInOrder(token, kind, nextLayout_);
    if (kind == SlotKind::space && placeInOrder(token, kind, nextSpace_))
      return true;
    return placeAnywhere(token);
  }

  bool placeInOrder(size_t token, SlotKind kind, size_t &next) {
    for (size_t i = next; i != slots_.size(); ++i) {
      if (slots_[i].kind != kind)
        continue;
      if (unsigned choice = choiceIn(slots_[i], tokens_[token])) {
        fill(i, choice, token);
        next = i + 1;
        return true;
      }
      if (!slots_[i].isOptional)
        return false;
    }
    return false;
  }

  bool placeAnywhere(size_t token) {
    for (size_t i = 0; i != slots_.size(); ++i) {
      if (out_.choice[i] || slots_[i].isInPlace ||
          (slots_[i].kind != SlotKind::word && slots_[i].kind != SlotKind::vector))
        continue;
      if (unsigned choice = choiceIn(slots_[i], tokens_[token])) {
        fill(i, choice, token);
        return true;
      }
    }
    return false;
  }

  void fill(size_t slot, unsigned choice, size_t token) {
    out_.choice[slot] = uint8_t(choice);
    out_.token[slot] = uint8_t(token);
    ++placed_;
  }

  bool isComplete() const {
    for (size_t i = 0; i != slots_.size(); ++i) {
      if (!out_.choice[i] && !slots_[i].isOptional)
        return false;
      for (size_t j = 0; slots_[i].group && j != slots_.size(); ++j)
        if (slots_[j].group == slots_[i].group && !out_.choice[i] != !out_.choice[j])
          return false;
    }
    return true;
  }

  std::span<const Slot> slots_;
  std::span<const Token> tokens_;
  Assignment &out_;
  size_t nextType_ = 0, nextSpace_ = 0, nextLayout_ = 0;
  unsigned placed_ = 0;
};

} // namespace

bool assign(const Pattern &pattern, std::span<const Token> modifiers, Assignment &out,
            unsigned *placed) {
  unsigned count = 0;
  const bool fits = Assigner(slotsOf(pattern), modifiers, out).run(count);
  if (placed)
    *placed = count;
  return fits;
}

} // namespace ptxrun::isa
