#include "tests/matrix/case_inputs.h"

#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ptxrun::matrix_test {
namespace {

/// `2*83ff83ff/0,1*ordered`
std::vector<std::string> readMasks(const std::string &text) {
  std::vector<std::string> masks;
  std::istringstream runs(text);
  for (std::string run; std::getline(runs, run, ',');) {
    const size_t star = run.find('*');
    masks.insert(masks.end(), std::stoul(run.substr(0, star)), run.substr(star + 1));
  }
  return masks;
}

uint64_t mixed(uint64_t seed, unsigned reg, unsigned lane) {
  uint64_t x = seed + (reg * kWarp + lane + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

uint64_t inputWord(const std::string &mask, uint64_t seed, unsigned reg, unsigned lane) {
  const uint64_t x = mixed(seed, reg, lane);
  if (mask == "ordered" || mask == "paired") {
    const std::vector<unsigned> table = mask == "ordered"
                                            ? std::vector<unsigned>{4, 8, 9, 12, 13, 14}
                                            : std::vector<unsigned>{4, 14};
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; ++i)
      word |= uint64_t{table[(x >> (4 * i) & 15) % table.size()]} << (4 * i);
    return word;
  }
  const size_t slash = mask.find('/');
  return (x & std::stoull(mask.substr(0, slash), nullptr, 16)) |
         std::stoull(mask.substr(slash + 1), nullptr, 16);
}

} // namespace

std::vector<Kernel> readCases(const std::string &path) {
  std::vector<Kernel> kernels;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first, masks;
    words >> first;
    if (first.empty() || first == "#")
      continue;
    if (first == "kernel") {
      Kernel &kernel = kernels.emplace_back();
      words >> kernel.name >> kernel.inputs >> kernel.outputs >> kernel.bits >> kernel.threads;
      if (!words)
        kernel.threads = kWarp;
      continue;
    }
    Case made{first, 0, {}, 0};
    words >> made.seed >> masks >> std::hex >> made.digest;
    made.masks = readMasks(masks);
    if (kernels.empty() || made.masks.size() != kernels.back().inputs)
      throw std::runtime_error(path + ": " + line);
    kernels.back().cases.push_back(made);
  }
  return kernels;
}

std::vector<uint8_t> inputsOf(const Kernel &kernel, const std::vector<Case> &cases) {
  const size_t size = kernel.bits / 8;
  std::vector<uint8_t> in(kernel.inputBytes() * cases.size());
  for (size_t i = 0; i < in.size() / size; ++i) {
    const Case &tested = cases[i * size / kernel.inputBytes()];
    const unsigned reg = unsigned(i / kWarp % kernel.inputs), lane = unsigned(i % kWarp);
    const uint64_t word = inputWord(tested.masks[reg], tested.seed, reg, lane);
    std::memcpy(&in[i * size], &word, size);
  }
  return in;
}

uint64_t digestOf(const uint8_t *bytes, size_t count) {
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < count; ++i)
    h = (h ^ bytes[i]) * 0x100000001b3u;
  return h;
}

} // namespace ptxrun::matrix_test
