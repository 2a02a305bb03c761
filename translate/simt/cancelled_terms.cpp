// Addresses in which something cancels out:
//
//     q = k / 22; r = k - 22 * q; s[q][r]  =>  base + 88 * q + 4 * (k - 22 * q)  =>  base + 4 * k
//
// Compilers keep the quotient where something else needs it, and then lanes, though neighbours,
// have addresses of which nothing is known. Rows beside a thread's own are multiplied anew:
//
//     (q - 1) * width + (k - q * width)  =>  q * width - width + (k - q * width)  =>  k - width
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include "translate/simt/linear_sum.h"
#include "translate/simt/prepare.h"

namespace ptxrun::simt {
namespace {

using namespace llvm::PatternMatch;

llvm::Value *valueOf(const LinearSum &sum, llvm::IRBuilder<> &b, llvm::Type *type) {
  llvm::Value *v = nullptr;
  for (const auto &[term, times] : sum.terms) {
    llvm::Value *product =
        b.CreateMul(const_cast<llvm::Value *>(term), llvm::ConstantInt::getSigned(type, times));
    v = v ? b.CreateAdd(v, product) : product;
  }
  llvm::Value *constant = llvm::ConstantInt::getSigned(type, sum.constant);
  return v ? b.CreateAdd(v, constant) : constant;
}

/// (x + constant) * y as x * y, which is known before, and a multiple of y.
void distribute(llvm::Function &f) {
  const llvm::DominatorTree dominators(f);
  for (llvm::Instruction &i : llvm::make_early_inc_range(llvm::instructions(f))) {
    llvm::Value *sum, *x, *y;
    const llvm::APInt *constant;
    if (!match(&i, m_Mul(m_Value(sum), m_Value(y))) || llvm::isa<llvm::Constant>(y))
      continue;
    if (!match(sum, m_Add(m_Value(x), m_APInt(constant))))
      std::swap(sum, y);
    if (!match(sum, m_Add(m_Value(x), m_APInt(constant))) || llvm::isa<llvm::Constant>(y))
      continue;
    const auto isProduct = [&](const llvm::User *user) {
      return match(user, m_c_Mul(m_Specific(x), m_Specific(y))) && dominators.dominates(user, &i);
    };
    const auto product = llvm::find_if(x->users(), isProduct);
    if (product == x->user_end())
      continue;
    llvm::IRBuilder<> b(&i);
    i.replaceAllUsesWith(
        b.CreateAdd(*product, b.CreateMul(y, llvm::ConstantInt::get(y->getType(), *constant))));
    i.eraseFromParent();
  }
}

/// Puts the sum that `use` has in a simpler form if something cancels out in it.
void cancelTerms(llvm::Use &use, llvm::Instruction *before) {
  llvm::Value *number = use.get();
  const LinearSum sum = sumOf(number, Extensions::terms);
  if (sum.cancelled == 0 || llvm::any_of(sum.terms, [&](const auto &term) {
        return term.first->getType() != number->getType();
      }))
    return;
  llvm::IRBuilder<> b(before);
  use.set(valueOf(sum, b, number->getType()));
  llvm::RecursivelyDeleteTriviallyDeadInstructions(number);
}

} // namespace

void cancelTermsOfAddresses(llvm::Function &f) {
  distribute(f);
  llvm::SmallVector<llvm::WeakTrackingVH> indices, addresses;
  for (llvm::Instruction &i : llvm::instructions(f))
    if (llvm::isa<llvm::IntToPtrInst>(i))
      addresses.push_back(&i);
    else if (llvm::isa<llvm::SExtInst, llvm::ZExtInst>(i) && i.getType()->isIntegerTy(64))
      indices.push_back(&i);
  for (const llvm::SmallVector<llvm::WeakTrackingVH> *all : {&indices, &addresses})
    for (llvm::Value *of : *all)
      if (auto *i = llvm::cast_or_null<llvm::Instruction>(of))
        cancelTerms(i->getOperandUse(0), i);
}

} // namespace ptxrun::simt
