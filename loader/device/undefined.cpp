#include "loader/device/undefined.h"

#include "loader/device/device.h"
#include "translate/check/checked_module.h"
#include "translate/lower/lower.h"

namespace ptxrun::device {

namespace {

bool isUndefined(const check::Function &function) {
  return function.isDeclaration && !function.isEntry && !function.aliasee &&
         function.linkage != check::Linkage::weak && !lower::isProvidedFunction(function.name);
}

/// Null if the operand names none.
const check::Function *findUndefined(const check::Operand &operand) {
  if (operand.function && isUndefined(*operand.function))
    return operand.function;
  for (const check::Function *function : operand.functions)
    if (isUndefined(*function))
      return function;
  for (const check::Operand &element : operand.elements)
    if (const check::Function *found = findUndefined(element))
      return found;
  return nullptr;
}

} // namespace

std::optional<UndefinedFunction> findUndefined(const Module &module) {
  for (const check::Function *function : module.checked().functions)
    for (const check::Instruction &in : function->body)
      for (const check::Operand &operand : in.operands)
        if (const check::Function *found = findUndefined(operand))
          return UndefinedFunction{found->name, static_cast<uint32_t>(in.line)};
  return std::nullopt;
}

} // namespace ptxrun::device
