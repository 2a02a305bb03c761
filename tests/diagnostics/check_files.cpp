// Checks PTX files and prints what it costs: check_files [-q] [-s] FILE...
// For each file its diagnostics (not with -q), then text size, MB/s and bytes of memory per byte of
// text, and whether printing and parsing it again gives the same tree (not with -s).
#include <malloc.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>

#include "translate/check/check.h"
#include "translate/syntax/compare.h"
#include "translate/syntax/parser.h"
#include "translate/syntax/printer.h"

/// Processor time, which other programs on the machine do not change much.
static double cpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

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
  std::printf("  printing does not give the same tree at line %u\n%s",
              source.place(where.begin).line, again.text().c_str());
  return false;
}

int main(int argc, char **argv) {
  bool isQuiet = false, isSpeedOnly = false;
  int bad = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "-q") == 0) {
      isQuiet = true;
      continue;
    }
    if (std::strcmp(argv[i], "-s") == 0) {
      isSpeedOnly = true;
      continue;
    }
    std::ifstream file(argv[i], std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    ptxrun::support::SourceFile source(argv[i], std::move(text).str());
    ptxrun::support::Diagnostics diagnostics(source);
    struct mallinfo2 before = mallinfo2();
    double start = cpuSeconds();
    auto module = ptxrun::check::parseAndCheck(source, diagnostics);
    double seconds = cpuSeconds() - start;
    struct mallinfo2 after = mallinfo2();
    double bytes = double(source.text().size());
    double held = double(after.uordblks + after.hblkhd) - double(before.uordblks + before.hblkhd);
    if (!isQuiet)
      std::fputs(diagnostics.text().c_str(), stdout);
    std::printf("%s: %s, %.0f bytes, %.1f MB/s, %.1f bytes held per byte\n", argv[i],
                module ? "ok" : "refused", bytes, bytes / seconds / 1e6,
                bytes > 0 ? held / bytes : 0.0);
    bad += module == nullptr;
    if (!isSpeedOnly && !printsBack(source))
      ++bad;
  }
  return bad != 0;
}
