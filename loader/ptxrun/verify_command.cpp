// ptxrun verify: checks modules without running them.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

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

nlohmann::json toJson(const std::vector<check::Problem> &problems) {
  nlohmann::json list = nlohmann::json::array();
  for (const check::Problem &problem : problems)
    list.push_back({{"line", problem.line},
                    {"column", problem.column},
                    {"severity", problem.severity},
                    {"message", problem.message},
                    {"text", problem.text}});
  return list;
}

void verify(const VerifyArguments &given) {
  bool areAllOk = true;
  nlohmann::json all = nlohmann::json::array();
  for (const std::string &file : given.files) {
    check::VerifyResult result = check::verifyText(file, readText(file));
    areAllOk &= result.isOk;
    if (given.isJson)
      all.push_back({{"file", file},
                     {"ok", result.isOk},
                     {"complete", result.isComplete},
                     {"diagnostics", toJson(result.problems)}});
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
