#include "loader/ptxrun/plot.h"

#include <cstdio>
#include <fstream>

#include "loader/debug/program.h"
#include "loader/plot/page.h"
#include "loader/ptxrun/errors.h"

namespace ptxrun::command {

void plotLaunches(debug::Program &program, const std::string &file) {
  std::vector<plot::PlottedLaunch> launches;
  std::string problem;
  for (size_t n = 0; n < program.launches() && problem.empty(); ++n) {
    const debug::LaunchFacts &facts = program.launch(n);
    plot::WarpCounter counter;
    const debug::LaunchResult result = program.run(n, counter, 0, nullptr);
    counter.finish();
    std::fputs(result.printed.c_str(), stdout);
    problem = counter.isGivenUp() ? "kernel '" + facts.kernel->name +
                                        "' does too much in one block to be plotted; a smaller "
                                        "problem shows the same lines"
                                  : result.outcome.message;
    launches.push_back(
        {facts.kernel->name, facts.grid, facts.block, counter.warps(), counter.counts(), problem});
  }
  const debug::LaunchFacts &first = program.launch(0);
  std::ofstream out(file, std::ios::binary);
  out << plot::makePage(first.module->name(), first.text, first.module->checked(), launches);
  if (!out.flush())
    throw UsageError("--plot: " + file + " cannot be written");
  if (problem.empty())
    problem = program.check();
  if (!problem.empty())
    throw Failed(problem);
  std::fprintf(stderr, "ptxrun: %s shows %zu launch%s\n", file.c_str(), launches.size(),
               launches.size() == 1 ? "" : "es");
}

} // namespace ptxrun::command
