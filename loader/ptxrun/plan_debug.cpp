// A plan as something to debug: its launches one after the other, from the buffers' first contents.
#include "loader/debug/program.h"
#include "loader/ptxrun/execution.h"
#include "rt/memory/device_memory.h"

namespace ptxrun::command {

/// The launches of an Execution.
class DescribedProgram final : public debug::Program {
 public:
  explicit DescribedProgram(Execution &execution) : execution_(execution) {
    for (size_t k = 0; k < execution.launches_.size(); ++k)
      addLaunch(execution.launches_[k]);
  }

  size_t launches() const override { return facts_.size(); }
  const debug::LaunchFacts &launch(size_t n) const override { return facts_[n]; }

  std::vector<Memory> memory() const override {
    std::vector<Memory> all;
    for (Buffer &buffer : execution_.buffers_)
      all.push_back({buffer.now.data(), buffer.now.bytes()});
    for (auto &[text, placed] : execution_.tensorMaps_)
      all.push_back({reinterpret_cast<char *>(&placed.map), sizeof placed.map});
    if (const auto variables = execution_.module_->variables(); !variables.empty())
      if (const auto block = rt::findDevice(reinterpret_cast<uint64_t>(variables[0].address)))
        all.push_back({reinterpret_cast<char *>(block->base), block->bytes});
    return all;
  }

  debug::LaunchResult run(size_t n, rt::Stepper &stepper, uint64_t firstGroup) override {
    device::LaunchOptions options = options_[n];
    debug::LaunchResult result;
    options.stepper = &stepper;
    options.firstGroup = firstGroup;
    options.printf = [&](std::string_view text) { result.printed += text; };
    result.outcome = execution_.module_->launch(*facts_[n].kernel, options);
    return result;
  }

 private:
  void addLaunch(const Launch &launch) {
    const device::KernelInfo &kernel = chooseKernel(*execution_.module_, launch.kernel);
    device::LaunchOptions options = execution_.launchOptions(launch);
    if (std::string problem = device::shapeLaunch(kernel, options); !problem.empty())
      throw Failed(problem);
    if (options.schedule == rt::Schedule::fast)
      options.schedule = rt::Schedule::serial;
    for (unsigned turn = 0; turn < launch.times; ++turn) {
      params_.push_back(packArguments(
          kernel, execution_.resolvedArguments(launch, kernel, turn),
          [this](std::string_view text) { return execution_.addressOf(text); }));
      options.params = params_.back().data();
      options.launchNumber = facts_.size();
      options_.push_back(options);
      debug::LaunchFacts facts;
      facts.module = execution_.module_.get();
      facts.kernel = &kernel;
      facts.text = readText(execution_.plan_.module);
      facts.grid = options.grid;
      facts.block = options.block;
      facts.params = options.params;
      facts.isRepeatable = options.schedule == rt::Schedule::serial && options.cluster.x == 0 &&
                           !options.isCooperative;
      facts_.push_back(std::move(facts));
    }
  }

  Execution &execution_;
  std::deque<std::vector<std::byte>> params_;
  std::vector<device::LaunchOptions> options_;
  std::vector<debug::LaunchFacts> facts_;
};

void Execution::debugLaunches() {
  DescribedProgram program(*this);
  options_.debug(program);
}

} // namespace ptxrun::command
