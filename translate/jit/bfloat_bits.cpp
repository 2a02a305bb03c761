#include "translate/jit/bfloat_bits.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace ptxrun::jit {

using namespace llvm;

namespace {

bool isBfloat(const Value *value) { return value->getType()->getScalarType()->isBFloatTy(); }

bool isMaskedAccess(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call)
    return false;
  switch (call->getIntrinsicID()) {
  case Intrinsic::masked_load:
  case Intrinsic::masked_store:
  case Intrinsic::masked_gather:
  case Intrinsic::masked_scatter:
    return true;
  default:
    return false;
  }
}

/// Whether it computes nothing.
bool isMove(const Instruction &instruction) {
  return isa<PHINode, SelectInst, InsertElementInst, ExtractElementInst, ShuffleVectorInst,
             FreezeInst, StoreInst>(instruction) ||
         (isa<LoadInst>(instruction) && !cast<LoadInst>(instruction).isAtomic()) ||
         isMaskedAccess(instruction);
}

class Moves {
 public:
  explicit Moves(Function &function) : function_(function) {}

  void rewrite() {
    // Definitions come before their uses but for those of phis, whose operands come last.
    SmallVector<PHINode *> phis;
    for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function_))
      for (Instruction &instruction : make_early_inc_range(*block)) {
        if (none_of(instruction.operands(), isBfloat) && !isBfloat(&instruction))
          continue;
        if (auto *phi = dyn_cast<PHINode>(&instruction)) {
          phis.push_back(phi);
          IRBuilder<> ir(phi);
          bits_[phi] = ir.CreatePHI(bitsOf(phi->getType()), phi->getNumIncomingValues());
        } else {
          rewrite(instruction);
        }
      }
    for (PHINode *phi : phis)
      for (unsigned k = 0; k < phi->getNumIncomingValues(); ++k)
        cast<PHINode>(bits_[phi])
            ->addIncoming(bits(phi->getIncomingValue(k)), phi->getIncomingBlock(k));
    replaced_.append(phis.begin(), phis.end());
    for (Instruction *instruction : replaced_) { // blocks that cannot be reached may still name it
      if (!instruction->use_empty())
        instruction->replaceAllUsesWith(PoisonValue::get(instruction->getType()));
      instruction->eraseFromParent();
    }
  }

 private:
  static Type *bitsOf(Type *type) {
    return type->getWithNewType(Type::getInt16Ty(type->getContext()));
  }

  /// The bits of a value that is known by now; blocks that cannot be reached are not rewritten.
  Value *bits(Value *value) {
    if (auto *constant = dyn_cast<Constant>(value))
      return ConstantExpr::getBitCast(constant, bitsOf(value->getType()));
    Value *known = bits_.lookup(value);
    return known ? known : PoisonValue::get(bitsOf(value->getType()));
  }

  void rewrite(Instruction &instruction) {
    IRBuilder<> ir(&instruction);
    if (isMove(instruction))
      return move(instruction, ir);
    if (auto *cast = dyn_cast<BitCastInst>(&instruction)) {
      Value *from = cast->getOperand(0);
      from = isBfloat(from) ? bits(from) : from;
      Type *type = isBfloat(cast) ? bitsOf(cast->getType()) : cast->getType();
      Value *value = ir.CreateBitCast(from, type);
      if (isBfloat(cast))
        bits_[cast] = value;
      else
        cast->replaceAllUsesWith(value);
      replaced_.push_back(cast);
      return;
    }
    for (Use &operand : instruction.operands())
      if (isBfloat(operand.get()) && !isa<Constant>(operand.get()))
        operand.set(ir.CreateBitCast(bits(operand.get()), operand->getType()));
    if (!isBfloat(&instruction))
      return;
    ir.SetInsertPoint(instruction.getParent(), *instruction.getInsertionPointAfterDef());
    bits_[&instruction] = ir.CreateBitCast(&instruction, bitsOf(instruction.getType()));
  }

  void move(Instruction &instruction, IRBuilder<> &ir) {
    Instruction *moved = nullptr;
    if (auto *call = dyn_cast<IntrinsicInst>(&instruction)) {
      SmallVector<Value *> arguments;
      for (Value *argument : call->args())
        arguments.push_back(isBfloat(argument) ? bits(argument) : argument);
      SmallVector<Type *> types; // as the intrinsic is declared: of the data, then of the addresses
      const bool isLoad = isBfloat(call);
      types.push_back(isLoad ? bitsOf(call->getType()) : arguments[0]->getType());
      types.push_back(arguments[isLoad ? 0 : 1]->getType());
      moved = ir.CreateIntrinsic(call->getIntrinsicID(), types, arguments);
    } else if (auto *load = dyn_cast<LoadInst>(&instruction)) {
      moved = ir.CreateAlignedLoad(bitsOf(load->getType()), load->getPointerOperand(),
                                   load->getAlign(), load->isVolatile());
    } else {
      moved = instruction.clone();
      for (Use &operand : moved->operands())
        if (isBfloat(operand.get()))
          operand.set(bits(operand.get()));
      if (isBfloat(&instruction))
        moved->mutateType(bitsOf(instruction.getType()));
      ir.Insert(moved);
    }
    moved->copyMetadata(instruction);
    if (isBfloat(&instruction))
      bits_[&instruction] = moved;
    replaced_.push_back(&instruction);
  }

  Function &function_;
  DenseMap<Value *, Value *> bits_;
  SmallVector<Instruction *> replaced_;
};

} // namespace

void moveBfloatsAsBits(Function &function) {
  if (any_of(instructions(function), [](const Instruction &i) { return isBfloat(&i); }))
    Moves(function).rewrite();
}

} // namespace ptxrun::jit
