#include "loader/libcuda/module.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "loader/capture/recorder.h"
#include "loader/device/undefined.h"
#include "loader/image/image.h"
#include "loader/image/link_text.h"
#include "loader/image/readable.h"
#include "loader/image/register_limit.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/device_runtime.h"
#include "loader/libcuda/memory.h"
#include "loader/libcuda/report.h"

namespace ptxrun::driver {

namespace {

constexpr int kMaxThreadsPerBlock = 1024;

/// PTXRUN_TIERS says which code launches run, as `ptxrun run --tiers` does.
device::Tiers wantedTiers() {
  static const device::Tiers tiers = [] {
    auto read = device::Tiers::tiered;
    const char *value = getenv("PTXRUN_TIERS");
    if (value && !device::readTiers(value, read))
      report("PTXRUN_TIERS=%s is none of optimised, baseline, tiered; using tiered", value);
    return read;
  }();
  return tiers;
}

/// What the environment asks of every module.
device::LoadOptions loadOptions() {
  device::LoadOptions options;
  if (const char *directory = getenv("PTXRUN_DUMP"))
    options.dumpDirectory = directory;
  if (const char *value = getenv("CUDA_CACHE_DISABLE"); value && *value == '1')
    options.useCache = false;
  options.tiers = wantedTiers();
  return options;
}

/// What a module is called where its lines are spoken of. PTXRUN_GDB=FOLDER puts the text there, so
/// that a debugger can show it.
std::string sourceName(const std::string &name, const std::string &text) {
  const char *folder = getenv("PTXRUN_GDB");
  if (!folder || !std::filesystem::is_directory(folder))
    return name;
  static std::atomic<unsigned> count = 0;
  const std::filesystem::path path =
      std::filesystem::absolute(folder) / (std::to_string(count++) + ".ptx");
  std::ofstream(path) << text;
  return path;
}

image::Target target() { return {static_cast<unsigned>(deviceInfo().architecture())}; }

/// Puts the text into the buffer that option `buffer` names, and its length back into option
/// `size`.
void writeLog(const JitOptions &options, CUjit_option buffer, CUjit_option size,
              const std::string &text) {
  char *out = nullptr;
  size_t room = 0;
  void **sizeOut = nullptr;
  for (unsigned i = 0; i < options.count; ++i) {
    if (options.names[i] == buffer)
      out = static_cast<char *>(options.values[i]);
    if (options.names[i] == size) {
      room = reinterpret_cast<uintptr_t>(options.values[i]) & 0xffffffffu;
      sizeOut = &options.values[i];
    }
  }
  size_t written = 0;
  if (out && room > 0) {
    written = std::min(text.size(), room - 1);
    memcpy(out, text.data(), written);
    out[written] = 0;
  }
  if (sizeOut)
    *sizeOut = reinterpret_cast<void *>(written);
}

CUresult finishLoading(Module &module, device::Outcome outcome, image::Image image,
                       const std::string &name, const JitOptions &options) {
  std::string log = outcome.message;
  CUresult result = toResult(outcome.code);
  if (result == CUDA_SUCCESS)
    result = module.load(std::move(image.ptx), name, log, options.maxRegisters());
  // What nvcc built was linked by it: what is missing there came as machine code alone.
  if (result == CUDA_SUCCESS && image.isText)
    if (std::string missing = module.undefinedFunction(); !missing.empty()) {
      log = std::move(missing);
      result = toResult(device::Code::unresolved);
    }
  options.writeInfoLog("");
  options.writeErrorLog(result == CUDA_SUCCESS ? "" : log);
  if (result != CUDA_SUCCESS && (!options.hasErrorLog() || isVerbose()))
    reportOnce(log);
  return result;
}

} // namespace

void Function::restoreAttributes() {
  maxDynamicShared = 48 << 10;
  carveout = -1;
  cacheConfig = CU_FUNC_CACHE_PREFER_NONE;
  isNonPortableClusterAllowed = 0;
  clusterWidth = static_cast<int>(info.clusterShape[0]);
  clusterHeight = static_cast<int>(info.clusterShape[1]);
  clusterDepth = static_cast<int>(info.clusterShape[2]);
  clusterSchedulingPolicy = 0;
  isClusterSizeRequired = info.isExplicitCluster && info.clusterShape[0] == 0;
  ++attributeChanges;
}

void Function::findDeviceRuntime() {
  const auto find = [&](const char *name) {
    const device::VariableInfo *variable = code.findVariable(name);
    return variable ? static_cast<uint64_t *>(variable->address) : nullptr;
  };
  childList = find(kChildListName);
  childBytes = find(kChildBytesName);
  currentGraph = find(kCurrentGraphName);
}

int Function::maxThreadsPerBlock() const {
  const auto &limit = info.reqntid[0] ? info.reqntid : info.maxntid;
  if (limit[0] == 0)
    return kMaxThreadsPerBlock;
  const uint64_t threads = uint64_t{limit[0]} * std::max(limit[1], 1u) * std::max(limit[2], 1u);
  return static_cast<int>(std::min<uint64_t>(threads, kMaxThreadsPerBlock));
}

/// Of the first device, and of the context that loads.
static DeviceFacts deviceFacts() {
  DeviceFacts facts;
  for (size_t i = 0; i < facts.attributes.size(); ++i)
    if (cuDeviceGetAttribute(&facts.attributes[i], static_cast<CUdevice_attribute>(i), 0) !=
        CUDA_SUCCESS)
      facts.attributes[i] = std::numeric_limits<int>::min();
  for (size_t i = 0; i < facts.limits.size(); ++i)
    if (cuCtxGetLimit(&facts.limits[i], static_cast<CUlimit>(i)) != CUDA_SUCCESS)
      facts.limits[i] = 0;
  return facts;
}

CUresult Module::load(std::vector<std::string> ptx, const std::string &name, std::string &errorLog,
                      unsigned registerLimit) {
  registerLimit_ = registerLimit;
  for (const std::string &text : ptx)
    registerLimit_ = image::smallerLimit(registerLimit_, image::registerLimit(text));
  for (std::string &text : ptx)
    text = withDeviceRuntime(std::move(text), deviceFacts);
  if (auto merged = image::mergeTexts(ptx)) {
    device::Outcome outcome;
    if (loadPart(std::move(*merged), name, outcome) == CUDA_SUCCESS)
      return CUDA_SUCCESS;
    if (isVerbose())
      report("the objects do not link: %s", outcome.message.c_str());
  }
  for (std::string &text : ptx) {
    device::Outcome outcome;
    const CUresult result = loadPart(std::move(text), name, outcome);
    if (result != CUDA_SUCCESS) {
      errorLog = outcome.message;
      return result;
    }
  }
  return CUDA_SUCCESS;
}

std::string Module::undefinedFunction() const {
  for (const auto &part : parts_)
    if (const auto missing = device::findUndefined(*part);
        missing && !missing->name.starts_with("cuda") && !missing->name.starts_with("__cuda"))
      return part->name() + ":" + std::to_string(missing->usedAt) +
             ": error: unresolved extern function '" + std::string(missing->name) +
             "': it is declared and used here, and nothing defines it";
  return {};
}

CUresult Module::loadPart(std::string text, const std::string &name, device::Outcome &outcome) {
  Source source{sourceName(name, text), {}};
  if (kind() == Kind::library && deviceCount() > 1)
    source.text = text;
  device::LoadOptions options = loadOptions();
  options.registerLimit = registerLimit_;
  auto part = device::Module::load(source.name, std::move(text), options, outcome);
  if (!part)
    return toResult(outcome.code);
  addPart(std::move(part));
  sources_.push_back(std::move(source));
  return CUDA_SUCCESS;
}

void Module::addPart(std::unique_ptr<device::Module> part, CUdevice device) {
  MemoryRecord record;
  record.context = kind() == Kind::module ? currentContext() : nullptr; // a library has none
  record.device = device;
  device_ = device >= 0 ? device : record.context ? record.context->device() : 0;
  noteVariables(*part, record);
  parts_.push_back(std::move(part));
}

Module::~Module() {
  for (const auto &part : parts_)
    forgetVariables(*part);
}

CUresult Module::loadCopyOf(const Module &other, CUdevice device) {
  for (size_t i = 0; i < other.sources_.size(); ++i) {
    device::LoadOptions options = loadOptions();
    options.managedOf = other.parts_[i].get();
    options.registerLimit = other.registerLimit_;
    device::Outcome outcome;
    auto part =
        device::Module::load(other.sources_[i].name, other.sources_[i].text, options, outcome);
    if (!part)
      return toResult(outcome.code);
    addPart(std::move(part), device);
  }
  return CUDA_SUCCESS;
}

void Module::restore() {
  for (const auto &part : parts_) {
    capture::Recorder::Turn turn; // to recordings it is a copy from memory of the host
    const std::span<const char> restored = part->restoreVariables();
    const uint64_t bytes = restored.size();
    turn.copied({reinterpret_cast<uint64_t>(restored.data()), bytes, bytes,
                 reinterpret_cast<uint64_t>(&restored), bytes, bytes, bytes, 1, 1});
  }
  std::lock_guard lock(mutex_);
  for (const auto &function : functions_)
    function->restoreAttributes();
}

void Library::restoreFor(CUdevice device) {
  if (original_)
    return; // the original finds it
  if (device == 0)
    return restore();
  std::lock_guard lock(copiesMutex_);
  if (const auto copy = copies_.find(device); copy != copies_.end() && copy->second)
    copy->second->restore();
}

std::shared_ptr<Library> Library::on(CUdevice device) {
  auto self = std::static_pointer_cast<Library>(shared_from_this());
  if (device == 0 || original_)
    return self;
  std::lock_guard lock(copiesMutex_);
  std::shared_ptr<Library> &copy = copies_[device];
  if (copy)
    return copy;
  auto made = std::make_shared<Library>();
  if (made->loadCopyOf(*this, device) != CUDA_SUCCESS)
    return nullptr;
  made->original_ = std::move(self);
  publish<CUlibrary>(made);
  return copy = std::move(made);
}

void Library::unload() {
  Module::unload();
  std::lock_guard lock(copiesMutex_);
  for (const auto &[device, copy] : copies_)
    if (copy) {
      copy->Module::unload();
      withdraw<Library>(handleOf<CUlibrary>(copy.get()));
    }
  copies_.clear();
}

Function *Module::functionFor(device::Module &part, const device::KernelInfo &info) {
  std::lock_guard lock(mutex_);
  for (const auto &function : functions_)
    if (&function->info == &info)
      return function.get();
  functions_.push_back(std::make_unique<Function>(*this, part, info));
  Function *function = functions_.back().get();
  // The registry's entry owns the module, not the function alone.
  Registry::instance().add(std::shared_ptr<Object>(shared_from_this(), function));
  return function;
}

Function *Module::findFunction(std::string_view name) {
  for (const auto &part : parts_)
    if (const device::KernelInfo *info = part->findKernel(name))
      return functionFor(*part, *info);
  return nullptr;
}

std::shared_ptr<Function> Module::findKernelByNumber(uint64_t number) {
  number &= kKernelNumberMask;
  Function *found = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (const auto known = byNumber_.find(number); known != byNumber_.end())
      found = known->second;
  }
  if (!found) {
    for (Function *function : functions())
      if ((kernelNumber(function->info.name) & kKernelNumberMask) == number)
        found = function;
    if (!found)
      return nullptr;
    std::lock_guard lock(mutex_);
    byNumber_[number] = found;
  }
  return {shared_from_this(), found};
}

std::vector<Function *> Module::functions() {
  std::vector<Function *> all;
  for (const auto &part : parts_)
    for (const device::KernelInfo &info : part->kernels())
      all.push_back(functionFor(*part, info));
  return all;
}

const device::VariableInfo *Module::findVariable(std::string_view name) const {
  for (const auto &part : parts_)
    if (const device::VariableInfo *variable = part->findVariable(name))
      return variable;
  return nullptr;
}

void Module::unload() {
  std::lock_guard lock(mutex_);
  for (const auto &function : functions_)
    Registry::instance().remove(static_cast<Object *>(function.get()), Kind::function);
}

std::shared_ptr<Module> resolveModule(CUmodule handle) {
  if (auto module = resolve<LoadedModule>(handle))
    return module;
  return resolve<Library>(handle);
}

namespace {

std::shared_ptr<Function> functionAt(const void *handle) {
  return std::static_pointer_cast<Function>(Registry::instance().find(handle, Kind::function));
}

/// The same function of the library as that device has it.
std::shared_ptr<Function> functionOn(CUdevice device, std::shared_ptr<Function> function,
                                     Library &library) {
  const auto chosen = library.on(device);
  if (chosen.get() == &function->module)
    return function;
  Function *own = chosen ? chosen->findFunction(function->info.name) : nullptr;
  return own ? std::shared_ptr<Function>(chosen, own) : nullptr;
}

} // namespace

std::shared_ptr<Function> resolveFunction(const void *handle) {
  auto function = functionAt(handle);
  const Context *context = currentContext();
  if (!function || function->module.kind() != Kind::library || !context || context->device() == 0)
    return function;
  // A copy's function, which cuKernelGetFunction gave, stays that of its device.
  return functionOn(context->device(), function, static_cast<Library &>(function->module));
}

std::shared_ptr<Function> resolveFunctionOf(const void *handle, CUdevice device) {
  auto function = functionAt(handle);
  if (!function || function->module.kind() != Kind::library)
    return function;
  return functionOn(device, function, static_cast<Library &>(function->module).published());
}

bool JitOptions::hasErrorLog() const {
  return std::count(names, names + count, CU_JIT_ERROR_LOG_BUFFER) > 0;
}
void JitOptions::writeErrorLog(const std::string &text) const {
  writeLog(*this, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, text);
}
void JitOptions::writeInfoLog(const std::string &text) const {
  writeLog(*this, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, text);
}

unsigned JitOptions::maxRegisters() const {
  for (unsigned i = 0; i < count; ++i)
    if (names[i] == CU_JIT_MAX_REGISTERS)
      return static_cast<unsigned>(reinterpret_cast<uintptr_t>(values[i]));
  return 0;
}

CUresult loadImage(Module &module, const void *image, const JitOptions &options) {
  if (!image)
    return CUDA_ERROR_INVALID_VALUE;
  image::Image parts;
  device::Outcome outcome = image::readImage(image, target(), parts);
  return finishLoading(module, std::move(outcome), std::move(parts), "ptx", options);
}

CUresult loadFile(Module &module, const char *path, const JitOptions &options) {
  if (!path)
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<char> bytes;
  image::Image parts;
  device::Outcome outcome = image::readFile(path, bytes);
  if (outcome.code == device::Code::fileNotFound)
    return CUDA_ERROR_FILE_NOT_FOUND; // programs look for files that need not be there
  if (outcome.isOk())
    outcome = image::readImage(std::as_bytes(std::span(bytes)), target(), parts);
  return finishLoading(module, std::move(outcome), std::move(parts), path, options);
}

CUresult toResult(device::Code code) {
  switch (code) {
  case device::Code::ok:
    return CUDA_SUCCESS;
  case device::Code::invalidPtx:
  case device::Code::stopped:
    return CUDA_ERROR_INVALID_PTX;
  case device::Code::unsupportedImage:
    return CUDA_ERROR_INVALID_IMAGE;
  case device::Code::noBinaryForGpu:
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  case device::Code::notFound:
    return CUDA_ERROR_NOT_FOUND;
  case device::Code::unresolved:
    return CUDA_ERROR_INVALID_PTX;
  case device::Code::invalidValue:
    return CUDA_ERROR_INVALID_VALUE;
  case device::Code::outOfMemory:
    return CUDA_ERROR_OUT_OF_MEMORY;
  case device::Code::illegalAddress:
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  case device::Code::misalignedAddress:
    return CUDA_ERROR_MISALIGNED_ADDRESS;
  case device::Code::launchFailed:
    return CUDA_ERROR_LAUNCH_FAILED;
  case device::Code::assertion:
    return CUDA_ERROR_ASSERT;
  case device::Code::timeout:
    return CUDA_ERROR_LAUNCH_TIMEOUT;
  case device::Code::cancelled:
    return CUDA_ERROR_LAUNCH_FAILED;
  case device::Code::fileNotFound:
    return CUDA_ERROR_FILE_NOT_FOUND;
  case device::Code::notSupported:
    return CUDA_ERROR_NOT_SUPPORTED;
  case device::Code::internalError:
    return CUDA_ERROR_UNKNOWN;
  }
  return CUDA_ERROR_UNKNOWN;
}

} // namespace ptxrun::driver
