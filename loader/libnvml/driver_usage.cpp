#include "loader/libnvml/driver_usage.h"

#include <dlfcn.h>

#include <atomic>

#include "loader/libcuda/usage_table.h"

namespace ptxrun::nvml {

namespace {

/// The table of a driver that is loaded already; null where there is none, or none of ours.
const driver::UsageTable *findTable() {
  void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!library)
    return nullptr;
  using GetExportTable = CUresult (*)(const void **, const CUuuid *);
  const auto getTable = reinterpret_cast<GetExportTable>(dlsym(library, "cuGetExportTable"));
  const void *table = nullptr;
  const bool isOurs =
      getTable && getTable(&table, &driver::kUsageTableId) == CUDA_SUCCESS && table != nullptr;
  dlclose(library);
  return isOurs ? static_cast<const driver::UsageTable *>(table) : nullptr;
}

/// Kept once found: the driver is never unloaded (-z nodelete).
const driver::UsageTable *table() {
  static std::atomic<const driver::UsageTable *> known{nullptr};
  if (const auto *kept = known.load(std::memory_order_acquire))
    return kept;
  const auto *found = findTable();
  known.store(found, std::memory_order_release);
  return found;
}

} // namespace

std::optional<DriverUsage> driverUsage(unsigned index) {
  DriverUsage usage;
  const auto *found = table();
  if (!found || found->bytes < sizeof *found || !found->memory(index, &usage.held, &usage.free))
    return std::nullopt;
  return usage;
}

} // namespace ptxrun::nvml
