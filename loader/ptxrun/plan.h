// What `ptxrun run` is asked to do, whether it came from the command line or from a launch
// description.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "loader/device/device.h"
#include "loader/ptxrun/buffer.h"

namespace ptxrun::debug {
class Program;
}

namespace ptxrun::command {

struct NamedBuffer {
  std::string name;
  BufferSpec spec;
};

/// Texts of device::LaunchSetting by their words; those not given are not in it.
using Settings = std::map<std::string, std::string, std::less<>>;

struct Launch {
  std::string kernel; ///< may be empty where the module has one kernel
  std::array<std::string, 3> grid{"1", "1", "1"},
      block{"1", "1", "1"}; ///< numbers or expressions of the constants
  std::optional<std::array<uint32_t, 3>> cluster;
  std::string sharedBytes = "0"; ///< dynamic shared memory
  bool isCooperative = false;
  Settings settings;
  unsigned times = 1; ///< launched so often in a row; `=expression` arguments see the turn as `r`
  std::vector<std::string> arguments;
  std::string outcome = "ok"; ///< how it must end; after an expected failure the next launch runs
  std::vector<std::string> report; ///< what the failure's message must contain
};

/// What must hold after the last launch. Of `value`, `file` and `printed` one is set.
struct Expectation {
  std::string buffer;
  std::string value; ///< expression; buffer names mean their contents before the first launch
  std::string file;  ///< .npy
  std::optional<std::string> printed; ///< device printf's text
  bool isAnyOrder = false;            ///< printed: lines may come in any order
  double relative = 0, absolute = 0;  ///< a value within any of the tolerances given is right
  std::optional<uint64_t> ulp;
  uint64_t first = 0, count = UINT64_MAX; ///< elements compared
  uint64_t samples = 0; ///< compare so many elements, spread over the range; 0: all
};

struct Plan {
  std::string name;      ///< what messages call it
  std::string module;    ///< the PTX file
  std::string directory; ///< file names in buffers and expectations are relative to it
  std::vector<Symbol> constants;
  std::vector<NamedBuffer> buffers;
  std::vector<Launch> launches;
  std::vector<Expectation> expectations;
  std::string outcome =
      "ok"; ///< how the launches must end: ok, illegalAddress, trap, assertion, ...
};

/// Options of the command line that are not part of the plan; they apply to every launch.
struct RunOptions {
  Settings settings;    ///< of the command line
  Settings environment; ///< the same, where neither command line nor plan say anything
  int threads = 0;
  unsigned repeat = 1;
  bool isTimed = false;
  bool isQuiet = false;      ///< say only what went wrong
  bool isSummarised = false; ///< say at the end what took how long
  bool useCache = true;
  bool showsProgress = true; ///< where standard error is a terminal
  device::Tiers tiers = device::Tiers::optimised;
  std::string dumpDirectory, stopAfter, cacheDirectory;
  std::string plot;                              ///< page of what warps do; empty: none
  std::string trace;                             ///< file for a trace; empty: none
  std::string record;                            ///< file to record the launches to; empty: none
  std::string inputs = "embed";                  ///< how the recording holds buffers: embed, digest
  std::function<void(class Workload &)> explore; ///< if set: instead of running once
  std::function<void(debug::Program &)> debug;   ///< the same
  std::optional<uint64_t>
      debugLaunch; ///< only this launch, from 0 on; those before it just run; none: all
  uint64_t printLimit = 16;
};

/// Reads a launch description (TOML, see loader/ptxrun/README.md). Throws UsageError with file,
/// line and column.
Plan readDescription(const std::string &path);

/// Runs the plan, reports on standard output, and throws Failed or UsageError when it does not end
/// as it should.
void execute(const Plan &, const RunOptions &);

} // namespace ptxrun::command
