// Exact instructions against the model: special values in all combinations, all values of 16-bit
// sources, random bits.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <map>

#include "tests/numerics/model.h"
#include "tests/numerics/samples.h"

namespace ptxrun::numerics {
namespace {

constexpr size_t kPerKernel = 32;

uint64_t valueAt(const Bytes &bytes, const Field &field, size_t i) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + i * field.bytes(), field.bytes());
  return value;
}

std::string describe(const Listed &one, const uint64_t *operands, uint64_t actual,
                     const Expected &expected, unsigned part) {
  char text[64];
  std::string line = one.instruction.mnemonic;
  for (size_t j = 0; j < one.sources.size(); ++j) {
    std::snprintf(text, sizeof text, " 0x%llx", static_cast<unsigned long long>(operands[j]));
    line += text;
  }
  std::snprintf(text, sizeof text, ", element %u: 0x%llx, not ", part,
                static_cast<unsigned long long>(actual));
  line += text;
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(expected.bits));
  return line + (expected.isNaN ? "NaN" : text);
}

void compare(const Listed &one, const Model &model, const Samples &samples, const Bytes &results) {
  const Field &field = one.instruction.results[0];
  size_t wrong = 0;
  for (size_t i = 0; i < samples.count; ++i) {
    uint64_t operands[4] = {};
    for (size_t j = 0; j < one.sources.size(); ++j)
      operands[j] = valueAt(samples.sources[j], one.instruction.sources[j], i);
    const uint64_t result = valueAt(results, field, i);
    for (unsigned part = 0; part < model.parts(); ++part) {
      const unsigned bits = model.partBits();
      const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1,
                     actual = result >> (part * bits) & mask;
      const Expected expected = model.result(operands, part);
      if (expected.isNaN ? model.isResultNaN(actual) : actual == expected.bits)
        continue;
      if (++wrong <= 3)
        ADD_FAILURE() << describe(one, operands, actual, expected, part);
    }
  }
  if (wrong > 3)
    ADD_FAILURE() << one.instruction.mnemonic << ": " << wrong << " of " << samples.count
                  << " are wrong";
}

/// Instructions of these sections; returns how many were compared.
size_t compareAll(std::initializer_list<std::string_view> sections) {
  std::map<std::string, std::vector<Listed>> groups;
  for (Listed &one : floatInstructions()) {
    bool isMeant = false;
    for (const std::string_view section : sections)
      isMeant |= one.form->section.starts_with(section);
    if (!isMeant || !Model(one).isKnown())
      continue;
    std::string key;
    for (const isa::Type type : one.sources)
      key += std::string(isa::spelling(type)) + " ";
    groups[key].push_back(std::move(one));
  }
  size_t count = 0;
  for (const auto &[key, group] : groups) {
    const Samples samples =
        samplesFor(group[0].sources, group[0].instruction.sources, NaNs::anywhere);
    for (size_t first = 0; first < group.size(); first += kPerKernel) {
      const std::span<const Listed> batch =
          std::span(group).subspan(first, std::min(kPerKernel, group.size() - first));
      std::vector<Instruction> instructions;
      for (const Listed &one : batch)
        instructions.push_back(one.instruction);
      const std::vector<Bytes> results =
          ArrayRun(kNewestHeader, instructions).run(samples.sources, samples.count, 0);
      for (size_t i = 0; i < batch.size(); ++i)
        compare(batch[i], Model(batch[i]), samples, results[i]);
      count += batch.size();
    }
  }
  return count;
}

TEST(ExactInstructions, RoundOnceInSingleAndDoublePrecision) {
  EXPECT_GT(compareAll({"9.7.3."}), 100u);
}
TEST(ExactInstructions, RoundOnceInHalfPrecision) {
  EXPECT_GT(compareAll({"9.7.4.", "9.7.5."}), 100u);
}
TEST(ExactInstructions, ConvertWithOneRounding) { EXPECT_GT(compareAll({"9.7.9.21"}), 300u); }

} // namespace
} // namespace ptxrun::numerics
