// NVIDIA's libraries beside driver and runtime, and what is in them. Needs the standard library
// alone: the audit library has it, too.
#pragma once
#include <algorithm>
#include <iterator>
#include <string_view>

namespace ptxrun::image {

enum class NvidiaLibrary {
  none,
  compiler,    ///< runs anywhere
  onHost,      ///< has no code for GPUs
  machineCode, ///< computes on GPUs, by machine code and hardly any PTX
};

/// What a library is, told by its file's name, without folders.
constexpr NvidiaLibrary nvidiaLibrary(std::string_view file) {
  using enum NvidiaLibrary;
  struct Known {
    std::string_view begin;
    NvidiaLibrary what;
  };
  constexpr Known kKnown[] = {
      {"libcublas", machineCode},     {"libcufft", machineCode},    {"libcurand", machineCode},
      {"libcusolver", machineCode},   {"libcusparse", machineCode}, {"libcudnn", machineCode},
      {"libcutensor", machineCode},   {"libcudss", machineCode},    {"libcufile", onHost},
      {"libcupti", onHost},           {"libnpp", machineCode},      {"libnvrtc", compiler},
      {"libnvJitLink", compiler},     {"libnvjpeg", machineCode},   {"libnvblas", machineCode},
      {"libnvinfer", machineCode},    {"libnvgraph", machineCode},  {"libnvvm", compiler},
      {"libnvptxcompiler", compiler}, {"libnccl", machineCode},     {"libcutlass", machineCode}};
  const auto *const found = std::ranges::find_if(
      kKnown, [&](const Known &known) { return file.starts_with(known.begin); });
  return found == std::end(kKnown) ? none : found->what;
}

} // namespace ptxrun::image
