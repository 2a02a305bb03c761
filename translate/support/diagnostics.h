// Diagnostics collected as data; one function prints them.
#pragma once
#include <string>
#include <vector>

#include "translate/support/source.h"

namespace ptxrun::support {

enum class Severity { error, warning, note };

struct Diagnostic {
  Severity severity = Severity::error;
  Span span;
  std::string message;            ///< what is wrong, what was expected
  std::vector<std::string> notes; ///< nearest legal form, section of the ISA, what to do
};

/// The errors of one module. Stages add to it and go on where they can.
class Diagnostics {
 public:
  explicit Diagnostics(const SourceFile &source) : source_(&source) {}
  /// A second error that begins at the same byte is a follow-up of the first and is dropped.
  Diagnostic &error(Span, std::string message);
  Diagnostic &warning(Span, std::string message);
  bool hasErrors() const { return errorCount_ != 0; }
  size_t errorCount() const { return errorCount_; }
  /// True once so many errors were found that going on would only bury the first ones; stages then
  /// stop early.
  bool isFull() const { return errorCount_ >= kMaxErrors; }
  static constexpr size_t kMaxErrors = 200;
  const std::vector<Diagnostic> &all() const { return list_; }
  const SourceFile &source() const { return *source_; }
  /// `file:line:column: error: message`, the line, a caret run, the notes; one after the other.
  std::string text() const;

 private:
  const SourceFile *source_;
  std::vector<Diagnostic> list_;
  Diagnostic surplus_; ///< what is reported past the limit ends here
  size_t errorCount_ = 0;
};

} // namespace ptxrun::support
