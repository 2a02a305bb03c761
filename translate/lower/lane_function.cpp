// LaneBuilder: one function from its first to its last instruction.
#include <llvm/IR/DebugInfoMetadata.h>

#include <algorithm>

#include "translate/check/debug_frame.h"
#include "translate/check/execution_marks.h"
#include "translate/lower/address_parameters.h"
#include "translate/lower/handlers.h"
#include "translate/lower/lane_builder.h"
#include "translate/lower/module_builder.h"
#include "translate/lower/types.h"

namespace ptxrun::lower {

using check::Operand;

LaneBuilder::LaneBuilder(ModuleBuilder &module, const check::Function &source,
                         llvm::Function *target)
    : ir(module.context()), module_(module), source_(source), target_(target) {
  slots_.resize(source.registers.size());
  floatUses_.resize(source.registers.size());
  statementBlocks_.resize(source.body.size() + 1);
  subprogram_ = module.subprogram(source);
  target->setSubprogram(subprogram_);
}

// The shape of every function:
//   entry:  allocas, zero for each register, parameters into their storage; br body
//   body:   instructions; each label in use starts a block
bool LaneBuilder::run() {
  entry_ = llvm::BasicBlock::Create(ir.getContext(), "entry", target_);
  llvm::BasicBlock *body = llvm::BasicBlock::Create(ir.getContext(), "body", target_);
  llvm::BranchInst::Create(body, entry_);
  ir.SetInsertPoint(body);
  countFloatUses();
  if (module_.options().isDebugged)
    openDebugFrame();
  if (module_.options().isRecorded) {
    marks_ = check::executionMarks(source_);
    firstNumber_ = check::instructionNumbers(
        module_.checked())[check::functionNumber(module_.checked(), source_)];
  }
  bindParameters();
  createBlocks();
  for (size_t i = 0; i < source_.body.size(); ++i) {
    startBlockAt(i);
    if (!ir.GetInsertBlock()->getTerminator())
      lowerInstruction(source_.body[i]);
  }
  startBlockAt(source_.body.size());
  if (!ir.GetInsertBlock()->getTerminator())
    returnFromFunction();
  ir.SetInsertPoint(entry_);
  enterBlock(); // stores what the last block wrote
  if (debugFrame_)
    showVariables();
  eraseUnreadSlots();
  return !failed_;
}

/// Enters the block of the labels that stand before statement i, falling through from above.
void LaneBuilder::startBlockAt(size_t i) {
  llvm::BasicBlock *next = statementBlocks_[i];
  if (!next)
    return;
  if (!ir.GetInsertBlock()->getTerminator())
    ir.CreateBr(next);
  next->insertInto(target_);
  ir.SetInsertPoint(next);
}

void LaneBuilder::createBlocks() {
  for (const check::Label *label : source_.labels)
    if (!statementBlocks_[label->statement])
      statementBlocks_[label->statement] =
          llvm::BasicBlock::Create(ir.getContext(), llvm::StringRef(label->name));
}

llvm::BasicBlock *LaneBuilder::block(const check::Label &label) {
  return statementBlocks_[label.statement];
}

llvm::BasicBlock *LaneBuilder::newBlock(const llvm::Twine &name) {
  return llvm::BasicBlock::Create(ir.getContext(), name, target_);
}

// --- Storage -----------------------------------------------------------------------------------

llvm::AllocaInst *LaneBuilder::allocaAtEntry(llvm::Type *type, const llvm::Twine &name,
                                             unsigned alignment) {
  const llvm::DataLayout &layout = module_.module().getDataLayout();
  const llvm::Align align = alignment ? llvm::Align(alignment) : layout.getPrefTypeAlign(type);
  return new llvm::AllocaInst(type, 0, nullptr, align, name,
                              entry_->getTerminator()->getIterator());
}

llvm::Value *LaneBuilder::storage(const check::Variable &variable) {
  llvm::Value *&place = storage_[&variable];
  if (place)
    return place;
  place = allocaAtEntry(llvm::ArrayType::get(ir.getInt8Ty(), variable.bytes),
                        llvm::StringRef(variable.name), std::max(1u, variable.alignment));
  if (debugFrame_) // whatever is read before it is written must be the same in every run
    llvm::IRBuilder<>(entry_->getTerminator())
        .CreateMemSet(place, ir.getInt8(0), variable.bytes, llvm::Align(1));
  return place;
}

const LaneBuilder::Stack &LaneBuilder::stack() {
  if (stack_.memory)
    return stack_;
  stack_.memory = allocaAtEntry(llvm::ArrayType::get(ir.getInt8Ty(), kStackBytes), "stack", 16);
  stack_.used = allocaAtEntry(intType(64), "stack.used");
  new llvm::StoreInst(constant(64, 0), stack_.used, entry_->getTerminator()->getIterator());
  return stack_;
}

// A register counts as floating point where most typed uses are: nvcc keeps floats in .b32
// registers, and a float in an integer variable would leave casts around every phi.
void LaneBuilder::countFloatUses() {
  const auto count = [&](auto &self, const Operand &operand) -> void {
    if (operand.kind == Operand::Kind::reg &&
        isa::bitWidth(operand.type) == isa::bitWidth(operand.reg->type)) {
      const bool isFloat = operand.type == isa::Type::f32 || operand.type == isa::Type::f64;
      floatUses_[operand.reg->index] += isFloat ? 1 : isa::isBits(operand.type) ? 0 : -1;
    }
    if (operand.kind == Operand::Kind::address && operand.reg)
      floatUses_[operand.reg->index] -= 1;
    for (const Operand &element : operand.elements)
      self(self, element);
  };
  for (const check::Instruction &in : source_.body)
    for (const Operand &operand : in.operands)
      count(count, operand);
}

namespace {
const check::Register *findRegister(const check::Function &function, std::string_view name) {
  for (const check::Register *reg : function.registers)
    if (reg->name == name)
      return reg;
  return nullptr;
}
} // namespace

void LaneBuilder::bindParameters() {
  if (source_.isEntry) {
    target_->getArg(0)->setName("params");
    target_->addDereferenceableParamAttr(0,
                                         module_.paramBytes()); // whether or not a load is come to
    setAddressParameters(*target_, addressParameters(source_, module_));
    return;
  }
  unsigned next = 0;
  for (const check::Variable *result : source_.signature.returns)
    if (module_.passing(*result).isAggregate)
      storage_[result] = target_->getArg(next++);
  for (const check::Variable *parameter : source_.signature.parameters) {
    const Passing how = module_.passing(*parameter);
    llvm::Argument *argument = target_->getArg(next);
    next += how.count;
    argument->setName(llvm::StringRef(parameter->name));
    if (how.isAggregate)
      storage_[parameter] = argument;
    else if (const check::Register *reg = findRegister(source_, parameter->name);
             reg && parameter->space == isa::StateSpace::reg)
      for (unsigned element = 0; element < how.count; ++element)
        writeRegister(*reg, element, argument + element, false);
    else
      ir.CreateStore(argument, storage(*parameter));
  }
}

void LaneBuilder::returnFromFunction() {
  closeDebugFrame(source_.isEntry);
  llvm::Type *type = target_->getReturnType();
  if (type->isVoidTy()) {
    ir.CreateRetVoid();
    return;
  }
  llvm::SmallVector<llvm::Value *, 2> values;
  for (const check::Variable *result : source_.signature.returns) {
    const Passing how = module_.passing(*result);
    if (how.isAggregate)
      continue;
    const check::Register *reg =
        result->space == isa::StateSpace::reg ? findRegister(source_, result->name) : nullptr;
    for (unsigned element = 0; element < how.count; ++element)
      values.push_back(reg ? cast(toBits(readRegister(*reg, element)), how.type)
                           : ir.CreateLoad(how.type, storage(*result)));
  }
  if (values.size() == 1)
    ir.CreateRet(values[0]);
  else
    ir.CreateAggregateRet(values.data(), values.size());
}

void LaneBuilder::exitLane() {
  closeDebugFrame(true);
  if (source_.isEntry) {
    ir.CreateRetVoid();
    return;
  }
  word("ptx.exit", ir.getVoidTy(), {}, WordEffect::noReturn);
  ir.CreateUnreachable();
}

// --- Instructions ------------------------------------------------------------------------------

llvm::Value *LaneBuilder::guard(const check::Instruction &in) {
  if (!in.guard)
    return nullptr;
  llvm::Value *value = readRegister(*in.guard, 0);
  return in.isGuardNegated ? ir.CreateNot(value) : value;
}

llvm::BasicBlock *LaneBuilder::enterGuarded(const check::Instruction &in) {
  llvm::Value *condition = guard(in);
  if (!condition)
    return nullptr;
  llvm::BasicBlock *guarded = newBlock("guarded"), *after = newBlock("after");
  ir.CreateCondBr(condition, guarded, after);
  ir.SetInsertPoint(guarded);
  return after;
}

void LaneBuilder::leaveGuarded(llvm::BasicBlock *after) {
  if (!after)
    return;
  if (!ir.GetInsertBlock()->getTerminator())
    ir.CreateBr(after);
  ir.SetInsertPoint(after);
}

void LaneBuilder::setLocation(uint32_t line) {
  ir.SetCurrentDebugLocation(llvm::DILocation::get(ir.getContext(), line, 0, subprogram_));
}

namespace {
/// `add.rn.f32`, as written.
std::string opcodeText(const check::Instruction &in) {
  std::string text(in.form ? in.form->opcode : "instruction");
  for (const isa::Token token : in.modifiers)
    text.append(".").append(isa::spelling(token));
  return text;
}
} // namespace

void LaneBuilder::error(const check::Instruction &in, std::string message) {
  failed_ = true;
  support::Diagnostic &diagnostic =
      module_.diagnostics().errorOfKind(opcodeText(in), in.span, std::move(message));
  if (in.form && !in.form->section.empty())
    diagnostic.notes.push_back("PTX ISA " + std::string(in.form->section) + ": `" +
                               std::string(in.form->notation) + "`");
}

/// Recorded code: store 1 into the instruction's mark, if it has its own and its guard holds.
void LaneBuilder::markExecuted(const check::Instruction &in) {
  const auto index = static_cast<uint32_t>(&in - source_.body.data());
  if (marks_[index] != index)
    return;
  llvm::BasicBlock *after = enterGuarded(in);
  ir.CreateStore(ir.getInt8(1), module_.executionMark(firstNumber_ + index));
  leaveGuarded(after);
}

void LaneBuilder::lowerInstruction(const check::Instruction &in) {
  current_ = &in;
  setLocation(in.line);
  if (debugFrame_)
    announceStep(in);
  if (!marks_.empty())
    markExecuted(in);
  const LowerHandler handler = in.form ? handlerOf(in.form->handler) : nullptr;
  if (!handler || in.form->effect == isa::Effect::todo)
    return error(in, "`" + opcodeText(in) + "` cannot be executed yet");
  const isa::Effect effect = in.form->effect;
  if (!in.guard || effect == isa::Effect::control || effect == isa::Effect::hint)
    return handler(*this, in);
  if (effect == isa::Effect::lane) {
    laneGuard_ = guard(in);
    handler(*this, in);
    laneGuard_ = nullptr;
    return;
  }
  llvm::BasicBlock *after = enterGuarded(in);
  handler(*this, in);
  leaveGuarded(after);
}

} // namespace ptxrun::lower
