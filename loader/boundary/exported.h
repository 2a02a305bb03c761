// Exported functions, made from their names alone: each hands what it was called with to its
// definition (body_names.h) and returns what that returns.
//
// By the System V ABI arguments are in six integer registers, eight vector registers and words on
// the stack, whatever their types, and a result that is a number or a pointer is in one register.
// So one signature that names all of these stands for any: words that the caller did not mean as
// arguments are passed on with the rest and not looked at.
#pragma once
#include <cstdint>

#include "loader/boundary/guarded.h"

namespace ptxrun::boundary {

using Word = uint64_t;

/// cuTensorMapEncodeIm2colWide takes the most: ten words on the stack.
#define PTXRUN_ANY_PARAMETERS                                                                      \
  Word r0, Word r1, Word r2, Word r3, Word r4, Word r5, double x0, double x1, double x2,           \
      double x3, double x4, double x5, double x6, double x7, Word s0, Word s1, Word s2, Word s3,   \
      Word s4, Word s5, Word s6, Word s7, Word s8, Word s9
#define PTXRUN_ANY_ARGUMENTS                                                                       \
  r0, r1, r2, r3, r4, r5, x0, x1, x2, x3, x4, x5, x6, x7, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9

/// Exports `symbol`. `resultOf(Thrown)` is its result where the definition throws, `missing(name)`
/// where there is none; a `Scope` lives while it runs.
#define PTXRUN_EXPORT_BODY(symbol, missing, resultOf, Scope)                                       \
  extern "C" __attribute__((visibility("hidden"), weak))                                           \
  ptxrun::boundary::Word ptxrun_body_##symbol(PTXRUN_ANY_PARAMETERS);                              \
  extern "C" __attribute__((visibility("default"))) ptxrun::boundary::Word symbol(                 \
      PTXRUN_ANY_PARAMETERS) {                                                                     \
    if (!ptxrun_body_##symbol)                                                                     \
      return static_cast<ptxrun::boundary::Word>(missing(#symbol));                                \
    [[maybe_unused]] const Scope scope;                                                            \
    try {                                                                                          \
      return ptxrun_body_##symbol(PTXRUN_ANY_ARGUMENTS);                                           \
    } catch (...) {                                                                                \
      return static_cast<ptxrun::boundary::Word>(resultOf(ptxrun::boundary::whatWasThrown()));     \
    }                                                                                              \
  }

} // namespace ptxrun::boundary
