// A debugging session: breakpoints, the thread one looks at, steps forwards and backwards. The
// command line and the debug adapter speak to people; both do what they do through this.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loader/debug/evaluate.h"
#include "loader/debug/machine.h"
#include "loader/debug/source_map.h"
#include "loader/debug/variables.h"

namespace ptxrun::debug {

/// Everything that is known of a module's text.
struct ModuleSight {
  ModuleSight(const device::Module &, const std::string &text);
  /// The lines of an instruction, one per call that is inlined there, the function's own first;
  /// equal numbers for equal lines.
  const std::vector<uint64_t> &lines(uint32_t instruction) const {
    return lines_[lineOf_[instruction]];
  }
  /// Whether the instruction comes before the place where a breakpoint at its function stops.
  bool isInPrologue(uint32_t instruction) const { return isInPrologue_[instruction]; }
  SourceMap map;
  Types types;
  DebugInfo info;
  Evaluator evaluator;

 private:
  std::vector<std::vector<uint64_t>> lines_;
  std::vector<uint32_t> lineOf_;
  std::vector<bool> isInPrologue_;
};

/// One call of one thread.
struct RegisterPlace {
  GangPlace thread;
  size_t call = 0;       ///< in Thread::calls
  uint32_t function = 0; ///< whose call it is
};

struct Breakpoint {
  int number = 0;
  std::string where; ///< as the person wrote it; of watchpoints the expression
  std::string condition;
  bool isTemporary = false, isEnabled = true, isWatch = false;
  uint64_t hits = 0;
  std::map<const ModuleSight *, std::vector<uint32_t>> places; ///< instructions
  std::string description;                                     ///< "a.cu:42"
  // Of watchpoints: in memory, or in a register.
  const Type *type = nullptr;
  std::optional<RegisterPlace> inRegister;
  uint64_t address = 0;
  uint64_t bytes = 0;
  std::optional<uint64_t> sharedOffset; ///< in the `.shared` window of block `block`
  uint64_t block = 0;
};

/// Why it stands still.
struct Stop {
  enum class Why : uint8_t {
    step,
    breakpoint,
    watchpoint,
    write,    ///< last-write found one
    noWrite,  ///< nobody wrote before
    finished, ///< out of a call
    threadEnded,
    beginning, ///< nothing is before this
    ended,
    failed,
    interrupted,
    notRunning
  };
  Why why = Why::step;
  std::vector<int> breakpoints; ///< those that were hit; of a watchpoint its number
  std::string before, after;    ///< of a watchpoint: its values
  bool isFocusNew = false;
  std::string message; ///< of a failure
};

/// A call as a person sees it: inlined ones are calls too.
struct FrameSight {
  size_t call = 0;      ///< in Thread::calls
  std::string function; ///< without parameters
  std::optional<SourceLine> source;
  uint32_t ptxLine = 0, instruction = 0;
  bool isInlined = false;
};

enum class Direction : uint8_t { forwards, backwards };
enum class Step : uint8_t {
  instruction,     ///< stepi
  instructionOver, ///< nexti
  line,            ///< step
  over,            ///< next
  out              ///< finish
};

class Session {
 public:
  /// `spacing`: as Machine has it.
  explicit Session(Program &, Time spacing = 0);

  Machine &machine() { return machine_; }
  Program &program() { return machine_.program(); }
  ModuleSight &module() { return *sights_[machine_.launch()]; }
  const LaunchFacts &launch() { return program().launch(machine_.launch()); }

  /// From the very beginning to the first stop.
  Stop run();
  Stop resume(Direction);
  Stop step(Step, Direction, uint64_t count = 1);
  /// To the instruction that wrote any of these bytes last before now.
  Stop lastWrite(uint64_t address, uint64_t bytes);
  /// Goes there; `why` is step.
  Stop goTo(Time);
  bool isRunning() const { return machine_.state() == Machine::State::stopped; }

  /// `where`: FUNCTION, LINE of the PTX, FILE:LINE, *NUMBER-free; empty: the focus's next
  /// instruction. Throws DebugError.
  Breakpoint &addBreakpoint(const std::string &where, const std::string &condition,
                            bool isTemporary);
  /// A variable or a register by its name, as it is in the focus's call; memory by an expression
  /// that has an address, or by the address. Throws DebugError.
  Breakpoint &addWatchpoint(const std::string &expression);
  std::map<int, Breakpoint> &breakpoints() { return breakpoints_; }

  GangPlace focus() const { return focus_; }
  /// Any thread of the grid; it need not have begun. Throws DebugError where there is none.
  void setFocus(GangPlace);
  const Thread *focusThread() const { return machine_.find(focus_); }
  /// Of a thread, the innermost first; empty where it does not live.
  std::vector<FrameSight> frames(const Thread *);
  size_t frame() const { return frame_; }
  void setFrame(size_t number) { frame_ = number; }
  View view();
  View viewOf(const Thread &, size_t call);
  /// Who can be said to run an instruction's line: "a.cu:42", or "ptx:17".
  std::string placeText(uint32_t instruction);
  std::string threadText(GangPlace);

 private:
  friend class RunWatcher;
  struct Wanted;
  Stop forwards(const Wanted &);
  Stop backwards(const Wanted &);
  Stop atStop(Stop);
  Stop afterEnd();
  void look(GangPlace);
  void watchMemory(Breakpoint &, uint64_t address);
  Wanted wantedFor(Step) const;
  std::optional<uint64_t> sharedOffsetOf(uint64_t address);

  Machine machine_;
  std::vector<std::shared_ptr<ModuleSight>> sights_; ///< by launch
  std::map<int, Breakpoint> breakpoints_;
  int lastNumber_ = 0;
  GangPlace focus_;
  size_t frame_ = 0;
};

} // namespace ptxrun::debug
