// Function bodies: blocks, labels, target lists, source locations (PTX ISA 4.3, 11.3, 11.5).
#include <algorithm>

#include "translate/check/checker.h"

namespace ptxrun::check {

using StatementKind = ast::Statement::Kind;

namespace {
constexpr uint32_t kNoLabel = UINT32_MAX;
}

void Checker::body(const ast::Function &written, Function &made) {
  made.body.reserve(written.instructionCount);
  location_ = 0;
  collectLabels(written);
  uint32_t block = 0;
  openBlock(block);
  for (const ast::Statement &one : written.body) {
    if (diagnostics_.isFull())
      break;
    switch (one.kind) {
    case StatementKind::instruction:
      instruction(*one.instruction);
      break;
    case StatementKind::label:
      placeLabel(one);
      break;
    case StatementKind::declaration:
      declaration(*one.declaration);
      break;
    case StatementKind::openBlock:
      scopes_.open();
      openBlock(++block);
      break;
    case StatementKind::closeBlock:
      scopes_.close();
      break;
    case StatementKind::loc:
      location(*one.loc);
      break;
    case StatementKind::pragma:
      pragma(one.pragma->strings, one.pragma->span, true);
      break;
    case StatementKind::targets:
      targets(*one.targets);
      break;
    }
  }
  // A body that was not closed leaves its scopes open; the function's own is closed by the caller.
  while (scopes_.depth() > kFunctionDepth)
    scopes_.close();
}

// Labels may be used before they stand: those of a block are known from its beginning. Blocks are
// numbered as they open.
void Checker::collectLabels(const ast::Function &written) {
  std::vector<uint32_t> open{0};
  uint32_t blocks = 1;
  labelStatements_.clear();
  nextLabel_.clear();
  firstLabelOfBlock_.assign(1, kNoLabel);
  std::vector<uint32_t> last{kNoLabel};
  for (const ast::Statement &one : written.body) {
    if (one.kind == StatementKind::openBlock) {
      open.push_back(blocks++);
      firstLabelOfBlock_.push_back(kNoLabel);
      last.push_back(kNoLabel);
    } else if (one.kind == StatementKind::closeBlock) {
      open.pop_back();
    } else if (one.kind == StatementKind::label) {
      uint32_t number = uint32_t(labelStatements_.size()), block = open.back();
      labelStatements_.push_back(&one);
      nextLabel_.push_back(kNoLabel);
      if (last[block] == kNoLabel)
        firstLabelOfBlock_[block] = number;
      else
        nextLabel_[last[block]] = number;
      last[block] = number;
    }
  }
}

void Checker::openBlock(uint32_t block) {
  for (uint32_t at = firstLabelOfBlock_[block]; at != kNoLabel; at = nextLabel_[at]) {
    const ast::Statement &one = *labelStatements_[at];
    auto *made = arena_.make<Label>();
    made->name = text(one.label);
    made->index = uint32_t(function_->labels.size());
    made->statement = kNoLabel;
    Binding binding;
    binding.kind = Binding::Kind::label;
    binding.label = made;
    if (scopes_.declare(one.label, binding))
      function_->labels.push_back(made);
    else
      error(one.span, quote(one.label) + " is declared already in this scope",
            "PTX ISA 4.3: statements and labels");
  }
}

void Checker::placeLabel(const ast::Statement &one) {
  const RegisterRange *range;
  const Binding &binding = scopes_.find(one.label, range);
  if (binding.kind == Binding::Kind::label && binding.label->statement == kNoLabel)
    const_cast<Label *>(binding.label)->statement = uint32_t(function_->body.size());
}

// `name: .branchtargets a, b;` and its like declare a name for what follows.
void Checker::targets(const ast::TargetsDirective &written) {
  Binding binding;
  if (written.kind == ast::TargetsDirective::Kind::callPrototype) {
    binding.kind = Binding::Kind::prototype;
    auto *made = arena_.make<Prototype>();
    *made = prototype(*written.prototype, function_, false, false);
    binding.prototype = made;
  } else {
    bool isBranch = written.kind == ast::TargetsDirective::Kind::branchTargets;
    binding.kind = isBranch ? Binding::Kind::branchTargets : Binding::Kind::callTargets;
    auto *list = arena_.make<TargetList>();
    auto labels = arena_.makeArray<const Label *>(isBranch ? written.names.size() : 0);
    auto functions = arena_.makeArray<const Function *>(isBranch ? 0 : written.names.size());
    for (size_t i = 0; i < written.names.size(); ++i) {
      const ast::Operand &one = written.names[i];
      Binding target = lookUp(one.name, one.span);
      bool isGood = target.kind == (isBranch ? Binding::Kind::label : Binding::Kind::function);
      if (target.kind == Binding::Kind::unknown || !isGood)
        binding.kind = Binding::Kind::unknown;
      if (target.kind != Binding::Kind::unknown && !isGood)
        error(one.span, quote(one.name) + (isBranch ? " is not a label" : " is not a function"),
              isBranch ? "PTX ISA 11.3.1: .branchtargets" : "PTX ISA 11.3.2: .calltargets");
      if (isGood && isBranch)
        labels[i] = target.label;
      else if (isGood)
        functions[i] = target.function;
    }
    list->labels = labels;
    list->functions = functions;
    binding.targets = list;
  }
  if (!scopes_.declare(written.label, binding))
    error(written.labelSpan, quote(written.label) + " is declared already in this scope",
          "PTX ISA 4.3: statements and labels");
}

// .loc: the source location of the instructions that follow, up to the next one.
void Checker::location(const ast::LocDirective &written) {
  auto key = [](uint32_t file, uint32_t line, uint32_t column) {
    return (uint64_t(file) << 48) ^ (uint64_t(line) << 16) ^ column;
  };
  auto make = [&](uint32_t file, uint32_t line, uint32_t column) {
    module_.locations.push_back(
        {.file = file, .line = line, .column = column, .inlinedAt = 0, .functionName = {}});
    return uint32_t(module_.locations.size() - 1);
  };
  const Location &last = module_.locations[location_];
  bool isSame = location_ != 0 && !written.hasInlinedAt && !written.hasFunctionName &&
                last.inlinedAt == 0 && last.file == written.file && last.line == written.line &&
                last.column == written.column;
  if (isSame)
    return;
  uint32_t inlinedAt = 0;
  if (written.hasInlinedAt && needs(written.span, "inlined_at", 70, 0)) {
    // The call's own .loc stands before (11.5.4); it may have been inlined itself.
    auto known =
        locationOf_.find(key(written.inlinedFile, written.inlinedLine, written.inlinedColumn));
    if (known != locationOf_.end())
      inlinedAt = known->second;
    else
      error(written.span, "no .loc before this one has the location that inlined_at names",
            "PTX ISA 11.5.4: .loc");
  }
  location_ = make(written.file, written.line, written.column);
  module_.locations[location_].inlinedAt = inlinedAt;
  locationOf_[key(written.file, written.line, written.column)] = location_;
  if (written.hasFunctionName)
    pendingNames_.push_back(
        {written.span, location_, written.functionName, written.functionOffset});
}

// Names of inlined functions are strings in .debug_str, which follows the code.
void Checker::resolveFunctionNames() {
  if (pendingNames_.empty())
    return;
  std::string bytes;
  std::unordered_map<NameId, uint64_t> labels;
  for (const ast::SectionDirective *section : sections_) {
    if (text(section->name) != "debug_str")
      continue;
    for (const ast::SectionLine &line : section->lines) {
      if (line.label)
        labels[line.label] = bytes.size();
      for (const ast::SectionValue &value : line.values)
        bytes += char(value.number);
    }
  }
  for (const PendingName &one : pendingNames_) {
    auto label = labels.find(one.label);
    if (label == labels.end() && text(one.label) != ".debug_str") {
      error(one.span, quote(one.label) + " is no label of the section .debug_str",
            "PTX ISA 11.5.4: .loc");
      continue;
    }
    uint64_t start = (label == labels.end() ? 0 : label->second) + one.offset;
    if (start < bytes.size())
      module_.locations[one.location].functionName =
          arena_.copyText(std::string_view(bytes.c_str() + start));
  }
}

} // namespace ptxrun::check
