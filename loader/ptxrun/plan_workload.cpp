// A plan as something that runs again and again under one schedule after the other.
#include "loader/ptxrun/execution.h"

namespace ptxrun::command {

void Execution::applyTry(device::LaunchOptions &options) const {
  if (tried_->script)
    return useScript(tried_->script, options);
  device::readSchedule(tried_->schedule, options);
}

void Execution::noteLaunch(const Launch &launch, const device::KernelInfo &kernel,
                           device::LaunchOptions &options) {
  infos_.push_back(
      {module_.get(), readText(plan_.module), kernel.name, options.grid, options.block});
  (void)launch;
  if (!tried_->records)
    return;
  std::vector<rt::ScheduleRecord> &records = *tried_->records;
  if (records.size() <= options.launchNumber)
    records.resize(options.launchNumber + 1);
  records[options.launchNumber].keepsAccesses = tried_->keepsAccesses;
  options.scheduleRecord = &records[options.launchNumber];
}

WorkloadResult Execution::run(const ScheduleTry &how) {
  tried_ = &how;
  infos_.clear();
  if (how.records)
    how.records->resize(1024); // they stay where they are while launches fill them in
  restoreBuffers();
  printed_.clear();
  launchNumber_ = 0;
  WorkloadResult result;
  for (size_t k = 0; k < launches_.size() && result.failure.empty(); ++k) {
    const device::Outcome outcome = launch(k);
    if (outcome.isOk())
      continue;
    result.failure = nameOf(outcome.code);
    result.message = outcome.message;
  }
  if (how.records)
    how.records->resize(std::min<size_t>(launchNumber_, how.records->size()));
  result.printed = printed_;
  for (Buffer &buffer : buffers_)
    result.contents.emplace_back(buffer.now.data(), buffer.now.bytes());
  tried_ = nullptr;
  return result;
}

std::vector<std::string> Execution::names() const {
  std::vector<std::string> all;
  for (const Buffer &buffer : buffers_)
    all.push_back(buffer.name);
  return all;
}

std::string Execution::describeByte(size_t number, uint64_t offset) const {
  const Buffer &buffer = buffers_[number];
  const uint64_t size = bytesOf(buffer.now.element());
  return buffer.name + "[" + std::to_string(offset / size) + "], byte " + std::to_string(offset) +
         " of " + buffer.now.describe();
}

Workload::LaunchInfo Execution::launch(uint64_t number) const {
  return number < infos_.size() ? infos_[number] : LaunchInfo{};
}

} // namespace ptxrun::command
