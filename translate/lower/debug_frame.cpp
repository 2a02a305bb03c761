// LaneBuilder: what debugged code tells (check/debug_frame.h).
//
//   entry:  words = alloca; all zero; addresses of variables into their words
//   body:   ptx.debug.enter(words, function)
//           before each instruction: ptx.debug.step(its number)
//           behind each write of a register: the same into its word, which nothing here reads
//           before a return: ptx.debug.leave(false), before the thread's end: ptx.debug.leave(true)
//
// Registers stay what they are in other code, so that what simt finds out about it is the same.
#include "translate/lower/lane_builder.h"
#include "translate/lower/module_builder.h"

namespace ptxrun::lower {

namespace {
constexpr auto kMemory = LaneBuilder::WordEffect::memory;
constexpr unsigned kWordBytes = 8;
} // namespace

void LaneBuilder::openDebugFrame() {
  debugFrame_ = std::make_unique<check::DebugFrame>(source_);
  debugWords_ = allocaAtEntry(llvm::ArrayType::get(intType(64), debugFrame_->words), "debug.frame");
  llvm::IRBuilder<> entry(entry_->getTerminator());
  entry.CreateMemSet(debugWords_, entry.getInt8(0), debugFrame_->words * kWordBytes,
                     llvm::Align(kWordBytes));
  setLocation(source_.line);
  if (source_.isEntry)
    showToDebugger(ir.CreatePtrToInt(target_->getArg(0), intType(64)), 0);
  const uint32_t function = check::functionNumber(module_.checked(), source_);
  debugFirst_ = check::instructionNumbers(module_.checked())[function];
  word("ptx.debug.enter", ir.getVoidTy(), {debugWords_, ir.getInt32(function)}, kMemory);
}

void LaneBuilder::showToDebugger(llvm::Value *value, uint32_t word) {
  if (value->getType()->isIntegerTy(1))
    value = ir.CreateZExt(value, ir.getInt8Ty());
  ir.CreateAlignedStore(
      value, ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), debugWords_, word * kWordBytes),
      llvm::Align(kWordBytes));
}

/// Where variables are that have an address.
void LaneBuilder::showVariables() {
  ir.SetInsertPoint(entry_->getTerminator());
  for (const auto &[variable, word] : debugFrame_->variables)
    if (const auto place = storage_.find(variable); place != storage_.end())
      showToDebugger(ir.CreatePtrToInt(place->second, intType(64)), word);
}

void LaneBuilder::announceStep(const check::Instruction &in) {
  const auto number = debugFirst_ + static_cast<uint32_t>(&in - source_.body.data());
  word("ptx.debug.step", ir.getVoidTy(), {ir.getInt32(number)}, kMemory);
}

void LaneBuilder::closeDebugFrame(bool isExit) {
  if (debugFrame_)
    word("ptx.debug.leave", ir.getVoidTy(), {ir.getInt32(isExit)}, kMemory);
}

} // namespace ptxrun::lower
