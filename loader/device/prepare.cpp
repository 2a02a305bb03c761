#include <mutex>

#include "loader/device/background.h"
#include "loader/device/device.h"
#include "loader/device/join.h"
#include "rt/exec/run.h"
#include "rt/launch/sanitizers.h"
#include "translate/translate.h"

namespace ptxrun::device {

namespace {

constexpr const char *kTrial = ".version 8.0\n.target sm_80\n.address_size 64\n"
                               ".visible .entry trial() { ret; }\n";

/// What the first kernel will need of the compiler is then in memory: a compiler that has just come
/// from disk takes half as long again for its first kernel. The trial never runs.
void compileTrial() {
  translate::Options options;
  options.useCache = false;
  std::string errors;
  const auto module = translate::Module::load("trial", kTrial, options, errors);
  if (!module)
    return;
  CodeOptions key;
  key.block = {32, 1, 1};
  key.tier = Tier::baseline;
  llvm::consumeError(
      module->kernel("trial", key, [](std::string_view) { return nullptr; }).takeError());
}

} // namespace

void prepare() {
  static std::once_flag once;
  std::call_once(once, [] {
    joinTranslateAndRuntime();
#if defined(PTXRUN_ASAN) || defined(PTXRUN_TSAN)
    rt::startHelpers();
    compileTrial(); // now: the static objects of libLLVM must come before what ends our threads
#else
    runInBackground([] {
      rt::startHelpers();
      if (translate::hasCachedCode())
        compileTrial();
    });
#endif
  });
}

void readyCompiler() {
  static std::once_flag once;
  std::call_once(once, [] {
    joinTranslateAndRuntime();
    if (!translate::hasCachedCode())
      compileTrial();
  });
}

} // namespace ptxrun::device
