// Asynchronous copies that have been asked for and not yet performed, per gang. With eager copies
// (the default) nothing is ever kept here.
//
// A gang's queue holds the operations of its lanes in program order. An operation ends up in a
// group of its lane when that lane commits; waiting for all but n groups performs what belongs to
// earlier groups. An operation with an mbarrier tells it when it is performed; gangs that wait
// there have them performed when nothing else of their cluster can run.
#pragma once
#include <cstdint>
#include <vector>

#include "intrinsics/abi.h"
#include "rt/launch/records.h"
#include "rt/sync/tensor_copy.h"

namespace ptxrun::rt {

enum class AsyncKind : uint8_t {
  copy,   ///< cp.async
  bulk,   ///< cp.async.bulk
  reduce, ///< cp.reduce.async.bulk
  tensor, ///< cp(.reduce).async.bulk.tensor
  store,  ///< st.async, the answer of clusterlaunchcontrol.try_cancel: `payload` to `destination`
  reduceValue, ///< red.async: `payload` into `destination`
  arrive,      ///< cp.async.mbarrier.arrive
  commitTensor, ///< tcgen05.commit: behind the first `group` operations of tensor cores
};

struct AsyncOperation {
  AsyncKind kind = AsyncKind::copy;
  uint8_t lane = 0;
  uint8_t isTracked = 0;       ///< belongs to an async-group (else only its mbarrier tells)
  uint8_t left = 0, right = 0; ///< bytes left out at the beginning and at the end (.ignore_oob)
  uint32_t bytes = 0;
  uint32_t sourceBytes = 0; ///< the rest is zeros
  uint32_t byteMask = 0xffff;
  uint64_t group = 0; ///< the lane's group it belongs to
  void *destination = nullptr;
  const void *source = nullptr;
  uint64_t *mbarrier = nullptr;
  uint64_t place = 0; ///< in the kernel, where the operation is put off; 0: found when it is
  abi::ReduceOp op = abi::ReduceOp::add;
  abi::ReduceType type = abi::ReduceType::u32;
  uint64_t payload[2] = {};
  TensorRequest tensor;
};

struct AsyncGroups {
  std::vector<AsyncOperation> pending;      ///< in program order
  uint64_t copyGroups[abi::kWarpSize] = {}; ///< committed so far, per lane
  uint64_t bulkGroups[abi::kWarpSize] = {};
};

void freeAsyncGroups(AsyncGroups *);
/// Drops everything pending, at the start of a CTA.
void resetAsyncGroups(AsyncGroups &);

/// Performs the operation now or keeps it, as the launch's policy says.
void submitAsync(GangState &, const AsyncOperation &);
/// The lanes of `mask` begin a new group of copies (isBulk: of bulk copies).
void commitGroups(GangState &, uint32_t mask, bool isBulk);
/// Performs, for each lane of `mask`, what belongs to groups before the `keep` latest.
void completeGroups(GangState &, uint32_t mask, bool isBulk, uint32_t keep);
/// Performs everything the gang has pending.
void completeAll(GangState &);
/// The same place as `address` (in the shared memory of any CTA of the cluster) in that of the CTA
/// with this rank.
void *inCta(const GangState &, void *address, uint32_t rank);
/// The rank of the CTA whose shared memory the address is in.
uint32_t rankOf(const GangState &, const void *address);
/// Whether any gang of the group has something pending.
bool hasLateCopies(const GroupState &);

} // namespace ptxrun::rt
