// ptxrun doctor: what this machine offers, and what keeps programs from running as they could.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "loader/image/contents.h"
#include "loader/machine/device_info.h"
#include "loader/ptxrun/doctor.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/inspect_program.h"

namespace ptxrun::command {

namespace {

namespace fs = std::filesystem;

struct DoctorArguments {
  std::string program;
  bool isJson = false;
};

/// What the program itself needs and how it is started, by the words of `inspect`.
void examineProgram(Diagnosis &diagnosis, const std::string &file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream || fs::is_directory(file))
    throw UsageError("cannot read " + file);
  const std::string all{std::istreambuf_iterator<char>(stream), {}};
  const image::Target target{static_cast<unsigned>(machine::deviceInfo().architecture())};
  image::Contents contents;
  if (const device::Outcome outcome =
          image::readContents(std::as_bytes(std::span(all)), target, contents);
      !outcome.isOk())
    throw UsageError(file + ": " + outcome.message);
  const HowToRun how = howToRun(file, contents, target);
  const bool isProgram = contents.kind == image::FileKind::executable;
  diagnosis.know("program", file + ": " + how.sentence,
                 {{"file", file}, {"runs", how.isPossible}, {"howToRun", how.sentence}});
  if (!how.isPossible && !(isProgram && contents.fatBinaries.empty()))
    diagnosis.find("program", file + " cannot run: " + how.sentence,
                   "ptxrun inspect " + file + " tells more");
  else if (isProgram && contents.runtime == image::Runtime::linkedIn)
    diagnosis.notes.push_back(file +
                              " has NVIDIA's static runtime inside: start it by ptxrun exec");
}

Diagnosis diagnose(const DoctorArguments &given) {
  Diagnosis diagnosis;
  diagnosis.know("version", "ptxrun " PTXRUN_VERSION " (PTX ISA up to 9.2)",
                 {{"ptxrun", PTXRUN_VERSION}, {"ptx", "9.2"}});
  for (const auto examine : {examineProcessor, examineThreads, examineMemory, examineCache,
                             examineSystem, examineSettings, examineLibraries})
    examine(diagnosis);
  if (!given.program.empty())
    examineProgram(diagnosis, given.program);
  return diagnosis;
}

void print(const Diagnosis &diagnosis) {
  for (const Fact &fact : diagnosis.facts)
    std::printf("%-12s %s\n", fact.name.c_str(), fact.text.c_str());
  for (const std::string &note : diagnosis.notes)
    std::printf("note: %s\n", note.c_str());
  for (const Problem &problem : diagnosis.problems)
    std::printf("problem: %s\n    -> %s\n", problem.text.c_str(), problem.advice.c_str());
  if (diagnosis.problems.empty())
    std::printf("no problem was found\n");
}

void printJson(const Diagnosis &diagnosis) {
  nlohmann::ordered_json all;
  for (const Fact &fact : diagnosis.facts)
    all["facts"][fact.name] = fact.value;
  all["notes"] = diagnosis.notes;
  all["problems"] = nlohmann::ordered_json::array();
  for (const Problem &problem : diagnosis.problems)
    all["problems"].push_back(
        {{"id", problem.id}, {"text", problem.text}, {"advice", problem.advice}});
  // What the environment says need not be text.
  std::printf("%s\n",
              all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

} // namespace

void addDoctor(CLI::App &app) {
  auto *command = app.add_subcommand(
      "doctor", "Say what this machine offers, and find what keeps programs from it");
  auto given = std::make_shared<DoctorArguments>();
  command->footer(
      "Processor, threads, memory, code cache, kernel, the variables that are set, and which "
      "libraries a\n"
      "program would find. Exit code 1 where a problem was found; each comes with what to do.");
  command->add_option("PROGRAM", given->program, "Also look into this program");
  command->add_flag("--json", given->isJson, "For tools");
  command->callback([given] {
    const Diagnosis diagnosis = diagnose(*given);
    given->isJson ? printJson(diagnosis) : print(diagnosis);
    if (!diagnosis.problems.empty())
      throw Failed("");
  });
}

} // namespace ptxrun::command
