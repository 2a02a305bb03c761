#include "translate/lower/module_builder.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/Support/MathExtras.h>

#include <algorithm>

#include "intrinsics/abi.h"
#include "translate/check/execution_marks.h"
#include "translate/lower/types.h"

namespace ptxrun::lower {

using check::Operand;
using isa::StateSpace;

ModuleBuilder::ModuleBuilder(llvm::Module &module, const check::Module &checked,
                             const check::Function &kernel, const CodeOptions &options,
                             support::Diagnostics &diagnostics)
    : module_(module), checked_(checked), kernel_(kernel), options_(options),
      diagnostics_(diagnostics), debug_(module) {
  const std::string name = checked.source ? checked.source->name() : "module";
  file_ = debug_.createFile(name, ".");
  debug_.createCompileUnit(llvm::dwarf::DW_LANG_C, file_, "ptxrun", true, "", 0, "",
                           llvm::DICompileUnit::LineTablesOnly);
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
}

// --- What the kernel reaches -------------------------------------------------------------------

void ModuleBuilder::scan() {
  hasClusterAddresses_ =
      kernel_.reqnctapercluster[0] != 0 || kernel_.maxclusterrank != 0 || kernel_.explicitcluster;
  reach(kernel_);
  for (size_t i = 0; i < reached_.size(); ++i)
    for (const check::Instruction &in : reached_[i]->body)
      scanInstruction(in);
  layOutShared();
  layOutParams();
}

void ModuleBuilder::reach(const check::Function &function) {
  if (!function.isDeclaration && functions_.try_emplace(&function, nullptr).second)
    reached_.push_back(&function);
}

/// True for what only means something between the CTAs of a cluster: `.shared::cluster`, mapa,
/// %cluster_ctarank ...
bool ModuleBuilder::namesCluster(const check::Instruction &in) const {
  const auto isClusterName = [](std::string_view name) {
    return name.find("cluster") != std::string_view::npos;
  };
  if (in.form && (in.form->opcode == "mapa" || in.form->opcode == "getctarank"))
    return true;
  return std::any_of(in.modifiers.begin(), in.modifiers.end(),
                     [&](isa::Token token) { return isClusterName(isa::spelling(token)); }) ||
         std::any_of(in.operands.begin(), in.operands.end(), [&](const Operand &operand) {
           return operand.kind == Operand::Kind::special &&
                  isClusterName(isa::spelling(operand.special));
         });
}

/// True for `ld.shared` and the like: an access that may go to memory no variable stands for.
bool ModuleBuilder::namesShared(const check::Instruction &in) {
  return std::any_of(in.modifiers.begin(), in.modifiers.end(),
                     [](isa::Token token) { return isa::spelling(token).starts_with("shared"); });
}

void ModuleBuilder::scanInstruction(const check::Instruction &in) {
  namesShared_ = namesShared_ || namesShared(in);
  hasClusterAddresses_ = hasClusterAddresses_ || namesCluster(in);
  for (const Operand &operand : in.operands) {
    scanOperand(operand);
    // Naming a function as a value reaches nothing; calling it, or any function of a prototype,
    // does.
    if (!in.form || in.form->effect != isa::Effect::control)
      continue;
    if (operand.kind == Operand::Kind::function && operand.function)
      reach(*operand.function);
    if (operand.kind != Operand::Kind::prototype)
      continue;
    for (const check::Function *target : callTargets(operand))
      reach(*target);
  }
}

void ModuleBuilder::scanOperand(const Operand &operand) {
  if (operand.variable && operand.variable->space == StateSpace::shared)
    shared_.insert({operand.variable, 0});
  if (operand.kind == Operand::Kind::special)
    usesReservedShared_ =
        usesReservedShared_ || isa::spelling(operand.special).starts_with("reserved_smem_offset");
  for (const Operand &element : operand.elements)
    scanOperand(element);
}

std::vector<const check::Function *> ModuleBuilder::callTargets(const Operand &prototype) {
  if (!prototype.functions.empty())
    return {prototype.functions.begin(), prototype.functions.end()};
  if (!prototype.prototype)
    return {};
  if (!addressesKnown_)
    findAddressTaken();
  std::vector<const check::Function *> found;
  for (const check::Function *function : addressTaken_)
    if (matches(function->signature, *prototype.prototype))
      found.push_back(function);
  return found;
}

namespace {
bool sameShape(std::span<check::Variable *const> a, std::span<check::Variable *const> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const check::Variable *x, const check::Variable *y) {
                      return x->bytes == y->bytes && x->dimensions.empty() == y->dimensions.empty();
                    });
}
} // namespace

bool ModuleBuilder::matches(const check::Prototype &a, const check::Prototype &b) {
  return sameShape(a.returns, b.returns) && sameShape(a.parameters, b.parameters);
}

void ModuleBuilder::findAddressTaken() {
  addressesKnown_ = true;
  const auto take = [&](const check::Function *function) {
    if (!function || function->isDeclaration || function->isEntry)
      return;
    if (std::find(addressTaken_.begin(), addressTaken_.end(), function) == addressTaken_.end())
      addressTaken_.push_back(function);
  };
  for (const check::Function *function : checked_.functions) {
    for (const check::Instruction &in : function->body)
      if (in.form && in.form->effect != isa::Effect::control)
        for (const Operand &operand : in.operands)
          take(operand.function);
    for (const check::Variable *variable : function->variables)
      for (const check::Relocation &relocation : variable->relocations)
        take(relocation.function);
  }
  for (const check::Variable *variable : checked_.variables)
    for (const check::Relocation &relocation : variable->relocations)
      take(relocation.function);
}

// --- Layouts -----------------------------------------------------------------------------------

namespace {
bool isDynamicShared(const check::Variable &variable) {
  return variable.linkage == check::Linkage::external_ && variable.bytes == 0;
}
} // namespace

void ModuleBuilder::layOutShared() {
  // Whole vectors of 16 bytes go first: programs copy 16 bytes at once to arrays that they declare
  // with less alignment, and on a GPU these happen to lie well.
  constexpr unsigned kVectorBytes = 16;
  const auto isVectors = [](const check::Variable &variable) {
    return variable.bytes != 0 && variable.bytes % kVectorBytes == 0;
  };
  uint64_t next = abi::kSharedFirstOffset;
  for (const bool areVectors : {true, false})
    for (auto &[variable, offset] : shared_) {
      if (isDynamicShared(*variable) || isVectors(*variable) != areVectors)
        continue;
      const unsigned alignment =
          std::max({1u, variable->alignment, areVectors ? kVectorBytes : 1u});
      staticSharedAlign_ = std::max(staticSharedAlign_, alignment);
      next = llvm::alignTo(next, alignment);
      offset = static_cast<uint32_t>(next);
      next += variable->bytes;
    }
  uint64_t dynamic = next;
  for (auto &[variable, offset] : shared_)
    if (isDynamicShared(*variable))
      dynamic = std::max(dynamic, llvm::alignTo(next, std::max(16u, variable->alignment)));
  for (auto &[variable, offset] : shared_)
    if (isDynamicShared(*variable)) {
      staticSharedAlign_ = std::max(staticSharedAlign_, variable->alignment);
      offset = static_cast<uint32_t>(dynamic);
    }
  staticSharedBytes_ = static_cast<uint32_t>(dynamic - abi::kSharedFirstOffset);
}

void ModuleBuilder::layOutParams() {
  uint64_t next = 0;
  for (const check::Variable *parameter : kernel_.signature.parameters) {
    next = llvm::alignTo(next, std::max(1u, parameter->alignment));
    params_[parameter] = static_cast<uint32_t>(next);
    next += parameter->bytes;
  }
  paramBytes_ = static_cast<uint32_t>(next);
}

bool ModuleBuilder::checkSizes() {
  constexpr uint64_t kWindow = uint64_t{1} << abi::kSharedWindowShift, kMaxLocal = 512 * 1024;
  bool fits = true;
  uint64_t shared = abi::kSharedFirstOffset;
  for (const auto &[variable, offset] : shared_) {
    shared += variable->bytes + variable->alignment;
    if (fits && shared > kWindow)
      diagnostics_.error(variable->span, "the kernel's shared variables need more than the " +
                                             std::to_string(kWindow) + " bytes a CTA can address");
    fits = fits && shared <= kWindow;
  }
  for (const check::Function *function : reached_) {
    uint64_t local = 0;
    for (const check::Variable *variable : function->variables)
      local += variable->space == StateSpace::local ? variable->bytes : 0;
    if (local <= kMaxLocal)
      continue;
    diagnostics_.error(function->span, "local variables of " + std::to_string(local) +
                                           " bytes; a thread has at most " +
                                           std::to_string(kMaxLocal));
    fits = false;
  }
  return fits;
}

uint32_t ModuleBuilder::sharedOffset(const check::Variable &variable) const {
  const auto found = shared_.find(&variable);
  assert(found != shared_.end() && "lower: shared variable was not scanned");
  return found->second;
}

const uint32_t *ModuleBuilder::paramOffset(const check::Variable &variable) const {
  const auto found = params_.find(&variable);
  return found == params_.end() ? nullptr : &found->second;
}

// --- Declarations ------------------------------------------------------------------------------

Passing ModuleBuilder::passing(const check::Variable &parameter) {
  if (parameter.space == StateSpace::param &&
      (!parameter.dimensions.empty() || parameter.vector > 1))
    return {llvm::PointerType::get(context(), 0), true, 1};
  return {irType(context(), parameter.type), false, std::max<unsigned>(1, parameter.vector)};
}

llvm::FunctionType *ModuleBuilder::signature(const check::Prototype &prototype) {
  llvm::SmallVector<llvm::Type *, 8> parameters, results;
  for (const check::Variable *result : prototype.returns) {
    const Passing how = passing(*result);
    (how.isAggregate ? parameters : results).append(how.count, how.type);
  }
  for (const check::Variable *parameter : prototype.parameters)
    parameters.append(passing(*parameter).count, passing(*parameter).type);
  llvm::Type *result = results.empty()       ? llvm::Type::getVoidTy(context())
                       : results.size() == 1 ? results[0]
                                             : llvm::StructType::get(context(), results);
  return llvm::FunctionType::get(result, parameters, false);
}

llvm::Function *ModuleBuilder::declare(const check::Function &function) {
  llvm::Function *&target = functions_[&function];
  if (target)
    return target;
  const bool isKernel = &function == &kernel_;
  llvm::FunctionType *type =
      isKernel ? llvm::FunctionType::get(llvm::Type::getVoidTy(context()),
                                         {llvm::PointerType::get(context(), 0)}, false)
               : signature(function.signature);
  // The prefix keeps a function that happens to be called `malloc` or `ptx_...` from meaning
  // something to LLVM or to us.
  const std::string name = (isKernel ? "" : "fn.") + std::string(function.name);
  target = llvm::Function::Create(
      type, isKernel ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage, name,
      module_);
  target->addFnAttr(llvm::Attribute::NoUnwind);
  if (!isKernel)
    target->addFnAttr(llvm::Attribute::Convergent);
  return target;
}

llvm::GlobalVariable *ModuleBuilder::boundVariable(const check::Variable &variable) {
  llvm::GlobalVariable *&global = bound_[&variable];
  if (global)
    return global;
  const std::string name(variable.name);
  boundVariables_.push_back(name);
  // The type only says how many bytes may be read; the loader owns the memory.
  llvm::Type *bytes = llvm::ArrayType::get(llvm::Type::getInt8Ty(context()), variable.bytes);
  global =
      new llvm::GlobalVariable(module_, bytes, variable.space == StateSpace::constant,
                               llvm::GlobalValue::ExternalLinkage, nullptr, "ptxrun.var." + name);
  global->setAlignment(llvm::Align(std::max(1u, variable.alignment)));
  return global;
}

// A variable each: code that waits for a place in memory sees at once that this is another one.
llvm::GlobalVariable *ModuleBuilder::executionMark(uint32_t number) {
  boundVariables_.push_back(check::executionMarkName(number));
  return new llvm::GlobalVariable(module_, llvm::Type::getInt8Ty(context()), false,
                                  llvm::GlobalValue::ExternalLinkage, nullptr,
                                  "ptxrun.var." + boundVariables_.back());
}

llvm::DISubprogram *ModuleBuilder::subprogram(const check::Function &function) {
  auto *type = debug_.createSubroutineType(debug_.getOrCreateTypeArray({}));
  return debug_.createFunction(file_, llvm::StringRef(function.name), "", file_, function.line,
                               type, function.line, llvm::DINode::FlagZero,
                               llvm::DISubprogram::SPFlagDefinition |
                                   llvm::DISubprogram::SPFlagOptimized);
}

} // namespace ptxrun::lower
