#include "tests/unit/lower/lower_fixture.h"

#include <gtest/gtest.h>
#include <llvm/Support/raw_ostream.h>

#include "translate/check/check.h"

namespace ptxrun::lower::test {

unsigned Lowered::count(std::string_view text) const {
  unsigned found = 0;
  for (size_t at = ir.find(text); at != std::string::npos; at = ir.find(text, at + text.size()))
    ++found;
  return found;
}

Lowered lowerModule(std::string_view text, bool optimise) {
  Lowered result;
  std::string whole = ".version 8.7\n.target sm_90\n.address_size 64\n";
  whole.append(text);
  result.source = std::make_unique<support::SourceFile>("test.ptx", std::move(whole));
  support::Diagnostics diagnostics(*result.source);
  result.checked = check::parseAndCheck(*result.source, diagnostics);
  EXPECT_TRUE(result.checked) << diagnostics.text();
  if (!result.checked)
    return result;
  const check::Function *kernel = result.checked->module().findFunction("k");
  CodeOptions options;
  options.isWatched = !optimise; // comes as it was lowered
  auto lane = lowerKernel(result.checked->module(), *kernel, options, diagnostics);
  result.diagnostics = diagnostics.text();
  if (!lane) {
    llvm::consumeError(lane.takeError());
    return result;
  }
  EXPECT_EQ(verifyLaneModule(*lane), "");
  llvm::raw_string_ostream(result.ir) << *lane->module;
  result.lane = std::move(*lane);
  return result;
}

Lowered lowerBody(std::string_view body, bool optimise) {
  std::string text = ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
                     "  .reg .pred %p<32>;\n  .reg .b16 %h<32>;\n  .reg .b32 %r<32>;\n"
                     "  .reg .b64 %rd<32>;\n  .reg .f32 %f<32>;\n  .reg .f64 %d<32>;\n"
                     "  ld.param.u64 %rd30, [out];\n  ld.param.u64 %rd31, [in];\n";
  text.append(body);
  return lowerModule(text + "\n}\n", optimise);
}

} // namespace ptxrun::lower::test
