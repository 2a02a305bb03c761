// The table of commands, and reading them.
#include "loader/ptxrun/debug_console.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/suggest.h"

namespace ptxrun::command {

using debug::DebugError;

const Console::Command Console::kCommands[] = {
    {"run r", "", "from the beginning of the first launch to the first stop", &Console::runCommand},
    {"continue c", "", "on to the next breakpoint or watchpoint of any thread",
     &Console::continueOn, true},
    {"step s", "[N]", "to the next line of the focus thread, into calls", &Console::step, true},
    {"next n", "[N]", "to the next line of the focus thread, over calls", &Console::next, true},
    {"stepi si", "[N]", "one PTX instruction of the focus thread", &Console::stepi, true},
    {"nexti ni", "[N]", "one PTX instruction, over calls", &Console::nexti, true},
    {"finish fin", "", "until the selected function returns", &Console::finish, true},
    {"reverse-continue rc", "", "back to the last breakpoint or change of a watchpoint before",
     &Console::reverseContinue, true},
    {"reverse-step rs", "[N]", "back to the beginning of the line before, into calls",
     &Console::reverseStep, true},
    {"reverse-next rn", "[N]", "back to the beginning of the line before, over calls",
     &Console::reverseNext, true},
    {"reverse-stepi rsi", "[N]", "back by one PTX instruction of the focus thread",
     &Console::reverseStepi, true},
    {"reverse-nexti rni", "[N]", "back by one PTX instruction, over calls", &Console::reverseNexti,
     true},
    {"reverse-finish", "", "back to the call of the function", &Console::reverseFinish, true},
    {"last-write lw", "ADDRESS|VARIABLE",
     "back to the instruction that wrote there last; again: to the one before", &Console::lastWrite,
     true},
    {"goto-time", "TIME", "to a time that `info time` has shown", &Console::goTo},
    {"break b br", "[FILE:LINE | LINE | FUNCTION] [if EXPRESSION]",
     "stop there; a LINE alone is one of the PTX; nothing: here", &Console::breakAt},
    {"tbreak tb", "[FILE:LINE | LINE | FUNCTION] [if EXPRESSION]", "stop there once",
     &Console::tbreak},
    {"watch", "ADDRESS|EXPRESSION",
     "stop where this variable, register or memory (global or shared) changes", &Console::watch},
    {"delete d", "[NUMBER...]", "delete breakpoints and watchpoints, or all",
     &Console::deletePoint},
    {"enable", "[NUMBER...]", "let breakpoints stop again", &Console::enable},
    {"disable", "[NUMBER...]", "keep breakpoints from stopping", &Console::disable},
    {"condition", "NUMBER [EXPRESSION]", "stop there only where the expression holds",
     &Console::condition},
    {"print p inspect", "[/FORMAT] EXPRESSION",
     "a value; formats x d u o t a c f; registers are %r5 or $r5, times p@8, (@shared float *) 16",
     &Console::print},
    {"x", "[/COUNT FORMAT SIZE] ADDRESS", "memory; sizes b h w g; x/3i: instructions",
     &Console::examine, true},
    {"display", "[EXPRESSION]", "show it at every stop", &Console::display},
    {"undisplay", "[NUMBER]", "show it no more", &Console::undisplay},
    {"ptype whatis", "EXPRESSION", "its type", &Console::ptype},
    {"backtrace bt where", "", "the calls of the focus thread", &Console::backtrace},
    {"frame f", "[NUMBER]", "select a call of the backtrace", &Console::frame},
    {"up", "[N]", "select the caller", &Console::up},
    {"down", "[N]", "select the called", &Console::down},
    {"list l", "[FILE:LINE | LINE | FUNCTION | -]",
     "source lines, or those of the PTX; a LINE alone is one of the file shown", &Console::list,
     true},
    {"info i", "WHAT",
     "breakpoints, registers [NAME...], locals, args, display, frame, functions, launches, source, "
     "time, cuda threads|warps|blocks|barriers|kernels",
     &Console::info},
    {"cuda", "[kernel N] [block (X,Y,Z)] [thread (X,Y,Z)]",
     "look at another thread; alone: which one it is", &Console::cuda},
    {"source", "FILE", "commands from a file", &Console::source},
    {"help h", "[COMMAND]", "this, or more of one command", &Console::help},
    {"quit q exit", "", "end", &Console::quit},
};

namespace {

std::vector<std::string> wordsOf(const std::string &text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

std::string trimmedLine(const std::string &line) {
  const size_t first = line.find_first_not_of(" \t\r");
  return first == std::string::npos
             ? ""
             : line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

} // namespace

Console::Console(debug::Program &program, ConsoleOptions options)
    : session_(program, options.spacing), options_(std::move(options)) {}

bool Console::run() {
  bool isGood = true;
  for (const std::string &file : options_.scripts) {
    std::ifstream stream(file);
    if (!stream)
      throw UsageError("-x: cannot read " + file);
    isGood = readAll(stream, true);
    if (isQuitting_ || (!isGood && options_.isBatch))
      return isGood;
  }
  for (const std::string &line : options_.commands) {
    isGood = perform(line) != Result::error && isGood;
    if (isQuitting_ || (!isGood && options_.isBatch))
      return isGood;
  }
  if (options_.isBatch && !(options_.scripts.empty() && options_.commands.empty()))
    return isGood;
  const bool isTerminal = isatty(0) != 0;
  const bool isWell = readAll(std::cin, !isTerminal);
  return !options_.isBatch || isWell;
}

/// Echoed: the input is no terminal, and who reads the output wants to see what was asked.
bool Console::readAll(std::istream &stream, bool isEchoed) {
  for (;;) {
    if (!isEchoed) {
      std::printf("(ptxrun) ");
      std::fflush(stdout);
    }
    std::string line;
    if (!std::getline(stream, line)) {
      if (!isEchoed)
        std::printf("\n");
      return true;
    }
    line = trimmedLine(line);
    if (isEchoed && (line.empty() || line[0] == '#'))
      continue;
    if (isEchoed)
      std::printf("(ptxrun) %s\n", line.c_str());
    if (line.empty())
      line = last_;
    const Result result = perform(line);
    std::fflush(stdout);
    if (result == Result::quit)
      return true;
    if (result == Result::error && options_.isBatch)
      return false;
  }
}

/// By its name, another way to write it, or a beginning that only one command has.
const Console::Command *Console::findCommand(const std::string &word, std::string &problem) const {
  std::vector<const Command *> begins;
  std::vector<std::string> all;
  for (const Command &command : kCommands)
    for (const std::string &name : wordsOf(command.names)) {
      if (name == word)
        return &command;
      all.push_back(name);
      if (name.starts_with(word) && std::ranges::find(begins, &command) == begins.end())
        begins.push_back(&command);
    }
  if (begins.size() == 1)
    return begins[0];
  if (begins.size() > 1) {
    problem = "ambiguous command '" + word + "':";
    for (const Command *command : begins)
      problem += (command == begins[0] ? " " : ", ") + wordsOf(command->names)[0];
    return nullptr;
  }
  const std::string near = nearestName(word, all);
  problem = "there is no command '" + word + "'" +
            (near.empty() ? "; try `help`" : "; did you mean '" + near + "'?");
  return nullptr;
}

Console::Result Console::perform(const std::string &line) {
  size_t end = 0;
  while (end < line.size() &&
         (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '-'))
    ++end;
  const std::string word = line.substr(0, end);
  if (line.empty())
    return Result::good;
  std::string problem;
  const Command *command = findCommand(word, problem);
  if (!command) {
    std::printf("%s\n", problem.c_str());
    return Result::error;
  }
  last_ = command->repeats ? line : "";
  try {
    (this->*command->run)(trimmedLine(line.substr(end)));
  } catch (const DebugError &error) {
    std::printf("%s\n", error.what());
    return Result::error;
  }
  return isQuitting_ ? Result::quit : Result::good;
}

void Console::help(const std::string &which) {
  if (which.empty()) {
    for (const Command &command : kCommands) {
      const std::string name = wordsOf(command.names)[0];
      std::printf("%-18s %s\n", name.c_str(), command.help);
    }
    std::printf("A beginning of a name is enough where no other command has it; an empty line "
                "repeats the last "
                "step. Steps move the focus thread; the others run as the schedule has it.\n");
    return;
  }
  std::string problem;
  const Command *command = findCommand(which, problem);
  if (!command)
    throw DebugError(problem);
  const std::vector<std::string> names = wordsOf(command->names);
  std::printf("%s %s\n  %s\n", names[0].c_str(), command->arguments, command->help);
  for (size_t i = 1; i < names.size(); ++i)
    std::printf("%s%s%s", i == 1 ? "  also: " : ", ", names[i].c_str(),
                i + 1 == names.size() ? "\n" : "");
}

void Console::quit(const std::string &) { isQuitting_ = true; }

void Console::source(const std::string &file) {
  std::ifstream stream(file);
  if (!stream)
    throw DebugError("cannot read " + file);
  readAll(stream, true);
}

} // namespace ptxrun::command
