// The numbers that passes decide by, by pass. Their values, and what each rests on, are in
// cost.cpp, and nowhere else; those that depend on the CPU are members of Target (target.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "translate/simt/target.h"

namespace ptxrun::simt {

struct Limits {
  /// Full gangs, agreeing lanes (versions.cpp, same_values.cpp).
  struct Versions {
    unsigned copied; ///< instructions that all versions of a kernel copy together
    /// So many instructions may be copied to save the mask of one access.
    unsigned perLoad, perStore;
    unsigned roundsLog2;  ///< of a loop, as accesses in it count; of each level ...
    unsigned deepestLoop; ///< ... down to here
    unsigned rounds;      ///< versions of a kernel
    unsigned rerolled;    ///< copies in an unrolled loop (rerolled_loops.cpp)
  } versions;
  /// 32-bit arithmetic that is done in 16 (narrow_integers.cpp): registers saved and taken.
  struct Narrowing {
    int ofEach, ofExtension;
  } narrowing;
  /// Stores that go behind their loop (repeated_stores.cpp).
  struct RepeatedStores {
    unsigned places, ranges, instructions;
  } repeatedStores;
  /// Loops unrolled to whole registers of a row (rows.cpp); walks along rows (row_walks.cpp).
  struct Rows {
    uint64_t unrolled;   ///< instructions
    float workPerAccess; ///< with more, walks are worth lanes
    /// With more, walks that only read are worth more than a register of lanes, and those that also
    /// write as much as one.
    float workPerRead;
    float workPerWrite; ///< with more, walks that also write are nothing beside it
  } rows;
  /// Numbers of several words (alone.cpp).
  struct Alone {
    float product64, product128, carry; ///< instructions for each register of 64-bit numbers
    float wordLane;                     ///< cycles of a sum or product of one lane
    /// Cycles at least of each lane of a gather under a mask, where that is a branch for each.
    float askedLane;
  } alone;
  /// The last lanes of a loop (stragglers.cpp).
  struct Stragglers {
    unsigned lanes;  ///< so many may be few
    unsigned copied; ///< instructions of all loops of a kernel
    /// Of one lane: instructions in a cycle where they do not wait for each other, and cycles from
    /// a sum or product of floats, and of a product of integers, to what wants it.
    float perCycle, floatLatency, productLatency;
  } stragglers;
  /// W (width.cpp).
  struct Width {
    float
        latency; ///< share of a loop's cycles that a round waits for the one before: from there on
  } width;
  /// Kernels whose lanes are better off one by one (one_lane.cpp).
  struct OneLane {
    unsigned blocks; ///< of kernels that are looked at: each is held against each branch
    float rounds;    ///< of a loop
    float spread;    ///< rounds of a gang, by those of a lane, where lanes leave at different times
    float mispredicted; ///< cycles
    float gain;         ///< so much more than its lanes one by one must a gang take
  } oneLane;
  /// Which axis lanes lie along (leading_axis.cpp).
  struct LeadingAxis {
    float share; ///< of what accesses cost along x, at most, along another one
  } leadingAxis;
  /// Accesses that lanes do one after the other (serial_accesses.cpp).
  struct Serial {
    float perCycle;      ///< operations of lanes that do not wait for each other
    float lane;          ///< cycles to come to the next lane
    float handed;        ///< cycles for a value that a lane gets from a vector, or leaves in one
    float gain;          ///< a gang takes so many times as long
    unsigned recipe;     ///< operations that lanes do themselves for a value from outside
    unsigned writtenOut; ///< instructions of all lanes, instead of a loop
  } serial;
  /// Rows of what a block stores before a barrier (staging.cpp).
  struct Staging {
    uint64_t evaluations; ///< of numbers, of all threads
    float rowsPerRound;   ///< what a round of a gang across rows costs, in rows
  } staging;
  /// Matrix instructions that are done together (matrix_groups.cpp).
  struct Matrices {
    size_t members, fragments; ///< of a group; fragments of A, and of B
  } matrices;
  /// Arrays in local memory laid out by elements (local_rows.cpp).
  struct LocalRows {
    unsigned parts; ///< elements of one access
  } localRows;
  /// Loops around barriers that are unrolled (rounds.cpp).
  struct Rounds {
    unsigned instructions; ///< of a kernel, all rounds together
  } rounds;
  /// One choice of version for all gangs (unify.cpp).
  struct Unify {
    size_t instructions; ///< for one choice, all gangs together
  } unify;
  /// One choice of version for a CTA without barriers (cta_versions.cpp).
  struct CtaVersions {
    unsigned gangs; ///< from how many on the CTA is asked first
    unsigned depth; ///< of what follows from a gang's number
    /// Of a gang; beside more, what each gang is asked by itself is nothing, and a copy takes long
    /// to compile.
    unsigned instructions;
  } ctaVersions;
  /// Gangs in lockstep (jam.cpp).
  struct Jam {
    size_t repeated;      ///< instructions, all gangs together
    uint64_t rowBytes;    ///< on end, all gangs together; more of them read no faster
    uint64_t manyThreads; ///< of a grid: from there on gang after gang where all of them stride
    unsigned plans;       ///< of one function, each for the blocks that the one before asked for
  } jam;
  /// Whole rows of CTAs one after the other (row_order.cpp).
  struct RowOrder {
    unsigned stripThreads; ///< in a row of a strip
    unsigned sharedByRows; ///< vectors that the loop over rows would hoist
    unsigned usual;        ///< a block is on the usual way from one in so many runs on
  } rowOrder;
  /// From barrier to barrier (regions.cpp, region_state.cpp).
  struct Regions {
    uint64_t contextBytes; ///< of all gangs of a CTA
    unsigned growth;       ///< instructions behind cutting, by those before
    unsigned recipe;       ///< instructions that compute a value again
    unsigned division;     ///< of these, what a division counts for
    /// What computing a value again may cost: a scalar; a vector, besides its registers.
    unsigned scalarRecipe, vectorRecipe;
    uint64_t apart; ///< contexts whose size is a multiple of this share sets of the first cache
  } regions;
  /// The form of prepared functions and of control (prepare.cpp, linearize.cpp).
  struct Control {
    unsigned stopInstructions, stopCopies; ///< code behind traps, copied for each predecessor
    unsigned underEmptyMask; ///< a block of so few pure instructions is not jumped over
    /// Masks that are carried from block to block, of a kernel and of each of its blocks: above
    /// both there is no lockstep (examine.cpp).
    uint64_t openWays, openWaysPerBlock;
  } control;
  /// Loads and stores (widen_memory.cpp, widen_interleaved.cpp).
  struct Accesses {
    unsigned gangsAhead;       ///< for which a load that strides fetches ahead
    unsigned gangsInRow;       ///< a row of the block has at least as many, for that
    unsigned nextRows;         ///< the next gang's rows take this share of the second cache at most
    unsigned runs;             ///< accesses that one is split into
    unsigned windowPerData;    ///< bytes read for each byte wanted
    unsigned scatteredVectors; ///< accesses of a kernel to short vectors that are many
    int64_t leastPiece;        ///< bytes of one run that is worth an access
    int64_t leastColumn;       ///< the same, of every n-th lane
    int64_t pieceRegister;     ///< so many bytes of a window weigh ...
    unsigned piecesPerRegister; ///< ... as much as so many runs
    int64_t structureElements;  ///< of a structure that is stored together
    size_t inMemoryOrder;       ///< instructions for a block's structures (memory_order.cpp)
    unsigned blending;          ///< operations on a register of a row that is blended and stored
    unsigned blended;           ///< elements of such a row, which is one vector in the compiler
    unsigned rowsOfGang;        ///< an access in so many rows is taken row by row
    unsigned guessedRegisters;  ///< of a kernel's accesses that are taken register by register
  } accesses;
  /// Read-modify-write (widen_atomics.cpp).
  struct Atomics {
    unsigned registers; ///< for operands of lanes that are taken ahead
    unsigned dense;     ///< one lane in so many active: all lanes run
    unsigned denseFrom; ///< in gangs of more lanes
  } atomics;
  /// How far analyses look; what lies beyond counts as unknown.
  struct Search {
    unsigned operands; ///< values behind an address or a condition
    unsigned users;    ///< of an index, on the way to a phi
    unsigned sums;     ///< levels of an address in the search for look-back
    unsigned lanes;    ///< levels of arithmetic on %laneid
    unsigned repeated; ///< levels of arithmetic that is done again before a guard
    unsigned early;    ///< levels of arithmetic that is done again before lanes part
    unsigned numbers;  ///< values behind an index that is made of the thread's number
    uint64_t
        sharedAccesses; ///< of `.shared` memory that are held against one before; in doubt beyond
    unsigned agreed;    ///< values that lanes are taken to agree on, all at once
    unsigned nested;    ///< bounds that cut off what others have
    unsigned walked;    ///< blocks that threads walk along which have returned
    unsigned clamped;   ///< indices that are cut off by bounds, of one version
    unsigned blocksBack, edgeSteps; ///< to a condition that tells a value; from it to what it makes
    unsigned matched;   ///< pairs of values of an unrolled loop and the loop of what is left
    unsigned halfSteps; ///< sums that an index goes through in the upper half of a register
  } search;
  /// Optimising and generating code (jit).
  struct Code {
    size_t large, huge; ///< instructions of a module from which on less is tried
    unsigned ways;      ///< that meet in a block; from more on InstCombine is left out
    unsigned freezes;   ///< of a function; more are nothing to InstCombine
    size_t wide;        ///< instructions of one thread, for gangs of more than a register
    unsigned inlined;   ///< instructions of a body that is copied into two entry points
    unsigned unrolled;  ///< instructions of a loop that may vanish by unrolling
    uint64_t lanesOften,
        lanesOnce;       ///< of gathers and scatters that are no calls, in and out of loops
    uint64_t seldom;     ///< what runs so many times less often than another is a call
    unsigned recomputed; ///< instructions on end that are done again behind a suspension
    size_t selected;     ///< instructions that are selected together
    uint64_t longBlock;  ///< machine instructions, or about that
    uint64_t fewSpills;  ///< not worth another order
    size_t shortStretch; ///< instructions that stay in their order
  } code;
};

extern const Limits kLimits;

} // namespace ptxrun::simt
