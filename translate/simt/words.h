// The vocabulary of a LaneModule (lower/vocabulary.h) as simt sees it: what kind of thing each
// `ptx.*` function is.
#pragma once
#include <llvm/ADT/StringRef.h>

namespace llvm {
class Instruction;
}

namespace ptxrun::simt {

struct Word {
  enum class Kind : uint8_t {
    none,            ///< not a word of ours
    threadIndex,     ///< %tid.{x,y,z}
    laneId,          ///< %laneid
    laneMask,        ///< %lanemask_*
    specialRegister, ///< the same for all lanes of a gang
    uniformValue,    ///< addresses of windows, counters: one value per gang
    laneTest,        ///< ptx.all, any, nowrap, same, first (made by versions.cpp): one for the gang
    warpUniform,     ///< a collective whose result is the same for all lanes that take part
    warpVarying,     ///< a collective with a result per lane
    barrier,         ///< CTA barriers
    schedule,        ///< nanosleep, yield
    stop,            ///< trap, brkpt, assertfail
    exit,            ///< ptx.exit, ptx.exited
    library,         ///< vprintf, malloc, free: lane by lane
    runtime,         ///< a call of the runtime, made as lower/runtime_words.h says
    runtimeWait,     ///< of these, one that waits for other threads
    addressTest,     ///< ptx.local.contains
    rounded,         ///< arithmetic with directed rounding, element by element
    other,           ///< no word of the vocabulary
  };
  Kind kind = Kind::none;
  unsigned axis = 0; ///< 0..2 for threadIndex and vector special registers
};

Word wordOf(llvm::StringRef name);
/// The word that an instruction calls; none where it is no such call.
Word wordAt(const llvm::Instruction &);

/// True for the arrivals at an mbarrier whose state tells nothing but the phase.
inline bool isArrival(llvm::StringRef name) {
  return name == "ptx.mbarrier.arrive" || name == "ptx.mbarrier.arrive_drop";
}

/// True for the entry points of rt that stand for loads and stores.
inline bool isWrappedAccess(llvm::StringRef entry) {
  return entry == "ptxrun_load_wrapped" || entry == "ptxrun_store_wrapped";
}

/// True for the words that wait for other lanes of the warp and take a membermask as their last
/// argument.
inline bool isCollective(Word::Kind k) {
  return k == Word::Kind::warpUniform || k == Word::Kind::warpVarying;
}

} // namespace ptxrun::simt
