// tcgen05.cp and tcgen05.shift (PTX ISA 9.7.16.9).
#include <cstring>

#include "intrinsics/tensor_forms.h"
#include "rt/launch/worker.h"
#include "rt/tensor/shared_matrix.h"
#include "rt/tensor/tensor_memory.h"
#include "rt/tensor/tensor_queue.h"

namespace ptxrun::rt {

namespace {

using abi::TensorCopyFormat;
using abi::TensorCopyShape;

constexpr const char *kCopy = "tcgen05.cp", *kShift = "tcgen05.shift";

struct Shape {
  unsigned rows, bytes;
};
Shape shapeOf(TensorCopyShape shape) {
  switch (shape) {
  case TensorCopyShape::s128x256b:
    return {128, 32};
  case TensorCopyShape::s4x256b:
    return {4, 32};
  case TensorCopyShape::s128x128b:
    return {128, 16};
  case TensorCopyShape::s64x128b02:
  case TensorCopyShape::s64x128b01:
    return {64, 16};
  case TensorCopyShape::s32x128b:
    return {32, 16};
  }
  return {0, 0};
}

/// The lanes that receive row `row`: the first, and how many more, how far apart. 4x256b: one lane
/// of each quarter.
struct Lanes {
  unsigned first, count, step;
};
Lanes lanesOf(TensorCopyShape shape, unsigned row) {
  switch (shape) {
  case TensorCopyShape::s4x256b:
    return {32 * row, 1, 0};
  case TensorCopyShape::s64x128b02: // warps 0 and 2 have the first half, 1 and 3 the second
    return {row, 2, 64};
  case TensorCopyShape::s64x128b01: // warps 0 and 1 have the first half, 2 and 3 the second
    return {row % 32 + row / 32 * 64, 2, 32};
  case TensorCopyShape::s32x128b:
    return {row, 4, 32};
  default:
    return {row, 1, 0};
  }
}

void copyInto(GangState &g, CtaState &cta, abi::TensorCopyForm form, TensorAddress at,
              uint64_t descriptor) {
  const auto shape = static_cast<TensorCopyShape>(form.shape);
  const Shape size = shapeOf(shape);
  TensorMemory &memory =
      requireColumns(g, cta, kCopy, "the destination", at.column, size.bytes / 4);
  const char *error = nullptr;
  SharedMatrix source = describeForTensorCore(descriptor, cta.window, &error);
  if (error)
    failTensor(g, kCopy, std::string("the matrix descriptor: ") + error);
  source.packedBits = form.format == static_cast<uint64_t>(TensorCopyFormat::b6)   ? 6
                      : form.format == static_cast<uint64_t>(TensorCopyFormat::b4) ? 4
                                                                                   : 0;
  char rows[128 * 32];
  {
    GuestAccess access(*groupOf(g).worker);
    readRowsAlongK(source, 0, size.rows, size.bytes, rows, size.bytes);
  }
  for (unsigned row = 0; row < size.rows; ++row) {
    const Lanes lanes = lanesOf(shape, row);
    for (unsigned i = 0; i < lanes.count; ++i)
      std::memcpy(
          &memory.cells[(at.lane + lanes.first + i * lanes.step) % TensorMemory::kLanes][at.column],
          rows + row * size.bytes, size.bytes);
  }
}

struct Copy : TensorOperation {
  abi::TensorCopyForm form;
  TensorAddress at{};
  uint64_t descriptor = 0;
  std::unique_ptr<TensorOperation> copy() const override { return copyOf(*this); }
  void perform(GangState &g) override {
    copyInto(g, *g.cta, form, at, descriptor);
    if (form.isPair)
      copyInto(g, peerOf(g, kCopy), form, at, descriptor);
  }
};

/// 32 bytes of each of 32 lanes go one lane down; the first lane keeps its own.
void shiftIn(GangState &g, CtaState &cta, TensorAddress at) {
  constexpr unsigned kColumns = 8, kRows = 32;
  TensorMemory &memory = requireColumns(g, cta, kShift, "the matrix", at.column, kColumns);
  for (unsigned row = kRows - 1; row > 0; --row)
    std::memcpy(&memory.cells[at.lane + row][at.column],
                &memory.cells[at.lane + row - 1][at.column], kColumns * sizeof(uint32_t));
}

struct Shift : TensorOperation {
  TensorAddress at{};
  bool isPair = false;
  std::unique_ptr<TensorOperation> copy() const override { return copyOf(*this); }
  void perform(GangState &g) override {
    shiftIn(g, *g.cta, at);
    if (isPair)
      shiftIn(g, peerOf(g, kShift), at);
  }
};

} // namespace
} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

void ptxrun_tcgen05_cp(abi::Gang *gang, uint32_t, uint64_t form, uint32_t address,
                       uint64_t descriptor) {
  GangState &g = stateOf(gang);
  Copy o;
  o.form = abi::fromWord<abi::TensorCopyForm>(form);
  o.at = tensorAddress(address);
  o.descriptor = descriptor;
  if (o.at.lane % 32 != 0 || o.at.lane >= TensorMemory::kLanes)
    failTensor(g, kCopy, "lane " + std::to_string(o.at.lane) + " of the address");
  submitTensorOperation(g, o);
}

void ptxrun_tcgen05_shift(abi::Gang *gang, uint32_t, uint32_t isPair, uint32_t address) {
  GangState &g = stateOf(gang);
  Shift o;
  o.at = tensorAddress(address);
  o.isPair = isPair != 0;
  if (o.at.lane % 32 != 0 || o.at.lane >= TensorMemory::kLanes)
    failTensor(g, kShift, "lane " + std::to_string(o.at.lane) + " is not aligned to 32");
  submitTensorOperation(g, o);
}
}
