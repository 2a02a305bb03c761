// ptxrun verify: checks modules without running them.
#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "loader/ptxrun/commands.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/module_file.h"
#include "translate/check/verify.h"

namespace ptxrun::command {
namespace {

struct VerifyArguments {
  std::vector<std::string> files;
  bool isJson = false;
};

std::string_view takeLine(std::string_view &text) {
  size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// Reads a number and the ':' after it.
bool takeNumber(std::string_view &text, uint32_t &number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + text.size() || *end != ':')
    return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return true;
}

/// The diagnostics' text taken apart again: `file:line:column: severity: message`, then context
/// lines up to the next one.
nlohmann::json toJson(const std::string &file, std::string_view text) {
  nlohmann::json list = nlohmann::json::array();
  while (!text.empty()) {
    std::string_view line = takeLine(text), rest = line;
    uint32_t number = 0, column = 0;
    bool isHead = rest.starts_with(file + ":");
    if (isHead)
      rest.remove_prefix(file.size() + 1);
    isHead = isHead && takeNumber(rest, number) && takeNumber(rest, column);
    size_t colon = rest.find(": ", 1);
    if (isHead && colon != std::string_view::npos) {
      std::string severity(rest.substr(1, colon - 1)), message(rest.substr(colon + 2));
      list.push_back({{"line", number},
                      {"column", column},
                      {"severity", severity},
                      {"message", message},
                      {"text", std::string(line) + "\n"}});
    } else if (!list.empty()) {
      list.back()["text"] = list.back()["text"].get<std::string>() + std::string(line) + "\n";
    }
  }
  return list;
}

void verify(const VerifyArguments &given) {
  bool areAllOk = true;
  nlohmann::json all = nlohmann::json::array();
  for (const std::string &file : given.files) {
    check::VerifyResult result = check::verifyText(file, readText(file));
    areAllOk &= result.isOk;
    if (given.isJson)
      all.push_back(
          {{"file", file}, {"ok", result.isOk}, {"diagnostics", toJson(file, result.diagnostics)}});
    else if (result.isOk)
      std::printf("%s%s: ok\n", result.diagnostics.c_str(), file.c_str());
    else
      std::printf("%s%s", result.diagnostics.c_str(),
                  result.diagnostics.ends_with('\n') ? "" : "\n");
  }
  if (given.isJson)
    std::printf("%s\n", all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  if (!areAllOk)
    throw Failed("");
}

} // namespace

void addVerify(CLI::App &app) {
  auto *command = app.add_subcommand("verify", "Check PTX files without running them");
  auto given = std::make_shared<VerifyArguments>();
  command->footer(
      "For each file a line 'FILE: ok', or its diagnostics, all of them in one pass. Unresolved "
      "externals are no error.\n"
      "Exit code 0 if every file is accepted, 1 if any is rejected, 2 for a wrong command line.");
  command->add_option("FILE", given->files, "PTX files ('-': standard input)")->required();
  command->add_flag("--json", given->isJson, "For tools: an array with one object per file");
  command->callback([given] { verify(*given); });
}

} // namespace ptxrun::command
