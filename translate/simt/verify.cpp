#include "translate/simt/verify.h"

#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Support/raw_ostream.h>

#include "translate/simt/entry.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

template <typename Printable> std::string describe(const Printable &printed) {
  std::string text;
  llvm::raw_string_ostream out(text);
  printed.print(out);
  return text;
}

/// The type of an entry point as intrinsics/abi.h has it.
llvm::FunctionType *entryType(EntryPoint entry, llvm::LLVMContext &c) {
  llvm::Type *none = llvm::Type::getVoidTy(c), *ptr = llvm::PointerType::get(c, 0),
             *i64 = llvm::Type::getInt64Ty(c);
  switch (entry) {
  case EntryPoint::gang:
    return llvm::FunctionType::get(none, {ptr, ptr, ptr}, false);
  case EntryPoint::gangStart:
    return llvm::FunctionType::get(ptr, {ptr, ptr, ptr}, false);
  case EntryPoint::ctaRange:
    return llvm::FunctionType::get(none, {ptr, ptr, ptr, i64, i64}, false);
  }
  return nullptr;
}

std::string checkFunctions(const GangModule &gang) {
  const llvm::StringRef name = kEntryNames[size_t(gang.entry)];
  const llvm::Function *entry = gang.module->getFunction(name);
  if (!entry || entry->isDeclaration() || entry->hasLocalLinkage())
    return "there is no entry point " + name.str();
  if (entry->getFunctionType() != entryType(gang.entry, gang.module->getContext()))
    return "entry point " + name.str() + " is " + describe(*entry->getFunctionType());
  for (const llvm::Function &f : *gang.module) {
    if (!f.isDeclaration() && &f != entry && !f.hasInternalLinkage())
      return "a second entry point: " + f.getName().str();
    if (!f.isDeclaration() || f.isIntrinsic() || f.use_empty())
      continue;
    if (!f.getName().starts_with("ptxrun_") && !f.getName().starts_with(kCopyOfLanes))
      return "neither the runtime's nor an intrinsic: " + f.getName().str();
    if (gang.entry != EntryPoint::gang && entryOf(f).maySuspend())
      return name.str() + " calls " + f.getName().str() + ", which suspends";
  }
  return {};
}

std::string checkAccesses(const llvm::Module &m) {
  for (const llvm::Function &f : m)
    for (const llvm::Instruction &i : llvm::instructions(f))
      for (const llvm::Value *operand : i.operands())
        if (const auto *pointer =
                llvm::dyn_cast<llvm::PointerType>(operand->getType()->getScalarType());
            pointer && pointer->getAddressSpace() != lower::kGeneric)
          return "an address that is not generic: " + describe(i);
  return {};
}

} // namespace

std::string whatIsUnprepared(llvm::Function &f) {
  unsigned returns = 0;
  for (const llvm::BasicBlock &b : f) {
    if (llvm::isa<llvm::SwitchInst>(b.getTerminator()))
      return "a switch is left: " + describe(*b.getTerminator());
    returns += llvm::isa<llvm::ReturnInst>(b.getTerminator());
  }
  if (returns > 1)
    return std::to_string(returns) + " returns in " + f.getName().str();
  const llvm::DominatorTree dominators(f);
  const llvm::LoopInfo loops(dominators);
  using Traversal = llvm::ReversePostOrderTraversal<const llvm::Function *>;
  const Traversal order(&f);
  if (llvm::containsIrreducibleCFG<const llvm::BasicBlock *>(order, loops))
    return "an irreducible loop in " + f.getName().str();
  for (const llvm::Loop *loop : loops.getLoopsInPreorder()) {
    const std::string where = loop->getHeader()->getName().str() + " of " + f.getName().str();
    if (!loop->isLoopSimplifyForm())
      return "a loop that is not in simplified form: " + where;
    if (!loop->isLCSSAForm(dominators))
      return "a loop that is not in LCSSA form: " + where;
  }
  return {};
}

std::string verifyGangModule(const GangModule &gang) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(*gang.module, &out))
    return "invalid IR: " + text;
  if (std::string wrong = checkFunctions(gang); !wrong.empty())
    return wrong;
  if (std::string wrong = checkAccesses(*gang.module); !wrong.empty())
    return wrong;
  const unsigned lanes = gang.needs.lanes;
  if (lanes != 1 && lanes != 8 && lanes != 16 && lanes != 32)
    return "W is " + std::to_string(lanes);
  if (!llvm::isPowerOf2_32(gang.needs.staticSharedAlign))
    return "shared memory is aligned to " + std::to_string(gang.needs.staticSharedAlign) + " bytes";
  return {};
}

} // namespace ptxrun::simt
