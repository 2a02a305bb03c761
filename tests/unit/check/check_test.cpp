#include "translate/check/check.h"

#include <gtest/gtest.h>

#include <bit>

#include "translate/check/verify.h"

namespace ptxrun::check {
namespace {

constexpr const char *kHeader = ".version 9.0\n.target sm_90a\n.address_size 64\n";
constexpr const char *kRegisters = ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 "
                                   "%d<9>; .reg .f32 %f<9>; .reg .f64 %e<9>;\n";

struct Checked {
  explicit Checked(std::string text)
      : source("t.ptx", std::move(text)), diagnostics(source),
        owner(parseAndCheck(source, diagnostics)) {}
  const Module &module() const { return owner->module(); }
  const Function &function(std::string_view name) const { return *module().findFunction(name); }
  support::SourceFile source;
  support::Diagnostics diagnostics;
  std::unique_ptr<CheckedModule> owner;
};

Checked module(std::string text) { return Checked(kHeader + text); }
Checked kernel(std::string body, std::string before = "") {
  return module(before + ".visible .entry k(.param .b32 in)\n{\n" + kRegisters + body + "\n}\n");
}

TEST(Check, KeepsVersionTargetAndAddressSize) {
  Checked checked = module(".entry k() { ret; }");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  EXPECT_EQ(checked.module().version, 90u);
  EXPECT_EQ(checked.module().target, 90u);
  EXPECT_EQ(checked.module().targetSuffix, 'a');
  EXPECT_EQ(checked.module().addressBits, 64u);
}

TEST(Check, MakesOnlyTheRegistersOfARangeThatAreNamed) {
  Checked checked = kernel("mov.u32 x99999, x007;", ".visible .func f() { ret; }\n");
  EXPECT_FALSE(checked.owner);
  Checked many =
      module(".entry k() { .reg .b32 x<4000000000>; mov.u32 x99999, x007; mov.u32 x7, x99999; }");
  ASSERT_TRUE(many.owner) << many.diagnostics.text();
  const Function &function = many.function("k");
  ASSERT_EQ(function.registers.size(), 3u); // x007 and x7 are spelled differently
  EXPECT_EQ(function.body[0].operands[0].reg, function.body[1].operands[1].reg);
}

TEST(Check, LetsInnerScopesHideOuterNames) {
  Checked checked = kernel(".reg .b32 a; mov.u32 a, 1; { .reg .b64 a; mov.u64 a, 2; { .reg .b16 "
                           "a<3>; mov.u16 a1, 3; mov.u64 a, 4; } } mov.u32 a, 5;");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  const auto &body = checked.function("k").body;
  EXPECT_EQ(body[0].operands[0].reg, body[4].operands[0].reg);
  EXPECT_EQ(body[1].operands[0].reg->type, isa::Type::b64);
  EXPECT_EQ(body[1].operands[0].reg, body[3].operands[0].reg);
}

TEST(Check, LetsRegistersOfOneRangeBeTheSameInEveryBlock) {
  Checked checked = kernel(".reg .b32 x<9>; { mov.u32 x1, 1; { mov.u32 x2, 2; } } mov.u32 x1, x2;");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  const auto &body = checked.function("k").body;
  EXPECT_EQ(body[0].operands[0].reg, body[2].operands[0].reg);
  EXPECT_EQ(body[1].operands[0].reg, body[2].operands[1].reg);
}

TEST(Check, FindsLabelsForwardBackwardAndThroughBlocks) {
  Checked checked = kernel("A: bra C; { A: bra A; bra C; } bra A; C:");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  const Function &k = checked.function("k");
  const auto target = [&](size_t i) { return k.body[i].operands[0].label; };
  EXPECT_EQ(target(0)->statement, 4u); // behind the last instruction
  EXPECT_EQ(target(1)->statement, 1u);
  EXPECT_EQ(target(2), target(0));
  EXPECT_EQ(target(3)->statement, 0u);
  EXPECT_EQ(k.labels.size(), 3u);
}

TEST(Check, BindsInstructionsToFormsWithTypesAndLines) {
  Checked checked =
      kernel("@!%p1 ld.global.v2.f32 {%f1, _}, [%d1+-8];\n\ncvt.rn.f32.u32 %f1, %r1;");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  const Instruction &load = checked.function("k").body[0], &convert = checked.function("k").body[1];
  EXPECT_EQ(load.form->opcode, "ld");
  EXPECT_EQ(load.vector, 2);
  EXPECT_TRUE(load.isGuardNegated);
  EXPECT_EQ(load.guard->name, "%p1");
  EXPECT_EQ(load.operands[0].kind, Operand::Kind::vector);
  EXPECT_EQ(load.operands[0].elements[1].kind, Operand::Kind::sink);
  EXPECT_EQ(load.operands[1].kind, Operand::Kind::address);
  EXPECT_EQ(load.operands[1].integer, -8);
  EXPECT_EQ(load.line, 7u);
  EXPECT_EQ(convert.line, 9u);
  EXPECT_EQ(convert.type(0), isa::Type::f32);
  EXPECT_EQ(convert.type(1), isa::Type::u32);
}

// PTX ISA 4.5.5: what expressions are worth; 6.1: constants take the type of their use.
struct ConstantCase {
  const char *instruction;
  int64_t value;
};
class IntegerConstant : public testing::TestWithParam<ConstantCase> {};
TEST_P(IntegerConstant, HasTheValueOfItsUse) {
  Checked checked = kernel(GetParam().instruction);
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  const Operand &operand = checked.function("k").body[0].operands[1];
  ASSERT_EQ(operand.kind, Operand::Kind::integer);
  EXPECT_EQ(operand.integer, GetParam().value) << GetParam().instruction;
}
INSTANTIATE_TEST_SUITE_P(
    Values, IntegerConstant,
    testing::Values(
        ConstantCase{"mov.u32 %r1, -1;", 0xFFFFFFFF}, ConstantCase{"mov.s32 %r1, -1;", -1},
        ConstantCase{"mov.s32 %r1, 0xFFFFFFFF;", -1},
        ConstantCase{"mov.b16 %h1, 70000;", 70000 - 65536}, ConstantCase{"mov.u64 %d1, ~0;", -1},
        ConstantCase{"mov.u32 %r1, -7/2;", 0xFFFFFFFD},
        ConstantCase{"mov.u64 %d1, -7U/2;", 0x7FFFFFFFFFFFFFFC},
        ConstantCase{"mov.u64 %d1, -7 % 3;", 0}, ConstantCase{"mov.u32 %r1, -1 < 0U;", 0},
        ConstantCase{"mov.u32 %r1, -1 < 0;", 1}, ConstantCase{"mov.s64 %d1, -8 >> 1;", -4},
        ConstantCase{"mov.u64 %d1, -8U >> 1;", 0x7FFFFFFFFFFFFFFC},
        ConstantCase{"mov.u32 %r1, 1 << 70;", 0}, ConstantCase{"mov.u32 %r1, 1 ? 2 : 3;", 2},
        ConstantCase{"mov.u32 %r1, !5 || 0;", 0}, ConstantCase{"mov.u32 %r1, (.u64)-1 > 5;", 1},
        ConstantCase{"mov.u32 %r1, WARP_SZ * 2;", 64}, ConstantCase{"mov.u32 %r1, 1.5 < 2.5;", 1},
        ConstantCase{"mov.b32 %r1, 0f3F800000;", 0x3F800000}));

struct FloatCase {
  const char *instruction;
  uint64_t bits;
};
class FloatConstant : public testing::TestWithParam<FloatCase> {};
TEST_P(FloatConstant, HasTheBitsOfItsUse) {
  Checked checked = kernel(GetParam().instruction);
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  const Operand &operand = checked.function("k").body[0].operands[1];
  ASSERT_EQ(operand.kind, Operand::Kind::floating);
  EXPECT_EQ(operand.bits, GetParam().bits) << GetParam().instruction;
}
INSTANTIATE_TEST_SUITE_P(Values, FloatConstant,
                         testing::Values(FloatCase{"mov.f32 %f1, 0.1;", 0x3DCCCCCD},
                                         FloatCase{"mov.f64 %e1, 0.1;", 0x3FB999999999999A},
                                         FloatCase{"mov.f32 %f1, 0d3FB999999999999A;", 0x3DCCCCCD},
                                         FloatCase{"mov.f32 %f1, 0f7FC00001;", 0x7FC00001},
                                         FloatCase{"mov.f64 %e1, -0.0;", 0x8000000000000000},
                                         FloatCase{"mov.f64 %e1, 1.0/3.0;", 0x3FD5555555555555},
                                         FloatCase{"mov.f32 %f1, 1e39;", 0x7F800000}));

TEST(Check, LaysVariablesOut) {
  Checked checked = module(".global .align 8 .v2 .f32 a[3][2]; .shared .b16 b; .extern .shared .b8 "
                           "c[]; .global .b128 d; .entry k() { .local .u64 e<2>; ret; }");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  const auto &v = checked.module().variables;
  EXPECT_EQ(v[0]->bytes, 48u);
  EXPECT_EQ(v[0]->alignment, 8u);
  EXPECT_EQ(v[1]->bytes, 2u);
  EXPECT_EQ(v[2]->bytes, 0u);
  EXPECT_EQ(v[2]->linkage, Linkage::external_);
  EXPECT_EQ(v[3]->alignment, 16u);
  ASSERT_EQ(checked.function("k").variables.size(), 2u);
  EXPECT_EQ(checked.function("k").variables[1]->name, "e1");
}

TEST(Check, WritesInitialisersAsBytes) {
  Checked checked = module(
      ".global .s16 a[2][3] = {{1,-2},{0x1234}}; .global .f32 b[] = {1.0, 0f40000000}; .global "
      ".f64 c = 0f3F800000; .global .v2 .u8 d[2] = {{1,2},{3,4}}; .entry k() { ret; }");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  const auto &v = checked.module().variables;
  const std::vector<uint8_t> a{1, 0, 0xFE, 0xFF, 0, 0, 0x34, 0x12},
      b{0, 0, 0x80, 0x3F, 0, 0, 0, 0x40}, c{0, 0, 0, 0, 0, 0, 0xF0, 0x3F}, d{1, 2, 3, 4};
  EXPECT_TRUE(std::ranges::equal(v[0]->initializer, a));
  EXPECT_EQ(v[0]->bytes, 12u);
  EXPECT_TRUE(std::ranges::equal(v[1]->initializer, b));
  EXPECT_EQ(v[1]->bytes, 8u);
  EXPECT_TRUE(std::ranges::equal(v[2]->initializer, c));
  EXPECT_TRUE(std::ranges::equal(v[3]->initializer, d));
}

TEST(Check, RecordsAddressesInInitialisers) {
  Checked checked = module(
      ".func f() { ret; } .global .u32 y[4]; .global .u64 p[3] = {y + 4, generic(y) + 2 * 4, f}; "
      ".global .u8 m[2] = {0xff00(y), 0xff0000(generic(y) + 4)}; .entry k() { ret; }");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  const Variable &y = *checked.module().variables[0], &p = *checked.module().variables[1],
                 &m = *checked.module().variables[2];
  ASSERT_EQ(p.relocations.size(), 3u);
  EXPECT_EQ(p.relocations[0].variable, &y);
  EXPECT_EQ(p.relocations[0].addend, 4);
  EXPECT_FALSE(p.relocations[0].isGeneric);
  EXPECT_TRUE(p.relocations[1].isGeneric);
  EXPECT_EQ(p.relocations[1].offset, 8u);
  EXPECT_EQ(p.relocations[1].addend, 8);
  EXPECT_EQ(p.relocations[2].function, checked.module().findFunction("f"));
  ASSERT_EQ(m.relocations.size(), 2u);
  EXPECT_EQ(m.relocations[0].shift, 8);
  EXPECT_EQ(m.relocations[0].width, 1);
  EXPECT_EQ(m.relocations[1].shift, 16);
  EXPECT_EQ(m.relocations[1].addend, 4);
}

TEST(Check, JoinsDeclarationsWithTheirDefinitions) {
  Checked checked =
      module(".extern .global .u32 v; .func (.param .b32 r) f(.param .b32 a);\n"
             ".entry k() { .reg .b32 x; ld.global.u32 x, [v]; call (x), f, (x); ret; }\n"
             ".func (.param .b32 r) f(.param .b32 b) { st.param.b32 [r], 1; ret; } .visible "
             ".global .u32 v = 7;");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  const Function &k = checked.function("k"), &f = checked.function("f");
  EXPECT_EQ(checked.module().functions.size(), 2u);
  EXPECT_FALSE(f.isDeclaration);
  EXPECT_EQ(f.signature.parameters[0]->name, "b");
  EXPECT_EQ(k.body[1].operands[1].function, &f);
  EXPECT_EQ(checked.module().variables.size(), 1u);
  EXPECT_EQ(k.body[0].operands[1].variable->initializer.size(), 4u);
}

TEST(Check, AcceptsUnresolvedExternals) {
  Checked checked = module(".extern .func e(); .extern .global .u32 v; .entry k() { .reg .b32 x; "
                           "ld.global.u32 x, [v]; call e; ret; }");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  EXPECT_TRUE(checked.function("e").isDeclaration);
}

TEST(Check, GivesRegisterParametersBothAVariableAndARegister) {
  Checked checked = module(".func (.reg .b32 r) f(.reg .b32 a, .param .b64 b) { mov.b32 r, a; ret; "
                           "} .entry k() { ret; }");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  const Function &f = checked.function("f");
  EXPECT_EQ(f.signature.parameters[0]->space, isa::StateSpace::reg);
  EXPECT_EQ(f.signature.parameters[1]->space, isa::StateSpace::param);
  ASSERT_EQ(f.registers.size(), 2u);
  EXPECT_EQ(f.body[0].operands[1].reg->name, "a");
}

TEST(Check, ResolvesTargetsOfIndirectCallsAndBranches) {
  Checked checked = module(".func f() { ret; } .func g() { ret; } .global .u64 t[2] = {f, g};\n"
                           ".entry k() { .reg .b64 d; .reg .b32 i; mov.u64 d, f;\nps: "
                           ".callprototype _; call d, ps;\nfs: .calltargets f, g; call d, fs;\n"
                           "call d, t;\nts: .branchtargets A, B; brx.idx i, ts; A: B: ret; }");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  const auto &body = checked.function("k").body;
  const auto last = [&](size_t i) -> const Operand & { return body[i].operands.back(); };
  EXPECT_NE(last(1).prototype, nullptr);
  EXPECT_EQ(last(2).functions.size(), 2u);
  EXPECT_EQ(last(3).functions.size(), 2u);
  EXPECT_EQ(last(4).labels.size(), 2u);
}

TEST(Check, KeepsPerformanceDirectives) {
  Checked checked = module(".entry k() .reqntid 32, 4 .minnctapersm 2 .maxnreg 40 "
                           ".reqnctapercluster 2 .explicitcluster { ret; }");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  const Function &k = checked.function("k");
  EXPECT_EQ(k.reqntid, (std::array<uint32_t, 3>{32, 4, 1}));
  EXPECT_EQ(k.reqnctapercluster, (std::array<uint32_t, 3>{2, 1, 1}));
  EXPECT_EQ(k.maxntid, (std::array<uint32_t, 3>{}));
  EXPECT_EQ(k.minnctapersm, 2u);
  EXPECT_EQ(k.maxnreg, 40u);
  EXPECT_TRUE(k.explicitcluster);
}

TEST(Check, CarriesSourceLocationsThroughInlining) {
  Checked checked = module(
      ".file 1 \"a.cu\"\n.entry k() {\n.reg .b32 x;\nmov.u32 x, 1;\n.loc 1 21 3\nmov.u32 x, 2;\n"
      ".loc 1 9 3, function_name names+2, inlined_at 1 21 3\nmov.u32 x, 3;\nret;\n}\n.section "
      ".debug_str\n{\nnames:\n.b8 120,0,102,111,111,0\n}\n");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  const Module &m = checked.module();
  const auto &body = checked.function("k").body;
  EXPECT_EQ(m.files[1], "a.cu");
  EXPECT_EQ(body[0].location, 0u);
  EXPECT_EQ(m.locations[body[1].location].line, 21u);
  const Location &inner = m.locations[body[2].location];
  EXPECT_EQ(inner.line, 9u);
  EXPECT_EQ(inner.functionName, "foo");
  EXPECT_EQ(inner.inlinedAt, body[1].location);
  EXPECT_EQ(body[3].location, body[2].location);
}

TEST(Check, ReadsElementsOfVectorsAndSpecialRegisters) {
  Checked checked = kernel(".reg .v4 .f32 v; mov.f32 v.w, v.r; mov.u32 %r1, %ctaid.z;");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  const auto &body = checked.function("k").body;
  EXPECT_EQ(body[0].operands[0].component, 4);
  EXPECT_EQ(body[0].operands[1].component, 1);
  EXPECT_EQ(body[1].operands[1].kind, Operand::Kind::special);
  EXPECT_EQ(body[1].operands[1].component, 3);
}

TEST(Check, LetsRegistersHideSpecialRegisters) {
  Checked checked = kernel(".reg .b32 %tid; mov.u32 %tid, 5;");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  EXPECT_EQ(checked.function("k").body[0].operands[0].kind, Operand::Kind::reg);
}

TEST(Check, CountsArrayIndicesInElements) {
  Checked checked =
      kernel("mov.u64 %d1, g[3]; ld.global.u32 %r1, g[%r2+1];", ".global .u32 g[8];\n");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  const auto &body = checked.function("k").body;
  EXPECT_EQ(body[0].operands[1].integer, 12);
  EXPECT_EQ(body[1].operands[1].integer, 4);
  EXPECT_EQ(body[1].operands[1].scale, 4u);
  EXPECT_NE(body[1].operands[1].reg, nullptr);
}

TEST(Check, ReportsAnUnknownNameOnce) {
  Checked checked = kernel("mov.u32 x, 1; mov.u32 x, 2; add.u32 x, x, x;");
  EXPECT_EQ(checked.diagnostics.errorCount(), 1u);
}

TEST(Verify, SaysOkOrPrintsDiagnostics) {
  VerifyResult good = verifyText("a.ptx", std::string(kHeader) + ".entry k() { ret; }");
  EXPECT_TRUE(good.isOk);
  EXPECT_EQ(good.diagnostics, "");
  VerifyResult bad = verifyText("a.ptx", std::string(kHeader) + ".entry k() { rat; }");
  EXPECT_FALSE(bad.isOk);
  EXPECT_EQ(bad.diagnostics.substr(0, 17), "a.ptx:4:14: error");
}

// --- size: linear time, no deep stacks
// ---------------------------------------------------------------------------------

TEST(Size, AHundredThousandNamedRegistersAreFine) {
  std::string text = std::string(kHeader) + ".entry k() {\n.reg .b32 %r<100000>;\n";
  for (int i = 1; i < 100000; ++i)
    text += "add.u32 %r" + std::to_string(i) + ",%r" + std::to_string(i - 1) + ",1;\n";
  Checked checked(text + "}\n");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
  EXPECT_EQ(checked.function("k").registers.size(), 100000u);
}

TEST(Size, DeepScopesWithNamesAreFine) {
  std::string text = std::string(kHeader) + ".entry k() {\n.reg .b32 %r<10>;\n";
  for (int i = 0; i < 50000; ++i)
    text += "{ .reg .b32 a; .reg .b32 b<5>; mov.u32 a,b1; add.u32 %r1,a,1; L:\n";
  Checked checked(text + std::string(50000, '}') + "}\n");
  ASSERT_TRUE(checked.owner) << checked.diagnostics.text();
}

TEST(Size, AMegabyteOnOneLineIsFine) {
  std::string text = std::string(kHeader) + ".entry k() { .reg .b32 x; ";
  while (text.size() < (1 << 20))
    text += "add.u32 x,x,1; ";
  EXPECT_TRUE(Checked(text + "}").owner);
  Checked bad(text + "add.u32 x,y,1; }");
  EXPECT_LT(bad.diagnostics.text().size(), 1000u);
}

TEST(Size, ManyErrorsStopEarly) {
  std::string text = std::string(kHeader) + ".entry k() {\n";
  for (int i = 0; i < 100000; ++i)
    text += "mov.u32 u" + std::to_string(i) + ",1;\n";
  EXPECT_EQ(Checked(text + "}\n").diagnostics.errorCount(), support::Diagnostics::kMaxErrors);
}

} // namespace
} // namespace ptxrun::check
