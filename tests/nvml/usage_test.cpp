// What the device is doing and where it stands: memory, processes, utilisation, processors.
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/nvml/nvml_fixture.h"

namespace ptxrun::tests {

class NvmlUsage : public NvmlTest {
 protected:
  nvmlMemory_t memory() {
    nvmlMemory_t memory{};
    EXPECT_NVML(NVML(nvmlDeviceGetMemoryInfo)(device_, &memory));
    return memory;
  }
};

/// With the driver initialised and a context.
class NvmlDriverUsage : public NvmlUsage {
 protected:
  void SetUp() override {
    NvmlUsage::SetUp();
    ASSERT_DRIVER(cuInit(0));
    ASSERT_DRIVER(cuCtxCreate(&context_, nullptr, 0, 0));
  }
  void TearDown() override {
    cuCtxDestroy(context_);
    NvmlUsage::TearDown();
  }

  /// The machine's own memory changes between two questions, unless PTXRUN_MEMORY leaves it aside.
  void expectDriversMemory() {
    size_t free = 0, total = 0;
    ASSERT_DRIVER(cuMemGetInfo(&free, &total));
    const nvmlMemory_t read = memory();
    EXPECT_EQ(read.total, total);
    EXPECT_EQ(read.used, read.total - read.free);
    if (getenv("PTXRUN_MEMORY"))
      EXPECT_EQ(read.free, free);
  }

  CUcontext context_ = nullptr;
};

TEST_F(NvmlDriverUsage, MemoryAgreesWithTheDriver) {
  expectDriversMemory();
  CUdeviceptr block = 0;
  ASSERT_DRIVER(cuMemAlloc(&block, 32 << 20));
  expectDriversMemory();
  EXPECT_GE(memory().used, 32u << 20);
  ASSERT_DRIVER(cuMemFree(block));
  expectDriversMemory();
}

TEST_F(NvmlDriverUsage, PhysicalMemoryObjectsCount) {
  CUmemAllocationProp property{};
  property.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  property.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemGenericAllocationHandle handle = 0;
  ASSERT_DRIVER(cuMemCreate(&handle, 32 << 20, &property, 0));
  expectDriversMemory();
  EXPECT_GE(memory().used, 32u << 20);
  ASSERT_DRIVER(cuMemRelease(handle));
}

TEST_F(NvmlUsage, MemoryHasTheDriversSizeBeforeItIsInitialised) {
  size_t total = 0;
  const nvmlMemory_t before = memory();
  ASSERT_DRIVER(cuInit(0));
  ASSERT_DRIVER(cuDeviceTotalMem(&total, 0));
  EXPECT_EQ(before.total, total);
  EXPECT_LE(before.free, before.total);
}

TEST_F(NvmlUsage, MemoryIsTheSameInEveryForm) {
  nvmlMemory_v2_t second{};
  EXPECT_ANSWER(NVML(nvmlDeviceGetMemoryInfo_v2)(device_, &second),
                NVML_ERROR_FUNCTION_NOT_FOUND); // as on an H100
  second.version = 0x2000028;
  EXPECT_NVML(NVML(nvmlDeviceGetMemoryInfo_v2)(device_, &second));
  nvmlBAR1Memory_t window{};
  EXPECT_NVML(NVML(nvmlDeviceGetBAR1MemoryInfo)(device_, &window));
  EXPECT_EQ(second.total, memory().total);
  EXPECT_EQ(window.bar1Total, memory().total);
  EXPECT_EQ(second.used + second.free + second.reserved, second.total);
}

TEST_F(NvmlDriverUsage, ProcessesFollowTheProtocolOfSizes) {
  CUdeviceptr block = 0;
  ASSERT_DRIVER(cuMemAlloc(&block, 8 << 20));
  unsigned count = 0;
  constexpr unsigned kRoom = 256;
  nvmlProcessInfo_t infos[kRoom];
  const auto list = NVML(nvmlDeviceGetComputeRunningProcesses_v3);
  EXPECT_ANSWER(list(device_, &count, nullptr), NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_GE(count, 1u); // this one comes first; others may run
  count = kRoom;
  EXPECT_NVML(list(device_, &count, infos));
  ASSERT_GE(count, 1u);
  EXPECT_EQ(infos[0].pid, static_cast<unsigned>(getpid()));
  EXPECT_GE(infos[0].usedGpuMemory, 8u << 20);
  EXPECT_EQ(infos[0].gpuInstanceId, UINT_MAX);
  nvmlProcessInfo_v1_t first[kRoom + 1];
  for (nvmlProcessInfo_v1_t &info : first)
    info.pid = 77;
  count = kRoom;
  EXPECT_NVML(NVML(nvmlDeviceGetComputeRunningProcesses)(device_, &count, first));
  EXPECT_EQ(first[0].pid, static_cast<unsigned>(getpid()));
  ASSERT_LE(count, kRoom);
  EXPECT_EQ(first[count].pid, 77u);
  EXPECT_ANSWER(list(device_, nullptr, infos), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_ANSWER(list(device_, &count, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  ASSERT_DRIVER(cuMemFree(block));
}

/// The other process of the next test: holds memory until its standard input ends.
TEST_F(NvmlDriverUsage, HoldsMemoryWhereAnotherTestAsks) {
  if (!getenv("PTXRUN_TEST_HOLDS"))
    GTEST_SKIP() << "started by SeesOtherProcesses";
  CUdeviceptr block = 0;
  ASSERT_DRIVER(cuMemAlloc(&block, 24 << 20));
  printf("holds\n");
  fflush(stdout);
  char end = 0;
  EXPECT_EQ(read(STDIN_FILENO, &end, 1), 0);
}

long long heldBy(nvmlDevice_t device, pid_t process) {
  nvmlProcessInfo_t infos[256];
  unsigned count = 256;
  EXPECT_NVML(NVML(nvmlDeviceGetComputeRunningProcesses_v3)(device, &count, infos));
  for (unsigned i = 0; i < count; ++i)
    if (infos[i].pid == static_cast<unsigned>(process))
      return static_cast<long long>(infos[i].usedGpuMemory);
  return -1;
}

TEST_F(NvmlUsage, SeesOtherProcesses) {
  int output[2], input[2];
  ASSERT_EQ(pipe2(output, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(input, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(output[1], STDOUT_FILENO);
    dup2(input[0], STDIN_FILENO);
    setenv("PTXRUN_TEST_HOLDS", "1", 1);
    execl("/proc/self/exe", "nvml_test",
          "--gtest_filter=NvmlDriverUsage.HoldsMemoryWhereAnotherTestAsks", nullptr);
    _exit(127);
  }
  close(output[1]);
  close(input[0]);
  std::string said;
  for (char c = 0; said.find("holds\n") == std::string::npos && read(output[0], &c, 1) == 1;)
    said += c;
  ASSERT_NE(said.find("holds\n"), std::string::npos) << said;
  EXPECT_GE(heldBy(device_, child), 24ll << 20);
  close(input[1]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(heldBy(device_, child), -1);
  close(output[0]);
}

TEST_F(NvmlUsage, NoProcessDraws) {
  unsigned count = 0;
  EXPECT_NVML(NVML(nvmlDeviceGetGraphicsRunningProcesses_v3)(device_, &count, nullptr));
  EXPECT_EQ(count, 0u);
  EXPECT_NVML(NVML(nvmlDeviceGetMPSComputeRunningProcesses_v2)(device_, &count, nullptr));
  EXPECT_EQ(count, 0u);
}

TEST_F(NvmlUsage, NamesProcesses) {
  char name[256], few[5];
  EXPECT_NVML(NVML(nvmlSystemGetProcessName)(getpid(), name, sizeof name));
  EXPECT_NE(strstr(name, "nvml_test"), nullptr);
  EXPECT_NVML(
      NVML(nvmlSystemGetProcessName)(getpid(), few, sizeof few)); // cut short, as on an H100
  EXPECT_EQ(few, std::string(name).substr(0, 4));
  EXPECT_ANSWER(NVML(nvmlSystemGetProcessName)(getpid(), name, 0), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_ANSWER(NVML(nvmlSystemGetProcessName)(99999999, name, 64), NVML_ERROR_NOT_FOUND);
}

TEST_F(NvmlUsage, UtilisationSeesAThreadThatSpins) {
  nvmlUtilization_t rates{};
  EXPECT_NVML(NVML(nvmlDeviceGetUtilizationRates)(device_, &rates));
  EXPECT_LE(rates.gpu, 100u);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  while (std::chrono::steady_clock::now() < end) {
  }
  EXPECT_NVML(NVML(nvmlDeviceGetUtilizationRates)(device_, &rates));
  EXPECT_LE(rates.gpu, 100u);
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  if (CPU_COUNT(&set) <= 16) // one of them all of the time: 6 % of 16
    EXPECT_GT(rates.gpu, 0u);
}

TEST_F(NvmlUsage, ClocksAreTheProcessors) {
  unsigned megahertz = 0;
  const nvmlReturn_t result = NVML(nvmlDeviceGetClockInfo)(device_, NVML_CLOCK_SM, &megahertz);
  if (result == NVML_SUCCESS)
    EXPECT_GT(megahertz, 100u);
  else
    EXPECT_ANSWER(result, NVML_ERROR_NOT_SUPPORTED);
  EXPECT_ANSWER(NVML(nvmlDeviceGetClockInfo)(device_, NVML_CLOCK_MEM, &megahertz),
                NVML_ERROR_NOT_SUPPORTED);
  EXPECT_ANSWER(NVML(nvmlDeviceGetClockInfo)(device_, NVML_CLOCK_COUNT, &megahertz),
                NVML_ERROR_INVALID_ARGUMENT);
  const auto ask = NVML(nvmlDeviceGetClock);
  EXPECT_ANSWER(ask(device_, NVML_CLOCK_SM, NVML_CLOCK_ID_CURRENT, &megahertz), result);
  EXPECT_ANSWER(ask(device_, NVML_CLOCK_SM, static_cast<nvmlClockId_t>(1), &megahertz),
                NVML_ERROR_NOT_SUPPORTED);
  EXPECT_ANSWER(ask(device_, NVML_CLOCK_SM, NVML_CLOCK_ID_COUNT, &megahertz),
                NVML_ERROR_INVALID_ARGUMENT);
  const bool isScaled = access("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", R_OK) == 0;
  EXPECT_ANSWER(NVML(nvmlDeviceGetMaxClockInfo)(device_, NVML_CLOCK_SM, &megahertz),
                isScaled ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED);
}

TEST_F(NvmlUsage, ProcessorsAreThoseOfTheProcess) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(getpid(), sizeof set, &set), 0);
  cpu_set_t read;
  constexpr unsigned kWords = sizeof read / sizeof(unsigned long);
  auto *words = reinterpret_cast<unsigned long *>(&read);
  EXPECT_NVML(NVML(nvmlDeviceGetCpuAffinity)(device_, kWords, words));
  EXPECT_TRUE(CPU_EQUAL(&set, &read));
  CPU_ZERO(&read);
  EXPECT_NVML(
      NVML(nvmlDeviceGetCpuAffinityWithinScope)(device_, kWords, words, NVML_AFFINITY_SCOPE_NODE));
  EXPECT_TRUE(CPU_EQUAL(&set, &read));
  EXPECT_ANSWER(NVML(nvmlDeviceGetCpuAffinity)(device_, 0, words), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(NvmlUsage, IsNearItsProcessors) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(getpid(), sizeof set, &set), 0);
  nvmlDevice_t near = nullptr;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    unsigned count = 1;
    EXPECT_NVML(NVML(nvmlSystemGetTopologyGpuSet)(cpu, &count, &near));
    EXPECT_EQ(count, CPU_ISSET(cpu, &set) ? 1u : 0u) << cpu;
  }
  EXPECT_EQ(near, device_);
}

TEST_F(NvmlUsage, StandsAlone) {
  nvmlGpuP2PStatus_t status{};
  nvmlGpuTopologyLevel_t level{};
  unsigned count = 9;
  EXPECT_NVML(NVML(nvmlDeviceGetP2PStatus)(device_, device_, NVML_P2P_CAPS_INDEX_READ, &status));
  EXPECT_EQ(status, NVML_P2P_STATUS_NOT_SUPPORTED); // as on an H100
  EXPECT_NVML(NVML(nvmlDeviceGetTopologyCommonAncestor)(device_, device_, &level));
  EXPECT_EQ(level, NVML_TOPOLOGY_INTERNAL);
  EXPECT_ANSWER(NVML(nvmlDeviceGetTopologyCommonAncestor)(device_, nullptr, &level),
                NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_NVML(
      NVML(nvmlDeviceGetTopologyNearestGpus)(device_, NVML_TOPOLOGY_SYSTEM, &count, nullptr));
  EXPECT_EQ(count, 0u);
}

} // namespace ptxrun::tests
