// Words of the vocabulary that are calls of the runtime (intrinsics/abi.h), and how such a call is
// made. No LLVM here.
#pragma once
#include <cstdint>
#include <iterator>
#include <string_view>

namespace ptxrun::lower {

struct RuntimeWord {
  /// Who calls, and what stands before the word's own arguments. Argument types are the entry
  /// point's (bool is i1).
  enum class Call : uint8_t {
    pure,       ///< each active lane: entry(arguments...); reads and writes nothing
    lane,       ///< each active lane: entry(gang, arguments...)
    laneNumber, ///< each active lane: entry(gang, lane in the gang, arguments...)
    gang, ///< once: entry(gang, mask of the active lanes, arguments...); the arguments are the same
          ///< for all lanes
    copies,  ///< once: entry(gang, mask, destinations[W], sources[W], bytes, sourceBytes[W])
             ///< (ptxrun_cp_async)
    texture, ///< once: the entry point of the CPU level, with operands in rows of W
             ///< (ptxrun_texture_*)
  };
  std::string_view word, entry;
  Call call = Call::lane;
  bool suspends = false; ///< there is an entry `<entry>_begin` for coroutines
};

/// By the order of runtime_words.def.
inline constexpr RuntimeWord kRuntimeWords[] = {
#define RUNTIME_WORD(id, word, entry, call, suspends)                                              \
  {word, entry, RuntimeWord::Call::call, suspends},
#include "translate/lower/runtime_words.def"
#undef RUNTIME_WORD
};

/// Null where the name is no word of the runtime.
constexpr const RuntimeWord *findRuntimeWord(std::string_view name) {
  for (const RuntimeWord &word : kRuntimeWords)
    if (word.word == name)
      return &word;
  return nullptr;
}

} // namespace ptxrun::lower
