#include "translate/observe/checked_text.h"

#include <cstdio>

namespace ptxrun::observe {

namespace {

using check::Operand;

std::string join(auto &&range, auto &&textOf) {
  std::string out;
  for (const auto &item : range) {
    if (!out.empty()) out += ", ";
    out += textOf(item);
  }
  return out;
}

std::string hexadecimal(uint64_t bits) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
  return text;
}

std::string addressText(const Operand &operand) {
  std::string base = operand.reg ? std::string(operand.reg->name)
                     : operand.variable ? std::string(operand.variable->name)
                     : operand.function ? std::string(operand.function->name)
                                        : "";
  if (base.empty()) return "[" + std::to_string(operand.integer) + "]";
  return "[" + base + (operand.integer ? "+" + std::to_string(operand.integer) : "") + "]";
}

std::string operandText(const Operand &operand);

std::string bareText(const Operand &operand) {
  switch (operand.kind) {
  case Operand::Kind::absent: return "-";
  case Operand::Kind::sink: return "_";
  case Operand::Kind::reg: return (operand.isNegated ? "!" : "") + std::string(operand.reg->name);
  case Operand::Kind::integer: return std::to_string(operand.integer);
  case Operand::Kind::floating: return hexadecimal(operand.bits);
  case Operand::Kind::special: return "%" + std::string(isa::spelling(operand.special));
  case Operand::Kind::address: return addressText(operand);
  case Operand::Kind::vector: return "{" + join(operand.elements, operandText) + "}";
  case Operand::Kind::function: return std::string(operand.function->name);
  case Operand::Kind::label: return std::string(operand.label->name);
  case Operand::Kind::labels:
    return "labels(" + join(operand.labels, [](const check::Label *label) { return std::string(label->name); }) + ")";
  case Operand::Kind::prototype: return "prototype";
  case Operand::Kind::tensor: return "[" + join(operand.elements, operandText) + "]";
  case Operand::Kind::list: return "(" + join(operand.elements, operandText) + ")";
  }
  return "";
}

std::string operandText(const Operand &operand) {
  std::string text = bareText(operand);
  if (operand.component) text += std::string(".") + "xyzw"[operand.component - 1];
  if (operand.type != isa::Type::none) text += ":" + std::string(isa::spelling(operand.type));
  return text;
}

std::string variableText(const check::Variable &variable) {
  return "." + std::string(isa::spelling(variable.space)) + " " + std::string(variable.name) + ": " +
         std::to_string(variable.bytes) + " bytes, align " + std::to_string(variable.alignment) + "\n";
}

std::string instructionText(const check::Instruction &instruction) {
  std::string text = "  " + std::to_string(instruction.line) + ": ";
  if (instruction.guard)
    text += std::string(instruction.isGuardNegated ? "@!" : "@") + std::string(instruction.guard->name) + " ";
  text += std::string(instruction.form->opcode);
  for (const isa::Token token : instruction.modifiers) text += "." + std::string(isa::spelling(token));
  text += " " + join(instruction.operands, operandText);
  return text + "    // " + std::string(instruction.form->section) + "\n";
}

std::string functionText(const check::Function &function) {
  std::string text = std::string(function.isEntry ? ".entry " : ".func ") + std::string(function.name) + "\n";
  for (const check::Variable *parameter : function.signature.returns) text += "  returns " + variableText(*parameter);
  for (const check::Variable *parameter : function.signature.parameters) text += "  takes " + variableText(*parameter);
  for (const check::Variable *variable : function.variables) text += "  has " + variableText(*variable);
  text += "  " + std::to_string(function.registers.size()) + " registers\n";
  size_t next = 0;
  for (uint32_t i = 0; i < function.body.size(); ++i) {
    for (; next < function.labels.size() && function.labels[next]->statement <= i; ++next)
      text += std::string(function.labels[next]->name) + ":\n";
    text += instructionText(function.body[i]);
  }
  return text;
}

}  // namespace

std::string checkedText(const check::Module &module) {
  std::string text = "version " + std::to_string(module.version) + ", sm_" + std::to_string(module.target);
  if (module.targetSuffix) text += module.targetSuffix;
  text += ", " + std::to_string(module.addressBits) + "-bit addresses\n";
  for (const check::Variable *variable : module.variables) text += variableText(*variable);
  for (const check::Function *function : module.functions)
    if (!function->isDeclaration) text += "\n" + functionText(*function);
  return text;
}

}  // namespace ptxrun::observe
