// A loop that a compiler unrolled, and the loop of what is left: what both are made of, and whether
// they do what one loop of single rounds would do. rerolled_loops.cpp makes that of them.
#pragma once
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "translate/simt/cost.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/prepare.h"

namespace ptxrun::simt {

/// sum + perRound * r + perTurn * u, in round r of the loop of what is left and turn u of the
/// unrolled one. In the loop behind the other one both count.
struct Form {
  LinearSum sum;
  int64_t perRound = 0, perTurn = 0;
};

/// A number of 32 bits that is extended: times * counter + offset + least to most, where it does
/// not wrap. `offset` is of numbers with signs.
struct Extended {
  LinearSum::Terms offset;
  int64_t times;
  bool isSigned;
  int64_t least, most; ///< in all places where it is extended
};

/// A loop of one block, with a block ahead of it and one behind it.
bool isLoopOfOneBlock(const llvm::Loop &);
/// The last branch before `way`, which is then the side of it that leads there; without one, where
/// all begins.
llvm::BranchInst *choiceBefore(llvm::BasicBlock *&way);
llvm::BasicBlock *otherSide(const llvm::BranchInst &, const llvm::BasicBlock *side);
/// A value that comes through phis of one way in, as it was before.
llvm::Value *beforeTheWay(llvm::Value *);

/// A branch goes to `side` if and only if `x predicate y`.
struct Comparison {
  llvm::CmpInst::Predicate predicate;
  llvm::Value *x, *y;
};
std::optional<Comparison> comparisonFor(const llvm::BranchInst &, const llvm::BasicBlock *side);

/// A loop of what is left, and the unrolled one, before it or behind it.
class UnrolledPair {
 public:
  UnrolledPair(const llvm::Loop &second, const ShapeAnalysis &shapes)
      : shapes_(shapes), second_(&second) {}

  /// Nothing is changed.
  bool find() {
    return findBlocks() && findCounts() && hasOnlyAccesses(*one_, storesOfOne_) &&
           hasOnlyAccesses(*many_, storesOfMany_) && hasRows() && doTheSame() && findResults() &&
           isAskable();
  }

  void rewrite();

 private:
  bool findBlocks();
  bool findCounts();
  bool findWhatIsLeft();
  bool findCounter();
  bool hasTurns();
  static bool hasOnlyAccesses(llvm::BasicBlock &, std::vector<llvm::Instruction *> &stores);
  bool hasRows();
  bool doTheSame();
  bool findResults();
  bool isAskable();

  const Form *formOf(llvm::Value *);
  std::optional<Form> sumOfForms(llvm::Value *);
  std::optional<Form> formOfTerm(llvm::Value *);
  std::optional<Form> formOfMultiple(llvm::Value *);
  bool isMultipleOf(int64_t divisor);
  std::optional<Form> formOfQuotient(llvm::Value *);
  std::optional<Form> formOfExtendedQuotient(const llvm::CastInst &);
  std::optional<Form> formOfExtension(llvm::CastInst &);
  bool areEqual(const Form &ofOne, const Form &ofMany, unsigned copy, unsigned bits) const;
  std::optional<int64_t> aheadOfCounter(llvm::Value *);
  llvm::Value *withoutRounding(llvm::Value *);
  bool match(llvm::Value *ofOne, llvm::Value *ofMany, unsigned copy);
  bool matchOperations(llvm::Instruction &ofOne, llvm::Instruction &ofMany, unsigned copy);
  bool areLinked(llvm::PHINode &ofOne, llvm::PHINode &ofMany);
  bool isLoadedInOrder(const llvm::Instruction &ofOne, const llvm::Instruction &ofMany,
                       unsigned copy) const;

  bool isInside(const llvm::Value *v) const {
    auto *i = llvm::dyn_cast<llvm::Instruction>(v);
    return i && inside_.contains(i->getParent());
  }
  bool isUnrolledFirst() const { return many_ == first_->getHeader(); }
  llvm::Value *startOf(const llvm::PHINode &phi) const {
    const llvm::Loop *loop = phi.getParent() == first_->getHeader() ? first_ : second_;
    return phi.getIncomingValueForBlock(loop->getLoopPreheader());
  }
  static llvm::Value *nextOf(const llvm::PHINode &phi) {
    return phi.getIncomingValueForBlock(phi.getParent());
  }
  /// What each round adds to it.
  static std::optional<int64_t> stepOf(llvm::PHINode &phi) {
    LinearSum step = sumOf(nextOf(phi));
    step.add(&phi, -1);
    return step.terms.empty() ? std::optional(step.constant) : std::nullopt;
  }
  llvm::PHINode *changedBy(const llvm::Value &joined) const;
  llvm::Value *invariant(llvm::Value *);
  llvm::Value *findInvariant(llvm::Instruction &);
  bool isKnown(llvm::Value *v) const {
    return isComputableBefore(v, choice_, shapes_.dominators(), kLimits.search.operands);
  }
  llvm::Value *before(llvm::Value *v) const {
    return computedBefore(v, choice_, shapes_.dominators());
  }
  llvm::Value *initially(llvm::Value *, llvm::IRBuilder<> *,
                         llvm::MapVector<llvm::Value *, llvm::Value *> &made);
  llvm::SmallSetVector<llvm::Value *, 8> takenAlong() const;
  bool isBelowEnd();
  llvm::Value *isRight(llvm::IRBuilder<> &);
  void settle(llvm::Value *test) const;

  const ShapeAnalysis &shapes_;
  const llvm::Loop *first_ = nullptr, *second_;
  llvm::BasicBlock *toFirst_ = nullptr, *toSecond_ = nullptr; ///< the branches' sides
  llvm::BasicBlock *one_ = nullptr;                           ///< the loop of what is left
  llvm::BasicBlock *many_ = nullptr;                          ///< the unrolled loop
  llvm::BranchInst *choice_ = nullptr;                        ///< around the first loop
  llvm::BasicBlock *joined_ = nullptr;                        ///< behind that
  llvm::BranchInst *next_ = nullptr;                          ///< around the second loop
  llvm::BasicBlock *behind_ = nullptr;                        ///< all of them
  llvm::SmallPtrSet<const llvm::BasicBlock *, 8> inside_;     ///< from `choice_` to `behind_`
  llvm::Value *left_ = nullptr;                               ///< rounds of `one_`
  llvm::Value *rounds_ = nullptr;                             ///< of both together
  llvm::Value *start_ = nullptr, *end_ = nullptr;             ///< of the counter
  LinearSum distance_; ///< end - 1 - start, or step - 1 where that is more
  int64_t step_ = 0;   ///< and what each round adds to it
  unsigned copies_ = 0;
  std::vector<llvm::Instruction *> storesOfOne_, storesOfMany_;
  std::set<std::tuple<llvm::Value *, llvm::Value *, unsigned>> matched_;
  unsigned steps_ = 0;                                           ///< that this took
  std::set<std::pair<llvm::PHINode *, llvm::PHINode *>> linked_; ///< which are one number
  std::map<llvm::Value *, std::optional<Form>> forms_;
  std::vector<Extended> extended_;                  ///< which must not wrap
  llvm::SmallPtrSet<const llvm::Value *, 8> exact_; ///< where they are extended
  std::map<int64_t, llvm::Value *> quotients_;      ///< of the counter, by what divides it
  std::vector<llvm::Instruction *> invariants_;
  std::map<llvm::Value *, llvm::Value *> standsFor_;
  /// What is known of operations of `one_`, and not of the same ones of `many_`.
  std::vector<std::pair<llvm::Instruction *, unsigned>> notKnown_;
  std::vector<std::pair<llvm::PHINode *, llvm::Value *>>
      results_; ///< phis of `behind_`, what comes to them
};

} // namespace ptxrun::simt
