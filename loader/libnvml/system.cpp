// The system: versions, processes' names, and what it has none of.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "loader/libcuda/cuda_abi.h"
#include "loader/libnvml/library.h"
#include "loader/libnvml/nvml_api.h"

using namespace ptxrun::nvml;

namespace {

/// The least driver that CUDA 13.0 asks for: programs compare numbers, so that it is nothing else.
constexpr const char *kDriverVersion = "580.65.06";
constexpr int kNvmlMajor = 13;

/// The command line as the process was started, its words with zeros in between.
std::string readCommandLine(unsigned pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

nvmlReturn_t storeCudaVersion(int *version) {
  return answer([&] { return store(version, CUDA_VERSION); });
}

nvmlReturn_t storeNone(unsigned *count) {
  return answer([&] { return store(count, 0); });
}

} // namespace

PTXRUN_NVML_API nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned length) {
  return answer([&] { return copyText(kDriverVersion, version, length); });
}

PTXRUN_NVML_API nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned length) {
  return answer(
      [&] { return copyText(std::to_string(kNvmlMajor) + "." + kDriverVersion, version, length); });
}

PTXRUN_NVML_API nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version) {
  return storeCudaVersion(version);
}
PTXRUN_NVML_API nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version) {
  return storeCudaVersion(version);
}

/// A name that does not fit is cut short, as NVIDIA's library does it (seen on an H100).
PTXRUN_NVML_API nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length) {
  return answer([&] {
    if (!name || length == 0)
      return NVML_ERROR_INVALID_ARGUMENT;
    const std::string line = readCommandLine(pid);
    if (line.empty())
      return NVML_ERROR_NOT_FOUND;
    name[line.copy(name, length - 1)] = 0;
    return NVML_SUCCESS;
  });
}

/// Host interface cards, S-class units, devices kept from the driver: there are none.
PTXRUN_NVML_API nvmlReturn_t nvmlSystemGetHicVersion(unsigned *count, void *) {
  return storeNone(count);
}
PTXRUN_NVML_API nvmlReturn_t nvmlUnitGetCount(unsigned *count) { return storeNone(count); }
PTXRUN_NVML_API nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned *count) {
  return storeNone(count);
}
PTXRUN_NVML_API nvmlReturn_t nvmlGetBlacklistDeviceCount(unsigned *count) {
  return storeNone(count);
}
