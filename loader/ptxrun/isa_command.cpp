// ptxrun isa: what of PTX is parsed, executed and tested, from the instruction table.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "loader/ptxrun/commands.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/numerics.h"
#include "translate/isa/coverage.h"

namespace ptxrun::command {
namespace {

struct IsaArguments {
  bool isJson = false, showsForms = false, showsNumerics = false, showsTable = false;
  std::string instruction;
  std::vector<std::string> records;
};

/// 78 as "7.8".
std::string versionText(uint32_t version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

struct Count {
  std::string_view family;
  unsigned forms = 0, checked = 0, executed = 0, tested = 0, values = 0, valuesTested = 0;

  void add(const isa::Coverage &entry) {
    ++forms;
    checked += entry.stage >= isa::Stage::checked;
    executed += entry.isExecuted();
    tested += entry.isTested();
    for (const isa::ModifierCoverage &set : entry.modifiers)
      for (const isa::ModifierValue &value : set.values) {
        ++values;
        valuesTested += value.stage == isa::Stage::tested;
      }
  }
};

void printFamilies(const std::vector<isa::Coverage> &all) {
  std::vector<Count> families;
  Count total{"total"};
  for (const isa::Coverage &entry : all) {
    std::string_view family = isa::familyOf(*entry.form);
    if (families.empty() || families.back().family != family)
      families.push_back({family});
    families.back().add(entry);
    total.add(entry);
  }
  families.push_back(total);
  std::printf("%-58s %6s %7s %9s %7s %17s\n", "family", "forms", "parsed", "executed", "tested",
              "modifiers tested");
  for (const Count &count : families)
    std::printf("%-58.*s %6u %7u %9u %7u %8u of %5u\n", static_cast<int>(count.family.size()),
                count.family.data(), count.forms, count.checked, count.executed, count.tested,
                count.valuesTested, count.values);
}

void printForms(const std::vector<isa::Coverage> &all) {
  for (const isa::Coverage &entry : all)
    std::printf("%-10.*s %-4s %c%c  %.*s\n", static_cast<int>(entry.form->section.size()),
                entry.form->section.data(), versionText(entry.form->since).c_str(),
                entry.isExecuted() ? 'x' : '-', entry.isTested() ? 't' : '-',
                static_cast<int>(entry.form->notation.size()), entry.form->notation.data());
}

/// The values of one set that a test executed, or those that none did; null: nothing written.
nlohmann::ordered_json valuesOf(const isa::ModifierCoverage &set, bool areTested) {
  nlohmann::ordered_json values = nlohmann::ordered_json::array();
  for (const isa::ModifierValue &value : set.values)
    if ((value.stage == isa::Stage::tested) == areTested)
      values.push_back(value.text.empty() ? nlohmann::ordered_json()
                                          : nlohmann::ordered_json("." + std::string(value.text)));
  return values;
}

nlohmann::ordered_json modifiersOf(const isa::Coverage &entry) {
  nlohmann::ordered_json sets = nlohmann::ordered_json::array();
  for (const isa::ModifierCoverage &set : entry.modifiers)
    sets.push_back(
        {{"set", set.name}, {"tested", valuesOf(set, true)}, {"untested", valuesOf(set, false)}});
  return sets;
}

void printJson(const std::vector<isa::Coverage> &all) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const isa::Coverage &entry : all)
    list.push_back({{"instruction", entry.form->instruction},
                    {"form", entry.form->notation},
                    {"section", entry.form->section},
                    {"since", versionText(entry.form->since)},
                    {"executed", entry.isExecuted()},
                    {"tested", entry.isTested()},
                    {"stage", isa::nameOf(entry.stage)},
                    {"modifiersTested", modifiersOf(entry)}});
  std::printf("%s\n", list.dump(2).c_str());
}

/// What the records say, all together.
std::vector<isa::Coverage> readRecords(const std::vector<std::string> &files) {
  std::vector<isa::Coverage> all = isa::noCoverage();
  for (const std::string &name : files) {
    std::ifstream file(name);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file)
      throw UsageError(name + ": cannot be read");
    if (const size_t line = isa::addRecord(all, text))
      throw UsageError(name + ":" + std::to_string(line) +
                       ": no stage and form of the instruction table");
  }
  return all;
}

void printIsa(const IsaArguments &given) {
  std::vector<isa::Coverage> all =
      given.records.empty() ? isa::coverage() : readRecords(given.records);
  if (given.showsTable) {
    std::fputs(isa::tableText(all).c_str(), stdout);
    return;
  }
  if (!given.instruction.empty())
    std::erase_if(all, [&](const isa::Coverage &entry) {
      return entry.form->instruction != given.instruction &&
             entry.form->opcode != given.instruction;
    });
  if (given.showsNumerics)
    printNumerics(all, given.isJson);
  else if (given.isJson)
    printJson(all);
  else if (given.showsForms || !given.instruction.empty())
    printForms(all);
  else
    printFamilies(all);
}

} // namespace

void addIsa(CLI::App &app) {
  auto *command =
      app.add_subcommand("isa", "Print which instruction forms of PTX are executed and tested");
  auto given = std::make_shared<IsaArguments>();
  command->footer("Counts by family; with --forms or an instruction's name one line per form:\n"
                  "section, PTX version, x (executed) t (tested), notation.");
  command->add_option("INSTRUCTION", given->instruction, "Only this one, for example cvt");
  command->add_flag("--forms", given->showsForms, "One line per form");
  command->add_flag(
      "--numerics", given->showsNumerics,
      "How exact results are: errors that were measured, how matrix instructions sum");
  command->add_option("--record", given->records,
                      "Figures of these runs of tests, together, in place of those that ship\n"
                      "(tests/coverage)");
  command->add_flag("--table", given->showsTable, "All figures as translate/isa/coverage.txt");
  command->add_flag("--json", given->isJson, "For tools: an array with one object per form");
  command->callback([given] { printIsa(*given); });
}

} // namespace ptxrun::command
