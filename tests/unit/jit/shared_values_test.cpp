// Values of .shared memory in registers, and the NaNs of values that stay there
// (translate/jit/shared_values.h, unseen_nans.h).
#include "translate/jit/shared_values.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

#include <set>
#include <string>

#include "intrinsics/abi.h"
#include "translate/jit/unseen_nans.h"

namespace {

using namespace llvm;
using ptxrun::jit::keepSharedValues;
using ptxrun::jit::removeUnseenNans;

constexpr unsigned kRegister = 32, kBytes = 4096; // of a vector; that stay in registers

/// A function of a CTA's range whose body finds %shared.
std::unique_ptr<Module> moduleOf(LLVMContext &context, const std::string &body) {
  SMDiagnostic wrong;
  std::unique_ptr<Module> module = parseAssemblyString(
      "define void @f(ptr %launch, ptr %cta, ptr %out, <8 x float> %a, <8 x float> %b, float %c)"
      " \"ptx.private.shared\" {\n  %field = getelementptr i8, ptr %cta, i64 " +
          std::to_string(offsetof(ptxrun::abi::Cta, sharedBase)) +
          "\n  %shared = load ptr, ptr %field\n" + body +
          "  ret void\n}\n"
          "declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)\n"
          "declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)\n",
      wrong, context);
  if (!module)
    ADD_FAILURE() << wrong.getMessage().str();
  return module;
}

std::string place(const std::string &name, int64_t at) {
  return "  %" + name + " = getelementptr i8, ptr %shared, i64 " + std::to_string(at) + "\n";
}
std::string store(const std::string &value, const std::string &to) {
  return "  store <8 x float> %" + value + ", ptr %" + to + "\n";
}
std::string sum(const std::string &name, const std::string &x, const std::string &y) {
  return "  %" + name + " = fadd <8 x float> %" + x + ", %" + y + "\n";
}
/// The one NaN where `of` is any, as lower writes it.
std::string choice(const std::string &name, const std::string &of) {
  std::string nans;
  for (int i = 0; i < 8; ++i)
    nans += std::string(i ? ", " : "") +
            (i % 2 ? "float poison" : "float 0x7FFFFFFFE0000000"); // as far as it is asked for
  return "  %" + name + ".is = fcmp uno <8 x float> %" + of + ", zeroinitializer\n  %" + name +
         " = select <8 x i1> %" + name + ".is, <8 x float> <" + nans + ">, <8 x float> %" + of +
         "\n";
}

/// Names of the places that are still stored to.
std::set<std::string> storedTo(Function &f) {
  std::set<std::string> names;
  for (Instruction &i : instructions(f))
    if (i.mayWriteToMemory())
      names.insert(getPointerOperand(&i)
                       ? getPointerOperand(&i)->getName().str()
                       : i.getOperand(1)->getName().str()); // a store under a mask
  return names;
}

std::set<std::string> storedBehind(const std::string &body, uint32_t staticBytes) {
  LLVMContext context;
  const std::unique_ptr<Module> module = moduleOf(context, body);
  if (!module)
    return {};
  Function &f = *module->getFunction("f");
  keepSharedValues(f, kRegister, kBytes, staticBytes);
  EXPECT_FALSE(verifyModule(*module, &errs()));
  return storedTo(f);
}

constexpr int64_t kFirst = ptxrun::abi::kSharedFirstOffset;

/// A round of a tree: what is stored is read and summed, and stored again, and shown at last.
const std::string kRound = place("first", kFirst) + store("a", "first") +
                           "  %read = load <8 x float>, ptr %first\n" + sum("s", "read", "b");

TEST(SharedValues, StoresThatNothingReadsGo) {
  EXPECT_EQ(storedBehind(kRound + store("s", "first") + store("s", "out"), 32),
            std::set<std::string>{"out"});
}

TEST(SharedValues, BehindVariablesOfKnownSizeStoresStayThatReachFurther) {
  const std::string mask = "<8 x i1> <i1 1, i1 0, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0>";
  EXPECT_EQ(storedBehind(kRound + store("s", "first") + place("far", kFirst + 320) +
                             store("s", "far") + place("near", kFirst + 64) + store("b", "near") +
                             place("farther", kFirst + 348) + store("b", "farther") +
                             place("masked", kFirst + 360) +
                             "  call void @llvm.masked.store.v8f32.p0(<8 x float> %s, ptr "
                             "%masked, i32 4, " +
                             mask + ")\n" + store("s", "out"),
                         0),
            (std::set<std::string>{"first", "far", "farther", "out"}));
}

TEST(SharedValues, AStoreOnAnotherWayIsNoProofOfMemory) {
  EXPECT_EQ(storedBehind(kRound + place("far", kFirst + 320) + place("near", kFirst + 64) +
                             "  %some = fcmp olt float %c, 0.0\n"
                             "  br i1 %some, label %then, label %else\nthen:\n" +
                             store("s", "far") + "  br label %else\nelse:\n" + store("b", "near") +
                             store("s", "out"),
                         0),
            (std::set<std::string>{"first", "far", "near", "out"}));
}

unsigned choicesIn(const std::string &body) {
  LLVMContext context;
  const std::unique_ptr<Module> module = moduleOf(context, body);
  if (!module)
    return ~0U;
  Function &f = *module->getFunction("f");
  removeUnseenNans(f);
  EXPECT_FALSE(verifyModule(*module, &errs()));
  unsigned n = 0;
  for (Instruction &i : instructions(f))
    n += isa<SelectInst>(i);
  return n;
}

TEST(UnseenNans, OnlyTheLastChoiceOfAChainIsLeft) {
  std::string body = sum("s0", "a", "b") + choice("c0", "s0") +
                     "  %moved = shufflevector <8 x float> %c0, <8 x float> %a, <8 x i32> <i32 1, "
                     "i32 8, i32 3, i32 9, i32 5, i32 10, i32 7, i32 11>\n" +
                     sum("s1", "c0", "moved") + choice("c1", "s1") +
                     "  %s2 = call <8 x float> @llvm.fma.v8f32(<8 x float> %c1, <8 x float> %a, "
                     "<8 x float> %b)\n" +
                     choice("c2", "s2");
  EXPECT_EQ(choicesIn(body + store("c2", "out")), 1U);
}

TEST(UnseenNans, WhatIsStoredOrLookedAtStays) {
  const std::string two = sum("s0", "a", "b") + choice("c0", "s0") + sum("s1", "c0", "a") +
                          choice("c1", "s1") + store("c1", "out");
  EXPECT_EQ(choicesIn(two + store("c0", "shared")), 2U);
  EXPECT_EQ(choicesIn(two + "  %bits = bitcast <8 x float> %c0 to <8 x i32>\n"
                            "  store <8 x i32> %bits, ptr %shared\n"),
            2U);
  // The sum of a NaN is stored as it comes: which NaN it is shows.
  EXPECT_EQ(choicesIn(sum("s0", "a", "b") + choice("c0", "s0") + sum("s1", "c0", "a") +
                      store("s1", "out")),
            1U);
}

} // namespace
