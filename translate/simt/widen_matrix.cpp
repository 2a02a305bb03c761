// Matrix instructions of a warp (lower/matrix.cpp): operands as arrays of lanes.
//
//   in[register][32] = the operands;  ptxrun_matrix_warp(operation, in, out);  d =
//   out[register][32]
//
// Narrower gangs exchange their lanes' registers first, each computes the whole, and keeps its
// part. Gangs of a whole warp do all instructions of a MatrixRun at once:
//
//   in[register][32] = the registers of all fragments, as soon as they are known;
//   homes[chain] = its registers c, which become d;
//   ptxrun_matrix_group(plan, in, homes)
#include <array>
#include <cstring>

#include "translate/lower/matrix_forms.h"
#include "translate/simt/collectives.h"

namespace ptxrun::simt {

namespace {
constexpr unsigned kWarp = abi::kWarpSize;
}

/// Bytes that say what is to be done, as memory.
llvm::Value *Collectives::operationConstant(llvm::ArrayRef<std::byte> bytes) {
  std::vector<uint64_t> words((bytes.size() + 7) / 8);
  std::memcpy(words.data(), bytes.data(), bytes.size());
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

/// The registers c of mma, and those of wgmma that it adds to.
static std::optional<Accumulators::Registers> addedTo(const llvm::CallBase &call) {
  const Op op = wordAt(call).op;
  unsigned first = 0;
  if (op == Op::warpWgmma) {
    while (call.getArgOperand(first)->getType()->isIntegerTy(64))
      ++first;
  } else {
    const std::optional<matrix::WarpOperation> operation = matrixOperationOf(call);
    if (!operation || !matrix::isGroupable(*operation))
      return std::nullopt;
    first = lower::kOperationWords + operation->registersA + operation->registersB;
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

/// The instructions that are done together with this one, the first of them, which follows what
/// the others need.
MatrixRun Collectives::matrixRunFrom(const llvm::CallBase &call) const {
  MatrixRun run;
  llvm::DenseSet<unsigned> homes;
  for (const llvm::Instruction &i : llvm::make_range(call.getIterator(), call.getParent()->end())) {
    auto *next = llvm::dyn_cast<llvm::CallBase>(&i);
    if (!next) {
      if (!run.addCarrier(i))
        break;
      continue;
    }
    // Accumulators that find others' in their home wait for those.
    const auto home = accumulators_ ? accumulators_->homeOf(*next) : std::nullopt;
    if (home && homes.contains(*home) && !run.continues(*next))
      break;
    if (!run.add(*next))
      break;
    if (home)
      homes.insert(*home);
  }
  return run;
}

/// Stores a register of a fragment, behind its definition where that is near.
llvm::StoreInst *Collectives::storeFragmentRegister(const llvm::CallBase &user, const Value *value,
                                                    Value *in, unsigned offset) {
  Value *whole = vector(value);
  auto *defined = llvm::dyn_cast<llvm::Instruction>(value);
  llvm::Instruction *last = definedBehind(value, whole);
  const bool isNear = defined && defined->getParent() == user.getParent() && last &&
                      !llvm::isa<llvm::PHINode>(last);
  const auto isWaitBetween = [&] {
    return llvm::any_of(llvm::make_range(defined->getIterator(), user.getIterator()),
                        [](const llvm::Instruction &i) { return isWaiting(i); });
  };
  llvm::IRBuilder<>::InsertPointGuard guard(b_);
  if (isNear && !isWaitBetween())
    b_.SetInsertPoint(last->getParent(), std::next(last->getIterator()));
  return b_.CreateAlignedStore(whole, b_.CreateConstGEP1_32(b_.getInt32Ty(), in, offset),
                               llvm::Align(64));
}

/// Memory for the operands of one group.
llvm::AllocaInst *Collectives::groupMemory(llvm::StringRef purpose, llvm::Type *type) {
  if (!haveGroupsOwnMemory())
    return matrixMemory(purpose, type);
  llvm::AllocaInst *memory = entryAlloca(type, purpose);
  memory->setAlignment(llvm::Align(64));
  memory->setMetadata(kScratch, llvm::MDNode::get(b_.getContext(), {}));
  return memory;
}

/// Does the instructions of a run; the value of each that somebody wants is in groupResults_.
void Collectives::emitMatrixGroup(const MatrixRun &run) {
  const matrix::WarpOperation &operation = run.operation();
  const llvm::CallBase &call = *run.calls().front();
  llvm::Type *row = vec(b_.getInt32Ty(), kWarp);
  const auto place = [&](Value *memory, unsigned i) {
    return b_.CreateConstGEP1_32(b_.getInt32Ty(), memory, i * kWarp);
  };
  const size_t inputs = run.rows().size() * matrix::groupRegistersA(operation) +
                        run.columns().size() * operation.registersB;
  // Memory of its own, whose life is marked, a coroutine has on the worker's stack: the same lines
  // of the cache for all gangs. Else, runs of one block may have their fragments at the same time.
  unsigned &number = matrixGroups_[call.getParent()];
  auto *in = groupMemory("matrix.in" + std::to_string(number++),
                         llvm::ArrayType::get(row, unsigned(inputs)));
  llvm::SmallVector<llvm::Instruction *> fills; // of `in`
  for (const auto *fragments : {&run.rows(), &run.columns()})
    for (const MatrixRun::Registers &registers : *fragments)
      for (const Value *r : registers)
        fills.push_back(storeFragmentRegister(call, r, in, unsigned(fills.size()) * kWarp));
  auto *homes = groupMemory("matrix.homes",
                            llvm::ArrayType::get(b_.getPtrTy(), unsigned(run.chains().size())));
  llvm::Instruction *firstHome = nullptr;
  std::vector<Value *> results;
  const unsigned firstC = lower::kOperationWords + operation.registersA + operation.registersB;
  for (const MatrixRun::Chain &chain : run.chains()) {
    const auto home = accumulators_ ? accumulators_->homeOf(*chain.last) : std::nullopt;
    const unsigned index = unsigned(results.size());
    Value *d = home ? accumulatorHome(*home, operation.registersD)
                    : matrixMemory("matrix.d" + std::to_string(index),
                                   llvm::ArrayType::get(row, operation.registersD));
    const bool isInPlace = home && accumulators_->homeOf(*chain.first) == home &&
                           accumulators_->isInPlace(*chain.first);
    for (unsigned i = 0; i < operation.registersC && !isInPlace; ++i)
      b_.CreateAlignedStore(vector(chain.first->getArgOperand(firstC + i)), place(d, i),
                            llvm::Align(64));
    llvm::StoreInst *store = b_.CreateStore(d, b_.CreateConstGEP1_32(b_.getPtrTy(), homes, index));
    firstHome = firstHome ? firstHome : store;
    results.push_back(d);
  }
  const std::vector<std::byte> plan = matrix::planGroup(operation, run.members());
  auto *multiply = llvm::cast<llvm::CallInst>(
      runtime("ptxrun_matrix_group", b_.getVoidTy(), {operationConstant(plan), in, homes}));
  for (unsigned argument : {1u, 2u})
    multiply->addParamAttr(argument, llvm::Attribute::NoCapture);
  if (haveGroupsOwnMemory()) {
    // Asked for here, behind all: what is put into a block lets its instructions be counted anew.
    llvm::Instruction *first = fills.front();
    for (llvm::Instruction *store : fills)
      if (store->getParent() == first->getParent() && store->comesBefore(first))
        first = store;
    llvm::IRBuilder<>(first).CreateLifetimeStart(in);
    llvm::IRBuilder<>(firstHome).CreateLifetimeStart(homes);
    for (llvm::AllocaInst *memory : {in, homes})
      b_.CreateLifetimeEnd(memory);
  }
  for (size_t k = 0; k < run.calls().size(); ++k) {
    const llvm::CallBase *member = run.calls()[k];
    const uint16_t chain = run.members()[k].d;
    Value *all = llvm::PoisonValue::get(wide(member));
    for (unsigned i = 0; i < operation.registersD && run.chains()[chain].last == member; ++i)
      all = b_.CreateInsertValue(
          all, b_.CreateAlignedLoad(row, place(results[chain], i), llvm::Align(64)), i);
    groupResults_[member] = all;
  }
}

llvm::Value *Collectives::emitMatrix(const llvm::CallBase &call, const Word &) {
  noteWhoIsGone(call);
  const matrix::WarpOperation operation = *matrixOperationOf(call);
  if (lanes_ == kWarp && matrix::isGroupable(operation)) {
    if (!groupResults_.contains(&call))
      emitMatrixGroup(matrixRunFrom(call));
    return groupResults_.lookup(&call);
  }
  auto *results = llvm::cast<llvm::StructType>(call.getType());
  llvm::Type *element = results->getElementType(0);
  const unsigned inputs = call.arg_size() - 1 - lower::kOperationWords;
  auto lanesOf = [&](unsigned registers, const char *name) {
    return matrixMemory(name, llvm::ArrayType::get(vec(element, kWarp), registers));
  };
  auto *in = lanesOf(inputs, "matrix.in"), *out = lanesOf(results->getNumElements(), "matrix.out");
  Value *first = gatherRegisters(call, in);
  const auto *bytes = reinterpret_cast<const std::byte *>(&operation);
  runtime("ptxrun_matrix_warp", b_.getVoidTy(),
          {operationConstant({bytes, sizeof operation}), in, out});
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
