// Gathers and scatters whose lanes lie apart and whose gangs lie side by side.
//
// A thread that writes out[x * height + y] of a block whose x are lanes and whose y are gangs
// writes a place of each of W rows, and each gang writes the places behind those of the gang
// before: transposes, and reading by columns. Sixteen gangs in lockstep have a line for each lane,
// which is loaded or stored as it is; between lanes and gangs lies a transposition in registers.
#pragma once
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>

#include "translate/simt/cta_uniform.h"
#include "translate/simt/shape.h"
#include "translate/simt/target.h"

namespace ptxrun::simt {

/// An access of all lanes of a gang (masked.gather or masked.scatter).
struct AcrossGangs {
  /// A number of each lane that goes up by `step` from gang to gang, if it does not wrap.
  struct Number {
    llvm::Value *value;
    bool isSigned;
    int64_t step;
  };
  llvm::IntrinsicInst *access = nullptr;
  llvm::SmallVector<Number, 2> numbers; ///< which must not wrap
  unsigned elementBytes() const;
  bool isOfWholeGangs() const; ///< by itself: no mask
};

/// How values change from a gang of a CTA to the next.
class GangSteps {
 public:
  /// In a body for one gang of so many lanes.
  GangSteps(const llvm::Value &firstThread, unsigned lanes, const CtaUniformity &gangs)
      : firstThread_(firstThread), lanes_(lanes), gangs_(gangs) {}

  /// The access, if each lane of a gang goes right behind that of the gang before.
  std::optional<AcrossGangs> across(llvm::Instruction &);

 private:
  struct Step {
    int64_t by;
    bool isSmall; ///< a number that stays far below the bounds of its type
  };
  static std::optional<Step> times(const Step &, int64_t factor);
  std::optional<Step> stepOf(llvm::Value *);
  std::optional<Step> find(llvm::Value *);
  std::optional<Step> findOfBinary(llvm::BinaryOperator &);

  const llvm::Value &firstThread_;
  unsigned lanes_;
  const CtaUniformity &gangs_;
  llvm::DenseMap<const llvm::Value *, std::optional<Step>> known_;
  llvm::SmallVector<AcrossGangs::Number, 2> numbers_; ///< of the access at hand
};

/// Numbers of gangs that give whole registers of elements of so many bytes, and no more than a
/// line, and that divide `gangsPerCta`; the most comes first.
llvm::SmallVector<unsigned, 3> gangsForAcross(unsigned elementBytes, unsigned lanes,
                                              unsigned gangsPerCta, const Target &);

/// Whether the load or store of one thread will be such an access, as far as its address tells: to
/// leave it alone until then. `shapes`: of the kernel.
bool mayGoAcross(const llvm::Instruction &, const ShapeAnalysis &shapes, const Target &);

/// The same access of as many gangs as gangsForAcross() allows, one behind the other, the first of
/// them `a`'s: loads or stores of each lane and a transposition, if all lanes take part and no
/// number wraps; else as they are, or, if that is given, nothing more but `otherwise`. Returns
/// where what was behind them is.
llvm::BasicBlock *accessAcross(const AcrossGangs &a, llvm::ArrayRef<llvm::IntrinsicInst *> ofGangs,
                               const Target &, llvm::BasicBlock *otherwise);

} // namespace ptxrun::simt
