#include "translate/isa/coverage.h"

#include <algorithm>
#include <map>

#include "translate/isa/candidates.h"
#include "translate/isa/pattern.h"

namespace ptxrun::isa {
namespace {

/// The table that ships, line by line.
constexpr std::string_view kTable[] = {
#include "isa_coverage.inc"
    "",
};

constexpr std::string_view kStageNames[] = {"unseen", "checked", "lowered", "executed", "tested"};

bool readStage(std::string_view name, Stage &stage) {
  const auto found = std::ranges::find(kStageNames, name);
  stage = Stage(found - std::begin(kStageNames));
  return found != std::end(kStageNames);
}

void raise(Stage &stage, Stage to) { stage = std::max(stage, to); }

const std::map<std::string, const Form *, std::less<>> &formsByName() {
  static const auto all = [] {
    std::map<std::string, const Form *, std::less<>> found;
    for (const Form &form : forms())
      found.emplace(nameOf(form), &form);
    return found;
  }();
  return all;
}

/// Cuts off what stands before `separator`; all of it where there is none.
std::string_view takeUntil(std::string_view &text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

/// Modifiers that leave no choice tell nothing.
bool isChosen(const Slot &slot) { return slot.choiceCount > 1 || slot.isOptional; }

/// What an instruction's modifiers, written together, say of their sets.
bool raiseModifiers(Coverage &coverage, std::string_view modifiers, Stage stage) {
  const std::string text = std::string(coverage.form->opcode) + std::string(modifiers);
  const Spelling spelled = splitOpcode(text);
  std::vector<Token> tokens;
  for (const Spelling::Modifier &m : spelled.modifiers)
    tokens.push_back(m.token);
  const Pattern &pattern = patternOf(*coverage.form);
  Assignment assignment;
  if (tokens.size() > Assignment::kMaxSlots || !assign(pattern, tokens, assignment))
    return false;
  auto set = coverage.modifiers.begin();
  const std::span<const Slot> slots = slotsOf(pattern);
  for (size_t i = 0; i != slots.size(); ++i) {
    if (!isChosen(slots[i]))
      continue;
    const std::string_view written =
        assignment.choice[i] ? spelling(choicesOf(slots[i])[assignment.choice[i] - 1].token)
                             : std::string_view();
    for (ModifierValue &value : set->values)
      if (value.text == written)
        raise(value.stage, stage);
    ++set;
  }
  return true;
}

bool addLine(std::vector<Coverage> &all, std::string_view line) {
  Stage stage;
  if (!readStage(takeUntil(line, '\t'), stage))
    return false;
  const auto form = formsByName().find(takeUntil(line, '\t'));
  if (form == formsByName().end())
    return false;
  Coverage &coverage = all[form->second->id];
  raise(coverage.stage, stage);
  return raiseModifiers(coverage, line, stage);
}

/// `tested 9.7.1.1 add.type d, a, b;` and, two blanks farther in, `.type tested: u16 u32`.
bool addTableLine(std::vector<Coverage> &all, Coverage *&current, std::string_view line) {
  Stage stage;
  if (!line.starts_with("  ")) {
    const bool isStage = readStage(takeUntil(line, ' '), stage);
    const auto form = formsByName().find(line);
    if (!isStage || form == formsByName().end())
      return false;
    current = &all[form->second->id];
    current->stage = stage;
    return true;
  }
  line.remove_prefix(2);
  const std::string_view name = takeUntil(line, ' ');
  if (!current || !readStage(takeUntil(line, ':'), stage))
    return false;
  const auto set = std::ranges::find(current->modifiers, name, &ModifierCoverage::name);
  if (set == current->modifiers.end())
    return false;
  while (!line.empty()) {
    line.remove_prefix(line.front() == ' ');
    const std::string_view value = takeUntil(line, ' ');
    const auto found =
        std::ranges::find(set->values, value == "-" ? "" : value, &ModifierValue::text);
    if (found == set->values.end())
      return false;
    found->stage = stage;
  }
  return true;
}

/// The sets of a form; a name that occurs again has its number behind it.
std::vector<ModifierCoverage> modifiersOf(const Form &form) {
  std::vector<ModifierCoverage> sets;
  std::map<std::string_view, unsigned> seen;
  for (const Slot &slot : slotsOf(patternOf(form))) {
    const unsigned number = ++seen[slot.name];
    if (!isChosen(slot))
      continue;
    ModifierCoverage &set = sets.emplace_back();
    set.name = "." + std::string(slot.name) + (number > 1 ? "#" + std::to_string(number) : "");
    if (slot.isOptional)
      set.values.push_back({});
    for (const Choice &choice : choicesOf(slot))
      set.values.push_back({spelling(choice.token), Stage::unseen});
  }
  return sets;
}

} // namespace

std::string_view nameOf(Stage stage) { return kStageNames[size_t(stage)]; }

std::string nameOf(const Form &form) {
  unsigned number = 1;
  for (const Form &before : forms().first(form.id))
    number += before.section == form.section && before.notation == form.notation;
  std::string name(form.section);
  name.append(" ").append(form.notation);
  return number == 1 ? name : name + " #" + std::to_string(number);
}

std::vector<Coverage> noCoverage() {
  std::vector<Coverage> all(forms().size());
  for (const Form &form : forms())
    all[form.id] = {&form, Stage::unseen, modifiersOf(form)};
  return all;
}

std::vector<Coverage> coverage() {
  std::vector<Coverage> all = noCoverage();
  Coverage *current = nullptr;
  for (const std::string_view line : kTable)
    if (!line.empty() && !line.starts_with("#"))
      addTableLine(all, current, line); // what the table no longer knows was not seen
  return all;
}

size_t addRecord(std::vector<Coverage> &all, std::string_view record) {
  size_t number = 0;
  while (!record.empty()) {
    ++number;
    if (!addLine(all, takeUntil(record, '\n')))
      return number;
  }
  return 0;
}

std::string tableText(const std::vector<Coverage> &all) {
  std::string text = "# What the tests were seen to check, lower, execute and test: "
                     "tests/coverage/README.md says how to make this file.\n";
  for (const Coverage &entry : all) {
    if (entry.stage == Stage::unseen)
      continue;
    text.append(nameOf(entry.stage)).append(" ").append(nameOf(*entry.form)).append("\n");
    for (const ModifierCoverage &set : entry.modifiers)
      for (const Stage stage : {Stage::tested, Stage::executed, Stage::lowered, Stage::checked}) {
        std::string values;
        for (const ModifierValue &value : set.values)
          if (value.stage == stage)
            values.append(" ").append(value.text.empty() ? "-" : value.text);
        if (!values.empty())
          text.append("  ")
              .append(set.name)
              .append(" ")
              .append(nameOf(stage))
              .append(":")
              .append(values + "\n");
      }
  }
  return text;
}

std::string_view familyOf(const Form &form) {
  static constexpr std::pair<std::string_view, std::string_view> kFamilies[] = {
      {"9.7.10", "9.7.10 Texture"},
      {"9.7.11", "9.7.11 Surface"},
      {"9.7.12", "9.7.12 Control flow"},
      {"9.7.13", "9.7.13 Parallel synchronization and communication"},
      {"9.7.14", "9.7.14 Warp-level matrix"},
      {"9.7.15", "9.7.15 Asynchronous warpgroup-level matrix"},
      {"9.7.16", "9.7.16 Tensor core, 5th generation"},
      {"9.7.17", "9.7.17 Stack manipulation"},
      {"9.7.18", "9.7.18 Video"},
      {"9.7.19", "9.7.19 Miscellaneous"},
      {"9.7.1", "9.7.1 Integer arithmetic"},
      {"9.7.2", "9.7.2 Extended-precision integer arithmetic"},
      {"9.7.3", "9.7.3 Floating point"},
      {"9.7.4", "9.7.4 Half precision floating point"},
      {"9.7.5", "9.7.5 Mixed precision floating point"},
      {"9.7.6", "9.7.6 Comparison and selection"},
      {"9.7.7", "9.7.7 Half precision comparison"},
      {"9.7.8", "9.7.8 Logic and shift"},
      {"9.7.9", "9.7.9 Data movement and conversion"},
  };
  for (auto &[prefix, name] : kFamilies)
    if (form.section == prefix ||
        (form.section.starts_with(prefix) && form.section[prefix.size()] == '.'))
      return name;
  return form.section;
}

} // namespace ptxrun::isa
