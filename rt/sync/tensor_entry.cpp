// Entry points of tensor copies and tensormap.replace.
#include <algorithm>
#include <cstring>

#include "rt/launch/failure.h"
#include "rt/launch/worker.h"
#include "rt/sync/async_group.h"

namespace ptxrun::rt {

namespace {

[[noreturn]] void failTensor(GangState &g, const char *what) {
  recordFailure(g, Status::undefinedUse,
                std::string("tensor copy: ") + what + " in " + describeGang(g));
  leaveKernel(g);
}

TensorRequest makeRequest(GangState &g, const void *map, const int32_t *coordinates,
                          abi::TensorMode mode, const uint16_t *offsets, TensorDirection direction,
                          const void *shared, abi::ReduceOp op = abi::ReduceOp::add) {
  TensorRequest r;
  r.op = op;
  r.map = static_cast<const TensorMap *>(map);
  const auto given = static_cast<uint32_t>(mode);
  mode = static_cast<abi::TensorMode>(given & ((1u << abi::kTensorModeBits) - 1));
  r.mode = mode;
  r.direction = direction;
  r.shared = static_cast<char *>(const_cast<void *>(shared));
  const uint32_t count = given >> abi::kTensorModeBits;
  std::copy_n(coordinates, count ? std::min<uint32_t>(count, kMaxTensorRank) : kMaxTensorRank,
              r.coordinates);
  r.dimensions = mode == abi::TensorMode::tile4 ? 2 : count;
  bool hasOffsets = mode == abi::TensorMode::im2col || mode == abi::TensorMode::im2colW ||
                    mode == abi::TensorMode::im2colW128;
  if (hasOffsets && offsets)
    std::memcpy(r.offsets, offsets, sizeof r.offsets);
  const char *error = nullptr;
  {
    GuestAccess access(*groupOf(g).worker);
    error = checkTensorRequest(r);
  }
  if (error)
    failTensor(g, error);
  return r;
}

AsyncOperation makeOperation(const TensorRequest &r, uint32_t lane, void *mbarrier) {
  AsyncOperation o;
  o.kind = AsyncKind::tensor;
  o.lane = static_cast<uint8_t>(lane);
  o.isTracked = mbarrier == nullptr;
  o.bytes = static_cast<uint32_t>(tensorTransaction(r));
  o.tensor = r;
  o.mbarrier = static_cast<uint64_t *>(mbarrier);
  return o;
}

void storeTensor(abi::Gang *gang, uint32_t lane, const void *map, const int32_t *coordinates,
                 abi::TensorMode mode, const void *source, TensorDirection direction,
                 abi::ReduceOp op) {
  GangState &g = stateOf(gang);
  TensorRequest r = makeRequest(g, map, coordinates, mode, nullptr, direction, source, op);
  submitAsync(g, makeOperation(r, lane, nullptr));
}

/// False where the field has no such ordinal or value.
bool replaceField(TensorMap &m, abi::TensorField field, uint32_t ordinal, uint64_t value) {
  auto set = [](auto &target, uint64_t v, uint64_t limit) {
    target = static_cast<std::remove_reference_t<decltype(target)>>(v);
    return v <= limit;
  };
  switch (field) {
  case abi::TensorField::globalAddress:
    m.address = value;
    return true;
  case abi::TensorField::rank:
    m.rank = static_cast<uint8_t>(value + 1);
    return value < kMaxTensorRank;
  case abi::TensorField::boxDim:
    return ordinal < kMaxTensorRank && value >= 1 && set(m.box[ordinal], value, 256);
  case abi::TensorField::globalDim:
    return ordinal < kMaxTensorRank && set(m.sizeLess1[ordinal], (value - 1) & 0xffffffff, ~0u);
  case abi::TensorField::globalStride:
    return ordinal < kMaxTensorRank - 1 && set(m.stride[ordinal], value, (uint64_t{1} << 40) - 1);
  case abi::TensorField::elementStride:
    return ordinal < kMaxTensorRank && value >= 1 && set(m.elementStride[ordinal], value, 8);
  case abi::TensorField::elementType:
    return set(m.type, value, 15);
  case abi::TensorField::interleave:
    return set(m.interleave, value, 2);
  case abi::TensorField::swizzle:
    return set(m.swizzle, value, 4);
  case abi::TensorField::swizzleAtomicity:
    return set(m.atomicity, value, 3);
  case abi::TensorField::fill:
    return set(m.fill, value, 1);
  }
  return false;
}

} // namespace
} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

void ptxrun_cp_tensor_load(abi::Gang *gang, uint32_t lane, void *destination, const void *map,
                           const int32_t *coordinates, abi::TensorMode mode,
                           const uint16_t *im2colOffsets, void *mbarrier, uint32_t ctaMask) {
  GangState &g = stateOf(gang);
  TensorRequest r =
      makeRequest(g, map, coordinates, mode, im2colOffsets, TensorDirection::load, destination);
  bool isPair = (ctaMask & abi::kCtaPairSignal) != 0;
  ctaMask &= ~abi::kCtaPairSignal;
  if (ctaMask == 0) { // any CTA's mbarrier, as the operand says
    submitAsync(g, makeOperation(r, lane, mbarrier));
    return;
  }
  if (ctaMask >> groupOf(g).ctaCount)
    failTensor(g, "the CTA mask of a multicast names a CTA outside the cluster");
  for (; ctaMask; ctaMask &= ctaMask - 1) {
    auto rank = static_cast<uint32_t>(__builtin_ctz(ctaMask));
    // .cta_group::2 tells the odd or even CTA of each pair, whichever the operand is in.
    uint32_t told = isPair ? (rank & ~1u) | (rankOf(g, mbarrier) & 1) : rank;
    r.shared = static_cast<char *>(inCta(g, destination, rank));
    submitAsync(g, makeOperation(r, lane, inCta(g, mbarrier, told)));
  }
}

void ptxrun_cp_tensor_store(abi::Gang *gang, uint32_t lane, const void *map,
                            const int32_t *coordinates, abi::TensorMode mode, const void *source) {
  storeTensor(gang, lane, map, coordinates, mode, source, TensorDirection::store,
              abi::ReduceOp::add);
}

void ptxrun_cp_tensor_reduce(abi::Gang *gang, uint32_t lane, const void *map,
                             const int32_t *coordinates, abi::TensorMode mode, const void *source,
                             abi::ReduceOp op) {
  storeTensor(gang, lane, map, coordinates, mode, source, TensorDirection::reduce, op);
}

void ptxrun_tensormap_replace(abi::Gang *gang, void *map, abi::TensorField field, uint32_t ordinal,
                              uint64_t value) {
  GangState &g = stateOf(gang);
  TensorMap copy;
  bool isValid = false;
  {
    GuestAccess access(*groupOf(g).worker);
    std::memcpy(&copy, map, sizeof copy);
    isValid = replaceField(copy, field, ordinal, value);
    if (isValid)
      std::memcpy(map, &copy, sizeof copy);
  }
  if (!isValid)
    failTensor(g, "tensormap.replace with a value or ordinal out of range");
}
}
