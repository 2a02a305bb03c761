// Operations of a whole warp that the runtime performs (lower/warp_words.h): wgmma, tcgen05.ld, ...
#include "intrinsics/abi.h"
#include "translate/simt/collectives.h"

namespace ptxrun::simt {

/// Memory for at least so many registers of the gang, a row of W each. All operations of a function
/// share it: accumulators that go from one product to the next stay where they are.
llvm::AllocaInst *Collectives::registerRows(unsigned rows) {
  auto *type = llvm::ArrayType::get(b_.getInt32Ty(), uint64_t{rows} * lanes_);
  if (!registerRows_) {
    registerRows_ = entryAlloca(type, "registers");
    registerRows_->setAlignment(llvm::Align(64));
  } else if (registerRows_->getAllocatedType()->getArrayNumElements() < uint64_t{rows} * lanes_) {
    registerRows_->setAllocatedType(type);
  }
  return registerRows_;
}

// ptx.warp.X(i64 uniform..., i32 registers..., i32 members) -> {i32...}:
//     rows[i] = registers[i] of all lanes;  ptxrun_X(gang, mask, uniform, parts, W);  results =
//     rows
// where parts[l] is where the rows of the gang that has lane l of the warp are. Below W = 32 the
// gangs of the warp meet before, and the one with lane 0 makes the call; and once more behind it.
llvm::Value *Collectives::emitWarpOperation(const llvm::CallBase &call, const Word &) {
  noteWhoIsGone(call);
  llvm::StringRef operation = call.getCalledFunction()->getName();
  operation.consume_front("ptx.warp.");
  operation = operation.take_until([](char c) { return c == '.'; });
  llvm::SmallVector<const Value *> uniform, registers;
  for (unsigned k = 0; k + 1 < call.arg_size(); ++k)
    (call.getArgOperand(k)->getType()->isIntegerTy(64) ? uniform : registers)
        .push_back(call.getArgOperand(k));
  auto *results = llvm::dyn_cast<llvm::StructType>(call.getType());
  const unsigned resultCount = results ? results->getNumElements() : 0;
  const unsigned rowCount = std::max<unsigned>({1u, unsigned(registers.size()), resultCount});
  const auto home = accumulators_ ? accumulators_->homeOf(call) : std::nullopt;
  llvm::AllocaInst *rows = home ? accumulatorHome(*home, rowCount) : registerRows(rowCount);
  auto row = [&](unsigned i) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), rows, uint64_t{i} * lanes_);
  };
  const llvm::Align align(lanes_ == 1 ? 4 : std::min(64u, 4 * lanes_));
  for (unsigned i = home && accumulators_->isInPlace(call) ? resultCount : 0; i < registers.size();
       ++i)
    b_.CreateAlignedStore(lanes_ == 1 ? base(registers[i]) : vector(registers[i]), row(i), align);
  auto *words = entryAlloca(
      llvm::ArrayType::get(b_.getInt64Ty(), std::max<size_t>(1, uniform.size())), "uniform");
  for (unsigned i = 0; i < uniform.size(); ++i)
    b_.CreateStore(firstLaneOf(uniform[i]),
                   b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), words, i));

  auto *parts = entryAlloca(llvm::ArrayType::get(b_.getInt64Ty(), abi::kWarpSize), "parts");
  Value *own = b_.CreatePtrToInt(rows, b_.getInt64Ty());
  auto callEntry = [&] {
    runtime(("ptxrun_" + operation).str(), b_.getVoidTy(),
            {argument(kGang), maskBits(mask()), words, parts, b_.getInt32(lanes_)});
  };
  if (lanes_ == abi::kWarpSize) {
    b_.CreateStore(own, parts);
    callEntry();
  } else {
    Value *members = firstLaneOf(call.getArgOperand(call.arg_size() - 1));
    b_.CreateAlignedStore(gatherPointers(operation, own, members), parts, llvm::Align(8));
    Block *first = newBlock("first"), *done = newBlock("done");
    Value *lane = b_.CreateAnd(argument(kFirstThread), abi::kWarpSize - 1);
    b_.CreateCondBr(b_.CreateIsNull(lane), first, done);
    b_.SetInsertPoint(first);
    callEntry();
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
    gatherPointers((operation + " (end)").str(), own, members);
  }
  if (!results)
    return nullptr;
  Value *result = llvm::PoisonValue::get(wide(&call));
  llvm::Type *type =
      lanes_ == 1 ? static_cast<llvm::Type *>(b_.getInt32Ty()) : vec(b_.getInt32Ty(), lanes_);
  for (unsigned i = 0; i < resultCount; ++i)
    result = b_.CreateInsertValue(result, b_.CreateAlignedLoad(type, row(i), align), i);
  return result;
}

} // namespace ptxrun::simt
