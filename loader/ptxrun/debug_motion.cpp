// Commands of the console that move, and what is said after they did.
#include <cstdio>
#include <sstream>

#include "loader/ptxrun/debug_console.h"

namespace ptxrun::command {

using debug::Breakpoint;
using debug::DebugError;
using debug::Direction;
using debug::Evaluator;
using debug::Step;
using debug::Stop;

void Console::runCommand(const std::string &) { report(session_.run()); }
void Console::continueOn(const std::string &) { report(session_.resume(Direction::forwards)); }
void Console::reverseContinue(const std::string &) {
  report(session_.resume(Direction::backwards));
}
void Console::step(const std::string &n) { move(Step::line, Direction::forwards, n); }
void Console::next(const std::string &n) { move(Step::over, Direction::forwards, n); }
void Console::stepi(const std::string &n) { move(Step::instruction, Direction::forwards, n); }
void Console::nexti(const std::string &n) { move(Step::instructionOver, Direction::forwards, n); }
void Console::reverseStep(const std::string &n) { move(Step::line, Direction::backwards, n); }
void Console::reverseNext(const std::string &n) { move(Step::over, Direction::backwards, n); }
void Console::reverseStepi(const std::string &n) {
  move(Step::instruction, Direction::backwards, n);
}
void Console::reverseNexti(const std::string &n) {
  move(Step::instructionOver, Direction::backwards, n);
}

void Console::finish(const std::string &) {
  if (needFrames().size() < 2)
    throw DebugError("\"finish\" not meaningful in the outermost frame");
  move(Step::out, Direction::forwards, "");
}

void Console::reverseFinish(const std::string &) {
  if (needFrames().size() < 2)
    throw DebugError("\"reverse-finish\" not meaningful in the outermost frame");
  move(Step::out, Direction::backwards, "");
}

void Console::move(Step step, Direction direction, const std::string &count) {
  uint64_t times = 1;
  if (!count.empty())
    times = static_cast<uint64_t>(
        Evaluator::asInteger(session_.module().evaluator.evaluate(count, session_.view())));
  if (session_.machine().state() == debug::Machine::State::unstarted)
    throw DebugError("nothing runs yet: `run`, or `break` and `run`");
  report(session_.step(step, direction, times),
         step == Step::instruction || step == Step::instructionOver);
}

void Console::goTo(const std::string &time) {
  if (time.empty() || time.find_first_not_of("0123456789") != std::string::npos)
    throw DebugError("goto-time takes a number, as `info time` shows it");
  report(session_.goTo(std::stoull(time)), true);
}

void Console::lastWrite(const std::string &text) {
  if (text.empty())
    throw DebugError("last-write takes an address, or a variable that lies in memory");
  const debug::DebugValue value = session_.module().evaluator.evaluate(text, session_.view());
  const bool isVariable = value.address.has_value();
  const uint64_t address =
      isVariable ? *value.address : static_cast<uint64_t>(Evaluator::asInteger(value));
  const bool isTyped =
      !isVariable && value.type->kind == debug::Type::Kind::pointer && value.type->target->bytes;
  const uint64_t bytes = isVariable ? value.type->bytes : isTyped ? value.type->target->bytes : 1;
  const Stop stop = session_.lastWrite(address, bytes);
  if (stop.why == Stop::Why::noWrite) {
    std::printf("Nothing wrote to 0x%llx before this point.\n",
                static_cast<unsigned long long>(address));
    if (options_.beforeThat)
      if (const std::string more = options_.beforeThat(address); !more.empty())
        std::printf("%s\n", more.c_str());
    return;
  }
  report(stop, true);
}

// --- Breakpoints -------------------------------------------------------------------------------

void Console::addBreak(const std::string &text, bool isTemporary) {
  std::string where = text, condition;
  if (const size_t at = (" " + where).find(" if "); at != std::string::npos) {
    condition = where.substr(at + 3);
    where.resize(at ? at - 1 : 0);
  }
  while (where.ends_with(' '))
    where.pop_back();
  const Breakpoint &made = session_.addBreakpoint(where, condition, isTemporary);
  size_t places = 0;
  for (const auto &[sight, instructions] : made.places)
    places += instructions.size();
  std::printf("%s %d at %s", isTemporary ? "Temporary breakpoint" : "Breakpoint", made.number,
              made.description.c_str());
  if (places == 1)
    std::printf(" (ptx:%u)",
                made.places.begin()->first->map.ptxLine(made.places.begin()->second[0]));
  else
    std::printf(" (%zu places)", places);
  std::printf("\n");
}

void Console::breakAt(const std::string &where) { addBreak(where, false); }
void Console::tbreak(const std::string &where) { addBreak(where, true); }

void Console::watch(const std::string &expression) {
  const Breakpoint &made = session_.addWatchpoint(expression);
  std::printf("Watchpoint %d: %s\n", made.number, made.where.c_str());
}

Breakpoint &Console::pointOf(const std::string &number) {
  for (auto &[known, point] : session_.breakpoints())
    if (std::to_string(known) == number)
      return point;
  throw DebugError("there is no breakpoint number " + number);
}

void Console::deletePoint(const std::string &numbers) {
  if (numbers.empty())
    return session_.breakpoints().clear();
  std::istringstream stream(numbers);
  for (std::string number; stream >> number;)
    session_.breakpoints().erase(pointOf(number).number);
}

namespace {
void setEnabled(std::map<int, Breakpoint> &points, const std::string &numbers, bool isEnabled,
                auto pointOf) {
  if (numbers.empty())
    for (auto &[number, point] : points)
      point.isEnabled = isEnabled;
  std::istringstream stream(numbers);
  for (std::string number; stream >> number;)
    pointOf(number).isEnabled = isEnabled;
}
} // namespace

void Console::enable(const std::string &numbers) {
  setEnabled(session_.breakpoints(), numbers, true,
             [this](const std::string &n) -> Breakpoint & { return pointOf(n); });
}
void Console::disable(const std::string &numbers) {
  setEnabled(session_.breakpoints(), numbers, false,
             [this](const std::string &n) -> Breakpoint & { return pointOf(n); });
}

void Console::condition(const std::string &text) {
  const size_t space = text.find(' ');
  Breakpoint &point = pointOf(text.substr(0, space));
  point.condition = space == std::string::npos ? "" : text.substr(space + 1);
  if (point.condition.empty())
    std::printf("Breakpoint %d now unconditional.\n", point.number);
}

// --- After a stop ------------------------------------------------------------------------------

void Console::report(const Stop &stop, bool isOfInstruction) {
  if (const std::string printed = session_.machine().takePrinted(); !printed.empty())
    std::printf("%s%s", printed.c_str(), printed.ends_with('\n') ? "" : "\n");
  const auto launchText = [&] {
    const uint64_t number = session_.program().numberOf(session_.machine().launch());
    return "launch " + std::to_string(number) + ", kernel '" + session_.launch().kernel->name + "'";
  };
  switch (stop.why) {
  case Stop::Why::notRunning:
    std::printf("The launches have ended. `run` begins anew, reverse steps go back.\n");
    return;
  case Stop::Why::ended:
    std::printf(session_.program().launches() == 1 ? "The launch has ended.\n"
                                                   : "All launches have ended.\n");
    lastFunction_.clear();
    if (const std::string problem = session_.program().check(); !problem.empty())
      std::printf("%s\n", problem.c_str());
    return;
  case Stop::Why::failed:
    std::printf("%s failed: %s\n", launchText().c_str(), stop.message.c_str());
    if (!session_.isRunning())
      return;
    break;
  case Stop::Why::beginning:
    std::printf("No more history: this is the beginning%s.\n",
                session_.machine().time() ? " of the thread" : "");
    break;
  default:
    break;
  }
  if (stop.isFocusNew) {
    std::printf("[Switching focus to %s]\n", session_.threadText(session_.focus()).c_str());
    lastFunction_.clear();
  }
  bool isShort = true;
  switch (stop.why) {
  case Stop::Why::threadEnded:
    std::printf("[The thread has ended]\n");
    break;
  case Stop::Why::interrupted:
    std::printf("Interrupted.\n");
    break;
  case Stop::Why::breakpoint:
    std::printf("\n");
    for (const int number : stop.breakpoints)
      std::printf("Breakpoint %d, ", number);
    isShort = false;
    break;
  case Stop::Why::watchpoint: {
    std::string what;
    if (const auto point = session_.breakpoints().find(stop.breakpoints[0]);
        point != session_.breakpoints().end())
      what = point->second.where;
    std::printf("\nWatchpoint %d: %s\n\nOld value = %s\nNew value = %s\n", stop.breakpoints[0],
                what.c_str(), stop.before.c_str(), stop.after.c_str());
    isShort = false;
    break;
  }
  case Stop::Why::write:
    std::printf("Written by %s:\n", session_.threadText(session_.focus()).c_str());
    isShort = false;
    break;
  case Stop::Why::finished:
  case Stop::Why::failed:
    isShort = false;
    break;
  default:
    break;
  }
  const auto frames = session_.frames(session_.focusThread());
  if (frames.empty())
    return showFocus();
  if (!isShort || lastFunction_ != frames[0].function)
    std::printf("%s\n", frameText(frames[0]).c_str());
  showLine(frames[0],
           isOfInstruction || stop.why == Stop::Why::write || stop.why == Stop::Why::failed);
  lastFunction_ = frames[0].function;
  listedFile_.clear();
  showDisplays();
}

} // namespace ptxrun::command
