// LaneBuilder: reading and writing operands.
#include <algorithm>

#include "translate/lower/function_address.h"
#include "translate/lower/lane_builder.h"
#include "translate/lower/module_builder.h"
#include "translate/lower/types.h"

namespace ptxrun::lower {

using check::Operand;

// --- Registers ---------------------------------------------------------------------------------

llvm::AllocaInst *LaneBuilder::slot(const check::Register &reg, unsigned element) {
  auto &slots = slots_[reg.index];
  if (slots.empty())
    slots.resize(std::max<unsigned>(1, reg.vector), nullptr);
  llvm::AllocaInst *&slot = slots[element];
  if (slot)
    return slot;
  // A register that is read before it is written holds zero, so that every run and every W sees the
  // same.
  llvm::Type *type = registerType(reg);
  slot = allocaAtEntry(type, llvm::StringRef(reg.name));
  if (debugFrame_)
    debugPlaces_[slot] = debugFrame_->registers[reg.index] + element;
  new llvm::StoreInst(llvm::Constant::getNullValue(type), slot,
                      entry_->getTerminator()->getIterator());
  return slot;
}

llvm::Type *LaneBuilder::registerType(const check::Register &reg) {
  if (reg.type == isa::Type::pred || reg.type == isa::Type::f32 || reg.type == isa::Type::f64)
    return irType(ir.getContext(), reg.type);
  const unsigned bits = isa::bitWidth(reg.type);
  if (floatUses_[reg.index] > 0 && (bits == 32 || bits == 64))
    return bits == 32 ? ir.getFloatTy() : ir.getDoubleTy();
  return intType(bits);
}

// Inside a block a register's value is known without memory: the slot is loaded at most once, at
// the block's start, and stored at most once, at its end. This is what keeps promotion linear in
// blocks of thousands of instructions.

llvm::Value *LaneBuilder::readSlot(llvm::AllocaInst *slot) {
  enterBlock();
  llvm::Value *&known = blockValues_[slot];
  if (!known) {
    llvm::BasicBlock *block = ir.GetInsertBlock();
    known = new llvm::LoadInst(slot->getAllocatedType(), slot, "", block->getFirstInsertionPt());
  }
  return known;
}

void LaneBuilder::writeSlot(llvm::AllocaInst *slot, llvm::Value *value) {
  if (laneGuard_)
    value = ir.CreateSelect(laneGuard_, value, readSlot(slot));
  enterBlock();
  blockValues_[slot] = value;
  written_.insert(slot);
  if (const auto place = debugPlaces_.find(slot); place != debugPlaces_.end())
    showToDebugger(value, place->second);
}

/// Forgets the values of the block that was left, storing what was written there.
void LaneBuilder::enterBlock() {
  if (ir.GetInsertBlock() == valuesBlock_)
    return;
  if (!written_.empty()) {
    llvm::Instruction *terminator = valuesBlock_->getTerminator();
    const auto end = terminator ? terminator->getIterator() : valuesBlock_->end();
    for (llvm::AllocaInst *slot : written_)
      (new llvm::StoreInst(blockValues_[slot], slot, false, llvm::Align(1)))
          ->insertInto(valuesBlock_, end);
  }
  written_.clear();
  blockValues_.clear();
  valuesBlock_ = ir.GetInsertBlock();
}

/// Most registers live within one block: nothing ever loads their slots.
void LaneBuilder::eraseUnreadSlots() {
  llvm::SmallVector<llvm::AllocaInst *, 64> unread;
  for (llvm::Instruction &instruction : *entry_) {
    auto *slot = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    const auto isStoreTo = [&](llvm::User *user) {
      auto *store = llvm::dyn_cast<llvm::StoreInst>(user);
      return store && store->getPointerOperand() == slot;
    };
    if (slot && llvm::all_of(slot->users(), isStoreTo))
      unread.push_back(slot);
  }
  for (llvm::AllocaInst *slot : unread) {
    for (llvm::User *store : llvm::make_early_inc_range(slot->users()))
      llvm::cast<llvm::Instruction>(store)->eraseFromParent();
    slot->eraseFromParent();
  }
}

llvm::Value *LaneBuilder::readRegister(const check::Register &reg, unsigned element) {
  return readSlot(slot(reg, element));
}

void LaneBuilder::writeRegister(const check::Register &reg, unsigned element, llvm::Value *value,
                                bool isSigned) {
  llvm::AllocaInst *to = slot(reg, element);
  llvm::Type *type = to->getAllocatedType();
  if (value->getType() != type) {
    llvm::Value *bits = toBits(value);
    value = cast(extend(bits, intType(type->getPrimitiveSizeInBits()), isSigned), type);
  }
  writeSlot(to, value);
}

// --- Reading -----------------------------------------------------------------------------------

llvm::Value *LaneBuilder::read(const check::Instruction &in, size_t i) {
  return read(in.operands[i], in.operands[i].type);
}

llvm::Value *LaneBuilder::read(const Operand &operand, isa::Type type) {
  llvm::Type *wanted = irType(ir.getContext(), type);
  assert(wanted && "lower: operand read without a type");
  if (operand.kind == Operand::Kind::floating || operand.kind == Operand::Kind::integer)
    return immediate(operand, type);
  llvm::Value *value = readRaw(operand, type);
  if (operand.isNegated)
    value = ir.CreateNot(value);
  if (value->getType() == wanted)
    return value;
  llvm::Value *bits = toBits(value);
  return cast(extend(bits, intType(wanted->getPrimitiveSizeInBits()), isa::isSigned(type)), wanted);
}

llvm::Value *LaneBuilder::readBits(const Operand &operand, unsigned bits) {
  if (operand.kind == Operand::Kind::integer)
    return constant(bits, static_cast<uint64_t>(operand.integer), true);
  if (operand.kind == Operand::Kind::floating)
    return constant(bits, operand.bits);
  isa::Type type = operand.type;
  if (operand.kind == Operand::Kind::reg)
    type = operand.reg->type;
  return extend(toBits(readRaw(operand, type)), intType(bits), false);
}

/// The operand's value before conversion to the type asked for; `type` decides only where the
/// operand has no width itself.
llvm::Value *LaneBuilder::readRaw(const Operand &operand, isa::Type type) {
  switch (operand.kind) {
  case Operand::Kind::reg:
    if (operand.reg->vector > 1 && operand.component == 0)
      return join(readElements(operand, operand.reg->type));
    return readRegister(*operand.reg, operand.component ? operand.component - 1 : 0);
  case Operand::Kind::special:
    if (operand.component == 0 && isa::componentsOf(operand.special) > 1)
      return join(readElements(operand, isa::typeOf(operand.special)));
    return specialRegister(operand.special, operand.component);
  case Operand::Kind::vector: {
    const unsigned count = operand.elements.size();
    llvm::SmallVector<llvm::Value *, 8> parts;
    for (const Operand &element : operand.elements)
      parts.push_back(readBits(element, std::max(1u, memoryBits(type) / count)));
    return join(parts);
  }
  case Operand::Kind::function:
    return constant(64, functionAddress(module_.checked(), *operand.function));
  case Operand::Kind::address:
    return addressAsValue(operand, std::max(32u, memoryBits(type)));
  case Operand::Kind::integer:
  case Operand::Kind::floating:
    return immediate(operand, type);
  default:
    // `_` as a source has no value; everything else was rejected by check.
    return llvm::PoisonValue::get(irType(ir.getContext(), type));
  }
}

llvm::SmallVector<llvm::Value *, 8> LaneBuilder::readElements(const Operand &operand,
                                                              isa::Type element) {
  llvm::SmallVector<llvm::Value *, 8> values;
  if (operand.kind == Operand::Kind::vector) {
    for (const Operand &part : operand.elements)
      values.push_back(read(part, element));
    return values;
  }
  llvm::Type *wanted = irType(ir.getContext(), element);
  const auto convert = [&](llvm::Value *value) {
    return cast(
        extend(toBits(value), intType(wanted->getPrimitiveSizeInBits()), isa::isSigned(element)),
        wanted);
  };
  if (operand.kind == Operand::Kind::reg && operand.reg->vector > 1 && operand.component == 0)
    for (unsigned i = 0; i < operand.reg->vector; ++i)
      values.push_back(convert(readRegister(*operand.reg, i)));
  else if (operand.kind == Operand::Kind::special && operand.component == 0)
    for (unsigned i = 0; i < isa::componentsOf(operand.special); ++i)
      values.push_back(convert(specialRegister(operand.special, static_cast<uint8_t>(i + 1))));
  else
    values.push_back(read(operand, element));
  return values;
}

llvm::Value *LaneBuilder::immediate(const Operand &operand, isa::Type type) {
  llvm::Type *wanted = irType(ir.getContext(), type);
  const unsigned bits = wanted->getPrimitiveSizeInBits();
  llvm::Constant *value = operand.kind == Operand::Kind::integer
                              ? constant(bits, static_cast<uint64_t>(operand.integer), true)
                              : constant(bits, operand.bits);
  return operand.isNegated ? ir.CreateNot(value) : cast(value, wanted);
}

llvm::Value *LaneBuilder::addressAsValue(const Operand &operand, unsigned bits) {
  return extend(
      address(operand, operand.variable ? operand.variable->space : isa::StateSpace::generic),
      intType(bits), false);
}

// --- Writing -----------------------------------------------------------------------------------

void LaneBuilder::write(const check::Instruction &in, size_t i, llvm::Value *value) {
  write(in.operands[i], value);
}

void LaneBuilder::write(const Operand &operand, llvm::Value *value) {
  write(operand, value, isa::isSigned(operand.type));
}

void LaneBuilder::write(const Operand &operand, llvm::Value *value, bool isSigned) {
  switch (operand.kind) {
  case Operand::Kind::reg:
    if (operand.reg->vector > 1 && operand.component == 0)
      return writeElements(
          operand, split(toBits(value), irType(ir.getContext(), operand.reg->type)), isSigned);
    return writeRegister(*operand.reg, operand.component ? operand.component - 1 : 0, value,
                         isSigned);
  case Operand::Kind::vector: {
    const unsigned bits = value->getType()->getPrimitiveSizeInBits() / operand.elements.size();
    return writeElements(operand, split(toBits(value), intType(bits)), isSigned);
  }
  default:
    return; // `_` and absent operands
  }
}

void LaneBuilder::writeElements(const Operand &operand, llvm::ArrayRef<llvm::Value *> elements,
                                bool isSigned) {
  if (operand.kind == Operand::Kind::vector) {
    for (size_t i = 0; i < elements.size() && i < operand.elements.size(); ++i)
      write(operand.elements[i], elements[i], isSigned);
    return;
  }
  if (operand.kind != Operand::Kind::reg)
    return;
  for (unsigned i = 0; i < elements.size() && i < operand.reg->vector; ++i)
    writeRegister(*operand.reg, operand.component ? operand.component - 1 : i, elements[i],
                  isSigned);
}

llvm::Value *LaneBuilder::readCarry() {
  if (!carry_)
    declareCarry();
  return readSlot(carry_);
}

void LaneBuilder::writeCarry(llvm::Value *value) {
  if (!carry_)
    declareCarry();
  writeSlot(carry_, value);
}

void LaneBuilder::declareCarry() {
  carry_ = allocaAtEntry(ir.getInt1Ty(), "cc.cf");
  new llvm::StoreInst(ir.getFalse(), carry_, entry_->getTerminator()->getIterator());
}

} // namespace ptxrun::lower
