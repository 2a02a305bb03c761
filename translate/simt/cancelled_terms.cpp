// Addresses in which something cancels out:
//
//     q = k / 22; r = k - 22 * q; s[q][r]  =>  base + 88 * q + 4 * (k - 22 * q)  =>  base + 4 * k
//
// Compilers keep the quotient where something else needs it, and then lanes, though neighbours,
// have addresses of which nothing is known.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Local.h>

#include "translate/simt/linear_sum.h"
#include "translate/simt/prepare.h"

namespace ptxrun::simt {
namespace {

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

} // namespace

void cancelTermsOfAddresses(llvm::Function &f) {
  llvm::SmallVector<llvm::IntToPtrInst *> addresses;
  for (llvm::BasicBlock &b : f)
    for (llvm::Instruction &i : b)
      if (auto *address = llvm::dyn_cast<llvm::IntToPtrInst>(&i))
        addresses.push_back(address);
  for (llvm::IntToPtrInst *address : addresses) {
    llvm::Value *number = address->getOperand(0);
    const LinearSum sum = sumOf(number, Extensions::terms);
    if (sum.cancelled == 0 || llvm::any_of(sum.terms, [&](const auto &term) {
          return term.first->getType() != number->getType();
        }))
      continue;
    llvm::IRBuilder<> b(address);
    address->setOperand(0, valueOf(sum, b, number->getType()));
    llvm::RecursivelyDeleteTriviallyDeadInstructions(number);
  }
}

} // namespace ptxrun::simt
