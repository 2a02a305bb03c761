// cuGetProcAddress: from a function's name and the version of the wanted signature to its address.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "loader/libcuda/proc_address.h"

// Addresses only: signatures play no part here, so the API's declarations must not be seen.
#define FUNCTION(name, version, symbol) extern "C" void symbol();
#define PER_THREAD(name, version, symbol) FUNCTION(name, version, symbol)
#define ALIAS(name, version, symbol)
#include "loader/libcuda/functions.def"
#undef FUNCTION
#undef PER_THREAD
#undef ALIAS

namespace ptxrun::driver {

struct FunctionEntry {
  std::string_view name;
  int version;
  bool isPerThread;
  void (*address)();
};

namespace {

constexpr FunctionEntry kFunctions[] = {
#define FUNCTION(name, version, symbol) {#name, version, false, &symbol},
#define PER_THREAD(name, version, symbol) {#name, version, true, &symbol},
#define ALIAS(name, version, symbol) {#name, version, false, &symbol},
#include "loader/libcuda/functions.def"
};

/// The table, sorted by name; made at the first question.
const std::vector<const FunctionEntry *> &sortedFunctions() {
  static const auto *sorted = [] {
    auto *all = new std::vector<const FunctionEntry *>;
    for (const FunctionEntry &entry : kFunctions)
      all->push_back(&entry);
    std::ranges::sort(*all, {}, &FunctionEntry::name);
    return all;
  }();
  return *sorted;
}

} // namespace

Lookup findFunction(std::string_view name, int version, bool isPerThread, void **address) {
  const auto [begin, end] =
      std::ranges::equal_range(sortedFunctions(), name, {}, &FunctionEntry::name);
  const FunctionEntry *best = nullptr, *bestPerThread = nullptr;
  for (auto entry = begin; entry != end; ++entry) {
    if ((*entry)->version > version)
      continue;
    const FunctionEntry *&slot = (*entry)->isPerThread ? bestPerThread : best;
    if (!slot || (*entry)->version > slot->version)
      slot = *entry;
  }
  if (isPerThread && bestPerThread)
    best = bestPerThread;
  *address = best ? reinterpret_cast<void *>(best->address) : nullptr;
  if (best)
    return Lookup::found;
  return begin == end ? Lookup::unknownName : Lookup::versionTooLow;
}

} // namespace ptxrun::driver
