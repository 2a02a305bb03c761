#include "translate/support/diagnostics.h"

#include <gtest/gtest.h>

#include "translate/support/names.h"

namespace ptxrun::support {
namespace {

TEST(SourceFile, FindsLineAndColumnOfEveryByte) {
  SourceFile source("a.ptx", "one\ntwo\r\n\nend");
  EXPECT_EQ(source.place(0).line, 1u);
  EXPECT_EQ(source.place(3).column, 4u); // the line end belongs to its line
  EXPECT_EQ(source.place(4).line, 2u);
  EXPECT_EQ(source.place(4).column, 1u);
  EXPECT_EQ(source.place(9).line, 3u);
  EXPECT_EQ(source.place(12).line, 4u);
  EXPECT_EQ(source.place(1000).line, 4u);
  EXPECT_EQ(source.place(1000).column, 4u);
  EXPECT_EQ(source.line(2), "two");
  EXPECT_EQ(source.line(3), "");
  EXPECT_EQ(source.line(4), "end");
  EXPECT_EQ(source.line(5), "");
}

TEST(SourceFile, HasOneLineWhenEmpty) {
  SourceFile source("a.ptx", "");
  EXPECT_EQ(source.place(0).line, 1u);
  EXPECT_EQ(source.line(1), "");
}

TEST(Diagnostics, ShowTheLineWithACaretRunAndNotes) {
  SourceFile source("a.ptx", "first\n\tadd.u32 %r1;\n");
  Diagnostics diagnostics(source);
  diagnostics.error({7, 14}, "no such thing").notes.push_back("look it up");
  EXPECT_EQ(diagnostics.text(), "a.ptx:2:2: error: no such thing\n"
                                "  \tadd.u32 %r1;\n"
                                "  \t^~~~~~~\n"
                                "  note: look it up\n");
}

TEST(Diagnostics, PointBehindTheTextAtItsEnd) {
  SourceFile source("a.ptx", "ret");
  Diagnostics diagnostics(source);
  diagnostics.error({3, 3}, "unexpected end");
  EXPECT_EQ(diagnostics.text(), "a.ptx:1:4: error: unexpected end\n  ret\n     ^\n");
}

TEST(Diagnostics, CutLongLinesAroundTheCaret) {
  SourceFile source("a.ptx", std::string(1 << 20, 'x') + "!" + std::string(1 << 20, 'y'));
  Diagnostics diagnostics(source);
  diagnostics.error({1 << 20, (1 << 20) + 1}, "here");
  std::string text = diagnostics.text();
  EXPECT_LT(text.size(), 600u);
  EXPECT_NE(text.find("xx!yy"), std::string::npos);
  EXPECT_NE(text.find("a.ptx:1:1048577: error: here"), std::string::npos);
}

TEST(Diagnostics, PrintNoBytesThatATerminalWouldObey) {
  SourceFile source("a.ptx", "\x1b[31m\xff");
  Diagnostics diagnostics(source);
  diagnostics.error({0, 1}, "bad \x1b byte");
  std::string text = diagnostics.text();
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\xff'), std::string::npos);
}

TEST(Diagnostics, DropASecondErrorAtTheSamePlace) {
  SourceFile source("a.ptx", "abc");
  Diagnostics diagnostics(source);
  diagnostics.error({0, 1}, "first");
  diagnostics.error({0, 3}, "follow-up");
  diagnostics.error({1, 3}, "second");
  EXPECT_EQ(diagnostics.all().size(), 2u);
}

TEST(Diagnostics, StopCollectingAtTheLimit) {
  SourceFile source("a.ptx", std::string(1000, 'x'));
  Diagnostics diagnostics(source);
  for (uint32_t i = 0; i < 1000; ++i)
    diagnostics.error({i, i + 1}, "x");
  EXPECT_TRUE(diagnostics.isFull());
  EXPECT_EQ(diagnostics.all().size(), Diagnostics::kMaxErrors);
}

TEST(Diagnostics, TellWhatAWholeKindHasOnce) {
  SourceFile source("a.ptx", std::string(128, '\n'));
  Diagnostics diagnostics(source);
  for (uint32_t line = 0; line < 128; ++line)
    diagnostics.errorOfKind("add.q32", {line, line + 1}, "unknown").notes.push_back("add");
  diagnostics.errorOfKind("sub.q32", {3, 4}, "unknown");
  diagnostics.errorOfKind("sub.q32", {5, 6}, "unknown");
  EXPECT_EQ(diagnostics.errorCount(), 2u);
  const std::string text = diagnostics.text();
  EXPECT_TRUE(text.starts_with("a.ptx:1:1: error: unknown (and 127 more, in lines 2, 3, 4, 5, 6, "
                               "7, 8, 9, ...)\n"))
      << text;
  EXPECT_NE(text.find("a.ptx:4:1: error: unknown (and 1 more, in line 6)\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("note: add"), text.rfind("note: add")) << text;
}

TEST(Diagnostics, OfAKindDoNotFillTheList) {
  SourceFile source("a.ptx", std::string(1000, 'x'));
  Diagnostics diagnostics(source);
  for (uint32_t i = 0; i < 1000; ++i)
    diagnostics.errorOfKind("k", {i, i + 1}, "x");
  EXPECT_FALSE(diagnostics.isFull());
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].repeats.size(), 999u);
}

TEST(Diagnostics, WarningsAreNoErrors) {
  SourceFile source("a.ptx", "abc");
  Diagnostics diagnostics(source);
  diagnostics.warning({0, 1}, "odd");
  EXPECT_FALSE(diagnostics.hasErrors());
  EXPECT_EQ(diagnostics.text(), "a.ptx:1:1: warning: odd\n  abc\n  ^\n");
}

TEST(NameTable, GivesEqualTextEqualNumbers) {
  NameTable names;
  EXPECT_EQ(names.intern(""), 0u);
  NameId a = names.intern("alpha");
  EXPECT_EQ(names.intern(std::string_view("alphabet").substr(0, 5)), a);
  EXPECT_NE(names.intern("alphabet"), a);
  EXPECT_EQ(names.find("beta"), 0u);
  EXPECT_EQ(names.text(a), "alpha");
}

TEST(NameTable, KeepsApartManyNamesOfManyLengths) {
  NameTable names;
  std::vector<std::string> texts;
  for (int i = 0; i < 5000; ++i)
    texts.push_back(std::string(size_t(i % 37), 'x') + "%r" + std::to_string(i));
  std::vector<NameId> ids;
  for (const std::string &text : texts)
    ids.push_back(names.internCopy(text));
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(names.find(texts[i]), ids[i]);
    EXPECT_EQ(names.text(ids[i]), texts[i]);
  }
  EXPECT_EQ(names.size(), texts.size() + 1);
}

TEST(Arena, AlignsAndOutlivesItsChunks) {
  Arena arena;
  std::vector<uint64_t *> numbers;
  for (uint64_t i = 0; i < 100000; ++i) {
    arena.allocate(1, 1);
    numbers.push_back(arena.make<uint64_t>(i));
    ASSERT_EQ(uintptr_t(numbers.back()) % alignof(uint64_t), 0u);
  }
  for (uint64_t i = 0; i < numbers.size(); ++i)
    ASSERT_EQ(*numbers[i], i);
  EXPECT_EQ(arena.makeArray<int>(0).size(), 0u);
  EXPECT_EQ(arena.copyText("text"), "text");
}

} // namespace
} // namespace ptxrun::support
