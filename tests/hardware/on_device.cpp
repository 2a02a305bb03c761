// Runs the project's cases on a real device through CUDA's driver, and writes what it gives.
//
//   on_device isa FOLDER OUT            every .vec under FOLDER: OUT/isa.txt, a line for each case
//                                       whose result is not the one written
//   on_device matrix FOLDER OUT SEEDS   every .ptx and .cases of FOLDER: OUT/STEM.cases, the
//   device's
//                                       digests for the inputs of the file and SEEDS more of each
//                                       kind
//   on_device fuzz FIRST LAST           the random kernels of these seeds (tests/fuzz): says which
//                                       leave other memory than their interpreter does, crash the
//                                       driver's compiler or hang
//
// Needs nothing of ours but sources: see run.sh.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "tests/fuzz/random_kernel.h"
#include "tests/hardware/child.h"
#include "tests/hardware/driver.h"
#include "tests/isa/compare.h"
#include "tests/isa/ptx_writer.h"
#include "tests/matrix/case_inputs.h"

namespace ptxrun {
namespace {
namespace fs = std::filesystem;

constexpr unsigned kBlock = 32;

/// Memory of the device and a copy of it here.
class Buffer {
 public:
  explicit Buffer(size_t bytes) : bytes_(std::max<size_t>(bytes, 8)) {
    cuMemAlloc(&address_, bytes_);
  }
  ~Buffer() { cuMemFree(address_); }
  Buffer(const Buffer &) = delete;
  void upload(const void *from, size_t bytes) { cuMemcpyHtoD(address_, from, bytes); }
  CUresult download(void *to, size_t bytes) { return cuMemcpyDtoH(to, address_, bytes); }
  CUdeviceptr address() const { return address_; }

 private:
  size_t bytes_;
  CUdeviceptr address_ = 0;
};

/// A module, or why there is none.
struct Module {
  CUmodule module = nullptr;
  std::string why;

  explicit Module(const std::string &text) {
    std::string log;
    if (CUresult result = hardware::loadModule(module, text, log))
      why = hardware::nameOf(result) + " " + log.substr(0, 300);
  }
  ~Module() {
    if (module)
      cuModuleUnload(module);
  }
  Module(const Module &) = delete;

  CUresult launch(const std::string &name, unsigned grid, std::array<uint32_t, 3> block,
                  void **arguments) {
    CUfunction function = nullptr;
    if (CUresult result = cuModuleGetFunction(&function, module, name.c_str()))
      return result;
    if (CUresult result = cuLaunchKernel(function, grid, 1, 1, block[0], block[1], block[2], 0,
                                         nullptr, arguments, nullptr))
      return result;
    return cuCtxSynchronize();
  }
};

std::string textOf(const fs::path &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<fs::path> filesOf(const fs::path &folder, const std::string &extension) {
  std::vector<fs::path> files;
  for (const auto &entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == extension)
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// The cases of a file, each group by itself, so that one the device refuses hides no other.
void runIsaFile(const fs::path &path, std::ofstream &out) {
  using namespace isa_test;
  const CaseFile file = readCaseFile(path.string());
  size_t cases = 0, differences = 0, refused = 0;
  for (const Group &group : file.groups) {
    const unsigned threads = unsigned(group.cases.size() + kBlock - 1) / kBlock * kBlock;
    const size_t stride = size_t{threads} * kSlotBytes / 8;
    Module module(writeHeader(file) + writeRegisterKernel(std::span(&group, 1), 0, threads));
    if (!module.why.empty()) {
      out << path.stem().string() << ": " << group.mnemonic << ": refused: " << module.why << "\n";
      refused += threads;
      continue;
    }
    std::vector<uint64_t> in(kSlotBytes / 8 + kMaxOperands * stride),
        results(kPasses * kMaxResults * stride);
    std::fill_n(in.begin(), kSlotBytes / 8, kUntouched);
    for (unsigned i = 0; i < threads; ++i)
      for (size_t j = 0; j < group.operands.size(); ++j)
        std::copy_n(group.cases[i % group.cases.size()].operands[j].element.begin(), kSlotBytes / 8,
                    &in[kSlotBytes / 8 + j * stride + i * (kSlotBytes / 8)]);
    std::vector<uint32_t> mask(threads, 1);
    Buffer inputs(in.size() * 8), outputs(results.size() * 8), masks(threads * 4);
    inputs.upload(in.data(), in.size() * 8);
    masks.upload(mask.data(), threads * 4);
    CUdeviceptr addresses[] = {inputs.address(), outputs.address(), masks.address()};
    void *arguments[] = {&addresses[0], &addresses[1], &addresses[2]};
    const CUresult result =
        module.launch("registers_0", threads / kBlock, {kBlock, 1, 1}, arguments);
    if (result != CUDA_SUCCESS) {
      out << path.stem().string() << ": " << group.mnemonic << ": " << hardware::nameOf(result)
          << "\n";
      std::printf("%s: %s\n", group.mnemonic.c_str(), hardware::nameOf(result).c_str());
      std::exit(1); // the context is lost
    }
    outputs.download(results.data(), results.size() * 8);
    cases += group.cases.size();
    for (size_t i = 0; i < group.cases.size(); ++i)
      for (size_t r = 0; r < group.results.size(); ++r) {
        const Slot &slot = group.results[r];
        for (unsigned e = 0; e < (slot.bits == 128 ? 2 : slot.count); ++e) {
          const uint64_t got = results[r * stride + i * (kSlotBytes / 8) + e];
          const std::string difference =
              differenceOf(slot, group.cases[i].tolerance, group.cases[i].results[r], e, got);
          if (group.cases[i].results[r].isAnyNaN)
            out << "~ " << group.mnemonic << " nan " << std::hex << got << std::dec << "\n";
          if (!difference.empty()) {
            ++differences;
            out << path.stem().string() << ":" << group.cases[i].line << ": " << group.mnemonic
                << ": result " << r << "." << e << ": " << difference << "\n";
          }
        }
      }
  }
  out << "= " << path.stem().string() << ": " << cases << " cases, " << differences
      << " differences, " << refused << " refused\n";
  out.flush();
}

void runIsa(const fs::path &folder, const fs::path &to) {
  std::ofstream out(to / "isa.txt");
  for (const fs::path &path : filesOf(folder, ".vec"))
    runIsaFile(path, out);
}

std::string joined(const std::vector<std::string> &masks) {
  std::string text;
  for (size_t i = 0, j; i < masks.size(); i = j) {
    for (j = i; j < masks.size() && masks[j] == masks[i];)
      ++j;
    text += (i ? "," : "") + std::to_string(j - i) + "*" + masks[i];
  }
  return text;
}

void runMatrixKernel(Module &module, const matrix_test::Kernel &kernel, unsigned more,
                     const std::string &policy, std::ofstream &out, std::ofstream &raw) {
  // Each kind of inputs once, with the seeds it has and some more.
  std::map<std::vector<std::string>, std::set<uint64_t>> kinds;
  for (const matrix_test::Case &tested : kernel.cases)
    kinds[tested.masks].insert(tested.seed);
  std::vector<matrix_test::Case> cases;
  for (auto &[masks, seeds] : kinds) {
    for (unsigned i = 0; i < more; ++i)
      seeds.insert(*seeds.begin() + 16 + i);
    for (const uint64_t seed : seeds)
      cases.push_back({policy, seed, masks, 0});
  }
  std::vector<uint8_t> in = matrix_test::inputsOf(kernel, cases);
  const size_t outBytes = kernel.outputBytes();
  std::vector<uint8_t> result(outBytes * cases.size());
  Buffer inputs(in.size()), outputs(result.size());
  inputs.upload(in.data(), in.size());
  CUdeviceptr addresses[] = {inputs.address(), outputs.address()};
  void *arguments[] = {&addresses[0], &addresses[1]};
  CUresult status =
      module.launch(kernel.name, unsigned(cases.size()), {kernel.threads, 1, 1}, arguments);
  if (status == CUDA_SUCCESS)
    status = outputs.download(result.data(), result.size());
  if (status != CUDA_SUCCESS) {
    out << "# " << kernel.name << ": " << hardware::nameOf(status) << "\n";
    std::printf("%s: %s\n", kernel.name.c_str(), hardware::nameOf(status).c_str());
    std::exit(1);
  }
  if (raw.is_open())
    for (size_t i = 0; i < cases.size(); ++i) {
      raw << kernel.name << " " << cases[i].seed << " " << joined(cases[i].masks) << std::hex;
      for (size_t j = 0; j < outBytes; j += 4) {
        uint32_t word;
        std::memcpy(&word, &result[i * outBytes + j], 4);
        raw << " " << word;
      }
      raw << std::dec << "\n";
    }
  out << "kernel " << kernel.name << " " << kernel.inputs << " " << kernel.outputs << " "
      << kernel.bits << " " << kernel.threads << "\n";
  for (size_t i = 0; i < cases.size(); ++i) {
    char digest[20];
    std::snprintf(digest, sizeof digest, "%016llx",
                  (unsigned long long)matrix_test::digestOf(&result[i * outBytes], outBytes));
    out << policy << " " << cases[i].seed << " " << joined(cases[i].masks) << " " << digest << "\n";
  }
}

void runMatrix(const fs::path &folder, const fs::path &to, unsigned more,
               const std::string &policy) {
  for (const fs::path &path : filesOf(folder, ".cases")) {
    const std::string stem = path.stem().string();
    fs::path source = path;
    Module module(textOf(source.replace_extension(".ptx")));
    if (!module.why.empty()) {
      std::printf("%s: %s\n", stem.c_str(), module.why.c_str());
      continue;
    }
    std::ofstream out(to / (stem + ".cases"));
    std::ofstream raw; // all words, where asked for
    if (getenv("ON_DEVICE_RAW"))
      raw.open(to / (stem + ".raw"));
    out << "# Results of a device: policy seed masks digest\n";
    for (const matrix_test::Kernel &kernel : matrix_test::readCases(path.string()))
      runMatrixKernel(module, kernel, more, policy, out, raw);
    std::printf("%s\n", stem.c_str());
  }
}

/// What the device leaves of a random kernel's memory that the interpreter does not; empty:
/// nothing.
std::string differenceOf(const fuzz::RandomKernel &kernel) {
  Module module(kernel.text());
  if (!module.why.empty())
    return "refused: " + module.why;
  std::vector<uint32_t> memory = kernel.memory();
  Buffer buffer(memory.size() * 4);
  buffer.upload(memory.data(), memory.size() * 4);
  CUdeviceptr address = buffer.address();
  uint32_t parameter = kernel.parameter();
  void *arguments[] = {&address, &parameter};
  CUresult result = module.launch("k", kernel.grid(), kernel.block(), arguments);
  if (!result)
    result = buffer.download(memory.data(), memory.size() * 4);
  if (result)
    return hardware::nameOf(result);
  const std::vector<uint32_t> expected = kernel.expected();
  const auto [got, wanted] = std::ranges::mismatch(memory, expected);
  if (got == memory.end())
    return "";
  return "word " + std::to_string(got - memory.begin()) + " is " + std::to_string(*got) +
         ", the interpreter has " + std::to_string(*wanted);
}

bool openDevice(int &major, int &minor) {
  CUcontext context = nullptr;
  if (!cuInit(0) && !cuCtxCreate(&context, nullptr, 0, 0) &&
      !cuDeviceComputeCapability(&major, &minor, 0))
    return true;
  std::fprintf(stderr, "no device\n");
  return false;
}

/// How far children have come.
struct Progress {
  std::atomic<uint64_t> seed, differences;
};

/// In a child. Seeds from progress.seed on, as long as the context lasts.
int fuzzSeeds(Progress &progress, uint64_t last) {
  int major = 0, minor = 0;
  if (!openDevice(major, minor))
    return 1;
  cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 16 << 10); // kernels call themselves
  bool isContextLost = false;
  for (; progress.seed <= last && !isContextLost; ++progress.seed) {
    const std::string what = differenceOf(fuzz::RandomKernel(progress.seed));
    isContextLost = cuCtxSynchronize() != CUDA_SUCCESS;
    if (what.empty())
      continue;
    ++progress.differences;
    std::printf("seed %llu: %s\n", (unsigned long long)progress.seed, what.c_str());
    std::fflush(stdout);
  }
  return 0;
}

int runFuzz(uint64_t first, uint64_t last) {
  Progress &progress = *hardware::sharedMemory<Progress>(1);
  uint64_t crashes = 0;
  for (progress.seed = first; progress.seed <= last;) {
    hardware::Child child([&] { return fuzzSeeds(progress, last); }, &progress.seed);
    std::optional<std::string> end;
    while (!(end = child.ended()))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (*end == "exit status 1")
      return 1;
    if (end->empty())
      continue;
    ++crashes;
    std::printf("seed %llu: %s\n", (unsigned long long)progress.seed++, end->c_str());
  }
  std::printf("seeds %llu to %llu: %llu differ, %llu crashed or hung\n", (unsigned long long)first,
              (unsigned long long)last, (unsigned long long)progress.differences,
              (unsigned long long)crashes);
  return progress.differences || crashes ? 1 : 0;
}

int run(int count, char **words) {
  if (count < 4 || (std::string(words[1]) == "matrix" && count < 5)) {
    std::fprintf(stderr, "usage: on_device isa FOLDER OUT | on_device matrix FOLDER OUT SEEDS | "
                         "on_device fuzz FIRST LAST\n");
    return 2;
  }
  if (std::string(words[1]) == "fuzz")
    return runFuzz(std::stoull(words[2]), std::stoull(words[3]));
  int major = 0, minor = 0;
  if (!openDevice(major, minor))
    return 1;
  if (std::string(words[1]) == "isa")
    runIsa(words[2], words[3]);
  else
    runMatrix(words[2], words[3], unsigned(std::stoul(words[4])),
              "sm_" + std::to_string(10 * major + minor));
  return 0;
}

} // namespace
} // namespace ptxrun

int main(int argc, char **argv) { return ptxrun::run(argc, argv); }
