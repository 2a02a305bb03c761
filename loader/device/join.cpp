#include "loader/device/join.h"

#include <mutex>

#include "intrinsics/abi.h"
#include "intrinsics/access_abi.h"
#include "intrinsics/debug_abi.h"
#include "intrinsics/tensor_abi.h"
#include "loader/device/device.h"
#include "rt/launch/code_ranges.h"
#include "translate/jit/jit.h"

namespace ptxrun::device {

void joinTranslateAndRuntime() {
  static std::once_flag once;
  std::call_once(once, [] {
#define RUNTIME_ENTRY(name)                                                                        \
  jit::registerRuntimeSymbol(#name, reinterpret_cast<const void *>(&::name));
#include "runtime_entries.def"
#undef RUNTIME_ENTRY
    jit::setCodeListener({[](const void *begin, const void *end) { rt::registerCode(begin, end); },
                          [](const void *begin, const void *) { rt::unregisterCode(begin); }});
  });
}

} // namespace ptxrun::device
