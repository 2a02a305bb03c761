#include "loader/ptxrun/inspect_program.h"

#include <cstdio>
#include <filesystem>
#include <map>

#include "loader/device/readable_name.h"
#include "loader/image/nvidia_libraries.h"
#include "loader/ptxrun/installation.h"

namespace ptxrun::command {
namespace {

namespace fs = std::filesystem;
using image::Contents;
using image::EntryContents;
using image::EntryKind;
using image::FatBinaryContents;
using image::FileKind;
using image::Runtime;

/// More fat binaries than this are counted, not listed.
constexpr size_t kFatBinariesListed = 6;
constexpr size_t kNamesListed = 20;

const char *nameOf(FileKind kind) {
  switch (kind) {
  case FileKind::text:
    return "PTX";
  case FileKind::fatBinary:
    return "fat binary";
  case FileKind::cubin:
    return "cubin";
  case FileKind::executable:
    return "executable";
  case FileKind::sharedObject:
    return "shared object";
  case FileKind::object:
    return "object";
  }
  return "?";
}

const char *wordOf(Runtime runtime) {
  switch (runtime) {
  case Runtime::none:
    return "none";
  case Runtime::linkedIn:
    return "static";
  case Runtime::stripped:
    return "static, stripped";
  case Runtime::tooOld:
    return "static, too old";
  case Runtime::shared:
    return "shared";
  case Runtime::driver:
    return "driver";
  case Runtime::notLinked:
    return "not linked";
  }
  return "?";
}

std::string describeRuntime(const Contents &contents) {
  switch (contents.runtime) {
  case Runtime::none:
    return "none: nothing of CUDA is called";
  case Runtime::linkedIn:
    return "static: NVIDIA's runtime is inside";
  case Runtime::stripped:
    return "static: NVIDIA's runtime is inside, its symbols are stripped";
  case Runtime::tooOld:
    return "static: NVIDIA's runtime is inside, older than CUDA 12";
  case Runtime::shared:
    return "shared: " + contents.runtimeLibrary;
  case Runtime::driver:
    return "none: it calls the driver, libcuda.so.1";
  case Runtime::notLinked:
    return "not linked yet";
  }
  return {};
}

const char *wordOf(EntryKind kind) {
  switch (kind) {
  case EntryKind::ptx:
    return "PTX";
  case EntryKind::cubin:
    return "machine code";
  case EntryKind::ltoIr:
    return "LTO-IR";
  }
  return "unknown kind of code";
}

std::string architectureOf(const image::Entry &entry) {
  std::string text =
      (entry.kind == EntryKind::ptx ? "compute_" : "sm_") + std::to_string(entry.architecture);
  if (entry.suffix)
    text += entry.suffix;
  return text;
}

const char *compressionOf(const image::Entry &entry) {
  if (entry.kind == EntryKind::ltoIr) // in a way of its own
    return "other";
  return entry.isZstd ? "zstd" : entry.isLz4 ? "lz4" : "none";
}

std::string versionOf(const image::Entry &entry) {
  return std::to_string(entry.versionMajor) + "." + std::to_string(entry.versionMinor);
}

void printEntry(const EntryContents &one) {
  const image::Entry &entry = one.entry;
  std::printf("    %-13s%s", wordOf(entry.kind), architectureOf(entry).c_str());
  if (entry.kind == EntryKind::ptx)
    std::printf(", ISA %s", versionOf(entry).c_str());
  std::printf(", %llu bytes", static_cast<unsigned long long>(one.bytes));
  if (one.bytes != entry.payload.size())
    std::printf(" (%s: %zu)", entry.kind == EntryKind::ltoIr ? "compressed" : compressionOf(entry),
                entry.payload.size());
  if (!one.kernels.empty())
    std::printf(", %zu kernels", one.kernels.size());
  std::printf("\n");
  if (!one.problem.empty())
    std::printf("      %s\n", one.problem.c_str());
}

/// "PTX compute_75 (212 times)" for each kind and architecture.
void printEntryCounts(const Contents &contents) {
  std::map<std::string, size_t> counts;
  size_t broken = 0;
  for (const FatBinaryContents &fatBinary : contents.fatBinaries) {
    broken += !fatBinary.problem.empty();
    for (const EntryContents &one : fatBinary.entries) {
      ++counts[std::string(wordOf(one.entry.kind)) + " " + architectureOf(one.entry)];
      broken += !one.problem.empty();
    }
  }
  std::printf("  %zu fat binaries\n", contents.fatBinaries.size());
  for (const auto &[what, count] : counts)
    std::printf("    %s (%zu times)\n", what.c_str(), count);
  if (broken)
    std::printf("    broken: %zu; --json says how\n", broken);
}

std::string describeLibrary(const std::string &name) {
  const image::NvidiaLibrary what = image::nvidiaLibrary(name);
  if (what == image::NvidiaLibrary::compiler)
    return name + " (a compiler, which works)";
  if (what == image::NvidiaLibrary::onHost)
    return name + " (NVIDIA's, without code for GPUs)";
  if (name.starts_with("libcudnn.so"))
    return name + " (ours makes handles; what NVIDIA's computes is machine code for GPUs, which is "
                  "not run)";
  std::error_code error;
  if (const std::string folder = findLibraryFolder();
      !folder.empty() && fs::exists(fs::path(folder) / name, error))
    return name + " (ours is used)";
  return name + " (NVIDIA's has machine code for GPUs, which is not run)";
}

std::string howToRunProgram(const std::string &file, const Contents &contents) {
  // Without a slash the shell and exec would look for it in the path.
  const std::string program = file.find('/') == std::string::npos ? "./" + file : file;
  const std::string folder = findLibraryFolder();
  std::string sentence = "ptxrun exec " + program;
  if (contents.runtime != Runtime::linkedIn && !folder.empty())
    sentence += ", or LD_LIBRARY_PATH=" + folder + " " + program;
  return sentence;
}

std::string commandFor(const std::string &file, const Contents &contents) {
  switch (contents.kind) {
  case FileKind::executable:
    return howToRunProgram(file, contents);
  case FileKind::sharedObject:
    return "ptxrun exec PROGRAM, for a program that loads it";
  case FileKind::object:
    return "link it to a program with nvcc, then ptxrun exec ./program";
  default:
    return "ptxrun exec PROGRAM, for a program that loads it (cuModuleLoad)";
  }
}

/// Why NVIDIA's runtime inside cannot be replaced by ours (loader/audit); empty where it can be, or
/// is not there.
std::string whyRuntimeStays(const Contents &contents) {
  if (contents.runtime == Runtime::tooOld)
    return "NVIDIA's runtime inside is older than CUDA 12, whose functions are others; build it "
           "with "
           "CUDA 12 or 13";
  if (contents.runtime != Runtime::stripped)
    return {};
  return "NVIDIA's runtime inside is found by its symbols, which are stripped; link with nvcc "
         "-cudart shared, or without -s and strip";
}

} // namespace

HowToRun howToRun(const std::string &file, const Contents &contents, image::Target target) {
  if (contents.kind == FileKind::executable && contents.fatBinaries.empty())
    return {false, "it holds no code for a device itself; where it or its libraries load some: " +
                       howToRunProgram(file, contents)};
  if (const std::string lack = image::whatToAdd(contents, target); !lack.empty())
    return {false, "not possible: " + lack};
  if (const std::string why = whyRuntimeStays(contents); !why.empty())
    return {false, "not possible: " + why};
  std::string sentence = commandFor(file, contents);
  if (!contents.machineCodeOnly.empty())
    sentence += "; for the kernels that are only machine code, compile with nvcc " +
                image::optionToAdd(contents, target) + " as well";
  return {true, sentence};
}

void printContents(const std::string &file, size_t bytes, const Contents &contents) {
  std::printf("%s: %s, %zu bytes\n", file.c_str(), nameOf(contents.kind), bytes);
  if (contents.kind != FileKind::fatBinary && contents.kind != FileKind::cubin)
    std::printf("  runtime        %s\n", describeRuntime(contents).c_str());
  for (const std::string &library : contents.nvidiaLibraries)
    std::printf("  needs          %s\n", describeLibrary(library).c_str());
  if (contents.fatBinaries.size() > kFatBinariesListed)
    return printEntryCounts(contents);
  for (const FatBinaryContents &fatBinary : contents.fatBinaries) {
    if (contents.kind != FileKind::cubin)
      std::printf("  fat binary%s\n", fatBinary.isOfObject ? ", relocatable (-rdc=true)" : "");
    for (const EntryContents &one : fatBinary.entries)
      printEntry(one);
    if (!fatBinary.problem.empty())
      std::printf("    %s\n", fatBinary.problem.c_str());
  }
}

void printMachineCodeOnly(const Contents &contents) {
  if (contents.machineCodeOnly.empty())
    return;
  std::printf("  kernels that are only there as machine code, which cannot be run: %zu\n",
              contents.machineCodeOnly.size());
  for (size_t i = 0; i < std::min(kNamesListed, contents.machineCodeOnly.size()); ++i)
    std::printf("    %s\n", device::readableName(contents.machineCodeOnly[i]).c_str());
  if (contents.machineCodeOnly.size() > kNamesListed)
    std::printf("    and %zu more, which --json names\n",
                contents.machineCodeOnly.size() - kNamesListed);
}

nlohmann::ordered_json toJson(const Contents &contents) {
  nlohmann::ordered_json result = {{"kind", nameOf(contents.kind)},
                                   {"runtime", wordOf(contents.runtime)},
                                   {"runtimeLibrary", contents.runtimeLibrary},
                                   {"nvidiaLibraries", contents.nvidiaLibraries}};
  result["fatBinaries"] = nlohmann::ordered_json::array();
  for (const FatBinaryContents &fatBinary : contents.fatBinaries) {
    nlohmann::ordered_json entries = nlohmann::ordered_json::array();
    for (const EntryContents &one : fatBinary.entries) {
      entries.push_back({{"kind", wordOf(one.entry.kind)},
                         {"architecture", architectureOf(one.entry)},
                         {"compression", compressionOf(one.entry)},
                         {"storedBytes", one.entry.payload.size()},
                         {"bytes", one.bytes},
                         {"problem", one.problem}});
      if (one.entry.kind == EntryKind::ptx)
        entries.back()["version"] = versionOf(one.entry);
      if (one.entry.kind == EntryKind::cubin)
        entries.back()["kernels"] = one.kernels;
    }
    result["fatBinaries"].push_back({{"isOfObject", fatBinary.isOfObject},
                                     {"problem", fatBinary.problem},
                                     {"entries", entries}});
  }
  result["machineCodeOnly"] = contents.machineCodeOnly;
  return result;
}

} // namespace ptxrun::command
