// `ptxrun debug --dap`: the session as a server of the debug adapter protocol, for editors.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "loader/debug/session.h"

namespace ptxrun::command {

/// Messages to and from one client. Reads on a thread of its own, so that `pause` is heard while a
/// kernel runs. That thread owns it, too: it may wait for input that never comes, or meet the end
/// of it when nobody else is there any more.
class AdapterChannel {
 public:
  /// Standard input and output; what is printed from then on goes to standard error.
  static std::shared_ptr<AdapterChannel> overStandardStreams();
  /// The first client that connects to this port of the loopback; 0: any port, told on standard
  /// error. Throws UsageError.
  static std::shared_ptr<AdapterChannel> overPort(unsigned port);
  AdapterChannel(std::FILE *in, std::FILE *out) : in_(in), out_(out) {}
  ~AdapterChannel();

  /// The next request; null at the end.
  nlohmann::json next();
  void send(nlohmann::json);
  /// Whom to interrupt when a client says `pause` or `disconnect`; null: nobody.
  void setMachine(debug::Machine *);

 private:
  static std::shared_ptr<AdapterChannel> over(std::FILE *in, std::FILE *out);
  bool read(nlohmann::json &);
  void readAll();

  std::FILE *const in_, *const out_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<nlohmann::json> requests_;
  bool hasEnded_ = false;
  debug::Machine *machine_ = nullptr;
  int64_t sequence_ = 0;
  std::mutex sending_;
};

class DebugAdapter {
 public:
  explicit DebugAdapter(AdapterChannel &channel) : channel_(channel) {}
  /// Answers requests up to `launch` and returns its arguments; null where the client left before.
  nlohmann::json awaitLaunch();
  /// The session, until the client leaves.
  void serve(debug::Program &);
  /// `launch` cannot be done.
  void refuse(const std::string &why);

 private:
  using json = nlohmann::json;
  /// What a variablesReference stands for: the children of a value, or what a scope holds.
  struct Handle {
    enum class Kind : uint8_t { locals, registers, thread, value } kind = Kind::value;
    debug::View view;
    debug::DebugValue value;
  };

  void respond(const json &request, json body = json::object());
  void fail(const json &request, const std::string &why);
  void event(const char *name, json body = json::object());
  void handle(const json &request);
  json perform(const std::string &command, const json &arguments);
  void afterwards(const std::string &command, const json &arguments);

  json setBreakpoints(const json &), setFunctionBreakpoints(const json &),
      setDataBreakpoints(const json &);
  json dataBreakpointInfo(const json &);
  json threads(), stackTrace(const json &), scopes(const json &), variables(const json &),
      evaluate(const json &), readMemory(const json &), source();
  void report(const debug::Stop &);
  json addBreakpoint(const std::string &where, const std::string &condition, const char *group);
  void clearBreakpoints(const std::string &group);
  json shown(const std::string &name, const debug::DebugValue &, debug::View);
  json sourceOf(const debug::FrameSight &);
  int64_t idOf(debug::GangPlace);
  debug::GangPlace placeOf(int64_t id);
  debug::View viewOfFrame(int64_t frame);
  int64_t keep(Handle);

  AdapterChannel &channel_;
  std::unique_ptr<debug::Session> session_;
  json launch_; ///< the request
  bool isOver_ = false, stopsAtEnd_ = true, stopsOnEntry_ = false;
  std::vector<Handle> handles_;
  std::vector<std::pair<debug::GangPlace, size_t>>
      frames_; ///< thread and number of its frame, by frame id from 1 on
  std::map<std::string, std::vector<int>> groups_; ///< breakpoints by source
};

} // namespace ptxrun::command
