// Kernel launches as operations of a stream.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "loader/libcuda/context.h"
#include "loader/libcuda/module.h"

namespace ptxrun::driver {

/// A launch as a program describes it.
struct LaunchShape {
  abi::Dim3 grid, block;
  abi::Dim3 cluster{0, 0, 0}; ///< 0,0,0: not asked for
  unsigned dynamicSharedBytes = 0;
  bool isCooperative = false;
};

/// What a launch's shape comes to, found out once for all launches like it.
struct PreparedLaunch {
  LaunchShape asked;         ///< by the program
  unsigned attributeChanges; ///< of the function, when this was made
  LaunchShape shape;         ///< completed by the kernel's directives
  device::Variant variant;
};

/// The kernel's `.param` bytes, copied from what the program passed.
class KernelArguments {
 public:
  KernelArguments() {} // leaves the bytes alone, as `= default` would not
  /// From an array of pointers, one per parameter; sizes are the PTX declaration's.
  CUresult readPointers(const Function &, void *const *pointers);
  /// From `extra`: {BUFFER_POINTER, buffer, BUFFER_SIZE, &size, END}.
  CUresult readBuffer(const Function &, void *const *extra);
  const void *data() const { return large_.empty() ? inline_ : large_.data(); }
  void *data() { return large_.empty() ? inline_ : large_.data(); }

 private:
  std::byte *reserve(size_t bytes);
  static constexpr size_t kInlineBytes = 192;
  alignas(64) std::byte inline_[kInlineBytes];
  std::vector<std::byte> large_;
};

class LaunchOperation final : public Operation {
 public:
  LaunchOperation() {} // as above
  /// Checks the shape against the kernel and the device, and compiles what is needed, unless the
  /// function's last launch was the same. On failure null and `result`.
  static std::shared_ptr<LaunchOperation> make(std::shared_ptr<Function>, const LaunchShape &,
                                               CUresult &result);
  KernelArguments arguments;
  uint64_t stream = 0; ///< number of the stream it was given to
  Function &function() const { return *function_; }
  const LaunchShape &shape() const { return prepared_->shape; }
  /// Another grid for the runs that follow, checked as `make` does.
  CUresult setGrid(abi::Dim3);

  CUresult run(Context &) override;
  bool isLarge() const override;

 private:
  CUresult runGrid(Context &); ///< without what it launches in turn

  std::shared_ptr<Function> function_;
  std::shared_ptr<const PreparedLaunch> prepared_;
  bool hasRun_ = false;
};

/// What an attribute of a launch asks of its shape; others are hints (caches, priorities), which
/// change nothing.
CUresult applyAttribute(CUlaunchAttributeID, const CUlaunchAttributeValue &, LaunchShape &);
/// Fills arguments from whichever of the two forms was given.
CUresult readArguments(LaunchOperation &, void *const *kernelParams, void *const *extra);
/// Blocks of so many threads that one multiprocessor holds at once.
int activeBlocks(const Function &, int blockSize, size_t dynamicBytes);
/// CUDA_LAUNCH_BLOCKING is set: launches return when they are done.
bool isLaunchBlocking();
/// Hands a launch to its stream; waits for it where CUDA_LAUNCH_BLOCKING asks for that.
CUresult submitLaunch(Context &, Stream &, std::shared_ptr<LaunchOperation>);

} // namespace ptxrun::driver
