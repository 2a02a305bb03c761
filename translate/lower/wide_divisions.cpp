#include "translate/lower/wide_divisions.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <optional>

namespace ptxrun::lower {
namespace {

using llvm::BasicBlock;
using llvm::Value;
using namespace llvm::PatternMatch;

bool isCallOf(const Value *v, std::initializer_list<llvm::StringRef> names, const Value *a,
              const Value *b) {
  auto *call = llvm::dyn_cast<llvm::CallInst>(v);
  return call && call->getCalledFunction() &&
         llvm::is_contained(names, call->getCalledFunction()->getName()) &&
         call->getArgOperand(0) == a && call->getArgOperand(1) == b;
}

/// The successor for operands of which none has a bit above the low 32; nothing where the question
/// is another.
std::optional<unsigned> narrowSuccessor(Value *question, Value *&a, Value *&b) {
  using Predicate = llvm::ICmpInst::Predicate;
  Predicate predicate;
  const auto both = m_Or(m_Value(a), m_Value(b));
  Predicate yes = llvm::ICmpInst::ICMP_EQ, no = llvm::ICmpInst::ICMP_NE;
  if (match(question, m_ICmp(predicate, both, m_SpecificInt(uint64_t(1) << 32)))) {
    yes = llvm::ICmpInst::ICMP_ULT;
    no = llvm::ICmpInst::ICMP_UGE;
  } else if (!match(question, m_ICmp(predicate, m_And(both, m_SpecificInt(~uint64_t(UINT32_MAX))),
                                     m_Zero())) &&
             !match(question, m_ICmp(predicate, m_LShr(both, m_SpecificInt(32)), m_Zero()))) {
    return std::nullopt;
  }
  if (!a->getType()->isIntegerTy(64) || (predicate != yes && predicate != no))
    return std::nullopt;
  return predicate == yes ? 0 : 1;
}

/// One question about two operands, and the ways that follow.
struct Choice {
  Value *a = nullptr, *b = nullptr;
  BasicBlock *question = nullptr, *narrow = nullptr, *wide = nullptr, *end = nullptr;

  /// Whether the block asks, and what only operands of 32 bits do is nothing but another way to
  /// what all others do.
  bool find(BasicBlock &block) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch || !branch->isConditional())
      return false;
    const auto successor = narrowSuccessor(branch->getCondition(), a, b);
    if (!successor)
      return false;
    question = &block;
    narrow = branch->getSuccessor(*successor);
    wide = branch->getSuccessor(1 - *successor);
    end = wide->getSingleSuccessor();
    if (!end || narrow->getSingleSuccessor() != end || narrow->getSinglePredecessor() != &block ||
        wide->getSinglePredecessor() != &block)
      return false;
    if (isRedundant())
      return true;
    std::swap(a, b);
    return isRedundant();
  }

 private:
  bool isRedundant() {
    const bool onlyDivides = llvm::all_of(*narrow, [&](llvm::Instruction &i) {
      return !i.mayHaveSideEffects() || isNarrowCall(&i, "ptx_div_u32") ||
             isNarrowCall(&i, "ptx_rem_u32");
    });
    return onlyDivides && !end->phis().empty() &&
           llvm::all_of(end->phis(), [&](llvm::PHINode &phi) {
             Value *n = phi.getIncomingValueForBlock(narrow),
                   *w = phi.getIncomingValueForBlock(wide);
             return n == w || areQuotients(n, w) || areRemainders(n, w);
           });
  }
  bool isNarrowCall(Value *v, llvm::StringRef name) const {
    auto *call = llvm::dyn_cast<llvm::CallInst>(v);
    return call && call->arg_size() == 2 && match(call->getArgOperand(0), m_Trunc(m_Specific(a))) &&
           match(call->getArgOperand(1), m_Trunc(m_Specific(b))) &&
           isCallOf(v, {name}, call->getArgOperand(0), call->getArgOperand(1));
  }
  bool areQuotients(Value *n, Value *w) const {
    Value *q = nullptr;
    return match(n, m_ZExt(m_Value(q))) && isNarrowCall(q, "ptx_div_u32") &&
           isCallOf(w, {"ptx_div_s64", "ptx_div_u64"}, a, b);
  }
  bool areRemainders(Value *n, Value *w) const {
    Value *r = nullptr, *q = nullptr;
    if (!match(n, m_ZExt(m_Value(r))))
      return false;
    const bool isNarrow =
        isNarrowCall(r, "ptx_rem_u32") ||
        (match(r, m_Sub(m_Trunc(m_Specific(a)), m_c_Mul(m_Value(q), m_Trunc(m_Specific(b))))) &&
         isNarrowCall(q, "ptx_div_u32"));
    return isNarrow && match(w, m_Sub(m_Specific(a), m_c_Mul(m_Value(q), m_Specific(b)))) &&
           isCallOf(q, {"ptx_div_s64", "ptx_div_u64"}, a, b);
  }
};

} // namespace

llvm::PreservedAnalyses WideDivisionsPass::run(llvm::Function &function,
                                               llvm::FunctionAnalysisManager &) {
  llvm::SmallVector<Choice> redundant;
  for (BasicBlock &block : function)
    if (Choice choice; choice.find(block))
      redundant.push_back(choice);
  for (const Choice &choice : redundant) {
    choice.question->getTerminator()->eraseFromParent();
    llvm::BranchInst::Create(choice.wide, choice.question);
    llvm::DeleteDeadBlock(choice.narrow, nullptr, /*KeepOneInputPHIs=*/true);
  }
  return redundant.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

} // namespace ptxrun::lower
