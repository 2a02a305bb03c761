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
  std::string message;                 ///< what is wrong, what was expected
  std::vector<std::string> notes;      ///< nearest legal form, section of the ISA, what to do
};

/// The errors of one module. Stages add to it and go on where they can.
class Diagnostics {
 public:
  explicit Diagnostics(const SourceFile &source) : source_(&source) {}
  Diagnostic &error(Span, std::string message);
  Diagnostic &warning(Span, std::string message);
  bool hasErrors() const { return errorCount_ != 0; }
  const std::vector<Diagnostic> &all() const { return list_; }
  const SourceFile &source() const { return *source_; }
  /// `file:line:column: error: message`, the line, a caret run, the notes; one after the other.
  std::string text() const;

 private:
  const SourceFile *source_;
  std::vector<Diagnostic> list_;
  size_t errorCount_ = 0;
};

}  // namespace ptxrun::support
