// Functions that kernels call and that NVIDIA's device runtime library (cudadevrt) would define:
// ours are PTX, put in the place of their declarations.
//
// What a kernel launches, copies or fills becomes a record in memory of the device's heap, in a
// list whose head is a variable of the module; the host works through it when the grid has ended
// (child_launches.h). A kernel's address is a number by which the host finds the kernel again.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ptxrun::driver {

/// The text with definitions for what it declares and we have; the lines keep their numbers.
std::string withDeviceRuntime(std::string ptx);

/// Variables of modules whose kernels launch: the list's head, the bytes that records take, the
/// graph that runs.
inline constexpr const char *kChildListName = "ptxrun_child_launches";
inline constexpr const char *kChildBytesName = "ptxrun_child_used";
inline constexpr uint64_t kChildRoom = 4 << 20; ///< bytes for records, of a grid and its ancestors
inline constexpr const char *kCurrentGraphName = "ptxrun_current_graph";

/// What a kernel's address is to kernels, but for the low 16 bits, which are room for its
/// parameters.
uint64_t kernelNumber(std::string_view name);
inline constexpr uint64_t kKernelNumberMask = ~uint64_t{0xffff};

/// A record as kernels write it; arguments follow.
struct ChildRecord {
  uint64_t next;   ///< written before this one
  uint64_t kernel; ///< a kernel's number, or one of those below
  uint32_t grid[3], block[3], sharedBytes, unused;
  uint64_t stream;
};
static_assert(offsetof(ChildRecord, block) == 28 && offsetof(ChildRecord, stream) == 48);
inline constexpr uint64_t kRecordBytes = 128; ///< arguments start here, aligned for any type
inline constexpr uint64_t kCopyRecord = 1;    ///< arguments: to, from, bytes
inline constexpr uint64_t kFillRecord = 2;    ///< arguments: to, value, bytes
inline constexpr uint64_t kGraphRecord = 3;   ///< argument: the executable

} // namespace ptxrun::driver
