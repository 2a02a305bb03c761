// What recorded code (CodeOptions::isRecorded) says of itself: one byte per run of
// instructions, set where a thread executes it. Lowering writes what loader/device reads.
#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "translate/check/checked_module.h"

namespace ptxrun::check {

/// For each instruction of a function the index of the one whose mark stands for it. Instructions
/// without guard share the mark of the first one behind a label or behind an instruction that may
/// not come to the next; a guarded one has its own, set where the guard holds.
inline std::vector<uint32_t> executionMarks(const Function &function) {
  std::vector<bool> isTarget(function.body.size() + 1);
  for (const Label *label : function.labels)
    isTarget[label->statement] = true;
  std::vector<uint32_t> marks;
  std::optional<uint32_t> first;
  for (uint32_t i = 0; i < function.body.size(); ++i) {
    const Instruction &in = function.body[i];
    if (isTarget[i])
      first.reset();
    if (!in.guard && !first)
      first = i;
    marks.push_back(in.guard ? i : *first);
    const isa::Effect effect = in.form ? in.form->effect : isa::Effect::control;
    if (effect != isa::Effect::lane && effect != isa::Effect::hint)
      first.reset(); // it may fault, wait for ever, or go elsewhere
  }
  return marks;
}

/// The module variable that is instruction `number`'s mark, numbered as in debug_frame.h. No
/// variable of PTX has such a name.
inline std::string executionMarkName(uint32_t number) {
  return "!executed." + std::to_string(number);
}

/// The number in such a name; none for all other names.
inline std::optional<uint32_t> executionMarkNumber(std::string_view name) {
  constexpr std::string_view kPrefix = "!executed.";
  uint32_t number = 0;
  if (!name.starts_with(kPrefix))
    return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size())
    return std::nullopt;
  return number;
}

} // namespace ptxrun::check
