#include "rt/tensor/instruction_descriptor.h"

namespace ptxrun::rt {

using abi::TensorKind;
using matrix::Element;

namespace {

uint32_t bitsAt(uint32_t word, unsigned from, unsigned count) {
  return word >> from & ((1u << count) - 1);
}

bool isScaled(TensorKind kind) { return kind >= TensorKind::mxf8f6f4; }
bool isFourBit(TensorKind kind) { return kind >= TensorKind::mxf4; }

/// Tables 42 to 44: the types of A and B by their numbers; false where there is no such type.
bool readFactor(TensorKind kind, uint32_t number, Element &element) {
  constexpr Element kNarrow[] = {Element::e4m3, Element::e5m2, Element::s32,
                                 Element::e2m3, Element::e3m2, Element::e2m1};
  switch (kind) {
  case TensorKind::f16:
    element = number ? Element::bf16 : Element::f16;
    return number < 2;
  case TensorKind::tf32:
    element = Element::tf32;
    return number == 2;
  case TensorKind::i8:
    element = number ? Element::s8 : Element::u8;
    return number < 2;
  case TensorKind::f8f6f4:
  case TensorKind::mxf8f6f4:
    if (number > 5 || number == 2)
      return false;
    element = kNarrow[number];
    return true;
  default:
    element = Element::e2m1;
    return number == 1;
  }
}

bool readResult(TensorKind kind, uint32_t number, Element &element) {
  if (isScaled(kind)) {
    element = Element::f32;
    return number == 0 || number == 1; // no field there
  }
  element = number == 0 ? Element::f16 : number == 1 ? Element::f32 : Element::s32;
  if (kind == TensorKind::i8)
    return number == 2;
  return number == 1 || (kind == TensorKind::f16 && number == 0);
}

unsigned denseK(TensorKind kind) {
  switch (kind) {
  case TensorKind::f16:
    return 16;
  case TensorKind::tf32:
    return 8;
  case TensorKind::mxf4:
  case TensorKind::mxf4nvf4:
    return 64;
  default:
    return 32;
  }
}

/// Table 39: M and N.
bool isShape(abi::TensorMmaForm form, TensorKind kind, const TensorMma &r) {
  if (form.isStationary)
    return (r.m == 32 || r.m == 64 || r.m == 128) &&
           (r.n == 64 || r.n == 128 || (r.n == 256 && !form.isSparse));
  const unsigned smallM = isScaled(kind) ? 128 : form.isPair ? 128 : 64;
  const bool isM = r.m == smallM || r.m == (form.isPair ? 256u : 128u);
  if (form.isPair && isScaled(kind) && form.isSparse && r.m != 256)
    return false;
  if (!isM || r.n == 0 || r.n > 256)
    return false;
  if (kind == TensorKind::i8)
    return form.isPair ? r.n % 32 == 0
           : r.n <= 32 ? r.n == 8 || r.n == 16 || r.n == 24 || r.n == 32
                       : r.n % 16 == 0;
  return r.n % (form.isPair ? 16 : 8) == 0;
}

std::string shapeText(const TensorMma &r) {
  return "M = " + std::to_string(r.m) + " and N = " + std::to_string(r.n);
}

/// Table 42.
void readPlain(uint32_t d, TensorMma &r) {
  r.selector = bitsAt(d, 0, 2);
  r.saturates = bitsAt(d, 3, 1) != 0;
  r.m = bitsAt(d, 24, 5) << 4;
}

/// Tables 43 and 44.
void readScaled(uint32_t d, TensorMma &r) {
  r.scaleIdB = bitsAt(d, 4, 2);
  r.scaleIdA = bitsAt(d, 29, 2);
  r.scale = bitsAt(d, 23, 1) ? Element::ue8m0 : Element::ue4m3;
  r.m = bitsAt(d, 27, 2) << 7;
}

std::string readScales(abi::TensorMmaForm form, TensorKind kind, const TensorMma &r) {
  if (r.scale == Element::ue4m3 && kind != TensorKind::mxf4nvf4)
    return "scales of type ue4m3 need .kind::mxf4nvf4";
  if (r.scale == Element::ue8m0 && form.scaleBlock == 16 && kind != TensorKind::mxf4nvf4)
    return "a scale for every 16 elements needs .kind::mxf4nvf4";
  if (isFourBit(kind) && (r.scaleIdA % 2 || r.scaleIdB % 2))
    return "the scale factor data ID is neither 0 nor 2";
  return {};
}

} // namespace

std::string readInstruction(abi::TensorMmaForm form, uint32_t d, TensorMma &r) {
  const auto kind = static_cast<TensorKind>(form.kind);
  if (isScaled(kind))
    readScaled(d, r);
  else
    readPlain(d, r);
  const unsigned bitsOfB = isFourBit(kind) ? 2 : 3;
  if (!readFactor(kind, bitsAt(d, 7, 3), r.a) || !readFactor(kind, bitsAt(d, 10, bitsOfB), r.b))
    return "the type of A or B is none of the kind's";
  if (!readResult(kind, isScaled(kind) ? 1 : bitsAt(d, 4, 2), r.d))
    return "the type of D is none of the kind's";
  if ((bitsAt(d, 2, 1) != 0) != (form.isSparse != 0))
    return form.isSparse ? "its sparsity bit is not set" : "its sparsity bit is set";
  r.negatesA = bitsAt(d, 13, 1) != 0;
  r.negatesB = bitsAt(d, 14, 1) != 0;
  r.isTransposedA = bitsAt(d, 15, 1) != 0;
  r.isTransposedB = bitsAt(d, 16, 1) != 0;
  r.n = bitsAt(d, 17, 6) << 3;
  r.isByteEach = kind == TensorKind::f8f6f4 || kind == TensorKind::mxf8f6f4;
  if (kind == TensorKind::i8 && (r.negatesA || r.negatesB))
    return "integers cannot be negated";
  if (isFourBit(kind) && (r.isTransposedA || r.isTransposedB))
    return "4-bit matrices cannot be transposed";
  r.compressedK = denseK(kind);
  if (isFourBit(kind) && bitsAt(d, 31, 1)) {
    if (form.isSparse || !form.isPair || r.m != 256)
      return "K = 96 needs dense A, .cta_group::2 and M = 256";
    r.compressedK = 96;
  }
  r.k = form.isSparse ? 2 * r.compressedK : r.compressedK;
  if (!isShape(form, kind, r))
    return shapeText(r) + ", a shape that the kind does not have";
  return isScaled(kind) ? readScales(form, kind, r) : std::string();
}

} // namespace ptxrun::rt
