// The matcher against what ptxas 13.0 accepts and refuses, and what it says about the instructions
// it accepts.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/unit/isa/written.h"

namespace ptxrun::isa::test {
namespace {

std::string contents(const char *name) {
  std::ifstream file(std::string(PTXRUN_ISA_CASES) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

const Environment &declarations() {
  static const Environment environment = [] {
    Environment e;
    for (const std::string &s : statements(contents("declarations.ptx")))
      e.declare(std::string_view(s).substr(s.find('.')), s.find(".param") != s.npos);
    e.declare(".func fn");
    e.declareLabel("L");
    return e;
  }();
  return environment;
}

/// `sm_90a 8.6`.
Target target(const std::string &sm, const std::string &version) {
  Target t;
  t.sm = unsigned(std::stoul(sm.substr(3)));
  t.suffix = std::isdigit((unsigned char)sm.back()) ? '\0' : sm.back();
  t.version = unsigned(std::stoul(version)) * 10 + unsigned(version.back() - '0');
  return t;
}

/// One instruction and its match.
struct Matched {
  explicit Matched(const std::string &text, Target t = {90, 90, 0})
      : written(readInstruction(cut(text), declarations())), matcher(t) {
    isMatched = written.isUnderstood &&
                matcher.match(matcher.resolve(written.opcode), written.arguments, match);
  }
  static std::string cut(const std::string &text) { return text.substr(0, text.find(';')); }

  Written written;
  Matcher matcher;
  Match match;
  bool isMatched = false;
};

/// Calls `check` with every case of a file: its line and the matched instruction.
template <class Check> void forEachCase(const char *name, Check check) {
  std::istringstream lines(contents(name));
  size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    std::istringstream words(line);
    std::string sm, version, text;
    words >> sm >> version;
    std::getline(words, text);
    check(line, Matched(text, target(sm, version)));
    ++count;
  }
  EXPECT_GT(count, 200u);
}

TEST(Matcher, AcceptsWhatPtxasAccepts) {
  forEachCase("accepted.txt", [](const std::string &line, const Matched &m) {
    EXPECT_TRUE(m.isMatched) << line << "\n  "
                             << m.matcher.explain(m.written.opcode, m.written.arguments).message;
  });
}

TEST(Matcher, RefusesWhatPtxasRefuses) {
  forEachCase("rejected.txt", [](const std::string &line, const Matched &m) {
    EXPECT_FALSE(m.isMatched) << line << "\n  " << (m.isMatched ? m.match.form->notation : "");
  });
}

TEST(Matcher, HasAReasonForEveryRefusal) {
  forEachCase("rejected.txt", [](const std::string &line, const Matched &m) {
    if (m.isMatched || !m.written.isUnderstood)
      return;
    const Mismatch why = m.matcher.explain(m.written.opcode, m.written.arguments);
    EXPECT_FALSE(why.message.empty()) << line;
    EXPECT_LE(why.offset + why.length, m.written.opcode.size()) << line;
    if (why.part == Mismatch::Part::argument) {
      EXPECT_LT(why.argument, m.written.arguments.size()) << line;
    }
  });
}

std::string modifiersOf(const Match &m) {
  std::string text;
  for (Token t : m.modifiers)
    text += "." + std::string(spelling(t));
  return text;
}

TEST(Matcher, PutsModifiersInTheFormsOrder) {
  struct {
    const char *written, *ordered;
  } cases[] = {
      {"add.f32.ftz.rn %f1, %f2, %f3;", ".rn.ftz.f32"},
      {"ld.global.acquire.gpu.b32 %r1, [%d1];", ".acquire.gpu.global.b32"},
      {"atom.global.sys.add.u32 %r1, [%d1], %r2;", ".sys.global.add.u32"},
      {"vote.ballot.sync.b32 %r1, %p1, -1;", ".sync.ballot.b32"},
      {"ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r1, %r2, %r3, %r4}, [sv];",
       ".sync.aligned.m8n8.x4.shared.b16"},
      {"cvt.u32.rzi.f32 %r1, %f1;", ".rzi.u32.f32"},
  };
  for (auto &c : cases) {
    Matched m(c.written);
    ASSERT_TRUE(m.isMatched) << c.written;
    EXPECT_EQ(modifiersOf(m.match), c.ordered) << c.written;
  }
}

TEST(Matcher, KeepsTypesInTheirPlaces) {
  EXPECT_TRUE(Matched("cvt.rzi.s32.f32 %r1, %f1;").isMatched);
  EXPECT_FALSE(Matched("cvt.rzi.f32.s32 %r1, %f1;").isMatched);
  Matched m("cvt.u64.u16 %d1, %h1;");
  ASSERT_TRUE(m.isMatched);
  ASSERT_EQ(m.match.types.size(), 2u);
  EXPECT_EQ(m.match.types[0], Type::u64);
  EXPECT_EQ(m.match.types[1], Type::u16);
}

TEST(Matcher, KeepsTheInstructionsNameTogether) {
  EXPECT_TRUE(Matched("mul.lo.s32 %r1, %r2, %r3;").isMatched);
  EXPECT_FALSE(Matched("mul.s32.lo %r1, %r2, %r3;").isMatched);
  EXPECT_FALSE(Matched("mad.cc.hi.s32 %r1, %r2, %r3, %r4;").isMatched);
}

TEST(Matcher, TypesEveryOperand) {
  Matched m("mad.wide.u16 %r1, %h1, 5, %r2;");
  ASSERT_TRUE(m.isMatched);
  ASSERT_EQ(m.match.operandCount, 4);
  EXPECT_EQ(m.match.operands[0].type, Type::u32);
  EXPECT_EQ(m.match.operands[1].type, Type::u16);
  EXPECT_EQ(m.match.operands[2].type, Type::u16);
  EXPECT_EQ(m.match.operands[3].type, Type::u32);
}

TEST(Matcher, LeavesOptionalOperandsOut) {
  Matched without("bar.red.popc.u32 %r1, 1, %p1;"), with("bar.red.popc.u32 %r1, 1, 64, %p1;");
  ASSERT_TRUE(without.isMatched && with.isMatched);
  EXPECT_EQ(without.match.operands[2].argument, -1);
  EXPECT_EQ(without.match.operands[3].argument, 2);
  EXPECT_EQ(with.match.operands[2].argument, 2);
  EXPECT_EQ(with.match.operands[3].argument, 3);
}

TEST(Matcher, BindsPairs) {
  Matched one("setp.lt.s32 %p1, %r1, %r2;"), two("setp.lt.s32 %p1|%p2, %r1, %r2;");
  ASSERT_TRUE(one.isMatched && two.isMatched);
  EXPECT_EQ(one.match.operands[1].argument, -1);
  EXPECT_EQ(two.match.operands[1].argument, 1);
  EXPECT_FALSE(Matched("setp.lt.f16 %p1|%p2, %h1, %h2;").isMatched);
}

TEST(Matcher, CountsVectorElements) {
  Matched m("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [gv];");
  ASSERT_TRUE(m.isMatched);
  EXPECT_EQ(m.match.vector, 4);
  EXPECT_FALSE(Matched("ld.global.v4.f32 {%f1, %f2}, [gv];").isMatched);
  EXPECT_FALSE(Matched("ld.global.v4.b64 {%d1, %d2, %d3, %d4}, [gv];").isMatched);
  EXPECT_TRUE(Matched("ld.global.v4.b64 {%d1, %d2, %d3, %d4}, [gv];", {90, 100, 0}).isMatched);
}

TEST(Matcher, KnowsTargetFamilies) {
  const char *text = "tcgen05.wait::ld.sync.aligned;";
  EXPECT_TRUE(Matched(text, {90, 100, 'a'}).isMatched);
  EXPECT_TRUE(Matched(text, {90, 103, 'f'}).isMatched);
  EXPECT_FALSE(Matched(text, {90, 100, 0}).isMatched);
  EXPECT_FALSE(Matched(text, {90, 120, 'a'}).isMatched);
  EXPECT_FALSE(Matched(text, {85, 100, 'a'}).isMatched);
  EXPECT_FALSE(Matched("shfl.up.b32 %r1, %r2, 1, 0;", {64, 70, 0}).isMatched);
  EXPECT_TRUE(Matched("shfl.up.b32 %r1, %r2, 1, 0;", {63, 70, 0}).isMatched);
  EXPECT_TRUE(Matched("shfl.up.b32 %r1, %r2, 1, 0;", {64, 60, 0}).isMatched);
}

TEST(Matcher, KeepsResultsForTheSameText) {
  Matcher matcher({90, 90, 0});
  EXPECT_EQ(&matcher.resolve("add.s32"), &matcher.resolve("add.s32"));
  EXPECT_NE(&matcher.resolve("add.s32"), &matcher.resolve("add.u32"));
}

TEST(Selector, TakesLanesApart) {
  const Selector s = selectorOf(findSelector("b7632"));
  EXPECT_FALSE(s.isHalf);
  ASSERT_EQ(s.count, 4);
  EXPECT_EQ(s.elements[0], 7);
  EXPECT_EQ(s.elements[3], 2);
  EXPECT_TRUE(selectorOf(findSelector("h1")).isHalf);
  EXPECT_EQ(findSelector("b8"), Token::none);
  EXPECT_EQ(findSelector("h123"), Token::none);
  EXPECT_EQ(findSelector("x"), Token::none);
}

} // namespace
} // namespace ptxrun::isa::test
