#include "translate/syntax/printer.h"

#include "translate/syntax/printer_state.h"

namespace ptxrun::syntax {

using OperandKind = ast::Operand::Kind;

std::string print(const ast::Module &module) {
  Printer printer(module, nullptr);
  printer.header();
  printer.items(module.items);
  return printer.take();
}

std::string print(const ast::Module &module, std::span<const ast::Item> items,
                  const Respellings &respellings) {
  Printer printer(module, &respellings);
  printer.items(items);
  return printer.take();
}

template <typename Range, typename One> void Printer::list(const Range &range, One one) {
  bool isFirst = true;
  for (const auto &element : range) {
    if (!isFirst)
      out_ += ", ";
    isFirst = false;
    one(element);
  }
}

std::string_view Printer::symbol(support::NameId id) const {
  if (respellings_)
    if (const auto found = respellings_->find(id); found != respellings_->end())
      return found->second;
  return text(id);
}

void Printer::items(std::span<const ast::Item> all) {
  for (const ast::Item &item : all) {
    switch (item.kind) {
    case ast::Item::Kind::declaration:
      declaration(*item.declaration);
      break;
    case ast::Item::Kind::function:
      function(*item.function);
      break;
    case ast::Item::Kind::file:
      file(*item.file);
      break;
    case ast::Item::Kind::section:
      section(*item.section);
      break;
    case ast::Item::Kind::pragma:
      pragma(item.pragma->strings);
      break;
    case ast::Item::Kind::loc:
      loc(*item.loc);
      break;
    case ast::Item::Kind::alias:
      ((out_ += ".alias ") += symbol(item.alias->alias)) += ", ";
      (out_ += symbol(item.alias->aliasee)) += ";\n";
      break;
    }
  }
}

void Printer::header() {
  const ast::Header &header = module_.header;
  out_ += ".version " + std::to_string(header.versionMajor) + "." +
          std::to_string(header.versionMinor) + "\n.target ";
  list(header.targets, [&](support::NameId target) { out_ += text(target); });
  out_ += '\n';
  if (header.hasAddressSize)
    out_ += ".address_size " + std::to_string(header.addressSize) + "\n";
}

void Printer::linkage(ast::Linkage linkage) {
  switch (linkage) {
  case ast::Linkage::none:
    break;
  case ast::Linkage::external_:
    out_ += ".extern ";
    break;
  case ast::Linkage::visible:
    out_ += ".visible ";
    break;
  case ast::Linkage::weak:
    out_ += ".weak ";
    break;
  case ast::Linkage::common:
    out_ += ".common ";
    break;
  }
}

void Printer::attributes(std::span<const ast::Attribute> all) {
  if (all.empty())
    return;
  out_ += ".attribute(";
  list(all, [&](const ast::Attribute &one) {
    (out_ += '.') += text(one.name);
    if (one.arguments.empty())
      return;
    out_ += '(';
    list(one.arguments, [&](const ast::ExprItem &item) { number(item.bits); });
    out_ += ')';
  });
  out_ += ") ";
}

void Printer::declarationHead(const ast::Declaration &one) {
  word(one.space);
  attributes(one.attributes);
  if (one.hasAlign)
    out_ += ".align " + std::to_string(one.align) + " ";
  if (one.vector)
    word(one.vector);
  word(one.type);
}

void Printer::declaration(const ast::Declaration &one) {
  linkage(one.linkage);
  declarationHead(one);
  list(one.declarators, [&](const ast::Declarator &each) { declarator(each); });
  out_ += ";\n";
}

void Printer::declarator(const ast::Declarator &one) {
  out_ += symbol(one.name);
  if (one.hasRange)
    out_ += "<" + std::to_string(one.range) + ">";
  for (const ast::Dimension &size : one.dimensions)
    out_ += size.isEmpty ? "[]" : "[" + std::to_string(size.size) + "]";
  if (one.initializer) {
    out_ += " = ";
    initializer(*one.initializer);
  }
}

// Nested at most as deeply as the parser allows.
void Printer::initializer(const ast::Initializer &one) {
  if (one.hasField)
    (out_ += text(one.field)) += " = ";
  if (!one.isList)
    return expression(one.value);
  out_ += '{';
  list(one.elements, [&](const ast::Initializer &element) { initializer(element); });
  out_ += '}';
}

void Printer::parameters(std::span<const ast::Declaration> all) {
  out_ += '(';
  list(all, [&](const ast::Declaration &one) {
    declarationHead(one);
    if (one.isPointer) {
      out_ += ".ptr ";
      if (one.pointerSpace)
        word(one.pointerSpace);
      if (one.hasPointerAlign)
        out_ += ".align " + std::to_string(one.pointerAlign) + " ";
    }
    declarator(one.declarators[0]);
  });
  out_ += ')';
}

void Printer::prototypeTail(const ast::Prototype &prototype) {
  if (prototype.hasParameters)
    parameters(prototype.parameters);
  for (const ast::PerformanceDirective &one : prototype.directives) {
    if (!one.strings.empty()) {
      out_ += ' ';
      pragma(one.strings);
      continue;
    }
    out_ += ' ';
    word(one.name);
    list(one.arguments, [&](const ast::ExprItem &item) { number(item.bits); });
  }
}

void Printer::function(const ast::Function &one) {
  linkage(one.linkage);
  out_ += one.isEntry ? ".entry " : ".func ";
  attributes(one.attributes);
  if (one.prototype.hasReturns) {
    parameters(one.prototype.returns);
    out_ += ' ';
  }
  out_ += symbol(one.name);
  prototypeTail(one.prototype);
  if (!one.hasBody) {
    out_ += ";\n";
    return;
  }
  out_ += "\n{\n";
  for (const ast::Statement &each : one.body)
    statement(each);
  out_ += "}\n";
}

void Printer::statement(const ast::Statement &one) {
  switch (one.kind) {
  case ast::Statement::Kind::instruction:
    instruction(*one.instruction);
    break;
  case ast::Statement::Kind::label:
    (out_ += symbol(one.label)) += ":\n";
    break;
  case ast::Statement::Kind::declaration:
    declaration(*one.declaration);
    break;
  case ast::Statement::Kind::openBlock:
    out_ += "{\n";
    break;
  case ast::Statement::Kind::closeBlock:
    out_ += "}\n";
    break;
  case ast::Statement::Kind::loc:
    loc(*one.loc);
    break;
  case ast::Statement::Kind::pragma:
    pragma(one.pragma->strings);
    break;
  case ast::Statement::Kind::targets:
    targets(*one.targets);
    break;
  }
}

void Printer::instruction(const ast::Instruction &one) {
  if (one.guard)
    ((out_ += one.isGuardNegated ? "@!" : "@") += symbol(one.guard)) += ' ';
  out_ += module_.mnemonics[one.mnemonic].text;
  if (!one.operands.empty())
    out_ += ' ';
  list(one.operands, [&](const ast::Operand &each) { operand(each); });
  out_ += ";\n";
}

// Nested at most as deeply as the parser allows.
void Printer::operand(const ast::Operand &one) {
  auto children = [&](const char *open, const char *close) {
    out_ += open;
    list(one.children(), [&](const ast::Operand &each) { operand(each); });
    out_ += close;
  };
  if (one.isNegated || one.isMinus)
    out_ += one.isNegated ? '!' : '-';
  switch (one.kind) {
  case OperandKind::sink:
    out_ += '_';
    return;
  case OperandKind::constant:
    expression(one.expression());
    return;
  case OperandKind::address:
    children("[", "]");
    if (one.isUnified)
      out_ += ".unified";
    return;
  case OperandKind::vector:
    children("{", "}");
    return;
  case OperandKind::list:
    children("(", ")");
    return;
  case OperandKind::pair:
    operand(one.children()[0]);
    out_ += '|';
    operand(one.children()[1]);
    return;
  case OperandKind::name:
  case OperandKind::nameOffset:
  case OperandKind::indexed:
    break;
  }
  out_ += symbol(one.name);
  if (one.suffix)
    (out_ += '.') += text(one.suffix);
  if (one.kind == OperandKind::nameOffset) {
    out_ += " + ";
    expression(one.expression());
  } else if (one.kind == OperandKind::indexed) {
    children("[", "]");
  }
}

void Printer::targets(const ast::TargetsDirective &one) {
  (out_ += symbol(one.label)) += ": ";
  if (one.prototype) {
    out_ += ".callprototype ";
    if (one.prototype->hasReturns) {
      parameters(one.prototype->returns);
      out_ += ' ';
    }
    out_ += "_ ";
    prototypeTail(*one.prototype);
  } else {
    out_ += one.kind == ast::TargetsDirective::Kind::branchTargets ? ".branchtargets "
                                                                   : ".calltargets ";
    list(one.names, [&](const ast::Operand &each) { out_ += symbol(each.name); });
  }
  out_ += ";\n";
}

void Printer::pragma(std::span<const std::string_view> strings) {
  out_ += ".pragma ";
  list(strings, [&](std::string_view each) { out_ += each; });
  out_ += ";\n";
}

void Printer::file(const ast::FileDirective &one) {
  out_ += ".file " + std::to_string(one.index) + " \"";
  (out_ += one.path) += '"';
  if (one.hasTimestamp)
    out_ += ", " + std::to_string(one.timestamp) + ", " + std::to_string(one.size);
  out_ += '\n';
}

void Printer::loc(const ast::LocDirective &one) {
  out_ += ".loc " + std::to_string(one.file) + " " + std::to_string(one.line) + " " +
          std::to_string(one.column);
  if (one.hasFunctionName) {
    (out_ += ", function_name ") += symbol(one.functionName);
    if (one.functionOffset)
      out_ += "+" + std::to_string(one.functionOffset);
  }
  if (one.hasInlinedAt)
    out_ += ", inlined_at " + std::to_string(one.inlinedFile) + " " +
            std::to_string(one.inlinedLine) + " " + std::to_string(one.inlinedColumn);
  out_ += '\n';
}

void Printer::section(const ast::SectionDirective &one) {
  ((out_ += ".section .") += text(one.name)) += "\n{\n";
  for (const ast::SectionLine &line : one.lines) {
    if (line.label) {
      (out_ += symbol(line.label)) += ":\n";
      continue;
    }
    word(line.type);
    list(line.values, [&](const ast::SectionValue &value) {
      if (!value.symbol) {
        out_ += value.isNegative ? "-" : "";
        return number(value.number);
      }
      out_ += symbol(value.symbol);
      if (value.minus)
        (out_ += '-') += symbol(value.minus);
      else if (value.number)
        out_ += "+" + std::to_string(value.number);
    });
    out_ += '\n';
  }
  out_ += "}\n";
}

} // namespace ptxrun::syntax
