// What nvJitLink does, by the driver's linker: PTX, fat binaries and objects with PTX inside are
// linked by libcuda.so.1; LTO-IR becomes PTX by NVIDIA's own nvJitLink first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "loader/libcuda/cuda_api.h"

namespace ptxrun::toolkit {

/// nvJitLinkResult, as NVIDIA's header numbers it.
enum class LinkResult : int {
  success = 0,
  missingArchitecture = 2,
  invalidInput = 3,
  ptxCompile = 4,
  nvvmCompile = 5,
  internal = 6,
  unrecognisedInput = 8,
  ltoNotEnabled = 18,
};

/// nvJitLinkInputType.
enum class LinkInput : int { cubin = 1, ptx, ltoIr, fatBinary, object, library, index, any = 10 };

class JitLinker {
 public:
  /// The options as the program gave them; -arch=sm_NN has to be among them.
  explicit JitLinker(std::vector<std::string> options);
  ~JitLinker();
  JitLinker(const JitLinker &) = delete;
  JitLinker &operator=(const JitLinker &) = delete;

  bool hasArchitecture() const;
  /// Copies the data.
  LinkResult add(LinkInput, std::span<const std::byte>, const char *name);
  LinkResult complete();

  /// The linked PTX, with its final NUL; empty before complete() and after it failed.
  const std::string &linked() const { return linked_; }
  const std::string &errorLog() const { return errorLog_; }

 private:
  struct Part {
    std::vector<std::byte> bytes;
    std::string name;
  };

  bool hasOption(std::string_view) const;
  unsigned registerLimit() const; ///< -maxrregcount; 0: none
  LinkResult compileLtoIr(std::string &ptx);
  LinkResult linkByDriver(const std::string &compiled);
  LinkResult addToDriver(CUlinkState, std::span<const std::byte>, const std::string &name);

  const std::vector<std::string> options_;
  std::vector<Part> parts_, ltoParts_;
  std::string linked_, errorLog_;
};

} // namespace ptxrun::toolkit
