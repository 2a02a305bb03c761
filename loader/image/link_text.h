// Several PTX texts as one: what the driver's linker makes of its inputs.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxrun::image {

/// The texts as one module, so that what one declares another may define: the highest .version and
/// .target of all, then their items. Each text's own names stay its own, its source files keep
/// their lines. Where two texts define the same name for all, the result is no valid module.
/// Nothing where no text refers to what it does not define, or one is no PTX.
std::optional<std::string> mergeTexts(std::span<const std::string> texts);
/// CUDA's device runtime library, which nvcc links to everything. Its functions are provided where
/// calls are lowered.
bool isDeviceRuntime(std::string_view text);

/// The texts one after the other behind marks; splitLinked takes them apart again. What is no such
/// text is its own only part.
std::string joinLinked(std::span<const std::string> texts);
std::vector<std::string> splitLinked(std::string_view text);

} // namespace ptxrun::image
