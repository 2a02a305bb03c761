#include "translate/check/verify.h"

#include "translate/check/check.h"

namespace ptxrun::check {

VerifyResult verifyText(std::string name, std::string text) {
  support::SourceFile source(std::move(name), std::move(text));
  support::Diagnostics diagnostics(source);
  bool isOk = parseAndCheck(source, diagnostics) != nullptr;
  return {isOk, diagnostics.text()};
}

} // namespace ptxrun::check
