// Checks PTX files and prints what it costs: check_files [-q] FILE...
// For each file its diagnostics (not with -q), then text size, MB/s and bytes of memory per byte of text, and whether
// printing and parsing it again gives the same tree.
#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "translate/check/check.h"
#include "translate/syntax/compare.h"
#include "translate/syntax/parser.h"
#include "translate/syntax/printer.h"

static bool printsBack(const ptxrun::support::SourceFile &source) {
  namespace syntax = ptxrun::syntax;
  ptxrun::support::Diagnostics diagnostics(source);
  auto tree = syntax::parse(source, diagnostics);
  if (diagnostics.hasErrors())
    return true;
  ptxrun::support::SourceFile printed("printed", syntax::print(*tree));
  ptxrun::support::Diagnostics again(printed);
  auto second = syntax::parse(printed, again);
  ptxrun::support::Span where;
  if (!again.hasErrors() && syntax::isSameTree(*tree, *second, where))
    return true;
  std::printf("  printing does not give the same tree at line %u\n%s", source.place(where.begin).line, again.text().c_str());
  return false;
}

int main(int argc, char **argv) {
  bool isQuiet = false;
  int bad = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "-q") == 0) {
      isQuiet = true;
      continue;
    }
    std::ifstream file(argv[i], std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    ptxrun::support::SourceFile source(argv[i], std::move(text).str());
    ptxrun::support::Diagnostics diagnostics(source);
    struct mallinfo2 before = mallinfo2();
    auto start = std::chrono::steady_clock::now();
    auto module = ptxrun::check::parseAndCheck(source, diagnostics);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    struct mallinfo2 after = mallinfo2();
    double bytes = double(source.text().size());
    double held = double(after.uordblks + after.hblkhd) - double(before.uordblks + before.hblkhd);
    if (!isQuiet)
      std::fputs(diagnostics.text().c_str(), stdout);
    std::printf("%s: %s, %.0f bytes, %.1f MB/s, %.1f bytes held per byte\n", argv[i], module ? "ok" : "refused", bytes,
                bytes / seconds / 1e6, bytes > 0 ? held / bytes : 0.0);
    bad += module == nullptr;
    if (!printsBack(source))
      ++bad;
  }
  return bad != 0;
}
