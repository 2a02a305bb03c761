// Functions that kernels call and that NVIDIA's device runtime library (cudadevrt) would define:
// ours are PTX, put in the place of their declarations.
//
// What a kernel launches, copies or fills becomes a record in memory of the device's heap, in a
// list whose head is a variable of the module; the host works through it when the grid has ended
// (child_launches.h). A kernel's address is a number by which the host finds the kernel again.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ptxrun::driver {

/// What kernels may ask the device runtime: by cudaDeviceAttr (the least number: there is no such
/// attribute) and by cudaLimit.
struct DeviceFacts {
  std::array<int, 160> attributes{};
  std::array<uint64_t, 8> limits{};
};

/// The text with definitions for what it declares and we have; the lines keep their numbers.
///   facts   called if the text asks for them; where it is empty, all are 0
std::string withDeviceRuntime(std::string ptx, const std::function<DeviceFacts()> &facts = {});

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
inline constexpr uint64_t kRecordBytes = 128;  ///< arguments start here, aligned for any type
inline constexpr uint64_t kCopyRecord = 1;     ///< arguments: to, from, bytes
inline constexpr uint64_t kFillRecord = 2;     ///< arguments: to, value, bytes
inline constexpr uint64_t kGraphRecord = 3;    ///< argument: the executable
inline constexpr uint64_t kCopyRowsRecord = 4; ///< to, its pitch, from, its pitch, width, height
inline constexpr uint64_t kFillRowsRecord =
    5; ///< to, pitch, value, width, height, bytes from slice to slice, slices
inline constexpr uint64_t kCopyBoxRecord = 6; ///< a cudaMemcpy3DParms

} // namespace ptxrun::driver
