// Entry points of wgmma (PTX ISA 9.7.15).
#include <algorithm>
#include <cstring>
#include <new>

#include "rt/launch/failure.h"
#include "rt/launch/worker.h"
#include "rt/tensor/late_products.h"
#include "rt/tensor/tensor_state.h"

namespace ptxrun::rt {

namespace {

/// uniform: (form, {a, b, hasInput} of each product, ...), as lowering writes them.
WgmmaOperands operandsOf(GangState &g, const uint64_t *uniform) {
  WgmmaOperands o;
  o.form = abi::fromWord<abi::WgmmaForm>(uniform[0]);
  for (unsigned i = 0; i < o.form.products(); ++i) {
    o.a[i] = uniform[1 + 3 * i];
    o.b[i] = uniform[2 + 3 * i];
    o.first = uniform[3 + 3 * i] ? o.first : i;
  }
  o.hasInput = uniform[3 + 3 * o.first] != 0;
  o.warp = g.warp % 4;
  o.window = g.cta->window;
  return o;
}

WarpgroupTiles &warpgroupOf(GangState &g) {
  std::unique_ptr<WarpgroupTiles> &w = tensorStateOf(g).warpgroups[g.warp / 4];
  if (!w)
    w = std::make_unique<WarpgroupTiles>();
  return *w;
}

void multiply(GangState &g, const WgmmaOperands &o, uint64_t number, WarpRegisters d) {
  TensorScratch &scratch = tensorScratchOf(g);
  WarpgroupTiles &warpgroup = warpgroupOf(g);
  WgmmaTiles &tiles = warpgroup.at(number);
  if (const uint64_t form = abi::toWord(o.form);
      tiles.number != number || tiles.form != form || tiles.a != o.a[0] || tiles.b != o.b[0]) {
    warpgroup.begin(tiles);
    GuestAccess access(*groupOf(g).worker);
    readTiles(o, scratch, tiles);
    tiles.form = form;
    tiles.a = o.a[0];
    tiles.b = o.b[0];
    tiles.number = number;
  }
  multiplyWarp(o, tiles, scratch, d);
  warpgroup.use(tiles);
}

LateProducts &lateProductsOf(GangState &g) {
  std::unique_ptr<LateProducts> &p = tensorStateOf(g).products[g.warp];
  if (!p)
    p = std::make_unique<LateProducts>();
  return *p;
}

WarpRegisters registerOf(LateProducts &late, uint16_t number) {
  if (late.registers.size() < (number + 1u) * 32)
    late.registers.resize((number + 1u) * 32);
  return reinterpret_cast<WarpRegisters>(&late.registers[number * 32u]);
}

void perform(GangState &g, LateProducts &late, LateProduct &p) {
  const unsigned count = p.operands.form.registersD();
  uint32_t d[128][32], a[4][32];
  for (unsigned i = 0; i < count; ++i)
    std::memcpy(d[i], registerOf(late, p.numbers[i]), sizeof d[i]);
  for (unsigned i = 0; p.operands.form.hasRegistersA && i < 4; ++i)
    std::memcpy(a[i], registerOf(late, p.numbers[count + i]), sizeof a[i]);
  WgmmaOperands o = p.operands;
  o.registersA = a;
  o.metadata = p.metadata;
  multiply(g, o, p.number, d);
  for (unsigned i = 0; i < count; ++i)
    std::memcpy(registerOf(late, p.numbers[i]), d[i], sizeof d[i]);
  p.isDone = true;
}

/// Performs what belongs to groups before `end`, in order.
void performUntil(GangState &g, LateProducts &late, uint64_t end) {
  for (LateProduct &p : late.pending)
    if (!p.isDone && p.group < end)
      perform(g, late, p);
}

bool isByChanceNow(GangState &g) {
  Worker &worker = *groupOf(g).worker;
  return worker.launch->request->asyncCopies == AsyncCopies::seeded && worker.random.below(2) == 0;
}

} // namespace
} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

void ptxrun_wgmma(abi::Gang *gang, uint32_t, const uint64_t *uniform, const uint64_t *parts,
                  uint32_t lanes) {
  GangState &g = stateOf(gang);
  WgmmaOperands o = operandsOf(g, uniform);
  const unsigned registers = o.form.registersD();
  HandedRegisters handed(tensorStateOf(g).registers, parts, lanes);
  const unsigned registersA = o.form.hasRegistersA ? 4 * o.form.products() : 0;
  const unsigned inputs = registers + registersA + o.form.isSparse;
  WarpRegisters d = handed.rows(inputs, inputs);
  o.registersA = d + registers;
  o.metadata = d[registers + registersA];
  multiply(g, o, warpgroupOf(g).next(o.warp, o.form.products()), d);
  handed.store(registers);
}

void ptxrun_wgmma_fence(abi::Gang *gang, uint32_t, const uint64_t *uniform, const uint64_t *parts,
                        uint32_t lanes) {
  GangState &g = stateOf(gang);
  LateProducts &late = lateProductsOf(g);
  HandedRegisters handed(tensorStateOf(g).registers, parts, lanes);
  const auto count = static_cast<unsigned>(uniform[0]);
  WarpRegisters rows = handed.rows(count, count);
  // Accumulators of products that are pending keep what those will make of them.
  std::vector<bool> isPending(count);
  for (const LateProduct &p : late.pending)
    for (unsigned i = 0; i < p.operands.form.registersD(); ++i)
      isPending[p.numbers[i]] = true;
  for (unsigned i = 0; i < count; ++i)
    if (!isPending[i])
      std::memcpy(registerOf(late, static_cast<uint16_t>(i)), rows[i], sizeof rows[i]);
}

void ptxrun_wgmma_late(abi::Gang *gang, uint32_t, const uint64_t *uniform, const uint64_t *parts,
                       uint32_t lanes) {
  GangState &g = stateOf(gang);
  LateProducts &late = lateProductsOf(g);
  LateProduct p;
  p.operands = operandsOf(g, uniform);
  p.group = late.groups;
  p.number = warpgroupOf(g).next(p.operands.warp);
  const unsigned count = p.operands.form.registersD() + (p.operands.form.hasRegistersA ? 4 : 0);
  std::memcpy(p.numbers, uniform + 4, count * sizeof(uint16_t));
  HandedRegisters handed(tensorStateOf(g).registers, parts, lanes);
  std::memcpy(p.metadata, handed.rows(1, 1), sizeof p.metadata);
  late.pending.push_back(p);
  if (isByChanceNow(g))
    performUntil(g, late, late.groups + 1);
}

void ptxrun_wgmma_commit(abi::Gang *gang, uint32_t, const uint64_t *, const uint64_t *, uint32_t) {
  ++lateProductsOf(stateOf(gang)).groups;
}

void ptxrun_wgmma_wait(abi::Gang *gang, uint32_t, const uint64_t *uniform, const uint64_t *parts,
                       uint32_t lanes) {
  GangState &g = stateOf(gang);
  LateProducts &late = lateProductsOf(g);
  const uint64_t end = late.groups - std::min(late.groups, uniform[0]);
  performUntil(g, late, end);
  HandedRegisters handed(tensorStateOf(g).registers, parts, lanes);
  const auto count = static_cast<unsigned>(uniform[1]);
  WarpRegisters rows = handed.rows(count, count);
  for (const LateProduct &p : late.pending)
    for (unsigned i = 0; p.group < end && i < p.operands.form.registersD(); ++i)
      std::memcpy(rows[p.numbers[i]], registerOf(late, p.numbers[i]), sizeof rows[0]);
  std::erase_if(late.pending, [&](const LateProduct &p) { return p.group < end; });
  handed.store(count);
}
}
