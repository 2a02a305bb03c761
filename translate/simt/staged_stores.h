// What the threads of a block store in shared memory before a barrier, and what they compute it
// from.
#pragma once
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "translate/simt/cta_uniform.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/prepare.h"
#include "translate/simt/shape.h"
#include "translate/simt/thread_numbers.h"

namespace ptxrun::simt {

/// A barrier of all threads of the CTA.
bool isWholeBarrier(const llvm::Instruction &);

/// What the threads do between one barrier of all of them and the next.
struct Window {
  llvm::Instruction *barrier = nullptr;  ///< at the end
  std::vector<llvm::StoreInst *> stores; ///< to `.shared` memory
  llvm::DenseSet<const llvm::LoadInst *> loads;
  BlockSet whole; ///< blocks of which the end is in it
};

/// Walks back from the barrier; nothing where something else happens that threads may see of one
/// another.
std::optional<Window> windowBefore(llvm::Instruction &barrier);

/// A step of the computation of stored values and their places. Equal ones are one.
struct Node {
  enum class Kind : uint8_t {
    leaf,      ///< a number that is known for each thread: number `index` of the store's
    external,  ///< `value`, the same for all threads, or a constant
    operation, ///< as `value` does it
    moved,     ///< `value`, a phi of a loop around all of it; operand: what it begins with
    load,      ///< as `value` does it; operands: address, when; `index`: what it promises
    choice,    ///< operands: condition, one, the other
    inverse,   ///< logic of conditions
    both,
    either
  } kind = Kind::leaf;
  llvm::Type *type = nullptr;
  llvm::Value *value = nullptr;
  unsigned index = 0;
  std::vector<unsigned> operands = {};
  /// Made of several instructions: what the flags of one promise is left out.
  bool hasLooseFlags = false;
};

/// No condition.
constexpr unsigned kAlways = ~0u;

/// The nodes of all stores of a window.
class Nodes {
 public:
  unsigned make(Node n) {
    const std::string alike = n.kind == Node::Kind::operation ? kindOf(*n.value) : std::string();
    const llvm::Value *value =
        n.kind == Node::Kind::operation || n.kind == Node::Kind::load ? nullptr : n.value;
    auto [at, isNew] = ids_.try_emplace(
        std::tuple(n.kind, n.type, value, n.index, n.operands, alike), list_.size());
    if (isNew)
      list_.push_back(std::move(n));
    else if (n.kind == Node::Kind::operation && list_[at->second].value != n.value)
      list_[at->second].hasLooseFlags = true;
    return at->second;
  }
  unsigned both(unsigned a, unsigned b) {
    if (a == kAlways || b == kAlways || a == b)
      return a == kAlways ? b : a;
    return make({Node::Kind::both, list_[a].type, nullptr, 0, {a, b}});
  }
  const Node &operator[](unsigned id) const { return list_[id]; }
  size_t size() const { return list_.size(); }

 private:
  /// What an operation is, apart from its operands.
  static std::string kindOf(const llvm::Value &v) {
    const auto &i = llvm::cast<llvm::Instruction>(v);
    std::string text = std::to_string(i.getOpcode());
    if (const auto *compare = llvm::dyn_cast<llvm::CmpInst>(&i))
      text += "/" + std::to_string(compare->getPredicate());
    if (const auto *call = llvm::dyn_cast<llvm::CallInst>(&i))
      text += "/" + call->getCalledFunction()->getName().str();
    if (const auto *pointer = llvm::dyn_cast<llvm::GetElementPtrInst>(&i))
      text += "/" + std::to_string(uintptr_t(pointer->getSourceElementType()));
    if (i.getType()->isFloatingPointTy()) // what floats promise is part of what they are
      text += "/" + std::to_string(i.getRawSubclassOptionalData());
    return text;
  }

  std::vector<Node> list_;
  std::map<std::tuple<Node::Kind, llvm::Type *, const llvm::Value *, unsigned,
                      std::vector<unsigned>, std::string>,
           unsigned>
      ids_;
};

/// One store before the barrier, and the loops around it, from the outside in.
struct Staged {
  llvm::StoreInst *store;
  std::vector<llvm::Loop *> loops = {};
  LinearSum place = {}; ///< of known numbers
  LinearSum base = {};  ///< what is the same for all threads, added to it
  /// When threads come to it and to each of the loops, made of the numbers `deciding`.
  unsigned when = kAlways;
  std::vector<unsigned> entered = {};
  std::vector<const llvm::Value *> deciding = {};
  /// What it does, made of the numbers `leaves`, for those threads that are known to come to it;
  /// `guard`: what else decides that.
  unsigned address = 0, value = 0, guard = kAlways;
  std::vector<const llvm::Value *> leaves = {};
};

/// A store by one thread in one round.
struct Instance {
  uint64_t place = 0;
  uint64_t gangRound = 0; ///< which gang does it, and when
  std::vector<uint64_t> leaves;
};

/// Finds what the threads of a block store before a barrier, and what they compute it from.
class StagedStores {
 public:
  StagedStores(llvm::Function &, const GangShape &, const Window &);

  /// False where one of the stores is not of that kind.
  bool find(std::vector<Staged> &);
  /// All instances of one of them, which is the `number`-th; false where there are too many.
  bool simulate(const Staged &, uint64_t number, std::vector<Instance> &);
  const Nodes &nodes() const { return nodes_; }

 private:
  const llvm::BasicBlock *entryFor(llvm::ArrayRef<Staged>) const;
  bool isCounted(const llvm::BasicBlock &header) const;
  bool isInReach(const llvm::Value *) const;
  bool isSame(const llvm::Value *) const;
  bool describe(Staged &);
  bool splitPlace(const llvm::Value *, Staged &) const;
  unsigned fail() {
    isFailed_ = true;
    return 0;
  }
  /// The nodes that follow are made of these numbers.
  void begin(std::vector<const llvm::Value *> &leaves) {
    leaves_ = &leaves;
    assumed_.clear();
    made_.clear();
    whens_.clear();
  }
  unsigned node(llvm::Value *);
  unsigned compute(llvm::Value *);
  unsigned nodeOfPhi(llvm::PHINode &);
  unsigned nodeOfMoved(llvm::PHINode &);
  unsigned when(const llvm::BasicBlock *);
  unsigned whenOnWay(const llvm::BasicBlock *from, const llvm::BasicBlock *to);
  bool simulateLoops(const Staged &, size_t depth, Instance, uint64_t &rounds,
                     std::vector<Instance> &);
  std::optional<bool> holds(unsigned condition, const Staged &);

  const GangShape &gang_;
  const Window &window_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree postDominators_;
  llvm::LoopInfo loops_;
  CtaUniformity uniform_;
  ThreadNumbers numbers_;
  Nodes nodes_;
  const llvm::BasicBlock *entry_ = nullptr; ///< all threads come by, and from there to the barrier
  Staged *current_ = nullptr;
  std::vector<const llvm::Value *> *leaves_ = nullptr;
  /// Branches on numbers, and whether they are known to go the first way.
  llvm::SmallDenseSet<std::pair<const llvm::BranchInst *, unsigned>> assumed_;
  llvm::DenseMap<const llvm::Value *, unsigned> made_;
  llvm::DenseMap<const llvm::BasicBlock *, unsigned> whens_;
  bool isFailed_ = false;
};

} // namespace ptxrun::simt
