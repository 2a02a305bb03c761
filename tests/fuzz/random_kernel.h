// Random kernels with a host oracle: a kernel is a tree of statements, written as PTX and run by a
// small interpreter. What is drawn is what has gone wrong before and what users write: accesses of
// every shape (consecutive, strided, uniform, wrapping, clamped, exchanged, structures stored whole
// and in part, twice), values that cross blocks, loops whose rounds differ between threads, calls
// that are not inlined, blocks that are no multiple of any gang. A result never depends on the
// order of threads.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ptxrun::fuzz {

/// Where a 32-bit number comes from.
struct Source {
  enum Kind : uint8_t { reg, constant, thread, global, block, parameter } kind = reg;
  uint32_t value = 0; ///< number of the register, or the constant
};

struct Condition {
  enum Kind : uint8_t { bitsOf, below, belowSigned, equal, predicate } kind = bitsOf;
  Source a, b;
  unsigned number = 0; ///< predicate: which; bitsOf: the mask
  bool isNegated = false;
};

struct Statement {
  enum Kind : uint8_t {
    arithmetic, ///< r[to] = a op b
    wide,       ///< r[to] = both halves of a * b + c, or of three operations on a number of 64 bits
    floating,   ///< r[to] = a short float computation on a, b
    setPredicate,
    parts,  ///< r[to] = each half, or byte, of a and b by itself
    select, ///< r[to] = condition ? a : b
    loadInput,
    loadTiled,   ///< a word of the input, found by a quotient and a remainder of the thread's index
    loadClamped, ///< neighbouring words of the input, by indices that are cut off or go round
    storeOwn,    ///< elements of the thread's structure of 16 words
    loadOwn,
    mapOwn,      ///< elements of the structure, computed with b as `parts`, to others of it
    storeNarrow, ///< 1, 2 or 8 bytes of the thread's structure
    loadNarrow,  ///< 1, 2 or 8 bytes, zero- or sign-extended, of the structure or the input
    storeRow,    ///< word `constant` of a structure of arrays
    loadRow,
    storeWrapped, ///< a place found by an index of 16 bits that wraps between threads
    loadWrapped,
    storeGuarded, ///< a 32-bit index that wraps, behind a test that only some pass
    atomic,
    localStore,
    localLoad,
    call,     ///< r[to] = recursive function of a, b
    exchange, ///< through shared memory, between two barriers, of the threads that are still there
    shuffle,  ///< r[to] ^= of another thread of the warp, or votes; whole warps only
    choice,   ///< if (condition) body else other
    loop,
    leave, ///< if (condition) break
    finish ///< if (condition) exit
  } kind = arithmetic;
  unsigned operation = 0, to = 0, count = 1, form = 0;
  uint32_t constant = 0;
  Source a, b, c;
  Condition condition;
  std::array<Source, 4> elements{};
  std::vector<Statement> body, other;

  /// Of a loop: a thread leaves it in every other round only, as b says which. So the only way out
  /// lies behind a condition.
  bool isLeftInTurns() const { return operation >= 11; }

  /// Of wide: three operations on %tid.x, a, or a with its sign, one after the other.
  bool isChain() const { return form >= 3; }
  enum WideOperation : uint8_t {
    inverse,
    differing,
    added,
    takenFrom,
    left,
    right,
    common,
    either
  };
  WideOperation wideOperation(unsigned n) const {
    if (form == 3 && n == 0)
      return constant % 2 ? inverse : differing;
    return WideOperation((operation + 5 * constant + 3 * n + (constant >> n)) % 8);
  }
  uint64_t wideConstant(unsigned n) const {
    const uint64_t low = constant + 1 + n;
    switch ((operation + n) % 4) {
    case 0:
      return low;
    case 1:
      return low << 32;
    case 2:
      return ~low;
    default:
      return uint64_t{1} << 63 | low;
    }
  }

  /// Of mapOwn: the same, but that the elements are those which it writes.
  Statement mapped() const {
    Statement to = *this;
    to.constant += 8;
    return to;
  }

  /// Of parts: their bits; which part of a meets the nth of b; and what becomes of both.
  unsigned partBits() const { return form % 2 == 0 ? 16 : 8; }
  unsigned partOfA(unsigned n) const { return constant % 5 == 0 ? 32 / partBits() - 1 - n : n; }
  enum PartOperation : uint8_t { sum, difference, product, minimum, exclusive, choiceOfTwo };
  PartOperation partOperation(unsigned n) const {
    return PartOperation((operation + (constant % 7 == 0 && n == 0)) % 6);
  }
};

/// How an index is taken apart, of loadTiled: as numbers with a sign or without, by a power of two
/// or what the launch says.
struct Tiling {
  bool isSigned, isByPower;
  uint32_t start, divisor; ///< added to the thread's index; divides it
};

class RandomKernel {
 public:
  explicit RandomKernel(uint64_t seed);

  uint32_t grid() const { return grid_; }
  std::array<uint32_t, 3> block() const { return block_; }
  uint32_t parameter() const { return parameter_; }
  /// Threads end in the middle of divergent control, and others meet at a barrier: where that is
  /// entangled, gangs of one lane are right.
  bool mayNeedThreads() const { return sharedStart_ != SharedStart::none; }
  std::string text() const;
  /// 32-bit words of memory before the launch; the kernel `k` takes their address and parameter().
  std::vector<uint32_t> memory() const;
  /// What they must be afterwards.
  std::vector<uint32_t> expected() const;

 private:
  friend class Writer;
  friend class Interpreter;
  /// Divisors are the launch's parameter, cut off and odd: from 1 on.
  static constexpr uint32_t divisorMask(const Statement &s) {
    return (1u << (s.operation + 1)) - 1;
  }
  Tiling tiling(const Statement &) const;
  uint32_t blockThreads() const { return block_[0] * block_[1]; }
  uint32_t threads() const { return grid_ * blockThreads(); }
  // Regions of the memory, in words.
  static constexpr uint32_t kOwnWords = 16, kRows = 6, kCounters = 64, kWrappedWords = 1 << 16;
  uint32_t ownAt() const { return kCounters; }
  uint32_t rowsAt() const { return ownAt() + threads() * kOwnWords; }
  uint32_t inputAt() const { return rowsAt() + threads() * kRows; }
  uint32_t inputWords() const { return 8 * threads() + 1024; }
  uint32_t guardedAt() const { return inputAt() + inputWords(); }
  uint32_t wrappedAt() const { return guardedAt() + threads(); }
  uint32_t allWords() const { return wrappedAt() + kWrappedWords; }

  uint64_t seed_;
  uint32_t grid_ = 1, parameter_ = 0;
  uint32_t wrapStart_ = 0; ///< index of thread 0 in the wrapped region, and of guarded stores
  std::array<uint32_t, 3> block_{};
  /// Words of shared memory are filled before anything else, with a barrier behind it or without:
  /// threads that end leave theirs as it was.
  enum class SharedStart : uint8_t { none, filled, filledAndMet } sharedStart_ = SharedStart::none;
  static uint32_t startOfShared(uint32_t tid) { return tid * 40503u + 9; }
  /// Threads are numbered along y first, as no warp is: there are no operations of warps, and
  /// nothing whose order somebody might see.
  bool countsAlongY_ = false;
  std::vector<Statement> body_;
};

} // namespace ptxrun::fuzz
