#include "loader/image/program.h"

#include <elf.h>

#include <algorithm>
#include <set>

#include "loader/image/layout.h"
#include "loader/image/nvidia_libraries.h"

namespace ptxrun::image {

namespace {

constexpr std::string_view kDriver = "libcuda.so.1", kSharedRuntime = "libcudart.so";
/// Functions that every program with the runtime inside has.
constexpr std::string_view kRuntimeFunctions[] = {"__cudaRegisterFatBinary", "cudaLaunchKernel",
                                                  "cudaMalloc"};

/// One that CUDA 13 no longer has, and one that came with it: 11 and before have neither.
constexpr std::string_view kNewerFunctions[] = {"cudaGetDeviceProperties_v2",
                                                "cudaLibraryLoadData"};

bool isRuntimeFunction(const ElfSymbol &symbol) {
  return std::ranges::find(kRuntimeFunctions, symbol.name) != std::end(kRuntimeFunctions);
}

bool contains(std::span<const std::byte> bytes, std::string_view text) {
  const std::string_view all(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  return all.find(text) != std::string_view::npos;
}

/// Whether functions of the runtime are defined in the file, or at least used.
struct RuntimeUse {
  bool isDefined = false, isUsed = false, isNew = false;
};

RuntimeUse findRuntimeUse(const ElfFile &file) {
  RuntimeUse use;
  for (const uint32_t table : {SHT_SYMTAB, SHT_DYNSYM})
    for (const ElfSymbol &symbol : file.symbols(table)) {
      if (symbol.section != SHN_UNDEF)
        use.isNew |= std::ranges::find(kNewerFunctions, symbol.name) != std::end(kNewerFunctions);
      if (!isRuntimeFunction(symbol))
        continue;
      use.isUsed = true;
      use.isDefined |= symbol.section != SHN_UNDEF && symbol.type == STT_FUNC;
    }
  return use;
}

Runtime runtimeOf(const ElfFile &file, std::span<const std::byte> bytes, const Contents &contents,
                  bool needsDriver) {
  const RuntimeUse use = findRuntimeUse(file);
  if (file.type() == ET_REL)
    return use.isUsed || !contents.fatBinaries.empty() ? Runtime::notLinked : Runtime::none;
  if (use.isDefined)
    return use.isNew ? Runtime::linkedIn : Runtime::tooOld;
  if (!contents.runtimeLibrary.empty())
    return Runtime::shared;
  const bool namesDriver = contains(bytes, std::string(kDriver) + '\0');
  // The static runtime opens the driver by its name; host code of nvcc's is registered with it.
  if (namesDriver && !contents.fatBinaries.empty() && !needsDriver)
    return Runtime::stripped;
  return needsDriver || namesDriver ? Runtime::driver : Runtime::none;
}

/// A text that cannot be unpacked is none; of cubins the header says enough.
bool isUsable(const EntryContents &one) {
  return one.entry.kind != EntryKind::ptx || one.problem.empty();
}

/// Why there is no text although there is an entry; empty where all can be unpacked.
std::string brokenText(const Contents &contents) {
  for (const FatBinaryContents &fatBinary : contents.fatBinaries)
    for (const EntryContents &one : fatBinary.entries)
      if (!isUsable(one))
        return one.problem;
  return {};
}

/// "sm_80, sm_90a": what there is of a kind, each once.
std::string architecturesOf(const Contents &contents, EntryKind kind, const char *prefix) {
  std::set<std::pair<unsigned, char>> found;
  for (const FatBinaryContents &fatBinary : contents.fatBinaries)
    for (const EntryContents &one : fatBinary.entries)
      if (one.entry.kind == kind && isUsable(one))
        found.emplace(one.entry.architecture, one.entry.suffix);
  std::string text;
  for (const auto &[architecture, suffix] : found) {
    text += (text.empty() ? "" : ", ") + (prefix + std::to_string(architecture));
    if (suffix)
      text += suffix;
  }
  return text;
}

/// The architecture whose PTX is to be added: that of the code there is, as far as this device
/// goes.
std::string wantedArchitecture(const Contents &contents, Target target) {
  unsigned below = 0, above = ~0u;
  for (const FatBinaryContents &fatBinary : contents.fatBinaries)
    for (const EntryContents &one : fatBinary.entries) {
      const unsigned architecture = one.entry.architecture;
      if (architecture == 0 || one.entry.kind == EntryKind::ptx)
        continue;
      if (architecture <= target.architecture)
        below = std::max(below, architecture);
      else
        above = std::min(above, architecture);
    }
  return std::to_string(below ? below : above != ~0u ? above : target.architecture);
}

} // namespace

void describeProgram(const ElfFile &file, std::span<const std::byte> bytes, Contents &contents) {
  bool needsDriver = false;
  for (const std::string_view name : file.needed()) {
    needsDriver |= name.starts_with(kDriver);
    if (name.starts_with(kSharedRuntime))
      contents.runtimeLibrary = name;
    else if (nvidiaLibrary(name) != NvidiaLibrary::none)
      contents.nvidiaLibraries.emplace_back(name);
  }
  contents.runtime = runtimeOf(file, bytes, contents, needsDriver);
}

// The flags hold the architecture in bits 8 to 15 from version 8 of the ABI on (CUDA 13), in bits 0
// to 7 before; the other place then holds what is no architecture.
unsigned cubinArchitecture(std::span<const std::byte> cubin) {
  const auto flags = readAs<uint32_t>(cubin, offsetof(Elf64_Ehdr, e_flags));
  const unsigned later = flags >> 8 & 0xff, earlier = flags & 0xff;
  const auto version = readAs<uint8_t>(cubin, EI_ABIVERSION);
  const unsigned architecture = version >= 8 ? later : earlier;
  return architecture >= 20 && architecture <= 130 ? architecture : 0;
}

std::string optionToAdd(const Contents &contents, Target target) {
  const std::string wanted = wantedArchitecture(contents, target);
  return "-gencode=arch=compute_" + wanted + ",code=compute_" + wanted;
}

std::string whatToAdd(const Contents &contents, Target target) {
  if (!contents.ptx.empty())
    return {};
  const std::string option = optionToAdd(contents, target);
  if (const std::string ptx = architecturesOf(contents, EntryKind::ptx, "compute_"); !ptx.empty())
    return "its PTX, for " + ptx + ", is not for compute capability " +
           std::to_string(target.architecture / 10) + "." +
           std::to_string(target.architecture % 10) +
           ": set PTXRUN_SM to that of the PTX, or compile with nvcc " + option + " as well";
  if (const std::string cubins = architecturesOf(contents, EntryKind::cubin, "sm_");
      !cubins.empty())
    return "it holds only machine code for " + cubins +
           ", which runs on GPUs alone: compile with nvcc " + option + " as well, which adds PTX";
  if (const std::string ir = architecturesOf(contents, EntryKind::ltoIr, "sm_"); !ir.empty())
    return "it holds only LTO-IR for " + ir +
           ", which nvcc's linker makes machine code of: compile with nvcc " + option +
           " as well (in the place of -dlto, which admits no -gencode), which adds PTX";
  if (const std::string problem = brokenText(contents); !problem.empty())
    return "its PTX cannot be read (" + problem + "): copy or compile it anew";
  return "it holds no code for a device";
}

} // namespace ptxrun::image
