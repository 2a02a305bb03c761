// Module level: items in order, aliases, pragmas, files, debug names (PTX ISA 11).
#include <algorithm>

#include "translate/check/checker.h"

namespace ptxrun::check {

void Checker::item(const ast::Item &one) {
  switch (one.kind) {
  case ast::Item::Kind::declaration:
    declaration(*one.declaration);
    break;
  case ast::Item::Kind::function:
    function(*one.function);
    break;
  case ast::Item::Kind::file:
    file(*one.file);
    break;
  case ast::Item::Kind::section:
    section(*one.section);
    break;
  case ast::Item::Kind::pragma:
    pragma(one.pragma->strings, one.pragma->span, false);
    break;
  case ast::Item::Kind::alias:
    alias(*one.alias);
    break;
  case ast::Item::Kind::loc:
    break;
  }
}

// .alias makes the first name stand for the second one's body (11.6.5).
void Checker::alias(const ast::AliasDirective &written) {
  Binding made = lookUp(written.alias, written.aliasSpan);
  Binding old = lookUp(written.aliasee, written.aliaseeSpan);
  if (made.kind == Binding::Kind::unknown || old.kind == Binding::Kind::unknown)
    return;
  if (!needs(written.span, ".alias", 63, 30))
    return;
  constexpr const char *kNote =
      "PTX ISA 11.6.5: .alias takes two functions with the same prototype, the first only declared";
  if (made.kind != Binding::Kind::function || made.function->isEntry ||
      !made.function->isDeclaration) {
    error(written.aliasSpan,
          quote(written.alias) + " must be a .func that is declared and not defined", kNote);
    return;
  }
  std::string difference;
  if (old.kind != Binding::Kind::function || old.function->isEntry || old.function->isDeclaration)
    error(written.aliaseeSpan, quote(written.aliasee) + " must be a .func with a body", kNote);
  else if (old.function->linkage == Linkage::weak)
    error(written.aliasSpan, quote(written.aliasee) + " is .weak and cannot have an alias", kNote);
  else if (!isSamePrototype(made.function->signature, old.function->signature, difference))
    error(written.aliasSpan, "the prototypes of alias and aliasee differ: " + difference, kNote);
  else
    made.function->aliasee = old.function;
}

// Unknown pragmas are errors at module scope and warnings inside functions, as with ptxas.
void Checker::pragma(std::span<const std::string_view> strings, Span span, bool isInFunction) {
  static constexpr std::string_view kKnown[] = {"nounroll", "used_bytes_mask",
                                                "enable_smem_spilling", "frequency"};
  for (std::string_view quoted : strings) {
    std::string_view word = quoted.substr(1, quoted.size() - 2);
    word = word.substr(0, word.find(' '));
    bool isKnown = std::find(std::begin(kKnown), std::end(kKnown), word) != std::end(kKnown);
    if (isKnown && !isInFunction && word != "nounroll")
      error(span, "pragma " + std::string(quoted) + " belongs inside a function");
    else if (!isKnown && !isInFunction)
      error(span, "unknown pragma " + std::string(quoted),
            "PTX ISA 11.4: .pragma; 13: pragma strings");
    else if (!isKnown)
      diagnostics_.warning(span, "unknown pragma " + std::string(quoted) + " is ignored");
  }
}

void Checker::file(const ast::FileDirective &written) {
  // Sparse numbers must not make a table of their size.
  constexpr uint32_t kMostFiles = 1 << 20;
  if (written.index >= kMostFiles) {
    error(written.span, "this file number is too large");
    return;
  }
  if (!fileNumbers_.insert(written.index).second) {
    error(written.after, "file number " + std::to_string(written.index) + " is given twice",
          "PTX ISA 11.5.3: .file");
    return;
  }
  if (module_.files.size() <= written.index)
    module_.files.resize(written.index + 1);
  module_.files[written.index] = written.path;
}

// Values of debug sections: ranges, labels once each (11.5.2).
void Checker::section(const ast::SectionDirective &written) {
  constexpr const char *kNote = "PTX ISA 11.5.2: .section";
  std::unordered_set<NameId> labels;
  sections_.push_back(&written);
  for (const ast::SectionLine &line : written.lines) {
    if (line.label && !labels.insert(line.label).second)
      error(line.span, quote(line.label) + " is declared already in this section", kNote);
    unsigned width = line.type ? isa::bitWidth(isa::findType(text(line.type))) : 0;
    for (const ast::SectionValue &value : line.values) {
      uint64_t most = value.isNegative ? uint64_t(1) << (width - 1)
                      : width == 64    ? UINT64_MAX
                                       : (uint64_t(1) << width) - 1;
      if (value.symbol && width < 32)
        error(value.span, "a label does not fit ." + std::string(text(line.type)), kNote);
      else if (!value.symbol && value.number > most)
        error(value.span, "this value does not fit ." + std::string(text(line.type)), kNote);
      if (diagnostics_.isFull())
        return;
    }
  }
}

void Checker::finish() {
  resolveFunctionNames();
  for (Function &one : result_->functions_)
    module_.functions.push_back(&one);
}

} // namespace ptxrun::check
