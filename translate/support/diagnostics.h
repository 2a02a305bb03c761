// Diagnostics collected as data; one function prints them.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "translate/support/source.h"

namespace ptxrun::support {

enum class Severity { error, warning, note };

struct Diagnostic {
  Severity severity = Severity::error;
  Span span;
  std::string message;            ///< what is wrong, what was expected
  std::vector<std::string> notes; ///< nearest legal form, section of the ISA, what to do
  std::vector<Span> repeats;      ///< where else the same is wrong (errorOfKind)
};

/// The errors of one module. Stages add to it and go on where they can.
class Diagnostics {
 public:
  explicit Diagnostics(const SourceFile &source) : source_(&source) {}
  /// A second error that begins at the same byte is a follow-up of the first and is dropped.
  Diagnostic &error(Span, std::string message);
  /// An error that everything of a kind has, as a form that is not known: the first one is told,
  /// the others only add their place to it, and do not count towards the limit. `kind` is any text.
  Diagnostic &errorOfKind(std::string_view kind, Span, std::string message);
  Diagnostic &warning(Span, std::string message);
  bool hasErrors() const { return errorCount_ != 0; }
  size_t errorCount() const { return errorCount_; }
  /// True once so many errors were found that going on would only bury the first ones; stages then
  /// stop early.
  bool isFull() const { return errorCount_ >= kMaxErrors; }
  static constexpr size_t kMaxErrors = 200;
  const std::vector<Diagnostic> &all() const { return list_; }
  const SourceFile &source() const { return *source_; }
  /// The message, with how often and where the same occurs again.
  std::string messageOf(const Diagnostic &) const;
  /// `file:line:column: error: message`, the line, a caret run, the notes; one after the other.
  /// What occurs again has ` (and 127 more, in lines 8, 9, ...)` behind its message.
  std::string text() const;

 private:
  const SourceFile *source_;
  std::vector<Diagnostic> list_;
  std::unordered_map<std::string, size_t> kinds_; ///< kind and message -> its place in list_
  Diagnostic surplus_;                            ///< what is reported past the limit ends here
  size_t errorCount_ = 0;
};

} // namespace ptxrun::support
