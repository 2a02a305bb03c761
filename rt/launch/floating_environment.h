// The floating-point environment of kernels, and of whatever else must compute the same for every
// caller: to nearest, subnormals kept, no exceptions, whatever the thread has set for itself (a
// program linked with -Ofast flushes subnormals everywhere). What PTX asks for otherwise is in each
// instruction (9.7.3).
#pragma once
#include <xmmintrin.h>

#include <cstdint>

namespace ptxrun::rt {

/// What a thread has set: MXCSR, and control and status of the x87 unit, by whose control word the
/// C library rounds what it prints. Exception flags are part of it (of x87 where its control word
/// is not the default).
class FloatingState {
 public:
  static FloatingState ofThread() {
    FloatingState state;
    state.mxcsr_ = _mm_getcsr();
    asm volatile("fnstcw %0" : "=m"(state.control_));
    if (state.control_ != kControl)
      asm volatile("fnstsw %0" : "=a"(state.status_));
    return state;
  }
  /// The thread gets the default: to nearest, no FTZ, no DAZ, all exceptions masked. What is so
  /// already is not written: that takes longer than to look.
  static void setDefault() {
    if (_mm_getcsr() != kMxcsr)
      _mm_setcsr(kMxcsr);
    uint16_t control;
    asm volatile("fnstcw %0" : "=m"(control));
    if (control != kControl)
      setX87(kControl, 0);
  }
  /// The thread, which had the default since, gets what this says.
  void restore() const {
    if (_mm_getcsr() != mxcsr_)
      _mm_setcsr(mxcsr_);
    if (control_ != kControl)
      setX87(control_, status_ & kFlags);
  }

 private:
  static constexpr unsigned kMxcsr = 0x1f80;
  static constexpr uint16_t kControl = 0x37f, kFlags = 0xff;
  struct X87 {
    uint32_t control, status, rest[5];
  };
  /// By way of the whole environment: loading the control word alone would raise an exception that
  /// is pending.
  static void setX87(uint16_t control, uint16_t flags) {
    X87 all;
    asm volatile("fnstenv %0" : "=m"(all));
    all.control = (all.control & ~0xffffu) | control;
    all.status = (all.status & ~uint32_t{kFlags}) | flags;
    asm volatile("fldenv %0" : : "m"(all));
  }
  unsigned mxcsr_ = kMxcsr;
  uint16_t control_ = kControl, status_ = 0;
};

/// For the time of its life; what the thread had is restored, its exception flags too.
class KernelEnvironment {
 public:
  KernelEnvironment() : before_(FloatingState::ofThread()) { FloatingState::setDefault(); }
  ~KernelEnvironment() { before_.restore(); }
  KernelEnvironment(const KernelEnvironment &) = delete;
  KernelEnvironment &operator=(const KernelEnvironment &) = delete;

 private:
  const FloatingState before_;
};

/// A library's function while it runs for a program: computes as kernels do.
class CalledEnvironment {
 public:
  CalledEnvironment() : outer_(programs_), before_(FloatingState::ofThread()) {
    FloatingState::setDefault();
    programs_ = &before_;
  }
  ~CalledEnvironment() {
    programs_ = outer_;
    before_.restore();
  }
  CalledEnvironment(const CalledEnvironment &) = delete;
  CalledEnvironment &operator=(const CalledEnvironment &) = delete;

 private:
  friend class ProgramEnvironment;
  static inline thread_local const FloatingState *programs_ = nullptr;
  const FloatingState *const outer_;
  const FloatingState before_;
};

/// While a library calls a program's function: what the thread had when it called the library; on
/// threads of our own, the default. What the function sets is not kept.
class ProgramEnvironment {
 public:
  ProgramEnvironment() {
    if (CalledEnvironment::programs_)
      CalledEnvironment::programs_->restore();
  }
  ~ProgramEnvironment() { FloatingState::setDefault(); }
  ProgramEnvironment(const ProgramEnvironment &) = delete;
  ProgramEnvironment &operator=(const ProgramEnvironment &) = delete;
};

} // namespace ptxrun::rt
