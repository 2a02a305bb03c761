#include "translate/check/verify.h"

#include "translate/check/check.h"
#include "translate/support/diagnostic_text.h"

namespace ptxrun::check {

VerifyResult verifyText(std::string name, std::string text) {
  support::SourceFile source(std::move(name), std::move(text));
  support::Diagnostics diagnostics(source);
  VerifyResult result;
  result.isOk = parseAndCheck(source, diagnostics) != nullptr;
  result.diagnostics = diagnostics.text();
  result.isComplete = !diagnostics.isFull();
  for (const support::Diagnostic &one : diagnostics.all()) {
    const support::SourceFile::Place place = source.place(one.span.begin);
    result.problems.push_back({place.line, place.column, support::nameOf(one.severity),
                               support::printableMessage(diagnostics, one),
                               support::textOf(diagnostics, one)});
  }
  return result;
}

} // namespace ptxrun::check
