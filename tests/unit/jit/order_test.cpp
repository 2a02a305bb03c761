// The order of instructions in long blocks (translate/jit/order.h).
#include "translate/jit/order.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

#include <string>

namespace {

using namespace llvm;

constexpr int kRows = 4, kColumns = 6, kDepth = 8;

std::string at(const std::string &name, const std::string &base, int bytes) {
  return "  %" + name + " = getelementptr i8, ptr %" + base + ", i64 " + std::to_string(bytes) +
         "\n";
}
std::string load(const std::string &name, const std::string &from) {
  return "  %" + name + " = load <8 x float>, ptr %" + from + "\n";
}

/// A tile of a matrix product, each sum finished before the next begins, as compilers of tiles
/// write it: from the frame of a coroutine, and back to it. `between` stands behind the first sum.
std::string product(const std::string &between) {
  std::string ir = "define void @f(ptr %frame, ptr %memory) {\n";
  for (int k = 0; k < kDepth; ++k) {
    for (int r = 0; r < kRows; ++r) {
      const std::string n = "a" + std::to_string(k) + "." + std::to_string(r);
      ir += at(n + ".p", "memory", 32 * (k * 16 + r)) + load(n, n + ".p");
    }
    for (int c = 0; c < kColumns; ++c) {
      const std::string n = "b" + std::to_string(k) + "." + std::to_string(c);
      ir += at(n + ".p", "memory", 32 * (k * 16 + kRows + c)) + load(n, n + ".p");
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kColumns; ++c) {
      const std::string n = "s" + std::to_string(r) + "." + std::to_string(c);
      ir += at(n + ".p", "frame", 64 + 32 * (r * kColumns + c)) + load(n, n + ".p");
      std::string sum = n;
      for (int k = 0; k < kDepth; ++k) {
        const std::string next = n + ".k" + std::to_string(k), step = std::to_string(k) + ".";
        ir += "  %" + next + " = call <8 x float> @llvm.fma.v8f32(<8 x float> %a" + step +
              std::to_string(r) + ", <8 x float> %b" + step + std::to_string(c) +
              ", <8 x float> %" + sum + ")\n";
        sum = next;
      }
      ir += "  store <8 x float> %" + sum + ", ptr %" + n + ".p\n";
      if (r + c == 0)
        ir += between;
    }
  return ir + "  ret void\n}\ndeclare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x "
              "float>)\n"
              "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n";
}

std::unique_ptr<Module> ordered(LLVMContext &context, const std::string &between, bool &isChanged) {
  SMDiagnostic wrong;
  std::unique_ptr<Module> module = parseAssemblyString(product(between), wrong, context);
  if (!module) {
    ADD_FAILURE() << wrong.getMessage().str();
    return nullptr;
  }
  isChanged = ptxrun::jit::orderForRegisters(*module->getFunction("f"), 32, 16);
  EXPECT_FALSE(verifyModule(*module, &errs()));
  return module;
}

/// Products one after the other that take something else than the sum before them.
unsigned independentNeighbours(Function &f) {
  unsigned n = 0;
  const Instruction *last = nullptr;
  for (Instruction &i : instructions(f))
    if (isa<IntrinsicInst>(i) && !i.getType()->isVoidTy()) {
      n += last && i.getOperand(2) != last;
      last = &i;
    }
  return n;
}

/// What loads from a place of the frame stands before what is stored there.
void expectLoadsBeforeStores(Function &f) {
  DenseMap<const Value *, const Instruction *> stores;
  for (Instruction &i : instructions(f)) {
    if (auto *store = dyn_cast<StoreInst>(&i))
      stores[store->getPointerOperand()] = store;
    if (auto *load = dyn_cast<LoadInst>(&i))
      EXPECT_FALSE(stores.contains(load->getPointerOperand()));
  }
}

TEST(Order, SumsThatShareOperandsTakeTurnsAroundStoresToTheFrame) {
  LLVMContext context;
  bool isChanged = false;
  const std::unique_ptr<Module> module = ordered(context, "", isChanged);
  ASSERT_TRUE(module && isChanged);
  Function &f = *module->getFunction("f");
  EXPECT_GT(independentNeighbours(f), kRows * kColumns * kDepth / 2U);
  expectLoadsBeforeStores(f);
}

TEST(Order, PrefetchesMoveWithTheRest) {
  LLVMContext context;
  bool isChanged = false;
  const std::unique_ptr<Module> module = ordered(
      context, "  call void @llvm.prefetch.p0(ptr %memory, i32 0, i32 3, i32 1)\n", isChanged);
  ASSERT_TRUE(module && isChanged);
  EXPECT_GT(independentNeighbours(*module->getFunction("f")), kRows * kColumns * kDepth / 2U);
}

TEST(Order, NothingPassesAStoreThatMayBeWhatItLoads) {
  LLVMContext context;
  bool isChanged = false;
  // What is loaded behind the first sum may be that sum: by another pointer, or by the same.
  for (const std::string from : {"memory", "s0.0.p"}) {
    const std::unique_ptr<Module> module =
        ordered(context, load("late", from) + "  store volatile <8 x float> %late, ptr %memory\n",
                isChanged);
    ASSERT_TRUE(module);
    Function &f = *module->getFunction("f");
    const Instruction *first = nullptr, *late = nullptr;
    for (Instruction &i : instructions(f)) {
      auto *store = dyn_cast<StoreInst>(&i);
      if (store && !first && store->getPointerOperand()->getName() == "s0.0.p")
        first = store;
      if (i.getName() == "late")
        late = &i;
    }
    ASSERT_TRUE(first && late);
    EXPECT_TRUE(first->comesBefore(late)) << from;
  }
}

} // namespace
