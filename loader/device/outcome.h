// How an operation of loader/device ended: a kind that the driver API maps to a CUresult, and text
// for people.
#pragma once
#include <string>
#include <utility>

namespace ptxrun::device {

enum class Code {
  ok,
  invalidPtx,       ///< parser, checker or compiler refused; the message is the diagnostics text
  unsupportedImage, ///< not PTX, not a fat binary: nothing we know
  noBinaryForGpu, ///< the image holds no PTX that this device may run; the message says what to add
  notFound,       ///< no such kernel, variable
  unresolved,     ///< an extern variable or function that nothing defines
  invalidValue,   ///< launch shape, parameter size
  outOfMemory,
  illegalAddress,    ///< the kernel read or wrote a bad address
  misalignedAddress, ///< checked code: an access that is not aligned to its size
  launchFailed,      ///< trap, deadlock
  assertion,         ///< device-side assert
  timeout,
  cancelled,
  stopped, ///< LoadOptions::stopAfter named an earlier stage: not a failure
  fileNotFound,
  notSupported,
  internalError, ///< a stage found its own product broken, in every form that could be tried
};

struct Outcome {
  Code code = Code::ok;
  std::string message; ///< empty when ok; never empty otherwise
  bool isOk() const { return code == Code::ok; }

  static Outcome failed(Code code, std::string message) { return {code, std::move(message)}; }
};

} // namespace ptxrun::device
