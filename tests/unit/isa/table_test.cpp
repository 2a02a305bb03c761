// The table as its readers see it.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "translate/isa/match.h"
#include "translate/isa/table.h"

namespace ptxrun::isa {
namespace {

TEST(Table, HoldsTheWholeInstructionSet) {
  std::set<std::string_view> instructions;
  for (const Form &f : forms())
    instructions.insert(f.instruction);
  EXPECT_GT(forms().size(), 700u);
  for (const char *name : {"add",
                           "mad.cc",
                           "tanh",
                           "setp",
                           "lop3",
                           "shf",
                           "mov",
                           "ld",
                           "st.async",
                           "multimem.red",
                           "createpolicy",
                           "cvt",
                           "cvt.pack",
                           "mapa",
                           "cp.async",
                           "cp.async.bulk",
                           "cp.async.bulk.tensor",
                           "tensormap.replace",
                           "tex",
                           "tld4",
                           "suld",
                           "sured",
                           "bra",
                           "brx.idx",
                           "call",
                           "barrier",
                           "barrier.cluster",
                           "fence",
                           "atom",
                           "red.async",
                           "vote.sync",
                           "redux.sync",
                           "elect.sync",
                           "mbarrier.try_wait",
                           "clusterlaunchcontrol.try_cancel",
                           "wmma.mma",
                           "mma",
                           "mma.sp",
                           "ldmatrix",
                           "wgmma.mma_async",
                           "tcgen05.mma",
                           "tcgen05.cp",
                           "alloca",
                           "vmad",
                           "vset4",
                           "nanosleep",
                           "setmaxnreg"})
    EXPECT_TRUE(instructions.contains(name)) << name;
}

TEST(Table, FormsAreWellFormed) {
  for (const Form &f : forms()) {
    EXPECT_EQ(&forms()[f.id], &f);
    EXPECT_TRUE(f.notation.starts_with(f.opcode)) << f.notation;
    EXPECT_TRUE(f.notation.ends_with(";")) << f.notation;
    EXPECT_EQ(f.notation.find_first_of(":<*!^%@") == f.notation.npos ||
                  f.notation.find("::") != f.notation.npos ||
                  f.notation.find("{!}") != f.notation.npos,
              true)
        << f.notation;
    EXPECT_TRUE(f.section.starts_with("9.7.")) << f.notation;
    EXPECT_GE(f.since, 10u) << f.notation;
    EXPECT_LE(f.since, 92u) << f.notation;
    EXPECT_EQ(f.effect == Effect::todo, f.handler == Handler::none) << f.notation;
  }
}

TEST(Table, SpellsTokensBothWays) {
  EXPECT_EQ(spelling(Token::f32), "f32");
  EXPECT_EQ(findToken("L2::cache_hint"), Token::L2_cache_hint);
  EXPECT_EQ(findToken("and"), Token::and_);
  EXPECT_EQ(findToken("1d"), Token::_1d);
  EXPECT_EQ(findToken("no such token"), Token::none);
  EXPECT_EQ(typeOf(Token::f32), Type::f32);
  EXPECT_EQ(typeOf(Token::global), Type::none);
}

TEST(Types, AreAsWideAsTheManualSays) {
  const std::pair<const char *, unsigned> widths[] = {
      {"pred", 1},   {"b1", 1},     {"u4", 4},    {"s8", 8},     {"b16", 16},
      {"f16x2", 32}, {"tf32", 32},  {"f64", 64},  {"b128", 128}, {"e4m3x2", 16},
      {"e2m1x2", 8}, {"f32x2", 64}, {"ue8m0", 8}, {"u8x4", 32}};
  for (auto &[name, bits] : widths)
    EXPECT_EQ(bitWidth(findType(name)), bits) << name;
  EXPECT_EQ(findType("b24"), Type::none);
  for (unsigned i = 1; i <= unsigned(Type::surfref); ++i)
    EXPECT_EQ(findType(spelling(Type(i))), Type(i));
  EXPECT_TRUE(isSigned(Type::s16x2));
  EXPECT_TRUE(isUnsigned(Type::u8));
  EXPECT_TRUE(isFloat(Type::bf16x2));
  EXPECT_TRUE(isBits(Type::b64));
  EXPECT_FALSE(isBits(Type::pred));
}

TEST(SpecialRegisters, KnowTypeAndTarget) {
  const SpecialRegister tid = findSpecialRegister("tid"), clock64 = findSpecialRegister("clock64");
  EXPECT_EQ(typeOf(tid), Type::u32);
  EXPECT_EQ(componentsOf(tid), 4u);
  EXPECT_EQ(typeOf(clock64), Type::u64);
  EXPECT_EQ(componentsOf(clock64), 1u);
  EXPECT_EQ(findSpecialRegister("envreg32"), SpecialRegister::none);
  EXPECT_NE(findSpecialRegister("envreg31"), SpecialRegister::none);
  std::string why;
  EXPECT_TRUE(isAvailable(findSpecialRegister("cluster_ctarank"), {80, 90, 0}));
  EXPECT_FALSE(isAvailable(findSpecialRegister("cluster_ctarank"), {80, 80, 0}, &why));
  EXPECT_EQ(why, "needs sm_90 or higher");
}

// tests/unit/lower/run/special_registers.toml says what they are; a new one must be read there.
TEST(SpecialRegisters, AreAllRead) {
  std::ifstream file(PTXRUN_ISA_CASES "/../lower/run/special_registers.ptx");
  std::stringstream text;
  text << file.rdbuf();
  constexpr std::string_view kNames[] = {
#define PTXRUN_SPECIAL(identifier, spelling, type, components) spelling,
#include "isa_special.inc"
#undef PTXRUN_SPECIAL
  };
  for (const std::string_view name : kNames)
    EXPECT_NE(text.str().find(", %" + std::string(name) + ";"), std::string::npos) << name;
}

} // namespace
} // namespace ptxrun::isa
