// Compiles launches as a process does that has no recordings in it: only the device's library is
// linked.
//   code_without_recordings CACHE MODULE.ptx KERNEL:GRID:BLOCK:SHARED ...
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "loader/device/device.h"

using namespace ptxrun;

namespace {

int fail(const std::string &what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  return 1;
}

} // namespace

int main(int count, char **arguments) {
  if (count < 3)
    return 2;
  std::ifstream file(arguments[2]);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  device::prepare();
  device::LoadOptions load;
  load.cacheDirectory = arguments[1];
  device::Outcome outcome;
  const auto module = device::Module::load(arguments[2], text, load, outcome);
  if (!module)
    return fail(outcome.message);
  for (int k = 3; k < count; ++k) {
    char name[256];
    device::LaunchOptions options;
    unsigned shared = 0;
    if (std::sscanf(arguments[k], "%255[^:]:%u:%u:%u", name, &options.grid.x, &options.block.x,
                    &shared) != 4)
      return 2;
    options.dynamicSharedBytes = shared;
    const device::KernelInfo *kernel = module->findKernel(name);
    if (!kernel || !device::shapeLaunch(*kernel, options).empty() ||
        !module->compile(*kernel, options, outcome).kernel)
      return fail(std::string(name) + ": " + outcome.message);
  }
  device::endBackground();
}
