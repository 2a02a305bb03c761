// One tensor copy by one thread, its box in host memory.
#pragma once
#include <cstring>

#include "rt/memory/tensor_map.h"
#include "tests/unit/rt/dual.h"

namespace ptxrun::rt::test {

/// One thread performs one tensor copy; shared memory comes and goes through `image`.
struct Copy {
  TensorMap map;
  abi::TensorMode mode = abi::TensorMode::tile;
  int32_t coordinates[5] = {};
  uint16_t offsets[3] = {};
  enum { load, store, reduce } direction = load;
  abi::ReduceOp op = abi::ReduceOp::add;
  uint32_t bytes = 0; ///< of the box
  std::vector<uint8_t> image;
};

inline void copyGang(const Launch *l, Cta *cta, Gang *g) {
  auto &c = **static_cast<Copy *const *>(l->params);
  char *box = cta->sharedBase + abi::kSharedFirstOffset;
  auto *bar = reinterpret_cast<uint64_t *>(box + 65536);
  if (c.direction == Copy::load) {
    std::memset(box, 0xee, c.bytes);
    ptxrun_mbarrier_init(g, bar, 1);
    ptxrun_mbarrier_expect_tx(g, bar, c.bytes);
    ptxrun_mbarrier_arrive(g, bar, 1);
    ptxrun_cp_tensor_load(g, 0, box, &c.map, c.coordinates, c.mode, c.offsets, bar, 0);
    while (!ptxrun_mbarrier_try_wait(g, bar, 0, 1, 0))
      ;
    c.image.assign(box, box + c.bytes);
    return;
  }
  if (c.bytes)
    std::memcpy(box, c.image.data(), c.bytes);
  if (c.direction == Copy::store)
    ptxrun_cp_tensor_store(g, 0, &c.map, c.coordinates, c.mode, box);
  else
    ptxrun_cp_tensor_reduce(g, 0, &c.map, c.coordinates, c.mode, box, c.op);
  ptxrun_bulk_commit_group(g, 1);
  ptxrun_bulk_wait_group(g, 1, 0, 0);
}

inline Failure perform(Copy &c) {
  Copy *p = &c;
  auto code = fiberKernel(copyGang);
  code.needs.staticSharedBytes = 65536 + 64;
  code.needs.staticSharedAlign = 1024;
  auto r = launch(code, {1}, {1}, &p);
  r.asyncCopies = AsyncCopies::late;
  return run(r);
}

template <typename T> std::vector<T> imageAs(const Copy &c) {
  std::vector<T> v(c.image.size() / sizeof(T));
  std::memcpy(v.data(), c.image.data(), c.image.size());
  return v;
}

} // namespace ptxrun::rt::test
