// What a random kernel computes: one statement after the other, at the top for all threads of a
// block at once.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "tests/fuzz/random_kernel.h"

namespace ptxrun::fuzz {
namespace {

enum class Flow { on, leaves, ends };

struct Thread {
  uint32_t tid, global, ctaid; // tid: linear in the block; global: of the grid
  std::array<uint32_t, 6> r{};
  std::array<bool, 2> p{};
  std::array<uint32_t, 8> local{};
  Flow flow = Flow::on;
};

uint32_t recursive(uint32_t a, uint32_t depth) {
  return depth == 0 ? a * 3 + 1 : recursive(a ^ depth, depth - 1) + a;
}

/// Of `wide`: numbers of 64 bits.
uint32_t chain(const Statement &s, uint32_t a) {
  uint64_t w = s.form == 5 ? uint64_t(int64_t(int32_t(a))) : a;
  for (unsigned n = 0; n < 3; ++n) {
    const uint64_t c = s.wideConstant(n), by = c % 40 + 1;
    switch (s.wideOperation(n)) {
    case Statement::inverse:
      w = ~w;
      break;
    case Statement::differing:
      w ^= c;
      break;
    case Statement::added:
      w += c;
      break;
    case Statement::takenFrom:
      w = c - w;
      break;
    case Statement::left:
      w <<= by;
      break;
    case Statement::right:
      w = s.constant % 2 ? uint64_t(int64_t(w) >> by) : w >> by;
      break;
    case Statement::common:
      w &= c;
      break;
    case Statement::either:
      w |= c;
      break;
    }
  }
  const uint64_t bound = s.wideConstant(3);
  const bool isBelow = s.operation % 2 ? int64_t(w) < int64_t(bound) : w < bound;
  return (uint32_t(w >> 32) ^ uint32_t(w)) + (isBelow ? 77 : 0);
}

uint32_t operate(unsigned operation, uint32_t a, uint32_t b, uint32_t constant) {
  switch (operation) {
  case 0:
    return a + b;
  case 1:
    return a - b;
  case 2:
    return a * b;
  case 3:
    return a & b;
  case 4:
    return a | b;
  case 5:
    return a ^ b;
  case 6:
    return a << (constant & 31);
  case 7:
    return a >> (constant & 31);
  case 8:
    return std::min(a, b);
  case 9:
    return uint32_t(std::max(int32_t(a), int32_t(b)));
  case 10:
    return a * b + constant;
  case 11:
    return a / (b | 1);
  case 12:
    return a % (b | 1);
  case 13:
    return uint32_t(std::popcount(a)) + b;
  case 14:
    return uint32_t(int32_t(a) >> (constant & 31));
  default:
    return a + constant;
  }
}

} // namespace

class Interpreter {
 public:
  Interpreter(const RandomKernel &kernel, std::vector<uint32_t> &memory)
      : k_(kernel), memory_(memory) {}

  void run() {
    for (uint32_t block = 0; block < k_.grid_; ++block) {
      std::vector<Thread> threads;
      for (uint32_t t = 0; t < k_.blockThreads(); ++t) {
        Thread thread{t, block * k_.blockThreads() + t, block};
        for (unsigned n = 0; n < thread.r.size(); ++n)
          thread.r[n] = (thread.global + 1) * 2654435761u >> 3 * n;
        threads.push_back(thread);
      }
      std::vector<uint32_t> shared(k_.blockThreads());
      for (uint32_t t = 0; t < shared.size(); ++t)
        shared[t] = RandomKernel::startOfShared(t);
      for (const Statement &s : k_.body_)
        if (s.kind == Statement::exchange)
          exchange(s, threads, shared);
        else if (s.kind == Statement::shuffle)
          shuffle(s, threads);
        else
          for (Thread &t : threads)
            if (t.flow == Flow::on)
              t.flow = one(s, t);
      for (Thread &t : threads)
        for (unsigned n = 0; n < 6 && t.flow != Flow::ends; ++n)
          memory_[k_.rowsAt() + n % RandomKernel::kRows * k_.threads() + t.global] ^= t.r[n];
    }
  }

 private:
  uint32_t value(const Source &s, const Thread &t) const {
    switch (s.kind) {
    case Source::reg:
      return t.r[s.value];
    case Source::constant:
      return s.value;
    case Source::thread:
      return t.tid;
    case Source::global:
      return t.global;
    case Source::block:
      return t.ctaid;
    case Source::parameter:
      return k_.parameter_;
    }
    return 0;
  }

  bool holds(const Condition &c, const Thread &t) const {
    const uint32_t a = value(c.a, t), b = value(c.b, t);
    bool is = false;
    switch (c.kind) {
    case Condition::bitsOf:
      is = (a & c.number) == 0;
      break;
    case Condition::below:
      is = a < b;
      break;
    case Condition::belowSigned:
      is = int32_t(a) < int32_t(b);
      break;
    case Condition::equal:
      is = a == b;
      break;
    case Condition::predicate:
      is = t.p[c.number];
      break;
    }
    return is != c.isNegated;
  }

  void exchange(const Statement &s, std::vector<Thread> &threads, std::vector<uint32_t> &shared) {
    const uint32_t n = uint32_t(threads.size());
    for (Thread &t : threads)
      if (t.flow == Flow::on)
        shared[t.tid] = value(s.a, t);
    for (Thread &t : threads)
      if (t.flow == Flow::on)
        t.r[s.to] ^= shared[(t.tid * (1 + s.form) + s.constant) % n];
  }

  void shuffle(const Statement &s, std::vector<Thread> &threads) {
    const std::vector<Thread> before = threads;
    for (Thread &t : threads) {
      const uint32_t warp = t.tid & ~31u, lane = t.tid & 31u;
      uint32_t from = lane, votes = 0;
      switch (s.form) {
      case 0:
        from = s.constant & 31;
        break;
      case 1:
        from = lane ^ (s.constant & 31);
        break;
      case 2:
        from = lane < (s.constant & 7) ? lane : lane - (s.constant & 7);
        break;
      case 3:
        from = value(s.b, t) & 31;
        break;
      default:
        for (uint32_t k = 0; k < 32; ++k)
          votes |= uint32_t(holds(s.condition, before[warp + k])) << k;
        t.r[s.to] ^= votes;
        continue;
      }
      t.r[s.to] ^= value(s.a, before[warp + from]);
    }
  }

  /// Of 1, 2 or 8 bytes, in bytes from the beginning of the memory.
  uint64_t narrowPlace(const Statement &s, const Thread &t) const {
    const uint64_t size = narrowSize(s);
    if (s.kind == Statement::storeNarrow || s.form % 2 == 0)
      return 4 * (k_.ownAt() + t.global * uint64_t(RandomKernel::kOwnWords)) +
             s.constant / size * size;
    return 4 * uint64_t(k_.inputAt()) + (t.global + s.constant) * size;
  }
  static uint64_t narrowSize(const Statement &s) {
    constexpr uint64_t kSizes[] = {1, 2, 8};
    return kSizes[s.operation % 3];
  }
  uint32_t narrow(const Statement &s, const Thread &t) const {
    const auto *at = reinterpret_cast<const char *>(memory_.data()) + narrowPlace(s, t);
    const bool isSigned = s.operation / 3 % 2 != 0;
    const auto load = [&]<class T>(T v) {
      std::memcpy(&v, at, sizeof v);
      return v;
    };
    switch (narrowSize(s)) {
    case 1:
      return isSigned ? uint32_t(load(int8_t())) : load(uint8_t());
    case 2:
      return isSigned ? uint32_t(load(int16_t())) : load(uint16_t());
    default:
      return uint32_t(load(uint64_t()) >> 32) ^ uint32_t(load(uint64_t()));
    }
  }

  Flow list(const std::vector<Statement> &all, Thread &t) {
    for (const Statement &s : all)
      if (Flow flow = one(s, t); flow != Flow::on)
        return flow;
    return Flow::on;
  }

  uint32_t inputIndex(const Statement &s, const Thread &t) const {
    switch (s.form) {
    case 0:
      return t.global + s.constant;
    case 1:
      return s.constant;
    case 2:
      return value(s.a, t) & 1023;
    case 3:
      return t.global * (1 + (s.constant & 7)) + (s.constant >> 3);
    case 4:
      return std::min(t.global + s.constant, k_.threads() - 1);
    default:
      return t.global ^ (s.constant & 31);
    }
  }

  /// Of neighbour `n`.
  uint32_t clampedIndex(const Statement &s, const Thread &t, unsigned n) const {
    const uint32_t last = k_.threads() - 1, at = t.global + s.constant + n;
    switch (s.form % 3) {
    case 0:
      return uint32_t(std::min(std::max(int32_t(at - 32), int32_t(s.constant % 5 % k_.threads())),
                               int32_t(last)));
    case 1:
      return std::min(at - 32, last);
    default:
      return at > last ? at - k_.threads() : at;
    }
  }

  uint32_t wrappedIndex(const Statement &s, const Thread &t) const {
    return s.form % 2 == 0 ? uint16_t(t.global + k_.wrapStart_)
                           : uint32_t(int32_t(int16_t(t.global + k_.wrapStart_ + 32768)) + 32768);
  }

  uint32_t tiledIndex(const Statement &s, const Thread &t) const {
    const Tiling tiling = k_.tiling(s);
    const uint32_t i = t.global + tiling.start, d = tiling.divisor;
    const uint32_t q = tiling.isSigned ? uint32_t(int32_t(i) / int32_t(d)) : i / d, r = i - q * d;
    return q % 16 * 64 + r % 64;
  }

  /// The first word of `count` elements of the thread's structure.
  uint32_t own(const Statement &s, const Thread &t) const {
    return k_.ownAt() + t.global * RandomKernel::kOwnWords + (s.constant & 15) / s.count * s.count;
  }

  uint32_t floating(uint32_t a, uint32_t b, unsigned operation) const {
    const float x = float(int32_t(a & 4095) - 2048), y = float(int32_t(b & 1023));
    const float z = operation % 3 == 0   ? x * y + 0.5f
                    : operation % 3 == 1 ? std::fmaf(x, y, 0.25f)
                                         : (x - y) / (y + 1.0f);
    return uint32_t(int32_t(z)) + std::bit_cast<uint32_t>(z);
  }

  static uint32_t parts(const Statement &s, uint32_t a, uint32_t b) {
    const unsigned bits = s.partBits();
    const uint32_t mask = (1u << bits) - 1;
    uint32_t all = 0;
    for (unsigned n = 0; n < 32 / bits; ++n) {
      const uint32_t x = a >> s.partOfA(n) * bits & mask, y = b >> n * bits & mask;
      uint32_t z = 0;
      switch (s.partOperation(n)) {
      case Statement::sum:
        z = x + y;
        break;
      case Statement::difference:
        z = x - y;
        break;
      case Statement::product:
        z = x * y;
        break;
      case Statement::minimum:
        z = std::min(x, y);
        break;
      case Statement::exclusive:
        z = x ^ y;
        break;
      case Statement::choiceOfTwo:
        z = x < y ? x : y + 3;
        break;
      }
      all |= (z & mask) << n * bits;
    }
    return all;
  }

  Flow one(const Statement &s, Thread &t) {
    using S = Statement;
    const uint32_t a = value(s.a, t), b = value(s.b, t);
    switch (s.kind) {
    case S::arithmetic:
      t.r[s.to] = operate(s.operation, a, b, s.constant);
      break;
    case S::wide: {
      if (s.isChain()) {
        const uint32_t x = k_.countsAlongY_ ? t.tid / k_.block_[1] : t.tid % k_.block_[0];
        t.r[s.to] = chain(s, s.form == 3 ? x : a);
        break;
      }
      const uint64_t w = uint64_t(a) * b + value(s.c, t);
      t.r[s.to] = uint32_t(w >> 32) ^ uint32_t(w);
      break;
    }
    case S::floating:
      t.r[s.to] = floating(a, b, s.operation);
      break;
    case S::parts:
      t.r[s.to] = parts(s, a, b);
      break;
    case S::setPredicate:
      t.p[s.to % 2] = holds(s.condition, t);
      break;
    case S::select:
      t.r[s.to] = holds(s.condition, t) ? a : b;
      break;
    case S::loadInput:
      t.r[s.to] ^= memory_[k_.inputAt() + inputIndex(s, t)];
      break;
    case S::loadTiled:
      t.r[s.to] += memory_[k_.inputAt() + tiledIndex(s, t)];
      break;
    case S::loadClamped: {
      uint32_t sum = 0;
      for (unsigned n = 0; n < 3; ++n)
        sum += memory_[k_.inputAt() + clampedIndex(s, t, n)] << n;
      t.r[s.to] ^= sum;
      break;
    }
    case S::storeOwn:
      for (unsigned n = 0; n < s.count; ++n)
        memory_[own(s, t) + n] = value(s.elements[n], t);
      break;
    case S::loadOwn: {
      uint32_t sum = 0;
      for (unsigned n = 0; n < s.count; ++n)
        sum += memory_[own(s, t) + n] << n;
      t.r[s.to] = sum;
      break;
    }
    case S::mapOwn: {
      std::array<uint32_t, 4> results{};
      for (unsigned n = 0; n < s.count; ++n)
        results[n] = parts(s, memory_[own(s, t) + n], b);
      std::copy_n(results.begin(), s.count, memory_.begin() + own(s.mapped(), t));
      break;
    }
    case S::storeNarrow: {
      const uint64_t both = uint64_t(a) << 32 | b;
      std::memcpy(reinterpret_cast<char *>(memory_.data()) + narrowPlace(s, t),
                  narrowSize(s) == 8 ? static_cast<const void *>(&both) : &a, narrowSize(s));
      break;
    }
    case S::loadNarrow:
      t.r[s.to] ^= narrow(s, t);
      break;
    case S::storeRow:
      memory_[row(s, t)] = a;
      break;
    case S::loadRow:
      t.r[s.to] += memory_[row(s, t)];
      break;
    case S::storeWrapped:
      memory_[k_.wrappedAt() + wrappedIndex(s, t)] = a;
      break;
    case S::loadWrapped:
      t.r[s.to] += memory_[k_.wrappedAt() + wrappedIndex(s, t)];
      break;
    case S::storeGuarded: {
      const uint32_t index = t.global + guardStart(s);
      if (index < k_.threads())
        memory_[k_.guardedAt() + index] = a;
      break;
    }
    case S::atomic:
      memory_[a % RandomKernel::kCounters] += s.operation % 2 ? 1 : b;
      break;
    case S::localStore:
      t.local[a & 7] = b;
      break;
    case S::localLoad:
      t.r[s.to] ^= t.local[a & 7];
      break;
    case S::call:
      t.r[s.to] = recursive(a, b & 3);
      break;
    case S::choice:
      return holds(s.condition, t) ? list(s.body, t) : list(s.other, t);
    case S::loop:
      for (uint32_t rounds = trips(s, t), n = 0; n < rounds;) {
        do {
          const Flow flow = list(s.body, t);
          if (flow == Flow::ends)
            return flow;
          if (flow == Flow::leaves)
            return Flow::on;
          t.r[s.to] += n++;
        } while (s.isLeftInTurns() && ((b + n) & 1) != 0);
      }
      break;
    case S::leave:
      return holds(s.condition, t) ? Flow::leaves : Flow::on;
    case S::finish:
      return holds(s.condition, t) ? Flow::ends : Flow::on;
    case S::exchange:
    case S::shuffle:
      break; // at the top only
    }
    return Flow::on;
  }

  uint32_t row(const Statement &s, const Thread &t) const {
    return k_.rowsAt() + s.constant % RandomKernel::kRows * k_.threads() + t.global;
  }
  /// Each thread has one place at most, the same at every guarded store.
  uint32_t guardStart(const Statement &) const { return 0u - k_.wrapStart_ % k_.threads(); }
  uint32_t trips(const Statement &s, const Thread &t) const {
    return s.form < 2   ? 1 + s.constant % 5
           : s.form < 4 ? (k_.parameter_ & 3) + 1
                        : (value(s.a, t) & 3) + s.constant % 2;
  }

  const RandomKernel &k_;
  std::vector<uint32_t> &memory_;
};

std::vector<uint32_t> RandomKernel::expected() const {
  std::vector<uint32_t> words = memory();
  Interpreter(*this, words).run();
  return words;
}

} // namespace ptxrun::fuzz
