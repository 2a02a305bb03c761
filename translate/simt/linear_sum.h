// Addresses and indices taken apart into sums: the one place that looks through their arithmetic.
#pragma once
#include <llvm/Analysis/LoopInfo.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ptxrun::simt {

/// value * times + ... + constant, modulo 2^width of what it is the sum of.
struct LinearSum {
  using Terms = std::vector<std::pair<const llvm::Value *, int64_t>>;
  /// Each value once, times no zero; in the order in which they were met.
  Terms terms;
  int64_t constant = 0;
  unsigned cancelled = 0; ///< values that were met, and are not among the terms

  /// The terms in an order of their own, to tell whether sums differ by a constant only.
  Terms key() const;
  void add(const llvm::Value *value, int64_t times);
  void add(const LinearSum &, int64_t times);
};

/// Of factors and constants, as they are modulo 2^64.
inline int64_t total(int64_t x, int64_t y) { return int64_t(uint64_t(x) + uint64_t(y)); }
inline int64_t minus(int64_t x, int64_t y) { return int64_t(uint64_t(x) - uint64_t(y)); }
inline int64_t product(int64_t x, int64_t y) { return int64_t(uint64_t(x) * uint64_t(y)); }

/// What extensions of narrow sums are. `through` is right only where such a sum does not wrap.
enum class Extensions { terms, through };

/// `isTerm`: what is not taken apart; constants and phis never are, nor what is too long (cost.h).
LinearSum sumOf(const llvm::Value *, Extensions = Extensions::terms,
                llvm::function_ref<bool(const llvm::Value *)> isTerm = nullptr);

/// What each round of the loop adds to the sum, in terms that the loop leaves alone; nothing where
/// it does something else.
std::optional<LinearSum> movePerRound(const LinearSum &, const llvm::Loop &);
/// The same where it is a constant.
std::optional<int64_t> stepPerRound(const LinearSum &, const llvm::Loop &);

/// Bytes of `.shared` memory from `begin` up to `end`.
struct Bytes {
  int64_t begin, end;
};
/// Where accesses of `bytes` bytes at an address in `.shared` memory lie, whatever its terms are;
/// nothing where a number in it may be large enough for it to wrap. `block`: its threads along each
/// axis, 0 where that is not known.
std::optional<Bytes> bytesWithin(const LinearSum &address, int64_t bytes, const llvm::DataLayout &,
                                 const std::array<uint32_t, 3> &block = {});

} // namespace ptxrun::simt
