// What `ptxrun verify FILE...` does with one file.
#pragma once
#include <string>

namespace ptxrun::check {

struct VerifyResult {
  bool isOk = false;
  std::string diagnostics; ///< as printed: `name:line:column: error: ...` and so on; warnings too
                           ///< where isOk
};

/// Parses and checks a module without running it. Unresolved externals are no error.
VerifyResult verifyText(std::string name, std::string text);

} // namespace ptxrun::check
