// The GPU that a program wants code for.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxrun::toolkit {

/// Options of a compiler as a program gave them, rewritten so that PTX comes out where machine code
/// was asked for: -arch=sm_90a, --gpu-architecture sm_90 become compute_90a, compute_90.
struct CompilerOptions {
  std::vector<std::string> words;
  bool wantsMachineCode = false; ///< an sm_NN was there
  unsigned registerLimit = 0;    ///< -maxrregcount; 0: none
};

CompilerOptions wantPtx(const std::vector<std::string_view> &given);

} // namespace ptxrun::toolkit
