// tcgen05.ld, st and wait (PTX ISA 9.7.16.8): between tensor memory and the registers of a warp.
#include <cmath>
#include <cstring>

#include "intrinsics/matrix/tile.h"
#include "intrinsics/tensor_forms.h"
#include "rt/launch/worker.h"
#include "rt/tensor/tensor_memory.h"
#include "rt/tensor/tensor_queue.h"
#include "rt/tensor/tensor_state.h"
#include "rt/tensor/warp_registers.h"

namespace ptxrun::rt {

namespace {

using abi::TensorMoveForm;
using abi::TensorShape;

TensorShape shapeOf(const TensorMoveForm &form) { return static_cast<TensorShape>(form.shape); }

/// Where a thread's register is: the lane below the address's, the column in units of a register
/// (two columns of 16 bits where packed). The figures of 9.7.16.2.3.1.
struct Cell {
  uint32_t lane, column;
};
Cell cellOf(TensorShape shape, uint32_t i, uint32_t thread) {
  switch (shape) {
  case TensorShape::s32x32b:
    return {thread, i};
  case TensorShape::s16x64b:
    return {thread % 2 * 8 + thread / 4, thread / 2 % 2 + 2 * i};
  case TensorShape::s16x128b:
    return {thread / 4 + i % 2 * 8, thread % 4 + 4 * (i / 2)};
  case TensorShape::s16x256b:
    return {thread / 4 + i / 2 % 2 * 8, thread % 4 * 2 + i % 2 + 8 * (i / 4)};
  case TensorShape::s16x32bx2:
    return {thread % 16, i};
  }
  return {0, 0};
}

/// Columns of one lane that the instruction touches, of each half for 16x32bx2.
uint32_t columnsOf(const TensorMoveForm &form) {
  const uint32_t perRegister[] = {1, 2, 2, 2, 1}; // lanes' share: registers of a thread to columns
  const uint32_t columns = form.registers * perRegister[form.shape];
  return form.isPacked ? 2 * columns : columns;
}

/// One warp's move, checked: where it begins in tensor memory.
struct Move {
  TensorMoveForm form;
  TensorMemory *memory = nullptr;
  TensorAddress at{};

  uint32_t *cell(uint32_t i, uint32_t thread) const {
    const Cell c = cellOf(shapeOf(form), i, thread);
    uint32_t column = at.column + (form.isPacked ? 2 * c.column : c.column);
    if (shapeOf(form) == TensorShape::s16x32bx2 && thread >= 16)
      column += static_cast<uint32_t>(form.halfOffset);
    return &memory->cells[at.lane + c.lane][column];
  }
};

/// A warp has the quarter of the lanes that its number modulo 4 says (9.7.16.5, 9.7.16.8.1). The
/// lane of the address is in it, or counts from its beginning.
uint32_t checkLane(GangState &g, const char *instruction, const TensorMoveForm &form,
                   uint32_t lane) {
  const uint32_t own = g.warp % 4 * 32;
  if (lane >= TensorMemory::kLanes || (lane / 32 != 0 && lane / 32 * 32 != own))
    failTensor(g, instruction,
               "lane " + std::to_string(lane) + ", where the warp has lanes " +
                   std::to_string(own) + " to " + std::to_string(own + 31));
  const uint32_t inQuarter = lane % 32;
  const bool isWhole = shapeOf(form) == TensorShape::s32x32b;
  if (inQuarter % (isWhole ? 32 : 16) != 0)
    failTensor(g, instruction,
               "lane " + std::to_string(lane) + " is not aligned to " + (isWhole ? "32" : "16"));
  return own + inQuarter;
}

Move checkMove(GangState &g, const char *instruction, const uint64_t *uniform) {
  Move m;
  m.form = abi::fromWord<TensorMoveForm>(uniform[0]);
  m.at = tensorAddress(static_cast<uint32_t>(uniform[1]));
  m.at.lane = checkLane(g, instruction, m.form, m.at.lane);
  const uint32_t columns = columnsOf(m.form);
  m.memory = &requireColumns(g, *g.cta, instruction, "an access", m.at.column, columns);
  if (shapeOf(m.form) == TensorShape::s16x32bx2)
    requireColumns(g, *g.cta, instruction, "an access",
                   m.at.column + static_cast<uint32_t>(m.form.halfOffset), columns);
  return m;
}

/// A lane's columns are a thread's registers: the move is a transposition.
bool isTransposition(const TensorMoveForm &form) {
  return shapeOf(form) == TensorShape::s32x32b && !form.isPacked && form.registers % 4 == 0;
}

void load(const Move &m, WarpRegisters rows) {
  if (isTransposition(m.form))
    return matrix::transposeFloats(reinterpret_cast<const float *>(m.cell(0, 0)),
                                   TensorMemory::kColumns, 32, m.form.registers,
                                   reinterpret_cast<float *>(rows), 32);
  for (uint32_t i = 0; i < m.form.registers; ++i)
    for (uint32_t thread = 0; thread < 32; ++thread) {
      const uint32_t *from = m.cell(i, thread);
      rows[i][thread] = m.form.isPacked ? (from[0] & 0xffff) | from[1] << 16 : from[0];
    }
}

void store(const Move &m, ConstWarpRegisters rows) {
  if (isTransposition(m.form))
    return matrix::transposeFloats(reinterpret_cast<const float *>(rows), 32, m.form.registers, 32,
                                   reinterpret_cast<float *>(m.cell(0, 0)), TensorMemory::kColumns);
  for (uint32_t i = 0; i < m.form.registers; ++i)
    for (uint32_t thread = 0; thread < 32; ++thread) {
      uint32_t *to = m.cell(i, thread);
      const uint32_t value = rows[i][thread];
      to[0] = m.form.isPacked ? value & 0xffff : value;
      if (m.form.isPacked)
        to[1] = value >> 16;
    }
}

float toFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// min or max as the instructions of that name have them (9.7.3.11): a number is preferred to NaN,
/// -0 is below +0; with .NaN any NaN gives the canonical one.
uint32_t reduceFloat(const TensorMoveForm &form, uint32_t a, uint32_t b) {
  constexpr uint32_t kNan = 0x7fffffff;
  const float x = toFloat(a), y = toFloat(b);
  if (std::isnan(x) || std::isnan(y)) {
    if (form.keepsNan || (std::isnan(x) && std::isnan(y)))
      return kNan;
    return std::isnan(x) ? b : a;
  }
  // As integers that are ordered as the floats are, -0 before +0.
  const auto ordered = [](uint32_t bits) {
    const auto n = static_cast<int32_t>(bits);
    return n < 0 ? static_cast<int32_t>(~bits ^ 0x80000000u) : n;
  };
  const bool isMinimum = form.reduction == static_cast<uint64_t>(abi::TensorReduction::minimum);
  return (ordered(a) < ordered(b)) == isMinimum ? a : b;
}

uint32_t reduceInteger(const TensorMoveForm &form, uint32_t a, uint32_t b) {
  const bool isMinimum = form.reduction == static_cast<uint64_t>(abi::TensorReduction::minimum);
  const bool isBelow = form.isSigned ? static_cast<int32_t>(a) < static_cast<int32_t>(b) : a < b;
  return isBelow == isMinimum ? a : b;
}

/// .red: over the registers of each thread.
void reduce(const TensorMoveForm &form, ConstWarpRegisters rows, uint32_t *result) {
  for (uint32_t thread = 0; thread < 32; ++thread) {
    const auto term = [&](uint32_t i) {
      return form.takesMagnitude ? rows[i][thread] & 0x7fffffff : rows[i][thread];
    };
    uint32_t value = term(0);
    if (form.isFloat && std::isnan(toFloat(value)))
      value = 0x7fffffff;
    for (uint32_t i = 1; i < form.registers; ++i)
      value =
          form.isFloat ? reduceFloat(form, value, term(i)) : reduceInteger(form, value, term(i));
    result[thread] = value;
  }
}

struct Store : TensorOperation {
  Move move;
  uint32_t registers[128][32];
  std::unique_ptr<TensorOperation> copy() const override { return copyOf(*this); }
  void perform(GangState &) override { store(move, registers); }
};

} // namespace
} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

void ptxrun_tcgen05_ld(abi::Gang *gang, uint32_t, const uint64_t *uniform, const uint64_t *parts,
                       uint32_t lanes) {
  GangState &g = stateOf(gang);
  finishRun(g);
  const Move m = checkMove(g, "tcgen05.ld", uniform);
  const auto count = static_cast<unsigned>(m.form.registers);
  HandedRegisters handed(tensorStateOf(g).registers, parts, lanes);
  WarpRegisters rows = handed.rows(count + 1, 0);
  load(m, rows);
  if (m.form.reduction)
    reduce(m.form, rows, rows[count]);
  handed.store(count + (m.form.reduction != 0));
}

void ptxrun_tcgen05_st(abi::Gang *gang, uint32_t, const uint64_t *uniform, const uint64_t *parts,
                       uint32_t lanes) {
  GangState &g = stateOf(gang);
  finishRun(g);
  const Move m = checkMove(g, "tcgen05.st", uniform);
  HandedRegisters handed(tensorStateOf(g).registers, parts, lanes);
  const auto count = static_cast<unsigned>(m.form.registers);
  WarpRegisters rows = handed.rows(count, count);
  if (isTensorEager(g))
    return store(m, rows);
  auto kept = std::make_unique<Store>();
  kept->move = m;
  kept->isStore = true;
  std::memcpy(kept->registers, rows, m.form.registers * sizeof rows[0]);
  keepTensorOperation(g, std::move(kept));
}

void ptxrun_tcgen05_wait_st(abi::Gang *gang, uint32_t, const uint64_t *, const uint64_t *,
                            uint32_t) {
  performTensorStores(stateOf(gang));
}
}
