#include "loader/ptxrun/buffer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "loader/ptxrun/errors.h"

namespace ptxrun::command {
namespace {

using Role = BufferSpec::Role;

Array make(const std::string &source) { return makeArray(parseBufferSpec(source), "", {}); }

TEST(BufferSpec, TakesRoleFileAndSourceApart) {
  BufferSpec spec = parseBufferSpec("inout:y.npy");
  EXPECT_EQ(spec.role, Role::inout);
  EXPECT_EQ(spec.source, "y.npy");
  EXPECT_EQ(spec.output, "y.npy");
  spec = parseBufferSpec("out:r.npy=f32[8]:fill:2");
  EXPECT_EQ(spec.role, Role::out);
  EXPECT_EQ(spec.output, "r.npy");
  EXPECT_EQ(spec.source, "f32[8]:fill:2");
  spec = parseBufferSpec("out:f32[8]:expr:i==2");
  EXPECT_EQ(spec.role, Role::print) << "without a file it is shown";
  EXPECT_EQ(spec.source, "f32[8]:expr:i==2");
  EXPECT_EQ(parseBufferSpec("x.npy").role, Role::in);
  spec = parseBufferSpec("inout:y.bin:f32"); // the type is no part of the name
  EXPECT_EQ(spec.source, "y.bin:f32");
  EXPECT_EQ(spec.output, "y.bin");
}

TEST(BufferSource, GeneratesContents) {
  Array zero = make("i32[2,3]");
  EXPECT_EQ(zero.describe(), "i32[2, 3]");
  EXPECT_EQ(loadInteger(Element::i32, zero.at(5)), 0);
  EXPECT_EQ(loadDouble(Element::f32, make("f32[9]:iota").at(8)), 8.0);
  EXPECT_EQ(loadInteger(Element::u8, make("u8[300]:iota").at(299)), 43);
  EXPECT_EQ(loadDouble(Element::f64, make("f64[4]:fill:-2.5").at(3)), -2.5);
  EXPECT_EQ(loadInteger(Element::i16, make("i16[3]:1, -2, 0x10").at(2)), 16);
  EXPECT_EQ(loadInteger(Element::i64, make("i64[10]:expr:i*i-1").at(9)), 80);
  // numbers that doubles do not have, and signed ones either
  const auto last = static_cast<int64_t>(18446744073709551615U);
  EXPECT_EQ(loadInteger(Element::u64, make("u64[2]:1, 18446744073709551615").at(1)), last);
  EXPECT_EQ(loadInteger(Element::u64, make("u64[2]:fill:18446744073709551613").at(1)), last - 2);
  EXPECT_EQ(loadDouble(Element::f64, make("f64[1]:18446744073709551615").at(0)), 0x1p64);
  EXPECT_TRUE(std::isinf(loadDouble(Element::f16, make("f16[1]:fill:1e9").at(0))));
}

TEST(BufferSource, RandomContentsDependOnTheSeedAlone) {
  Array a = make("f32[1000]:rand:7"), b = make("f32[1000]:rand:7"), c = make("f32[1000]:rand:8");
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.bytes()), 0);
  EXPECT_NE(std::memcmp(a.data(), c.data(), a.bytes()), 0);
  double sum = 0;
  for (uint64_t k = 0; k < 1000; ++k) {
    double v = loadDouble(Element::f32, a.at(k));
    EXPECT_TRUE(v >= 0 && v < 1);
    sum += v;
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.05);
  Array bounded = make("i32[500]:rand:1:-3:4");
  for (uint64_t k = 0; k < 500; ++k) {
    int64_t v = loadInteger(Element::i32, bounded.at(k));
    EXPECT_TRUE(v >= -3 && v < 4);
  }
}

TEST(BufferSource, SaysWhatIsWrong) {
  EXPECT_THROW(make("f32[4]:ramp"), UsageError);
  EXPECT_THROW(make("f32[4]:1,2"), UsageError);
  EXPECT_THROW(make("f32[-4]"), UsageError);
  EXPECT_THROW(make("nothing.npy"), UsageError);
  EXPECT_THROW(make("out:nothing.npy"), UsageError);
  EXPECT_THROW(elementNamed("float"), UsageError);
}

TEST(BufferPreview, ShowsTheFirstElements) {
  EXPECT_EQ(preview(make("i32[5]:iota"), 3), "[0, 1, 2, ...]");
  EXPECT_EQ(preview(make("f32[2]:0.5,1e30"), 16), "[0.5, 1.00000002e+30]");
}

} // namespace
} // namespace ptxrun::command
