// What the machine offers: processor, threads, memory, code cache, kernel.
#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "loader/device/host.h"
#include "loader/machine/device_info.h"
#include "loader/machine/memory_size.h"
#include "loader/ptxrun/doctor.h"
#include "loader/ptxrun/settings.h"

namespace ptxrun::command {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kGiB = 1ull << 30;
/// The kernel that MAP_FIXED_NOREPLACE came with: device memory is placed by it.
constexpr int kOldestKernel[] = {4, 17};
/// Below this, a module of some size and its temporary copy do not fit.
constexpr uint64_t kLittleCacheSpace = 64 << 20;

std::string firstLine(const fs::path &file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// Processors' worth of time that the control groups allow; infinity where they do not say. Version
/// 2 has "max 100000" or "150000 100000", version 1 two files.
double processorLimit() {
  double most = INFINITY;
  const auto use = [&](double quota, double period) {
    if (quota > 0 && period > 0)
      most = std::min(most, quota / period);
  };
  std::ifstream own("/proc/self/cgroup");
  for (std::string line; std::getline(own, line);) {
    if (!line.starts_with("0::"))
      continue;
    for (fs::path folder = "/sys/fs/cgroup" + line.substr(3);; folder = folder.parent_path()) {
      double quota = 0, period = 0;
      if (std::istringstream(firstLine(folder / "cpu.max")) >> quota >> period)
        use(quota, period);
      if (folder == "/sys/fs/cgroup" || folder == folder.parent_path())
        break;
    }
  }
  const std::string quota = firstLine("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  if (!quota.empty())
    use(std::atof(quota.c_str()),
        std::atof(firstLine("/sys/fs/cgroup/cpu/cpu.cfs_period_us").c_str()));
  return most;
}

/// Whether memory that was written can be made executable: what a just-in-time compiler lives on.
bool canMakeExecutable() {
  const size_t bytes = size_t(sysconf(_SC_PAGESIZE));
  void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return false;
  static_cast<unsigned char *>(at)[0] = 0xc3;
  const bool can = mprotect(at, bytes, PROT_READ | PROT_EXEC) == 0;
  munmap(at, bytes);
  return can;
}

/// Whether a process may be traced, as debuggers do.
bool canTrace() {
  const pid_t child = fork();
  if (child == 0)
    _exit(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 0 : 1);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

bool hasUserFaults() {
  const long descriptor = syscall(SYS_userfaultfd, 0);
  if (descriptor < 0)
    return false;
  close(int(descriptor));
  return true;
}

/// Whether files can be made in a folder, or in its nearest parent that exists. Tried, since root
/// may do what permissions deny and may not what the file system cannot; nothing is left behind.
bool isWritable(fs::path folder) {
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_relative_path())
    folder = folder.parent_path();
  std::string name = (folder / ".ptxrun-XXXXXX").string();
  return fs::is_directory(folder, error) && mkdtemp(name.data()) && rmdir(name.c_str()) == 0;
}

struct CacheSize {
  uint64_t entries = 0, bytes = 0;
};

CacheSize sizeOf(const std::string &folder) {
  CacheSize size;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    if (const uint64_t bytes = entry->file_size(gone); !gone && entry->is_regular_file(gone))
      ++size.entries, size.bytes += bytes;
  }
  return size;
}

/// The words of a variable that OpenMP reads; only those that are set.
nlohmann::ordered_json openMpSettings() {
  nlohmann::ordered_json set = nlohmann::ordered_json::object();
  for (const char *name : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_PROC_BIND", "OMP_PLACES",
                           "OMP_WAIT_POLICY", "OMP_DYNAMIC", "KMP_AFFINITY", "KMP_BLOCKTIME"})
    if (const std::string value = variable(name); !value.empty())
      set[name] = value;
  return set;
}

} // namespace

std::string readableBytes(uint64_t bytes) {
  const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = double(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit && value < 100 ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

void examineProcessor(Diagnosis &diagnosis) {
  std::string model = machine::deviceInfo().name;
  if (const size_t open = model.find('('); open != std::string::npos && model.ends_with(')'))
    model = model.substr(open + 1, model.size() - open - 2);
  const device::Host host = device::host();
  std::string text = model + ": " + host.level;
  if (host.usedLevel != host.level)
    text += ", " + host.usedLevel + " is used (PTXRUN_CPU)";
  text += ", vectors of " + std::to_string(host.vectorBytes) + " bytes";
  diagnosis.know("processor", text,
                 {{"model", model},
                  {"level", host.level},
                  {"usedLevel", host.usedLevel},
                  {"vectorBytes", host.vectorBytes}});
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt"))
    diagnosis.find("processor", "this processor has no SSE4.2, which generated code needs",
                   "let the virtual machine show the processor as it is, or use a newer one");
  if (host.usedLevel != host.level)
    diagnosis.notes.push_back("PTXRUN_CPU holds code to " + host.usedLevel +
                              "; this processor has " + host.level);
}

void examineThreads(Diagnosis &diagnosis) {
  const int online = int(sysconf(_SC_NPROCESSORS_ONLN)), allowed = machine::deviceInfo().workers;
  const double limit = processorLimit();
  const nlohmann::ordered_json openMp = openMpSettings();
  int threads = allowed;
  const std::string wanted = variable("OMP_NUM_THREADS");
  int given = 0;
  const bool isGiven =
      std::from_chars(wanted.data(), wanted.data() + wanted.size(), given).ec == std::errc();
  if (isGiven && given > 0)
    threads = given;
  std::string text = std::to_string(threads) + " for a launch, on " + std::to_string(allowed) +
                     " of " + std::to_string(online) + " processors";
  text += std::isinf(limit) ? "" : ", the control group allows the time of " + number(limit);
  for (const auto &[name, value] : openMp.items())
    text += "; " + name + "=" + value.get<std::string>();
  nlohmann::ordered_json value = {
      {"launch", threads}, {"allowed", allowed}, {"online", online}, {"openmp", openMp}};
  value["controlGroup"] =
      std::isinf(limit) ? nlohmann::ordered_json() : nlohmann::ordered_json(limit);
  diagnosis.know("threads", text, value);

  const double useful = std::min<double>(allowed, std::max(1.0, std::ceil(limit)));
  if (!wanted.empty() && (!isGiven || given < 1))
    diagnosis.find("threads", "OMP_NUM_THREADS=" + wanted + " is no number of threads",
                   "unset OMP_NUM_THREADS");
  else if (isGiven && given == 1 && useful > 1)
    diagnosis.find("threads",
                   "OMP_NUM_THREADS=1: launches run on one thread, and " + number(useful) +
                       " processors could be used",
                   "unset OMP_NUM_THREADS");
  else if (threads > useful)
    diagnosis.find("threads",
                   std::to_string(threads) + " threads share the time of " + number(useful) +
                       " processors: they wait for each other",
                   "set OMP_NUM_THREADS=" + number(useful));
  if (const std::string most = variable("OMP_THREAD_LIMIT");
      !most.empty() && std::atoi(most.c_str()) < useful)
    diagnosis.find("threads", "OMP_THREAD_LIMIT=" + most + " is fewer than the processors",
                   "unset OMP_THREAD_LIMIT");
}

void examineMemory(Diagnosis &diagnosis) {
  const uint64_t all = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  const uint64_t device = machine::totalMemory(), available = machine::unusedHostMemory();
  const std::string pages = firstLine("/sys/kernel/mm/transparent_hugepage/enabled");
  const size_t open = pages.find('['), end = pages.find(']');
  const std::string huge = open != std::string::npos && end != std::string::npos
                               ? pages.substr(open + 1, end - open - 1)
                               : "unknown";
  const unsigned devices = machine::deviceCount();
  const std::string have =
      devices == 1 ? "the device has " : "each of " + std::to_string(devices) + " devices has ";
  diagnosis.know("memory",
                 readableBytes(all) + ", " + readableBytes(available) + " available; " + have +
                     readableBytes(device) + "; huge pages: " + huge,
                 {{"bytes", all},
                  {"available", available},
                  {"device", device},
                  {"devices", devices},
                  {"hugePages", huge}});
  if (huge == "never")
    diagnosis.notes.push_back(
        "huge pages are switched off: kernels that touch much memory are slower "
        "(/sys/kernel/mm/transparent_hugepage/enabled)");
  if (device > all / devices)
    diagnosis.find(
        "memory",
        "PTXRUN_MEMORY is " + readableBytes(device) +
            (devices == 1 ? "" : " for each of " + std::to_string(devices) + " devices") +
            ", and the machine has " + readableBytes(all),
        "set PTXRUN_MEMORY to less");
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < 64 * kGiB)
    diagnosis.find("address-space",
                   "addresses are limited to " + readableBytes(limit.rlim_cur) +
                       " (ulimit -v); device memory and fibers reserve more than they use",
                   "ulimit -v unlimited");
  if (firstLine("/proc/sys/vm/overcommit_memory") == "2")
    diagnosis.notes.push_back("the kernel does not overcommit memory (vm.overcommit_memory=2): "
                              "large reservations may fail");
}

void examineCache(Diagnosis &diagnosis) {
  const std::string folder = device::host().cacheFolder;
  if (folder.empty()) {
    const std::string chosen = variable("PTXRUN_CACHE");
    diagnosis.know("code cache", chosen.empty() ? "none" : "switched off (PTXRUN_CACHE)",
                   {{"folder", nullptr}});
    if (chosen.empty())
      diagnosis.find("cache",
                     "there is no place for the code cache: neither HOME nor XDG_CACHE_HOME is set",
                     "set PTXRUN_CACHE to a folder");
    else
      diagnosis.notes.push_back(
          "PTXRUN_CACHE switches the code cache off: every process compiles its kernels again");
    return;
  }
  const bool canWrite = isWritable(folder);
  const CacheSize size = sizeOf(folder);
  diagnosis.know("code cache",
                 folder + ": " + std::to_string(size.entries) + " files, " +
                     readableBytes(size.bytes) + (canWrite ? "" : ", read-only"),
                 {{"folder", folder},
                  {"files", size.entries},
                  {"bytes", size.bytes},
                  {"isWritable", canWrite}});
  if (!canWrite)
    diagnosis.find("cache",
                   "the code cache " + folder +
                       " cannot be written: every process compiles its kernels again",
                   "make it writable, or set PTXRUN_CACHE to a folder that is");
  fs::path existing = folder;
  std::error_code error;
  while (!fs::exists(existing, error) && existing.has_relative_path())
    existing = existing.parent_path();
  struct statvfs space;
  if (canWrite && statvfs(existing.c_str(), &space) == 0 &&
      uint64_t(space.f_bavail) * space.f_frsize < kLittleCacheSpace)
    diagnosis.find("cache", "there is hardly any space left for the code cache " + folder,
                   "make room, or set PTXRUN_CACHE to a folder elsewhere");
}

void examineSystem(Diagnosis &diagnosis) {
  utsname kernel{};
  uname(&kernel);
  const bool executes = canMakeExecutable(), traces = canTrace(), faults = hasUserFaults();
  const std::string scope = firstLine("/proc/sys/kernel/yama/ptrace_scope");
  diagnosis.know("system",
                 std::string("Linux ") + kernel.release + ", glibc " + gnu_get_libc_version() +
                     (traces ? "; debuggers can trace" : "; debuggers cannot trace") +
                     (faults ? "; userfaultfd" : "; no userfaultfd"),
                 {{"kernel", kernel.release},
                  {"glibc", gnu_get_libc_version()},
                  {"canMakeExecutable", executes},
                  {"canTrace", traces},
                  {"ptraceScope", scope},
                  {"userfaultfd", faults}});
  int major = 0, minor = 0;
  if (std::sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&
      std::pair(major, minor) < std::pair(kOldestKernel[0], kOldestKernel[1]))
    diagnosis.find("kernel",
                   std::string("Linux ") + kernel.release +
                       " is older than 4.17: device memory cannot be placed",
                   "use a newer kernel");
  if (!executes)
    diagnosis.find("executable-memory",
                   "memory cannot be made executable here, so no kernel can be compiled",
                   "allow it (SELinux: execmem; systemd: MemoryDenyWriteExecute=no)");
  if (!traces)
    diagnosis.notes.push_back(
        "processes cannot be traced here: gdb does not work; ptxrun debug does");
  struct statvfs temporary;
  const std::string folder = variable("TMPDIR").empty() ? "/tmp" : variable("TMPDIR");
  if (statvfs(folder.c_str(), &temporary) != 0 || access(folder.c_str(), W_OK) != 0)
    diagnosis.find("temporary-files", folder + " cannot be written",
                   "set TMPDIR to a folder that can");
  else if (temporary.f_flag & ST_NOEXEC)
    diagnosis.notes.push_back(folder + " is mounted noexec: programs that compile extension "
                                       "modules there fail (Triton, PyCUDA); set TMPDIR");
}

void examineSettings(Diagnosis &diagnosis) {
  std::vector<std::string> all;
  nlohmann::ordered_json set = nlohmann::ordered_json::object();
  std::string text;
  for (char **entry = environ; *entry; ++entry) {
    const std::string_view one = *entry;
    if (!one.starts_with("PTXRUN") && !one.starts_with("CUDA_VISIBLE_DEVICES="))
      continue;
    all.emplace_back(one);
    const size_t equals = std::min(one.find('='), one.size() - 1);
    set[std::string(one.substr(0, equals))] = std::string(one.substr(equals + 1));
    text += (text.empty() ? "" : " ") + std::string(one);
  }
  diagnosis.know("environment", text.empty() ? "nothing is set" : text, set);
  for (const WrongSetting &wrong : wrongSettings(all))
    diagnosis.find("variable", wrong.text, wrong.advice);
  if (const auto visible = set.find("CUDA_VISIBLE_DEVICES"); visible != set.end()) {
    const std::string devices = *visible;
    if (!devices.starts_with("GPU-") && devices.substr(0, devices.find(',')) != "0")
      diagnosis.find("visible-devices",
                     "CUDA_VISIBLE_DEVICES=" + devices + " hides every device from programs",
                     "unset CUDA_VISIBLE_DEVICES");
  }
}

} // namespace ptxrun::command
