// What debugged code (CodeOptions::isDebugged) tells the debugger: instructions by numbers,
// registers and variables at places in a frame. Lowering writes what the debugger reads.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "translate/check/checked_module.h"

namespace ptxrun::check {

/// The number of the first instruction of each function, by its place in Module::functions; one
/// more entry says how many there are in all. Instruction i of function f has number [f] + i.
inline std::vector<uint32_t> instructionNumbers(const Module &module) {
  std::vector<uint32_t> first{0};
  for (const Function *function : module.functions)
    first.push_back(first.back() + static_cast<uint32_t>(function->body.size()));
  return first;
}

/// A function's place in Module::functions.
inline uint32_t functionNumber(const Module &module, const Function &function) {
  uint32_t number = 0;
  while (number < module.functions.size() && module.functions[number] != &function)
    ++number;
  return number;
}

/// The frame of one call of a function: words of 8 bytes.
///   word 0           address of the kernel's `.param` space; 0 in device functions
///   then             one word per register, or element of a vector register: its bits, in the low
///                    bytes (a predicate is one byte)
///   then             addresses of `.local` and `.param` variables and of parameters that live in
///                    memory; 0 where the function does not use them
struct DebugFrame {
  explicit DebugFrame(const Function &function) {
    uint32_t word = 1;
    for (const Register *reg : function.registers) {
      registers.push_back(word);
      word += reg->vector > 1 ? reg->vector : 1;
    }
    const auto add = [&](const Variable *variable) {
      if (variables.try_emplace(variable, word).second)
        ++word;
    };
    for (const Variable *variable : function.signature.returns)
      add(variable);
    for (const Variable *variable : function.signature.parameters)
      add(variable);
    for (const Variable *variable : function.variables)
      add(variable);
    words = word;
  }

  std::vector<uint32_t> registers; ///< the word of each register's first element, by its index
  std::map<const Variable *, uint32_t> variables;
  uint32_t words = 1;
};

} // namespace ptxrun::check
