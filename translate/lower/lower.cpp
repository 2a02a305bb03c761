// The stage from CheckedModule to LaneModule: scan what the kernel reaches, lower each function,
// run the scalar passes.
#include "translate/lower/lower.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include "translate/lower/internal_error.h"
#include "translate/lower/lane_builder.h"
#include "translate/lower/lane_library.h"
#include "translate/lower/module_builder.h"
#include "translate/lower/passes.h"

namespace ptxrun::lower {

namespace {

/// Lowers every reached function; false if one of them holds something that cannot be executed.
bool lowerFunctions(ModuleBuilder &builder) {
  bool isComplete = true;
  for (const check::Function *function : builder.reached()) {
    LaneBuilder lane(builder, *function, builder.declare(*function));
    isComplete &= lane.run();
  }
  return isComplete;
}

llvm::Error failure(const check::Function &kernel) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "kernel `%s` cannot be executed; the diagnostics say why",
                                 std::string(kernel.name).c_str());
}

void fillIn(LaneModule &lane, ModuleBuilder &builder, llvm::Function *kernel) {
  lane.kernel = kernel;
  lane.hasClusterAddresses = builder.hasClusterAddresses();
  lane.usesReservedShared = builder.usesReservedShared();
  lane.paramBytes = builder.paramBytes();
  lane.staticSharedBytes = builder.staticSharedBytes();
  lane.staticSharedAlign = builder.staticSharedAlign();
  for (const std::string &name : builder.boundVariables())
    if (lane.module->getNamedGlobal("ptxrun.var." + name))
      lane.boundVariables.push_back(name);
}

} // namespace

llvm::Expected<LaneModule> lowerKernel(const check::Module &checked, const check::Function &kernel,
                                       const CodeOptions &options,
                                       support::Diagnostics &diagnostics) {
  LaneModule lane;
  lane.context = std::make_unique<llvm::LLVMContext>();
  lane.module = std::make_unique<llvm::Module>(llvm::StringRef(kernel.name), *lane.context);
  lane.module->setDataLayout(kLaneDataLayout);

  ModuleBuilder builder(*lane.module, checked, kernel, options, diagnostics);
  builder.scan();
  llvm::Function *target = builder.declare(kernel);
  if (!builder.checkSizes() || !lowerFunctions(builder))
    return failure(kernel);
  builder.debug().finalize();
  if (llvm::Error error = linkLaneLibrary(*lane.module))
    return std::move(error);
  if (!options.isWatched && !options.checks.alignment)
    optimise(*lane.module, *target, options);
  fillIn(lane, builder, target);
  if (std::string wrong = verifyLaneModule(lane); !wrong.empty())
    return llvm::make_error<InternalError>("lower", std::move(wrong));
  return lane;
}

} // namespace ptxrun::lower
