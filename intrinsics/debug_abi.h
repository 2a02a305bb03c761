// Entry points of the runtime that debugged code calls (W = 1, on fibers;
// translate/check/debug_frame.h).
#pragma once
#include <cstdint>

namespace ptxrun::abi {
struct Gang;
}

extern "C" {
/// A function is entered: `frame` is valid until the call ends. `function` is its number in the
/// module.
void ptxrun_debug_enter(ptxrun::abi::Gang *, const void *frame, uint32_t function);
/// The thread executes this instruction next; `instruction` is its number in the module. May not
/// return: the launch is given up.
void ptxrun_debug_step(ptxrun::abi::Gang *, uint32_t instruction);
/// The call ends; with `isExit` the thread does.
void ptxrun_debug_leave(ptxrun::abi::Gang *, uint32_t isExit);
}
