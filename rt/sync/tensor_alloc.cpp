// tcgen05.alloc, dealloc, relinquish_alloc_permit (PTX ISA 9.7.16.7.1).
#include <algorithm>
#include <bit>
#include <cstring>

#include "rt/launch/suspend.h"
#include "rt/sync/lockstep.h"
#include "rt/tensor/tensor_memory.h"
#include "rt/tensor/tensor_queue.h"
#include "rt/tensor/tensor_state.h"

namespace ptxrun::rt {

namespace {

constexpr const char *kAlloc = "tcgen05.alloc";
constexpr const char *kDealloc = "tcgen05.dealloc";

/// The first free columns, as a unit's number, in memory of which `taken` is not free; -1: none.
int firstFree(uint32_t taken, uint32_t units) {
  const uint32_t wanted = (1u << units) - 1;
  for (uint32_t at = 0; at + units <= TensorMemory::kUnits; ++at)
    if (!(taken >> at & wanted))
      return static_cast<int>(at);
  return -1;
}

void give(const AllocationRequest &request, TensorMemory &memory, uint32_t unit) {
  const uint32_t units = request.columns / TensorMemory::kUnit;
  memory.taken |= ((1u << units) - 1) << unit;
  memory.unitsFrom[unit] = static_cast<uint8_t>(units);
  const uint32_t column = unit * TensorMemory::kUnit;
  for (auto &lane : memory.cells) // the same contents whichever CTA was here before
    std::memset(lane + column, 0, request.columns * sizeof(uint32_t));
  {
    GuestAccess access(*groupOf(*request.gang).worker);
    std::memcpy(request.to, &column, sizeof column);
  }
}

/// The request is met: its gang goes on.
void finish(AllocationRequest &request) {
  GroupState &group = groupOf(*request.gang);
  ++group.progress;
  if (request.isSuspended)
    makeReady(group, *request.gang);
}

/// The first request of a CTA, null where there is none.
AllocationRequest *firstRequest(CtaState &cta) {
  return cta.tensor && !cta.tensor->requests.empty() ? &cta.tensor->requests.front() : nullptr;
}

void popRequest(CtaState &cta) {
  auto &requests = cta.tensor->requests;
  requests.erase(requests.begin());
}

bool meetSingle(CtaState &cta, AllocationRequest &request) {
  TensorMemory &memory = tensorMemoryOf(*request.gang, cta);
  const int unit = firstFree(memory.taken, request.columns / TensorMemory::kUnit);
  if (unit < 0)
    return false;
  give(request, memory, static_cast<uint32_t>(unit));
  finish(request);
  popRequest(cta);
  return true;
}

/// .cta_group::2: both CTAs of the pair ask, and get the same columns.
bool meetPair(CtaState &cta, AllocationRequest &request) {
  CtaState &peer = peerOf(*request.gang, kAlloc);
  AllocationRequest *other = firstRequest(peer);
  if (!other || !other->isPair)
    return false;
  if (other->columns != request.columns)
    failTensor(*request.gang, kAlloc,
               "the blocks of a pair ask for " + std::to_string(request.columns) + " and " +
                   std::to_string(other->columns) + " columns");
  TensorMemory &own = tensorMemoryOf(*request.gang, cta);
  TensorMemory &others = tensorMemoryOf(*request.gang, peer);
  const int unit = firstFree(own.taken | others.taken, request.columns / TensorMemory::kUnit);
  if (unit < 0)
    return false;
  give(request, own, static_cast<uint32_t>(unit));
  give(*other, others, static_cast<uint32_t>(unit));
  finish(request);
  finish(*other);
  popRequest(cta);
  popRequest(peer);
  return true;
}

/// Meets the CTA's requests, in their order, as far as there are columns.
void meetRequests(CtaState &cta) {
  while (AllocationRequest *request = firstRequest(cta))
    if (!(request->isPair ? meetPair(cta, *request) : meetSingle(cta, *request)))
      return;
}

bool isWaiting(const CtaState &cta, const GangState &g) {
  return std::any_of(cta.tensor->requests.begin(), cta.tensor->requests.end(),
                     [&](const AllocationRequest &r) { return r.gang == &g; });
}

void checkCount(GangState &g, const char *instruction, uint64_t columns) {
  if (columns < TensorMemory::kUnit || columns > TensorMemory::kColumns ||
      !std::has_single_bit(columns))
    failTensor(g, instruction,
               std::to_string(columns) + " columns: it takes a power of two from 32 to 512");
}

bool begin(GangState &g, const uint64_t *uniform) {
  checkCount(g, kAlloc, uniform[1]);
  CtaState &cta = *g.cta;
  if (tensorMemoryOf(g, cta).isGivenUp)
    failTensor(g, kAlloc, "the block has given up the right to allocate (relinquish_alloc_permit)");
  AllocationRequest request;
  request.gang = &g;
  request.isPair = uniform[0] != 0;
  request.columns = static_cast<uint32_t>(uniform[1]);
  request.to = reinterpret_cast<uint32_t *>(uniform[2]);
  if (request.isPair)
    peerOf(g, kAlloc);
  cta.tensor->requests.push_back(request);
  meetRequests(cta);
  if (!isWaiting(cta, g))
    return false;
  leaveLockstep(g);
  cta.tensor->requests.back().isSuspended = true;
  g.wait = WaitKind::tensorMemory;
  return true;
}

} // namespace

} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

void ptxrun_tcgen05_alloc(abi::Gang *gang, uint32_t, const uint64_t *uniform, const uint64_t *,
                          uint32_t) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  if (begin(stateOf(gang), uniform))
    suspendGang(stateOf(gang));
}

bool ptxrun_tcgen05_alloc_begin(abi::Gang *gang, uint32_t, const uint64_t *uniform,
                                const uint64_t *, uint32_t) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  return begin(stateOf(gang), uniform);
}

void ptxrun_tcgen05_dealloc(abi::Gang *gang, uint32_t, const uint64_t *uniform, const uint64_t *,
                            uint32_t) {
  GangState &g = stateOf(gang);
  checkCount(g, kDealloc, uniform[1]);
  finishRun(g);
  performTensorOperations(g, ~uint64_t{0});
  TensorMemory &memory = tensorMemoryOf(g, *g.cta);
  const TensorAddress at = tensorAddress(static_cast<uint32_t>(uniform[2]));
  const uint32_t unit = at.column / TensorMemory::kUnit;
  const auto units = static_cast<uint32_t>(uniform[1]) / TensorMemory::kUnit;
  if (at.lane != 0 || at.column % TensorMemory::kUnit || unit >= TensorMemory::kUnits ||
      memory.unitsFrom[unit] != units)
    failTensor(g, kDealloc,
               "no allocation of " + std::to_string(uniform[1]) + " columns begins at column " +
                   std::to_string(at.column));
  memory.taken &= ~(((1u << units) - 1) << unit);
  memory.unitsFrom[unit] = 0;
  ++groupOf(g).progress;
  meetRequests(*g.cta);
  if (uniform[0])
    meetRequests(peerOf(g, kDealloc));
}

void ptxrun_tcgen05_relinquish(abi::Gang *gang, uint32_t, const uint64_t *, const uint64_t *,
                               uint32_t) {
  GangState &g = stateOf(gang);
  tensorMemoryOf(g, *g.cta).isGivenUp = true;
}
}
