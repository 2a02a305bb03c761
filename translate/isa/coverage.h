// How far each form of the table, and each value of its modifiers, has come: the figures of
// `ptxrun isa`. They are observed: code that records (loader/device/form_record.h) ran under tests.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "translate/isa/table.h"

namespace ptxrun::isa {

/// Each includes those before it.
enum class Stage : uint8_t {
  unseen,
  checked,  ///< in a module that was accepted
  lowered,  ///< in the code of a kernel, or of a function that it may call
  executed, ///< by some thread, past its guard
  tested,   ///< executed by a test that compared results and passed
};
/// "unseen", "checked" ...
std::string_view nameOf(Stage);

struct ModifierValue {
  std::string_view text; ///< "u32"; empty: nothing was written, where that is allowed
  Stage stage = Stage::unseen;
};
/// A set of modifiers, or one that may be left out.
struct ModifierCoverage {
  std::string name; ///< ".type"; a second one of the form with this name: ".type#2"
  std::vector<ModifierValue> values;
};

struct Coverage {
  const Form *form = nullptr;
  Stage stage = Stage::unseen;
  std::vector<ModifierCoverage> modifiers; ///< those that leave a choice, in the form's order

  bool isExecuted() const { return stage >= Stage::executed; }
  bool isTested() const { return stage == Stage::tested; }
};

/// One entry per form, in the table's order: what the last full run of the tests showed
/// (coverage.txt).
std::vector<Coverage> coverage();
/// The same, nothing seen.
std::vector<Coverage> noCoverage();
/// Adds what a record says: lines of stage, nameOf(Form) and modifiers, with tabs between them. 0,
/// or the number of the first line (from 1) that names no form of the table.
size_t addRecord(std::vector<Coverage> &, std::string_view record);
/// The contents of coverage.txt for these figures.
std::string tableText(const std::vector<Coverage> &);

/// "9.7.1.1 add.type d, a, b;": where forms of a section are written alike, with " #2" for the
/// second.
std::string nameOf(const Form &);

/// The family that `ptxrun isa` groups a form under: "9.7.13 Parallel synchronization and
/// communication".
std::string_view familyOf(const Form &);

} // namespace ptxrun::isa
