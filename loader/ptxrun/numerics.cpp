#include "loader/ptxrun/numerics.h"

#include <cstdio>
#include <optional>
#include <string>

#include "intrinsics/matrix/describe.h"
#include "intrinsics/matrix/policy.h"

namespace ptxrun::command {
namespace {

using matrix::Element, matrix::Operation, matrix::Policy, matrix::Unit;

struct Name {
  std::string_view text;
  Element element;
};
/// Types and sets of types in notations; a set stands for its first type. kinds of tcgen05: the
/// factors' type.
constexpr Name kNames[] = {
    {"f16", Element::f16},   {"bf16", Element::bf16}, {"tf32", Element::tf32},
    {"f32", Element::f32},   {"f64", Element::f64},   {"f8a", Element::e4m3},
    {"f8b", Element::e4m3},  {"f6a", Element::e2m3},  {"f6b", Element::e2m3},
    {"e2m1", Element::e2m1}, {"e4m3", Element::e4m3}, {"i8a", Element::s8},
    {"i8b", Element::s8},    {"i4a", Element::s4},    {"i4b", Element::s4},
    {"b1", Element::b1},     {"s32", Element::s32},
};

std::vector<std::string_view> wordsOf(std::string_view notation) {
  std::vector<std::string_view> words;
  notation = notation.substr(0, notation.find(' '));
  for (size_t at = 0; at < notation.size();) {
    const size_t end = std::min(notation.find_first_of(".{}", at), notation.size());
    if (end > at)
      words.push_back(notation.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// The instruction that a notation of 9.7.14 or 9.7.15 stands for; none where it multiplies
/// nothing.
std::optional<Operation> operationOf(std::string_view notation) {
  Operation operation;
  std::vector<Element> types;
  for (const std::string_view word : wordsOf(notation)) {
    unsigned m = 0, n = 0, k = 0;
    if (std::sscanf(std::string(word).c_str(), "m%un%uk%u", &m, &n, &k) == 3) {
      operation.m = uint16_t(m);
      operation.n = uint16_t(n);
      operation.k = uint16_t(k);
    }
    operation.isScaled |= word == "block_scale";
    operation.isSparse |= word.starts_with("sp");
    for (const Name &name : kNames)
      if (word == name.text)
        types.push_back(name.element);
  }
  const bool isWgmma = notation.starts_with("wgmma");
  operation.unit = isWgmma ? Unit::wgmma : notation.starts_with("wmma") ? Unit::wmma : Unit::mma;
  if (isWgmma && types.size() >= 3) {
    operation.d = operation.c = types[0];
    operation.a = types[1];
    operation.b = types[2];
  } else if (types.size() == 2) {
    operation.d = types[0];
    operation.c = types[1];
  } else if (types.size() >= 4) {
    operation.d = types[0];
    operation.a = types[1];
    operation.b = types[2];
    operation.c = types[3];
  } else {
    return std::nullopt;
  }
  return operation;
}

void printOperation(const Operation &operation) {
  if (matrix::isInteger(operation.a) || operation.a == Element::f64) {
    std::printf("    every policy: %s\n", operation.a == Element::f64
                                              ? "f64 fma, ascending k, from c"
                                              : "exact, modulo 2^32 or saturated");
    return;
  }
  std::string last;
  for (unsigned i = 0; i <= unsigned(Policy::sm120); ++i) {
    const std::string text = matrix::describe(matrix::sumOf(Policy(i), operation));
    if (text == last)
      std::printf("    %-7s  the same\n", matrix::policyName(Policy(i)));
    else
      std::printf("    %-7s  %s\n", matrix::policyName(Policy(i)), text.c_str());
    last = text;
  }
}

bool multiplies(const isa::Form &form) {
  return form.instruction == "mma" || form.instruction == "mma.sp" ||
         form.instruction == "wmma.mma" || form.instruction.starts_with("wgmma.mma_async");
}

/// tcgen05.mma: the kinds, whose types the instruction descriptor chooses.
void printTensorKinds() {
  struct Kind {
    const char *text;
    Element a;
    uint16_t k;
    bool isScaled;
  };
  for (const Kind &kind :
       {Kind{"f16", Element::f16, 16, false}, Kind{"tf32", Element::tf32, 8, false},
        Kind{"f8f6f4", Element::e4m3, 32, false}, Kind{"i8", Element::s8, 32, false},
        Kind{"mxf8f6f4", Element::e4m3, 32, true},
        Kind{"mxf4, mxf4nvf4", Element::e2m1, 64, true}}) {
    Operation operation;
    operation.unit = Unit::tcgen05;
    operation.m = 128;
    operation.n = 256;
    operation.k = kind.k;
    operation.a = operation.b = kind.a;
    operation.isScaled = kind.isScaled;
    std::printf("9.7.16  tcgen05.mma with .kind::%s\n", kind.text);
    printOperation(operation);
  }
}

} // namespace

void printNumerics(const std::vector<isa::Coverage> &all) {
  for (const isa::Coverage &entry : all) {
    if (!multiplies(*entry.form))
      continue;
    if (const std::optional<Operation> operation = operationOf(entry.form->notation)) {
      std::printf("%.*s  %.*s\n", int(entry.form->section.size()), entry.form->section.data(),
                  int(entry.form->notation.size()), entry.form->notation.data());
      printOperation(*operation);
    }
  }
  printTensorKinds();
}

} // namespace ptxrun::command
