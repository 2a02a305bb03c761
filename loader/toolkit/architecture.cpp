#include "loader/toolkit/architecture.h"

#include "loader/image/register_limit.h"

namespace ptxrun::toolkit {

namespace {

constexpr std::string_view kReal = "sm_", kVirtual = "compute_";
constexpr std::string_view kNames[] = {"--gpu-architecture", "-gpu-architecture", "-arch"};

/// The value's place in a word like -arch=sm_90; npos where the word is another option.
size_t valueOf(std::string_view word) {
  for (const std::string_view name : kNames)
    if (word.starts_with(name) && word.substr(name.size()).starts_with('='))
      return name.size() + 1;
  return std::string_view::npos;
}

bool isName(std::string_view word) {
  for (const std::string_view name : kNames)
    if (word == name)
      return true;
  return false;
}

} // namespace

CompilerOptions wantPtx(const std::vector<std::string_view> &given) {
  CompilerOptions options;
  bool isValue = false; // of the word before
  for (const std::string_view word : given) {
    const size_t value = isValue ? 0 : valueOf(word);
    std::string &written = options.words.emplace_back(word);
    if (const unsigned limit = image::registerLimitOption(word))
      options.registerLimit = limit;
    if (value != word.npos && word.substr(value).starts_with(kReal)) {
      written.replace(value, kReal.size(), kVirtual);
      options.wantsMachineCode = true;
    }
    isValue = isName(word);
  }
  return options;
}

} // namespace ptxrun::toolkit
