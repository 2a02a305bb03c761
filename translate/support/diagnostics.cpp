#include "translate/support/diagnostics.h"

#include <algorithm>

#include "translate/support/diagnostic_text.h"

namespace ptxrun::support {
namespace {

/// Longest piece of a source line that is shown; longer lines are cut around the caret.
constexpr size_t kWidth = 160;
/// Of an error that occurs again and again, so many lines are named.
constexpr size_t kLinesNamed = 8;

/// Bytes a terminal may print: the rest of a foreign file becomes '?', a tab stays a tab in line
/// and caret line alike.
std::string printable(std::string_view text) {
  std::string out(text);
  for (char &c : out)
    if ((c < ' ' && c != '\t') || c == 0x7F || (c & 0x80))
      c = '?';
  return out;
}

/// " (and 127 more, in lines 8, 9, 10, ...)"; empty where there are none.
std::string repeatsText(const Diagnostic &diagnostic, const SourceFile &source) {
  if (diagnostic.repeats.empty())
    return {};
  std::string text = " (and " + std::to_string(diagnostic.repeats.size()) + " more, in line";
  text += diagnostic.repeats.size() == 1 ? " " : "s ";
  for (size_t i = 0; i < diagnostic.repeats.size(); ++i) {
    if (i == kLinesNamed)
      return text + ", ...)";
    text += (i == 0 ? "" : ", ") + std::to_string(source.place(diagnostic.repeats[i].begin).line);
  }
  return text + ")";
}

void appendSourceLine(std::string &out, const SourceFile &source, Span span,
                      SourceFile::Place place) {
  std::string_view line = source.line(place.line);
  size_t caret = std::min<size_t>(place.column - 1, line.size());
  size_t length = span.end > span.begin ? span.end - span.begin : 1;
  length = std::max<size_t>(1, std::min(length, line.size() - caret));
  size_t cut = caret > kWidth / 2 && line.size() > kWidth ? caret - kWidth / 2 : 0;
  std::string shown = printable(line.substr(cut, kWidth));
  length =
      std::min(length, std::max<size_t>(1, shown.size() - std::min(shown.size(), caret - cut)));
  std::string blank;
  for (size_t i = 0; i < caret - cut; ++i)
    blank += i < shown.size() && shown[i] == '\t' ? '\t' : ' ';
  out += "  " + shown + "\n  " + blank + "^" + std::string(length - 1, '~') + "\n";
}

} // namespace

std::string_view nameOf(Severity severity) {
  switch (severity) {
  case Severity::error:
    return "error";
  case Severity::warning:
    return "warning";
  case Severity::note:
    return "note";
  }
  return "";
}

std::string printableMessage(const Diagnostics &diagnostics, const Diagnostic &diagnostic) {
  return printable(diagnostics.messageOf(diagnostic));
}

std::string textOf(const Diagnostics &diagnostics, const Diagnostic &diagnostic) {
  const SourceFile &source = diagnostics.source();
  const SourceFile::Place place = source.place(diagnostic.span.begin);
  std::string out =
      source.name() + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": ";
  out += nameOf(diagnostic.severity);
  out += ": " + printableMessage(diagnostics, diagnostic) + "\n";
  appendSourceLine(out, source, diagnostic.span, place);
  for (const std::string &note : diagnostic.notes)
    out += "  note: " + printable(note) + "\n";
  return out;
}

Diagnostic &Diagnostics::error(Span span, std::string message) {
  bool isFollowUp = !list_.empty() && list_.back().severity == Severity::error &&
                    list_.back().span.begin == span.begin;
  if (isFollowUp || isFull()) {
    surplus_ = {Severity::error, span, std::move(message), {}, {}};
    return surplus_;
  }
  ++errorCount_;
  list_.push_back({Severity::error, span, std::move(message), {}, {}});
  return list_.back();
}

Diagnostic &Diagnostics::errorOfKind(std::string_view kind, Span span, std::string message) {
  const auto known = kinds_.find(std::string(kind) + '\n' + message);
  if (known == kinds_.end()) {
    std::string key = std::string(kind) + '\n' + message;
    Diagnostic &made = error(span, std::move(message));
    if (&made != &surplus_)
      kinds_.emplace(std::move(key), list_.size() - 1);
    return made;
  }
  Diagnostic &first = list_[known->second];
  if (first.repeats.empty() ? first.span.begin != span.begin
                            : first.repeats.back().begin != span.begin)
    first.repeats.push_back(span);
  surplus_ = {Severity::error, span, std::move(message), {}, {}};
  return surplus_;
}

Diagnostic &Diagnostics::warning(Span span, std::string message) {
  if (list_.size() >= 4 * kMaxErrors) {
    surplus_ = {Severity::warning, span, std::move(message), {}, {}};
    return surplus_;
  }
  list_.push_back({Severity::warning, span, std::move(message), {}, {}});
  return list_.back();
}

std::string Diagnostics::messageOf(const Diagnostic &diagnostic) const {
  return diagnostic.message + repeatsText(diagnostic, *source_);
}

std::string Diagnostics::text() const {
  std::string out;
  for (const Diagnostic &diagnostic : list_)
    out += textOf(*this, diagnostic);
  if (isFull())
    out += source_->name() + ": too many errors, the rest is not shown\n";
  return out;
}

} // namespace ptxrun::support
