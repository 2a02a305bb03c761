// The sentence for a failed launch: what, in which kernel, where in the PTX and in the source, which thread.
#include <cinttypes>
#include <cstdio>

#include "loader/device/device.h"
#include "translate/jit/kernel.h"

namespace ptxrun::device {

namespace {

std::string format(abi::Dim3 d) {
  char text[48];
  snprintf(text, sizeof text, "(%u,%u,%u)", d.x, d.y, d.z);
  return text;
}

abi::Dim3 threadAt(uint32_t linear, abi::Dim3 block) {
  return {linear % block.x, linear / block.x % block.y, linear / (block.x * block.y)};
}

std::string what(const rt::Failure &failure) {
  char text[96];
  switch (failure.status) {
  case rt::Status::illegalAddress:
    snprintf(text, sizeof text, "illegal address 0x%" PRIx64 " (%s)", failure.address,
             failure.isWrite ? "write" : "read");
    return failure.message.empty() || failure.address != 0 ? text : failure.message;
  case rt::Status::trap: return failure.message.empty() ? "trap" : failure.message;
  default: return failure.message.empty() ? "the launch failed" : failure.message;
  }
}

/// "thread (1,0,0)", "threads (0,0,0) to (7,0,0)", or nothing where no thread is known.
std::string who(const rt::Failure &failure, abi::Dim3 block) {
  if (failure.threadCount == 0)
    return {};
  std::string text = failure.threadCount == 1 ? "thread " : "one of threads ";
  text += format(threadAt(failure.firstThread, block));
  if (failure.threadCount > 1)
    text += " to " + format(threadAt(failure.firstThread + failure.threadCount - 1, block));
  return text + " of block " + format(failure.ctaid);
}

bool hasPlace(rt::Status status) {
  return status == rt::Status::illegalAddress || status == rt::Status::trap ||
         status == rt::Status::assertion;
}

}  // namespace

std::string describeFailure(const rt::Failure &failure, const jit::Kernel &kernel,
                            std::string_view kernelName, std::string_view fileName,
                            abi::Dim3 block) {
  std::string text = "kernel '" + std::string(kernelName) + "': " + what(failure);
  if (!hasPlace(failure.status))
    return text;
  if (const std::string thread = who(failure, block); !thread.empty())
    text += ", " + thread;
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

}  // namespace ptxrun::device
