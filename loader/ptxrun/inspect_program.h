// What `ptxrun inspect` says of files other than PTX: programs, objects, fat binaries, cubins.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "loader/image/contents.h"

namespace ptxrun::command {

/// How to run what is in a file, in one sentence.
struct HowToRun {
  bool isPossible = true;
  std::string sentence; ///< a command, or why not and what to do
};
HowToRun howToRun(const std::string &file, const image::Contents &, image::Target);

/// What is inside, on standard output; kernels of PTX are not part of it.
void printContents(const std::string &file, size_t bytes, const image::Contents &);
/// The kernels that no PTX goes with, the first ones by name.
void printMachineCodeOnly(const image::Contents &);
/// The same and more, in full.
nlohmann::ordered_json toJson(const image::Contents &);

} // namespace ptxrun::command
