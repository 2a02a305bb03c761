#include "translate/jit/quiet_calls.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "translate/simt/gang_module.h"

namespace ptxrun::jit {

using namespace llvm;

namespace {

/// void quiet(arguments..., place) { entry(arguments..., the address behind the kernel's call); }
/// The upper halves of registers are cleared for what it calls, as C functions expect.
Function *quietFormOf(Function &entry, const Function &caller, CpuLevel level) {
  Module &module = *entry.getParent();
  Function *quiet =
      createQuietFunction(entry.getFunctionType(), entry.getName() + ".quiet", module, caller);
  quiet->addFnAttr(Attribute::Cold);
  IRBuilder<> ir(BasicBlock::Create(module.getContext(), "entry", quiet));
  SmallVector<Value *> arguments;
  for (Argument &argument : quiet->args())
    arguments.push_back(&argument);
  arguments.back() = ir.CreateIntrinsic(Intrinsic::returnaddress, {}, {ir.getInt32(0)});
  if (level == CpuLevel::avx2)
    ir.CreateIntrinsic(Intrinsic::x86_avx_vzeroupper, {}, {});
  ir.CreateCall(&entry, arguments);
  ir.CreateRetVoid();
  return quiet;
}

} // namespace

Function *createQuietFunction(FunctionType *type, const Twine &name, Module &module,
                              const Function &caller) {
  auto *quiet = Function::Create(type, GlobalValue::InternalLinkage, name, module);
  quiet->setCallingConv(CallingConv::PreserveAll);
  // The caller's CPU: what is saved are registers of its level.
  for (const char *attribute :
       {"target-cpu", "target-features", "tune-cpu", "probe-stack", "stack-probe-size"})
    if (caller.hasFnAttribute(attribute))
      quiet->addFnAttr(caller.getFnAttribute(attribute));
  // What it saved it gives back whole: LLVM would clear the upper halves on the way out.
  const StringRef features = quiet->getFnAttribute("target-features").getValueAsString();
  quiet->addFnAttr("target-features",
                   (features + (features.empty() ? "" : ",") + "-vzeroupper").str());
  quiet->addFnAttr(Attribute::NoUnwind);
  quiet->addFnAttr(Attribute::NoInline);
  return quiet;
}

void keepRegistersInSlowCalls(Module &module, CpuLevel level) {
  MapVector<Function *, Function *> quiet;
  for (Function &function : module)
    for (Instruction &i : instructions(function)) {
      auto *call = dyn_cast<CallInst>(&i);
      if (!call || !call->hasFnAttr(simt::kOffMainLine) || !call->getCalledFunction())
        continue;
      Function *&form = quiet[call->getCalledFunction()];
      if (!form)
        form = quietFormOf(*call->getCalledFunction(), function, level);
      call->setCalledFunction(form);
      call->setCallingConv(CallingConv::PreserveAll);
    }
}

} // namespace ptxrun::jit
