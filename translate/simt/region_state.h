// What a kernel carries from region to region (regions.h): which values, of which kind, and where
// they are kept.
#pragma once
#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "translate/simt/cta_uniform.h"
#include "translate/simt/gang_module.h"
#include "translate/simt/shape.h"

namespace ptxrun::simt {

/// The same operands give the same result, whenever and however often it is computed.
bool isRepeatable(const llvm::Instruction &);

class RegionState {
 public:
  /// `origin`: the body's first block, behind the head of the loop over CTAs; `resumed`: the blocks
  /// behind the barriers, which have one predecessor each; `helpers`: stand-ins and slots outside
  /// the body that only one region has a value for.
  RegionState(llvm::Function &, llvm::BasicBlock *origin,
              llvm::ArrayRef<llvm::BasicBlock *> resumed,
              llvm::ArrayRef<const llvm::Instruction *> helpers, const CtaUniformity &,
              const Target &);
  RegionState(const RegionState &) = delete;
  ~RegionState();

  /// Size of one gang's context, a multiple of 64.
  uint64_t contextBytes() const { return contextBytes_; }
  /// Puts the values that cross barriers into slots of the function (promoted later), so that no
  /// SSA value crosses one.
  void demote();

  // While regions are emitted, in this order:
  /// Maps arrays in local memory to their place in the gang's context.
  void placeArrays(llvm::IRBuilder<> &, llvm::Value *context, llvm::ValueToValueMapTy &) const;
  /// Fills the slots that the region behind `resumed` reads. `map`: stand-ins that computations may
  /// refer to.
  void restore(llvm::IRBuilder<> &, const llvm::BasicBlock *resumed,
               llvm::ArrayRef<llvm::BasicBlock *> region, llvm::Value *context,
               llvm::ValueToValueMapTy &map);
  /// Keeps what the region has changed and the code behind `resumed` needs.
  void save(llvm::IRBuilder<> &, const llvm::BasicBlock *resumed,
            llvm::ArrayRef<llvm::BasicBlock *> region, llvm::Value *context);
  /// After the last gang: values of the whole CTA that the region has changed are now what regions
  /// read.
  void publish(llvm::IRBuilder<> &, const llvm::BasicBlock *resumed,
               llvm::ArrayRef<llvm::BasicBlock *> region) const;
  /// After the last region, when the uncut body is gone: slots become registers, and what a region
  /// only carries through stays put.
  void finish();

 private:
  enum class Kind : uint8_t { computed, cta, gang };
  struct Carried {
    llvm::Instruction *value = nullptr;
    Kind kind = Kind::gang;
    llvm::BitVector across; // barriers, by index
    unsigned home = 0;      // gang: index of the value whose place in the context it shares
    uint64_t offset = 0;    // of that place
    llvm::AllocaInst *slot = nullptr;
    llvm::AllocaInst *current = nullptr, *next = nullptr; // cta
    llvm::SmallVector<llvm::Instruction *> recipe; // computed: clones in order, the value last
    llvm::DenseSet<const llvm::BasicBlock *> readIn, writtenIn;
  };

  void findCarried();
  bool findRecipe(Carried &, const CtaUniformity &) const;
  void findArrays();
  void shareHomes();
  void layOut();
  unsigned pieces(const llvm::Type *) const;
  unsigned indexOf(const llvm::BasicBlock *resumed) const;
  llvm::Type *keptType(llvm::Type *) const;
  static llvm::Value *place(llvm::IRBuilder<> &, llvm::Value *context, uint64_t offset);

  llvm::Function &f_;
  llvm::SmallVector<llvm::BasicBlock *> resumed_;
  const Target target_;
  const llvm::SmallVector<const llvm::Instruction *> helpers_;
  llvm::DenseSet<const llvm::BasicBlock *> body_;
  std::vector<Carried> carried_;
  llvm::SmallVector<std::pair<llvm::AllocaInst *, uint64_t>> arrays_;
  uint64_t contextBytes_ = 0;
  bool hasOwnRecipes_ = false; // after demote(): copies outside any block
  /// Accesses to contexts in the emitted regions.
  struct Access {
    llvm::Instruction *instruction;
    const llvm::Value *context; // of the gang, one per region
    uint64_t offset;
  };
  void saveEarly(const Access &) const;
  llvm::SmallVector<Access> restored_, saved_;
};

} // namespace ptxrun::simt
