// What `ptxrun replay` finds out about a launch beyond running it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "loader/capture/replayer.h"

namespace ptxrun::command {

/// "kernel.ptx:12 (kernel.cu:30): st.global.u32 [%rd4], %r1;"
std::string describePlace(const device::Module &, const std::string &text, uint32_t ptxLine);

/// "block 3, thread 17" with coordinates.
std::string describeThread(rt::GangPlace, abi::Dim3 grid, abi::Dim3 block);

/// Memory as a replay in another process leaves it after launch `number`, with the settings of the
/// recording, or with `arguments` besides. Null if that replay does not end well: `problem`.
class ReferenceMemory {
 public:
  ReferenceMemory(const std::string &file, uint64_t number, std::string &problem);
  ~ReferenceMemory();
  /// The first byte at or behind `from` within its range that differs from memory here; nothing if
  /// none does.
  struct Difference {
    uint64_t address;
    uint8_t expected, found;
  };
  std::optional<Difference> firstDifference(const capture::MemoryTable &, uint64_t from) const;

 private:
  std::string folder_;
};

/// Who wrote a byte last in launch `number`, by running it again thread by thread in another
/// process; empty if nobody did.
std::string findLastWrite(const std::string &file, uint64_t number, uint64_t address,
                          const std::vector<std::string> &arguments);
/// That process's work: the answer from the accesses that were noted.
std::string lastWrite(const rt::ScheduleRecord &, uint64_t address, const device::Module &,
                      const std::string &text, const capture::LaunchEvent &);

/// Every range as a file FOLDER/0xADDRESS.bin.
void dumpMemory(const capture::MemoryTable &, const std::string &folder);

/// Writes the launch as a description with its module and buffers beside it. Throws Failed.
void exportLaunch(const std::string &path, const capture::LaunchEvent &, const device::Module &,
                  const std::string &text, const device::KernelInfo &,
                  const capture::MemoryTable &);

/// Address space layout is random: a range that was taken now may be free in the next start of this
/// program. Starts it again with the same arguments; returns where that has been tried often
/// enough.
void startAgain();

} // namespace ptxrun::command
