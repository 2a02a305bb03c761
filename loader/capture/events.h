// What the blocks of a recording say. README.md has the bytes.
#pragma once
#include <array>
#include <map>
#include <string>
#include <vector>

#include "intrinsics/abi.h"
#include "loader/capture/codec.h"
#include "loader/capture/memory_table.h"
#include "loader/device/device.h"

namespace ptxrun::capture {

struct ModuleEvent {
  uint64_t id = 0;
  std::string name, text;
  uint64_t variables = 0;       ///< where its variables are; 0: none
  std::vector<uint64_t> images; ///< handles of its .texref, .samplerref and .surfref variables
};

struct AllocateEvent {
  uint64_t base = 0, bytes = 0;
  bool isHostVisible = false;
};

/// The host changed memory: the spans' contents, one behind the other.
struct WriteEvent {
  std::vector<Span> spans;
  std::string data;
};

/// A box of bytes from memory that is recorded to such memory; rows `pitch` apart, slices `slice`.
struct CopyEvent {
  uint64_t to = 0, toPitch = 0, toSlice = 0, from = 0, fromPitch = 0, fromSlice = 0;
  uint64_t width = 0, height = 1, depth = 1;
};

struct FillEvent {
  uint64_t base = 0, pitch = 0, value = 0, elementBytes = 1, width = 0, height = 1;
};

struct LaunchEvent {
  uint64_t number = 0; ///< among the program's launches, those that are not recorded included
  uint64_t module = 0;
  std::string kernel;
  abi::Dim3 grid, block, cluster{0, 0, 0};
  uint64_t sharedBytes = 0, stream = 0;
  bool isCooperative = false;
  std::string params;
  /// Everything else that decides results, by name: schedule, lanes (where W is pinned), async.
  std::map<std::string, std::string> options;
};

struct ResultEvent {
  uint64_t number = 0;
  uint64_t code = 0; ///< device::Code
  std::string message, printed;
  std::vector<Change> changes; ///< pieces that the launch changed; empty where it failed
  uint64_t nanoseconds = 0;
};

struct CheckpointEvent {
  uint64_t number = 0; ///< of the launch it comes after
  std::vector<Span> heap;
  WriteEvent memory; ///< what changed since the last checkpoint
};

std::string encode(const ModuleEvent &);
std::string encode(const AllocateEvent &);
std::string encode(const WriteEvent &);
std::string encode(const CopyEvent &);
std::string encode(const FillEvent &);
std::string encode(const LaunchEvent &);
std::string encode(const ResultEvent &);
std::string encode(const CheckpointEvent &);
/// Throw BadRecording.
void decode(std::string_view, ModuleEvent &);
void decode(std::string_view, AllocateEvent &);
void decode(std::string_view, WriteEvent &);
void decode(std::string_view, CopyEvent &);
void decode(std::string_view, FillEvent &);
void decode(std::string_view, LaunchEvent &);
void decode(std::string_view, ResultEvent &);
void decode(std::string_view, CheckpointEvent &);
/// Of unload and free blocks: a number alone.
std::string encodeNumber(uint64_t);
uint64_t decodeNumber(std::string_view);

/// The options of a launch as LaunchEvent::options has them.
std::map<std::string, std::string> optionsOf(const device::LaunchOptions &);
/// The launch as it was: its shape, its parameters (which stay the event's) and its options; others
/// are left alone. Unknown names are an error: BadRecording.
void applyLaunch(const LaunchEvent &, device::LaunchOptions &);

} // namespace ptxrun::capture
