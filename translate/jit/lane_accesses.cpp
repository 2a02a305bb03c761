#include "translate/jit/lane_accesses.h"

#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include "translate/jit/quiet_calls.h"
#include "translate/simt/cost.h"
#include "translate/simt/lane_access.h"
#include "translate/simt/words.h"

namespace ptxrun::jit {

using namespace llvm;
using simt::LaneAccess;

namespace {

/// A gather or scatter that is not the CPU's own.
bool isLaneAccess(const Instruction &i, const simt::Target &target) {
  return LaneAccess::is(i) && !target.gathers(LaneAccess(cast<IntrinsicInst>(i)).elementBits());
}

SmallVector<IntrinsicInst *> laneAccesses(Function &function, const simt::Target &target) {
  SmallVector<IntrinsicInst *> found;
  for (Instruction &i : instructions(function))
    if (isLaneAccess(i, target))
      found.push_back(cast<IntrinsicInst>(&i));
  return found;
}

/// What a gather gives: to lanes that are not active what it says, if that is anything (InstCombine
/// takes zeros that somebody chose for them into it).
void replaceGather(IntrinsicInst &i, const LaneAccess &access, IRBuilder<> &ir, Value *loaded) {
  Value *others = i.getArgOperand(3);
  i.replaceAllUsesWith(isa<UndefValue>(others) ? loaded
                                               : ir.CreateSelect(access.mask, loaded, others));
}

AllocaInst *inFrame(Function &function, Type *type, Align align, const Twine &name) {
  return new AllocaInst(type, 0, nullptr, align, name, function.getEntryBlock().begin());
}

/// Each lane at its place, lanes that are not active at one that is nobody's.
void accessInPlace(IntrinsicInst &i, AllocaInst *nobody) {
  const LaneAccess access(i);
  IRBuilder<> ir(&i);
  Value *pointers = access.pointers;
  if (!access.isOfAll())
    pointers = ir.CreateSelect(access.mask, pointers, ir.CreateVectorSplat(access.lanes(), nobody));
  Value *result = PoisonValue::get(access.type);
  for (unsigned lane = 0; lane < access.lanes(); ++lane) {
    Value *to = ir.CreateExtractElement(pointers, lane);
    if (access.isStore)
      ir.CreateAlignedStore(ir.CreateExtractElement(access.values, lane), to, access.align);
    else
      result = ir.CreateInsertElement(
          result, ir.CreateAlignedLoad(access.type->getElementType(), to, access.align), lane);
  }
  if (!access.isStore)
    replaceGather(i, access, ir, result);
  i.eraseFromParent();
}

/// Addresses as a number that is the same for all lanes and numbers from zero on that differ.
struct Apart {
  Value *alike = nullptr, *differing = nullptr;
};
/// Of those whose distances surely have less than 31 bits; nothing of others.
std::optional<Apart> takeApart(Value *addresses, const DataLayout &layout) {
  using namespace PatternMatch;
  Value *x, *y;
  if (!match(addresses, m_Add(m_Value(x), m_Value(y))))
    return std::nullopt;
  if (!getSplatValue(y))
    std::swap(x, y);
  Value *alike = getSplatValue(y);
  return alike && computeKnownBits(x, layout).countMinLeadingZeros() > 33
             ? std::optional(Apart{alike, x})
             : std::nullopt;
}

/// A gather that is one of words. Elements that may lie across two of them are not.
bool isOfWords(const LaneAccess &access, const simt::Target &target) {
  return !access.isStore && target.gathersInWords(access.elementBits()) &&
         access.align.value() * 8 >= access.elementBits();
}

/// A gather of bytes or halves, where there is one of words: the words that they lie in, which are
/// on the same pages, and of each what is wanted.
void gatherWords(IntrinsicInst &i) {
  constexpr uint64_t kInWord = 3; // bits of an address
  const LaneAccess access(i);
  IRBuilder<> ir(&i);
  const auto vectorOf = [&](Type *type) { return FixedVectorType::get(type, access.lanes()); };
  Value *addresses = nullptr;
  if (auto *cast = dyn_cast<IntToPtrInst>(access.pointers))
    addresses = cast->getOperand(0);
  else
    addresses = ir.CreatePtrToInt(access.pointers, vectorOf(ir.getInt64Ty()));
  Value *places, *inWord;
  if (const auto apart = takeApart(addresses, i.getDataLayout())) {
    Value *index = ir.CreateAdd(
        ir.CreateTrunc(apart->differing, vectorOf(ir.getInt32Ty())),
        ir.CreateVectorSplat(access.lanes(),
                             ir.CreateTrunc(ir.CreateAnd(apart->alike, kInWord), ir.getInt32Ty())));
    inWord = ir.CreateAnd(index, kInWord);
    places = ir.CreateGEP(
        ir.getInt8Ty(), ir.CreateIntToPtr(ir.CreateAnd(apart->alike, ~kInWord), ir.getPtrTy()),
        ir.CreateSExt(ir.CreateAnd(index, uint32_t(~kInWord)), vectorOf(ir.getInt64Ty())));
  } else {
    inWord = ir.CreateAnd(ir.CreateTrunc(addresses, vectorOf(ir.getInt32Ty())), kInWord);
    places = ir.CreateIntToPtr(ir.CreateAnd(addresses, ~kInWord), vectorOf(ir.getPtrTy()));
  }
  Value *words =
      ir.CreateMaskedGather(vectorOf(ir.getInt32Ty()), places, Align(kInWord + 1), access.mask);
  Value *wanted = ir.CreateTrunc(ir.CreateLShr(words, ir.CreateShl(inWord, 3)),
                                 vectorOf(ir.getIntNTy(access.elementBits())));
  replaceGather(i, access, ir, ir.CreateBitCast(wanted, access.type));
  i.eraseFromParent();
}

/// Places of lanes as one pointer and numbers of 32 bits, which they are often made of.
struct Indexed {
  Value *base = nullptr;
  Value *index = nullptr; ///< of a GEP over `of`; extended with its sign
  Type *of = nullptr;
};

/// `index` of a GEP as what lanes differ by, of 32 bits, and what is alike, null for nothing.
std::optional<std::pair<Value *, Value *>> narrowIndex(Value *index) {
  using namespace PatternMatch;
  Value *narrow, *alike, *other;
  if (match(index, m_c_Add(m_Value(other), m_OneUse(m_SExt(m_Value(narrow))))) &&
      (alike = getSplatValue(other)))
    return narrow->getType()->getScalarType()->isIntegerTy(32)
               ? std::optional(std::pair(narrow, alike))
               : std::nullopt;
  if (!match(index, m_SExt(m_Value(narrow))) ||
      !narrow->getType()->getScalarType()->isIntegerTy(32))
    return std::nullopt;
  return std::pair(narrow, static_cast<Value *>(nullptr));
}

Indexed indexedBy(IRBuilder<> &ir, const LaneAccess &access) {
  auto *gep = dyn_cast<GetElementPtrInst>(access.pointers);
  if (!gep || gep->getNumIndices() != 1 || gep->getPointerOperandType()->isVectorTy())
    return {};
  const auto index = narrowIndex(gep->getOperand(1));
  if (!index)
    return {};
  Value *base = gep->getPointerOperand();
  if (index->second)
    base = ir.CreateGEP(gep->getSourceElementType(), base, index->second);
  return {base, index->first, gep->getSourceElementType()};
}

/// The functions that do it for one kind of access each:
///   void scatter(ptr pointers, ptr values, i32 mask)
///   void gather(ptr pointers, ptr values, i32 mask)
///   void copy(ptr to, ptr from, i32 mask)               pointers, both
/// or, in `pointers`' place, a pointer and indices (Indexed). They leave vector registers alone: in
/// a kernel's code a hundred values may wait there.
class LaneFunctions {
 public:
  /// isBaseline: with as little code as can be.
  LaneFunctions(Module &module, bool isBaseline) : module_(module), isBaseline_(isBaseline) {}

  /// What a call of simt::kCopyOfLanes does.
  Function *ofCopy(const CallInst &call) {
    const Function &word = *call.getCalledFunction();
    StringRef how = word.getName();
    unsigned lanes = 0, bytes = 0;
    uint64_t alignment = 0;
    how.consume_front(simt::kCopyOfLanes);
    how.consumeInteger(10, lanes);
    how.consume_front(".");
    how.consumeInteger(10, bytes);
    how.consume_front(".");
    how.consumeInteger(10, alignment);
    const std::string name = word.getName().drop_front(StringRef("simt.").size()).str();
    if (Function *made = module_.getFunction(name))
      return made;
    IRBuilder<> ir(module_.getContext());
    Function *function = create(name, {ir.getPtrTy(), ir.getPtrTy()}, *call.getFunction());
    const auto place = [&](IRBuilder<> &b, unsigned argument, Value *lane) {
      return b.CreateLoad(b.getPtrTy(),
                          b.CreateGEP(b.getPtrTy(), function->getArg(argument), lane));
    };
    forEachLane(*function, lanes, [&](IRBuilder<> &b, Value *lane) {
      Value *to = place(b, 0, lane), *from = place(b, 1, lane);
      b.CreateAlignedStore(b.CreateAlignedLoad(movedAs(b, 8 * bytes), from, Align(alignment)), to,
                           Align(alignment));
    });
    return function;
  }

  Function *of(const LaneAccess &access, const Indexed &indexed, const Function &caller) {
    auto *element = cast<IntegerType>(access.type->getElementType());
    std::string name;
    raw_string_ostream out(name);
    out << (access.isStore ? "scatter." : "gather.") << access.lanes() << '.' << *element << '.'
        << access.align.value();
    if (indexed.base)
      out << ".at." << module_.getDataLayout().getTypeAllocSize(indexed.of).getFixedValue();
    if (Function *made = module_.getFunction(name))
      return made;
    IRBuilder<> ir(module_.getContext());
    Function *function =
        create(name, SmallVector<Type *>(indexed.base ? 3 : 2, ir.getPtrTy()), caller);
    const Body body{*function, access, indexed.of};
    forEachLane(*function, access.lanes(),
                [&](IRBuilder<> &b, Value *lane) { body.move(b, lane); });
    return function;
  }

  static Value *allOf(IRBuilder<> &ir, unsigned lanes) {
    return ir.getInt32(maskTrailingOnes<uint32_t>(lanes));
  }

 private:
  /// What an element is moved as: one of 16 bytes in one register.
  static Type *movedAs(IRBuilder<> &ir, unsigned bits) {
    Type *whole = ir.getIntNTy(bits);
    return bits > 64 ? FixedVectorType::get(ir.getInt64Ty(), bits / 64) : whole;
  }

  /// A function, still empty, of these arguments and a mask.
  Function *create(const std::string &name, SmallVector<Type *> arguments, const Function &caller) {
    LLVMContext &c = module_.getContext();
    arguments.push_back(Type::getInt32Ty(c));
    Function *function = createQuietFunction(
        FunctionType::get(Type::getVoidTy(c), arguments, false), name, module_, caller);
    // Not among the code that has lines: what goes wrong in it is its caller's.
    function->setSection(".text.lanes");
    return function;
  }

  /// All lanes on end (not in baseline code), or those that are active from bit to bit.
  void forEachLane(Function &function, unsigned lanes,
                   function_ref<void(IRBuilder<> &, Value *lane)> move) const {
    LLVMContext &c = function.getContext();
    auto block = [&](const char *called) { return BasicBlock::Create(c, called, &function); };
    BasicBlock *some = block("some"), *each = block("each"), *done = block("done");
    Value *mask = function.getArg(function.arg_size() - 1);
    IRBuilder<> ir(c);
    if (!isBaseline_) {
      BasicBlock *entry = block("entry"), *all = block("all");
      entry->moveBefore(some);
      ir.SetInsertPoint(entry);
      ir.CreateCondBr(ir.CreateICmpEQ(mask, allOf(ir, lanes)), all, some);
      ir.SetInsertPoint(all);
      for (unsigned lane = 0; lane < lanes; ++lane)
        move(ir, ir.getInt64(lane));
      ir.CreateRetVoid();
    }
    ir.SetInsertPoint(some);
    ir.CreateCondBr(ir.CreateIsNull(mask), done, each);
    ir.SetInsertPoint(each);
    PHINode *left = ir.CreatePHI(ir.getInt32Ty(), 2);
    left->addIncoming(mask, some);
    Value *lane = ir.CreateIntrinsic(Intrinsic::cttz, {ir.getInt32Ty()}, {left, ir.getTrue()});
    move(ir, ir.CreateZExt(lane, ir.getInt64Ty()));
    Value *next = ir.CreateAnd(left, ir.CreateSub(left, ir.getInt32(1)));
    left->addIncoming(next, each);
    ir.CreateCondBr(ir.CreateIsNull(next), done, each);
    ir.SetInsertPoint(done);
    ir.CreateRetVoid();
  }

  /// What a gather or scatter does for a lane.
  struct Body {
    Function &function;
    const LaneAccess &access;
    Type *indexed; ///< null: pointers

    Value *place(IRBuilder<> &ir, Value *lane) const {
      if (!indexed)
        return ir.CreateLoad(ir.getPtrTy(), ir.CreateGEP(ir.getPtrTy(), function.getArg(0), lane));
      Value *index =
          ir.CreateLoad(ir.getInt32Ty(), ir.CreateGEP(ir.getInt32Ty(), function.getArg(1), lane));
      return ir.CreateGEP(indexed, function.getArg(0), ir.CreateSExt(index, ir.getInt64Ty()));
    }
    void move(IRBuilder<> &ir, Value *lane) const {
      Type *element = movedAs(ir, access.elementBits());
      Value *own = ir.CreateGEP(element, function.getArg(function.arg_size() - 2), lane);
      Value *shared = place(ir, lane);
      if (access.isStore)
        ir.CreateAlignedStore(ir.CreateLoad(element, own), shared, access.align);
      else
        ir.CreateStore(ir.CreateAlignedLoad(element, shared, access.align), own);
    }
  };

  Module &module_;
  const bool isBaseline_;
};

/// Where a function leaves what it hands over.
class Buffers {
 public:
  explicit Buffers(Function &function) : function_(function) {}
  enum Role { places, values };
  AllocaInst *of(Type *type, Role role) {
    AllocaInst *&buffer = buffers_[{type, role}];
    if (!buffer)
      buffer = inFrame(function_, type, Align(64), "lanes");
    return buffer;
  }

 private:
  Function &function_;
  DenseMap<std::pair<Type *, unsigned>, AllocaInst *> buffers_;
};

/// The same number of bits as integers: those go through registers that are not vectors.
FixedVectorType *asIntegers(FixedVectorType *type) {
  return FixedVectorType::get(IntegerType::get(type->getContext(), type->getScalarSizeInBits()),
                              type->getNumElements());
}

void accessByCall(IntrinsicInst &i, LaneFunctions &functions, Buffers &buffers) {
  LaneAccess access(i);
  IRBuilder<> ir(&i);
  const auto put = [&](Value *v, Buffers::Role role) {
    AllocaInst *buffer = buffers.of(v->getType(), role);
    ir.CreateAlignedStore(v, buffer, buffer->getAlign());
    return buffer;
  };
  Type *const type = access.type;
  access.type = asIntegers(access.type);
  const Indexed indexed = indexedBy(ir, access);
  SmallVector<Value *> arguments;
  if (indexed.base)
    arguments.push_back(indexed.base);
  arguments.push_back(put(indexed.base ? indexed.index : access.pointers, Buffers::places));
  AllocaInst *values = access.isStore
                           ? put(ir.CreateBitCast(access.values, access.type), Buffers::values)
                           : buffers.of(access.type, Buffers::values);
  arguments.push_back(values);
  arguments.push_back(
      access.isOfAll() ? LaneFunctions::allOf(ir, access.lanes())
                       : ir.CreateZExt(ir.CreateBitCast(access.mask, ir.getIntNTy(access.lanes())),
                                       ir.getInt32Ty()));
  Function *function = functions.of(access, indexed, *i.getFunction());
  ir.CreateCall(function, arguments)->setCallingConv(function->getCallingConv());
  if (!access.isStore)
    replaceGather(i, access, ir, ir.CreateAlignedLoad(type, values, values->getAlign()));
  Value *const pointers = access.pointers;
  i.eraseFromParent();
  RecursivelyDeleteTriviallyDeadInstructions(pointers); // what `indexed` does without
}

/// copy(to, from, mask): two vectors of pointers.
void copyByCall(CallInst &call, LaneFunctions &functions, Buffers &buffers) {
  IRBuilder<> ir(&call);
  SmallVector<Value *> arguments;
  for (const auto role : {Buffers::places, Buffers::values}) {
    Value *pointers = call.getArgOperand(unsigned(role));
    AllocaInst *buffer = buffers.of(pointers->getType(), role);
    ir.CreateAlignedStore(pointers, buffer, buffer->getAlign());
    arguments.push_back(buffer);
  }
  Value *mask = call.getArgOperand(2);
  const unsigned lanes = cast<FixedVectorType>(mask->getType())->getNumElements();
  arguments.push_back(ir.CreateZExt(ir.CreateBitCast(mask, ir.getIntNTy(lanes)), ir.getInt32Ty()));
  Function *function = functions.ofCopy(call);
  ir.CreateCall(function, arguments)->setCallingConv(function->getCallingConv());
  call.eraseFromParent();
}

/// Those that are worth their code, by how often they run, as far as versions and loops tell.
SmallVector<IntrinsicInst *> hottest(const Function &function, const LoopInfo &loops,
                                     DominatorTree &dominators,
                                     ArrayRef<IntrinsicInst *> accesses) {
  const BranchProbabilityInfo branches(function, loops, nullptr, &dominators);
  const BlockFrequencyInfo blocks(function, branches, loops);
  SmallVector<std::pair<uint64_t, unsigned>> order; // last to first
  for (unsigned k = 0; k < accesses.size(); ++k)
    order.push_back({blocks.getBlockFreq(accesses[k]->getParent()).getFrequency(), ~k});
  llvm::sort(order);
  const uint64_t seldom = order.back().first / simt::kLimits.code.seldom;
  SmallVector<IntrinsicInst *> sorted;
  for (const auto [times, k] : reverse(order))
    if (times >= seldom)
      sorted.push_back(accesses[~k]);
  return sorted;
}

} // namespace

void accessLanesInPlace(Module &module, const simt::Target &target, bool isBaseline) {
  for (Function &function : module)
    for (IntrinsicInst *i : laneAccesses(function, target))
      if (isOfWords(LaneAccess(*i), target))
        gatherWords(*i);
  if (isBaseline)
    return;
  constexpr unsigned kInPlace = 64; // bits: wider elements are no elements of vectors
  uint64_t often = simt::kLimits.code.lanesOften, once = simt::kLimits.code.lanesOnce;
  for (Function &function : module) {
    SmallVector<IntrinsicInst *> accesses = laneAccesses(function, target);
    if (accesses.empty())
      continue;
    DominatorTree dominators(function);
    const LoopInfo loops(dominators);
    accesses = hottest(function, loops, dominators, accesses);
    AllocaInst *nobody = nullptr;
    for (IntrinsicInst *i : accesses) {
      const uint64_t lanes = LaneAccess(*i).lanes();
      uint64_t &left = loops.getLoopFor(i->getParent()) ? often : once;
      if (lanes > left || LaneAccess(*i).elementBits() > kInPlace)
        continue;
      left -= lanes;
      if (!nobody)
        nobody = inFrame(function, ArrayType::get(Type::getInt8Ty(module.getContext()), 8),
                         Align(8), "nobody");
      accessInPlace(*i, nobody);
    }
  }
}

void accessLanesByCalls(Module &module, const simt::Target &target, bool isBaseline) {
  LaneFunctions functions(module, isBaseline);
  SmallVector<Function *> callers;
  for (Function &function : module)
    callers.push_back(&function);
  for (Function *function : callers) {
    Buffers buffers(*function);
    for (IntrinsicInst *i : laneAccesses(*function, target))
      accessByCall(*i, functions, buffers);
    for (Instruction &i : make_early_inc_range(instructions(*function)))
      if (simt::isCopyOfLanes(i))
        copyByCall(cast<CallInst>(i), functions, buffers);
  }
}

} // namespace ptxrun::jit
