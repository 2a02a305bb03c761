// What `ptxrun verify FILE...` does with one file.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptxrun::check {

struct Problem {
  uint32_t line, column;     ///< from 1
  std::string_view severity; ///< error, warning, note
  std::string message;       ///< what is wrong, and where the same occurs again
  std::string text;          ///< as printed, with the line and the notes
};

struct VerifyResult {
  bool isOk = false;
  std::string diagnostics; ///< as printed: `name:line:column: error: ...` and so on; warnings too
                           ///< where isOk
  std::vector<Problem> problems; ///< the same, one by one
  bool isComplete = true;        ///< false: there were too many to go on
};

/// Parses and checks a module without running it. Unresolved externals are no error.
VerifyResult verifyText(std::string name, std::string text);

} // namespace ptxrun::check
