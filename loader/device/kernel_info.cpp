#include "loader/device/kernel_info.h"

#include <algorithm>

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

/// 32-bit registers that the declarations amount to. PTX has no allocation yet, so this is only a bound.
uint32_t countRegisters(const check::Function &function) {
  uint64_t count = 0;
  for (const check::Register *reg : function.registers)
    count += reg->type == isa::Type::pred
                 ? 0
                 : std::max(1u, isa::bitWidth(reg->type) * reg->vector / 32);
  return static_cast<uint32_t>(std::clamp<uint64_t>(count, 1, 255));
}

}  // namespace

std::vector<KernelInfo> describeKernels(const check::Module &module) {
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
    info.minnctapersm = function->minnctapersm;
    info.maxnreg = function->maxnreg;
    info.registerCount = countRegisters(*function);
    if (info.maxnreg != 0)
      info.registerCount = std::min(info.registerCount, info.maxnreg);
    info.line = function->line;
    kernels.push_back(std::move(info));
  }
  return kernels;
}

}  // namespace ptxrun::device
