#include "translate/simt/passes.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "translate/lower/internal_error.h"
#include "translate/simt/verify.h"

namespace ptxrun::simt {
namespace {

constexpr PassInfo kPasses[] = {
#define SIMT_PASS(id, name, kind, requires_, preserves, gives, what)                               \
  {Pass::id, name, PassInfo::kind, requires_, preserves, gives, what},
#define SIMT_PART(id, name, what) {Pass::id, name, PassInfo::part, 0, 0, 0, what},
#include "translate/simt/passes.def"
#undef SIMT_PART
#undef SIMT_PASS
};
static_assert(std::size(kPasses) <= 64, "PassSet has 64 bits");

const PassInfo &infoOf(Pass p) { return kPasses[size_t(p)]; }

} // namespace

std::span<const PassInfo> passes() { return kPasses; }

std::string readPasses(std::string_view text, PassSet &left) {
  PassSet read;
  auto drop = [&](Pass p) {
    PassSet without;
    for (const PassInfo &other : kPasses)
      if (other.pass != p && read.has(other.pass))
        without.add(other.pass);
    read = without;
  };
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const bool isLeftOut = word.starts_with('-');
    if (!isLeftOut && !word.starts_with('+'))
      return "'" + std::string(word) + "' is neither -NAME nor +NAME";
    const std::string_view name = word.substr(1);
    bool isKnown = name == "all";
    for (const PassInfo &info : kPasses) {
      if (name != "all" && name != info.name)
        continue;
      isKnown = true;
      if (!isLeftOut)
        drop(info.pass);
      else if (info.kind != PassInfo::needed)
        read.add(info.pass);
      else if (name != "all")
        return "pass '" + std::string(name) + "' is needed for the result";
    }
    if (!isKnown)
      return "there is no pass '" + std::string(name) + "'";
  }
  left = read;
  return {};
}

bool PassRun::begin(Pass p) {
  const PassInfo &info = infoOf(p);
  if (hasFailed() || !isOn(p))
    return false;
  if ((properties_ & info.needs) == info.needs)
    return true;
  problem_ = "pass " + std::string(info.name) + " comes too early or too late";
  return false;
}

void PassRun::end(Pass p) {
  const PassInfo &info = infoOf(p);
  properties_ = (properties_ & info.preserves) | info.gives;
#ifdef NDEBUG
  if (!observer_)
    return;
#endif
  if (observer_)
    observer_(info, module_);
  verify("behind pass " + std::string(info.name));
  if (!hasFailed() && properties_ & kLoopForm)
    verifyLoops(info);
}

void PassRun::run(Pass p, llvm::function_ref<void()> step) {
  if (!begin(p))
    return;
  step();
  end(p);
}

bool PassRun::tryRun(Pass p, llvm::function_ref<bool()> step) {
  if (!begin(p) || !step())
    return false;
  end(p);
  return true;
}

void PassRun::verify(std::string_view when) {
  if (hasFailed())
    return;
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(module_, &out))
    problem_ = std::string(when) + ": " + text;
}

void PassRun::verifyLoops(const PassInfo &info) {
  for (llvm::Function &f : module_) {
    if (f.isDeclaration())
      continue;
    if (std::string what = whatIsUnprepared(f); !what.empty())
      problem_ = "behind pass " + std::string(info.name) + ": " + what;
  }
}

llvm::Error PassRun::takeError() {
  if (!hasFailed())
    return llvm::Error::success();
  return llvm::make_error<lower::InternalError>("simt", problem_);
}

} // namespace ptxrun::simt
