// call (PTX ISA 9.7.12.5): direct, indirect, and the functions of CUDA's device runtime.
#include <llvm/ADT/StringSwitch.h>

#include <algorithm>

#include "translate/lower/function_address.h"
#include "translate/lower/grid_barrier.h"
#include "translate/lower/lane_builder.h"
#include "translate/lower/lower.h"
#include "translate/lower/module_builder.h"
#include "translate/lower/types.h"

namespace ptxrun::lower {

using check::Instruction;
using check::Operand;

namespace {

/// The parts of a call, whichever of its forms was written.
struct Call {
  std::span<const Operand> results, arguments;
  const Operand *callee = nullptr;
  const Operand *targets = nullptr; ///< prototype or list of targets
};

Call takeApart(const Instruction &in) {
  Call call;
  for (const Operand &operand : in.operands)
    switch (operand.kind) {
    case Operand::Kind::list:
      (call.callee ? call.arguments : call.results) = operand.elements;
      break;
    case Operand::Kind::function:
    case Operand::Kind::reg:
      call.callee = &operand;
      break;
    case Operand::Kind::prototype:
      call.targets = &operand;
      break;
    default:
      break;
    }
  return call;
}

bool isParamVariable(const Operand &operand) {
  return operand.variable && operand.variable->space == isa::StateSpace::param;
}

llvm::Value *readArgument(LaneBuilder &b, const Operand &argument, isa::Type type) {
  if (!isParamVariable(argument))
    return b.read(argument, type);
  return b.ir.CreateLoad(irType(b.ir.getContext(), type), b.variablePointer(argument.variable));
}

void writeResult(LaneBuilder &b, const Operand &result, llvm::Value *value) {
  if (isParamVariable(result))
    b.ir.CreateStore(value, b.variablePointer(result.variable));
  else
    b.write(result, value);
}

/// Calls a function of the module: aggregates by pointer, vector registers element by element,
/// results from the return value.
void callFunction(LaneBuilder &b, const Call &call, const check::Function &function) {
  const check::Prototype &signature = function.signature;
  llvm::SmallVector<llvm::Value *, 8> values;
  llvm::SmallVector<std::pair<const Operand *, Passing>, 2> results;
  for (size_t i = 0; i < signature.returns.size() && i < call.results.size(); ++i)
    if (const Passing how = b.module().passing(*signature.returns[i]); how.isAggregate)
      values.push_back(b.variablePointer(call.results[i].variable));
    else
      results.push_back({&call.results[i], how});
  for (size_t i = 0; i < signature.parameters.size() && i < call.arguments.size(); ++i) {
    const Passing how = b.module().passing(*signature.parameters[i]);
    if (how.isAggregate)
      values.push_back(b.variablePointer(call.arguments[i].variable));
    else if (how.count == 1)
      values.push_back(readArgument(b, call.arguments[i], signature.parameters[i]->type));
    else
      values.append(b.split(
          b.readBits(call.arguments[i], how.count * how.type->getPrimitiveSizeInBits()), how.type));
  }
  llvm::CallInst *done = b.ir.CreateCall(b.module().declare(function), values);
  unsigned next = 0;
  for (const auto &[operand, how] : results) {
    llvm::SmallVector<llvm::Value *, 4> elements;
    for (unsigned k = 0; k < how.count; ++k, ++next)
      elements.push_back(done->getType()->isStructTy() ? b.ir.CreateExtractValue(done, next)
                                                       : static_cast<llvm::Value *>(done));
    writeResult(b, *operand, how.count == 1 ? elements[0] : b.join(elements));
  }
}

// switch (address) { case &f: f(...); break;  case &g: g(...); break;  default: trap; }
void callIndirectly(LaneBuilder &b, const Instruction &in, const Call &call) {
  if (!call.targets)
    return b.error(in, "an indirect call needs a prototype or a list of targets");
  llvm::Value *address = b.readBits(*call.callee, 64);
  llvm::BasicBlock *wild = b.newBlock("call.wild"), *after = b.newBlock("call.after");
  llvm::SwitchInst *choice = b.ir.CreateSwitch(address, wild);
  for (const check::Function *target : b.module().callTargets(*call.targets)) {
    llvm::ConstantInt *number = b.constant(64, functionAddress(b.module().checked(), *target));
    if (choice->findCaseValue(number) != choice->case_default() || target->isDeclaration)
      continue;
    llvm::BasicBlock *one = b.newBlock("call.one");
    choice->addCase(number, one);
    b.ir.SetInsertPoint(one);
    callFunction(b, call, *target);
    b.ir.CreateBr(after);
  }
  b.ir.SetInsertPoint(wild);
  b.word("ptx.trap", b.ir.getVoidTy(), {}, LaneBuilder::WordEffect::noReturn);
  b.ir.CreateUnreachable();
  b.ir.SetInsertPoint(after);
}

// --- CUDA's device runtime ---------------------------------------------------------------------

constexpr auto kMemory = LaneBuilder::WordEffect::memory;

llvm::Value *pointerArgument(LaneBuilder &b, const Call &call, size_t i) {
  return b.ir.CreateIntToPtr(readArgument(b, call.arguments[i], isa::Type::u64), b.ir.getPtrTy());
}

void callVprintf(LaneBuilder &b, const Call &call) {
  llvm::Value *written =
      b.word("ptx.call.vprintf", b.intType(32),
             {pointerArgument(b, call, 0), pointerArgument(b, call, 1)}, kMemory);
  if (!call.results.empty())
    writeResult(b, call.results[0], written);
}

void callMalloc(LaneBuilder &b, const Call &call) {
  llvm::Value *address = b.word("ptx.call.malloc", b.intType(64),
                                {readArgument(b, call.arguments[0], isa::Type::u64)}, kMemory);
  if (!call.results.empty())
    writeResult(b, call.results[0], address);
}

void callFree(LaneBuilder &b, const Call &call) {
  b.word("ptx.call.free", b.ir.getVoidTy(), {readArgument(b, call.arguments[0], isa::Type::u64)},
         kMemory);
}

void callAssertfail(LaneBuilder &b, const Call &call) {
  b.word("ptx.call.assertfail", b.ir.getVoidTy(),
         {pointerArgument(b, call, 0), pointerArgument(b, call, 1),
          readArgument(b, call.arguments[2], isa::Type::u32), pointerArgument(b, call, 3),
          readArgument(b, call.arguments[4], isa::Type::u64)},
         LaneBuilder::WordEffect::noReturn);
  b.ir.CreateUnreachable();
}

/// cudaCGGetIntrinsicHandle(scope): what the functions below take for a grid.
void callGridHandle(LaneBuilder &b, const Call &call) {
  if (!call.results.empty())
    writeResult(b, call.results[0], gridWorkspace(b));
}

/// cudaCGSynchronize(handle, flags), cudaCGSynchronizeGrid: no error.
void callGridBarrier(LaneBuilder &b, const Call &call) {
  emitGridBarrier(b, readArgument(b, call.arguments[0], isa::Type::u64));
  if (!call.results.empty())
    writeResult(b, call.results[0], b.constant(32, 0));
}

struct LibraryFunction {
  size_t arguments = 0;
  void (*lower)(LaneBuilder &, const Call &) = nullptr;
};

LibraryFunction findLibraryFunction(std::string_view name) {
  return llvm::StringSwitch<LibraryFunction>(name)
      .Case("vprintf", {2, callVprintf})
      .Case("malloc", {1, callMalloc})
      .Case("free", {1, callFree})
      .Case("__assertfail", {5, callAssertfail})
      .Case("cudaCGGetIntrinsicHandle", {1, callGridHandle})
      .Cases("cudaCGSynchronize", "cudaCGSynchronizeGrid", {2, callGridBarrier})
      .Default({});
}

void callDeclared(LaneBuilder &b, const Instruction &in, const Call &call) {
  const std::string name(call.callee->function->name);
  const LibraryFunction known = findLibraryFunction(name);
  if (!known.lower)
    return b.error(in,
                   "function `" + name + "` is declared here but defined nowhere in the module");
  if (call.arguments.size() != known.arguments)
    return b.error(in, "`" + name + "` takes " + std::to_string(known.arguments) + " arguments");
  known.lower(b, call);
}

} // namespace

bool isProvidedFunction(std::string_view name) { return findLibraryFunction(name).lower; }

void lowerCall(LaneBuilder &b, const Instruction &in) {
  llvm::BasicBlock *after = b.enterGuarded(in);
  const Call call = takeApart(in);
  if (call.callee->kind == Operand::Kind::reg)
    callIndirectly(b, in, call);
  else if (call.callee->function->isDeclaration)
    callDeclared(b, in, call);
  else
    callFunction(b, call, *call.callee->function);
  b.leaveGuarded(after);
}

} // namespace ptxrun::lower
