#include "tests/growth/measure.h"

#include <time.h>

#include "translate/translate.h"

namespace ptxrun::growth {
namespace {

double cpuMilliseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
}

} // namespace

Cost measure(const std::string &text, Tier tier, unsigned lanes) {
  Cost cost;
  const double start = cpuMilliseconds();
  double last = start;
  translate::Options options;
  options.useCache = false;
  options.onStage = [&](const translate::StageReport &report) {
    const double now = cpuMilliseconds();
    cost.stages[std::string(report.stage)] += now - last;
    last = now;
  };
  const auto module = translate::Module::load("growth.ptx", text, options, cost.error);
  if (!module)
    return cost;
  static char variable[1 << 20]; // no code runs: any address will do
  CodeOptions key;
  key.lanes = lanes;
  key.block = {256, 1, 1};
  key.tier = tier;
  auto kernel = module->kernel("k", key, [](std::string_view) -> void * { return variable; });
  cost.milliseconds = cpuMilliseconds() - start;
  if (!kernel)
    cost.error = llvm::toString(kernel.takeError());
  for (const check::Function *function : module->checked().functions)
    cost.instructions += function->body.size();
  return cost;
}

} // namespace ptxrun::growth
