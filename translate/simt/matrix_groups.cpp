// Matrix instructions of a block that differ in their registers only wait for each other:
//
//     d0 = matrix(op, a0, b0, c0)            x = load(p)
//     x = load(p)                            d0 = matrix(op, a0, b0, c0)
//     d1 = matrix(op, a0, b1, c1)     ->     d1 = matrix(op, a0, b1, c1)
//     e0 = matrix(op, a1, b0, d0)            e0 = matrix(op, a1, b0, d0)
//     store(e0)                              store(e0)
//
// They read values, not memory, so that they can move down to where something else wants a result,
// lanes may wait, an instruction of another kind comes, or the block ends. What then stands
// together becomes one call (widen_matrix.cpp): each fragment is taken apart once, and accumulators
// stay in registers from one instruction to the next (matrix/group.h). A run has a bound (cost.h).
//
// Products of a warpgroup that add to each other's results, with nothing between them that has an
// effect, become one instruction:
//
//     d = wgmma(form, a0, b0, true, c);  e = wgmma(form, a1, b1, true, d)
//     ->  e = wgmma(form of two, a0, b0, true, a1, b1, true, c)
#include "translate/simt/matrix_groups.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <cstring>

#include "intrinsics/tensor_forms.h"
#include "translate/lower/bits_of.h"
#include "translate/lower/matrix_forms.h"
#include "translate/simt/cost.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

namespace {

bool isSame(const matrix::WarpOperation &x, const matrix::WarpOperation &y) {
  return std::memcmp(&x, &y, sizeof x) == 0;
}

/// `count` registers from the call's argument `first` on.
MatrixRun::Registers registersOf(const llvm::CallBase &call, unsigned first, unsigned count) {
  MatrixRun::Registers registers;
  for (unsigned i = 0; i < count; ++i)
    registers.push_back(call.getArgOperand(first + i));
  return registers;
}

/// Whether only `user`, and what carries the value to it, want it.
bool isOnlyFor(const llvm::Value *value, const llvm::CallBase &user) {
  return llvm::all_of(value->users(), [&](const llvm::User *u) {
    if (llvm::isa<llvm::ExtractValueInst, llvm::BitCastInst>(u))
      return isOnlyFor(u, user);
    return u == &user;
  });
}

} // namespace

std::optional<matrix::WarpOperation> matrixOperationOf(const llvm::CallBase &call) {
  if (wordAt(call).op != Op::warpMatrix)
    return std::nullopt;
  uint64_t words[lower::kOperationWords];
  for (unsigned i = 0; i < lower::kOperationWords; ++i)
    words[i] = llvm::cast<llvm::ConstantInt>(call.getArgOperand(i))->getZExtValue();
  matrix::WarpOperation operation;
  std::memcpy(static_cast<void *>(&operation), words, sizeof operation);
  return operation;
}

bool isWaiting(const llvm::Instruction &i) {
  switch (wordAt(i).kind) {
  case Word::Kind::barrier:
  case Word::Kind::runtimeWait:
  case Word::Kind::schedule:
  case Word::Kind::stop:
  case Word::Kind::exit:
    return true;
  default:
    return false;
  }
}

uint16_t MatrixRun::Fragments::numberOf(const Registers &registers) {
  const auto [known, isNew] = numbers.try_emplace(registers, uint16_t(fragments.size()));
  if (isNew)
    fragments.push_back(registers);
  return known->second;
}

/// What gave all these results, in their order.
static const llvm::Value *sourceOf(const MatrixRun::Registers &registers) {
  const llvm::Value *source = nullptr;
  for (unsigned i = 0; i < registers.size(); ++i) {
    auto *part = llvm::dyn_cast<llvm::ExtractValueInst>(lower::bitsOf(registers[i]));
    if (!part || part->getNumIndices() != 1 || part->getIndices()[0] != i)
      return nullptr;
    if (source && part->getAggregateOperand() != source)
      return nullptr;
    source = part->getAggregateOperand();
  }
  return source;
}

/// The chain that ends in the instruction whose results the registers c are.
std::optional<uint16_t> MatrixRun::continued(const llvm::CallBase &call, const Registers &c) const {
  const llvm::Value *before = sourceOf(c);
  auto known = chainOf_.find(before);
  if (known == chainOf_.end() || chains_[known->second].last != before || !isOnlyFor(before, call))
    return std::nullopt;
  return known->second;
}

bool MatrixRun::continues(const llvm::CallBase &call) const {
  const unsigned firstC = lower::kOperationWords + operation_.registersA + operation_.registersB;
  return !isEmpty() && continued(call, registersOf(call, firstC, operation_.registersC));
}

bool MatrixRun::add(const llvm::CallBase &call) {
  const std::optional<matrix::WarpOperation> operation = matrixOperationOf(call);
  if (!operation || !matrix::isGroupable(*operation))
    return false;
  const Limits::Matrices &most = kLimits.matrices;
  const bool isFull = members_.size() == most.members || rows().size() == most.fragments ||
                      columns().size() == most.fragments;
  if (!isEmpty() && (isFull || !isSame(*operation, operation_)))
    return false;
  const unsigned firstA = lower::kOperationWords, firstB = firstA + operation->registersA,
                 firstC = firstB + operation->registersB;
  Registers a = registersOf(call, firstA, operation->registersA);
  const Registers b = registersOf(call, firstB, operation->registersB),
                  c = registersOf(call, firstC, operation->registersC);
  if (operation->operation.isSparse) // the metadata belongs to A
    a.push_back(call.getArgOperand(firstC + operation->registersC));
  const auto isMade = [&](const llvm::Value *v) { return made_.contains(v); };
  if (llvm::any_of(a, isMade) || llvm::any_of(b, isMade))
    return false;
  std::optional<uint16_t> chain = continued(call, c);
  if (!chain && llvm::any_of(c, isMade))
    return false;
  operation_ = *operation;
  if (chain)
    chains_[*chain].last = &call;
  else {
    chain = uint16_t(chains_.size());
    chains_.push_back({&call, &call});
  }
  members_.push_back({rows_.numberOf(a), columns_.numberOf(b), *chain});
  calls_.push_back(&call);
  chainOf_[&call] = *chain;
  made_.insert(&call);
  return true;
}

bool MatrixRun::uses(const llvm::Instruction &i) const {
  return llvm::any_of(i.operands(), [&](const llvm::Use &u) { return made_.contains(u.get()); });
}

bool MatrixRun::addCarrier(const llvm::Instruction &i) {
  if (!llvm::isa<llvm::ExtractValueInst, llvm::BitCastInst>(i) || !uses(i))
    return false;
  made_.insert(&i);
  return true;
}

namespace {

/// A product of a warpgroup: ptx.warp.wgmma(form, {a, b, hasInput}...; d..., registers of A...,
/// ~0).
class Product {
 public:
  static std::optional<Product> of(llvm::Instruction &i) {
    if (wordAt(i).op != Op::warpWgmma)
      return std::nullopt;
    return Product(*llvm::cast<llvm::CallInst>(&i));
  }

  llvm::CallInst &call() const { return *call_; }
  abi::WgmmaForm form() const {
    return abi::fromWord<abi::WgmmaForm>(
        llvm::cast<llvm::ConstantInt>(call_->getArgOperand(0))->getZExtValue());
  }
  MatrixRun::Registers d() const { return registersOf(*call_, firstD(), form().registersD()); }

  /// Whether it adds to the results of `before`, which nobody else wants.
  bool continues(const Product &before) const {
    abi::WgmmaForm alone = before.form();
    const unsigned products = alone.products();
    alone.productsLess1 = 0;
    return alone.canContinue() && abi::toWord(alone) == abi::toWord(form()) &&
           products < abi::WgmmaForm::kMostProducts && sourceOf(d()) == before.call_ &&
           isOnlyFor(before.call_, *call_);
  }

  /// Both, in this one's place.
  Product joinedTo(const Product &before) const {
    llvm::IRBuilder<> b(call_);
    abi::WgmmaForm form = before.form();
    form.productsLess1 = form.productsLess1 + 1;
    const unsigned d = form.registersD();
    llvm::SmallVector<llvm::Value *> arguments{b.getInt64(abi::toWord(form))};
    const auto append = [&](const Product &p, unsigned first, unsigned last) {
      for (unsigned i = first; i < last; ++i)
        arguments.push_back(p.call_->getArgOperand(i));
    };
    append(before, 1, before.firstD());
    append(*this, 1, firstD());
    append(before, before.firstD(), before.end());
    append(*this, firstD() + d, end());
    arguments.push_back(call_->getArgOperand(end()));
    llvm::SmallVector<llvm::Type *> types;
    for (llvm::Value *argument : arguments)
      types.push_back(argument->getType());
    const auto uniform = llvm::count_if(types, [](auto *t) { return t->isIntegerTy(64); });
    const llvm::StringRef stem = llvm::StringRef(wordFor(Op::warpWgmma).name).drop_back(); // the *
    const std::string name = stem.str() + std::to_string(uniform) + "." +
                             std::to_string(arguments.size() - 1 - size_t(uniform)) + "." +
                             std::to_string(d);
    llvm::FunctionCallee word = call_->getModule()->getOrInsertFunction(
        name, llvm::FunctionType::get(call_->getType(), types, false));
    auto *both = b.CreateCall(word, arguments);
    both->setAttributes(call_->getAttributes());
    llvm::cast<llvm::Function>(word.getCallee())->copyAttributesFrom(call_->getCalledFunction());
    call_->replaceAllUsesWith(both);
    call_->eraseFromParent();
    return Product(*both);
  }

 private:
  explicit Product(llvm::CallInst &call) : call_(&call) {}
  unsigned firstD() const { return 1 + 3 * form().products(); }
  unsigned end() const { return call_->arg_size() - 1; } ///< of the registers

  llvm::CallInst *call_;
};

/// Erases a value and what carries it; nobody wants it.
void eraseCarried(llvm::Instruction &i) {
  for (llvm::User *u : llvm::make_early_inc_range(i.users()))
    eraseCarried(*llvm::cast<llvm::Instruction>(u));
  i.eraseFromParent();
}

} // namespace

void joinProducts(llvm::Function &f) {
  for (llvm::BasicBlock &block : f) {
    std::optional<Product> last;
    for (llvm::Instruction &i : llvm::make_early_inc_range(block)) {
      std::optional<Product> product = Product::of(i);
      if (!product) {
        if (i.mayHaveSideEffects())
          last.reset();
        continue;
      }
      if (last && product->continues(*last)) {
        llvm::CallInst &before = last->call();
        product = product->joinedTo(*last);
        eraseCarried(before);
      }
      last = product;
    }
  }
}

void gatherMatrices(llvm::Function &f) {
  for (llvm::BasicBlock &block : f) {
    MatrixRun run;
    llvm::SmallVector<llvm::Instruction *> waiting;
    const auto putBefore = [&](llvm::Instruction &place) {
      for (llvm::Instruction *i : waiting)
        i->moveBefore(&place);
      waiting.clear();
      run = {};
    };
    for (llvm::Instruction &i : llvm::make_early_inc_range(block)) {
      auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
      if ((call && run.add(*call)) || run.addCarrier(i)) {
        waiting.push_back(&i);
        continue;
      }
      if (run.isEmpty() ||
          !(run.uses(i) || i.isTerminator() || isWaiting(i) || (call && matrixOperationOf(*call))))
        continue;
      putBefore(i);
      if (call && run.add(*call))
        waiting.push_back(&i);
    }
  }
}

} // namespace ptxrun::simt
