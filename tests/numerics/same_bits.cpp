// numerics_same_bits [FILE]: applies every floating-point instruction to special values and NaNs
// with payloads at W = 1, 8, 16 and 32, and fails where the widths differ. Writes a hash of each
// instruction's results to FILE, for comparison between CPU levels and tiers.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>

#include "tests/numerics/samples.h"

using namespace ptxrun;
using namespace ptxrun::numerics;

namespace {

constexpr size_t kPerKernel = 32;

uint64_t hashOf(const Bytes &bytes) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const uint8_t byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3ull;
  return hash;
}

std::string hexAt(const Bytes &bytes, size_t i, unsigned width) {
  std::string text = "0x";
  char digits[4];
  for (unsigned k = width; k-- > 0;)
    std::snprintf(digits, sizeof digits, "%02x", bytes[i * width + k]), text += digits;
  return text;
}

void report(const Instruction &one, const Samples &samples, const Bytes &expected,
            const Bytes &actual, unsigned width, unsigned lanes) {
  size_t different = 0, first = 0;
  for (size_t i = samples.count; i-- > 0;)
    if (std::memcmp(&expected[i * width], &actual[i * width], width) != 0)
      ++different, first = i;
  std::string operands;
  for (size_t j = 0; j < samples.sources.size(); ++j)
    operands += " " + hexAt(samples.sources[j], first, one.sources[j].bytes());
  std::printf("%s: W = %u differs from W = 1 %zu times of %zu:%s -> %s, not %s\n",
              one.mnemonic.c_str(), lanes, different, samples.count, operands.c_str(),
              hexAt(actual, first, width).c_str(), hexAt(expected, first, width).c_str());
}

} // namespace

int main(int argc, char **argv) {
  // Together what has the same operands.
  std::map<std::string, std::vector<Listed>> groups;
  for (Listed &one : floatInstructions()) {
    if (one.form->opcode.starts_with("set")) // comparisons give no NaN
      continue;
    std::string key;
    for (size_t j = 0; j < one.sources.size(); ++j)
      key += std::string(isa::spelling(one.sources[j])) + "x" +
             std::to_string(one.instruction.sources[j].count) + " ";
    groups[key].push_back(std::move(one));
  }
  std::string hashes;
  bool isSame = true;
  size_t count = 0;
  try {
    for (const auto &[key, group] : groups) {
      const bool hasDoubles = std::ranges::count(group[0].sources, isa::Type::f64) > 1;
      const Samples samples = samplesFor(group[0].sources, group[0].instruction.sources,
                                         hasDoubles ? NaNs::inOneOperand : NaNs::anywhere);
      for (size_t first = 0; first < group.size(); first += kPerKernel) {
        std::vector<Instruction> instructions;
        for (size_t i = first; i < std::min(group.size(), first + kPerKernel); ++i)
          instructions.push_back(group[i].instruction);
        count += instructions.size();
        const ArrayRun run(kNewestHeader, instructions);
        const std::vector<Bytes> expected = run.run(samples.sources, samples.count, 1);
        for (const unsigned lanes : {8u, 16u, 32u}) {
          const std::vector<Bytes> actual = run.run(samples.sources, samples.count, lanes);
          size_t next = 0;
          for (const Instruction &one : instructions)
            for (const Field &result : one.results) {
              if (expected[next] != actual[next])
                isSame = false,
                report(one, samples, expected[next], actual[next], result.bytes(), lanes);
              ++next;
            }
        }
        size_t next = 0;
        for (const Instruction &one : instructions)
          for (size_t r = 0; r < one.results.size(); ++r) {
            char line[32];
            std::snprintf(line, sizeof line, " %016llx\n",
                          static_cast<unsigned long long>(hashOf(expected[next++])));
            hashes += one.mnemonic + line;
          }
      }
    }
  } catch (const std::exception &failure) {
    std::printf("%s\n", failure.what());
    return 1;
  }
  std::printf("%zu instructions\n", count);
  if (argc > 1)
    std::ofstream(argv[1]) << hashes;
  return isSame ? 0 : 1;
}
