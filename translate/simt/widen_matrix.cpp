// Matrix instructions of a warp (lower/matrix.cpp): operands as arrays of lanes.
//
//   in[register][32] = the operands;  ptxrun_matrix_warp(operation, in, out);  d =
//   out[register][32]
//
// Narrower gangs exchange their lanes' registers first, each computes the whole, and keeps its
// part.
#include "translate/lower/matrix_forms.h"
#include "translate/simt/widener.h"

namespace ptxrun::simt {

namespace {
constexpr unsigned kWarp = abi::kWarpSize;
}

/// The constants at the head of the call as memory.
Widener::Value *Widener::operationConstant(const llvm::CallBase &call) {
  llvm::SmallVector<uint64_t, 8> words;
  for (unsigned i = 0; i < lower::kOperationWords; ++i)
    words.push_back(llvm::cast<llvm::ConstantInt>(call.getArgOperand(i))->getZExtValue());
  llvm::Constant *data = llvm::ConstantDataArray::get(b_.getContext(), words);
  auto *variable = new llvm::GlobalVariable(context_.module, data->getType(), true,
                                            llvm::GlobalValue::PrivateLinkage, data, "operation");
  variable->setAlignment(llvm::Align(8));
  variable->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return variable;
}

/// Fills in[register][32] with the registers of all lanes of the warp; lane 0 of the gang in it.
Widener::Value *Widener::gatherRegisters(const llvm::CallBase &call, Value *in) {
  const unsigned last = call.arg_size() - 1;
  const auto store = [&](Value *whole, unsigned index) {
    llvm::Type *element = whole->getType()->getScalarType();
    b_.CreateAlignedStore(whole, b_.CreateConstGEP1_32(element, in, index * kWarp),
                          llvm::Align(64));
  };
  if (lanes_ == kWarp) {
    for (unsigned i = lower::kOperationWords; i < last; ++i)
      store(vector(call.getArgOperand(i)), i - lower::kOperationWords);
    return b_.getInt32(0);
  }
  Value *first = b_.CreateAnd(argument(kFirstThread), kWarp - 1);
  Value *members = firstLaneOf(call.getArgOperand(last));
  const llvm::StringRef name = "a matrix instruction";
  for (unsigned i = lower::kOperationWords; i < last; i += 2) { // two registers of 32 bits at once
    Value *low = vector(call.getArgOperand(i));
    const unsigned index = i - lower::kOperationWords;
    if (low->getType()->getScalarSizeInBits() == 64) {
      store(gatherLanes(name, low, members), index);
      i -= 1;
      continue;
    }
    const bool isPair = i + 1 < last;
    llvm::Type *own = lanes_ == 1 ? (llvm::Type *)b_.getInt64Ty() : vec(b_.getInt64Ty(), lanes_);
    Value *both = b_.CreateZExt(low, own);
    if (isPair)
      both = b_.CreateOr(both,
                         b_.CreateShl(b_.CreateZExt(vector(call.getArgOperand(i + 1)), own), 32));
    Value *whole = gatherLanes(name, both, members);
    llvm::Type *half = vec(b_.getInt32Ty(), kWarp);
    store(b_.CreateTrunc(whole, half), index);
    if (isPair)
      store(b_.CreateTrunc(b_.CreateLShr(whole, 32), half), index + 1);
  }
  return first;
}

Widener::Value *Widener::emitMatrix(const llvm::CallBase &call) {
  auto *results = llvm::cast<llvm::StructType>(call.getType());
  llvm::Type *element = results->getElementType(0);
  const unsigned inputs = call.arg_size() - 1 - lower::kOperationWords;
  auto lanesOf = [&](unsigned registers, const char *name) {
    auto *array = entryAlloca(llvm::ArrayType::get(vec(element, kWarp), registers), name);
    array->setAlignment(llvm::Align(64));
    return array;
  };
  auto *in = lanesOf(inputs, "matrix.in"), *out = lanesOf(results->getNumElements(), "matrix.out");
  Value *first = gatherRegisters(call, in);
  runtime("ptxrun_matrix_warp", b_.getVoidTy(), {operationConstant(call), in, out});
  llvm::Type *own = lanes_ == 1 ? element : vec(element, lanes_);
  Value *all = llvm::PoisonValue::get(wide(&call));
  for (unsigned i = 0; i < results->getNumElements(); ++i) {
    Value *place = b_.CreateAdd(b_.CreateZExt(first, b_.getInt64Ty()), b_.getInt64(i * kWarp));
    const unsigned alignment = lanes_ * element->getIntegerBitWidth() / 8;
    Value *part = b_.CreateAlignedLoad(own, b_.CreateGEP(element, out, place),
                                       llvm::Align(std::min(alignment, 64u)));
    all = b_.CreateInsertValue(all, part, i);
  }
  return all;
}

} // namespace ptxrun::simt
