// `ptxrun debug` for people and scripts: cuda-gdb's words, one command a line.
#pragma once
#include <functional>
#include <istream>
#include <string>
#include <vector>

#include "loader/debug/session.h"

namespace ptxrun::command {

struct ConsoleOptions {
  std::vector<std::string> scripts;  ///< files of commands, read first
  std::vector<std::string> commands; ///< then these
  bool isBatch = false;              ///< ends after them, at the first error too
  bool isQuiet = false;
  debug::Time spacing = 0; ///< as debug::Machine has it
  /// More that last-write can say where nobody wrote in what is debugged: who did before; may be
  /// empty.
  std::function<std::string(uint64_t address)> beforeThat;
};

/// One session with its person. Everything goes to standard output.
class Console {
 public:
  Console(debug::Program &, ConsoleOptions);
  /// Until `quit` or the end of the input. False: a script had an error.
  bool run();
  debug::Machine &machine() { return session_.machine(); }

 private:
  struct Command {
    const char *names; ///< "continue c fg": the name, then other ways to write it
    const char *arguments, *help;
    void (Console::*run)(const std::string &arguments);
    bool repeats = false; ///< an empty line does it again
  };
  static const Command kCommands[];
  enum class Result : uint8_t { good, error, quit };

  // debug_console.cpp
  bool readAll(std::istream &, bool isEchoed);
  Result perform(const std::string &line);
  const Command *findCommand(const std::string &word, std::string &problem) const;
  void help(const std::string &);
  void quit(const std::string &);
  void source(const std::string &);

  // debug_motion.cpp: commands that move
  void runCommand(const std::string &);
  void continueOn(const std::string &);
  void reverseContinue(const std::string &);
  void step(const std::string &), next(const std::string &), stepi(const std::string &),
      nexti(const std::string &), finish(const std::string &);
  void reverseStep(const std::string &), reverseNext(const std::string &),
      reverseStepi(const std::string &), reverseNexti(const std::string &),
      reverseFinish(const std::string &);
  void lastWrite(const std::string &);
  void goTo(const std::string &);
  void breakAt(const std::string &), tbreak(const std::string &), watch(const std::string &);
  void deletePoint(const std::string &), enable(const std::string &), disable(const std::string &),
      condition(const std::string &);
  void move(debug::Step, debug::Direction, const std::string &count);
  void report(const debug::Stop &, bool isOfInstruction = false);
  void addBreak(const std::string &, bool isTemporary);
  debug::Breakpoint &pointOf(const std::string &number);

  // debug_show.cpp: commands that show
  void print(const std::string &), examine(const std::string &), backtrace(const std::string &),
      list(const std::string &);
  void frame(const std::string &), up(const std::string &), down(const std::string &);
  void info(const std::string &), cuda(const std::string &), ptype(const std::string &),
      display(const std::string &), undisplay(const std::string &);
  void infoBreakpoints(), infoRegisters(const std::string &), infoLocals(bool areArguments),
      infoSource(), infoTime(), infoFunctions(), infoLaunches();
  void infoThreads(), infoBlocks(), infoWarps(), infoBarriers();
  void showFrame(size_t number, bool isShort);
  void showLine(const debug::FrameSight &, bool isOfInstruction);
  void showFocus();
  void showDisplays();
  std::string frameText(const debug::FrameSight &);
  std::vector<debug::FrameSight> needFrames();
  /// What stands between a command and its arguments: `/8xw`.
  struct Format {
    uint64_t count = 1;
    char letter = 0, size = 0;
  };
  static Format takeFormat(std::string &arguments);

  debug::Session session_;
  const ConsoleOptions options_;
  std::string last_; ///< the last command
  bool isQuitting_ = false;
  std::string lastFunction_; ///< of the frame shown last
  std::string listedFile_;
  uint32_t listedLine_ = 0; ///< the next one that list shows
  uint64_t examined_ = 0;   ///< where x goes on
  Format examineFormat_;
  const debug::Type *examinedType_ = nullptr;
  std::vector<std::pair<int, std::string>> displays_;
  int lastDisplay_ = 0;
};

} // namespace ptxrun::command
