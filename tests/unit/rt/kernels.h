// Plain C++ functions as kernels, and launches of them.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "rt/exec/run.h"
#include "rt/launch/code_ranges.h"

/// Kernels of the tests lie in one section, so that their code can be announced like that of the
/// JIT.
#define KERNEL __attribute__((noinline, section("ptxrun_test_kernels")))

extern "C" char __start_ptxrun_test_kernels[], __stop_ptxrun_test_kernels[];

namespace ptxrun::rt::test {

using abi::Cta;
using abi::Dim3;
using abi::Gang;
using abi::Launch;

/// Announces the test kernels' code while it lives.
struct KernelCodeRegistration {
  KernelCodeRegistration() {
    registerCode(__start_ptxrun_test_kernels, __stop_ptxrun_test_kernels);
  }
  ~KernelCodeRegistration() { unregisterCode(__start_ptxrun_test_kernels); }
};

inline uint32_t laneMask(const Gang *g) {
  return g->laneCount >= 32 ? ~0u : (1u << g->laneCount) - 1;
}

inline uint64_t linear(Dim3 at, Dim3 grid) {
  return at.x + uint64_t{grid.x} * (at.y + uint64_t{grid.y} * at.z);
}

inline abi::KernelCode fiberKernel(abi::GangFunction gang, uint32_t lanes = 32) {
  abi::KernelCode code;
  code.gang = gang;
  code.needs.lanes = lanes;
  code.needs.maySuspend = true;
  return code;
}

inline LaunchRequest launch(const abi::KernelCode &code, Dim3 grid, Dim3 block,
                            const void *params = nullptr) {
  LaunchRequest r;
  r.code = &code;
  r.grid = grid;
  r.block = block;
  r.params = params;
  return r;
}

} // namespace ptxrun::rt::test
