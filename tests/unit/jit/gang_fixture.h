// GangModules written by hand as LLVM IR, for testing jit without the stages before it.
#pragma once
#include <string_view>

#include "translate/simt/gang_module.h"

namespace ptxrun::test {

/// Parses `ir`; which entry points exist is read off the module. Aborts on a syntax error.
simt::GangModule parseGang(std::string_view ir);

/// `params` points to {ptr x, ptr y, float a, i32 n}; a gang of 8 lanes does y[i] = fma-free a*x[i] + y[i] for its
/// eight elements, i = 8*gang... Debug lines: load 10, multiply 11, add 12, store 13.
extern const std::string_view kSaxpyGang;

}  // namespace ptxrun::test
