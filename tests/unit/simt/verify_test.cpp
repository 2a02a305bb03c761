#include "translate/simt/verify.h"

#include "tests/unit/simt/lane_text.h"

namespace ptxrun::simt {
namespace {

/// A module whose text is `text`, entered by `cta_range`.
GangModule gangModule(const std::string &text) {
  GangModule gang;
  gang.context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic error;
  gang.module = llvm::parseAssemblyString(text, error, *gang.context);
  EXPECT_TRUE(gang.module) << error.getMessage().str() << " in line " << error.getLineNo();
  gang.entry = EntryPoint::ctaRange;
  gang.needs.lanes = 8;
  return gang;
}

const std::string kOpen =
    "define void @cta_range(ptr %launch, ptr %cta, ptr %gang, i64 %first, i64 %end) {\n";

/// The sentence that does not hold of `cta_range` with that body.
std::string wrongWith(const std::string &body, const std::string &rest = "") {
  return verifyGangModule(gangModule(kOpen + body + "\nret void\n}\n" + rest));
}

TEST(VerifyGangModule, AcceptsAnEntryThatCallsTheRuntime) {
  EXPECT_EQ(wrongWith("call void @ptxrun_trap(ptr %gang)\n", "declare void @ptxrun_trap(ptr)\n"),
            "");
}

TEST(VerifyGangModule, TheEntryIsThereOnceWithItsType) {
  EXPECT_EQ(verifyGangModule(gangModule("define void @gang(ptr %l) {\nret void\n}\n")),
            "there is no entry point cta_range");
  EXPECT_EQ(verifyGangModule(gangModule("define void @cta_range(ptr %l) {\nret void\n}\n")),
            "entry point cta_range is void (ptr)");
  EXPECT_EQ(wrongWith("", "define void @body() {\nret void\n}\n"), "a second entry point: body");
}

TEST(VerifyGangModule, NoWordOfTheVocabularyIsLeft) {
  EXPECT_EQ(wrongWith("%x = call i32 @ptx.sreg.tid.x()\n", "declare i32 @ptx.sreg.tid.x()\n"),
            "neither the runtime's nor an intrinsic: ptx.sreg.tid.x");
}

TEST(VerifyGangModule, RangesOfCtasDoNotSuspend) {
  EXPECT_EQ(wrongWith("call void @ptxrun_bar_sync(ptr %gang, i32 0, i32 0, i32 -1)\n",
                      "declare void @ptxrun_bar_sync(ptr, i32, i32, i32)\n"),
            "cta_range calls ptxrun_bar_sync, which suspends");
}

TEST(VerifyGangModule, AddressesAreGeneric) {
  const std::string wrong = wrongWith("%v = load i32, ptr addrspace(3) null\n");
  EXPECT_TRUE(wrong.starts_with("an address that is not generic:")) << wrong;
}

TEST(VerifyGangModule, WidthAndAlignmentArePossible) {
  GangModule gang = gangModule(kOpen + "ret void\n}\n");
  gang.needs.lanes = 12;
  EXPECT_EQ(verifyGangModule(gang), "W is 12");
  gang.needs.lanes = 16;
  gang.needs.staticSharedAlign = 24;
  EXPECT_EQ(verifyGangModule(gang), "shared memory is aligned to 24 bytes");
}

TEST(VerifyPrepared, NamesWhatPreparationRemoves) {
  auto unprepared = [](const std::string &body) {
    const lower::LaneModule lane = laneModule(body);
    return whatIsUnprepared(*lane.kernel);
  };
  EXPECT_EQ(unprepared("ret void"), "");
  EXPECT_EQ(unprepared("%x = call i32 @ptx.sreg.tid.x()\n%c = icmp eq i32 %x, 0\n"
                       "br i1 %c, label %a, label %b\na:\nret void\nb:\nret void"),
            "2 returns in k");
  const std::string wrong = unprepared("%x = call i32 @ptx.sreg.tid.x()\n"
                                       "switch i32 %x, label %a [ i32 1, label %a ]\na:\nret void");
  EXPECT_TRUE(wrong.starts_with("a switch is left:")) << wrong;
  EXPECT_EQ(unprepared("%x = call i32 @ptx.sreg.tid.x()\n%c = icmp eq i32 %x, 0\n"
                       "br i1 %c, label %a, label %b\na:\nbr i1 %c, label %b, label %end\n"
                       "b:\nbr label %a\nend:\nret void"),
            "an irreducible loop in k");
  // Two ways into the loop's header: no preheader.
  EXPECT_EQ(unprepared("%x = call i32 @ptx.sreg.tid.x()\n%c = icmp eq i32 %x, 0\n"
                       "br i1 %c, label %p, label %q\np:\nbr label %loop\nq:\nbr label %loop\n"
                       "loop:\nbr i1 %c, label %loop, label %end\nend:\nret void"),
            "a loop that is not in simplified form: loop of k");
  EXPECT_EQ(unprepared("br label %loop\nloop:\n%x = call i32 @ptx.sreg.tid.x()\n"
                       "%c = icmp eq i32 %x, 0\nbr i1 %c, label %loop, label %end\n"
                       "end:\n%y = add i32 %x, 1\nret void"),
            "a loop that is not in LCSSA form: loop of k");
}

} // namespace
} // namespace ptxrun::simt
