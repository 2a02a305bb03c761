// growth [SHAPE|all] [SIZE...] [tiers=baseline|optimised] [lanes=W] [print]: how compile time
// grows.
#include <llvm/IR/PassTimingInfo.h>
#include <llvm/Pass.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/growth/measure.h"
#include "tests/growth/shapes.h"

using namespace ptxrun;

int main(int count, char **arguments) {
  std::string wanted = "all";
  std::vector<unsigned> sizes;
  Tier tier = Tier::optimised;
  unsigned lanes = 0;
  bool prints = false;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "tiers=baseline")
      tier = Tier::baseline;
    else if (argument == "tiers=optimised")
      tier = Tier::optimised;
    else if (argument.starts_with("lanes="))
      lanes = unsigned(std::atoi(argument.c_str() + 6));
    else if (argument == "print")
      prints = true;
    else if (argument == "passes")
      llvm::TimePassesIsEnabled = true;
    else if (unsigned size = unsigned(std::atoi(argument.c_str())))
      sizes.push_back(size);
    else
      wanted = argument;
  }
  bool isAny = false;
  std::printf("%-18s %8s %8s %9s %6s  stages, ms\n", "shape", "size", "PTX", "ms", "us/PTX");
  for (const growth::Shape &shape : growth::shapes()) {
    if (wanted != "all" && wanted != shape.name)
      continue;
    isAny = true;
    for (unsigned size :
         sizes.empty() ? std::vector{shape.size, 2 * shape.size, 4 * shape.size} : sizes) {
      const std::string text = shape.write(size);
      if (prints) {
        std::printf("%s", text.c_str());
        continue;
      }
      const growth::Cost cost = growth::measure(text, tier, lanes);
      std::printf("%-18s %8u %8zu %9.1f %6.1f ", shape.name.data(), size, cost.instructions,
                  cost.milliseconds, cost.milliseconds * 1e3 / double(cost.instructions));
      for (const auto &[stage, milliseconds] : cost.stages)
        std::printf(" %s %.1f", stage.c_str(), milliseconds);
      std::printf("%s\n", cost.error.substr(0, 300).c_str());
      std::fflush(stdout);
    }
  }
  llvm::reportAndResetTimings();
  return isAny ? 0 : 2;
}
