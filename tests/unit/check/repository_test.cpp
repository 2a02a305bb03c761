// Every PTX file of the repository is accepted, and prints back to the tree it was read as.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "translate/check/check.h"
#include "translate/syntax/compare.h"
#include "translate/syntax/parser.h"
#include "translate/syntax/printer.h"

namespace ptxrun {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> ptxFiles() {
  std::vector<fs::path> files;
  for (const char *folder : {"samples", "tests/kernels", "tests/sync", "tests/fuzz"}) {
    fs::path root = fs::path(PTXRUN_SOURCE) / folder;
    if (!fs::exists(root))
      continue;
    for (const auto &entry : fs::recursive_directory_iterator(root))
      if (entry.path().extension() == ".ptx")
        files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Repository, EveryModuleIsAcceptedAndPrintsBack) {
  for (const fs::path &path : ptxFiles()) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    support::SourceFile source(path.filename().string(), std::move(text).str());
    support::Diagnostics diagnostics(source);
    auto tree = syntax::parse(source, diagnostics);
    EXPECT_NE(check::check(*tree, diagnostics), nullptr) << diagnostics.text();
    support::SourceFile printed("printed.ptx", syntax::print(*tree));
    support::Diagnostics again(printed);
    auto second = syntax::parse(printed, again);
    support::Span where;
    EXPECT_FALSE(again.hasErrors()) << again.text();
    EXPECT_TRUE(syntax::isSameTree(*tree, *second, where))
        << path << " line " << source.place(where.begin).line;
  }
}

} // namespace
} // namespace ptxrun
