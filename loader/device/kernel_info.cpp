#include "loader/device/kernel_info.h"

#include <algorithm>
#include <set>

namespace ptxrun::device {

namespace {

Parameter describeParameter(const check::Variable &variable, uint64_t &end) {
  Parameter parameter;
  parameter.name = variable.name;
  parameter.type = variable.type;
  parameter.vector = variable.vector;
  parameter.isArray = !variable.dimensions.empty();
  parameter.isPointer = variable.isPointer;
  parameter.alignment = std::max<uint32_t>(variable.alignment, 1);
  parameter.bytes = variable.bytes;
  parameter.offset = (end + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
  end = parameter.offset + parameter.bytes;
  return parameter;
}

/// 32-bit registers that the declarations amount to. PTX has no allocation yet, so this is only a
/// bound.
uint32_t countRegisters(const check::Function &function) {
  uint64_t count = 0;
  for (const check::Register *reg : function.registers)
    count += reg->type == isa::Type::pred
                 ? 0
                 : std::max(1u, isa::bitWidth(reg->type) * reg->vector / 32);
  return static_cast<uint32_t>(std::clamp<uint64_t>(count, 1, 255));
}

/// What a multiprocessor's registers leave each thread where blocks of the greatest size that
/// .maxntid or .reqntid allows have to fit, .minnctapersm of them at once.
uint32_t registersForBlocks(const check::Function &function) {
  constexpr uint64_t kRegisters = 65536, kWarp = 32, kGranule = 8, kMost = 255;
  const auto &shape = function.reqntid[0] ? function.reqntid : function.maxntid;
  if (shape[0] == 0)
    return kMost;
  const uint64_t threads = uint64_t{shape[0]} * std::max(shape[1], 1u) * std::max(shape[2], 1u);
  const uint64_t blocks = std::max(function.minnctapersm, 1u);
  const uint64_t each = kRegisters / ((threads + kWarp - 1) / kWarp * kWarp * blocks);
  return static_cast<uint32_t>(std::clamp(each / kGranule * kGranule, kGranule, kMost));
}

} // namespace

std::vector<KernelInfo> describeKernels(const check::Module &module, uint32_t registerLimit) {
  std::vector<KernelInfo> kernels;
  for (const check::Function *function : module.functions) {
    if (!function->isEntry || function->isDeclaration)
      continue;
    KernelInfo info;
    info.name = function->name;
    for (const check::Variable *variable : function->signature.parameters)
      info.parameters.push_back(describeParameter(*variable, info.parameterBytes));
    info.maxntid = function->maxntid;
    info.reqntid = function->reqntid;
    info.clusterShape = function->reqnctapercluster;
    info.isExplicitCluster = function->explicitcluster;
    info.areBlocksClusters = function->blocksareclusters;
    info.maxClusterRank = function->maxclusterrank;
    info.minnctapersm = function->minnctapersm;
    info.maxnreg = function->maxnreg;
    info.registerCount = std::min(countRegisters(*function), registersForBlocks(*function));
    for (const uint32_t limit : {info.maxnreg, registerLimit})
      if (limit != 0)
        info.registerCount = std::min(info.registerCount, limit);
    info.line = function->line;
    kernels.push_back(std::move(info));
  }
  return kernels;
}

namespace {

/// Walks the code that a kernel reaches by direct calls and taken addresses.
class StaticMemoryReader {
 public:
  void read(const check::Function &function) {
    if (!functions_.insert(&function).second)
      return;
    for (const check::Variable *variable : function.variables)
      if (variable->space == isa::StateSpace::local)
        memory.localBytes += variable->bytes;
    for (const check::Instruction &instruction : function.body)
      for (const check::Operand &operand : instruction.operands)
        read(operand);
  }

  StaticMemory memory;

 private:
  void read(const check::Operand &operand) {
    if (operand.function)
      read(*operand.function);
    for (const check::Function *function : operand.functions)
      read(*function);
    for (const check::Operand &element : operand.elements)
      read(element);
    const check::Variable *variable = operand.variable;
    if (!variable || variable->space != isa::StateSpace::shared || !shared_.insert(variable).second)
      return;
    const uint64_t alignment = std::max<uint64_t>(variable->alignment, 1);
    memory.sharedBytes = (memory.sharedBytes + alignment - 1) / alignment * alignment;
    memory.sharedBytes += variable->bytes;
  }

  std::set<const check::Function *> functions_;
  std::set<const check::Variable *> shared_;
};

} // namespace

StaticMemory measureStaticMemory(const check::Module &module, std::string_view kernel) {
  StaticMemoryReader reader;
  if (const check::Function *function = module.findFunction(kernel))
    reader.read(*function);
  for (const check::Variable *variable : module.variables)
    if (variable->space == isa::StateSpace::constant)
      reader.memory.constantBytes += variable->bytes;
  return reader.memory;
}

} // namespace ptxrun::device
