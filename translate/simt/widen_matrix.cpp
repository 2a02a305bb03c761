// Matrix instructions of a warp (lower/matrix.cpp): operands as arrays of lanes.
//
//   in[register][32] = the operands;  ptxrun_matrix_warp(operation, in, out);  d =
//   out[register][32]
//
// Narrower gangs exchange their lanes' registers first, each computes the whole, and keeps its
// part.
#include <array>
#include <cstring>

#include "translate/lower/matrix_forms.h"
#include "translate/simt/collectives.h"

namespace ptxrun::simt {

namespace {
constexpr unsigned kWarp = abi::kWarpSize;
}

/// The constants at the head of the call.
static matrix::WarpOperation operationOf(const llvm::CallBase &call) {
  uint64_t words[lower::kOperationWords];
  for (unsigned i = 0; i < lower::kOperationWords; ++i)
    words[i] = llvm::cast<llvm::ConstantInt>(call.getArgOperand(i))->getZExtValue();
  matrix::WarpOperation operation;
  std::memcpy(&operation, words, sizeof operation);
  return operation;
}

/// The operation as memory.
llvm::Value *Collectives::operationConstant(const matrix::WarpOperation &operation) {
  std::array<uint64_t, lower::kOperationWords> words{};
  std::memcpy(words.data(), &operation, sizeof operation);
  llvm::Constant *data = llvm::ConstantDataArray::get(b_.getContext(), words);
  for (llvm::GlobalVariable &known : context_.module.globals())
    if (known.getName().starts_with("operation") && known.getInitializer() == data)
      return &known;
  auto *variable = new llvm::GlobalVariable(context_.module, data->getType(), true,
                                            llvm::GlobalValue::PrivateLinkage, data, "operation");
  variable->setAlignment(llvm::Align(8));
  return variable;
}

/// Memory for one call's operands, used again by the next.
llvm::AllocaInst *Collectives::matrixMemory(llvm::StringRef purpose, llvm::Type *type) {
  llvm::AllocaInst *&memory = matrixMemories_[{purpose.str(), type}];
  if (!memory) {
    memory = entryAlloca(type, purpose);
    memory->setAlignment(llvm::Align(64));
    memory->setMetadata(kScratch, llvm::MDNode::get(b_.getContext(), {}));
  }
  return memory;
}

/// Fills in[register][32] with the registers of all lanes of the warp; lane 0 of the gang in it.
llvm::Value *Collectives::gatherRegisters(const llvm::CallBase &call, Value *in) {
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

/// Registers of a or b, taken apart. Instructions of a block that share them share that.
llvm::Value *Collectives::preparedOperand(const llvm::CallBase &call,
                                          const matrix::WarpOperation &operation, bool isA) {
  const unsigned first = lower::kOperationWords + (isA ? 0 : operation.registersA);
  const unsigned count = isA ? operation.registersA : operation.registersB;
  const matrix::Operation &o = operation.operation;
  std::vector<const Value *> key = {call.getParent(), b_.getInt32(unsigned(isA ? o.a : o.b)),
                                    b_.getInt32(o.k), b_.getInt1(isA)};
  for (unsigned i = 0; i < count; ++i)
    key.push_back(call.getArgOperand(first + i));
  Value *&prepared = preparedOperands_[key];
  if (prepared)
    return prepared;
  auto *in =
      matrixMemory("matrix.operand", llvm::ArrayType::get(vec(b_.getInt32Ty(), kWarp), count));
  for (unsigned i = 0; i < count; ++i)
    b_.CreateAlignedStore(vector(call.getArgOperand(first + i)),
                          b_.CreateConstGEP1_32(b_.getInt32Ty(), in, i * kWarp), llvm::Align(64));
  const unsigned floats =
      isA ? matrix::preparedFloatsA(operation) : matrix::preparedFloatsB(operation);
  auto *memory = entryAlloca(llvm::ArrayType::get(b_.getFloatTy(), floats), "prepared");
  memory->setAlignment(llvm::Align(64));
  memory->setMetadata(kScratch, llvm::MDNode::get(b_.getContext(), {}));
  matrix::WarpOperation part = operation;
  part.phase = isA ? matrix::Phase::prepareA : matrix::Phase::prepareB;
  runtime("ptxrun_matrix_warp", b_.getVoidTy(), {operationConstant(part), in, memory});
  return prepared = memory;
}

/// The registers c of mma, and those of wgmma that it adds to.
static std::optional<Accumulators::Registers> addedTo(const llvm::CallBase &call) {
  const Op op = wordAt(call).op;
  unsigned first = 0;
  if (op == Op::warpWgmma) {
    while (call.getArgOperand(first)->getType()->isIntegerTy(64))
      ++first;
  } else {
    if (op != Op::warpMatrix)
      return std::nullopt;
    const matrix::WarpOperation operation = operationOf(call);
    if (!matrix::isPreparable(operation))
      return std::nullopt;
    first = lower::kOperationWords + operation.registersA + operation.registersB;
  }
  Accumulators::Registers registers;
  for (unsigned i = 0; i < call.getType()->getStructNumElements(); ++i)
    registers.push_back(call.getArgOperand(first + i));
  return registers;
}

void Collectives::findAccumulators() {
  if (lanes_ == kWarp && context_.passes.isOn(Pass::accumulators))
    accumulators_.emplace(source_, shapes_, addedTo);
}

/// Memory for at least so many registers.
llvm::AllocaInst *Collectives::accumulatorHome(unsigned home, unsigned rows) {
  llvm::AllocaInst *&memory = accumulatorHomes_[home];
  auto *type = llvm::ArrayType::get(vec(b_.getInt32Ty(), kWarp), rows);
  if (!memory) {
    memory = entryAlloca(type, "accumulators");
    memory->setAlignment(llvm::Align(64));
  } else if (memory->getAllocatedType()->getArrayNumElements() < rows) {
    memory->setAllocatedType(type);
  }
  return memory;
}

/// A register's place in its home.
llvm::Value *Collectives::accumulatorAt(Accumulators::Place place) {
  return b_.CreateConstGEP1_32(b_.getInt32Ty(), accumulatorHome(place.home, place.part + 1),
                               place.part * kWarp);
}

llvm::Value *Collectives::emitPreparedMatrix(const llvm::CallBase &call,
                                             const matrix::WarpOperation &operation) {
  Value *a = preparedOperand(call, operation, true), *b = preparedOperand(call, operation, false);
  const auto home = accumulators_ ? accumulators_->homeOf(call) : std::nullopt;
  const unsigned registers = operation.registersD;
  Value *d =
      home ? accumulatorHome(*home, registers)
           : matrixMemory("matrix.d", llvm::ArrayType::get(vec(b_.getInt32Ty(), kWarp), registers));
  const auto place = [&](Value *memory, unsigned i) {
    return b_.CreateConstGEP1_32(b_.getInt32Ty(), memory, i * kWarp);
  };
  const unsigned firstC = lower::kOperationWords + operation.registersA + operation.registersB;
  for (unsigned i = 0; i < registers && !(home && accumulators_->isInPlace(call)); ++i)
    b_.CreateAlignedStore(vector(call.getArgOperand(firstC + i)), place(d, i), llvm::Align(64));
  auto *operands = matrixMemory("matrix.prepared", llvm::ArrayType::get(b_.getPtrTy(), 3));
  unsigned n = 0;
  for (Value *pointer : {a, b, d})
    b_.CreateStore(pointer, b_.CreateConstGEP1_32(b_.getPtrTy(), operands, n++));
  matrix::WarpOperation part = operation;
  part.phase = matrix::Phase::multiply;
  runtime("ptxrun_matrix_warp", b_.getVoidTy(), {operationConstant(part), operands, d});
  Value *all = llvm::PoisonValue::get(wide(&call));
  for (unsigned i = 0; i < registers; ++i)
    all = b_.CreateInsertValue(
        all, b_.CreateAlignedLoad(vec(b_.getInt32Ty(), kWarp), place(d, i), llvm::Align(64)), i);
  return all;
}

llvm::Value *Collectives::emitMatrix(const llvm::CallBase &call, const Word &) {
  noteWhoIsGone(call);
  const matrix::WarpOperation operation = operationOf(call);
  if (lanes_ == kWarp && matrix::isPreparable(operation))
    return emitPreparedMatrix(call, operation);
  auto *results = llvm::cast<llvm::StructType>(call.getType());
  llvm::Type *element = results->getElementType(0);
  const unsigned inputs = call.arg_size() - 1 - lower::kOperationWords;
  auto lanesOf = [&](unsigned registers, const char *name) {
    return matrixMemory(name, llvm::ArrayType::get(vec(element, kWarp), registers));
  };
  auto *in = lanesOf(inputs, "matrix.in"), *out = lanesOf(results->getNumElements(), "matrix.out");
  Value *first = gatherRegisters(call, in);
  runtime("ptxrun_matrix_warp", b_.getVoidTy(), {operationConstant(operation), in, out});
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
