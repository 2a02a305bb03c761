// Any bytes as PTX: nothing crashes, hangs or leaks, and what parses prints back to the same tree.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "translate/check/check.h"
#include "translate/syntax/compare.h"
#include "translate/syntax/parser.h"
#include "translate/syntax/printer.h"

namespace syntax = ptxrun::syntax;
using ptxrun::support::Diagnostics;
using ptxrun::support::SourceFile;
using ptxrun::support::Span;

static void require(bool condition, const char *what, const std::string &text) {
  if (condition)
    return;
  std::fprintf(stderr, "%s\n%s\n", what, text.c_str());
  std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SourceFile source("fuzz.ptx", std::string(reinterpret_cast<const char *>(data), size));
  Diagnostics parsing(source);
  auto tree = syntax::parse(source, parsing);
  if (!parsing.hasErrors()) {
    SourceFile printed("printed.ptx", syntax::print(*tree));
    Diagnostics again(printed);
    auto second = syntax::parse(printed, again);
    Span where;
    require(!again.hasErrors(), "what was printed does not parse", again.text());
    require(syntax::isSameTree(*tree, *second, where), "printing changed the tree",
            std::string(printed.text()));
  }
  Diagnostics checking(source);
  bool isOk = ptxrun::check::check(*tree, checking) != nullptr;
  require(isOk != checking.hasErrors(), "a module without errors is refused, or the reverse",
          checking.text());
  checking.text();
  parsing.text();
  return 0;
}
