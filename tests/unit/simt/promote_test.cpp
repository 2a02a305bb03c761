// Slots become values as LLVM's PromoteMemToReg makes them: functions of random shape, both ways.
#include "translate/simt/promote.h"

#include <gtest/gtest.h>

#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <map>
#include <random>

namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Value;

/// Writes a function of many ways, some of them without a way to them, whose slots are read and
/// written anywhere.
class Writer {
 public:
  Writer(llvm::Module &m, unsigned seed) : random_(seed), b_(m.getContext()) {
    auto *type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getInt32Ty()}, false);
    use_ = m.getOrInsertFunction("use", type);
    f_ = Function::Create(type, Function::ExternalLinkage, "f", m);
    for (unsigned n = 2 + below(24); n > 0; --n)
      blocks_.push_back(BasicBlock::Create(m.getContext(), "b", f_));
    b_.SetInsertPoint(blocks_[0]);
    for (unsigned n = 1 + below(6); n > 0; --n)
      slots_.push_back(b_.CreateAlloca(b_.getInt32Ty(), nullptr, "s"));
    for (Value *slot : slots_)
      b_.CreateStore(b_.getInt32(below(9)), slot);
    for (BasicBlock *block : blocks_) {
      b_.SetInsertPoint(block);
      for (unsigned n = below(4); n > 0; --n)
        step();
      terminate();
    }
  }

 private:
  unsigned below(unsigned n) { return unsigned(random_() % n); }
  Value *load() { return b_.CreateLoad(b_.getInt32Ty(), slots_[below(unsigned(slots_.size()))]); }
  void step() {
    if (below(3) == 0)
      b_.CreateCall(use_, {load()});
    else
      b_.CreateStore(below(2) ? load() : b_.CreateAdd(load(), f_->getArg(0)),
                     slots_[below(unsigned(slots_.size()))]);
  }
  BasicBlock *target() { return blocks_[1 + below(unsigned(blocks_.size()) - 1)]; }
  void terminate() {
    switch (below(6)) {
    case 0:
      b_.CreateRetVoid();
      break;
    case 1:
      b_.CreateBr(target());
      break;
    case 2: {
      auto *many = b_.CreateSwitch(f_->getArg(0), target());
      for (unsigned n = below(4); n > 0; --n)
        many->addCase(b_.getInt32(n), target());
      break;
    }
    default:
      b_.CreateCondBr(b_.CreateIsNull(load()), target(), target());
    }
  }

  std::mt19937 random_;
  llvm::IRBuilder<> b_;
  llvm::FunctionCallee use_;
  Function *f_ = nullptr;
  std::vector<BasicBlock *> blocks_;
  std::vector<llvm::AllocaInst *> slots_;
};

std::vector<llvm::AllocaInst *> slotsOf(Function &f) {
  std::vector<llvm::AllocaInst *> slots;
  for (llvm::Instruction &i : llvm::instructions(f))
    if (auto *slot = llvm::dyn_cast<llvm::AllocaInst>(&i))
      slots.push_back(slot);
  return slots;
}

/// Two functions with the same blocks and the same instructions but for phis: whether the same
/// values are used everywhere. Phis are the same if their blocks are and what comes in is.
class Comparison {
 public:
  bool areSame(const Function &a, const Function &b) {
    match(&*a.arg_begin(), &*b.arg_begin());
    for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y)
      match(&*x, &*y);
    std::vector<std::pair<const llvm::Instruction *, const llvm::Instruction *>> pairs;
    for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y) {
      auto i = x->getFirstNonPHIIt(), k = y->getFirstNonPHIIt();
      for (; i != x->end() && k != y->end(); ++i, ++k) {
        match(&*i, &*k);
        pairs.emplace_back(&*i, &*k);
      }
      if (i != x->end() || k != y->end())
        return false;
    }
    return llvm::all_of(pairs, [&](auto p) { return haveSameOperands(*p.first, *p.second); });
  }

 private:
  void match(const Value *a, const Value *b) { same_[a] = b; }
  bool areSame(const Value *a, const Value *b) {
    auto [known, isNew] = same_.try_emplace(a, b);
    if (!isNew)
      return known->second == b;
    if (auto *c = llvm::dyn_cast<llvm::ConstantInt>(a))
      return llvm::isa<llvm::ConstantInt>(b) &&
             c->getValue() == llvm::cast<llvm::ConstantInt>(b)->getValue();
    auto *x = llvm::dyn_cast<llvm::PHINode>(a), *y = llvm::dyn_cast<llvm::PHINode>(b);
    if (!x || !y)
      return !x && !y && a->getValueID() == b->getValueID(); // undef; functions
    if (same_[x->getParent()] != y->getParent() ||
        x->getNumIncomingValues() != y->getNumIncomingValues())
      return false;
    for (const BasicBlock *from : x->blocks())
      if (!areSame(x->getIncomingValueForBlock(from),
                   y->getIncomingValueForBlock(llvm::cast<BasicBlock>(same_[from]))))
        return false;
    return true;
  }
  bool haveSameOperands(const llvm::Instruction &a, const llvm::Instruction &b) {
    if (a.getOpcode() != b.getOpcode() || a.getNumOperands() != b.getNumOperands())
      return false;
    for (unsigned n = 0; n < a.getNumOperands(); ++n)
      if (!areSame(a.getOperand(n), b.getOperand(n)))
        return false;
    return true;
  }

  std::map<const Value *, const Value *> same_;
};

TEST(Promote, GivesWhatLlvmGives) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    llvm::LLVMContext context;
    llvm::Module module("m", context);
    Writer(module, seed);
    auto other = llvm::CloneModule(module);
    Function &f = *module.getFunction("f"), &g = *other->getFunction("f");
    llvm::DominatorTree dominators(g);
    llvm::PromoteMemToReg(slotsOf(g), dominators);
    ptxrun::simt::promoteSlots(f, slotsOf(f));
    ASSERT_FALSE(llvm::verifyFunction(f, &llvm::errs())) << "seed " << seed;
    ASSERT_TRUE(slotsOf(f).empty());
    for (Function *each : {&f, &g})
      llvm::EliminateUnreachableBlocks(*each); // LLVM leaves accesses there
    if (!Comparison().areSame(f, g)) {
      std::string text;
      llvm::raw_string_ostream(text) << f << "\nLLVM:\n" << g;
      FAIL() << "seed " << seed << "\n" << text;
    }
  }
}

TEST(Promote, CarriesTheOnlyStoreToTheNextRound) {
  llvm::LLVMContext context;
  llvm::Module module("m", context);
  llvm::IRBuilder<> b(context);
  auto *f = Function::Create(llvm::FunctionType::get(b.getVoidTy(), {b.getInt32Ty()}, false),
                             Function::ExternalLinkage, "f", module);
  auto *entry = BasicBlock::Create(context, "entry", f);
  auto *loop = BasicBlock::Create(context, "loop", f);
  b.SetInsertPoint(entry);
  Value *slot = b.CreateAlloca(b.getInt32Ty());
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  auto *sum =
      llvm::cast<llvm::Instruction>(b.CreateAdd(b.CreateLoad(b.getInt32Ty(), slot), f->getArg(0)));
  b.CreateStore(sum, slot);
  b.CreateBr(loop);
  ptxrun::simt::promoteSlots(*f, slotsOf(*f));
  ASSERT_FALSE(llvm::verifyFunction(*f, &llvm::errs()));
  auto *phi = llvm::dyn_cast<llvm::PHINode>(sum->getOperand(0));
  ASSERT_NE(phi, nullptr);
  EXPECT_EQ(phi->getIncomingValueForBlock(loop), sum);
  EXPECT_TRUE(llvm::isa<llvm::UndefValue>(phi->getIncomingValueForBlock(entry)));
}

} // namespace
