// The linker interface: PTX is collected, and what comes out as the "cubin" is text that
// cuModuleLoadData understands and programs may copy: the PTX itself, or several behind marks.
// Module::load joins them.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "loader/image/image.h"
#include "loader/image/link_text.h"
#include "loader/image/readable.h"
#include "loader/image/register_limit.h"
#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/module.h"
#include "loader/libcuda/report.h"

using namespace ptxrun::driver;
namespace image = ptxrun::image;

namespace {

/// libcudadevrt.a, by the name of its member.
bool isDeviceRuntime(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  return image::isArchive(bytes) && text.find("cuda_device_runtime.o") != std::string_view::npos;
}

class Linker final : public Object {
 public:
  static constexpr Kind kKind = Kind::linker;
  explicit Linker(JitOptions options)
      : Object(kKind), options_(options), values_(options.values, options.values + options.count),
        registerLimit_(options.maxRegisters()) {}

  /// `name`: of the input, for messages; `own`: of this input alone. What is no PTX is refused
  /// here, as by the driver, which compiles each input when it comes.
  CUresult add(std::span<const std::byte> bytes, const char *name, const JitOptions &own) {
    if (isDeviceRuntime(bytes))
      return CUDA_SUCCESS; // its functions are translate/lower's to provide
    image::Image parts;
    const ptxrun::device::Outcome outcome =
        image::readImage(bytes, {static_cast<unsigned>(deviceInfo().architecture())}, parts);
    if (!outcome.isOk())
      return fail(outcome);
    for (const std::string &text : parts.ptx) {
      LoadedModule trial;
      std::string log;
      if (const CUresult result = trial.load({text}, name && *name ? name : "ptx", log);
          result != CUDA_SUCCESS) {
        if (!options_.hasErrorLog())
          reportOnce(log);
        return fail(result, log);
      }
    }
    writeErrorLog("");
    const unsigned limit = image::smallerLimit(registerLimit_, own.maxRegisters());
    for (std::string &text : parts.ptx)
      texts_.push_back(image::withRegisterLimit(std::move(text), limit));
    return CUDA_SUCCESS;
  }

  CUresult fail(CUresult result, const std::string &log) const {
    writeErrorLog(log);
    return result;
  }
  CUresult fail(const ptxrun::device::Outcome &outcome) const {
    return fail(toResult(outcome.code), outcome.message);
  }

  /// The image; owned by the linker.
  CUresult complete(void **data, size_t *bytes) {
    if (texts_.empty())
      return CUDA_ERROR_INVALID_VALUE;
    if (texts_.size() == 1) {
      *data = texts_[0].data();
      *bytes = texts_[0].size() + 1;
      return CUDA_SUCCESS;
    }
    // The parts are checked now: linking is where a program looks for errors.
    LoadedModule trial;
    std::string log;
    if (const CUresult result = trial.load(texts_, "linked ptx", log); result != CUDA_SUCCESS)
      return fail(result, log);
    if (const std::string missing = trial.undefinedFunction(); !missing.empty())
      return fail(toResult(ptxrun::device::Code::unresolved), missing);
    linked_ = image::joinLinked(texts_);
    *data = linked_.data();
    *bytes = linked_.size() + 1;
    return CUDA_SUCCESS;
  }

 private:
  /// The log's length takes the place of the room for it in the program's options: each text has
  /// all the room there was.
  void writeErrorLog(const std::string &text) const {
    std::copy(values_.begin(), values_.end(), options_.values);
    options_.writeErrorLog(text);
  }

  const JitOptions options_;
  const std::vector<void *> values_; ///< as they were given
  const unsigned registerLimit_;
  std::vector<std::string> texts_;
  std::string linked_;
};

CUresult enterLinker(CUlinkState state, std::shared_ptr<Linker> &linker) {
  PTXRUN_TRY(checkInitialised());
  linker = resolve<Linker>(state);
  return linker ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

} // namespace

PTXRUN_API CUresult cuLinkCreate_v2(unsigned optionCount, CUjit_option *options, void **values,
                                    CUlinkState *state) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!state || (optionCount != 0 && (!options || !values)))
    return CUDA_ERROR_INVALID_VALUE;
  *state = publish<CUlinkState>(std::make_shared<Linker>(JitOptions{optionCount, options, values}));
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuLinkCreate(unsigned optionCount, CUjit_option *options, void **values,
                                 CUlinkState *state) {
  return cuLinkCreate_v2(optionCount, options, values, state);
}

PTXRUN_API CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType, void *data, size_t bytes,
                                     const char *name, unsigned optionCount, CUjit_option *options,
                                     void **values) {
  std::shared_ptr<Linker> linker;
  PTXRUN_TRY(enterLinker(state, linker));
  if (!data || bytes == 0 || (optionCount != 0 && (!options || !values)))
    return CUDA_ERROR_INVALID_VALUE;
  if (!image::isReadable(data, bytes))
    return linker->fail({ptxrun::device::Code::unsupportedImage,
                         "broken image: it is longer than the memory it lies in"});
  return linker->add({static_cast<const std::byte *>(data), bytes}, name,
                     {optionCount, options, values});
}
PTXRUN_API CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                                  const char *name, unsigned optionCount, CUjit_option *options,
                                  void **values) {
  return cuLinkAddData_v2(state, type, data, bytes, name, optionCount, options, values);
}

PTXRUN_API CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType, const char *path,
                                     unsigned optionCount, CUjit_option *options, void **values) {
  std::shared_ptr<Linker> linker;
  PTXRUN_TRY(enterLinker(state, linker));
  if (optionCount != 0 && (!options || !values))
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<char> bytes;
  if (const auto outcome = image::readFile(path ? path : "", bytes); !outcome.isOk())
    return linker->fail(outcome);
  return linker->add(std::as_bytes(std::span(bytes)), path, {optionCount, options, values});
}
PTXRUN_API CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
                                  unsigned optionCount, CUjit_option *options, void **values) {
  return cuLinkAddFile_v2(state, type, path, optionCount, options, values);
}

PTXRUN_API CUresult cuLinkComplete(CUlinkState state, void **data, size_t *bytes) {
  std::shared_ptr<Linker> linker;
  PTXRUN_TRY(enterLinker(state, linker));
  size_t ignored = 0;
  if (!data)
    return CUDA_ERROR_INVALID_VALUE;
  return linker->complete(data, bytes ? bytes : &ignored);
}

PTXRUN_API CUresult cuLinkDestroy(CUlinkState state) {
  PTXRUN_TRY(checkInitialised());
  return withdraw<Linker>(state) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
