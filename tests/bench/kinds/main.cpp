// bench_kinds [--rounds N] [--only NAME] [--no-widths | --compile]: the second table.
// bench_kinds_avx2 is the same with loops built for x86-64-v3, and runs our code at that level.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/bench/kinds/kinds.h"

int main(int count, char **arguments) {
  using namespace ptxrun::bench;
  kinds::KindOptions options;
  for (int k = 1; k < count; ++k) {
    std::string_view option = arguments[k];
    const char *value = k + 1 < count ? arguments[k + 1] : "";
    if (option == "--no-widths")
      options.triesWidths = false;
    else if (option == "--compile")
      options.compiles = true;
    else if (option == "--rounds")
      options.rounds = std::max(1, std::atoi(value)), ++k;
    else if (option == "--only")
      options.only = value, ++k;
    else {
      std::fprintf(stderr,
                   "usage: bench_kinds [--rounds N] [--only NAME] [--no-widths | --compile]\n");
      return 2;
    }
  }
#ifdef PTXRUN_KINDS_LEVEL
  setenv("PTXRUN_CPU", PTXRUN_KINDS_LEVEL, 1);
#endif
  setThreads(1);
  if (options.compiles)
    std::printf("compiling, CPU ms, least of %d rounds\n%-22s %12s %9s %9s\n", options.rounds,
                "kernel", "instructions", "baseline", "optimised");
  else
    std::printf("one thread, CPU ms, medians of %d rounds in turn\n%-22s %8s %8s %6s  %2s%s\n",
                options.rounds, "kernel", "ptxrun", "loop", "ratio", "W",
                options.triesWidths ? " / best (W)" : "");
  kinds::Kinds table(options);
  kinds::measureReductions(table);
  kinds::measureScans(table);
  kinds::measureUpdates(table);
  kinds::measureLayouts(table);
  kinds::measureIntegers(table);
  kinds::measureFunctions(table);
  kinds::measureSorting(table);
  kinds::measureSparse(table);
  kinds::measureBytes(table);
  kinds::measureGrids(table);
  kinds::measureDense(table);
  kinds::measureSimulation(table);
  kinds::measureModels(table);
  kinds::measureNetworks(table);
  kinds::measureTiles(table);
  return table.summary() ? 0 : 1;
}
