// numerics_measure [--step N] [--samples N] [--only TEXT] [--commit NAME]: measures the approximate
// functions and writes measured.tsv to standard output. Without options over all f32 and 10^8
// others: minutes.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>

#include "tests/numerics/measure.h"

int main(int argc, char **argv) {
  using namespace ptxrun::numerics;
  Extent extent;
  std::string only, commit = "?";
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--step")
      extent.step = std::strtoull(argv[i + 1], nullptr, 10);
    else if (option == "--samples")
      extent.samples = std::strtoull(argv[i + 1], nullptr, 10);
    else if (option == "--only")
      only = argv[i + 1];
    else if (option == "--commit")
      commit = argv[i + 1];
    else
      return std::fprintf(stderr, "numerics_measure: unknown option %s\n", argv[i]), 2;
  }
  if (!canMeasure())
    return std::fprintf(stderr, "numerics_measure: needs a CPU with AVX2\n"), 2;
  char date[16];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  try {
    std::vector<Row> rows;
    for (const std::span<const Approximation> twins : allTwins()) {
      if (std::string_view(twins[0].mnemonic).find(only) == std::string_view::npos)
        continue;
      const std::clock_t start = std::clock();
      for (Row &row : measureTwins(twins, extent))
        rows.push_back(std::move(row));
      std::fprintf(stderr, "%s: %.1f s\n", twins[0].mnemonic,
                   double(std::clock() - start) / CLOCKS_PER_SEC);
    }
    std::fputs(writeRows(rows, date, commit).c_str(), stdout);
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "numerics_measure: %s\n", failure.what());
    return 1;
  }
  return 0;
}
