#include "loader/toolkit/jit_linker.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "loader/image/register_limit.h"
#include "loader/toolkit/nvidia_library.h"

namespace ptxrun::toolkit {

namespace {

constexpr std::string_view kArchitecture = "-arch=";

bool isLtoIr(std::span<const std::byte> bytes) {
  constexpr unsigned char kMagic[] = {0xed, 0x43, 0x4e, 0x7f};
  return bytes.size() >= sizeof kMagic && memcmp(bytes.data(), kMagic, sizeof kMagic) == 0;
}

/// The device's primary context, current while this lives: nvJitLink needs none, the driver's
/// linker does.
class CurrentContext {
 public:
  CurrentContext() {
    CUcontext context = nullptr;
    isCurrent_ = cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS;
    if (isCurrent_ && cuCtxPushCurrent_v2(context) != CUDA_SUCCESS) {
      cuDevicePrimaryCtxRelease_v2(0);
      isCurrent_ = false;
    }
  }
  ~CurrentContext() {
    CUcontext popped = nullptr;
    if (!isCurrent_)
      return;
    cuCtxPopCurrent_v2(&popped);
    cuDevicePrimaryCtxRelease_v2(0);
  }
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;
  bool isCurrent() const { return isCurrent_; }

 private:
  bool isCurrent_ = false;
};

/// NVIDIA's library, by the names that every version of it exports.
class NvidiaLinker {
 public:
  NvidiaLinker()
      : library_(openNvidiaLibrary({PTXRUN_NVJITLINK_FILE, "PTXRUN_NVJITLINK", "nvjitlink/lib"})) {}

  template <class... Arguments> LinkResult call(const char *name, Arguments... arguments) const {
    auto *const function =
        reinterpret_cast<LinkResult (*)(Arguments...)>(findFunction(library_, name));
    return function ? function(arguments...) : LinkResult::internal;
  }
  /// What is asked for by a function for its size and one for itself.
  template <class Handle> std::string text(const char *sizeName, const char *name, Handle handle) {
    size_t bytes = 0;
    if (call(sizeName, handle, &bytes) != LinkResult::success)
      return {};
    std::string text(bytes, '\0');
    call(name, handle, text.data());
    text.resize(strnlen(text.data(), text.size()));
    return text;
  }
  bool isHere() const { return library_; }

 private:
  void *library_;
};

} // namespace

JitLinker::JitLinker(std::vector<std::string> options) : options_(std::move(options)) {}
JitLinker::~JitLinker() = default;

bool JitLinker::hasOption(std::string_view name) const {
  return std::ranges::find(options_, name) != options_.end();
}

bool JitLinker::hasArchitecture() const {
  return std::ranges::any_of(options_, [](const std::string &option) {
    return option.starts_with(kArchitecture) && option.size() > kArchitecture.size();
  });
}

unsigned JitLinker::registerLimit() const {
  unsigned limit = 0;
  for (const std::string &option : options_)
    limit = image::smallerLimit(limit, image::registerLimitOption(option));
  return limit;
}

LinkResult JitLinker::add(LinkInput input, std::span<const std::byte> bytes, const char *name) {
  if (bytes.empty())
    return LinkResult::invalidInput;
  const bool isLto = input == LinkInput::ltoIr || isLtoIr(bytes);
  if (isLto && !hasOption("-lto") && !hasOption("-dlto"))
    return LinkResult::ltoNotEnabled;
  (isLto ? ltoParts_ : parts_).push_back({{bytes.begin(), bytes.end()}, name ? name : ""});
  return LinkResult::success;
}

/// NVIDIA's linker optimises all LTO-IR together and writes PTX; what the other parts define stays
/// external in it.
LinkResult JitLinker::compileLtoIr(std::string &ptx) {
  NvidiaLinker nvidia;
  if (!nvidia.isHere()) {
    errorLog_ = "LTO-IR is compiled by NVIDIA's " PTXRUN_NVJITLINK_FILE
                ", which is not here: install it, name it by PTXRUN_NVJITLINK, or build without "
                "-dlto";
    return LinkResult::nvvmCompile;
  }
  std::vector<const char *> options;
  for (const std::string &option : options_)
    options.push_back(option.c_str());
  if (!hasOption("-ptx"))
    options.push_back("-ptx");
  void *handle = nullptr;
  LinkResult result =
      nvidia.call("nvJitLinkCreate", &handle, uint32_t(options.size()), options.data());
  if (result != LinkResult::success)
    return result;
  for (const Part &part : ltoParts_)
    if (result == LinkResult::success)
      result = nvidia.call("nvJitLinkAddData", handle, int(LinkInput::ltoIr),
                           static_cast<const void *>(part.bytes.data()), part.bytes.size(),
                           part.name.c_str());
  if (result == LinkResult::success)
    result = nvidia.call("nvJitLinkComplete", handle);
  if (result == LinkResult::success)
    ptx = nvidia.text("nvJitLinkGetLinkedPtxSize", "nvJitLinkGetLinkedPtx", handle);
  errorLog_ += nvidia.text("nvJitLinkGetErrorLogSize", "nvJitLinkGetErrorLog", handle);
  nvidia.call("nvJitLinkDestroy", &handle);
  return result;
}

LinkResult JitLinker::addToDriver(CUlinkState state, std::span<const std::byte> bytes,
                                  const std::string &name) {
  const CUresult result =
      cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, const_cast<std::byte *>(bytes.data()), bytes.size(),
                       name.c_str(), 0, nullptr, nullptr);
  switch (result) {
  case CUDA_SUCCESS:
    return LinkResult::success;
  case CUDA_ERROR_INVALID_PTX:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    return LinkResult::ptxCompile;
  default:
    return LinkResult::unrecognisedInput;
  }
}

LinkResult JitLinker::linkByDriver(const std::string &compiled) {
  const CurrentContext context;
  if (!context.isCurrent())
    return LinkResult::internal;
  std::array<char, 16384> log{};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_MAX_REGISTERS};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size()),
                    reinterpret_cast<void *>(uintptr_t{registerLimit()})};
  CUlinkState state = nullptr;
  if (cuLinkCreate_v2(std::size(options), options, values, &state) != CUDA_SUCCESS)
    return LinkResult::internal;
  LinkResult result = LinkResult::success;
  for (const Part &part : parts_)
    if (result == LinkResult::success)
      result = addToDriver(state, part.bytes, part.name);
  if (result == LinkResult::success && !compiled.empty())
    result = addToDriver(state, std::as_bytes(std::span(compiled)), "lto");
  void *image = nullptr;
  size_t bytes = 0;
  if (result == LinkResult::success && cuLinkComplete(state, &image, &bytes) != CUDA_SUCCESS)
    result = LinkResult::ptxCompile;
  if (result == LinkResult::success)
    linked_.assign(static_cast<const char *>(image), bytes);
  errorLog_ += log.data();
  cuLinkDestroy(state);
  return result;
}

LinkResult JitLinker::complete() {
  std::string compiled;
  if (!ltoParts_.empty())
    if (const LinkResult result = compileLtoIr(compiled); result != LinkResult::success)
      return result;
  return linkByDriver(compiled);
}

} // namespace ptxrun::toolkit
