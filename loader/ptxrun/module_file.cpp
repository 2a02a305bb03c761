#include "loader/ptxrun/module_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "loader/ptxrun/arguments.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/hints.h"
#include "loader/ptxrun/suggest.h"

namespace ptxrun::command {

namespace {

/// What a pipe or a device gives has no end that could be known before.
constexpr size_t kLargestFile = size_t{4} << 30, kLargestStream = size_t{256} << 20;

struct Close {
  void operator()(std::FILE *file) const {
    if (file != stdin)
      std::fclose(file);
  }
};

std::string read(const std::string &path, bool isText) {
  const std::unique_ptr<std::FILE, Close> file(path == "-" ? stdin
                                                           : std::fopen(path.c_str(), "rb"));
  if (!file)
    throw UsageError(whyNotOpened(path, errno));
  struct stat status;
  const bool isFile = fstat(fileno(file.get()), &status) == 0 && S_ISREG(status.st_mode);
  const size_t most = isFile ? kLargestFile : kLargestStream;
  std::string text;
  std::vector<char> block(1 << 16);
  for (size_t got; (got = std::fread(block.data(), 1, block.size(), file.get())) > 0;) {
    text.append(block.data(), got);
    const bool hasNul = isText && !isFile && std::memchr(block.data(), 0, got);
    if (hasNul || text.size() > most)
      throw UsageError(path + (hasNul ? ": not text: there are NUL characters in it"
                                      : ": more than " + std::to_string(most >> 20) +
                                            " MiB; is there an end to it?"));
  }
  if (std::ferror(file.get()))
    throw UsageError(path + ": " + std::strerror(errno));
  return text;
}

/// A file of another kind would be called wrong character by character.
bool isLikePtx(std::string_view text) {
  return text.find(".version") != text.npos || text.find(".entry") != text.npos ||
         text.find(".func") != text.npos;
}

} // namespace

std::string readText(const std::string &path) { return read(path, true); }
std::string readBytes(const std::string &path) { return read(path, false); }

std::unique_ptr<device::Module> loadModule(const std::string &path,
                                           const device::LoadOptions &options) {
  device::Outcome outcome;
  const std::string text = readText(path);
  if (!isLikePtx(text))
    throw UsageError(path +
                     " is no PTX: there is neither .version nor .entry in it. ptxrun inspect "
                     "looks into programs; descriptions of launches end in .toml");
  auto module = device::Module::load(path, text, options, outcome);
  if (!module && outcome.code != device::Code::stopped)
    throw Failed(outcome.message);
  return module;
}

const device::KernelInfo &chooseKernel(const device::Module &module, const std::string &name) {
  auto kernels = module.kernels();
  if (name.empty() && kernels.size() == 1)
    return kernels[0];
  if (const device::KernelInfo *kernel = name.empty() ? nullptr : module.findKernel(name))
    return *kernel;
  std::vector<std::string> names;
  for (const device::KernelInfo &kernel : kernels)
    names.push_back(kernel.name);
  if (names.empty())
    throw UsageError(module.name() + " has no kernel (no .entry)");
  std::string message =
      name.empty() ? "which kernel? Choose one with --kernel" : "there is no kernel '" + name + "'";
  if (std::string near = nearestName(name, names); !name.empty() && !near.empty())
    message += "; did you mean '" + near + "'?";
  message += "\n" + module.name() + " has:";
  for (const device::KernelInfo &kernel : kernels)
    message += "\n  " + signatureOf(kernel);
  throw UsageError(message);
}

const char *nameOf(device::Code code) {
  using device::Code;
  switch (code) {
  case Code::ok:
    return "ok";
  case Code::invalidPtx:
    return "invalidPtx";
  case Code::unsupportedImage:
    return "unsupportedImage";
  case Code::noBinaryForGpu:
    return "noBinaryForGpu";
  case Code::notFound:
    return "notFound";
  case Code::unresolved:
    return "unresolved";
  case Code::invalidValue:
    return "invalidValue";
  case Code::outOfMemory:
    return "outOfMemory";
  case Code::illegalAddress:
    return "illegalAddress";
  case Code::misalignedAddress:
    return "misalignedAddress";
  case Code::launchFailed:
    return "launchFailed";
  case Code::assertion:
    return "assertion";
  case Code::timeout:
    return "timeout";
  case Code::cancelled:
    return "cancelled";
  case Code::stopped:
    return "stopped";
  case Code::fileNotFound:
    return "fileNotFound";
  case Code::notSupported:
    return "notSupported";
  case Code::internalError:
    return "internalError";
  }
  return "?";
}

} // namespace ptxrun::command
