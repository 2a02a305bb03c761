// Who is told what happens on the device: recordings.
#pragma once
#include <functional>
#include <string_view>

#include "loader/device/outcome.h"

namespace ptxrun::device {

class Module;
struct KernelInfo;
struct LaunchOptions;

/// Called from any thread. One per process, for good.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Around Module::load: what is allocated on this thread in between is the module's.
  virtual void moduleLoading() = 0;
  /// `variables`: where the module's variables are, null if it has none. `module` is null where it
  /// could not be loaded.
  virtual void moduleLoaded(const Module *module, std::string_view text, void *variables) = 0;
  virtual void moduleGone(const Module &) = 0;
  virtual void allocated(void *base, size_t bytes) = 0;
  /// Before it is freed.
  virtual void freed(void *base) = 0;
  /// Instead of a launch: `run` performs it, with the options it is given.
  using Run = std::function<Outcome(const LaunchOptions &)>;
  virtual Outcome launch(Module &, const KernelInfo &, const LaunchOptions &, const Run &run) = 0;
};

/// Set before anything is loaded or allocated; null (the default): nobody.
void setObserver(Observer *);
Observer *observer();

} // namespace ptxrun::device
