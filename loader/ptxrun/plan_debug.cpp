// A plan as something to debug: its launches one after the other, from the buffers' first contents.
#include "loader/capture/common.h"
#include "loader/debug/program.h"
#include "loader/ptxrun/execution.h"
#include "rt/memory/device_memory.h"

namespace ptxrun::command {

/// The launches of an Execution.
class DescribedProgram final : public debug::Program {
 public:
  /// Of all launches, or of number `only`; those before that one run now.
  DescribedProgram(Execution &execution, std::optional<uint64_t> only)
      : execution_(execution), only_(only) {
    for (const Launch &launch : execution.launches_)
      addLaunch(launch);
    if (only_ && facts_.empty())
      throw UsageError("there is no launch " + std::to_string(*only_));
    printed_.resize(facts_.size());
  }

  size_t launches() const override { return facts_.size(); }
  uint64_t numberOf(size_t n) const override { return only_ ? *only_ : n; }
  const debug::LaunchFacts &launch(size_t n) const override { return facts_[n]; }

  std::vector<Memory> memory() const override {
    std::vector<Memory> all;
    for (Buffer &buffer : execution_.buffers_)
      all.push_back({buffer.now.data(), buffer.now.bytes()});
    for (auto &[text, map] : execution_.tensorMaps_)
      all.push_back({map.data(), map.bytes()});
    if (const auto variables = execution_.module_->variables(); !variables.empty())
      if (const auto block = rt::findDevice(reinterpret_cast<uint64_t>(variables[0].address)))
        all.push_back({reinterpret_cast<char *>(block->base), block->bytes});
    return all;
  }

  debug::LaunchResult run(size_t n, rt::Stepper &stepper, uint64_t firstGroup,
                          const rt::LaunchCheckpoint *from) override {
    device::LaunchOptions options = options_[n];
    debug::LaunchResult result;
    options.stepper = &stepper;
    options.firstGroup = firstGroup;
    options.from = from;
    options.printf = [&](std::string_view text) { result.printed += text; };
    result.outcome = execution_.module_->launch(*facts_[n].kernel, options);
    printed_[n] = result.printed;
    return result;
  }

  std::string check() override {
    if (only_)
      return {}; // it need not be the last
    execution_.printed_.clear();
    for (const std::string &text : printed_)
      execution_.printed_ += text;
    try {
      execution_.checkExpectations();
    } catch (const Failed &failed) {
      return failed.what();
    }
    return {};
  }

 private:
  void addLaunch(const Launch &launch) {
    const device::KernelInfo &kernel = chooseKernel(*execution_.module_, launch.kernel);
    device::LaunchOptions options = execution_.launchOptions(launch);
    if (std::string problem = execution_.completeShape(kernel, options); !problem.empty())
      throw Failed(problem);
    for (unsigned turn = 0; turn < launch.times; ++turn, ++number_) {
      if (only_ && number_ > *only_)
        return;
      params_.push_back(
          packArguments(kernel, execution_.resolvedArguments(launch, kernel, turn),
                        [this](std::string_view text) { return execution_.addressOf(text); }));
      options.params = params_.back().data();
      options.launchNumber = number_;
      capture::chooseDebuggedOrder(*execution_.module_, kernel, options);
      if (only_ && number_ < *only_) {
        device::LaunchOptions usual = execution_.launchOptions(launch);
        usual.params = options.params;
        execution_.asExpected(launch, execution_.module_->launch(kernel, usual));
        continue;
      }
      options_.push_back(options);
      debug::LaunchFacts facts;
      facts.module = execution_.module_.get();
      facts.kernel = &kernel;
      facts.text = readText(execution_.plan_.module);
      facts.grid = options.grid;
      facts.block = options.block;
      facts.params = options.params;
      facts.isRepeatable = debug::isRepeatable(options);
      facts_.push_back(std::move(facts));
    }
  }

  Execution &execution_;
  const std::optional<uint64_t> only_;
  uint64_t number_ = 0;
  std::deque<std::vector<std::byte>> params_;
  std::vector<device::LaunchOptions> options_;
  std::vector<debug::LaunchFacts> facts_;
  std::vector<std::string> printed_; ///< by launch
};

void Execution::debugLaunches() {
  DescribedProgram program(*this, options_.debugLaunch);
  options_.debug(program);
}

} // namespace ptxrun::command
