// Settings of core dumps, of the process and of contexts: remembered and answered. No dump is
// written: what a kernel did wrong is said on stderr.
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"

using namespace ptxrun::driver;

namespace {

constexpr size_t kPathBytes = 1024;

/// Values as bytes, by attribute; texts without their end.
using Settings = std::map<int, std::string>;

struct AllSettings {
  std::mutex mutex;
  Settings global = {{CU_COREDUMP_ENABLE_ON_EXCEPTION, std::string(1, '\0')},
                     {CU_COREDUMP_TRIGGER_HOST, std::string(1, '\1')},
                     {CU_COREDUMP_LIGHTWEIGHT, std::string(1, '\0')},
                     {CU_COREDUMP_ENABLE_USER_TRIGGER, std::string(1, '\0')},
                     {CU_COREDUMP_FILE, ""},
                     {CU_COREDUMP_PIPE, ""},
                     {CU_COREDUMP_GENERATION_FLAGS, std::string(4, '\0')}};
  std::map<const Context *, Settings> ofContexts; // what differs from the global ones

  static AllSettings &instance() {
    static auto *settings = new AllSettings;
    return *settings;
  }
};

bool isText(int attribute) {
  return attribute == CU_COREDUMP_FILE || attribute == CU_COREDUMP_PIPE;
}

/// 0 for no attribute.
size_t bytesOf(int attribute) {
  if (attribute < CU_COREDUMP_ENABLE_ON_EXCEPTION || attribute >= CU_COREDUMP_MAX)
    return 0;
  return isText(attribute)                           ? kPathBytes
         : attribute == CU_COREDUMP_GENERATION_FLAGS ? sizeof(int)
                                                     : 1;
}

/// Two are the process's only.
bool isOfContexts(int attribute) {
  return attribute != CU_COREDUMP_ENABLE_USER_TRIGGER && attribute != CU_COREDUMP_PIPE;
}

CUresult get(const std::string &value, int attribute, void *out, size_t bytes) {
  const size_t needed = isText(attribute) ? value.size() + 1 : value.size();
  if (isText(attribute) ? bytes < needed : bytes != needed)
    return CUDA_ERROR_INVALID_VALUE;
  memcpy(out, value.c_str(), needed);
  return CUDA_SUCCESS;
}

CUresult read(const void *given, int attribute, size_t bytes, std::string &value) {
  if (isText(attribute) ? bytes > kPathBytes : bytes != bytesOf(attribute))
    return CUDA_ERROR_INVALID_VALUE;
  value.assign(static_cast<const char *>(given), bytes);
  if (isText(attribute))
    value.resize(strnlen(value.c_str(), value.size()));
  return CUDA_SUCCESS;
}

void sayThatNoneIsWritten(int attribute, const std::string &value) {
  static std::atomic<bool> isTold{false};
  if (attribute == CU_COREDUMP_ENABLE_ON_EXCEPTION && value[0] != 0 && !isTold.exchange(true))
    report("core dumps of kernels are not written");
}

/// Head of all: the sizes are asked for with a null value.
CUresult check(int attribute, const void *value, size_t *bytes, bool &isQuestion) {
  PTXRUN_TRY(checkInitialised());
  if (bytesOf(attribute) == 0 || !bytes)
    return CUDA_ERROR_INVALID_VALUE;
  isQuestion = !value;
  if (isQuestion)
    *bytes = bytesOf(attribute);
  return CUDA_SUCCESS;
}

CUresult enterOfContext(int attribute, Context *&context) {
  PTXRUN_TRY(enter(context));
  return isOfContexts(attribute) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

} // namespace

PTXRUN_API CUresult cuCoredumpGetAttribute(CUcoredumpSettings attribute, void *value,
                                           size_t *bytes) {
  Context *context = nullptr;
  bool isQuestion = false;
  PTXRUN_TRY(enterOfContext(attribute, context));
  PTXRUN_TRY(check(attribute, value, bytes, isQuestion));
  if (isQuestion)
    return CUDA_SUCCESS;
  AllSettings &all = AllSettings::instance();
  std::lock_guard lock(all.mutex);
  const Settings &own = all.ofContexts[context];
  const auto found = own.find(attribute);
  return get(found == own.end() ? all.global[attribute] : found->second, attribute, value, *bytes);
}

PTXRUN_API CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings attribute, void *value,
                                                 size_t *bytes) {
  bool isQuestion = false;
  PTXRUN_TRY(check(attribute, value, bytes, isQuestion));
  if (isQuestion)
    return CUDA_SUCCESS;
  AllSettings &all = AllSettings::instance();
  std::lock_guard lock(all.mutex);
  return get(all.global[attribute], attribute, value, *bytes);
}

PTXRUN_API CUresult cuCoredumpSetAttribute(CUcoredumpSettings attribute, void *value,
                                           size_t *bytes) {
  Context *context = nullptr;
  bool isQuestion = false;
  PTXRUN_TRY(enterOfContext(attribute, context));
  PTXRUN_TRY(check(attribute, value, bytes, isQuestion));
  if (isQuestion)
    return CUDA_SUCCESS;
  std::string text;
  PTXRUN_TRY(read(value, attribute, *bytes, text));
  sayThatNoneIsWritten(attribute, text);
  AllSettings &all = AllSettings::instance();
  std::lock_guard lock(all.mutex);
  all.ofContexts[context][attribute] = text;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuCoredumpSetAttributeGlobal(CUcoredumpSettings attribute, void *value,
                                                 size_t *bytes) {
  bool isQuestion = false;
  PTXRUN_TRY(check(attribute, value, bytes, isQuestion));
  if (isQuestion)
    return CUDA_SUCCESS;
  std::string text;
  PTXRUN_TRY(read(value, attribute, *bytes, text));
  sayThatNoneIsWritten(attribute, text);
  AllSettings &all = AllSettings::instance();
  std::lock_guard lock(all.mutex);
  all.global[attribute] = text;
  return CUDA_SUCCESS;
}
