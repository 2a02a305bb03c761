// A recorded launch as a launch description: the module, the memory its pointers point into as .npy
// files, its arguments.
#include <cinttypes>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/npy.h"
#include "loader/ptxrun/replay_report.h"
#include "rt/texture/registry.h"

namespace ptxrun::command {

namespace {

namespace fs = std::filesystem;

std::string shapeText(abi::Dim3 d) {
  return "[" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + "]";
}

class LaunchExport {
 public:
  LaunchExport(const std::string &path, const capture::MemoryTable &memory)
      : path_(path), stem_(path.substr(0, path.rfind('.'))), memory_(memory) {}

  void write(const capture::LaunchEvent &event, const std::string &text,
             const device::KernelInfo &kernel) {
    std::ofstream(stem_ + ".ptx", std::ios::binary) << text;
    std::string arguments;
    for (const device::Parameter &parameter : kernel.parameters)
      arguments +=
          (arguments.empty() ? "" : ", ") + ("\"" + argument(parameter, event.params) + "\"");
    std::ofstream out(path_);
    out << "module = \"" << fs::path(stem_ + ".ptx").filename().string() << "\"\n\n[buffers]\n"
        << buffers_ << "\n[[launch]]\nkernel = \"" << event.kernel
        << "\"\ngrid = " << shapeText(event.grid) << "\nblock = " << shapeText(event.block) << "\n";
    if (event.cluster.x)
      out << "cluster = " << shapeText(event.cluster) << "\n";
    out << "shared = " << event.sharedBytes
        << "\ncooperative = " << (event.isCooperative ? "true" : "false") << "\n";
    for (const char *name : {"async", "matrix"})
      if (const auto option = event.options.find(name); option != event.options.end())
        out << name << " = \"" << option->second << "\"\n";
    if (const auto lanes = event.options.find("lanes"); lanes != event.options.end())
      out << "lanes = " << lanes->second << "\n";
    out << "arguments = [" << arguments << "]\n";
    if (!out.flush())
      throw Failed("cannot write " + path_);
  }

 private:
  std::string argument(const device::Parameter &parameter, const std::string &params) {
    const char *at = params.data() + parameter.offset;
    if (!parameter.isArray && parameter.vector == 1 && parameter.bytes == 8)
      return word(at);
    std::string text = "{";
    for (uint64_t i = 0; i < parameter.bytes;) {
      // Fields are at their natural alignment; a pointer is so in the launch, too.
      const bool isWord = i % 8 == 0 && (parameter.offset + i) % 8 == 0 && i + 8 <= parameter.bytes;
      text += (i ? ", " : "") +
              (isWord ? field(at + i) : "u8 " + std::to_string(static_cast<uint8_t>(at[i])));
      i += isWord ? 8 : 1;
    }
    if (parameter.isArray || parameter.vector > 1)
      return text + "}";
    uint64_t value = 0;
    std::memcpy(&value, at, std::min<uint64_t>(parameter.bytes, 8));
    char digits[24];
    const bool isFloat = isa::isFloat(parameter.type);
    if (isFloat && parameter.bytes == 4) { // bits
      std::snprintf(digits, sizeof digits, "0f%08" PRIX32, static_cast<uint32_t>(value));
      return digits;
    }
    return std::to_string(value);
  }

  std::string field(const char *at) {
    const std::string text = word(at);
    return (text[0] == 'm' ? "ptr " : "u64 ") + text;
  }

  /// A number, or where it points into memory: that buffer.
  std::string word(const char *at) {
    uint64_t value;
    std::memcpy(&value, at, sizeof value);
    warnOfImage(value);
    auto next = memory_.ranges.upper_bound(value);
    if (next == memory_.ranges.begin())
      return std::to_string(value);
    const capture::Range &range = std::prev(next)->second;
    if (value - range.base > range.bytes)
      return std::to_string(value);
    const std::string name = "m" + std::to_string(range.base);
    if (buffers_.find(name + " ") == std::string::npos)
      addBuffer(name, range);
    return value == range.base ? name : name + "+" + std::to_string(value - range.base);
  }

  /// Descriptions have no textures: who exports such a launch has to know what it will miss.
  void warnOfImage(uint64_t value) const {
    if (const rt::ImageRecord *image = rt::findImage(value); image && image->isBound)
      std::fprintf(stderr,
                   "ptxrun: an argument of the launch is %" PRIu64
                   ", the handle of a texture or surface; %s does not hold it (replay --launch "
                   "does)\n",
                   value, path_.c_str());
  }

  void addBuffer(const std::string &name, const capture::Range &range) {
    Array bytes(Element::u8, {range.bytes});
    std::memcpy(bytes.data(), reinterpret_cast<const void *>(range.base), range.bytes);
    const std::string file = stem_ + "_" + name + ".npy";
    writeNpy(file, bytes);
    buffers_ += name + " = \"" + fs::path(file).filename().string() + "\"\n";
  }

  const std::string path_, stem_;
  const capture::MemoryTable &memory_;
  std::string buffers_;
};

} // namespace

void exportLaunch(const std::string &path, const capture::LaunchEvent &event,
                  const device::Module &, const std::string &text, const device::KernelInfo &kernel,
                  const capture::MemoryTable &memory) {
  LaunchExport(path, memory).write(event, text, kernel);
}

} // namespace ptxrun::command
