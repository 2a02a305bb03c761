// What happens after each stage: its time is taken, its product dumped if asked for, the observer
// told.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "translate/observe/stage_dump.h"
#include "translate/translate.h"

namespace ptxrun::translate {

/// Watches the stages of one module, or of one kernel variant. The clock of a stage starts when the
/// one before it was noted.
class StageWatch {
 public:
  StageWatch(const Options &options, observe::StageDump *dump, std::string kernel = "",
             std::string variant = "")
      : options_(options), dump_(dump), kernel_(std::move(kernel)), variant_(std::move(variant)) {}

  bool isDumping() const { return dump_ != nullptr; }

  /// A stage is done; `print` makes the text for dumps and runs only where dumps were asked for.
  void after(std::string_view stage, std::string_view product,
             const std::function<std::string()> &print) {
    const double milliseconds = elapsed();
    if (dump_ && print)
      dump_->write(stage, product, variant_, milliseconds, print());
    if (options_.onStage)
      options_.onStage({stage, kernel_, milliseconds});
    start_ = Clock::now();
  }
  /// A step inside a stage has something to show.
  void within(std::string_view stage, std::string_view product, std::string_view text) {
    if (dump_)
      dump_->write(stage, product, variant_, elapsed(), text);
  }
  bool isLast(std::string_view stage) const { return options_.stopAfter == stage; }

 private:
  using Clock = std::chrono::steady_clock;
  double elapsed() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  }

  const Options &options_;
  observe::StageDump *dump_;
  std::string kernel_, variant_;
  Clock::time_point start_ = Clock::now();
};

} // namespace ptxrun::translate
