// The map of values: where what the scalar function computes is in the wide one.
//
// Values that other blocks ask for live in stack slots while code is emitted and are promoted at
// the end, so that no dominance has to be repaired by hand.
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Operator.h>

#include <vector>

#include "translate/simt/module_context.h"
#include "translate/simt/shape.h"

namespace ptxrun::simt {

class ValueMap {
 public:
  /// `target` is empty and has the wide signature.
  ValueMap(ModuleContext &, llvm::Function &source, llvm::Function &target, const ShapeAnalysis &,
           bool isKernel);

  /// The wide type of a scalar type: <W x T>; vectors become <W*n x T> lane by lane; structs
  /// element by element.
  static llvm::Type *widenType(llvm::Type *, unsigned lanes);
  /// Pointers to `.shared` are 32-bit offsets, all other pointers host pointers.
  static llvm::Type *plainType(llvm::Type *);

 protected:
  using Value = llvm::Value;
  using Block = llvm::BasicBlock;

  /// Emits the first block, with the function's parameters; goes on emitting behind it.
  void beginFunction();
  /// Slots become values.
  void endFunction();
  /// What was read is known in a block only.
  void forgetBlock();

  llvm::AllocaInst *incomingSlot(const llvm::PHINode &);
  llvm::Type *representation(const llvm::Instruction &);
  Value *laneSelect(Value *mask, Value *onTrue, Value *onFalse);
  void define(const llvm::Instruction &, Value *);
  Value *base(const Value *);
  Value *vector(const Value *);
  /// Behind which instruction of the block being emitted the value came to be `whole`; null:
  /// elsewhere, or not known.
  llvm::Instruction *definedBehind(const Value *, const Value *whole) const;
  Value *splat(Value *scalar, llvm::Type *scalarType);
  Value *exactVector(const Value *);
  Value *fromOffsets(Value *base, const Shape &, llvm::Type *scalarType);
  static llvm::Type *plain(const Value *v) { return plainType(v->getType()); }
  llvm::Type *wide(const Value *v) { return widenType(v->getType(), lanes_); }
  /// The same operation on other operands, scalar or wide.
  Value *emitElementwise(const llvm::Instruction &, llvm::ArrayRef<Value *> operands);
  Value *emitAddress(const llvm::GEPOperator &, bool isWide);
  bool isQuotientByUniform(const llvm::Instruction &) const;
  Value *reciprocalFor(const llvm::Instruction &quotient);

  /// Code that is compiled soonest: the fewest instructions.
  bool isBaseline() const { return context_.options.tier == Tier::baseline; }
  Value *mask() { return mask_; } ///< of the block being emitted; null = all lanes
  void setMask(Value *m) { mask_ = m; }
  Value *fullMask() { return mask_ ? mask_ : allOnes(); }
  Value *allOnes();
  Value *anyLane(Value *mask);
  Value *maskBits(Value *mask); ///< i32, one bit per lane
  Value *bitsToMask(Value *bits);
  Value *repeatMask(Value *mask, unsigned times);
  Value *runtime(llvm::StringRef name, llvm::Type *result, llvm::ArrayRef<Value *> arguments);
  /// A field of the Launch, Cta or Gang record, `argument` of the function.
  Value *sharedBase();
  Value *field(unsigned argument, size_t offset, llvm::Type *, bool isInvariant);
  Value *argument(unsigned n) { return n == kFirstThread ? firstThread_ : target_.getArg(n); }
  llvm::AllocaInst *entryAlloca(llvm::Type *, const llvm::Twine &name);
  /// A slot that becomes a value at the end, too.
  void promote(llvm::AllocaInst *slot) { promotable_.push_back(slot); }
  bool beginsEmpty(llvm::AllocaInst *slot, const Block *, llvm::Constant *empty);
  Block *newBlock(const llvm::Twine &name);
  /// Notes that something has no wide form; a value that stands in for it until the stage ends.
  Value *missing(const llvm::Twine &what, llvm::Type *);
  /// What is built from now on belongs to this PTX line. Scopes of the scalar function are left
  /// behind.
  void setLine(const llvm::DebugLoc &);
  static llvm::FixedVectorType *vec(llvm::Type *element, unsigned n) {
    return llvm::FixedVectorType::get(element, n);
  }

  /// Values of the block being emitted that are known without a slot.
  struct Locals {
    llvm::DenseMap<const Value *, Value *> bases, vectors;
  };

  ModuleContext &context_;
  llvm::Function &source_;
  const ShapeAnalysis &shapes_;
  const bool isKernel_;
  const unsigned lanes_;
  llvm::IRBuilder<> b_;
  llvm::IRBuilder<> entry_;
  llvm::DenseMap<const Block *, Block *> heads_; ///< where a block of the source begins
  Locals locals_;
  bool isOffMainLine_ = false; // inside a slow path: what is computed must not be cached

 private:
  // A value as it was emitted, and behind what.
  struct Definition {
    Value *value = nullptr;
    Block *block = nullptr;
    llvm::Instruction *last = nullptr; ///< null: at the beginning of the block
  };

  llvm::AllocaInst *slotFor(const Value *);
  Value *acrossBlocks(const Value *);
  void checkIncoming();
  Value *plainConstant(const llvm::Constant *);
  Value *kernelParams(const llvm::Argument &params);

  llvm::Function &target_;
  llvm::DenseMap<const Value *, Definition> definitions_;
  llvm::DenseMap<const Value *, llvm::AllocaInst *> slots_, incoming_;
  std::vector<llvm::AllocaInst *> promotable_;
  Value *mask_ = nullptr;
  Value *firstThread_ = nullptr; ///< known to be a multiple of W, unless gangs are rows
};

} // namespace ptxrun::simt
