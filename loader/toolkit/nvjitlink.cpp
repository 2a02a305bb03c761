// libnvJitLink.so.12 and .13. NVIDIA's header turns nvJitLinkCreate into __nvJitLinkCreate_12_4, of
// the toolkit's version that the program was built with: each function has all these names.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "loader/boundary/guarded.h"
#include "loader/toolkit/jit_linker.h"

using namespace ptxrun::toolkit;

namespace {

/// A function's body; what it throws is an internal error.
template <class Body> LinkResult guarded(Body &&body) {
  return ptxrun::boundary::guarded(body,
                                   [](ptxrun::boundary::Thrown) { return LinkResult::internal; });
}

/// The text and how long it is with its final NUL, as callers ask for the two.
LinkResult giveSize(const std::string &text, size_t *bytes) {
  if (!bytes)
    return LinkResult::invalidInput;
  *bytes = text.size() + 1;
  return LinkResult::success;
}
LinkResult give(const std::string &text, char *to) {
  if (!to)
    return LinkResult::invalidInput;
  memcpy(to, text.c_str(), text.size() + 1);
  return LinkResult::success;
}

/// The linked image ends with a NUL of its own.
LinkResult giveLinkedSize(const JitLinker &linker, size_t *bytes) {
  if (!bytes || linker.linked().empty())
    return LinkResult::invalidInput;
  *bytes = linker.linked().size();
  return LinkResult::success;
}
LinkResult giveLinked(const JitLinker &linker, void *to) {
  if (!to || linker.linked().empty())
    return LinkResult::invalidInput;
  memcpy(to, linker.linked().data(), linker.linked().size());
  return LinkResult::success;
}

} // namespace

#define PTXRUN_EXPORT extern "C" __attribute__((visibility("default")))

PTXRUN_EXPORT LinkResult nvJitLinkCreate(JitLinker **handle, uint32_t count, const char **options) {
  if (!handle || (count != 0 && !options))
    return LinkResult::invalidInput;
  return guarded([&] {
    auto linker = std::make_unique<JitLinker>(std::vector<std::string>{options, options + count});
    const bool isComplete = linker->hasArchitecture();
    *handle = isComplete ? linker.release() : nullptr;
    return isComplete ? LinkResult::success : LinkResult::missingArchitecture;
  });
}

PTXRUN_EXPORT LinkResult nvJitLinkDestroy(JitLinker **handle) {
  if (!handle || !*handle)
    return LinkResult::invalidInput;
  delete *handle;
  *handle = nullptr;
  return LinkResult::success;
}

PTXRUN_EXPORT LinkResult nvJitLinkAddData(JitLinker *linker, LinkInput input, const void *data,
                                          size_t bytes, const char *name) {
  if (!linker || !data)
    return LinkResult::invalidInput;
  return guarded([&] {
    return linker->add(input, {static_cast<const std::byte *>(data), bytes}, name);
  });
}

PTXRUN_EXPORT LinkResult nvJitLinkAddFile(JitLinker *linker, LinkInput input, const char *path) {
  return guarded([&] {
    std::ifstream file(path ? path : "", std::ios::binary);
    if (!linker || !file || std::filesystem::is_directory(path))
      return LinkResult::invalidInput;
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    return linker->add(input, std::as_bytes(std::span(bytes)), path);
  });
}

PTXRUN_EXPORT LinkResult nvJitLinkComplete(JitLinker *linker) {
  return linker ? guarded([&] { return linker->complete(); }) : LinkResult::invalidInput;
}

PTXRUN_EXPORT LinkResult nvJitLinkGetLinkedCubinSize(JitLinker *linker, size_t *bytes) {
  return linker ? giveLinkedSize(*linker, bytes) : LinkResult::invalidInput;
}
PTXRUN_EXPORT LinkResult nvJitLinkGetLinkedCubin(JitLinker *linker, void *cubin) {
  return linker ? giveLinked(*linker, cubin) : LinkResult::invalidInput;
}
PTXRUN_EXPORT LinkResult nvJitLinkGetLinkedPtxSize(JitLinker *linker, size_t *bytes) {
  return linker ? giveLinkedSize(*linker, bytes) : LinkResult::invalidInput;
}
PTXRUN_EXPORT LinkResult nvJitLinkGetLinkedPtx(JitLinker *linker, char *ptx) {
  return linker ? giveLinked(*linker, ptx) : LinkResult::invalidInput;
}

PTXRUN_EXPORT LinkResult nvJitLinkGetErrorLogSize(JitLinker *linker, size_t *bytes) {
  return linker ? giveSize(linker->errorLog(), bytes) : LinkResult::invalidInput;
}
PTXRUN_EXPORT LinkResult nvJitLinkGetErrorLog(JitLinker *linker, char *log) {
  return linker ? give(linker->errorLog(), log) : LinkResult::invalidInput;
}
/// Nothing is said of a link that went well.
PTXRUN_EXPORT LinkResult nvJitLinkGetInfoLogSize(JitLinker *linker, size_t *bytes) {
  return linker ? giveSize({}, bytes) : LinkResult::invalidInput;
}
PTXRUN_EXPORT LinkResult nvJitLinkGetInfoLog(JitLinker *linker, char *log) {
  return linker ? give({}, log) : LinkResult::invalidInput;
}

PTXRUN_EXPORT LinkResult nvJitLinkVersion(unsigned *major, unsigned *minor) {
  if (!major || !minor)
    return LinkResult::invalidInput;
  constexpr unsigned kLastOf12 = 9, kLastOf13 = 0;
  *major = PTXRUN_NVJITLINK_MAJOR;
  *minor = PTXRUN_NVJITLINK_MAJOR == 12 ? kLastOf12 : kLastOf13;
  return LinkResult::success;
}

#define PTXRUN_TEXT(x) #x
#define PTXRUN_ALIAS(function, major, minor)                                                       \
  asm(".globl __nvJitLink" #function                                                               \
      "_" PTXRUN_TEXT(major) "_" #minor "\n"                                                       \
                             ".set __nvJitLink" #function                                          \
                             "_" PTXRUN_TEXT(major) "_" #minor ", nvJitLink" #function);
#define PTXRUN_ALIASES(function)                                                                   \
  PTXRUN_ALIAS(function, PTXRUN_NVJITLINK_MAJOR, 0)                                                \
  PTXRUN_ALIAS(function, PTXRUN_NVJITLINK_MAJOR, 1)                                                \
  PTXRUN_ALIAS(function, PTXRUN_NVJITLINK_MAJOR, 2)                                                \
  PTXRUN_ALIAS(function, PTXRUN_NVJITLINK_MAJOR, 3)                                                \
  PTXRUN_ALIAS(function, PTXRUN_NVJITLINK_MAJOR, 4)                                                \
  PTXRUN_ALIAS(function, PTXRUN_NVJITLINK_MAJOR, 5)                                                \
  PTXRUN_ALIAS(function, PTXRUN_NVJITLINK_MAJOR, 6)                                                \
  PTXRUN_ALIAS(function, PTXRUN_NVJITLINK_MAJOR, 7)                                                \
  PTXRUN_ALIAS(function, PTXRUN_NVJITLINK_MAJOR, 8)                                                \
  PTXRUN_ALIAS(function, PTXRUN_NVJITLINK_MAJOR, 9)

PTXRUN_ALIASES(Create)
PTXRUN_ALIASES(Destroy)
PTXRUN_ALIASES(AddData)
PTXRUN_ALIASES(AddFile)
PTXRUN_ALIASES(Complete)
PTXRUN_ALIASES(GetLinkedCubinSize)
PTXRUN_ALIASES(GetLinkedCubin)
PTXRUN_ALIASES(GetLinkedPtxSize)
PTXRUN_ALIASES(GetLinkedPtx)
PTXRUN_ALIASES(GetErrorLogSize)
PTXRUN_ALIASES(GetErrorLog)
PTXRUN_ALIASES(GetInfoLogSize)
PTXRUN_ALIASES(GetInfoLog)
