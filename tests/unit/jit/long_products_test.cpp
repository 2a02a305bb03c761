// Upper halves of products: numbers of which all halves matter, against the compiler's 128 bits.
#include "translate/jit/long_products.h"

#include <gtest/gtest.h>

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>

#include <string>
#include <vector>

namespace ptxrun::jit {
namespace {

constexpr uint64_t kNumbers[] = {0,
                                 1,
                                 2,
                                 0xffffffff,
                                 0x100000000,
                                 0x7fffffffffffffff,
                                 0x8000000000000000,
                                 0xffffffffffffffff,
                                 0xfffffffeffffffff,
                                 0xcccccccccccccccd,
                                 0x9e3779b97f4a7c15};

std::string vectorOf(std::string_view type, uint64_t x, uint64_t y) {
  const auto one = [&](uint64_t v) { return std::string(type) + ' ' + std::to_string(v); };
  return '<' + one(x) + ", " + one(y) + '>';
}

/// What is left of the function of the text: what it returns, or nothing where that is no number.
std::vector<uint64_t> resultOf(const std::string &body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::string text = "define <2 x i64> @f() {\n" + body + "  ret <2 x i64> %r\n}\n";
  const auto module = llvm::parseAssemblyString(text, problem, context);
  if (!module) {
    ADD_FAILURE() << problem.getMessage().str() << '\n' << text;
    return {};
  }
  llvm::Function &f = *module->getFunction("f");
  takeLongProductsApart(f);
  auto *result = llvm::dyn_cast<llvm::Constant>(
      llvm::cast<llvm::ReturnInst>(f.getEntryBlock().getTerminator())->getReturnValue());
  std::vector<uint64_t> numbers;
  for (unsigned k = 0; result && k < 2; ++k)
    numbers.push_back(
        llvm::cast<llvm::ConstantInt>(result->getAggregateElement(k))->getZExtValue());
  return numbers;
}

std::string product(const std::string &extension, const std::string &shift, unsigned by,
                    const std::string &a, const std::string &b) {
  const std::string bits = std::to_string(by);
  return "  %a = " + extension + " <2 x i64> " + a + " to <2 x i128>\n  %b = " + extension +
         " <2 x i64> " + b + " to <2 x i128>\n  %p = mul <2 x i128> %a, %b\n  %s = " + shift +
         " <2 x i128> %p, <i128 " + bits + ", i128 " + bits +
         ">\n  %r = trunc <2 x i128> %s to <2 x i64>\n";
}

TEST(LongProducts, OfAllHalvesAreExact) {
  for (uint64_t a : kNumbers)
    for (uint64_t b : kNumbers)
      for (unsigned by : {64U, 67U, 127U}) {
        const auto whole = static_cast<unsigned __int128>(a) * b;
        const auto ofSigned = static_cast<__int128>(static_cast<int64_t>(a)) * int64_t(b);
        const std::string x = vectorOf("i64", a, b), y = vectorOf("i64", b, a);
        const std::vector<uint64_t> wanted(2, uint64_t(whole >> by)),
            wantedOfSigned(2, uint64_t(ofSigned >> by));
        EXPECT_EQ(resultOf(product("zext", "lshr", by, x, y)), wanted)
            << a << ' ' << b << ' ' << by;
        EXPECT_EQ(resultOf(product("sext", "ashr", by, x, y)), wantedOfSigned)
            << a << ' ' << b << ' ' << by;
      }
  // What is behind the upper half does not matter where it alone is taken.
  const std::string x = vectorOf("i64", ~0ULL, 3), y = vectorOf("i64", 5, ~0ULL);
  EXPECT_EQ(resultOf(product("sext", "lshr", 64, x, y)), (std::vector<uint64_t>{~0ULL, ~0ULL}));
}

TEST(LongProducts, ByConstantsThatAreExtendedAlready) {
  const std::string x = vectorOf("i64", ~0ULL, 1000);
  EXPECT_EQ(resultOf("  %a = zext <2 x i64> " + x +
                     " to <2 x i128>\n  %p = mul <2 x i128> %a, <i128 14757395258967641293, i128 "
                     "14757395258967641293>\n  %s = lshr <2 x i128> %p, <i128 67, i128 67>\n"
                     "  %r = trunc <2 x i128> %s to <2 x i64>\n"),
            (std::vector<uint64_t>{~0ULL / 10, 100}));
}

/// Wider constants, other parts of the product, and signs that come down as zeros.
TEST(LongProducts, OfWhatIsNoUpperHalfStayAsTheyAre) {
  const std::string x = vectorOf("i64", 7, 9);
  EXPECT_EQ(resultOf(product("zext", "lshr", 63, x, x)), std::vector<uint64_t>());
  EXPECT_EQ(resultOf(product("zext", "ashr", 65, x, x)), std::vector<uint64_t>());
  EXPECT_EQ(resultOf(product("sext", "lshr", 65, x, x)), std::vector<uint64_t>());
  EXPECT_EQ(resultOf("  %a = zext <2 x i64> " + x +
                     " to <2 x i128>\n  %p = mul <2 x i128> %a, <i128 18446744073709551616, i128 "
                     "18446744073709551616>\n  %s = lshr <2 x i128> %p, <i128 64, i128 64>\n"
                     "  %r = trunc <2 x i128> %s to <2 x i64>\n"),
            std::vector<uint64_t>());
}

} // namespace
} // namespace ptxrun::jit
