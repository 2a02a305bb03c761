// The code of a module's kernels and how it gets better: compiled quickly for the first launch,
// thoroughly for those that follow.
#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "loader/device/device.h"
#include "loader/device/form_record.h"
#include "loader/device/variables.h"
#include "rt/launch/launch.h"
#include "translate/translate.h"

namespace ptxrun::device {

/// What kernels are compiled from, and the variables they refer to. Outlives its Module while a
/// compilation in the background uses it.
struct Source {
  std::unique_ptr<translate::Module> translated;
  VariableMemory variables;
  std::unique_ptr<FormRecord> record; ///< null where this process does not record forms

  /// Null on errors, and `outcome` says why.
  std::shared_ptr<const jit::Kernel> compile(const std::string &kernel, const CodeOptions &,
                                             Outcome &outcome);
  /// Where code finds a variable of the module; null if there is none of that name.
  void *address(std::string_view variable) const;
  /// What an earlier launch or process compiled; null if there is nothing.
  std::shared_ptr<const jit::Kernel> find(const std::string &kernel, const CodeOptions &);
};

/// From baseline to optimised code of one variant. The compilation starts in the background as soon
/// as one launch has spent so much time in the baseline code that it will pay; launches to come
/// wait for it (isDue) once those before took so long that it is worth while.
class Upgrade final : public rt::CodeUpgrade, public std::enable_shared_from_this<Upgrade> {
 public:
  /// `key` is the optimised variant's; `baselineNs` what compiling the baseline code took.
  Upgrade(std::shared_ptr<Source> source, std::string kernel, const CodeOptions &key,
          uint64_t baselineNs);

  /// A launch ended that ran the baseline code, at least in the beginning.
  void noteLaunch(uint64_t nanoseconds);
  bool isDue() const;
  /// How long launches go on in baseline code before one waits.
  uint64_t waitNs() const { return waitNs_; }
  /// Whether a launch that would take `launchNs` in baseline code waits for better code instead,
  /// which has been made for `elapsedNs`: where it comes soon, by what the baseline code took, or
  /// the launch is no shorter than a quarter of the wait.
  static bool isWorthWaiting(uint64_t launchNs, uint64_t baselineNs, uint64_t elapsedNs);
  void tellRuntime(uint64_t nanoseconds) override;
  /// Compiles, or waits for the compilation that runs. Null if that fails; the baseline then stays.
  std::shared_ptr<const jit::Kernel> finish();
  /// The kernel code() belongs to; null before.
  std::shared_ptr<const jit::Kernel> kernel() const;

 private:
  void compileInBackground();

  const std::shared_ptr<Source> source_;
  const std::string name_;
  const CodeOptions key_;
  const uint64_t baselineNs_, askNs_, waitNs_;
  std::atomic<bool> isAsked_{false};
  std::atomic<bool> hasFailed_{false};
  std::atomic<uint64_t> askedAtNs_{0};    ///< by the steady clock; 0: not yet
  std::atomic<uint64_t> launchNs_{0};     ///< of launches that ended, wall time
  std::atomic<uint64_t> lastLaunchNs_{0}; ///< of the last of them
  std::atomic<uint64_t> spentNs_{0};      ///< by all workers, as far as they told
  mutable std::mutex mutex_;              ///< guards kernel_
  std::shared_ptr<const jit::Kernel> kernel_;
};

} // namespace ptxrun::device
