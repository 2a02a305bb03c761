#include "translate/syntax/parser.h"

#include <gtest/gtest.h>

#include "translate/syntax/compare.h"
#include "translate/syntax/printer.h"

namespace ptxrun::syntax {
namespace {

constexpr const char *kHeader = ".version 9.0\n.target sm_90\n.address_size 64\n";

struct Parsed {
  explicit Parsed(std::string text)
      : source("t.ptx", std::move(text)), diagnostics(source), tree(parse(source, diagnostics)) {}
  support::SourceFile source;
  support::Diagnostics diagnostics;
  std::unique_ptr<ast::Module> tree;
  std::string_view name(support::NameId id) const { return tree->names.text(id); }
  std::span<const ast::Statement> body(size_t item = 0) const {
    return tree->items[item].function->body;
  }
  const ast::Instruction &instruction(size_t i) const { return *body()[i].instruction; }
};

Parsed body(std::string statements) {
  return Parsed(std::string(kHeader) + ".entry k()\n{\n" + statements + "\n}\n");
}

/// What the module prints as must parse to the same tree.
void expectRoundTrip(const Parsed &first) {
  ASSERT_FALSE(first.diagnostics.hasErrors()) << first.diagnostics.text();
  Parsed second(print(*first.tree));
  ASSERT_FALSE(second.diagnostics.hasErrors()) << second.diagnostics.text();
  support::Span where;
  EXPECT_TRUE(isSameTree(*first.tree, *second.tree, where))
      << "at line " << first.source.place(where.begin).line << "\n"
      << second.source.text();
}

TEST(Parser, ReadsTheHeader) {
  Parsed parsed(".version 8.7\n.target sm_100a, texmode_independent\n.address_size 32\n");
  EXPECT_FALSE(parsed.diagnostics.hasErrors());
  EXPECT_EQ(parsed.tree->header.versionMajor, 8u);
  EXPECT_EQ(parsed.tree->header.versionMinor, 7u);
  ASSERT_EQ(parsed.tree->header.targets.size(), 2u);
  EXPECT_EQ(parsed.name(parsed.tree->header.targets[0]), "sm_100a");
  EXPECT_EQ(parsed.tree->header.addressSize, 32u);
}

TEST(Parser, SharesMnemonicsThatAreSpelledAlike) {
  Parsed parsed = body("add.u32 %r1,%r2,%r3;\nadd .u32 %r1,%r2,%r3;\nadd/* */.s32 %r1,%r2,%r3;");
  EXPECT_FALSE(parsed.diagnostics.hasErrors());
  EXPECT_EQ(parsed.instruction(0).mnemonic, parsed.instruction(1).mnemonic);
  EXPECT_NE(parsed.instruction(0).mnemonic, parsed.instruction(2).mnemonic);
  const ast::Mnemonic &mnemonic = parsed.tree->mnemonics[parsed.instruction(2).mnemonic];
  EXPECT_EQ(mnemonic.opcode, "add");
  ASSERT_EQ(mnemonic.modifiers.size(), 1u);
  EXPECT_EQ(mnemonic.modifiers[0], "s32");
}

TEST(Parser, KeepsColonsInsideModifiers) {
  Parsed parsed = body("ld.shared::cta.L2::cache_hint.b32 %r1,[%r2],%d1;");
  const ast::Mnemonic &mnemonic = parsed.tree->mnemonics[0];
  ASSERT_EQ(mnemonic.modifiers.size(), 3u);
  EXPECT_EQ(mnemonic.modifiers[0], "shared::cta");
  EXPECT_EQ(mnemonic.modifiers[1], "L2::cache_hint");
}

TEST(Parser, ReadsEveryKindOfOperand) {
  using Kind = ast::Operand::Kind;
  Parsed parsed = body("x %r1, %v.x, !%p1, -%r1, g+4, g[3], g[%r1+1], 0x10, _, [%d1+-4].unified, "
                       "{a,_}, p|q, [m,{%r1,%r2}];");
  ASSERT_FALSE(parsed.diagnostics.hasErrors()) << parsed.diagnostics.text();
  auto operands = parsed.instruction(0).operands;
  const Kind kinds[] = {Kind::name,    Kind::name,    Kind::name,     Kind::name, Kind::nameOffset,
                        Kind::indexed, Kind::indexed, Kind::constant, Kind::sink, Kind::address,
                        Kind::vector,  Kind::pair,    Kind::address};
  ASSERT_EQ(operands.size(), std::size(kinds));
  for (size_t i = 0; i < operands.size(); ++i)
    EXPECT_EQ(operands[i].kind, kinds[i]) << i;
  EXPECT_EQ(parsed.name(operands[1].suffix), "x");
  EXPECT_TRUE(operands[2].isNegated);
  EXPECT_TRUE(operands[3].isMinus);
  EXPECT_EQ(operands[4].expression()[0].bits, 4u);
  EXPECT_TRUE(operands[9].isUnified);
  EXPECT_EQ(operands[12].children()[1].children().size(), 2u);
}

TEST(Parser, TakesParenthesesAsArgumentsOnlyInCalls) {
  Parsed parsed = body("call (r), f, (a, 1);\nmov.u32 %r1, (1+2)*3;");
  ASSERT_FALSE(parsed.diagnostics.hasErrors()) << parsed.diagnostics.text();
  EXPECT_EQ(parsed.instruction(0).operands[2].kind, ast::Operand::Kind::list);
  EXPECT_EQ(parsed.instruction(1).operands[1].kind, ast::Operand::Kind::constant);
}

TEST(Parser, KnowsLabelsGuardsAndBlocks) {
  Parsed parsed = body("L: %M: @!%p1 bra L; { ret; }");
  using Kind = ast::Statement::Kind;
  ASSERT_EQ(parsed.body().size(), 6u);
  EXPECT_EQ(parsed.body()[0].kind, Kind::label);
  EXPECT_EQ(parsed.name(parsed.body()[1].label), "%M");
  EXPECT_TRUE(parsed.instruction(2).isGuardNegated);
  EXPECT_EQ(parsed.body()[3].kind, Kind::openBlock);
  EXPECT_EQ(parsed.body()[5].kind, Kind::closeBlock);
}

TEST(Parser, GoesOnAfterAnErrorWithTheNextStatement) {
  Parsed parsed = body("add.u32 %r1,,%r2;\nmov.u32 %r1,1;\nsub.u32 %r1 %r2;\nret;");
  EXPECT_EQ(parsed.diagnostics.errorCount(), 2u);
  EXPECT_EQ(parsed.body().size(), 2u);
}

TEST(Parser, GoesOnAfterAnErrorWithTheNextFunction) {
  Parsed parsed(std::string(kHeader) +
                ".func f(.param)\n{\nret;\n}\n.global .u32;x\n.entry k()\n{\nret;\n}\n");
  EXPECT_TRUE(parsed.diagnostics.hasErrors());
  ASSERT_FALSE(parsed.tree->items.empty());
  EXPECT_EQ(parsed.tree->items.back().kind, ast::Item::Kind::function);
}

TEST(Parser, TreatsLineDirectivesOfAPreprocessorAsBlanks) {
  EXPECT_FALSE(body("#line 3 \"foo.cu\"\nret;").diagnostics.hasErrors());
  EXPECT_TRUE(body(" #line 3 \"foo.cu\"\nret;").diagnostics.hasErrors());
}

struct ExpressionCase {
  const char *written, *printed;
};
class Expression : public testing::TestWithParam<ExpressionCase> {};
TEST_P(Expression, PrintsWithThePrecedenceItWasReadWith) {
  Parsed parsed = body(std::string("mov.u32 %r1, ") + GetParam().written + ";");
  ASSERT_FALSE(parsed.diagnostics.hasErrors()) << parsed.diagnostics.text();
  EXPECT_EQ(print(*parsed.tree, parsed.instruction(0).operands[1].expression()),
            GetParam().printed);
  expectRoundTrip(parsed);
}
// From the precedence table of PTX ISA 4.5.4.
INSTANTIATE_TEST_SUITE_P(
    Precedence, Expression,
    testing::Values(
        ExpressionCase{"1+2*3", "1 + 2 * 3"}, ExpressionCase{"(1+2)*3", "(1 + 2) * 3"},
        ExpressionCase{"1-(2-3)", "1 - (2 - 3)"}, ExpressionCase{"(1-2)-3", "1 - 2 - 3"},
        ExpressionCase{"1|2^3&4", "1 | 2 ^ 3 & 4"}, ExpressionCase{"(1|2)^3", "(1 | 2) ^ 3"},
        ExpressionCase{"~(1<<3)", "~(1 << 3)"}, ExpressionCase{"- -5", "--5"},
        ExpressionCase{"-(.s64)5U", "-(.s64)5U"}, ExpressionCase{"1?2:3?4:5", "1 ? 2 : 3 ? 4 : 5"},
        ExpressionCase{"(1?2:3)?4:5", "(1 ? 2 : 3) ? 4 : 5"},
        ExpressionCase{"1==2&&3<=4||5", "1 == 2 && 3 <= 4 || 5"},
        ExpressionCase{"7 % 3 % 2", "7 % 3 % 2"},
        ExpressionCase{"0x1F+017+0b101", "0x1f + 017 + 0b101"},
        ExpressionCase{"0f3f800000", "0f3F800000"},
        ExpressionCase{"0d3ff0000000000000", "0d3FF0000000000000"}, ExpressionCase{"1e5", "1e+05"},
        ExpressionCase{".5", "0.5"}, ExpressionCase{"2.", "2.0"},
        ExpressionCase{"WARP_SZ-1", "WARP_SZ - 1"}));

TEST(Printer, PrintsEveryDirectiveBack) {
  expectRoundTrip(Parsed(R"(.version 9.0
.target sm_90a, texmode_independent
.address_size 64
.file 1 "a.cu", 1339013327, 64118
.file 2 "b.cu"
.extern .func (.param .b32 r) ext(.param .b64 a, .param .align 4 .b8 rest[]);
.visible .func (.reg .b32 r) g(.reg .b32 a, .reg .f64 b) .abi_preserve 8;
.func .attribute(.unified(1, 2)) u() .noreturn { exit; }
.weak .global .attribute(.managed) .align 8 .v2 .u32 pairs[2] = {{1, 2}, {3, 4}}, more<4>;
.global .u64 pointers[2] = {foo + 4, generic(foo) + 8 * 2};
.global .u8 bytes[] = {0xff(generic(foo)), 0xff00(foo + 4)};
.global .texref t = {normalized_coords = 1, filter_mode = linear};
.common .global .f32 c = -1.5e-3;
.pragma "nounroll", "x";
.visible .entry k(.param .u64 .ptr .global .align 16 p, .param .b8 q[128], .param .u64 .ptr s)
.maxntid 128, 1, 1 .minnctapersm 2 .explicitcluster .pragma "nounroll";
{
  .reg .v4 .f32 %v;
  .loc 1 5 0
  .loc 1 9 3, function_name .debug_str + 4, inlined_at 1 5 0
  ts: .branchtargets A, B;
  cs: .calltargets f, g;
  pr: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;
  p2: .callprototype _;
A:
B:
  @%p1 ret;
}
.entry empty { }
.alias f, g;
.section .debug_str { info: .b8 95, 90, -1 .b32 info + 4 .b32 end-info .b64 .debug_str end: }
)"));
}

// --- hostile input: bounded stack, linear time
// ------------------------------------------------------------------------

TEST(Hostile, DeepBlocksNeedNoStack) {
  std::string open(200000, '{'), close(200000, '}');
  EXPECT_FALSE(body(open + close).diagnostics.hasErrors());
  EXPECT_TRUE(body(open).diagnostics.hasErrors());
}

TEST(Hostile, DeepOperandsAndExpressionsAreRefused) {
  for (const char *open : {"(", "-", "~", "1+(", "{", "[", "1?", "[{"}) {
    std::string deep;
    for (int i = 0; i < 100000; ++i)
      deep += open;
    EXPECT_TRUE(body("mov.u32 %r1, " + deep + ";").diagnostics.hasErrors()) << open;
  }
  EXPECT_TRUE(Parsed(std::string(kHeader) + ".global .u32 x[1] = " + std::string(100000, '{'))
                  .diagnostics.hasErrors());
}

TEST(Hostile, LongExpressionsAreFine) {
  std::string sum = "1";
  for (int i = 0; i < 100000; ++i)
    sum += "+1";
  expectRoundTrip(body("mov.u32 %r1, " + sum + ";"));
}

TEST(Hostile, TruncationAnywhereOnlyGivesDiagnostics) {
  std::string text = std::string(kHeader) +
                     ".global .u32 x[2] = {1, 0xff(y)};\n.entry k(.param .u32 p) .maxntid 1\n{\nL: "
                     "@%p1 mov.v2.u32 {a, b}, [c+1];\n"
                     ".loc 1 2 3\n}\n.section .debug_str { .b8 1 }\n";
  for (size_t i = 0; i < text.size(); ++i)
    Parsed(text.substr(0, i)).diagnostics.text();
}

TEST(Hostile, EveryByteInEveryPlaceOnlyGivesDiagnostics) {
  std::string text = std::string(kHeader) + ".entry k()\n{\nmov.u32 %r1, {a}|b;\n}\n";
  for (size_t i = 0; i < text.size(); ++i)
    for (int byte = 0; byte < 256; byte += 5) {
      std::string changed = text;
      changed[i] = char(byte);
      Parsed(changed).diagnostics.text();
    }
}

} // namespace
} // namespace ptxrun::syntax
