// One file per rule: a module that breaks it, and at its end, behind `//!`, the diagnostics it must
// get. PTXRUN_REWRITE=1 writes what was found into the files; read the difference before it is
// committed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "translate/check/check.h"

namespace {

namespace fs = std::filesystem;
using ptxrun::support::Diagnostic;
using ptxrun::support::Severity;

constexpr std::string_view kMark = "//! ";

std::vector<fs::path> ruleFiles() {
  std::vector<fs::path> files;
  for (const auto &entry : fs::directory_iterator(PTXRUN_DIAGNOSTICS))
    if (entry.path().extension() == ".ptx")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string read(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

/// `line:column: error: message` and its notes, one line each.
std::string summary(const ptxrun::support::SourceFile &source,
                    const ptxrun::support::Diagnostics &diagnostics) {
  std::string out;
  for (const Diagnostic &one : diagnostics.all()) {
    auto place = source.place(one.span.begin);
    out += std::string(kMark) + std::to_string(place.line) + ":" + std::to_string(place.column) +
           ": " + (one.severity == Severity::error ? "error: " : "warning: ") +
           diagnostics.messageOf(one) + "\n";
    for (const std::string &note : one.notes)
      out += std::string(kMark) + "  " + note + "\n";
  }
  return out;
}

class Rule : public testing::TestWithParam<fs::path> {};

TEST_P(Rule, IsDiagnosedAsItsFileSays) {
  std::string text = read(GetParam());
  size_t mark = text.find("\n" + std::string(kMark));
  std::string module = mark == std::string::npos ? text : text.substr(0, mark + 1);
  std::string wanted = mark == std::string::npos ? "" : text.substr(mark + 1);
  ptxrun::support::SourceFile source(GetParam().filename().string(), module);
  ptxrun::support::Diagnostics diagnostics(source);
  bool isOk = ptxrun::check::parseAndCheck(source, diagnostics) != nullptr;
  EXPECT_EQ(isOk, !diagnostics.hasErrors());
  std::string found = summary(source, diagnostics);
  if (std::getenv("PTXRUN_REWRITE"))
    std::ofstream(GetParam(), std::ios::binary) << module << found;
  else
    EXPECT_EQ(found, wanted);
}

std::string ruleName(const testing::TestParamInfo<fs::path> &info) {
  std::string name = info.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
      '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Diagnostics, Rule, testing::ValuesIn(ruleFiles()), ruleName);

} // namespace
