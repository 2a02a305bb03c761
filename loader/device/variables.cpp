#include "loader/device/variables.h"

#include <algorithm>
#include <cstring>

#include "loader/device/memory.h"
#include "loader/device/opaque.h"
#include "translate/lower/function_address.h"

namespace ptxrun::device {

namespace {

/// At least this, whatever the PTX says: keeps variables of different threads' use in different
/// cache lines.
constexpr uint64_t kVariableAlignment = 64;

bool livesInDeviceMemory(const check::Variable &variable) {
  return (variable.space == isa::StateSpace::global ||
          variable.space == isa::StateSpace::constant) &&
         variable.linkage != check::Linkage::external_;
}

std::vector<const check::Variable *> collect(const check::Module &module) {
  std::vector<const check::Variable *> all;
  for (const check::Variable *variable : module.variables)
    if (livesInDeviceMemory(*variable))
      all.push_back(variable);
  for (const check::Function *function : module.functions)
    for (const check::Variable *variable : function->variables)
      if (livesInDeviceMemory(*variable))
        all.push_back(variable);
  return all;
}

/// Stores the low `width` bytes of an address (its byte `shift`/8 and up, for mask()).
void storeAddress(char *where, const check::Relocation &relocation, uint64_t address) {
  const uint64_t value = (address + static_cast<uint64_t>(relocation.addend)) >> relocation.shift;
  std::memcpy(where + relocation.offset, &value, std::min<size_t>(relocation.width, 8));
}

} // namespace

VariableMemory::~VariableMemory() {
  for (const auto &[variable, address] : opaque_)
    removeOpaqueVariable(*variable, address);
  if (block_)
    freeMemory(block_);
}

Outcome VariableMemory::place(const check::Module &module, const Module *managedOf) {
  const auto sharedAddressOf = [&](const check::Variable &variable) -> char * {
    const VariableInfo *info =
        managedOf && variable.isManaged ? managedOf->findVariable(variable.name) : nullptr;
    return info ? static_cast<char *>(info->address) : nullptr;
  };
  const auto variables = collect(module);
  uint64_t bytes = 0;
  std::vector<uint64_t> offsets;
  for (const check::Variable *variable : variables) {
    const uint64_t alignment = std::max<uint64_t>(variable->alignment, kVariableAlignment);
    bytes = (bytes + alignment - 1) / alignment * alignment;
    offsets.push_back(bytes);
    bytes += variable->bytes;
  }
  if (variables.empty())
    return {};
  block_ = allocateMemory(bytes);
  blockBytes_ = bytes;
  if (!block_)
    return Outcome::failed(Code::outOfMemory, "no memory for the module's variables (" +
                                                  std::to_string(bytes) + " bytes)");
  auto *base = static_cast<char *>(block_);
  std::memset(base, 0, bytes);
  for (size_t i = 0; i < variables.size(); ++i) {
    const check::Variable &variable = *variables[i];
    char *shared = sharedAddressOf(variable);
    char *address = shared ? shared : base + offsets[i];
    addresses_.emplace(std::string(variable.name), address);
    const abi::ImageKind image = imageKindOf(variable);
    uint64_t handle = 0;
    if (image != abi::ImageKind::none) {
      handle = placeOpaqueVariable(variable, address);
      if (handle == 0)
        return Outcome::failed(Code::outOfMemory, "too many textures and surfaces");
      opaque_.emplace_back(&variable, address);
    }
    if (!variable.function)
      infos_.push_back({std::string(variable.name), address, variable.bytes,
                        variable.space == isa::StateSpace::constant, variable.isManaged, image,
                        handle});
    if (!shared)
      own_.push_back({&variable, address});
  }
  module_ = &module;
  return fill();
}

// The memory is zeros.
Outcome VariableMemory::fill() {
  for (const auto &[variable, address] : own_) {
    if (!variable->initializer.empty())
      std::memcpy(address, variable->initializer.data(),
                  std::min<size_t>(variable->initializer.size(), variable->bytes));
    for (const check::Relocation &relocation : variable->relocations) {
      if (relocation.function) {
        storeAddress(address, relocation, lower::functionAddress(*module_, *relocation.function));
        continue;
      }
      void *target = relocation.variable ? find(relocation.variable->name) : nullptr;
      if (!target)
        return Outcome::failed(Code::unresolved,
                               "the initialiser of '" + std::string(variable->name) +
                                   "' needs the address of '" +
                                   std::string(relocation.variable ? relocation.variable->name
                                                                   : std::string_view("?")) +
                                   "', which nothing defines");
      storeAddress(address, relocation, reinterpret_cast<uint64_t>(target));
    }
  }
  return {};
}

std::span<const char> VariableMemory::restore() {
  for (const auto &[variable, address] : own_)
    if (imageKindOf(*variable) == abi::ImageKind::none) // textures keep their handles
      std::memset(address, 0, variable->bytes);
  fill();
  return {static_cast<const char *>(block_), blockBytes_};
}

void *VariableMemory::find(std::string_view name) const {
  const auto found = addresses_.find(name);
  return found == addresses_.end() ? nullptr : found->second;
}

} // namespace ptxrun::device
