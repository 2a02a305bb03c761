#include "tests/numerics/measure.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "tests/numerics/special.h"
#include "translate/isa/candidates.h"
#include "translate/isa/pattern.h"

namespace ptxrun::numerics {
namespace {

constexpr size_t kChunk = size_t{1} << 16;

std::string hex(uint64_t value, unsigned bits) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%0*llx", int(bits / 4),
                static_cast<unsigned long long>(value));
  return text;
}

/// The notation of the form that takes the mnemonic with so many sources.
std::string formOf(std::string_view mnemonic, unsigned sources) {
  const isa::Spelling spelled = isa::splitOpcode(mnemonic);
  std::vector<isa::Token> tokens;
  for (const isa::Spelling::Modifier &one : spelled.modifiers)
    tokens.push_back(one.token);
  for (const uint16_t index : isa::formsOf(spelled.opcode)) {
    const isa::Form &form = isa::forms()[index];
    const isa::Pattern &pattern = isa::patternOf(form);
    isa::Assignment assignment;
    if (pattern.until == 0 && isa::operandsOf(pattern).size() == sources + 1 &&
        isa::assign(pattern, tokens, assignment))
      return std::string(form.notation);
  }
  throw std::runtime_error("no form for " + std::string(mnemonic));
}

/// Feeds an instruction chunk by chunk. Whatever `fill` writes into a and b is measured; it returns
/// how many elements, a multiple of ArrayRun::kBlock but for the last chunk, and 0 at the end.
class Feed {
 public:
  explicit Feed(std::span<const Approximation> twins)
      : twins_(twins), run_(".version 9.0\n.target sm_90\n", instructionsOf(twins)),
        width_(twins[0].instruction().sources[0].bytes()),
        sources_(twins[0].arity(), Bytes(kChunk * width_)) {
    for (const Approximation &one : twins)
      worst_.emplace_back(one.ranges.size());
  }

  template <class Fill> void run(Fill fill) {
    Bytes &second = sources_.size() == 2 ? sources_[1] : unused_;
    while (size_t count = fill(sources_[0], second)) {
      const size_t padded = (count + ArrayRun::kBlock - 1) / ArrayRun::kBlock * ArrayRun::kBlock;
      run_.run(sources_, padded, 0, results_);
      measure(twins_, sources_[0], second, results_, count, worst_);
    }
  }
  const std::vector<std::vector<Worst>> &worst() const { return worst_; }
  unsigned width() const { return width_; }

 private:
  static std::vector<Instruction> instructionsOf(std::span<const Approximation> twins) {
    std::vector<Instruction> all;
    for (const Approximation &one : twins)
      all.push_back(one.instruction());
    return all;
  }

  std::span<const Approximation> twins_;
  ArrayRun run_;
  unsigned width_;
  std::vector<Bytes> sources_, results_;
  Bytes unused_;
  std::vector<std::vector<Worst>> worst_;
};

/// A sequence of well-mixed 64-bit numbers (splitmix64).
uint64_t mixed(uint64_t n) {
  uint64_t z = n * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

void put(Bytes &bytes, unsigned width, size_t i, uint64_t value) {
  std::memcpy(bytes.data() + i * width, &value, width);
}

/// Every step-th pattern below `limit`.
void feedPatterns(Feed &feed, uint64_t limit, uint64_t step) {
  uint64_t next = 0;
  feed.run([&](Bytes &a, Bytes &) {
    size_t i = 0;
    if (feed.width() == 4)
      for (auto *words = reinterpret_cast<uint32_t *>(a.data()); i < kChunk && next < limit;
           ++i, next += step)
        words[i] = static_cast<uint32_t>(next);
    else
      for (; i < kChunk && next < limit; ++i, next += step)
        put(a, feed.width(), i, next);
    return i;
  });
}

void feedSpecial(Feed &feed, const Approximation &one) {
  const std::vector<uint64_t> values = specialValues(one.bits());
  size_t next = 0, count = one.arity() == 2 ? values.size() * values.size() : values.size();
  feed.run([&](Bytes &a, Bytes &b) {
    size_t i = 0;
    for (; i < kChunk && next < count; ++i, ++next) {
      put(a, feed.width(), i, values[next % values.size()]);
      if (one.arity() == 2)
        put(b, feed.width(), i, values[next / values.size()]);
    }
    return i;
  });
}

void feedRandom(Feed &feed, const Approximation &one, uint64_t samples) {
  uint64_t next = 0;
  feed.run([&](Bytes &a, Bytes &b) {
    size_t i = 0;
    for (; i < kChunk && next < samples; ++i, ++next) {
      const uint64_t bits = mixed(next + 1);
      put(a, feed.width(), i, bits);
      if (one.arity() == 2)
        put(b, feed.width(), i, bits >> 32);
    }
    return i;
  });
}

/// Both halves of a packed operand take every value, each with another one beside it.
void feedPairs(Feed &feed) {
  uint32_t next = 0;
  feed.run([&](Bytes &a, Bytes &) {
    size_t i = 0;
    for (; i < kChunk && next < 65536; ++i, ++next)
      put(a, 4, i, next | ((next * 40503u + 1) & 0xffff) << 16);
    return i;
  });
}

Row rowOf(const Approximation &one, const Range &range, const Worst &worst, bool isAll) {
  Row row;
  row.form = formOf(one.mnemonic, one.arity());
  row.mnemonic = one.mnemonic;
  row.range = range.text;
  row.inputs = (isAll ? "all " : "") + std::to_string(worst.inputs);
  row.unit = unitText(range.unit);
  row.bound = range.bound;
  row.worst =
      std::isinf(worst.error) ? worst.error : exactError(one, range.unit, worst.at, worst.result);
  row.at = hex(worst.at[0], one.bits());
  if (one.arity() == 2)
    row.at += "," + hex(worst.at[1], one.bits());
  row.result = hex(worst.result, one.bits());
  return row;
}

} // namespace

std::vector<Row> measureTwins(std::span<const Approximation> twins, const Extent &extent) {
  Feed feed(twins);
  const Approximation &first = twins[0];
  bool isAll = false;
  if (first.isPacked()) {
    feedPairs(feed);
    isAll = true;
  } else if (first.bits() == 16) {
    feedPatterns(feed, 65536, 1);
    isAll = true;
  } else if (first.arity() == 1 && first.bits() == 32) {
    feedPatterns(feed, uint64_t{1} << 32, extent.step);
    isAll = extent.step == 1;
  } else {
    feedRandom(feed, first, extent.samples);
  }
  if (!isAll)
    feedSpecial(feed, first);

  std::vector<Row> rows;
  for (size_t t = 0; t < twins.size(); ++t)
    for (size_t r = 0; r < twins[t].ranges.size(); ++r)
      rows.push_back(rowOf(twins[t], twins[t].ranges[r], feed.worst()[t][r], isAll));
  return rows;
}

std::vector<std::span<const Approximation>> allTwins() {
  const std::span<const Approximation> all = approximations();
  std::vector<std::span<const Approximation>> twins;
  for (size_t first = 0, next; first < all.size(); first = next) {
    next = first + 1;
    while (next < all.size() && all[next].function == all[first].function &&
           all[next].format == all[first].format && all[next].arity() == all[first].arity() &&
           !all[next - 1].flushes && all[next].flushes && !all[next].isUpperWord)
      ++next;
    twins.push_back(all.subspan(first, next - first));
  }
  return twins;
}

std::string writeRows(const std::vector<Row> &rows, std::string_view date,
                      std::string_view commit) {
  std::string text =
      "form\tinstruction\trange\tinputs\tunit\tbound\tworst\tat\tresult\tdate\tcommit\n";
  for (const Row &row : rows) {
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "%.6g\t%.6g", row.bound, row.worst);
    text += row.form + "\t" + row.mnemonic + "\t" + row.range + "\t" + row.inputs + "\t" +
            row.unit + "\t" + numbers + "\t" + row.at + "\t" + row.result + "\t" +
            std::string(date) + "\t" + std::string(commit) + "\n";
  }
  return text;
}

std::vector<Row> readRows(const std::string &path) {
  std::ifstream file(path);
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> fields;
    std::stringstream stream(line);
    for (std::string field; std::getline(stream, field, '\t');)
      fields.push_back(field);
    if (fields.size() != 11)
      throw std::runtime_error(path + ": a line does not have 11 columns");
    rows.push_back({fields[0], fields[1], fields[2], fields[3], fields[4], std::stod(fields[5]),
                    std::stod(fields[6]), fields[7], fields[8]});
  }
  return rows;
}

} // namespace ptxrun::numerics
