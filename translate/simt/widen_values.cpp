// Values of the scalar function as scalars and vectors of the wide one, and the slots they cross
// blocks in.
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "translate/simt/promote.h"
#include "translate/simt/value_map.h"

namespace ptxrun::simt {

llvm::Type *ValueMap::plainType(llvm::Type *t) {
  if (t->isPointerTy()) {
    llvm::LLVMContext &c = t->getContext();
    if (t->getPointerAddressSpace() == lower::kShared)
      return llvm::Type::getInt32Ty(c);
    return llvm::PointerType::get(c, 0);
  }
  if (auto *s = llvm::dyn_cast<llvm::StructType>(t)) {
    llvm::SmallVector<llvm::Type *> elements;
    for (llvm::Type *e : s->elements())
      elements.push_back(plainType(e));
    return llvm::StructType::get(t->getContext(), elements);
  }
  return t;
}

llvm::Type *ValueMap::widenType(llvm::Type *t, unsigned lanes) {
  t = plainType(t);
  if (lanes == 1 || t->isVoidTy())
    return t;
  if (auto *s = llvm::dyn_cast<llvm::StructType>(t)) {
    llvm::SmallVector<llvm::Type *> elements;
    for (llvm::Type *e : s->elements())
      elements.push_back(widenType(e, lanes));
    return llvm::StructType::get(t->getContext(), elements);
  }
  if (auto *v = llvm::dyn_cast<llvm::FixedVectorType>(t))
    return llvm::FixedVectorType::get(v->getElementType(), v->getNumElements() * lanes);
  return llvm::FixedVectorType::get(t, lanes);
}

llvm::Type *ValueMap::representation(const llvm::Instruction &i) {
  return shapes_.shape(&i).isVarying() ? wide(&i) : plain(&i);
}

/// The slot in which a value crosses blocks. It is made, and filled where the value was defined,
/// when the first block asks for it: nobody has to know beforehand what emitting code will ask for,
/// and no slot is read that was not written.
llvm::AllocaInst *ValueMap::slotFor(const Value *v) {
  llvm::AllocaInst *&slot = slots_[v];
  if (slot)
    return slot;
  auto known = definitions_.find(v);
  if (known == definitions_.end()) {
    llvm::Type *type = shapes_.shape(v).isVarying() ? wide(v) : plain(v);
    missing("a value is read before it is defined: " + v->getName(), type);
    return slot = entryAlloca(type, "missing.slot");
  }
  const Definition &d = known->second;
  slot = entryAlloca(d.value->getType(), v->getName() + ".slot");
  promotable_.push_back(slot);
  llvm::IRBuilder<> behind(d.block, !d.last ? d.block->begin()
                                    : llvm::isa<llvm::PHINode>(d.last)
                                        ? d.block->getFirstInsertionPt()
                                        : std::next(d.last->getIterator()));
  behind.CreateStore(d.value, slot);
  if (auto *i = llvm::dyn_cast<llvm::Instruction>(v))
    beginsEmpty(slot, i->getParent(), llvm::PoisonValue::get(slot->getAllocatedType()));
  return slot;
}

/// A value that another block defined, from its slot; constants need none.
llvm::Value *ValueMap::acrossBlocks(const Value *v) {
  if (auto known = definitions_.find(v); known != definitions_.end())
    if (auto *constant = llvm::dyn_cast<llvm::Constant>(known->second.value))
      return constant;
  llvm::AllocaInst *slot = slotFor(v);
  return b_.CreateLoad(slot->getAllocatedType(), slot, v->getName());
}

/// In each round of the loop around `block`, where lanes go different ways, the slot begins with
/// `empty`: all lanes that were on the way to the block have gone on by then. Else what is in the
/// slot would live through all rounds. False if there is no such loop.
bool ValueMap::beginsEmpty(llvm::AllocaInst *slot, const Block *block, llvm::Constant *empty) {
  const llvm::Loop *loop = shapes_.loops().getLoopFor(block);
  if (loop && loop->getHeader() == block)
    loop = loop->getParentLoop();
  Block *head = loop ? heads_.lookup(loop->getHeader()) : nullptr;
  if (!head || !shapes_.isInDivergentRegion(block))
    return false;
  llvm::IRBuilder<>(head, head->begin()).CreateStore(empty, slot);
  return true;
}

llvm::AllocaInst *ValueMap::incomingSlot(const llvm::PHINode &phi) {
  llvm::AllocaInst *&slot = incoming_[&phi];
  if (!slot) {
    slot = entryAlloca(representation(phi), phi.getName() + ".in");
    promotable_.push_back(slot);
    beginsEmpty(slot, phi.getParent(), llvm::PoisonValue::get(slot->getAllocatedType()));
  }
  return slot;
}

void ValueMap::define(const llvm::Instruction &i, Value *v) {
  if (shapes_.shape(&i).isVarying() && lanes_ > 1)
    locals_.vectors[&i] = v;
  else
    locals_.bases[&i] = v;
  Block *block = b_.GetInsertBlock();
  definitions_[&i] = {v, block, block->empty() ? nullptr : &block->back()};
}

llvm::Instruction *ValueMap::definedBehind(const Value *value, const Value *whole) const {
  const Definition d = definitions_.lookup(value);
  return d.value == whole && d.block == b_.GetInsertBlock() ? d.last : nullptr;
}

/// Constants: pointers to `.shared` become offsets, pointers of other spaces lose their space.
llvm::Value *ValueMap::plainConstant(const llvm::Constant *c) {
  auto *constant = const_cast<llvm::Constant *>(c);
  llvm::Type *t = plainType(c->getType());
  if (llvm::isa<llvm::PoisonValue>(c))
    return llvm::PoisonValue::get(t);
  if (llvm::isa<llvm::UndefValue>(c))
    return llvm::UndefValue::get(t);
  if (!c->getType()->isPointerTy())
    return constant;
  if (c->getType()->getPointerAddressSpace() == lower::kShared) {
    if (auto *e = llvm::dyn_cast<llvm::ConstantExpr>(c);
        e && e->getOpcode() == llvm::Instruction::IntToPtr)
      return e->getOperand(0);
    if (c->isNullValue())
      return b_.getInt32(0);
  }
  if (c->isNullValue())
    return llvm::ConstantPointerNull::get(llvm::cast<llvm::PointerType>(t));
  if (auto *f = llvm::dyn_cast<llvm::Function>(c)) {
    auto it = context_.wide.find(f);
    return it == context_.wide.end() ? constant : it->second;
  }
  if (c->getType() == t)
    return constant;
  if (auto *e = llvm::dyn_cast<llvm::ConstantExpr>(c);
      e && e->getOpcode() == llvm::Instruction::IntToPtr)
    return llvm::ConstantExpr::getIntToPtr(e->getOperand(0), t);
  return b_.CreateAddrSpaceCast(constant, t);
}

/// The scalar of a uniform value, or the common base of a value with offsets.
llvm::Value *ValueMap::base(const Value *v) {
  if (auto *c = llvm::dyn_cast<llvm::Constant>(v))
    return plainConstant(c);
  if (Value *known = locals_.bases.lookup(v))
    return known;
  Value *here = acrossBlocks(v);
  if (!isOffMainLine_)
    locals_.bases[v] = here;
  return here;
}

llvm::Value *ValueMap::splat(Value *scalar, llvm::Type *scalarType) {
  if (lanes_ == 1)
    return scalar;
  if (auto *s = llvm::dyn_cast<llvm::StructType>(scalarType)) {
    Value *result = llvm::PoisonValue::get(widenType(s, lanes_));
    for (unsigned k = 0; k < s->getNumElements(); ++k)
      result = b_.CreateInsertValue(
          result, splat(b_.CreateExtractValue(scalar, k), s->getElementType(k)), k);
    return result;
  }
  if (auto *v = llvm::dyn_cast<llvm::FixedVectorType>(scalarType)) {
    llvm::SmallVector<int> order;
    for (unsigned l = 0; l < lanes_; ++l)
      for (unsigned k = 0; k < v->getNumElements(); ++k)
        order.push_back(int(k));
    return b_.CreateShuffleVector(scalar, order);
  }
  return b_.CreateVectorSplat(lanes_, scalar);
}

llvm::Value *ValueMap::fromOffsets(Value *base, const Shape &shape, llvm::Type *scalarType) {
  llvm::Type *t = plainType(scalarType);
  if (!shape.offsets)
    return splat(base, t);
  llvm::SmallVector<llvm::Constant *> offsets;
  llvm::Type *offsetType = t->isPointerTy() ? b_.getInt64Ty() : t;
  for (int64_t o : *shape.offsets)
    offsets.push_back(llvm::ConstantInt::getSigned(offsetType, o));
  Value *steps = llvm::ConstantVector::get(offsets);
  if (t->isPointerTy())
    return b_.CreateGEP(b_.getInt8Ty(), base, steps);
  return b_.CreateAdd(b_.CreateVectorSplat(lanes_, base), steps);
}

/// A value whose offsets hold only if an index does not wrap, computed lane by lane from operands
/// that are certain.
llvm::Value *ValueMap::exactVector(const Value *v) {
  Shape s = shapes_.shape(v);
  if (!s.isConditional)
    return vector(v);
  auto *i = llvm::cast<llvm::Instruction>(v);
  if (auto *phi = llvm::dyn_cast<llvm::PHINode>(i)) // ShapeAnalysis::evaluatePhi: one value always
    return exactVector(phi->hasConstantValue());
  const bool wasOff = std::exchange(isOffMainLine_, true);
  Value *result;
  if (auto *gep = llvm::dyn_cast<llvm::GEPOperator>(i)) {
    result = emitAddress(*gep, true);
  } else {
    llvm::SmallVector<Value *> operands;
    for (const Value *op : i->operands())
      operands.push_back(exactVector(op));
    result = emitElementwise(*i, operands);
  }
  isOffMainLine_ = wasOff;
  return result;
}

/// The value as W lanes (or as the scalar it is at W = 1).
llvm::Value *ValueMap::vector(const Value *v) {
  if (lanes_ == 1)
    return base(v);
  if (auto *c = llvm::dyn_cast<llvm::Constant>(v))
    return splat(plainConstant(c), plain(v));
  Shape s = shapes_.shape(v);
  if (s.isConditional)
    return exactVector(v);
  if (Value *known = locals_.vectors.lookup(v))
    return known;
  Value *result = s.isVarying() ? acrossBlocks(v) : fromOffsets(base(v), s, v->getType());
  if (!isOffMainLine_)
    locals_.vectors[v] = result;
  return result;
}

llvm::Value *ValueMap::laneSelect(Value *mask, Value *onTrue, Value *onFalse) {
  if (auto *s = llvm::dyn_cast<llvm::StructType>(onTrue->getType())) {
    Value *result = llvm::PoisonValue::get(s);
    for (unsigned k = 0; k < s->getNumElements(); ++k)
      result = b_.CreateInsertValue(
          result,
          laneSelect(mask, b_.CreateExtractValue(onTrue, k), b_.CreateExtractValue(onFalse, k)), k);
    return result;
  }
  if (auto *v = llvm::dyn_cast<llvm::FixedVectorType>(onTrue->getType());
      v && v->getNumElements() != lanes_)
    mask = repeatMask(mask, v->getNumElements() / lanes_);
  return b_.CreateSelect(mask, onTrue, onFalse);
}

/// One mask bit per lane -> one per element of a value with `times` elements per lane.
llvm::Value *ValueMap::repeatMask(Value *mask, unsigned times) {
  if (!mask || times == 1)
    return mask;
  llvm::SmallVector<int> order;
  for (unsigned l = 0; l < lanes_; ++l)
    order.append(times, int(l));
  return b_.CreateShuffleVector(mask, order);
}

llvm::Value *ValueMap::allOnes() {
  if (lanes_ == 1)
    return b_.getTrue();
  return llvm::Constant::getAllOnesValue(vec(b_.getInt1Ty(), lanes_));
}

llvm::Value *ValueMap::anyLane(Value *mask) { return lanes_ == 1 ? mask : b_.CreateOrReduce(mask); }

llvm::Value *ValueMap::maskBits(Value *mask) {
  if (!mask)
    return b_.getInt32(lanes_ == 32 ? ~0u : (1u << lanes_) - 1);
  if (lanes_ == 1)
    return b_.CreateZExt(mask, b_.getInt32Ty());
  return b_.CreateZExtOrTrunc(b_.CreateBitCast(mask, b_.getIntNTy(lanes_)), b_.getInt32Ty());
}

llvm::Value *ValueMap::bitsToMask(Value *bits) {
  Value *n = b_.CreateZExtOrTrunc(bits, b_.getIntNTy(lanes_));
  return lanes_ == 1 ? n : b_.CreateBitCast(n, vec(b_.getInt1Ty(), lanes_));
}

llvm::AllocaInst *ValueMap::entryAlloca(llvm::Type *t, const llvm::Twine &name) {
  return entry_.CreateAlloca(t, nullptr, name);
}

llvm::Value *ValueMap::missing(const llvm::Twine &what, llvm::Type *type) {
  const llvm::DebugLoc place = b_.getCurrentDebugLocation();
  context_.fail(what + (place ? " (PTX line " + std::to_string(place.getLine()) + ")" : ""));
  return type->isVoidTy() ? nullptr : llvm::PoisonValue::get(type);
}

ValueMap::Block *ValueMap::newBlock(const llvm::Twine &name) {
  return Block::Create(context_.module.getContext(), name, &target_);
}

/// What is emitted next comes from this PTX line (of whichever function it was inlined from).
void ValueMap::setLine(const llvm::DebugLoc &place) {
  llvm::DISubprogram *function = target_.getSubprogram();
  b_.SetCurrentDebugLocation(
      place && function ? llvm::DILocation::get(target_.getContext(), place.getLine(), 0, function)
                        : nullptr);
}

llvm::Value *ValueMap::runtime(llvm::StringRef name, llvm::Type *result,
                               llvm::ArrayRef<Value *> arguments) {
  llvm::SmallVector<llvm::Type *> types;
  for (Value *a : arguments)
    types.push_back(a->getType());
  llvm::FunctionCallee f =
      context_.module.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  llvm::CallInst *call = b_.CreateCall(f, arguments);
  call->addFnAttr(llvm::Attribute::NoUnwind);
  return call;
}

/// A field of the Launch, Cta or Gang record.
llvm::Value *ValueMap::field(unsigned which, size_t offset, llvm::Type *t, bool isInvariant) {
  llvm::LoadInst *load = b_.CreateAlignedLoad(
      t, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), argument(which), offset),
      llvm::Align(t->isPointerTy() || t->isIntegerTy(64) ? 8 : 4));
  if (isInvariant)
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  return load;
}

/// The address of the CTA's `.shared` window. The first byte behind the reserved region begins a
/// page, so that the window's address is a multiple of that region's size
/// (rt/memory/shared_arena.cpp).
llvm::Value *ValueMap::sharedBase() {
  auto *base =
      llvm::cast<llvm::LoadInst>(field(kCta, offsetof(abi::Cta, sharedBase), b_.getPtrTy(), true));
  base->setMetadata(llvm::LLVMContext::MD_align,
                    llvm::MDNode::get(b_.getContext(), llvm::ConstantAsMetadata::get(
                                                           b_.getInt64(abi::kSharedFirstOffset))));
  return base;
}

/// The address of the kernel's `.param` space, which is there whether or not a thread comes to read
/// it: loads from it may move out of the loop over gangs. (Streams of stores behind pointers read
/// anew for each gang are a tenth slower. Between barriers registers are worth more.)
llvm::Value *ValueMap::kernelParams(const llvm::Argument &params) {
  Value *address = field(kLaunch, offsetof(abi::Launch, params), b_.getPtrTy(), true);
  auto number = [&](uint64_t n) {
    return llvm::MDNode::get(b_.getContext(), llvm::ConstantAsMetadata::get(b_.getInt64(n)));
  };
  if (const uint64_t bytes = params.getDereferenceableBytes(); bytes && !context_.hasBarriers) {
    auto *load = llvm::cast<llvm::LoadInst>(address);
    load->setMetadata(llvm::LLVMContext::MD_dereferenceable, number(bytes));
    load->setMetadata(llvm::LLVMContext::MD_align, number(8));
  }
  return address;
}

/// Promotion takes what nobody wrote for undefined, without a word.
void ValueMap::checkIncoming() {
  for (const auto &[value, slot] : incoming_) {
    auto is = [&](auto kind) {
      return llvm::any_of(slot->users(), [&](const llvm::User *u) { return kind(u); });
    };
    const bool isRead = is([](const llvm::User *u) { return llvm::isa<llvm::LoadInst>(u); });
    const bool isWritten = is([](const llvm::User *u) {
      const auto *store = llvm::dyn_cast<llvm::StoreInst>(u);
      return store && !llvm::isa<llvm::PoisonValue>(store->getValueOperand()); // of beginsEmpty
    });
    const bool mayBeUndefined =
        llvm::any_of(llvm::cast<llvm::PHINode>(value)->incoming_values(),
                     [](const Value *v) { return llvm::isa<llvm::UndefValue>(v); });
    if (isRead && !isWritten && !mayBeUndefined)
      context_.fail("no edge gives a value to the phi " + value->getName());
  }
}

/// GEPs are byte arithmetic: constant plus index times scale, so that pointers to `.shared` can be
/// plain 32-bit integers.
llvm::Value *ValueMap::emitAddress(const llvm::GEPOperator &gep, bool isWide) {
  const llvm::DataLayout layout(lower::kLaneDataLayout);
  const bool isShared = gep.getPointerAddressSpace() == lower::kShared;
  const unsigned width = isShared ? 32 : 64;
  llvm::MapVector<llvm::Value *, llvm::APInt> variable;
  llvm::APInt constant(width, 0);
  llvm::Type *scalarIndex = b_.getIntNTy(width);
  llvm::Type *index = isWide ? widenType(scalarIndex, lanes_) : scalarIndex;
  auto operand = [&](const Value *v) { return isWide ? exactVector(v) : base(v); };
  Value *pointer = operand(gep.getPointerOperand());
  if (!gep.collectOffset(layout, width, variable, constant))
    return missing("address of a type without a fixed size", isWide ? wide(&gep) : plain(&gep));
  Value *sum = llvm::ConstantInt::get(index, constant.sext(width));
  for (auto &[v, scale] : variable) {
    Value *n = b_.CreateSExtOrTrunc(operand(v), index);
    sum = b_.CreateAdd(b_.CreateMul(n, llvm::ConstantInt::get(index, scale)), sum);
  }
  if (isShared)
    return b_.CreateAdd(pointer, sum);
  return b_.CreateGEP(b_.getInt8Ty(), pointer, sum);
}

/// The same operation on the given operands, scalar or wide.
llvm::Value *ValueMap::emitElementwise(const llvm::Instruction &i, llvm::ArrayRef<Value *> op) {
  using I = llvm::Instruction;
  const bool isWide = lanes_ > 1 && !op.empty() && shapes_.shape(&i).kind != Shape::Kind::unknown &&
                      (shapes_.shape(&i).isVarying() || isOffMainLine_);
  llvm::Type *result = isWide ? wide(&i) : plain(&i);
  switch (i.getOpcode()) {
  case I::PtrToInt:
    if (op[0]->getType()->getScalarType()->isPointerTy())
      return b_.CreatePtrToInt(op[0], result);
    return b_.CreateZExtOrTrunc(op[0], result);
  case I::IntToPtr:
    if (result->getScalarType()->isPointerTy())
      return b_.CreateIntToPtr(op[0], result);
    return b_.CreateZExtOrTrunc(op[0], result);
  case I::AddrSpaceCast:
    if (op[0]->getType()->getScalarType()->isPointerTy() == result->getScalarType()->isPointerTy())
      return op[0];
    return missing("cast between .shared and other pointers", result);
  case I::BitCast:
    return b_.CreateBitCast(op[0], result);
  case I::ExtractValue:
    return b_.CreateExtractValue(op[0], llvm::cast<llvm::ExtractValueInst>(i).getIndices());
  case I::InsertValue:
    return b_.CreateInsertValue(op[0], op[1], llvm::cast<llvm::InsertValueInst>(i).getIndices());
  case I::Select:
    if (isWide && op[0]->getType()->isVectorTy())
      return laneSelect(op[0], op[1], op[2]);
    return b_.CreateSelect(op[0], op[1], op[2]);
  case I::ICmp:
  case I::FCmp:
    return b_.CreateCmp(llvm::cast<llvm::CmpInst>(i).getPredicate(), op[0], op[1]);
  case I::Freeze:
    return b_.CreateFreeze(op[0]);
  default:
    break;
  }
  if (i.isCast())
    return b_.CreateCast(llvm::cast<llvm::CastInst>(i).getOpcode(), op[0], result);
  if (llvm::isa<llvm::PHINode>(i) || i.isTerminator())
    return missing(llvm::Twine("no form on other operands: ") + i.getOpcodeName(), result);
  // What is known of lanes (their numbers in a warp) shapes code: which lanes exchange values.
  if (i.isBinaryOp() && i.getType()->isIntOrIntVectorTy())
    if (auto *a = llvm::dyn_cast<llvm::Constant>(op[0]), *c = llvm::dyn_cast<llvm::Constant>(op[1]);
        a && c)
      if (llvm::Constant *folded =
              llvm::ConstantFoldBinaryOpOperands(i.getOpcode(), a, c, i.getDataLayout()))
        return folded;
  I *clone = i.clone();
  clone->mutateType(result);
  for (unsigned k = 0; k < op.size(); ++k)
    clone->setOperand(k, op[k]);
  clone->dropUnknownNonDebugMetadata();
  b_.Insert(clone, i.getName());
  clone->setDebugLoc(b_.getCurrentDebugLocation());
  return clone;
}

ValueMap::ValueMap(ModuleContext &context, llvm::Function &source, llvm::Function &target,
                   const ShapeAnalysis &shapes, bool isKernel)
    : context_(context), source_(source), shapes_(shapes), isKernel_(isKernel),
      lanes_(shapes.lanes()), b_(target.getContext()), entry_(target.getContext()),
      target_(target) {}

void ValueMap::beginFunction() {
  Block *prologue = newBlock("prologue");
  Block *first = newBlock("first");
  entry_.SetInsertPoint(prologue);
  llvm::Instruction *toFirst = entry_.CreateBr(first);
  entry_.SetInsertPoint(toFirst);
  firstThread_ = target_.getArg(kFirstThread);
  if (!shapes_.areGangsRows())
    firstThread_ = entry_.CreateAnd(firstThread_, ~uint64_t(lanes_ - 1), "first.thread");
  b_.SetInsertPoint(first);
  for (unsigned n = 0; n < source_.arg_size(); ++n) {
    const llvm::Argument *own = source_.getArg(n);
    Value *v = isKernel_ ? kernelParams(*own) : argument(kFirstOwn + n);
    auto *slot = entryAlloca(v->getType(), own->getName());
    b_.CreateStore(v, slot);
    promote(slot);
    slots_[own] = slot;
  }
}

void ValueMap::endFunction() {
  llvm::EliminateUnreachableBlocks(target_);
  checkIncoming();
  std::vector<llvm::AllocaInst *> live;
  for (llvm::AllocaInst *a : promotable_)
    if (llvm::isAllocaPromotable(a))
      live.push_back(a);
  promoteSlots(target_, live);
}

void ValueMap::forgetBlock() {
  locals_.bases.clear();
  locals_.vectors.clear();
}

/// Whether this is the exact quotient of two integers of at most 32 bits, the divisor one for all
/// lanes, of which only the integer part is used: how intrinsics/lane divides.
bool ValueMap::isQuotientByUniform(const llvm::Instruction &i) const {
  auto isNarrowInteger = [](const Value *v) {
    if (auto *abs = llvm::dyn_cast<llvm::IntrinsicInst>(v);
        abs && abs->getIntrinsicID() == llvm::Intrinsic::fabs)
      v = abs->getOperand(0);
    auto *cast = llvm::dyn_cast<llvm::CastInst>(v);
    return cast && llvm::isa<llvm::UIToFPInst, llvm::SIToFPInst>(cast) &&
           cast->getSrcTy()->isIntegerTy() && cast->getSrcTy()->getIntegerBitWidth() <= 32;
  };
  return i.getType()->isDoubleTy() && isNarrowInteger(i.getOperand(0)) &&
         isNarrowInteger(i.getOperand(1)) && shapes_.isUniform(i.getOperand(1)) &&
         llvm::all_of(i.users(), [](const llvm::User *u) {
           return llvm::isa<llvm::FPToUIInst, llvm::FPToSIInst>(u);
         });
}

/// Such a quotient is a multiplication, and one division for all lanes, which may leave the loop:
///   r = (1 / d) * (1 + 2^-50)
///   a * r, which is above a / d by 2^-51 to 2^-49 of it
/// That is less than 1 / d, the least that a quotient is away from the integer above: both have the
/// same integer part.
llvm::Value *ValueMap::reciprocalFor(const llvm::Instruction &i) {
  auto number = [&](double v) { return llvm::ConstantFP::get(b_.getDoubleTy(), v); };
  return b_.CreateFMul(b_.CreateFDiv(number(1), base(i.getOperand(1))), number(1 + 0x1p-50));
}

} // namespace ptxrun::simt
