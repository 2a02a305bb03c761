// ptxrun record: starts a CUDA program as `ptxrun exec` does, and has what it does on the device
// written to a file.
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <filesystem>

#include "loader/capture/blocks.h"
#include "loader/capture/recorder.h"
#include "loader/ptxrun/commands.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/hints.h"

namespace ptxrun::command {

namespace {

struct RecordArguments {
  std::string file = "ptxrun.rec", kernel, launches, trigger, inputs = "embed", checkpoint;
};

void ask(const char *variable, const std::string &value) {
  if (!value.empty())
    setenv(variable, value.c_str(), 1);
}

/// The same of options that the variable says.
std::string ofOptions(std::string problem) {
  for (const auto &[variable, option] : {std::pair("PTXRUN_RECORD_KERNEL", "--kernel"),
                                         {"PTXRUN_RECORD_LAUNCHES", "--launches"},
                                         {"PTXRUN_RECORD_TRIGGER", "--trigger"},
                                         {"PTXRUN_RECORD_CHECKPOINT", "--checkpoint"},
                                         {"PTXRUN_RECORD_INPUTS", "--inputs"}})
    if (problem.starts_with(variable))
      problem.replace(0, std::string_view(variable).size(), option);
  return problem;
}

/// A program that never comes to the device leaves a recording without launches, not one that was
/// there before.
void begin(const std::string &file) {
  std::string problem;
  if (file.find("%p") == std::string::npos && !capture::BlockWriter().open(file, problem))
    throw UsageError("nothing can be recorded: " + problem);
}

void record(const CLI::App &command, const RecordArguments &given,
            const std::vector<std::string> &words) {
  if (words.empty())
    throw UsageError("record needs a program to start");
  if (words[0].starts_with('-'))
    throw UsageError(unknownOption(command, words[0]));
  ask("PTXRUN_RECORD", std::filesystem::absolute(given.file).string());
  ask("PTXRUN_RECORD_KERNEL", given.kernel);
  ask("PTXRUN_RECORD_LAUNCHES", given.launches);
  ask("PTXRUN_RECORD_TRIGGER", given.trigger);
  ask("PTXRUN_RECORD_CHECKPOINT", given.checkpoint);
  ask("PTXRUN_RECORD_INPUTS", given.inputs);
  capture::RecordOptions ignored;
  std::string problem;
  capture::readRecordOptions(ignored, problem);
  if (!problem.empty())
    throw UsageError(ofOptions(problem));
  begin(given.file);
  startProgram(words);
}

} // namespace

void addRecord(CLI::App &app) {
  auto *command = app.add_subcommand(
      "record", "Start a CUDA program and record its launches, for ptxrun replay");
  auto given = std::make_shared<RecordArguments>();
  command->footer(
      "ptxrun record -o run.rec -- ./program --its --options\n"
      "ptxrun replay run.rec\n\n"
      "The program's exit code is the command's. Any program under libcuda.so.1 is recorded with\n"
      "PTXRUN_RECORD=FILE (and PTXRUN_RECORD_KERNEL, _LAUNCHES, _TRIGGER, _CHECKPOINT); %p in "
      "FILE\n"
      "becomes the process's number. A program that the recorded one starts is recorded to\n"
      "FILE.NUMBER.");
  command->add_option("-o,--output", given->file, "The recording")->capture_default_str();
  command->add_option("--kernel", given->kernel,
                      "Record launches of kernels whose names match only");
  command->add_option("--launches", given->launches,
                      "Record launches A to B only, counted from 0: A-B, A-, -B");
  command->add_option("--trigger", given->trigger,
                      "Begin to record at SIGUSR1, launch:N or kernel:REGEX");
  command
      ->add_option("--inputs", given->inputs,
                   "What the host wrote: embed it, or keep large contents by their "
                   "digest in FILE.inputs (PTXRUN_INPUTS), each once; `capture pack` embeds them")
      ->check(CLI::IsMember({"embed", "digest"}))
      ->capture_default_str();
  command->add_option("--checkpoint", given->checkpoint,
                      "Launches from checkpoint to checkpoint (default: as often as costs little)");
  command->prefix_command();
  command->callback([command, given] { record(*command, *given, command->remaining()); });
}

} // namespace ptxrun::command
