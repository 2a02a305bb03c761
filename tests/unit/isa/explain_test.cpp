// What the matcher says about instructions that do not match.
#include <gtest/gtest.h>

#include "tests/unit/isa/written.h"

namespace ptxrun::isa::test {
namespace {

using Part = Mismatch::Part;

struct Case {
  const char *text;
  Part part;
  const char *about;   ///< the part of the opcode text, or the number of the argument
  const char *message; ///< a piece of it
  const char *section; ///< of the nearest form
};

Environment environment() {
  Environment e;
  for (const char *d :
       {".reg .b32 %r<9>", ".reg .b64 %d<9>", ".reg .f32 %f<9>", ".reg .pred %p<9>",
        ".reg .b16 %h<9>", ".shared .b8 sv[64]", ".global .b8 gv[64]", ".const .b8 cv[64]"})
    e.declare(d);
  return e;
}

const Case kCases[] = {
    {"addd.s32 %r1, %r2, %r3", Part::opcode, "addd", "did you mean 'add'", ""},
    {"add.u33 %r1, %r2, %r3", Part::modifier, ".u33", "unknown modifier '.u33'", "9.7.1.1"},
    {"and.f32 %r1, %r2, %r3", Part::modifier, ".f32",
     "expected .pred, .b16, .b32, .b64, found '.f32'", "9.7.8.1"},
    {"setp.s32 %p1, %r2, %r3", Part::opcode, "setp.s32", "a modifier is missing: expected",
     "9.7.6.2"},
    {"popc.b32 %r1, %d2", Part::argument, "1",
     "expected a register of type .b32 or an integer constant, found a .b64 register", "9.7.1.14"},
    {"popc.b32 %r1", Part::arguments, "", "expected 2 operands, found 1", "9.7.1.14"},
    {"lop3.b32 %r1, %r2, %r3, %r4, %r5", Part::argument, "4", "expected an integer constant",
     "9.7.8.6"},
    {"ld.shared.u32 %r1, [gv]", Part::argument, "1", "found a variable in .global", "9.7.9.8"},
    {"ld.global.u32 %r1, %d1", Part::argument, "1", "expected an address in brackets", "9.7.9.8"},
    {"bar.sync 16", Part::argument, "0", "expected a constant of 0 to 15, found 16", "9.7.13.1"},
    {"redux.sync.add.f32 %f1, %f2, -1", Part::modifier, ".f32", "expected .u32, .s32, found '.f32'",
     "9.7.13.12"},
    {"activemask.b32 %r1, 2", Part::arguments, "", "expected 1 operand, found 2", "9.7.13.11"},
    {"mapa.u64 %d1, %d2, %r1", Part::opcode, "mapa.u64", "needs sm_90 or higher", "9.7.9.23"},
    {"ld.v2.u32 {%r1, %d2}, [gv]", Part::argument, "0", "found", "9.7.9.8"},
    {"shl.b32 %r1, %r2, %f3", Part::argument, "2", "expected a register of type .u32", "9.7.8.8"},
};

TEST(Mismatch, NamesTheWrongPartAndTheNearestForm) {
  const Environment names = environment();
  const Matcher matcher({90, 80, 0});
  for (const Case &c : kCases) {
    Written w = readInstruction(c.text, names);
    ASSERT_TRUE(w.isUnderstood) << c.text;
    const Mismatch m = matcher.explain(w.opcode, w.arguments);
    EXPECT_EQ(m.part, c.part) << c.text << ": " << m.message;
    EXPECT_NE(m.message.find(c.message), std::string::npos) << c.text << ": " << m.message;
    EXPECT_EQ(m.nearest ? m.nearest->section : "", c.section) << c.text;
    if (c.part == Part::argument) {
      EXPECT_EQ(std::to_string(m.argument), c.about) << c.text;
    }
    if (c.part == Part::modifier || c.part == Part::opcode) {
      EXPECT_EQ(w.opcode.substr(m.offset, m.length), c.about) << c.text;
    }
  }
}

TEST(Mismatch, PointsIntoVectors) {
  const Environment names = environment();
  const Matcher matcher({90, 80, 0});
  Written w = readInstruction("ld.v4.f32 {%f1, %f2, %h3, %f4}, [gv]", names);
  const Mismatch m = matcher.explain(w.opcode, w.arguments);
  EXPECT_EQ(m.argument, 0u);
  EXPECT_EQ(m.element, 2);
}

TEST(Mismatch, StandsAnyText) {
  const Matcher matcher({90, 80, 0});
  for (const char *text :
       {"", ".", "add.", "add..",
        "add.s32.s32.s32.s32.s32.s32.s32.s32.s32.s32.s32.s32.s32.s32.s32.s32.s32.s32."
        "s32.s32.s32.s32.s32.s32.s32.s32.s32.s32.s32.s32.s32",
        "\xff", "add.\xff"})
    EXPECT_FALSE(matcher.explain(text, {}).message.empty()) << text;
}

} // namespace
} // namespace ptxrun::isa::test
