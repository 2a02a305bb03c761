// The entry points of malloc and free of device code.
#include "rt/launch/failure.h"
#include "rt/memory/device_heap.h"

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

void *ptxrun_malloc(abi::Gang *, uint64_t bytes) { return allocateOnDeviceHeap(bytes); }

void ptxrun_free(abi::Gang *gang, void *block) {
  if (!block || freeOnDeviceHeap(block))
    return;
  recordFailure(stateOf(gang), Status::illegalAddress,
                "free of an address that malloc did not return");
  leaveKernel(stateOf(gang));
}
}
