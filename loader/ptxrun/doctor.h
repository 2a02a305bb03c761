// What `ptxrun doctor` finds out: facts about the machine and the surroundings of programs, and
// what is wrong with them.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace ptxrun::command {

/// One line: a thing, what is known of it for people, and the same for tools.
struct Fact {
  std::string name;
  std::string text;
  nlohmann::ordered_json value;
};

/// A mistake that keeps programs from running, from ptxrun, or from their speed.
struct Problem {
  std::string id; ///< for tools: "variable", "library-path", ...
  std::string text;
  std::string advice;
};

struct Diagnosis {
  std::vector<Fact> facts;
  std::vector<Problem> problems;
  std::vector<std::string> notes; ///< not wrong, but worth knowing

  void know(std::string name, std::string text, nlohmann::ordered_json value) {
    facts.push_back({std::move(name), std::move(text), std::move(value)});
  }
  void find(std::string id, std::string text, std::string advice) {
    problems.push_back({std::move(id), std::move(text), std::move(advice)});
  }
};

// Each looks at one thing. None changes anything, save for files that are removed again at once.
void examineProcessor(Diagnosis &);
void examineThreads(Diagnosis &);
void examineMemory(Diagnosis &);
void examineCache(Diagnosis &);
void examineSystem(Diagnosis &);
void examineLibraries(Diagnosis &);
void examineSettings(Diagnosis &);

/// The sub-command.
void addDoctor(CLI::App &);

/// The file that the dynamic linker takes for a program without a run path of its own:
/// LD_LIBRARY_PATH, its cache, the default folders, in this order. Empty: none.
std::string linkerFinds(std::string_view library);
/// The same for a program with one; `runPath` with its colons, $ORIGIN replaced.
std::string linkerFinds(std::string_view library, std::string_view runPath, bool isBeforeVariable);
/// Whether a library is one of this project.
bool isOurs(const std::string &file);

/// What it is set to; empty where it is not.
inline std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// "1.5 GiB"
std::string readableBytes(uint64_t bytes);

} // namespace ptxrun::command
