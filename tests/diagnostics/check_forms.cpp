// Runs a set of modules (one JSON object per line: id, instruction or kind, text, message) through
// the checker.
//   check_forms accepted FILE   every module should be accepted; prints those that are not, and
//   counts per family check_forms refused FILE    every module should be refused, with an error at
//   the line that `message` names
// Options: -v prints diagnostics, -f NAME only that family.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "translate/check/check.h"

namespace {

using ptxrun::support::Diagnostic;
using ptxrun::support::Severity;

struct Count {
  unsigned good = 0, all = 0;
};

/// The line that `line 7; error : ...` names, 0 where there is none.
unsigned wantedLine(const std::string &message) {
  unsigned line = 0;
  return std::sscanf(message.c_str(), "line %u;", &line) == 1 ? line : 0;
}

bool runOne(const nlohmann::json &entry, bool isAccepted, bool isVerbose) {
  ptxrun::support::SourceFile source(entry["id"], entry["text"]);
  ptxrun::support::Diagnostics diagnostics(source);
  bool isOk = ptxrun::check::parseAndCheck(source, diagnostics) != nullptr;
  bool isGood = isOk == isAccepted;
  if (isGood && !isAccepted) {
    unsigned line = wantedLine(entry["message"]);
    bool hasLine = line == 0;
    for (const Diagnostic &one : diagnostics.all())
      hasLine |= one.severity == Severity::error && source.place(one.span.begin).line == line;
    isGood = hasLine;
  }
  if (!isGood || isVerbose) {
    std::printf("%s %s\n", isGood ? "good" : "BAD ", entry["id"].get<std::string>().c_str());
    if (!isAccepted)
      std::printf("  wanted: %s\n", entry["message"].get<std::string>().c_str());
    std::printf("%s", diagnostics.text().c_str());
    if (!isGood && isOk)
      std::printf("  accepted:\n%s", entry["text"].get<std::string>().c_str());
  }
  return isGood;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: check_forms accepted|refused FILE [-v] [-f FAMILY]\n");
    return 2;
  }
  bool isAccepted = std::strcmp(argv[1], "accepted") == 0, isVerbose = false;
  std::string only;
  for (int i = 3; i < argc; ++i) {
    isVerbose |= std::strcmp(argv[i], "-v") == 0;
    if (std::strcmp(argv[i], "-f") == 0 && i + 1 < argc)
      only = argv[++i];
  }
  std::ifstream file(argv[2]);
  std::map<std::string, Count> families;
  Count total;
  for (std::string line; std::getline(file, line);) {
    nlohmann::json entry = nlohmann::json::parse(line);
    std::string family = entry[isAccepted ? "instruction" : "kind"];
    if (!only.empty() && family != only)
      continue;
    bool isGood = runOne(entry, isAccepted, isVerbose);
    Count &count = families[family];
    count.all += 1, total.all += 1;
    count.good += isGood, total.good += isGood;
  }
  for (const auto &[family, count] : families)
    if (count.good != count.all)
      std::printf("%6.2f %%  %u of %u  %s\n", 100.0 * count.good / count.all, count.good, count.all,
                  family.c_str());
  std::printf("total: %u of %u (%.2f %%)\n", total.good, total.all,
              total.all ? 100.0 * total.good / total.all : 0.0);
  return total.good == total.all ? 0 : 1;
}
