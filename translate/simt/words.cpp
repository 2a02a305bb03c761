#include "translate/simt/words.h"

#include <llvm/IR/InstrTypes.h>

#include "translate/lower/runtime_words.h"

namespace ptxrun::simt {

Word wordOf(llvm::StringRef name) {
  using K = Word::Kind;
  if (const lower::RuntimeWord *word = lower::findRuntimeWord(name))
    return {word->suspends ? K::runtimeWait : K::runtime, 3};
  if (!name.consume_front("ptx."))
    return {};
  if (name.consume_front("sreg.")) {
    unsigned axis = name.ends_with(".y") ? 1 : name.ends_with(".z") ? 2 : 0;
    if (name.starts_with("tid."))
      return {K::threadIndex, axis};
    if (name == "laneid")
      return {K::laneId, 0};
    if (name.starts_with("lanemask_"))
      return {K::laneMask, 0};
    return {K::specialRegister, name.size() > 2 && name[name.size() - 2] == '.' ? axis : 3};
  }
  if (name == "shared.base" || name == "shared.window")
    return {K::uniformValue, 0};
  if (name == "all" || name == "any" || name.starts_with("nowrap.") || name.starts_with("same.") ||
      name.starts_with("first."))
    return {K::laneTest, 0};
  if (name.starts_with("vote.sync.") || name == "activemask" || name.starts_with("redux.sync.") ||
      name == "bar.warp.sync")
    return {K::warpUniform, 0};
  if (name.starts_with("shfl.sync.") || name.starts_with("match.") || name == "elect.sync" ||
      name.starts_with("matrix.warp.") || name.starts_with("warp."))
    return {K::warpVarying, 0};
  if (name.starts_with("bar."))
    return {K::barrier, 0};
  if (name == "local.contains")
    return {K::addressTest, 0};
  if (name.starts_with("rounded."))
    return {K::rounded, 0};
  if (name == "nanosleep" || name == "yield" || name == "yield.mbarrier")
    return {K::schedule, 0};
  if (name == "trap" || name == "brkpt" || name == "call.assertfail")
    return {K::stop, 0};
  if (name == "exit" || name == "exited")
    return {K::exit, 0};
  if (name.starts_with("call."))
    return {K::library, 0};
  return {K::other, 0};
}

Word wordAt(const llvm::Instruction &i) {
  auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
  return call && call->getCalledFunction() ? wordOf(call->getCalledFunction()->getName()) : Word{};
}

} // namespace ptxrun::simt
