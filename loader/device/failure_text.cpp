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
  return status == rt::Status::illegalAddress || status == rt::Status::misaligned ||
         status == rt::Status::trap || status == rt::Status::undefinedUse ||
         status == rt::Status::assertion;
}

using Kernels = std::span<const std::shared_ptr<const jit::Kernel>>;

std::optional<jit::CodePlace> placeOf(Kernels kernels, const void *pc) {
  for (const auto &kernel : kernels)
    if (auto place = kernel->placeOf(pc))
      return place;
  return std::nullopt;
}

/// ", at FILE:LINE (SOURCE:LINE)" as far as it is known. `line` is the PTX line, 0: the place's.
std::string placeText(Kernels kernels, const void *pc, uint32_t line, std::string_view fileName) {
  std::string source;
  if (pc)
    if (const auto place = placeOf(kernels, pc)) {
      if (line == 0)
        line = place->ptxLine;
      if (!place->sourceFile.empty())
        source = place->sourceFile + ":" + std::to_string(place->sourceLine);
    }
  std::string text;
  if (line != 0)
    text += ", at " + std::string(fileName) + ":" + std::to_string(line);
  if (!source.empty())
    text += " (" + source + ")";
  return text;
}

/// One line for each of those who wait: who, where in the program, for what.
std::string waitersText(const rt::Failure &failure, Kernels kernels, std::string_view fileName,
                        const std::function<std::string(uint64_t)> &nameShared) {
  std::string text;
  for (const rt::Waiter &w : failure.waiters) {
    // The address is behind the call.
    const void *call = w.pc ? static_cast<const char *>(w.pc) - 1 : nullptr;
    text += "\n  " + rt::describe(w) + placeText(kernels, call, 0, fileName) + ": waits for ";
    if (w.sharedAddress >= 0)
      if (std::string name = nameShared(static_cast<uint64_t>(w.sharedAddress)); !name.empty())
        text += "`" + name + "`, ";
    text += w.at;
  }
  if (failure.moreWaiters)
    text += "\n  and " + std::to_string(failure.moreWaiters) + " more";
  return text;
}

} // namespace

std::string describeFailure(const rt::Failure &failure, Kernels kernels,
                            std::string_view kernelName, std::string_view fileName,
                            const std::function<std::string(uint64_t)> &nameShared) {
  const std::string text = "kernel '" + std::string(kernelName) + "': ";
  if (!failure.waiters.empty()) {
    const std::string sentence = what(failure);
    return text + sentence.substr(0, sentence.find('\n')) +
           waitersText(failure, kernels, fileName, nameShared);
  }
  if (!hasPlace(failure.status))
    return text + what(failure);
  return text + what(failure) + placeText(kernels, failure.pc, failure.ptxLine, fileName);
}

} // namespace ptxrun::device
