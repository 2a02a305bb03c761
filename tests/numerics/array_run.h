// Instructions over arrays: PTX kernels that apply each of them to every element, run through
// loader/device as any kernel is.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ptxrun::device {
class Module;
}

namespace ptxrun::numerics {

/// A source or result of an instruction: `count` elements of `bits`, a vector operand where count
/// > 1.
struct Field {
  unsigned bits = 32;
  unsigned count = 1;
  bool isPredicate = false; ///< an array of 32-bit words, not zero for true; results are 1 and 0
  unsigned bytes() const { return (isPredicate ? 32 : bits) / 8 * count; }
  bool operator==(const Field &) const = default;
};

/// An instruction without operands ("fma.rn.f32"), and what they are. `resultMark` separates two
/// results: "|" of setp p|q.
struct Instruction {
  std::string mnemonic;
  std::vector<Field> sources, results;
};

/// The array of a field: elements of one thread side by side.
using Bytes = std::vector<uint8_t>;

/// Instructions with the same sources, compiled together.
class ArrayRun {
 public:
  /// Threads come in blocks of this many: lengths are multiples.
  static constexpr unsigned kBlock = 256;
  /// `header`: `.version` and `.target` lines. Instructions must have equal sources. Throws
  /// std::runtime_error with the diagnostics.
  ArrayRun(std::string header, std::vector<Instruction> instructions);
  ~ArrayRun();

  /// Applies all instructions to elements 0 .. n - 1 at W `lanes` (0: chosen), on the calling
  /// thread. sources[j] is the array of source j; returns the array of each result of each
  /// instruction, in order.
  std::vector<Bytes> run(std::span<const Bytes> sources, size_t n, unsigned lanes) const;
  /// The same into arrays that the caller keeps.
  void run(std::span<const Bytes> sources, size_t n, unsigned lanes,
           std::vector<Bytes> &results) const;

  const std::vector<Instruction> &instructions() const { return instructions_; }

 private:
  std::vector<Instruction> instructions_;
  std::unique_ptr<device::Module> module_;
};

/// The PTX of such a kernel, named `apply`.
std::string writeKernel(const std::string &header, std::span<const Instruction>);

} // namespace ptxrun::numerics
