// cuInit, versions, and what every call checks first.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "loader/capture/recorder.h"
#include "loader/device/device.h"
#include "loader/device/summary.h"
#include "loader/image/nvidia_libraries.h"
#include "loader/libcuda/api.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/stream.h"
#include "loader/libcuda/usage_table.h"
#include "loader/machine/presence.h"
#include "rt/observe/trace.h"

namespace ptxrun::driver {

namespace {

enum class State { untouched, initialised, forked };
std::atomic<State> state{State::untouched};
/// A descriptor for the summary; below 0: there will be none. Its own, since programs may have
/// closed their streams when the process ends.
int summaryFile = -1;

/// A fork's child has none of the worker threads: the driver cannot be used there.
void afterForkInChild() {
  if (state == State::initialised)
    state = State::forked;
}

void writeSummary() {
  if (summaryFile < 0)
    return;
  const std::string text = ptxrun::device::summary::text();
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(summaryFile, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return;
    done += static_cast<size_t>(written);
  }
}

/// Runs when the library is unloaded or the process ends, after the program's own static
/// destructors.
__attribute__((destructor)) void atUnload() {
  if (state != State::initialised)
    return;
  stopWorkers();
  if (auto *recorder = ptxrun::capture::Recorder::instance())
    recorder->finish();
  ptxrun::rt::trace::finish();
  reportRepeats();
  writeSummary();
}

/// PTXRUN_RECORD and its relatives: what the program does goes to a file.
void startRecording() {
  ptxrun::capture::RecordOptions options;
  std::string problem;
  if (!ptxrun::capture::readRecordOptions(options, problem))
    return;
  if (problem.empty())
    problem = ptxrun::capture::Recorder::start(options);
  if (!problem.empty())
    report("nothing is recorded: %s", problem.c_str());
}

/// The file that a variable of the environment names; %p in it becomes the process's number.
std::string fileFrom(const char *variable) {
  const char *given = std::getenv(variable);
  std::string file = given ? given : "";
  if (const size_t at = file.find("%p"); at != std::string::npos)
    file.replace(at, 2, std::to_string(getpid()));
  return file;
}

/// PTXRUN_TRACE=FILE.
void startTrace() {
  const std::string file = fileFrom("PTXRUN_TRACE");
  if (!file.empty() && !ptxrun::rt::trace::start(file))
    report("nothing is traced: %s cannot be written", file.c_str());
}

/// PTXRUN_SUMMARY=1 (standard error) or FILE.
void startSummary() {
  const std::string file = fileFrom("PTXRUN_SUMMARY");
  if (file.empty() || file == "0")
    return;
  summaryFile = file == "1" ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
                            : open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (summaryFile >= 0)
    ptxrun::device::summary::start();
  else
    report("there will be no summary: %s cannot be written", file.c_str());
}

} // namespace

CUresult initialise() {
  if (state == State::untouched) {
    static std::once_flag once;
    std::call_once(once, [] {
      pthread_atfork(nullptr, nullptr, afterForkInChild);
      startRecording();
      startTrace();
      startSummary();
      ptxrun::device::prepare();
      state = State::initialised;
      ptxrun::machine::announceProcess();
      for (CUdevice device = 0; device < deviceCount(); ++device)
        announceHeldMemory(device);
    });
  }
  return checkInitialised();
}

CUresult checkInitialised() {
  if (shutdownFlag().load(std::memory_order_relaxed))
    return CUDA_ERROR_DEINITIALIZED;
  return state.load(std::memory_order_relaxed) == State::initialised ? CUDA_SUCCESS
                                                                     : CUDA_ERROR_NOT_INITIALIZED;
}

} // namespace ptxrun::driver

using namespace ptxrun::driver;

PTXRUN_API CUresult cuInit(unsigned int flags) {
  if (flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  return initialise();
}

PTXRUN_API CUresult cuDriverGetVersion(int *version) {
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

namespace {

/// Asked for by NVIDIA's runtime where it is linked into a program, and by nothing else.
constexpr unsigned char kRuntimeTable[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                             0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

/// The object whose code called the driver; empty where it cannot be told.
std::string callingObject() {
  std::array<void *, 16> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  Dl_info own{}, caller{};
  dladdr(static_cast<const void *>(&kRuntimeTable), &own);
  for (int i = 0; i < count; ++i)
    if (dladdr(frames[size_t(i)], &caller) && caller.dli_fbase != own.dli_fbase)
      return caller.dli_fname;
  return "";
}

/// A library of functions asks for tables when it is to compute; its own words for what follows
/// lead nowhere. Told once of each. Returns whether `object` is one.
bool tellOfLibrary(const std::string &object) {
  const std::string file = object.substr(object.rfind('/') + 1);
  if (ptxrun::image::nvidiaLibrary(file) != ptxrun::image::NvidiaLibrary::machineCode)
    return false;
  static std::mutex mutex;
  static auto *const told = new std::set<std::string>; // driver calls come during exit, too
  const std::lock_guard lock(mutex);
  if (told->insert(file).second)
    report("%s is NVIDIA's and made of machine code for GPUs: what it computes cannot be run here",
           file.c_str());
  return true;
}

/// Every call of such a runtime is going to fail, too. Told once.
void tellOfStaticRuntime(const std::string &object) {
  static std::once_flag told;
  const char *audit = getenv("LD_AUDIT"); // `ptxrun exec` has replaced it, or said why not
  if (audit && strstr(audit, "libptxrun_audit"))
    return;
  std::call_once(told, [&] {
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program);
    const std::string path(program, length > 0 ? static_cast<size_t>(length) : 0);
    report("%s has NVIDIA's CUDA runtime inside (nvcc's default), which cannot work with this "
           "driver. Start it by: ptxrun exec %s (or link it with nvcc -cudart shared)",
           object.c_str(), path.c_str());
  });
}

} // namespace

/// Asked for by NVRTC and nvJitLink, which do without; the static runtime is served by `ptxrun
/// exec` instead. The one table there is serves our own libnvidia-ml.so.1.
PTXRUN_API CUresult cuGetExportTable(const void **table, const CUuuid *id) {
  if (!table || !id)
    return CUDA_ERROR_INVALID_VALUE;
  const bool isUsage = memcmp(id, &kUsageTableId, sizeof *id) == 0;
  *table = isUsage ? &usageTable() : nullptr;
  if (!isUsage)
    if (const std::string object = callingObject();
        !tellOfLibrary(object) && memcmp(id, kRuntimeTable, sizeof kRuntimeTable) == 0)
      tellOfStaticRuntime(object);
  return isUsage ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
