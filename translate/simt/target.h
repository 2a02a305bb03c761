// The CPU that code is made for: what decisions go by.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "translate/support/code_options.h"

namespace ptxrun::simt {

/// Cycles from one operation to the next where they do not wait for each other and memory is in the
/// first cache; latency is said where it is meant.
struct OperationCosts {
  float gather;         ///< of a register of 32-bit elements, per lane
  float scatter;        ///< the same, of stores
  float maskedLoad;     ///< a register, under a mask
  float maskedStore;    ///< the same
  float chosenStore;    ///< an element of a vector, here or elsewhere as a bit says
  float compress;       ///< a register's active elements to its front
  float compressStore;  ///< the same, to memory
  float laneExtraction; ///< an element of a vector to a register of another kind
  /// The same where an update of memory follows and the next element comes behind it.
  float extractionBetweenUpdates;
  float shuffle;        ///< of 32-bit elements across a register, by a variable
  float floatDivision;  ///< a register of f32
  float doubleDivision; ///< a register of f64
  float division32;     ///< a pair of integers: latency
  float division64;     ///< the same, of 64 bits
  float conversion;     ///< a register of f32 to s32
  float lockedUpdate;   ///< lock xadd on one place
  float gatherLatency;  ///< a register
  float extractLatency; ///< an element to a register of another kind
};

/// A CPU model at a level.
struct Target {
  CpuLevel level;
  CpuModel model;
  unsigned vectorBits;    ///< of a register of the level
  unsigned preferredBits; ///< of what the CPU executes at once: below vectorBits it takes two turns
  unsigned vectorRegisters; ///< by name
  unsigned maskRegisters;   ///< 0: masks are vectors
  unsigned lineBytes, l1Bytes, l2Bytes;
  /// Results of so many bytes, which nobody reads at once, are best stored past the caches; 0:
  /// none.
  uint64_t streamedFrom;
  unsigned linesAhead; ///< how many the CPU takes at once of what is fetched ahead
  OperationCosts costs;

  unsigned vectorBytes() const { return vectorBits / 8; }
  /// How many registers `bits` take.
  unsigned registersFor(uint64_t bits) const {
    return unsigned((bits + vectorBits - 1) / vectorBits);
  }
  /// Of a gang whose 32-bit numbers fill one; 8 at least.
  unsigned lanesOfRegister() const { return std::max(8u, vectorBits / 32); }
  bool hasMaskRegisters() const { return maskRegisters != 0; }
  /// Whether a gather or scatter under a mask is one instruction. Elsewhere LLVM makes a branch of
  /// each lane's bit.
  bool hasMaskedGather() const { return hasMaskRegisters(); }
  /// Whether one of elements of `bits` is.
  bool gathers(unsigned bits) const { return hasMaskedGather() && (bits == 32 || bits == 64); }
  /// Whether one of elements of `bits` is one of the words that they lie in, of which shifts leave
  /// them.
  bool gathersInWords(unsigned bits) const {
    return hasMaskedGather() && (bits == 8 || bits == 16);
  }
  /// Whether registers are two halves, and a shuffle across both takes another instruction.
  bool hasCheapHalves() const { return vectorBits == 256 && !hasMaskRegisters(); }
  /// Elements from one lane's to the next one's, from where on loads and stores of single elements
  /// are better than rows that are taken apart and put together.
  int64_t leastSerialStep() const;
  /// Whether a load or store of a row of elements under a mask is one instruction for each
  /// register. `bits` of an element; 0 for pointers, of which LLVM makes branches.
  bool hasMaskedAccess(unsigned bits) const {
    return bits != 0 &&
           (hasMaskRegisters() || (level == CpuLevel::avx2 && (bits == 32 || bits == 64)));
  }
  /// Whether arithmetic may name its direction of rounding.
  bool hasDirectedRounding() const { return hasMaskRegisters(); }

  // What the costs come to (cost.cpp).

  /// Whether a row is better read, blended and written back than stored under a mask.
  bool blendsMaskedStores() const;
  /// How many instructions may be copied to save the mask of one store.
  unsigned copiedPerStore() const;
  /// Vector registers for values that live through a loop; the others are for what it computes.
  unsigned registersForLoops() const;
  /// Vector registers' worth of values that may live at once where a few of them are spilled; more
  /// where most operations are those of floats, which take longer than a spill, and where none
  /// is carried through a loop.
  unsigned registersAtOnce(bool isMostlyFloat, bool isAnyCarried) const;
  /// The same where several gangs run in lockstep and share what is the same for all of them.
  unsigned registersForLockstep() const;
  /// How much of `.shared` memory is kept in registers from one gang to the next.
  unsigned sharedBytesInRegisters() const;
  /// The longest stretch of memory that is read whole and permuted rather than gathered.
  int64_t longestWindow() const;
};

/// A model, by a name that LLVM has for CPUs of it.
struct ModelName {
  std::string_view llvm;
  CpuModel model;
};
/// All names of models that are not `other`.
std::span<const ModelName> modelNames();

/// The model behind LLVM's name of a CPU.
CpuModel findModel(std::string_view llvmName);
/// LLVM's name of the model to schedule for; empty for `other`.
std::string_view tuningOf(CpuModel);

Target targetFor(CpuLevel, CpuModel = CpuModel::other);

} // namespace ptxrun::simt
