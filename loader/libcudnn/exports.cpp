// The exported functions (loader/boundary). Those that no file here defines are there all the same,
// and answer CUDNN_STATUS_NOT_SUPPORTED.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "loader/boundary/exported.h"
#include "loader/libcudnn/not_supported.h"

using ptxrun::boundary::Word;

namespace ptxrun::cudnn {

namespace {

std::string &lastMessage() {
  thread_local std::string message;
  return message;
}

/// Never destroyed: programs call while the process ends.
struct Told {
  std::mutex lock;
  std::set<std::string> names;
};

bool isToTell(const char *name) {
  static const bool isVerbose = getenv("PTXRUN_VERBOSE") != nullptr;
  static auto *const told = new Told;
  const std::lock_guard held(told->lock);
  return told->names.insert(name).second && (isVerbose || told->names.size() == 1);
}

struct NoScope {};

Word resultOf(boundary::Thrown) { return CUDNN_STATUS_INTERNAL_ERROR; }

} // namespace

cudnnStatus_t notSupported(const char *name) {
  lastMessage() = std::string(name) +
                  " is not supported: what cuDNN computes is machine code of GPUs, which cannot "
                  "be run here";
  if (isToTell(name))
    fprintf(stderr, "ptxrun: %s\n", lastMessage().c_str());
  return CUDNN_STATUS_NOT_SUPPORTED;
}

std::string takeLastMessage() { return std::exchange(lastMessage(), {}); }

} // namespace ptxrun::cudnn

#define FUNCTION(name)                                                                             \
  PTXRUN_EXPORT_BODY(name, ptxrun::cudnn::notSupported, ptxrun::cudnn::resultOf,                   \
                     ptxrun::cudnn::NoScope)
#include "loader/libcudnn/functions.def"
