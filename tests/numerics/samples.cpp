#include "tests/numerics/samples.h"

#include <cstring>

#include "tests/numerics/special.h"

namespace ptxrun::numerics {
namespace {

uint64_t mixed(uint64_t n) {
  uint64_t z = n * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// Bits that are all set in infinities and NaNs; 0 for types without.
uint64_t exponentOf(isa::Type type) {
  switch (type) {
  case isa::Type::f16:
  case isa::Type::f16x2:
    return 0x7c00;
  case isa::Type::bf16:
  case isa::Type::bf16x2:
    return 0x7f80;
  case isa::Type::f32:
  case isa::Type::f32x2:
    return 0x7f800000;
  case isa::Type::f64:
    return 0x7ff0000000000000;
  default:
    return 0;
  }
}

/// Leaves the first NaN among the operands of each element and makes numbers of the others.
void keepOneNaN(const std::vector<isa::Type> &types, const std::vector<Field> &fields,
                Samples &samples) {
  const unsigned parts = fields[0].isPredicate ? 1 : fields[0].bytes() * 8 / elementBits(types[0]);
  for (size_t i = 0; i < samples.count; ++i)
    for (unsigned part = 0; part < parts; ++part) {
      bool hasNaN = false;
      for (size_t j = 0; j < types.size(); ++j) {
        const uint64_t exponent = exponentOf(types[j]);
        const unsigned width = elementBits(types[j]);
        if (exponent == 0 || fields[j].bytes() * 8 / width <= part)
          continue;
        uint8_t *place = samples.sources[j].data() + i * fields[j].bytes() + part * (width / 8);
        uint64_t value = 0;
        std::memcpy(&value, place, width / 8);
        const uint64_t magnitude = value & ~(uint64_t{1} << (width - 1));
        if (magnitude <= exponent)
          continue;
        if (hasNaN)
          value &= ~(exponent & (exponent << 1)), std::memcpy(place, &value, width / 8);
        hasNaN = true;
      }
    }
}

/// Values of one element.
std::vector<uint64_t> valuesOf(isa::Type type) {
  switch (type) {
  case isa::Type::bf16:
  case isa::Type::bf16x2:
    return specialValues(8, 7);
  case isa::Type::f16:
  case isa::Type::f16x2:
    return specialValues(5, 10);
  case isa::Type::f32:
  case isa::Type::f32x2:
    return specialValues(8, 23);
  case isa::Type::f64:
    return specialValues(11, 52);
  case isa::Type::pred:
    return {0, 1};
  default:
    break;
  }
  const unsigned bits = isa::bitWidth(type);
  const uint64_t top = uint64_t{1} << (bits - 1);
  std::vector<uint64_t> values = {0,       1,       2,           3,
                                  top - 1, top,     top + 1,     2 * (top - 1) + 1,
                                  top / 2, top / 3, top / 2 + 1, top + top / 2,
                                  top - 2};
  for (const unsigned digits :
       {7u, 10u, 23u, 52u}) // integers that lie between two numbers of a format, or at its end
    for (int64_t off = -1; off <= 1; ++off)
      for (const unsigned more : {1u, 2u, 5u})
        if (digits + more < bits)
          values.push_back((uint64_t{1} << (digits + more)) + (uint64_t{1} << (more - 1)) + off);
  return values;
}

} // namespace

unsigned elementBits(isa::Type type) {
  switch (type) {
  case isa::Type::f16x2:
  case isa::Type::bf16x2:
    return 16;
  case isa::Type::f32x2:
    return 32;
  default:
    return isa::bitWidth(type);
  }
}

Samples samplesFor(const std::vector<isa::Type> &types, const std::vector<Field> &fields,
                   NaNs nans) {
  std::vector<std::vector<uint64_t>> values;
  size_t floats = 0;
  for (const isa::Type type : types) {
    values.push_back(valuesOf(type));
    floats += type != isa::Type::pred && type != isa::Type::u32;
  }
  size_t combinations = 1;
  for (size_t j = 0; j < types.size(); ++j) {
    if (floats >= 3 && values[j].size() > 3) { // every third, both signs
      std::vector<uint64_t> fewer;
      for (size_t i = 0; i < values[j].size(); i += 3)
        fewer.push_back(values[j][i]);
      values[j] = std::move(fewer);
    }
    combinations *= values[j].size();
  }
  const bool isEvery =
      types.size() == 1 && isa::bitWidth(types[0]) <= 16 && types[0] != isa::Type::pred;
  if (isEvery) {
    values[0].clear();
    for (uint64_t bits = 0; bits < uint64_t{1} << isa::bitWidth(types[0]); ++bits)
      values[0].push_back(bits);
    combinations = values[0].size();
  }
  constexpr size_t kRandom = 4096;
  Samples samples;
  samples.count = (combinations + (isEvery ? 0 : kRandom) + ArrayRun::kBlock - 1) /
                  ArrayRun::kBlock * ArrayRun::kBlock;
  for (size_t j = 0; j < types.size(); ++j) {
    const Field &field = fields[j];
    Bytes bytes(samples.count * field.bytes());
    size_t before = 1;
    for (size_t k = 0; k < j; ++k)
      before *= values[k].size();
    const unsigned width = field.isPredicate ? 32 : elementBits(types[j]),
                   parts = field.bytes() * 8 / width;
    for (size_t i = 0; i < samples.count; ++i)
      for (unsigned part = 0; part < parts; ++part) {
        // Later elements of packed operands walk through the values in another order.
        const size_t place = i / before + part * (7 + j);
        const uint64_t value = i < combinations    ? values[j][place % values[j].size()]
                               : field.isPredicate ? mixed(i) & 1
                                                   : mixed(i * 8 + j * 2 + part);
        std::memcpy(bytes.data() + i * field.bytes() + part * (width / 8), &value, width / 8);
      }
    samples.sources.push_back(std::move(bytes));
  }
  if (nans == NaNs::inOneOperand)
    keepOneNaN(types, fields, samples);
  return samples;
}

} // namespace ptxrun::numerics
