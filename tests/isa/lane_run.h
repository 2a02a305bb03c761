// A LaneModule run as it is: scalar, one thread after the other, without simt and the runtime.
// Tells a fault of a handler from one of the stages behind it.
#pragma once
#include <memory>
#include <string>

namespace ptxrun::isa_test {

class LaneRun {
 public:
  /// Parses and checks. On errors `message` is not empty.
  LaneRun(const std::string &name, const std::string &text, std::string &message);
  ~LaneRun();
  /// Runs kernel `name` for threads 0..threads-1 of blocks of `block`; the words it may use are
  /// %tid.x, %ntid.x, %ctaid.x. Returns what went wrong, empty if nothing did.
  std::string run(const std::string &name, unsigned threads, unsigned block, const void *params);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace ptxrun::isa_test
