// What the matcher keeps about one opcode text. Internal to the isa library.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "translate/isa/bind.h"
#include "translate/isa/match.h"
#include "translate/isa/pattern.h"

namespace ptxrun::isa {

/// "add.rn.f32" taken apart.
struct Spelling {
  struct Modifier {
    Token token;             ///< none: no form uses it
    uint32_t offset, length; ///< in the text, without the dot
  };
  std::string_view opcode;
  std::vector<Modifier> modifiers;
};
Spelling splitOpcode(std::string_view text);

/// One form whose slots take the modifiers, under the module's version and target.
struct Candidate {
  const Form *form = nullptr;
  const Pattern *pattern = nullptr;
  Assignment assignment;
  std::vector<Token> modifiers;
  std::vector<Type> types;
  mutable std::vector<QuickOperand> operands; ///< found when the form is first tried
  uint8_t vector = 1;
};

struct Matcher::Candidates {
  std::vector<Candidate> list;
};

/// Version and target rules of the form and of every modifier that was chosen.
bool isAvailable(const Form &, const Assignment &, const Target &, std::string *why);

} // namespace ptxrun::isa
