// The floating-point environment of kernels: to nearest, subnormals kept, no exceptions, whatever
// the thread that runs the blocks has set for itself (a program linked with -Ofast flushes
// subnormals everywhere). What PTX asks for otherwise is in each instruction (9.7.3).
#pragma once
#include <xmmintrin.h>

namespace ptxrun::rt {

/// For the time of its life; what the thread had is restored, its exception flags too.
class KernelEnvironment {
 public:
  KernelEnvironment() : before_(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~KernelEnvironment() { _mm_setcsr(before_); }
  KernelEnvironment(const KernelEnvironment &) = delete;
  KernelEnvironment &operator=(const KernelEnvironment &) = delete;

 private:
  static constexpr unsigned kDefault = 0x1f80; ///< all exceptions masked, to nearest, no FTZ, no DAZ
  const unsigned before_;
};

} // namespace ptxrun::rt
