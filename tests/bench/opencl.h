// The rival: kernels.cl on an OpenCL CPU device (PoCL), on the very buffers the others use.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ptxrun::bench {

struct ClBuffer {
  void *data;
  size_t bytes;
};

/// One argument: bytes of a scalar, or a buffer.
struct ClArgument {
  std::vector<char> scalar;
  ClBuffer buffer{nullptr, 0};
};
template <class T> ClArgument clScalar(T value) {
  const char *bytes = reinterpret_cast<const char *>(&value);
  return {std::vector<char>(bytes, bytes + sizeof value), {nullptr, 0}};
}
template <class D> ClArgument clBuffer(D &data) { return {{}, {data.get(), data.bytes()}}; }

struct ClLaunch {
  std::string kernel;
  std::array<size_t, 2> grid, block; ///< in work-groups and work-items
  std::vector<ClArgument> arguments;
};

/// True where an OpenCL CPU device is there and kernels.cl compiles on it; says why not, once.
bool openClIsAvailable();
/// Prepares the launches; calling the result runs them in order and waits. Empty where OpenCL is
/// not available.
std::function<void()> openClRun(std::vector<ClLaunch> launches);

} // namespace ptxrun::bench
