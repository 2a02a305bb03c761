#include "loader/device/reached.h"

#include <algorithm>

namespace ptxrun::device {

namespace {

void addFunctions(const check::Operand &operand, std::vector<const check::Function *> &found) {
  if (operand.function)
    found.push_back(operand.function);
  found.insert(found.end(), operand.functions.begin(), operand.functions.end());
  for (const check::Operand &element : operand.elements)
    addFunctions(element, found);
}

} // namespace

std::vector<const check::Function *> reachedFrom(const check::Function &kernel) {
  std::vector<const check::Function *> reached{&kernel};
  for (size_t i = 0; i < reached.size(); ++i) {
    std::vector<const check::Function *> named;
    for (const check::Instruction &in : reached[i]->body)
      for (const check::Operand &operand : in.operands)
        addFunctions(operand, named);
    for (const check::Function *function : named) {
      const check::Function *body = function->aliasee ? function->aliasee : function;
      if (std::ranges::find(reached, body) == reached.end())
        reached.push_back(body);
    }
  }
  return reached;
}

} // namespace ptxrun::device
