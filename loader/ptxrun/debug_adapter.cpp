// The requests of the debug adapter protocol, one function each. Threads are those that live; steps
// go both ways.
#include "loader/ptxrun/debug_adapter.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>

#include "loader/ptxrun/errors.h"
#include "rt/exec/waits.h"
#include "translate/support/hex.h"

namespace ptxrun::command {

using debug::DebugError;
using debug::DebugValue;
using debug::Direction;
using debug::Evaluator;
using debug::FrameSight;
using debug::GangPlace;
using debug::Step;
using debug::Stop;
using debug::View;
using support::hex;

namespace {

constexpr size_t kMostThreads = 1024, kMostChildren = 1000;

std::string base64(const std::string &bytes) {
  constexpr const char *kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < count ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k)
      text += k <= count ? kLetters[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

} // namespace

// --- Messages ----------------------------------------------------------------------------------

void DebugAdapter::respond(const json &request, json body) {
  channel_.send({{"type", "response"},
                 {"request_seq", request.value("seq", 0)},
                 {"success", true},
                 {"command", request.value("command", "")},
                 {"body", std::move(body)}});
}

void DebugAdapter::fail(const json &request, const std::string &why) {
  channel_.send({{"type", "response"},
                 {"request_seq", request.value("seq", 0)},
                 {"success", false},
                 {"command", request.value("command", "")},
                 {"message", why},
                 {"body", {{"error", {{"id", 1}, {"format", why}}}}}});
}

void DebugAdapter::event(const char *name, json body) {
  channel_.send({{"type", "event"}, {"event", name}, {"body", std::move(body)}});
}

nlohmann::json DebugAdapter::awaitLaunch() {
  for (json request; !(request = channel_.next()).is_null();) {
    const std::string command = request.value("command", "");
    if (command == "initialize") {
      respond(request, {{"supportsConfigurationDoneRequest", true},
                        {"supportsFunctionBreakpoints", true},
                        {"supportsConditionalBreakpoints", true},
                        {"supportsEvaluateForHovers", true},
                        {"supportsStepBack", true},
                        {"supportsReadMemoryRequest", true},
                        {"supportsSteppingGranularity", true},
                        {"supportsDataBreakpoints", true},
                        {"supportsDelayedStackTraceLoading", true},
                        {"supportTerminateDebuggee", true}});
    } else if (command == "launch" || command == "attach") {
      launch_ = request;
      const json arguments = request.value("arguments", json::object());
      stopsAtEnd_ = arguments.value("stopAtEnd", true);
      stopsOnEntry_ = arguments.value("stopOnEntry", false);
      return arguments;
    } else if (command == "disconnect") {
      respond(request);
      return nullptr;
    } else {
      fail(request, "`launch` comes first");
    }
  }
  return nullptr;
}

void DebugAdapter::refuse(const std::string &why) {
  fail(launch_, why);
  event("terminated");
}

void DebugAdapter::serve(debug::Program &program) {
  session_ = std::make_unique<debug::Session>(program);
  channel_.setMachine(&session_->machine());
  respond(launch_);
  event("initialized");
  while (!isOver_) {
    const json request = channel_.next();
    if (request.is_null())
      break;
    handle(request);
  }
  channel_.setMachine(nullptr);
  session_.reset();
}

void DebugAdapter::handle(const json &request) {
  const std::string command = request.value("command", "");
  const json arguments = request.value("arguments", json::object());
  try {
    respond(request, perform(command, arguments));
    afterwards(command, arguments);
  } catch (const DebugError &error) {
    fail(request, error.what());
  } catch (
      const json::exception &error) { // what a request must have is missing, or is something else
    fail(request, error.what());
  }
}

/// What is answered at once.
nlohmann::json DebugAdapter::perform(const std::string &command, const json &arguments) {
  static const char *const kMoves[] = {
      "configurationDone", "next",  "stepIn",     "stepOut",   "stepBack",
      "reverseContinue",   "pause", "disconnect", "terminate", "setExceptionBreakpoints"};
  if (command == "setBreakpoints")
    return setBreakpoints(arguments);
  if (command == "setFunctionBreakpoints")
    return setFunctionBreakpoints(arguments);
  if (command == "dataBreakpointInfo")
    return dataBreakpointInfo(arguments);
  if (command == "setDataBreakpoints")
    return setDataBreakpoints(arguments);
  if (command == "threads")
    return threads();
  if (command == "stackTrace")
    return stackTrace(arguments);
  if (command == "scopes")
    return scopes(arguments);
  if (command == "variables")
    return variables(arguments);
  if (command == "evaluate")
    return evaluate(arguments);
  if (command == "readMemory")
    return readMemory(arguments);
  if (command == "source")
    return source();
  if (command == "continue")
    return {{"allThreadsContinued", true}};
  if (std::ranges::find(kMoves, command) != std::end(kMoves)) {
    const bool isStep = command == "next" || command.starts_with("step");
    if (isStep && arguments.contains("threadId")) // before the answer: it may be refused
      session_->setFocus(placeOf(arguments["threadId"]));
    return json::object();
  }
  throw DebugError("the request '" + command + "' is not known");
}

/// What a request makes happen behind its answer.
void DebugAdapter::afterwards(const std::string &command, const json &arguments) {
  const auto step = [&](Step line, Step instruction, Direction direction) {
    const bool isByInstruction = arguments.value("granularity", "line") == "instruction";
    report(session_->step(isByInstruction ? instruction : line, direction));
  };
  if (command == "configurationDone") {
    if (!stopsOnEntry_)
      return report(session_->run());
    report(session_->goTo(0));
  } else if (command == "continue") {
    report(session_->resume(Direction::forwards));
  } else if (command == "reverseContinue") {
    report(session_->resume(Direction::backwards));
  } else if (command == "next") {
    step(Step::over, Step::instructionOver, Direction::forwards);
  } else if (command == "stepIn") {
    step(Step::line, Step::instruction, Direction::forwards);
  } else if (command == "stepOut") {
    step(Step::out, Step::out, Direction::forwards);
  } else if (command == "stepBack") {
    step(Step::over, Step::instruction, Direction::backwards);
  } else if (command == "disconnect" || command == "terminate") {
    isOver_ = true;
    event("terminated");
  }
}

/// Tells where it stopped, and what kernels printed.
void DebugAdapter::report(const Stop &stop) {
  handles_.clear();
  frames_.clear();
  if (const std::string printed = session_->machine().takePrinted(); !printed.empty())
    event("output", {{"category", "stdout"}, {"output", printed}});
  const bool hasEnded = stop.why == Stop::Why::ended || stop.why == Stop::Why::notRunning;
  if (hasEnded) {
    const std::string problem = session_->program().check();
    event("output",
          {{"category", "console"},
           {"output", "The launch has ended." + (problem.empty() ? "" : " " + problem) + "\n"}});
    if (!stopsAtEnd_) {
      event("exited", {{"exitCode", 0}});
      return event("terminated");
    }
  }
  static const std::map<Stop::Why, const char *> kReasons = {
      {Stop::Why::step, "step"},
      {Stop::Why::breakpoint, "breakpoint"},
      {Stop::Why::watchpoint, "data breakpoint"},
      {Stop::Why::write, "step"},
      {Stop::Why::noWrite, "step"},
      {Stop::Why::finished, "step"},
      {Stop::Why::threadEnded, "step"},
      {Stop::Why::beginning, "entry"},
      {Stop::Why::ended, "pause"},
      {Stop::Why::failed, "exception"},
      {Stop::Why::interrupted, "pause"},
      {Stop::Why::notRunning, "pause"}};
  const bool isEntry = stop.why == Stop::Why::step && session_->machine().time() == 0;
  json body = {{"reason", isEntry ? "entry" : kReasons.at(stop.why)},
               {"threadId", idOf(session_->focus())},
               {"allThreadsStopped", true}};
  if (hasEnded)
    body["description"] = "the launch has ended; step back to look";
  if (!stop.breakpoints.empty())
    body["hitBreakpointIds"] = stop.breakpoints;
  if (stop.why == Stop::Why::failed) {
    body["text"] = stop.message;
    event("output", {{"category", "stderr"}, {"output", stop.message + "\n"}});
  }
  if (stop.why == Stop::Why::watchpoint)
    body["text"] = stop.before + " -> " + stop.after;
  event("stopped", std::move(body));
}

// --- Breakpoints -------------------------------------------------------------------------------

void DebugAdapter::clearBreakpoints(const std::string &group) {
  for (const int number : groups_[group])
    session_->breakpoints().erase(number);
  groups_[group].clear();
}

nlohmann::json DebugAdapter::addBreakpoint(const std::string &where, const std::string &condition,
                                           const char *group) {
  try {
    const debug::Breakpoint &made = session_->addBreakpoint(where, condition, false);
    groups_[group].push_back(made.number);
    const auto &[sight, places] = *made.places.begin();
    const auto source = sight->map.source(places[0]);
    const size_t colon = made.description.rfind(':');
    const uint32_t line =
        colon != std::string::npos
            ? static_cast<uint32_t>(std::atoi(made.description.c_str() + colon + 1))
        : source ? source->line
                 : sight->map.ptxLine(places[0]);
    return {{"id", made.number}, {"verified", true}, {"line", line}};
  } catch (const DebugError &error) {
    return {{"verified", false}, {"message", error.what()}};
  }
}

nlohmann::json DebugAdapter::setBreakpoints(const json &arguments) {
  const json source = arguments.value("source", json::object());
  const std::string path = source.value("path", source.value("name", ""));
  const bool isPtx = source.value("sourceReference", 0) != 0 || path.ends_with(".ptx");
  const std::string file = path.substr(path.rfind('/') + 1);
  clearBreakpoints(path);
  json made = json::array();
  for (const json &one : arguments.value("breakpoints", json::array())) {
    const std::string line = std::to_string(one.at("line").get<uint32_t>());
    made.push_back(
        addBreakpoint(isPtx ? line : file + ":" + line, one.value("condition", ""), path.c_str()));
  }
  return {{"breakpoints", made}};
}

nlohmann::json DebugAdapter::setFunctionBreakpoints(const json &arguments) {
  clearBreakpoints("functions");
  json made = json::array();
  for (const json &one : arguments.value("breakpoints", json::array()))
    made.push_back(addBreakpoint(one.at("name"), one.value("condition", ""), "functions"));
  return {{"breakpoints", made}};
}

/// A dataId is an expression of bytes at an address.
nlohmann::json DebugAdapter::dataBreakpointInfo(const json &arguments) {
  const std::string name = arguments.at("name");
  const int64_t reference = arguments.value("variablesReference", int64_t{0});
  View view = session_->view();
  DebugValue value;
  const bool isMember = reference > 0 && reference <= static_cast<int64_t>(handles_.size()) &&
                        handles_[static_cast<size_t>(reference - 1)].kind == Handle::Kind::value;
  if (isMember) {
    const Handle &parent = handles_[static_cast<size_t>(reference - 1)];
    for (size_t i = 0; i < session_->module().evaluator.memberCount(parent.value); ++i)
      if (session_->module().evaluator.memberName(parent.value, i) == name)
        value = session_->module().evaluator.member(parent.value, i);
  } else {
    value = session_->module().evaluator.evaluate(name, view);
  }
  if (!value.address && isMember)
    return {{"dataId", nullptr}, {"description", "'" + name + "' is part of a register"}};
  if (!value.address)
    return {{"dataId", name}, {"description", name}, {"accessTypes", {"write"}}};
  return {
      {"dataId", "*(uint8_t *) " + hex(*value.address) + " @ " + std::to_string(value.type->bytes)},
      {"description", name},
      {"accessTypes", {"write"}}};
}

nlohmann::json DebugAdapter::setDataBreakpoints(const json &arguments) {
  clearBreakpoints("data");
  json made = json::array();
  for (const json &one : arguments.value("breakpoints", json::array()))
    try {
      const debug::Breakpoint &point = session_->addWatchpoint(one.at("dataId"));
      groups_["data"].push_back(point.number);
      made.push_back({{"id", point.number}, {"verified", true}});
    } catch (const DebugError &error) {
      made.push_back({{"verified", false}, {"message", error.what()}});
    }
  return {{"breakpoints", made}};
}

// --- Threads and calls -------------------------------------------------------------------------

int64_t DebugAdapter::idOf(GangPlace place) {
  const abi::Dim3 &block = session_->launch().block;
  return static_cast<int64_t>(place.block * block.x * block.y * block.z + place.thread + 1);
}

GangPlace DebugAdapter::placeOf(int64_t id) {
  const abi::Dim3 &block = session_->launch().block;
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  return {static_cast<uint64_t>(id - 1) / threads,
          static_cast<uint32_t>(static_cast<uint64_t>(id - 1) % threads)};
}

nlohmann::json DebugAdapter::threads() {
  json all = json::array();
  const auto add = [&](GangPlace place) {
    all.push_back({{"id", idOf(place)}, {"name", session_->threadText(place)}});
  };
  const debug::Machine &machine = session_->machine();
  bool hasFocus = false;
  if (machine.thread())
    for (const rt::ThreadSight &sight : rt::threadsInFlight(*machine.thread()->gang))
      if (machine.find(sight.place) && all.size() < kMostThreads) {
        add(sight.place);
        hasFocus |= sight.place == session_->focus();
      }
  if (!hasFocus)
    add(session_->focus());
  return {{"threads", all}};
}

nlohmann::json DebugAdapter::sourceOf(const FrameSight &frame) {
  namespace fs = std::filesystem;
  const debug::SourceMap &map = session_->module().map;
  std::error_code error;
  const std::string file = frame.source ? map.findFile(frame.source->file) : "";
  if (!file.empty())
    return {{"name", fs::path(file).filename().string()},
            {"path", fs::absolute(file, error).lexically_normal().string()}};
  if (fs::is_regular_file(map.name(), error))
    return {{"name", fs::path(map.name()).filename().string()},
            {"path", fs::absolute(map.name(), error).lexically_normal().string()}};
  return {{"name", map.name()}, {"sourceReference", 1}};
}

nlohmann::json DebugAdapter::stackTrace(const json &arguments) {
  const GangPlace place = placeOf(arguments.at("threadId"));
  const std::vector<FrameSight> all = session_->frames(session_->machine().find(place));
  const debug::SourceMap &map = session_->module().map;
  const size_t first = arguments.value("startFrame", size_t{0});
  size_t count = arguments.value("levels", size_t{0});
  count = count ? std::min(all.size(), first + count) : all.size();
  json frames = json::array();
  for (size_t i = first; i < count; ++i) {
    frames_.push_back({place, i});
    const FrameSight &frame = all[i];
    const bool hasSource = frame.source && !map.findFile(frame.source->file).empty();
    frames.push_back({{"id", frames_.size()},
                      {"name", frame.function},
                      {"source", sourceOf(frame)},
                      {"line", hasSource ? frame.source->line : frame.ptxLine},
                      {"column", 1},
                      {"instructionPointerReference", std::to_string(frame.instruction)}});
  }
  return {{"stackFrames", frames}, {"totalFrames", all.size()}};
}

View DebugAdapter::viewOfFrame(int64_t frame) {
  if (frame < 1 || frame > static_cast<int64_t>(frames_.size()))
    return session_->view();
  const auto &[place, number] = frames_[static_cast<size_t>(frame - 1)];
  const debug::Thread *thread = session_->machine().find(place);
  if (!thread)
    throw DebugError("the thread is not running");
  return session_->viewOf(*thread, session_->frames(thread)[number].call);
}

int64_t DebugAdapter::keep(Handle handle) {
  handles_.push_back(std::move(handle));
  return static_cast<int64_t>(handles_.size());
}

// --- Values ------------------------------------------------------------------------------------

nlohmann::json DebugAdapter::scopes(const json &arguments) {
  const View view = viewOfFrame(arguments.at("frameId"));
  const auto scope = [&](const char *name, Handle::Kind kind, bool isExpensive) {
    return json{
        {"name", name}, {"variablesReference", keep({kind, view, {}})}, {"expensive", isExpensive}};
  };
  return {
      {"scopes",
       {scope("Locals", Handle::Kind::locals, false), scope("Thread", Handle::Kind::thread, false),
        scope("Registers", Handle::Kind::registers, true)}}};
}

nlohmann::json DebugAdapter::shown(const std::string &name, const DebugValue &value, View view) {
  Evaluator &evaluator = session_->module().evaluator;
  json one = {{"name", name},
              {"value", evaluator.format(value, 0, 32)},
              {"type", value.type->describe()},
              {"variablesReference", 0}};
  if (evaluator.memberCount(value) > 0)
    one["variablesReference"] = keep({Handle::Kind::value, view, value});
  const bool isPointer = value.type->kind == debug::Type::Kind::pointer;
  if (isPointer || value.address)
    one["memoryReference"] =
        hex(isPointer ? static_cast<uint64_t>(Evaluator::asInteger(value)) : *value.address);
  return one;
}

nlohmann::json DebugAdapter::variables(const json &arguments) {
  const int64_t reference = arguments.at("variablesReference");
  if (reference < 1 || reference > static_cast<int64_t>(handles_.size()))
    throw DebugError("these variables are of an earlier stop");
  const Handle handle = handles_[static_cast<size_t>(reference - 1)];
  debug::ModuleSight &module = session_->module();
  json all = json::array();
  const auto add = [&](const std::string &name, auto evaluate) {
    try {
      all.push_back(shown(name, evaluate(), handle.view));
    } catch (const DebugError &error) {
      all.push_back({{"name", name},
                     {"value", std::string("<") + error.what() + ">"},
                     {"variablesReference", 0}});
    }
  };
  switch (handle.kind) {
  case Handle::Kind::locals: {
    std::vector<std::string> seen;
    for (const debug::SourceVariable *variable :
         module.info.visibleAt(module.evaluator.instructionOf(handle.view))) {
      if (std::ranges::find(seen, variable->name) != seen.end())
        continue;
      seen.push_back(variable->name);
      add(variable->name, [&] { return module.evaluator.variableValue(*variable, handle.view); });
    }
    if (seen.empty()) // what the PTX itself has
      for (const check::Variable *parameter :
           module.evaluator.functionOf(handle.view)->signature.parameters)
        add(std::string(parameter->name),
            [&] { return module.evaluator.evaluate(std::string(parameter->name), handle.view); });
    break;
  }
  case Handle::Kind::registers:
    for (const check::Register *reg : module.evaluator.functionOf(handle.view)->registers)
      add(std::string(reg->name),
          [&] { return module.evaluator.registerValue(*reg, handle.view); });
    break;
  case Handle::Kind::thread:
    for (const char *name : {"threadIdx", "blockIdx", "blockDim", "gridDim"})
      add(name, [&] { return module.evaluator.evaluate(name, handle.view); });
    break;
  case Handle::Kind::value:
    for (size_t i = 0; i < std::min(module.evaluator.memberCount(handle.value), kMostChildren); ++i)
      add(module.evaluator.memberName(handle.value, i),
          [&] { return module.evaluator.member(handle.value, i); });
  }
  return {{"variables", all}};
}

nlohmann::json DebugAdapter::evaluate(const json &arguments) {
  const std::string text = arguments.at("expression");
  const View view = viewOfFrame(arguments.value("frameId", int64_t{0}));
  constexpr std::string_view kLastWrite = "last-write ";
  Evaluator &evaluator = session_->module().evaluator;
  if (text.starts_with(kLastWrite)) { // of the debug console
    const DebugValue value = evaluator.evaluate(text.substr(kLastWrite.size()), view);
    const uint64_t address =
        value.address ? *value.address : static_cast<uint64_t>(Evaluator::asInteger(value));
    const Stop stop = session_->lastWrite(address, value.address ? value.type->bytes : 1);
    report(stop);
    return {{"result", stop.why == Stop::Why::write
                           ? "written by " + session_->threadText(session_->focus())
                           : "nothing wrote there before"},
            {"variablesReference", 0}};
  }
  json result = shown(text, evaluator.evaluate(text, view), view);
  result["result"] = result["value"];
  return result;
}

nlohmann::json DebugAdapter::readMemory(const json &arguments) {
  constexpr uint64_t kMostBytes = 1 << 20;
  const std::string reference = arguments.at("memoryReference");
  const uint64_t address = std::strtoull(reference.c_str(), nullptr, 0) +
                           static_cast<uint64_t>(arguments.value("offset", int64_t{0}));
  const uint64_t wanted = std::min(arguments.at("count").get<uint64_t>(), kMostBytes);
  std::string bytes(wanted, '\0');
  uint64_t readable = wanted;
  while (readable > 0 && !Evaluator::readMemory(address, bytes.data(), readable))
    readable /= 2;
  return {{"address", hex(address)},
          {"data", base64(bytes.substr(0, readable))},
          {"unreadableBytes", wanted - readable}};
}

nlohmann::json DebugAdapter::source() {
  return {{"content", session_->launch().text}, {"mimeType", "text/x-ptx"}};
}

} // namespace ptxrun::command
