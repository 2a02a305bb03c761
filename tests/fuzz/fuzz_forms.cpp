// Modules written from the instruction table: a form, a choice for each of its modifiers, operands
// of the kinds it asks for; some of them damaged afterwards. Nothing may crash, and the figures say
// how much of it was accepted.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/fuzz/random_form.h"
#include "translate/check/check.h"

using ptxrun::fuzz::Choices;
using ptxrun::fuzz::instruction;

namespace {

constexpr const char *kDeclarations =
    ".global .align 128 .b8 gv[4096];\n.shared .align 128 .b8 sv[4096];\n.const .align 128 .b8 "
    "cv[4096];\n.global .texref tx;\n"
    ".global .surfref su;\n.global .samplerref sm;\n.func (.param .b32 r) f(.param .b32 a) { ret; "
    "}\n";
constexpr const char *kRegisters =
    ".reg .pred %p<9>;\n.reg .b8 %b<300>;\n.reg .b16 %h<300>;\n.reg .b32 %r<300>;\n.reg .b64 "
    "%d<300>;\n.reg .b128 %q<9>;\n"
    ".reg .f32 %f<300>;\n.reg .f64 %e<300>;\nts: .branchtargets L;\npr: .callprototype _;\n";

struct Figures {
  size_t written = 0, accepted = 0;
  ~Figures() { std::fprintf(stderr, "modules accepted: %zu of %zu\n", accepted, written); }
} figures;

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Choices choices(data, size);
  static const char *const kTargets[] = {"sm_103a", "sm_90a", "sm_80", "sm_75", "sm_120a"};
  std::string text = std::string(".version 9.2\n.target ") + kTargets[choices.below(5)] +
                     ", texmode_independent\n.address_size 64\n" + kDeclarations +
                     ".entry k(.param .b64 kp)\n{\n" + kRegisters;
  bool isDamaged = choices.below(4) == 3;
  do
    text += instruction(choices);
  while (!choices.isEmpty());
  text += "L: ret;\n}\n";
  if (isDamaged)
    for (int i = 0; i < 3; ++i)
      text[choices.below(uint32_t(text.size()))] = "{}[](),;.:|@!%_+-<>0\"/ "[choices.below(23)];
  ptxrun::support::SourceFile source("fuzz.ptx", std::move(text));
  ptxrun::support::Diagnostics diagnostics(source);
  auto module = ptxrun::check::parseAndCheck(source, diagnostics);
  if ((module != nullptr) == diagnostics.hasErrors())
    std::abort();
  diagnostics.text();
  figures.written += 1;
  figures.accepted += module != nullptr;
  return 0;
}
