// Several gangs of a CTA in one: their code in lockstep, instruction by instruction.
//
// Gangs that run one after the other through a loop read what they share once each; a matrix
// product whose rows are gangs reads a column of B as often as it has rows, and one chain of fused
// multiply-adds at a time leaves most of the CPU idle. Here a body for J gangs is made of the body
// for one:
//
//     for k: acc += a[k] * b[k]       =>      for k: t = b[k]; acc0 += a0[k] * t; acc1 += a1[k] *
//     t; ...
//
// Loops that stride by the threads of the grid read a line of each of as many places as they have
// rounds: gangs in lockstep read several neighbouring lines of each.
//
// Gangs whose lanes lie apart and which lie side by side themselves have a line for each lane
// together (across_gangs.h).
//
// What all gangs compute alike (CtaUniformity) is computed once. Where gangs may part, each runs
// its own way to where they meet, one after the other; or, where the loop lies behind the parting
// and nothing has been written yet, all are sent through the body for one gang unless they agree.
#pragma once
#include "translate/simt/entry.h"

namespace ptxrun::simt {

struct Jammed {
  llvm::Function *body = nullptr; ///< as the body for one gang; its first thread is that of the
                                  ///< first of `gangs` neighbours
  unsigned gangs = 1;
  bool isForStrides = false; ///< not because gangs share loads, but to read along lines
};
/// The body for several gangs, if `full` has a loop in which they share loads of vectors or stride
/// far, or no loop and accesses across gangs, and if `gangsPerCta` is a multiple of some number of
/// gangs whose values find room in registers; else a null body. `full` is cleaned up; the new body
/// may call it.
Jammed jamGangs(ModuleContext &, llvm::Function &full, unsigned gangsPerCta);

} // namespace ptxrun::simt
