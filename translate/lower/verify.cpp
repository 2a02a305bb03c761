// verifyLaneModule: the sentences of lane_module.h, one check each.
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "translate/lower/lower.h"
#include "translate/lower/scalar_form.h"
#include "translate/lower/vocabulary.h"

namespace ptxrun::lower {

namespace {

std::string describe(const llvm::Value &value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.print(stream);
  return text;
}

std::string checkKernel(const LaneModule &lane) {
  const llvm::Function *kernel = lane.kernel;
  if (!kernel || kernel->isDeclaration() || kernel->getParent() != lane.module.get())
    return "the kernel is not defined in the module";
  if (!kernel->getReturnType()->isVoidTy() || kernel->arg_size() != 1 ||
      !kernel->getArg(0)->getType()->isPointerTy())
    return "the kernel is not void (ptr)";
  return {};
}

std::string checkFunctions(const LaneModule &lane) {
  for (const llvm::Function &function : *lane.module) {
    if (!function.isDeclaration() && &function != lane.kernel && !function.hasInternalLinkage())
      return "device function is not internal: " + function.getName().str();
    if (function.isDeclaration() && !function.isIntrinsic() &&
        !function.getName().starts_with(vocabulary::kPrefix))
      return "neither vocabulary nor intrinsic: " + function.getName().str();
  }
  for (const llvm::GlobalVariable &global : lane.module->globals())
    if (!global.isDeclaration() ? !global.isConstant() || !global.hasInternalLinkage()
                                : !global.getName().starts_with("ptxrun.var."))
      return "neither an external variable nor a table: " + global.getName().str();
  return {};
}

std::string checkInstruction(const LaneModule &lane, const llvm::Instruction &instruction) {
  const bool isKernel = instruction.getFunction() == lane.kernel;
  if (const auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    const llvm::Function *callee = call->getCalledFunction();
    if (!callee)
      return "indirect call: " + describe(instruction);
    if (isKernel && callee->getName() == "ptx.exit")
      return "the kernel exits by ptx.exit, not by ret";
    if (callee->doesNotReturn() && callee->getName().starts_with(vocabulary::kPrefix) &&
        !llvm::isa<llvm::UnreachableInst>(call->getNextNonDebugInstruction()))
      return "no unreachable after " + callee->getName().str();
  }
  if (const auto *memory = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
    if (memory->getAddressSpace() != kGeneric)
      return "alloca outside address space 0: " + describe(instruction);
  if (isVectorArithmetic(instruction))
    return "vector arithmetic: " + describe(instruction);
  if (llvm::isa<llvm::LoadInst, llvm::StoreInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(
          instruction)) {
    const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&instruction);
    const unsigned space =
        (pointer ? pointer : instruction.getOperand(0))->getType()->getPointerAddressSpace();
    if (space != kGeneric && space != kShared)
      return "access in an address space that is neither generic nor shared: " +
             describe(instruction);
  }
  return {};
}

} // namespace

std::string verifyLaneModule(const LaneModule &lane) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(*lane.module, &stream))
    return "invalid IR: " + text;
  if (lane.module->getDataLayoutStr() != kLaneDataLayout)
    return "wrong data layout";
  if (std::string wrong = checkKernel(lane); !wrong.empty())
    return wrong;
  if (std::string wrong = checkFunctions(lane); !wrong.empty())
    return wrong;
  for (const llvm::Function &function : *lane.module)
    for (const llvm::Instruction &instruction : llvm::instructions(function))
      if (std::string wrong = checkInstruction(lane, instruction); !wrong.empty())
        return wrong;
  return {};
}

} // namespace ptxrun::lower
