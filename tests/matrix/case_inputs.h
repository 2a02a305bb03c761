// Cases of matrix instructions: which kernel, inputs made from a seed, the digest of what comes
// out. generate/cases.py makes the same inputs and the same digest. See README.md for the format.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ptxrun::matrix_test {

inline constexpr unsigned kWarp = 32;

struct Case {
  std::string policy;
  uint64_t seed = 0;
  std::vector<std::string> masks; ///< one for each register
  uint64_t digest = 0;
};

/// A kernel (.param .u64 in, out): a block is a case. It reads `inputs` and writes `outputs` times
/// 32 words of `bits` bits.
struct Kernel {
  std::string name;
  unsigned inputs = 0, outputs = 0, bits = 32;
  unsigned threads = kWarp; ///< of a block
  std::vector<Case> cases;
  size_t inputBytes() const { return size_t{inputs} * kWarp * bits / 8; }
  size_t outputBytes() const { return size_t{outputs} * kWarp * bits / 8; }
};

/// Throws std::runtime_error where a line cannot be read.
std::vector<Kernel> readCases(const std::string &path);
/// What the blocks of a launch over these cases read.
std::vector<uint8_t> inputsOf(const Kernel &, const std::vector<Case> &);
uint64_t digestOf(const uint8_t *bytes, size_t count);

} // namespace ptxrun::matrix_test
