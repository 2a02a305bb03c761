// `info` and `cuda`: tables of what there is.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>

#include "loader/ptxrun/debug_console.h"
#include "loader/ptxrun/suggest.h"
#include "rt/exec/waits.h"

namespace ptxrun::command {

using debug::coordinates;
using debug::DebugError;
using debug::Evaluator;
using debug::FrameSight;
using debug::GangPlace;

void Console::info(const std::string &text) {
  std::istringstream stream(text);
  std::string what, more;
  stream >> what;
  std::getline(stream, more);
  if (const size_t first = more.find_first_not_of(' '); first != std::string::npos)
    more.erase(0, first);
  static const std::vector<std::string> names = {
      "breakpoints", "watchpoints", "registers", "locals", "args", "display", "frame",
      "functions",   "launches",    "source",    "time",   "cuda", "threads", "line"};
  std::vector<std::string> found;
  for (const std::string &name : names)
    if (!what.empty() && name.starts_with(what))
      found.push_back(name);
  if (what == "b" || what == "r" || what == "s")
    found = {what == "b" ? "breakpoints" : what == "r" ? "registers" : "stack"};
  if (what == "stack")
    found = {"stack"};
  if (found.size() != 1) {
    const std::string near = nearestName(what, names);
    throw DebugError("`info " + what + "` is not known" +
                     (near.empty() ? "" : "; did you mean `info " + near + "`?") +
                     " There are breakpoints, registers, locals, args, display, frame, stack, "
                     "functions, launches, source, time, cuda");
  }
  const std::string &name = found[0];
  if (name == "breakpoints" || name == "watchpoints")
    infoBreakpoints();
  else if (name == "registers")
    infoRegisters(more);
  else if (name == "locals" || name == "args")
    infoLocals(name == "args");
  else if (name == "display")
    showDisplays();
  else if (name == "frame")
    frame("");
  else if (name == "stack")
    backtrace("");
  else if (name == "functions")
    infoFunctions();
  else if (name == "launches")
    infoLaunches();
  else if (name == "source" || name == "line")
    infoSource();
  else if (name == "time")
    infoTime();
  else if (name == "threads")
    infoThreads();
  else if (more.starts_with("t"))
    infoThreads();
  else if (more.starts_with("b") && more.starts_with("ba"))
    infoBarriers();
  else if (more.starts_with("b"))
    infoBlocks();
  else if (more.starts_with("w"))
    infoWarps();
  else if (more.starts_with("k") || more.starts_with("la"))
    infoLaunches();
  else
    throw DebugError("`info cuda` takes threads, warps, blocks, barriers or kernels");
}

void Console::infoBreakpoints() {
  if (session_.breakpoints().empty()) {
    std::printf("No breakpoints or watchpoints.\n");
    return;
  }
  std::printf("Num  Type        Enb  What\n");
  for (const auto &[number, point] : session_.breakpoints()) {
    std::printf("%-4d %-11s %-4s %s\n", number,
                point.isWatch       ? "watchpoint"
                : point.isTemporary ? "temporary"
                                    : "breakpoint",
                point.isEnabled ? "y" : "n",
                (point.isWatch ? point.where : point.description).c_str());
    if (!point.condition.empty())
      std::printf("\tstop only if %s\n", point.condition.c_str());
    if (point.hits)
      std::printf("\talready hit %llu time%s\n", static_cast<unsigned long long>(point.hits),
                  point.hits == 1 ? "" : "s");
  }
}

void Console::infoRegisters(const std::string &names) {
  needFrames();
  const debug::View view = session_.view();
  Evaluator &evaluator = session_.module().evaluator;
  const check::Function *function = evaluator.functionOf(view);
  std::vector<std::string> wanted;
  std::istringstream stream(names);
  for (std::string name; stream >> name;)
    wanted.push_back((name[0] == '$' ? "%" + name.substr(1) : name[0] == '%' ? name : "%" + name));
  for (const std::string &name : wanted)
    if (std::ranges::none_of(function->registers,
                             [&](const check::Register *r) { return r->name == name; }))
      throw DebugError("Invalid register `" + name.substr(1) + "'");
  std::vector<const check::Register *> all(function->registers.begin(), function->registers.end());
  for (const check::Register *reg : all) {
    if (!wanted.empty() && std::ranges::find(wanted, reg->name) == wanted.end())
      continue;
    const debug::DebugValue value = evaluator.registerValue(*reg, view);
    const bool isPlain = value.type->kind == debug::Type::Kind::boolean;
    const std::string bits = isPlain ? "" : evaluator.format(value, 'x');
    std::string natural = evaluator.format(value);
    if (reg->type == isa::Type::b32 && !isPlain) // an integer or a float: both
      natural = evaluator.format(value, 'd') + "\t" + evaluator.format(value, 'f');
    std::printf("%-10s %-20s %s\n", std::string(reg->name).c_str(), bits.c_str(), natural.c_str());
  }
}

void Console::infoLocals(bool areArguments) {
  const std::vector<FrameSight> frames = needFrames();
  const debug::View view = session_.view();
  debug::ModuleSight &module = session_.module();
  std::vector<std::string> seen;
  const uint32_t instruction = module.evaluator.instructionOf(view);
  for (const debug::SourceVariable *variable : module.info.visibleAt(instruction)) {
    if (variable->isParameter != areArguments ||
        std::ranges::find(seen, variable->name) != seen.end() || variable->end == ~uint32_t{0})
      continue;
    seen.push_back(variable->name);
    std::string value;
    try {
      value = module.evaluator.format(module.evaluator.variableValue(*variable, view));
    } catch (const DebugError &error) {
      value = std::string("<") + error.what() + ">";
    }
    std::printf("%s = %s\n", variable->name.c_str(), value.c_str());
  }
  if (!seen.empty())
    return;
  if (areArguments) { // those of the PTX
    const check::Function *function = module.evaluator.functionOf(view);
    for (const check::Variable *parameter : function->signature.parameters)
      if (parameter->space == isa::StateSpace::param) {
        const std::string name(parameter->name);
        std::printf("%s = %s\n", name.c_str(),
                    module.evaluator.format(module.evaluator.evaluate(name, view)).c_str());
      }
    return;
  }
  std::printf("No locals: the PTX says nothing of the source's variables (nvcc -G does); "
              "registers: info registers.\n");
}

void Console::infoFunctions() {
  for (uint32_t f = 0; f < session_.module().map.module().functions.size(); ++f) {
    const check::Function &function = session_.module().map.function(f);
    if (function.body.empty())
      continue;
    std::printf("%-8s %s  (ptx:%u)\n", function.isEntry ? "kernel" : "function",
                debug::SourceMap::plainName(function.name).c_str(), function.line);
  }
}

void Console::infoLaunches() {
  for (size_t i = 0; i < session_.program().launches(); ++i) {
    const debug::LaunchFacts &facts = session_.program().launch(i);
    const auto shape = [](abi::Dim3 d) {
      return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) +
             ")";
    };
    std::printf("%c %-4llu %s<<<%s,%s>>>\n", i == session_.machine().launch() ? '*' : ' ',
                static_cast<unsigned long long>(session_.program().numberOf(i)),
                debug::SourceMap::plainName(facts.kernel->name).c_str(), shape(facts.grid).c_str(),
                shape(facts.block).c_str());
  }
}

void Console::infoSource() {
  const std::vector<FrameSight> frames = needFrames();
  const FrameSight &frame = frames[std::min(session_.frame(), frames.size() - 1)];
  debug::SourceMap &map = session_.module().map;
  std::printf("PTX: %s, line %u: %s\n", map.name().c_str(), frame.ptxLine,
              map.text(frame.instruction).c_str());
  if (!frame.source) {
    std::printf("No source lines are known of it (nvcc -lineinfo or -G).\n");
    return;
  }
  const std::string found = map.findFile(frame.source->file);
  std::printf("Source: %s, line %u%s\n", frame.source->file.c_str(), frame.source->line,
              found.empty() ? " (the file is not here)" : "");
}

void Console::infoTime() {
  const debug::Machine &machine = session_.machine();
  std::printf("time %llu: so many instructions were executed",
              static_cast<unsigned long long>(machine.time()));
  if (machine.launch() > 0)
    if (const auto start = machine.startOf(machine.launch()))
      std::printf(", %llu of them in this launch",
                  static_cast<unsigned long long>(machine.time() - *start));
  std::printf("\n");
}

// --- The grid ----------------------------------------------------------------------------------

namespace {

/// "running", "not begun", "ended" or what it waits at.
std::string stateOf(const rt::ThreadSight &sight, const debug::Machine &machine) {
  if (sight.wait == rt::WaitKind::unstarted)
    return "not begun";
  if (sight.wait == rt::WaitKind::done)
    return "ended";
  if (sight.waitsAt.empty())
    return machine.find(sight.place)       ? "running"
           : machine.hasEnded(sight.place) ? "ended"
                                           : "not begun";
  const size_t end = sight.waitsAt.find(':');
  return "waits: " + sight.waitsAt.substr(0, end);
}

} // namespace

void Console::showFocus() {
  const debug::Machine &machine = session_.machine();
  const char *state =
      session_.focusThread()               ? ""
      : machine.hasEnded(session_.focus()) ? " (it has ended; reverse steps go back)"
      : session_.isRunning() ? " (it has not begun; steps go to its first instruction)"
                             : " (nothing runs)";
  std::printf("kernel %s, %s%s\n",
              debug::SourceMap::plainName(session_.launch().kernel->name).c_str(),
              session_.threadText(session_.focus()).c_str(), state);
}

void Console::infoThreads() {
  const debug::Machine &machine = session_.machine();
  if (!machine.thread())
    throw DebugError("nothing is stopped: `run` first");
  const debug::LaunchFacts &facts = session_.launch();
  struct Row {
    GangPlace first, last;
    std::string state, at;
    uint64_t count = 0;
    bool hasFocus = false;
  };
  std::vector<Row> rows;
  for (const rt::ThreadSight &sight : rt::threadsInFlight(*machine.thread()->gang)) {
    const debug::Thread *thread = machine.find(sight.place);
    const std::string state = stateOf(sight, machine);
    const std::string at =
        thread ? session_.placeText(thread->instruction()) + " (ptx:" +
                     std::to_string(session_.module().map.ptxLine(thread->instruction())) + ")"
               : "";
    const bool isSame = !rows.empty() && rows.back().state == state && rows.back().at == at &&
                        rows.back().last.block == sight.place.block;
    if (!isSame)
      rows.push_back({sight.place, sight.place, state, at, 0, false});
    rows.back().last = sight.place;
    ++rows.back().count;
    rows.back().hasFocus |= sight.place == session_.focus();
  }
  std::printf("  %-12s %-12s %-12s %5s  %-20s %s\n", "Block", "Thread", "To thread", "Count",
              "State", "At");
  for (const Row &row : rows)
    std::printf("%c %-12s %-12s %-12s %5llu  %-20s %s\n", row.hasFocus ? '*' : ' ',
                coordinates(row.first.block, facts.grid).c_str(),
                coordinates(row.first.thread, facts.block).c_str(),
                coordinates(row.last.thread, facts.block).c_str(),
                static_cast<unsigned long long>(row.count), row.state.c_str(), row.at.c_str());
}

void Console::infoBlocks() {
  const debug::Machine &machine = session_.machine();
  if (!machine.thread())
    throw DebugError("nothing is stopped: `run` first");
  const debug::LaunchFacts &facts = session_.launch();
  std::vector<uint64_t> inFlight;
  for (const rt::ThreadSight &sight : rt::threadsInFlight(*machine.thread()->gang))
    if (inFlight.empty() || inFlight.back() != sight.place.block)
      inFlight.push_back(sight.place.block);
  std::ranges::sort(inFlight);
  const uint64_t blocks = uint64_t{facts.grid.x} * facts.grid.y * facts.grid.z;
  const auto stateAt = [&](uint64_t block) {
    return std::ranges::binary_search(inFlight, block) ? "running"
           : machine.hasEnded({block, 0})              ? "ended"
                                                       : "not begun";
  };
  std::printf("  %-14s %-14s %6s  %s\n", "Block", "To block", "Count", "State");
  for (uint64_t first = 0; first < blocks;) {
    const std::string state = stateAt(first);
    uint64_t last = first;
    while (last + 1 < blocks && stateAt(last + 1) == state)
      ++last;
    const uint64_t focus = session_.focus().block;
    std::printf("%c %-14s %-14s %6llu  %s\n", focus >= first && focus <= last ? '*' : ' ',
                coordinates(first, facts.grid).c_str(), coordinates(last, facts.grid).c_str(),
                static_cast<unsigned long long>(last - first + 1), state.c_str());
    first = last + 1;
  }
}

void Console::infoWarps() {
  const debug::Machine &machine = session_.machine();
  if (!machine.thread())
    throw DebugError("nothing is stopped: `run` first");
  struct Warp {
    uint32_t running = 0, waiting = 0, ended = 0;
    std::string at;
  };
  std::map<uint32_t, Warp> warps;
  for (const rt::ThreadSight &sight : rt::threadsInFlight(*machine.thread()->gang)) {
    if (sight.place.block != session_.focus().block)
      continue;
    Warp &warp = warps[sight.place.thread / abi::kWarpSize];
    const uint32_t bit = 1u << sight.place.thread % abi::kWarpSize;
    const std::string state = stateOf(sight, machine);
    const debug::Thread *thread = machine.find(sight.place);
    if (state == "ended")
      warp.ended |= bit;
    else if (state.starts_with("waits"))
      warp.waiting |= bit;
    else if (thread)
      warp.running |= bit;
    if (thread && warp.at.empty())
      warp.at = session_.placeText(thread->instruction()) +
                " (ptx:" + std::to_string(session_.module().map.ptxLine(thread->instruction())) +
                ")";
  }
  if (warps.empty())
    throw DebugError("block " + coordinates(session_.focus().block, session_.launch().grid) +
                     " is not running");
  std::printf("  Warp  %-11s %-11s %-11s %s\n", "Running", "Waiting", "Ended", "First at");
  for (const auto &[number, warp] : warps)
    std::printf("%c %-5u 0x%08x  0x%08x  0x%08x  %s\n",
                number == session_.focus().thread / abi::kWarpSize ? '*' : ' ', number,
                warp.running, warp.waiting, warp.ended, warp.at.c_str());
}

void Console::infoBarriers() {
  const debug::Machine &machine = session_.machine();
  if (!machine.thread())
    throw DebugError("nothing is stopped: `run` first");
  const auto all = rt::barriersInFlight(*machine.thread()->gang);
  bool isAny = false;
  for (const auto &[block, text] : all) {
    std::printf("block %s: %s\n", coordinates(block, session_.launch().grid).c_str(), text.c_str());
    isAny = true;
  }
  for (const rt::ThreadSight &sight : rt::threadsInFlight(*machine.thread()->gang))
    if (sight.wait == rt::WaitKind::mbarrier || sight.wait == rt::WaitKind::warp) {
      std::printf("%s waits for %s\n", session_.threadText(sight.place).c_str(),
                  sight.waitsAt.c_str());
      isAny = true;
    }
  if (!isAny)
    std::printf("Nobody waits at a barrier.\n");
}

// --- The focus ---------------------------------------------------------------------------------

namespace {

/// "(3,0,0)", "3", "3,1": what is missing is zero. Reads on from `at`.
uint64_t readCoordinates(const std::string &text, size_t &at, abi::Dim3 shape) {
  const auto skip = [&](const char *letters) {
    while (at < text.size() && std::strchr(letters, text[at]))
      ++at;
  };
  skip(" ");
  const bool hasBracket = at < text.size() && text[at] == '(';
  if (hasBracket)
    ++at;
  uint64_t values[3] = {};
  for (uint64_t &value : values) {
    skip(" ");
    if (at >= text.size() || !std::isdigit(static_cast<unsigned char>(text[at])))
      throw DebugError("coordinates look like (3,0,0)");
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])))
      value = value * 10 + static_cast<uint64_t>(text[at++] - '0');
    skip(" ");
    if (at >= text.size() || text[at] != ',')
      break;
    ++at;
  }
  if (hasBracket) {
    if (at >= text.size() || text[at] != ')')
      throw DebugError("coordinates look like (3,0,0)");
    ++at;
  }
  if (values[0] >= shape.x || values[1] >= shape.y || values[2] >= shape.z)
    throw DebugError("the grid has no such thread");
  return values[0] + shape.x * (values[1] + uint64_t{shape.y} * values[2]);
}

} // namespace

void Console::cuda(const std::string &text) {
  GangPlace place = session_.focus();
  const debug::LaunchFacts &facts = session_.launch();
  bool isSet = false;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end])))
      ++end;
    const std::string word = text.substr(at, end - at);
    at = end;
    const bool isAlone = text.find_first_not_of(' ', at) == std::string::npos;
    if ((word == "block" || word == "thread" || word == "kernel") && isAlone)
      break;
    isSet = true;
    if (word == "block") {
      place.block = readCoordinates(text, at, facts.grid);
    } else if (word == "thread") {
      place.thread = static_cast<uint32_t>(readCoordinates(text, at, facts.block));
    } else if (word == "warp") {
      place.thread = static_cast<uint32_t>(readCoordinates(text, at, {abi::kWarpSize, 1, 1})) *
                         abi::kWarpSize +
                     place.thread % abi::kWarpSize;
    } else if (word == "lane") {
      place.thread = place.thread / abi::kWarpSize * abi::kWarpSize +
                     static_cast<uint32_t>(readCoordinates(text, at, {abi::kWarpSize, 1, 1}));
    } else if (word == "kernel" || word == "device" || word == "sm") {
      readCoordinates(text, at, {1u << 30, 1, 1});
    } else {
      throw DebugError("`cuda` takes block (X,Y,Z), thread (X,Y,Z), warp N, lane N");
    }
  }
  if (isSet) {
    session_.setFocus(place);
    std::printf("[Switching focus to %s]\n", session_.threadText(place).c_str());
  }
  const auto frames = session_.frames(session_.focusThread());
  if (frames.empty() || !isSet)
    return showFocus();
  std::printf("%s\n", frameText(frames[0]).c_str());
  showLine(frames[0], !frames[0].source);
  lastFunction_ = frames[0].function;
  listedFile_.clear();
}

} // namespace ptxrun::command
