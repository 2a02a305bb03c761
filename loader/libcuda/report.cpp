#include "loader/libcuda/report.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "loader/libcuda/log.h"

namespace ptxrun::driver {

namespace {

/// Texts that were told, with how often they came again.
class ToldTexts {
 public:
  static ToldTexts &instance() {
    static auto *one = new ToldTexts; // threads may report until the process has ended
    return *one;
  }
  /// True for the first time.
  bool isNew(const std::string &text) {
    std::lock_guard lock(mutex_);
    const auto [entry, isNew] = repeats_.try_emplace(text, 0);
    entry->second += !isNew;
    return isNew;
  }
  std::map<std::string, size_t> take() {
    std::lock_guard lock(mutex_);
    return std::move(repeats_);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, size_t> repeats_;
};

} // namespace

bool isVerbose() {
  static const bool isSet = [] {
    const char *value = getenv("PTXRUN_VERBOSE");
    return value && *value && *value != '0';
  }();
  return isSet;
}

void report(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = nullptr;
  const int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (length < 0)
    return;
  fprintf(stderr, "ptxrun: %s\n", text);
  Log::instance().add(text);
  free(text);
}

void reportOnce(const std::string &text) {
  if (ToldTexts::instance().isNew(text))
    report("%s", text.c_str());
}

void reportRepeats() {
  for (const auto &[text, count] : ToldTexts::instance().take())
    if (count != 0)
      report("%zu more times: %s", count, text.substr(0, text.find('\n')).c_str());
}

CUresult notSupported(const char *what) {
  static std::mutex mutex;
  static auto *told = new std::set<std::string>;
  bool isNew = false;
  if (isVerbose()) {
    std::lock_guard lock(mutex);
    isNew = told->insert(what).second;
  }
  if (isNew)
    report("%s is not supported", what);
  else
    Log::instance().add(what + std::string(" is not supported"));
  return CUDA_ERROR_NOT_SUPPORTED;
}

} // namespace ptxrun::driver
