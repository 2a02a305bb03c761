// How a kernel ends a launch itself: trap, brkpt, __assertfail.
#include <cstdio>

#include "intrinsics/access_abi.h"

#include "rt/launch/failure.h"
#include "rt/observe/printf.h"

namespace ptxrun::rt {

namespace {

const char *describeTrap(abi::TrapKind kind) {
  switch (kind) {
  case abi::TrapKind::trap:
    return "trap";
  case abi::TrapKind::breakpoint:
    return "breakpoint (brkpt)";
  case abi::TrapKind::assertion:
    return "assertion failed";
  case abi::TrapKind::illegalInstruction:
    return "illegal instruction";
  case abi::TrapKind::notConvergent:
    return "threads of a warp that ought to be converged are not";
  }
  return "trap";
}

std::string triple(abi::Dim3 d) {
  return "[" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + "]";
}

std::string trapMessage(const GangState &g, abi::TrapKind kind, uint32_t mask) {
  return describeTrap(kind) + (" in " + describeLanes(g, mask));
}

/// The line CUDA prints for the t-th thread of the gang's CTA.
std::string assertionText(const GangState &g, uint32_t t, const char *message, const char *file,
                          uint32_t line, const char *function) {
  const abi::Dim3 &block = g.cta->cta.launch->block;
  const auto [ctaid, n] = placeOfThread(g, t);
  abi::Dim3 thread{n % block.x, n / block.x % block.y, n / block.x / block.y};
  return std::string(file) + ":" + std::to_string(line) + ": " + function +
         ": block: " + triple(ctaid) + ", thread: " + triple(thread) + " Assertion `" + message +
         "` failed.";
}

void failAssertion(GangState &g, uint32_t mask, const char *message, const char *file,
                   uint32_t line, const char *function) {
  Worker &worker = *groupOf(g).worker;
  char texts[3][1024]; // copied first: a bad pointer is reported as a fault, and nothing is left
                       // behind
  copyGuestText(worker, texts[0], message);
  copyGuestText(worker, texts[1], file);
  copyGuestText(worker, texts[2], function);
  const uint32_t first = g.gang.firstThread + static_cast<uint32_t>(__builtin_ctz(mask));
  std::string all;
  for (uint32_t left = mask; left; left &= left - 1)
    all += assertionText(g, g.gang.firstThread + static_cast<uint32_t>(__builtin_ctz(left)),
                         texts[0], texts[1], line, texts[2]) +
           "\n";
  if (worker.launch->request->printf)
    appendText(*worker.launch, all);
  else // CUDA's goes to stderr, not among what the kernel prints
    fputs(all.c_str(), stderr);
  g.gang.firstThread = first; // the report names one thread
  g.gang.laneCount = 1;
  recordFailure(g, Status::assertion, all.substr(0, all.find('\n')));
}

const char *describeAccess(uint32_t kind) {
  switch (abi::AccessKind(kind & abi::kAccessKindMask)) {
  case abi::AccessKind::store:
    return "write";
  case abi::AccessKind::atomic:
    return "atomic";
  default:
    return "read";
  }
}

void failMisaligned(GangState &g, uint32_t lane, uint64_t address, uint32_t alignment,
                    uint32_t kind, uint32_t line) {
  g.gang.firstThread += lane; // the report names one thread
  g.gang.laneCount = 1;
  char access[128];
  snprintf(access, sizeof access, "misaligned address: %s at %s0x%llx, no multiple of %u, by ",
           describeAccess(kind), kind & abi::kAccessShared ? ".shared address " : "",
           static_cast<unsigned long long>(address), alignment);
  recordFailure(g, Status::misaligned, access + describeGang(g), line);
}

} // namespace
} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

void ptxrun_trap(abi::Gang *gang, abi::TrapKind kind, uint32_t mask, uint32_t line) {
  GangState &g = stateOf(gang);
  Status status = kind == abi::TrapKind::assertion ? Status::assertion : Status::trap;
  recordFailure(g, status, trapMessage(g, kind, mask), line);
  leaveKernel(g);
}

void ptxrun_assertfail(abi::Gang *gang, uint32_t mask, const char *message, const char *file,
                       uint32_t line, const char *function) {
  GangState &g = stateOf(gang);
  failAssertion(g, mask, message, file, line, function);
  leaveKernel(g);
}

void ptxrun_misaligned(abi::Gang *gang, uint32_t lane, uint64_t address, uint32_t alignment,
                       uint32_t kind, uint32_t line) {
  GangState &g = stateOf(gang);
  failMisaligned(g, lane, address, alignment, kind, line);
  leaveKernel(g);
}
}
