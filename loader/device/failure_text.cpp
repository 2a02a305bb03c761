// The sentence for a failed launch: in which kernel, what and by whom, where in the PTX and in the
// source.
#include "loader/device/device.h"
#include "translate/jit/kernel.h"

namespace ptxrun::device {

namespace {

/// rt's sentence names thread block and threads where it knows them.
std::string what(const rt::Failure &failure) {
  return failure.message.empty() ? "the launch failed" : failure.message;
}

bool hasPlace(rt::Status status) {
  return status == rt::Status::illegalAddress || status == rt::Status::trap ||
         status == rt::Status::assertion;
}

} // namespace

std::string describeFailure(const rt::Failure &failure, const jit::Kernel &kernel,
                            std::string_view kernelName, std::string_view fileName) {
  std::string text = "kernel '" + std::string(kernelName) + "': " + what(failure);
  if (!hasPlace(failure.status))
    return text;
  uint32_t line = failure.ptxLine;
  std::string source;
  if (failure.pc)
    if (const auto place = kernel.placeOf(failure.pc)) {
      if (line == 0)
        line = place->ptxLine;
      if (!place->sourceFile.empty())
        source = place->sourceFile + ":" + std::to_string(place->sourceLine);
    }
  if (line != 0)
    text += ", at " + std::string(fileName) + ":" + std::to_string(line);
  if (!source.empty())
    text += " (" + source + ")";
  return text;
}

} // namespace ptxrun::device
