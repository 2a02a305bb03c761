// Which element of a matrix which thread of a warp holds in which register, for mma (PTX ISA
// 9.7.14.5.1 to 9.7.14.5.13, the figures) and wmma.
//
// All layouts but that of m8n8k4 with f16 are one: a register has the elements of one row of A (or
// column of B) that follow each other in k; four neighbouring threads have 4 registers' worth of k;
// thread groups follow each other in rows (columns). wmma, whose layout the manual leaves open, has
// that of the mma it consists of on sm_80 and later; m8n32k16 is the transpose of m32n8k16.
#pragma once
#include "intrinsics/matrix/element.h"

namespace ptxrun::matrix {

inline constexpr unsigned kWarpLanes = 32;

enum class Role : uint8_t { a, b, accumulator };

struct Place {
  unsigned row, column; ///< of A: m, k; of B: k, n; of C and D: m, n
};

struct Fragment {
  Role role = Role::a;
  Element element = Element::f16;
  uint16_t m = 16, n = 8, k = 16; ///< with .sp: k of the compressed A where role is a
  bool isRowMajor = true;         ///< of A and B in m8n8k4 with f16, which depends on it
  uint8_t registers = 0;
  uint8_t perRegister = 1; ///< elements in a register

  /// m8n8k4 with f16: four products at once, of four threads each in both halves of the warp.
  bool isQuadPair() const {
    return m == 8 && n == 8 && k == 4 && (element == Element::f16 || element == Element::f32);
  }
  Place at(unsigned lane, unsigned index, unsigned part) const;
};

/// Bits that an element takes in a register: 8 for the formats of 6 and 4 bits outside mxf4 and
/// mxf4nvf4 (`isByteEach`).
constexpr unsigned registerBits(Element element, bool isByteEach) {
  return isByteEach && bitsOf(element) < 8 ? 8 : bitsOf(element);
}

constexpr Place transposed(Place p) { return {p.column, p.row}; }

/// m8n8k4 with f16 (9.7.14.5.1); the accumulators of f32 lie otherwise than those of f16.
constexpr Place quadPairPlace(const Fragment &f, unsigned lane, unsigned i) {
  const unsigned high = lane < 16 ? 0 : 4, inGroup = lane % 4;
  if (f.role == Role::accumulator && f.element != Element::f16)
    return {(lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)};
  if (f.role == Role::accumulator)
    return {inGroup + high, i};
  // A by rows and B by columns: four k of one row (column); otherwise four rows of one k.
  const bool isAlongK = f.isRowMajor == (f.role == Role::a);
  const Place p = isAlongK ? Place{inGroup + high, i} : Place{i + high, inGroup};
  return f.role == Role::a ? p : transposed(p);
}

inline Place Fragment::at(unsigned lane, unsigned index, unsigned part) const {
  if (isQuadPair())
    return quadPairPlace(*this, lane, index * perRegister + part);
  if (m == 8 && n == 32) { // the transpose of m32n8
    Fragment other = *this;
    other.role = role == Role::a ? Role::b : role == Role::b ? Role::a : role;
    other.m = 32;
    other.n = 8;
    return transposed(other.at(lane, index, part));
  }
  const unsigned group = lane / 4, inGroup = lane % 4;
  if (role == Role::accumulator) {
    const unsigned i = index * perRegister + part;
    const unsigned block = i / 4, inBlock = i % 4;
    const Place p = {group + 8 * (inBlock / 2), 2 * inGroup + inBlock % 2};
    return m == 32 ? Place{p.row + 16 * block, p.column} : Place{p.row, p.column + 8 * block};
  }
  const unsigned perStep = 4 * perRegister, steps = k / perStep;
  const unsigned halves = role == Role::a && m >= 16 ? 2 : 1;              // rows g and g + 8
  const unsigned real = index % (steps * ((role == Role::a ? m : n) / 8)); // wmma repeats f16
  const unsigned block = real / (steps * halves), inBlock = real % (steps * halves);
  const unsigned row = 8 * halves * block + group + 8 * (inBlock % halves);
  const unsigned column = inBlock / halves * perStep + inGroup * perRegister + part;
  return role == Role::a ? Place{row, column} : Place{column, row};
}

} // namespace ptxrun::matrix
