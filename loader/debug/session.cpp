#include "loader/debug/session.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

#include "loader/debug/watched.h"

namespace ptxrun::debug {

ModuleSight::ModuleSight(const device::Module &module, const std::string &text)
    : map(module.checked(), module.name(), text), info(module.checked(), types),
      evaluator(map, info, types) {
  const check::Module &checked = module.checked();
  lines_.resize(checked.locations.size());
  for (size_t i = 1; i < checked.locations.size(); ++i)
    for (size_t at = i; at; at = checked.locations[at].inlinedAt) {
      const check::Location &location = checked.locations[at];
      lines_[i].insert(lines_[i].begin(), uint64_t{location.file} << 32 | location.line);
    }
  for (uint32_t i = 0; i < map.count(); ++i) {
    uint32_t location = map.at(i).location;
    if (location == 0) { // a line of the PTX
      location = static_cast<uint32_t>(lines_.size());
      lines_.push_back({~uint64_t{0} << 32 | map.ptxLine(i)});
    }
    lineOf_.push_back(location);
  }
  isInPrologue_.resize(map.count());
  for (uint32_t f = 0; f < checked.functions.size(); ++f)
    if (const uint32_t first = map.firstOf(f); first < map.firstOf(f + 1))
      std::fill(isInPrologue_.begin() + first, isInPrologue_.begin() + map.behindPrologue(first),
                true);
}

// --- What execution is watched for -------------------------------------------------------------

namespace {

Stop stopBecause(Stop::Why why) {
  Stop stop;
  stop.why = why;
  return stop;
}

/// How deep a thread is: calls, and inlined ones.
using Depth = std::pair<size_t, size_t>;

/// Tells where a thread begins another line.
class LineTracker {
 public:
  void begin(const Thread *thread, const ModuleSight &sight) {
    if (!thread)
      return;
    for (const Call &call : thread->calls)
      calls_.push_back(sight.lines(call.instruction));
  }
  void enter() { calls_.emplace_back(); }
  void leave() {
    if (!calls_.empty())
      calls_.pop_back();
  }
  bool step(const std::vector<uint64_t> &lines) {
    if (calls_.empty())
      calls_.emplace_back();
    std::vector<uint64_t> &before = calls_.back();
    const bool isSame =
        before.size() >= lines.size() && std::equal(lines.begin(), lines.end(), before.begin());
    before = lines;
    return !isSame;
  }

 private:
  std::vector<std::vector<uint64_t>> calls_; ///< by call: where it was last
};

} // namespace

/// What a command waits for, besides breakpoints.
struct Session::Wanted {
  std::optional<Step> step;
  GangPlace thread;
  Depth depth;
  bool isThreadThere = false; ///< it lives where the step begins
  bool usesBreakpoints = true;
};

class RunWatcher final : public Watcher {
 public:
  RunWatcher(Session &session, const Session::Wanted &wanted, Direction direction)
      : session_(session), wanted_(wanted), direction_(direction) {
    for (auto &[number, point] : session.breakpoints_) {
      if (!point.isEnabled)
        continue;
      if (point.inRegister)
        registers_.push_back({&point, WatchedRegister(session, *point.inRegister, point.where)});
      else if (point.isWatch)
        watched_.push_back(
            {&point, WatchedMemory(point.address, point.bytes, point.sharedOffset, point.block)});
      else if (wanted.usesBreakpoints)
        for (const auto &[sight, places] : point.places)
          for (const uint32_t place : places) {
            std::vector<bool> &marks = marks_[sight];
            marks.resize(sight->map.count());
            marks[place] = true;
          }
    }
  }
  /// Where the execution it watches goes on from.
  void begin() {
    if (session_.machine_.state() == Machine::State::stopped)
      for (auto &[point, memory] : watched_)
        memory.note(*session_.machine_.thread(), session_.machine_.time());
  }

  void begins(const Machine &machine) override {
    if (needsLines())
      lines_.begin(machine.living(wanted_.thread), session_.module());
    for (auto &[point, watched] : registers_)
      watched.begin(machine);
  }
  bool ends(const Machine &machine, Time after) override {
    for (auto &[point, watched] : registers_) {
      const Thread *thread = machine.living(watched.thread());
      if (!thread || thread->last <= after || !watched.hasChanged(*thread))
        continue;
      hit(*point, watched.before(), watched.now(), thread->last, thread->place);
      if (record_ && stopTime_ < before_)
        *record_ = stop;
      return true;
    }
    return false;
  }
  bool step(const Thread &thread, Time time) override {
    launch_ = session_.machine_.launch();
    stopTime_ = time;
    if (isDirty_)
      stop = {};
    isDirty_ = decide(thread, time);
    if (isDirty_ && record_ && stopTime_ < before_)
      *record_ = stop;
    return isDirty_;
  }
  Time stopTime(Time) const override { return stopTime_; }
  /// Backwards: what it says of the last stop before `before` goes here.
  void record(Stop &to, Time before) {
    record_ = &to;
    before_ = before;
  }

  void enter(const Thread &thread) override {
    if (needsLines() && thread.place == wanted_.thread)
      lines_.enter();
  }
  void leave(const Thread &thread, bool isExit) override {
    for (auto &[point, watched] : registers_)
      watched.leave(thread);
    if (!wanted_.step || thread.place != wanted_.thread)
      return;
    lines_.leave();
    if (isExit && direction_ == Direction::forwards && session_.machine_.launch() == launch_)
      hasEnded_ = true;
  }
  void access(const Thread &thread, uint64_t address, uint32_t bytes,
              abi::AccessKind kind) override {
    for (auto &[point, memory] : watched_)
      memory.access(thread, address, bytes, kind);
  }

  Stop stop;
  GangPlace place; ///< who stopped

 private:
  bool decide(const Thread &thread, Time time) {
    bool isStop = isWatchHit(thread, time);
    if (thread.isGoingOn) // all but memory was looked at before
      return isStop;
    if (hasEnded_) {
      stop.why = Stop::Why::threadEnded;
      return true;
    }
    // Both are asked: the tracker must see every line.
    const bool isStepDone = wanted_.step && thread.place == wanted_.thread && isDone(thread);
    if (isStepDone && !isStop) {
      stop.why = *wanted_.step == Step::out ? Stop::Why::finished : Stop::Why::step;
      isStop = true;
    }
    if (isBreakpointHit(thread) && stop.why != Stop::Why::watchpoint) {
      stop.why = Stop::Why::breakpoint;
      isStop = true;
    }
    return isStop;
  }

  bool needsLines() const { return wanted_.step == Step::line || wanted_.step == Step::over; }

  bool isDone(const Thread &thread) {
    const std::vector<uint64_t> &lines = session_.sights_[launch_]->lines(thread.instruction());
    const Depth depth{thread.calls.size(), lines.size()};
    place = thread.place;
    switch (*wanted_.step) {
    case Step::instruction:
      return true;
    case Step::instructionOver:
      return depth.first <= wanted_.depth.first || !wanted_.isThreadThere;
    case Step::line:
      return isNewLine(thread, lines);
    case Step::over:
      return isNewLine(thread, lines) && (depth <= wanted_.depth || !wanted_.isThreadThere);
    case Step::out:
      return depth.first < wanted_.depth.first ||
             (depth.first == wanted_.depth.first && depth.second < wanted_.depth.second);
    }
    return true;
  }

  /// Its parameters are not yet where debugging information says in a prologue: that is no line to
  /// stop at.
  bool isNewLine(const Thread &thread, const std::vector<uint64_t> &lines) {
    return lines_.step(lines) && !session_.sights_[launch_]->isInPrologue(thread.instruction());
  }

  bool isWatchHit(const Thread &thread, Time time) {
    Evaluator &evaluator = session_.sights_[launch_]->evaluator;
    bool isHit = false;
    for (auto &[point, memory] : watched_) {
      if (memory.wasWritten(thread) && memory.changed && !isHit) {
        isHit = true;
        hit(*point, evaluator.format({point->type, memory.before, std::nullopt}),
            evaluator.format({point->type, memory.contents(), std::nullopt}), memory.time,
            memory.who);
      }
      memory.note(thread, time);
    }
    for (auto &[point, watched] : registers_)
      if (watched.hasChanged(thread) && !isHit) {
        isHit = true;
        hit(*point, watched.before(), watched.now(), thread.last, thread.place);
      }
    return isHit;
  }

  /// A watched value changed by an instruction of `who` at `written`.
  void hit(Breakpoint &point, std::string before, std::string after, Time written, GangPlace who) {
    stop.why = Stop::Why::watchpoint;
    stop.breakpoints = {point.number};
    stop.before = std::move(before);
    stop.after = std::move(after);
    place = who;
    if (direction_ == Direction::backwards) {
      stopTime_ = written;
      std::swap(stop.before, stop.after);
    } else {
      ++point.hits;
    }
  }

  bool isBreakpointHit(const Thread &thread) {
    const ModuleSight *sight = session_.sights_[launch_].get();
    const auto marks = marks_.find(sight);
    if (marks == marks_.end() || !marks->second[thread.instruction()])
      return false;
    if (wanted_.step && thread.place != wanted_.thread) // a step is of one thread
      return false;
    std::vector<int> hit;
    for (auto &[number, point] : session_.breakpoints_) {
      const auto places = point.places.find(sight);
      if (!point.isEnabled || point.isWatch || places == point.places.end() ||
          std::ranges::find(places->second, thread.instruction()) == places->second.end() ||
          !holds(point, thread))
        continue;
      hit.push_back(number);
      point.hits += direction_ == Direction::forwards;
    }
    if (hit.empty())
      return false;
    if (stop.why != Stop::Why::watchpoint)
      stop.breakpoints = hit;
    place = thread.place;
    return true;
  }

  bool holds(const Breakpoint &point, const Thread &thread) {
    if (point.condition.empty())
      return true;
    try {
      const View view{&thread, thread.calls.size() - 1, thread.place,
                      &session_.program().launch(launch_)};
      return Evaluator::isTrue(
          session_.sights_[launch_]->evaluator.evaluate(point.condition, view));
    } catch (const DebugError &) { // as gdb does: what cannot be told stops
      return true;
    }
  }

  Session &session_;
  const Session::Wanted wanted_;
  const Direction direction_;
  LineTracker lines_;
  std::map<const ModuleSight *, std::vector<bool>> marks_;
  std::vector<std::pair<Breakpoint *, WatchedMemory>> watched_;
  std::vector<std::pair<Breakpoint *, WatchedRegister>> registers_;
  bool hasEnded_ = false;
  size_t launch_ = 0;
  Time stopTime_ = 0, before_ = 0;
  bool isDirty_ = false;
  Stop *record_ = nullptr;
};

namespace {
/// Stops behind each write to some bytes.
class WriteWatcher final : public Watcher {
 public:
  explicit WriteWatcher(WatchedMemory memory) : memory_(std::move(memory)) {}
  bool step(const Thread &thread, Time time) override {
    const bool isHit = memory_.wasWritten(thread);
    memory_.note(thread, time);
    return isHit;
  }
  Time stopTime(Time) const override { return memory_.time; }
  void access(const Thread &thread, uint64_t address, uint32_t bytes,
              abi::AccessKind kind) override {
    memory_.access(thread, address, bytes, kind);
  }

 private:
  WatchedMemory memory_;
};
} // namespace

// --- The session -------------------------------------------------------------------------------

Session::Session(Program &program, Time spacing) : machine_(program, spacing) {
  std::map<const device::Module *, std::shared_ptr<ModuleSight>> known;
  for (size_t i = 0; i < program.launches(); ++i) {
    const LaunchFacts &facts = program.launch(i);
    auto &sight = known[facts.module];
    if (!sight)
      sight = std::make_shared<ModuleSight>(*facts.module, facts.text);
    sights_.push_back(sight);
  }
}

void Session::look(GangPlace place) {
  focus_ = place;
  frame_ = 0;
}

/// What is the same after every stop.
Stop Session::atStop(Stop stop) {
  const GangPlace before = focus_;
  frame_ = 0;
  switch (machine_.state()) {
  case Machine::State::stopped:
    if (machine_.wasInterrupted())
      stop.why = Stop::Why::interrupted;
    if (stop.why != Stop::Why::watchpoint)
      look(machine_.thread()->place);
    break;
  case Machine::State::unstarted:
    stop.why = Stop::Why::beginning;
    break;
  default:
    return afterEnd();
  }
  stop.isFocusNew = focus_ != before;
  for (const int number : stop.breakpoints)
    if (const auto point = breakpoints_.find(number);
        point != breakpoints_.end() && point->second.isTemporary)
      breakpoints_.erase(point);
  return stop;
}

/// The launches have ended. Where one failed: to the instruction that did it.
Stop Session::afterEnd() {
  Stop stop;
  stop.why = Stop::Why::ended;
  if (machine_.state() != Machine::State::failed)
    return stop;
  stop.why = Stop::Why::failed;
  stop.message = machine_.outcome().message;
  const GangPlace before = focus_;
  if (machine_.time() > 0)
    machine_.goTo(machine_.time() - 1);
  if (const Thread *thread = machine_.thread())
    look(thread->place);
  stop.isFocusNew = focus_ != before;
  return stop;
}

Stop Session::forwards(const Wanted &wanted) {
  if (machine_.state() == Machine::State::ended || machine_.state() == Machine::State::failed)
    return stopBecause(Stop::Why::notRunning);
  RunWatcher watcher(*this, wanted, Direction::forwards);
  watcher.begin();
  machine_.forward(&watcher);
  const GangPlace before = focus_;
  Stop stop = atStop(watcher.stop);
  if (stop.why == Stop::Why::watchpoint && machine_.find(watcher.place)) {
    look(watcher.place);
    stop.isFocusNew = focus_ != before;
  }
  return stop;
}

Stop Session::backwards(const Wanted &wanted) {
  Time now = machine_.time();
  const auto state = machine_.state();
  const GangPlace focus = focus_;
  if (const Thread *thread = machine_.thread(); thread && wanted.step && thread->isGoingOn)
    now = thread->announced; // a step back from here is one from where the instruction began
  if (state == Machine::State::unstarted)
    return stopBecause(Stop::Why::beginning);
  Stop record;
  const auto found = machine_.findLast(
      [&] {
        auto watcher = std::make_unique<RunWatcher>(*this, wanted, Direction::backwards);
        watcher->record(record, now);
        return watcher;
      },
      now);
  Stop stop;
  if (machine_.wasInterrupted()) {
    machine_.goTo(now);
    stop.why = Stop::Why::interrupted;
    return stop;
  }
  if (found) {
    machine_.goTo(*found);
    stop = atStop(record);
    look(machine_.thread()->place);
    stop.isFocusNew = focus_ != focus;
    return stop;
  }
  stop.why = Stop::Why::beginning;
  if (!wanted.step) {
    machine_.goTo(0);
    if (const Thread *thread = machine_.thread())
      look(thread->place);
  } else if (state ==
             Machine::State::stopped) { // the thread has nothing before: it stays where it is
    machine_.goTo(now);
  } else {
    machine_.forward(nullptr);
  }
  stop.isFocusNew = focus_ != focus;
  return stop;
}

Session::Wanted Session::wantedFor(Step step) const {
  Wanted wanted;
  wanted.step = step;
  wanted.thread = focus_;
  if (const Thread *thread = machine_.find(focus_)) {
    wanted.isThreadThere = true;
    wanted.depth = {thread->calls.size(),
                    sights_[machine_.launch()]->lines(thread->instruction()).size()};
  } else {
    wanted.depth = {~size_t{0}, 0};
  }
  return wanted;
}

Stop Session::run() {
  machine_.printAgain();
  if (machine_.state() != Machine::State::unstarted) {
    machine_.goTo(0);
    // The first instruction counts too: a breakpoint may be there.
    RunWatcher watcher(*this, {}, Direction::forwards);
    if (machine_.thread() && watcher.step(*machine_.thread(), 0))
      return atStop(watcher.stop);
  }
  return forwards({});
}

Stop Session::resume(Direction direction) {
  return direction == Direction::forwards ? forwards({}) : backwards({});
}

Stop Session::step(Step step, Direction direction, uint64_t count) {
  Stop stop;
  for (uint64_t i = 0; i < std::max<uint64_t>(count, 1); ++i) {
    const Wanted wanted = wantedFor(step);
    stop = direction == Direction::forwards ? forwards(wanted) : backwards(wanted);
    if (stop.why != Stop::Why::step && stop.why != Stop::Why::finished)
      break;
  }
  return stop;
}

Stop Session::goTo(Time time) {
  machine_.goTo(time);
  return atStop({});
}

std::optional<uint64_t> Session::sharedOffsetOf(uint64_t address) {
  const Thread *thread = focusThread();
  if (!thread)
    return std::nullopt;
  const auto window = reinterpret_cast<uint64_t>(thread->window);
  if (address < window || address >= window + (uint64_t{1} << abi::kSharedWindowShift))
    return std::nullopt;
  return address - window;
}

Stop Session::lastWrite(uint64_t address, uint64_t bytes) {
  const Time now = machine_.time();
  const auto state = machine_.state();
  std::string probe(bytes, '\0');
  if (!Evaluator::readMemory(address, probe.data(), bytes))
    throw DebugError("no memory is at this address");
  const auto shared = sharedOffsetOf(address);
  const GangPlace before = focus_;
  const auto found = machine_.findLast(
      [&] {
        return std::make_unique<WriteWatcher>(WatchedMemory(address, bytes, shared, before.block));
      },
      now);
  Stop stop;
  stop.why = found ? Stop::Why::write : Stop::Why::noWrite;
  if (machine_.wasInterrupted())
    stop.why = Stop::Why::interrupted;
  if (found)
    machine_.goTo(*found);
  else if (state == Machine::State::stopped)
    machine_.goTo(now);
  else
    machine_.forward(nullptr);
  if (found)
    look(machine_.thread()->place);
  stop.isFocusNew = focus_ != before;
  return stop;
}

// --- Breakpoints -------------------------------------------------------------------------------

namespace {

std::optional<uint32_t> asNumber(std::string_view text) {
  uint32_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || rest != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// The instructions that `where` means in one module; a description in `text`.
std::vector<uint32_t> placesOf(const SourceMap &map, const std::string &where, std::string &text) {
  if (const auto line = asNumber(where)) {
    const auto found = map.ofPtxLine(*line);
    if (!found)
      return {};
    text = map.name() + ":" + std::to_string(map.ptxLine(*found));
    return {*found};
  }
  if (const size_t colon = where.rfind(':'); colon != std::string::npos)
    if (auto line = asNumber(where.substr(colon + 1))) {
      const std::string file = where.substr(0, colon);
      std::vector<uint32_t> found = map.ofSource(file, *line);
      if (!found.empty()) {
        text = file + ":" + std::to_string(*line);
        return found;
      }
      const std::string name = map.name().substr(map.name().rfind('/') + 1);
      if (file == name || file == map.name() || file == "ptx")
        if (const auto instruction = map.ofPtxLine(*line)) {
          text = name + ":" + std::to_string(map.ptxLine(*instruction));
          return {*instruction};
        }
      return {};
    }
  if (auto found = map.ofFunction(where)) {
    text = where;
    return {map.behindPrologue(*found)};
  }
  return {};
}

std::string listed(const std::vector<std::string> &names) {
  std::string all;
  for (const std::string &name : names)
    all += (all.empty() ? "" : ", ") + name;
  return all;
}

} // namespace

Breakpoint &Session::addBreakpoint(const std::string &where, const std::string &condition,
                                   bool isTemporary) {
  Breakpoint made;
  made.where = where;
  made.condition = condition;
  made.isTemporary = isTemporary;
  if (where.empty()) {
    const std::vector<FrameSight> all = frames(focusThread());
    if (all.empty())
      throw DebugError(
          "no thread is stopped: say where, as in `break kernel` or `break file.cu:42`");
    const uint32_t instruction = all[std::min(frame_, all.size() - 1)].instruction;
    made.places[&module()] = {instruction};
    made.description = placeText(instruction);
  } else {
    for (const auto &sight : sights_)
      if (std::vector<uint32_t> found = placesOf(sight->map, where, made.description);
          !found.empty())
        made.places[sight.get()] = std::move(found);
  }
  if (made.places.empty()) {
    std::vector<std::string> files;
    for (const std::string_view file : module().map.files())
      if (!file.empty())
        files.emplace_back(file);
    throw DebugError("no code is at '" + where +
                     "'; functions: " + listed(module().map.functionNames()) +
                     (files.empty() ? "" : "; files: " + listed(files)));
  }
  made.number = ++lastNumber_;
  return breakpoints_[made.number] = std::move(made);
}

/// A name stands for the variable or register itself, another integer or pointer for an address.
static bool isName(const std::string &expression) {
  const auto isPartOfName = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  const size_t first = expression.starts_with('%') || expression.starts_with('$');
  return expression.size() > first &&
         !std::isdigit(static_cast<unsigned char>(expression[first])) &&
         std::all_of(expression.begin() + ptrdiff_t(first), expression.end(), isPartOfName);
}

Breakpoint &Session::addWatchpoint(const std::string &expression) {
  const DebugValue value = module().evaluator.evaluate(expression, view());
  Breakpoint made;
  made.where = expression;
  made.isWatch = true;
  made.type = value.type;
  const bool isAddress =
      value.type->kind == Type::Kind::pointer ||
      (value.type->kind == Type::Kind::integer && value.type->bytes == sizeof(uint64_t));
  if (value.address) {
    watchMemory(made, *value.address);
  } else if (isName(expression) && focusThread()) {
    const View now = view();
    made.inRegister = {focus_, now.call, now.thread->calls[now.call].function};
  } else if (isAddress) { // four bytes of it, or what it points to
    const Type *target = value.type->kind == Type::Kind::pointer ? value.type->target : nullptr;
    made.type = target && target->bytes ? target : module().types.named("int");
    watchMemory(made, static_cast<uint64_t>(Evaluator::asInteger(value)));
  } else {
    throw DebugError("a variable, a register or memory can be watched, and this is a value");
  }
  made.number = ++lastNumber_;
  return breakpoints_[made.number] = std::move(made);
}

void Session::watchMemory(Breakpoint &made, uint64_t address) {
  made.address = address;
  made.bytes = made.type->bytes;
  std::string probe(made.bytes, '\0');
  if (!Evaluator::readMemory(address, probe.data(), made.bytes))
    throw DebugError("no memory is at this address");
  made.sharedOffset = sharedOffsetOf(address);
  made.block = focus_.block;
}

// --- Threads and calls -------------------------------------------------------------------------

void Session::setFocus(GangPlace place) {
  const LaunchFacts &facts = launch();
  const uint64_t blocks = uint64_t{facts.grid.x} * facts.grid.y * facts.grid.z;
  const uint32_t threads = facts.block.x * facts.block.y * facts.block.z;
  if (place.block >= blocks || place.thread >= threads)
    throw DebugError("the grid has no such thread");
  look(place);
}

std::vector<FrameSight> Session::frames(const Thread *thread) {
  std::vector<FrameSight> all;
  if (!thread)
    return all;
  const SourceMap &map = module().map;
  for (size_t i = thread->calls.size(); i-- > 0;) {
    const Call &call = thread->calls[i];
    const std::vector<InlinedPlace> places = map.inlinedAt(call.instruction);
    FrameSight one;
    one.call = i;
    one.instruction = call.instruction;
    one.ptxLine = map.ptxLine(call.instruction);
    const std::string name = SourceMap::plainName(map.function(call.function).name);
    if (places.empty()) {
      one.function = name;
      all.push_back(one);
      continue;
    }
    for (const InlinedPlace &place : places) {
      one.isInlined = !place.function.empty();
      one.function = one.isInlined ? place.function : name;
      one.source = place.at.line ? std::optional(place.at) : std::nullopt;
      all.push_back(one);
    }
  }
  return all;
}

View Session::view() {
  const Thread *thread = focusThread();
  View view{thread, 0, focus_, &launch()};
  if (thread) {
    const std::vector<FrameSight> all = frames(thread);
    view.call = all.empty() ? 0 : all[std::min(frame_, all.size() - 1)].call;
  }
  return view;
}

View Session::viewOf(const Thread &thread, size_t call) {
  return {&thread, call, thread.place, &launch()};
}

std::string Session::placeText(uint32_t instruction) {
  const SourceMap &map = module().map;
  if (const auto source = map.source(instruction))
    return source->file.substr(source->file.rfind('/') + 1) + ":" + std::to_string(source->line);
  return map.name().substr(map.name().rfind('/') + 1) + ":" +
         std::to_string(map.ptxLine(instruction));
}

std::string Session::threadText(GangPlace place) {
  return "block " + coordinates(place.block, launch().grid) + ", thread " +
         coordinates(place.thread, launch().block);
}

} // namespace ptxrun::debug
