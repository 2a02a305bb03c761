// Words that are calls of the runtime: mbarriers, asynchronous copies, cluster barriers
// (lower/runtime_words.h).
#include "intrinsics/abi.h"
#include "translate/lower/runtime_words.h"
#include "translate/simt/collectives.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

using lower::RuntimeWord;

/// One call for all lanes, or one per active lane in the order of lanes.
llvm::Value *Collectives::emitRuntimeWord(const llvm::CallBase &call, const Word &op) {
  const RuntimeWord &word = *op.runtime;
  switch (word.call) {
  case RuntimeWord::Call::gang: {
    llvm::SmallVector<Value *> arguments{argument(kGang), maskBits(mask())};
    for (const Value *a : call.args())
      arguments.push_back(firstLaneOf(a));
    return runtime(word.entry, plain(&call), arguments);
  }
  case RuntimeWord::Call::copies:
    emitCopies(call, word);
    return nullptr;
  case RuntimeWord::Call::texture:
    return emitTexture(call);
  default:
    return word.suspends ? emitWait(call, word) : emitPerLane(call, word, isArrival(op.op));
  }
}

llvm::Value *Collectives::emitPerLane(const llvm::CallBase &call, const RuntimeWord &word,
                                      bool isArrival) {
  if (lanes_ > 1 && isArrival &&
      shapes_.isUniform(&call)) { // all lanes, with one count, at one mbarrier
    Value *lanes = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, maskBits(mask()));
    return runtime(
        std::string(word.entry) + "_lanes", plain(&call),
        {argument(kGang), base(call.getArgOperand(0)), base(call.getArgOperand(1)), lanes});
  }
  auto callOne = [&](llvm::ArrayRef<Value *> values, Value *lane) -> Value * {
    llvm::SmallVector<Value *> arguments;
    if (word.call != RuntimeWord::Call::pure)
      arguments.push_back(argument(kGang));
    if (word.call == RuntimeWord::Call::laneNumber)
      arguments.push_back(lane);
    arguments.append(values.begin(), values.end());
    return runtime(word.entry, plain(&call), arguments);
  };
  const bool isOne =
      lanes_ == 1 || (call.getType()->isIntegerTy(1) &&
                      shapes_.isUniform(&call)); // a test of one mbarrier by all lanes
  llvm::SmallVector<Value *> operands;
  for (const Value *a : call.args())
    operands.push_back(isOne ? firstLaneOf(a) : shapes_.isUniform(a) ? base(a) : vector(a));
  if (isOne)
    return callOne(operands, b_.getInt32(0));
  return laneByLane(operands, plain(&call), callOne);
}

// Lanes that wait for one phase of one mbarrier make one call. Otherwise:
//     complete = test_wait(...) lane by lane;  if (none of them) try_wait(the first lane's)
llvm::Value *Collectives::emitWait(const llvm::CallBase &call, const RuntimeWord &word) {
  llvm::SmallVector<Value *> first{argument(kGang)};
  for (const Value *a : call.args())
    first.push_back(firstLaneOf(a));
  if (lanes_ == 1 || shapes_.isUniform(&call))
    return runtime(word.entry, plain(&call), first);
  const RuntimeWord *test = wordFor(Op::mbarrierTestWait).runtime;
  llvm::SmallVector<Value *> operands;
  for (unsigned k = 0; k < 3; ++k) {
    const Value *a = call.getArgOperand(k);
    operands.push_back(shapes_.isUniform(a) ? base(a) : vector(a));
  }
  Value *complete = laneByLane(operands, plain(&call), [&](llvm::ArrayRef<Value *> v, Value *) {
    return runtime(test->entry, plain(&call), {argument(kGang), v[0], v[1], v[2]});
  });
  // Lanes outside the mask were not asked.
  Value *active =
      mask() ? b_.CreateSelect(mask(), complete, llvm::Constant::getNullValue(complete->getType()))
             : complete;
  Block *wait = newBlock("wait"), *waited = newBlock("waited");
  b_.CreateCondBr(b_.CreateOrReduce(active), waited, wait);
  b_.SetInsertPoint(wait);
  runtime(word.entry, plain(&call), first);
  b_.CreateBr(waited);
  b_.SetInsertPoint(waited);
  return complete;
}

/// ptx.cp.async(destination, source, bytes, source bytes): the runtime takes arrays of W.
void Collectives::emitCopies(const llvm::CallBase &call, const RuntimeWord &word) {
  auto array = [&](unsigned k) -> Value * {
    Value *values = lanes_ == 1 ? base(call.getArgOperand(k)) : vector(call.getArgOperand(k));
    auto *memory = entryAlloca(values->getType(), "copies");
    b_.CreateStore(values, memory);
    return memory;
  };
  runtime(word.entry, b_.getVoidTy(),
          {argument(kGang), maskBits(mask()), array(0), array(1),
           firstLaneOf(call.getArgOperand(2)), array(3)});
}

} // namespace ptxrun::simt
