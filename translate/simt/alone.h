// Code of a kernel that lanes run one after the other, as functions of one thread.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <optional>

#include "translate/simt/shape.h"
#include "translate/simt/target.h"

namespace ptxrun::simt {

/// Whether lanes may do this one after the other: others neither see in which order, nor wait for
/// it. `isWithArrays`: also what reads and writes arrays that each thread has for itself.
bool mayRunAlone(const llvm::Instruction &, bool isWithArrays);
/// Whether memory is the same behind it in whichever order lanes do it, and it orders nothing else.
bool isUpdateInAnyOrder(const llvm::AtomicRMWInst &);
/// Visits `v` and what it follows from, as far as that differs between lanes other than by known
/// distances: from each on to its operands where `goesOn` says so. Ends where there is too much
/// (cost.h).
void walkSources(const llvm::Value *v, const ShapeAnalysis &,
                 llvm::function_ref<bool(const llvm::Instruction &)> goesOn);
/// What lets `v` differ between lanes other than by known distances: loads, and what is computed of
/// values that do not.
llvm::DenseSet<const llvm::Instruction *> sourcesOf(const llvm::Value *v, const ShapeAnalysis &);
/// Whether `v` follows from what was read from memory and differs between lanes: as a condition it
/// may hold for any of the lanes.
bool comesFromMemory(const llvm::Value *v, const ShapeAnalysis &);
/// Whether a value of this type can be handed to such a function, and come back from it.
bool isHandedAlone(const llvm::Type *);

/// Cycles of what is done, in a gang and in one lane.
struct AloneCosts {
  float gang = 0, lane = 0;
  AloneCosts &operator+=(const AloneCosts &o) { return gang += o.gang, lane += o.lane, *this; }
};

/// What instructions cost, as far as the operations' costs tell: a gang's do not wait for each
/// other, one lane's do.
class AloneCost {
 public:
  AloneCost(const ShapeAnalysis &shapes, const Target &target) : shapes_(shapes), target_(target) {}

  AloneCosts of(const llvm::Instruction &) const;
  /// Of a gang's load or store without a mask: of what lies within known distances, the registers
  /// that hold all in between.
  float ofAccess(const llvm::Instruction &) const;
  /// Until the result is there, of a gang or of one lane.
  float latency(const llvm::Instruction &, bool isGang) const;

 private:
  std::optional<AloneCosts> ofWords(const llvm::Instruction &) const;
  /// Bytes between the first and the last lane's address, of known offsets.
  static int64_t span(const Shape &);
  /// Whether a load or store touches more of memory than its elements' registers.
  bool isApart(const llvm::Instruction &access) const;
  float registers(const llvm::Instruction &) const;

  const ShapeAnalysis &shapes_;
  const Target &target_;
};

/// Cycles from a round's begin to what it leaves for the next, of a gang or of one lane: the next
/// one begins as soon as it has that.
float carriedChain(const llvm::Loop &, const AloneCost &, bool isGang);

/// A function, still empty, that a kernel's lanes call one after the other. Pointers go in and out
/// as integers, which is what addresses are in the code of a thread.
class AloneFunction {
 public:
  /// `results`: null where there are none.
  AloneFunction(llvm::Function &kernel, llvm::ArrayRef<llvm::Value *> inputs,
                llvm::ArrayRef<llvm::Type *> results, const llvm::Twine &suffix);

  llvm::Function &function() const { return *function_; }
  /// In the function: what input k is there.
  llvm::Value *input(llvm::IRBuilder<> &, unsigned k) const;
  /// In the function: as one of the results.
  static llvm::Value *handed(llvm::IRBuilder<> &, llvm::Value *);
  /// In the kernel.
  llvm::CallInst *call(llvm::IRBuilder<> &) const;
  /// In the kernel: result k of a call.
  static llvm::Value *result(llvm::IRBuilder<> &, llvm::Value *call, unsigned k, llvm::Type *);
  /// What was copied here from the kernel has the kernel's lines: for messages.
  void takeLines();
  /// The line of the kernel at which the block begins; calls need one wherever functions are
  /// described.
  static llvm::DebugLoc lineOf(const llvm::BasicBlock &);

 private:
  llvm::SmallVector<llvm::Value *> inputs_;
  llvm::Function *function_;
};

} // namespace ptxrun::simt
