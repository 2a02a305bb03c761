// What random kernels are made of.
#include <random>

#include "tests/fuzz/random_kernel.h"

namespace ptxrun::fuzz {
namespace {

constexpr unsigned kRegisters = 6, kPredicates = 2;

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}
  void setThreads(uint32_t n, bool countsAlongY) {
    hasWholeWarps_ = n % 32 == 0 && !countsAlongY;
    isInAnyOrder_ = countsAlongY;
  }

  void leaveOutBarriers() { hasBarriers_ = false; }

  unsigned below(unsigned n) { return unsigned(random_() % n); }
  bool oneIn(unsigned n) { return below(n) == 0; }
  uint32_t word() { return uint32_t(random_()); }

  Source source() {
    switch (below(8)) {
    case 0:
      return {Source::constant, oneIn(2) ? below(40) : word()};
    case 1:
      return {Source::thread, 0};
    case 2:
      return {Source::global, 0};
    case 3:
      return {oneIn(2) ? Source::block : Source::parameter, 0};
    default:
      return {Source::reg, below(kRegisters)};
    }
  }

  Condition condition() {
    Condition c;
    c.kind = Condition::Kind(below(5));
    c.a = source();
    c.b = source();
    c.number = c.kind == Condition::predicate ? below(kPredicates)
                                              : (1u << below(6)) | (oneIn(2) ? 1u << below(6) : 0);
    if (oneIn(3)) { // by place, as guards are
      c.kind = Condition::below;
      c.a = {oneIn(2) ? Source::thread : Source::global, 0};
      c.b = oneIn(3) ? Source{Source::parameter, 0} : Source{Source::constant, below(80)};
    }
    c.isNegated = oneIn(3);
    return c;
  }

  /// `loops`: loops around, `isTop`: all threads of the block come here.
  std::vector<Statement> list(unsigned depth, unsigned loops, bool isTop, bool mayFinish) {
    std::vector<Statement> all;
    for (unsigned n = (isTop ? 3 : 1) + below(isTop ? 6 : 3); n-- > 0;)
      all.push_back(statement(depth, loops, isTop, mayFinish));
    return all;
  }

  /// if (place >= bound) return; as kernels begin.
  Statement guard(uint32_t threads) {
    Statement s;
    s.kind = Statement::finish;
    s.condition = condition();
    if (!oneIn(4)) {
      const bool isOfBlock = oneIn(3);
      s.condition.kind = Condition::below;
      s.condition.a = {isOfBlock ? Source::thread : Source::global, 0};
      s.condition.b = {Source::constant, oneIn(6) ? below(2) : below(threads + 4)};
      if (oneIn(4))
        s.condition.b = {Source::parameter, 0};
      s.condition.isNegated = !oneIn(8);
    }
    return s;
  }

 private:
  Statement statement(unsigned depth, unsigned loops, bool isTop, bool mayFinish) {
    using S = Statement;
    constexpr S::Kind kPlain[] = {
        S::arithmetic,   S::arithmetic,   S::arithmetic,   S::wide,        S::floating,
        S::select,       S::setPredicate, S::loadInput,    S::loadInput,   S::storeOwn,
        S::storeOwn,     S::storeOwn,     S::loadOwn,      S::storeRow,    S::storeRow,
        S::loadRow,      S::storeWrapped, S::storeWrapped, S::loadWrapped, S::storeGuarded,
        S::storeGuarded, S::atomic,       S::localStore,   S::localLoad,   S::call,
        S::storeNarrow,  S::storeNarrow,  S::loadNarrow,   S::loadNarrow,  S::parts,
        S::parts,        S::mapOwn,       S::loadTiled,    S::loadTiled,   S::loadClamped,
        S::loadClamped};
    S s;
    s.kind = kPlain[below(std::size(kPlain))];
    if (depth > 0 && oneIn(3))
      s.kind = oneIn(2) ? S::choice : S::loop;
    else if (loops > 0 && oneIn(8))
      s.kind = S::leave;
    else if (mayFinish && oneIn(24))
      s.kind = S::finish;
    else if (isTop && hasBarriers_ && oneIn(mayFinish ? 3 : 6))
      s.kind = hasWholeWarps_ && !mayFinish && oneIn(2) ? S::shuffle : S::exchange;
    // Rows are what makes lanes go along y.
    if (isInAnyOrder_ && (s.kind == S::atomic || s.kind == S::finish || s.kind == S::storeOwn))
      s.kind = oneIn(2) ? S::storeRow : S::loadRow;
    s.operation = below(16);
    s.to = below(kRegisters);
    s.count = 1u << below(3);
    s.form = below(6);
    s.constant = s.kind == S::arithmetic ? word() : below(64);
    s.a = source();
    s.b = source();
    s.c = source();
    s.condition = condition();
    for (Source &e : s.elements)
      e = source();
    if (s.kind == S::choice) {
      s.body = list(depth - 1, loops, false, mayFinish);
      if (oneIn(2))
        s.other = list(depth - 1, loops, false, mayFinish);
    } else if (s.kind == S::loop) {
      s.body = list(depth - 1, loops + 1, false, mayFinish);
    }
    return s;
  }

  std::mt19937_64 random_;
  bool hasWholeWarps_ = false, isInAnyOrder_ = false, hasBarriers_ = true;
};

} // namespace

RandomKernel::RandomKernel(uint64_t seed) : seed_(seed) {
  Draw draw(seed * 0x9e3779b97f4a7c15u + 1);
  constexpr std::array<uint32_t, 3> kBlocks[] = {
      {37, 1, 1}, {1, 1, 1},   {7, 5, 1},   {33, 1, 1}, {64, 1, 1}, {128, 1, 1}, {20, 4, 1},
      {16, 8, 1}, {8, 8, 1},   {100, 1, 1}, {5, 1, 1},  {24, 1, 1}, {32, 2, 1},  {17, 3, 1},
      {31, 1, 1}, {16, 5, 1},  {40, 1, 1},  {12, 1, 1}, {8, 3, 1},  {63, 1, 1},  {4, 32, 1},
      {3, 20, 1}, {256, 1, 1}, {32, 8, 1},  {64, 4, 1}};
  // Many small blocks that have nothing to do with each other: some of them are run as one.
  constexpr std::array<uint32_t, 3> kSmallBlocks[] = {{1, 1, 1}, {2, 1, 1},  {4, 1, 1}, {8, 1, 1},
                                                      {4, 4, 1}, {8, 3, 1},  {2, 8, 1}, {16, 1, 1},
                                                      {8, 8, 1}, {16, 4, 1}, {4, 9, 1}};
  const bool isOfSmallBlocks = seed % 8 == 5;
  // As most kernels are: a guard, many warps, no barrier.
  const bool isGuarded = draw.oneIn(6) || isOfSmallBlocks;
  block_ = kBlocks[draw.below(std::size(kBlocks))];
  while (isGuarded && (blockThreads() < 128 || blockThreads() % 32 != 0))
    block_ = kBlocks[draw.below(std::size(kBlocks))];
  grid_ = 1 + draw.below(3);
  if (isOfSmallBlocks) {
    block_ = kSmallBlocks[draw.below(std::size(kSmallBlocks))];
    const uint32_t blocksInARow = 32 / block_[0];
    grid_ = (blockThreads() < 32 ? 4 : 16) * blocksInARow + draw.below(2 * blocksInARow);
  }
  parameter_ = draw.oneIn(3) ? draw.below(200) : draw.word();
  wrapStart_ = 65536 - draw.below(2 * threads() + 2);
  countsAlongY_ = !isGuarded && block_[1] > 1 && draw.oneIn(3);
  draw.setThreads(blockThreads(), countsAlongY_);
  if (isGuarded) {
    draw.leaveOutBarriers();
    body_ = draw.list(2, 0, true, /*mayFinish=*/true);
    body_.insert(body_.begin(), draw.guard(threads()));
    return;
  }
  const bool mayFinish = draw.oneIn(3);
  body_ = draw.list(2 + draw.below(2), 0, true, mayFinish);
  if (!mayFinish || countsAlongY_)
    return;
  for (unsigned n = draw.below(3); n-- > 0;)
    body_.insert(body_.begin() + draw.below(unsigned(body_.size()) / 2 + 1), draw.guard(threads()));
  sharedStart_ = draw.oneIn(2) ? SharedStart::filled : SharedStart::filledAndMet;
}

Tiling RandomKernel::tiling(const Statement &s) const {
  const uint32_t starts[] = {0, 0, 64, 0u - threads() / 2, 0u - 37, 0x80000000u - threads() / 2};
  Tiling t{.isSigned = s.form != 0,
           .isByPower = s.form >= 3,
           .start = starts[s.constant % 6],
           .divisor = 0};
  t.divisor = t.isByPower ? 1u << (s.operation % 8) : (parameter_ & divisorMask(s)) | 1;
  return t;
}

std::vector<uint32_t> RandomKernel::memory() const {
  std::vector<uint32_t> words(allWords());
  std::mt19937 random(uint32_t(seed_ * 2654435761u + 7));
  for (uint32_t &w : words)
    w = uint32_t(random());
  return words;
}

} // namespace ptxrun::fuzz
