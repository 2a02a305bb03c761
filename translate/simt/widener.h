// Turns one scalar function into a function of W lanes. The heart of simt: four classes, each of
// which sees those before it only.
//
//     ValueMap     where values are            value_map.h
//     Accesses     memory                      accesses.h
//     Collectives  calls                       collectives.h
//     Widener      control, instructions       here
//
// Control flow is linearised partially: blocks are emitted in the order of ShapeAnalysis. A uniform
// branch stays a branch. At a divergent branch both ways run one after the other, each under its
// mask; a way whose mask is empty is jumped over. What still has to run later is kept as a set of
// pending items that travels along the emitted edges:
//
//     b: br divergent c, T, F    =>   mask[T] |= m & c; mask[F] |= m & ~c
//                                     if any(mask[T]) goto T (pending: F)  else goto F
//     end of T                   =>   if any(mask[F]) goto F (pending: join) else goto join
//
// A loop that lanes leave in different iterations gets an item of its own behind its blocks
// (LoopEnd):
//
//     LoopEnd: if any(mask[header]) goto header  else goto the first exit whose mask is not empty
//
// Masks are slots (value_map.h): a block consumes its mask (reads and clears it).
#pragma once
#include "translate/simt/collectives.h"

namespace ptxrun::simt {

class Widener : private Collectives {
 public:
  /// `target` is empty and has the wide signature; with `isFull` its mask argument is known to be
  /// all ones.
  Widener(ModuleContext &, llvm::Function &source, llvm::Function &target, const ShapeAnalysis &,
          bool isFull, bool isKernel);
  void run();

 private:
  // A place in the emission order: a block, or the end of a divergent loop.
  struct Item {
    const Block *block = nullptr;
    const llvm::Loop *loopEnd = nullptr;
    Block *head = nullptr;
    std::set<unsigned> pending; // item numbers that wait while control is here
    std::set<unsigned> exits;   // loopEnd: blocks that lanes left to
  };

  // linearize.cpp
  void planItems();
  void emitItem(unsigned);
  void emitBlock(unsigned);
  void emitLoopEnd(unsigned);
  void emitTerminator(const Block *, unsigned item);
  void emitDivergentBranch(const llvm::BranchInst &, const std::set<unsigned> &pending);
  bool leavesAllWaits(const Block *from, const Block *to);
  bool exitsMatter(const Block *);
  void emitEdge(const Block *from, const Block *to, Value *edgeMask);
  void
  emitGotos(std::set<unsigned> targets, std::optional<unsigned> certain,
            const llvm::DenseMap<unsigned, Value *> &known = llvm::DenseMap<unsigned, Value *>());
  std::optional<unsigned> controlTarget(const Block *from, const Block *to);
  bool isCertain(unsigned item) const;
  const Block *partedAt(const Block *) const;
  bool isCheap(const Block *) const;
  const llvm::Loop *divergentLoopLeft(const Block *from, const Block *to) const;
  Value *maskOf(const Block *);
  llvm::Constant *knownMask(const Block *);
  const Value *usualValue(const llvm::PHINode &);
  void storeUsual(const Block *parted);
  void storePhis(const Block *from, const Block *to, Value *edgeMask);
  llvm::AllocaInst *maskSlot(const Block *);

  // widen_instructions.cpp
  void emitInstruction(const llvm::Instruction &);
  Value *emitUniform(const llvm::Instruction &);
  Value *emitOffsets(const llvm::Instruction &);
  Value *emitVarying(const llvm::Instruction &);
  Value *emitVaryingDivision(const llvm::Instruction &);
  Value *emitRowDivision(const llvm::Instruction &, Value *a, Value *divisors);
  Value *emitDivisionByLanes(const llvm::Instruction &, Value *a, Value *d);
  Value *emitWideDivision(const llvm::Instruction &, Value *a, Value *d);
  Value *quotientsByDoubles(unsigned opcode, Value *a, Value *d);
  Value *emitQuotientByUniform(const llvm::Instruction &);
  Value *emitVectorElement(const llvm::Instruction &);

  const bool isFull_;
  Value *entryMask_ = nullptr;
  std::vector<Item> items_;
  llvm::DenseMap<const Block *, unsigned> itemOf_;
  llvm::DenseMap<const llvm::Loop *, unsigned> loopEndOf_;
  std::set<unsigned> everPending_;
  std::optional<llvm::DenseSet<const Block *>> exitsMatter_, beforeWaits_;
  llvm::DenseMap<const llvm::PHINode *, const Value *> usualValues_;
  llvm::DenseMap<const Block *, llvm::AllocaInst *> maskSlots_, maskValues_;
  llvm::DenseMap<const Block *, llvm::Constant *> knownMasks_; // by their root
  llvm::DenseMap<const Block *, const Block *>
      maskRoot_; // block whose consumed mask this block shares; null: entry mask
};

} // namespace ptxrun::simt
