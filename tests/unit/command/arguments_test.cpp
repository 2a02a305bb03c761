#include "loader/ptxrun/arguments.h"

#include <gtest/gtest.h>

#include <cstring>

#include "loader/ptxrun/errors.h"

namespace ptxrun::command {
namespace {

device::KernelInfo kernelWith(std::initializer_list<std::pair<isa::Type, unsigned>> types) {
  device::KernelInfo kernel;
  kernel.name = "k";
  for (auto [type, arrayBytes] : types) {
    device::Parameter parameter;
    parameter.name = "p" + std::to_string(kernel.parameters.size());
    parameter.type = type;
    parameter.isArray = arrayBytes > 0;
    parameter.bytes = arrayBytes ? arrayBytes : isa::bitWidth(type) / 8;
    parameter.alignment = 8;
    parameter.offset = (kernel.parameterBytes + 7) / 8 * 8;
    kernel.parameterBytes = parameter.offset + parameter.bytes;
    kernel.parameters.push_back(parameter);
  }
  return kernel;
}

const char buffer = 0;
std::optional<const void *> lookup(std::string_view text) {
  if (text == "x")
    return &buffer;
  return std::nullopt;
}

template <class T> T packed(isa::Type type, const std::string &text) {
  auto bytes = packArguments(kernelWith({{type, 0}}), {text}, lookup);
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::string refusal(isa::Type type, const std::string &text) {
  try {
    packArguments(kernelWith({{type, 0}}), {text}, lookup);
  } catch (const UsageError &error) {
    return error.what();
  }
  return "accepted";
}

TEST(Arguments, TakeTheirKindFromTheParameter) {
  EXPECT_EQ(packed<uint32_t>(isa::Type::u32, "1048576"), 1048576u);
  EXPECT_EQ(packed<int32_t>(isa::Type::u32, "-3"), -3) << "nvcc writes .u32 for int";
  EXPECT_EQ(packed<uint32_t>(isa::Type::s32, "0xffffffff"), 0xffffffffu);
  EXPECT_EQ(packed<float>(isa::Type::f32, "2"), 2.0f);
  EXPECT_EQ(packed<float>(isa::Type::f32, "0f40490FDB"), 3.14159274f);
  EXPECT_EQ(packed<double>(isa::Type::f64, "-1e-3"), -1e-3);
  EXPECT_EQ(packed<uint64_t>(isa::Type::u64, "7"), 7u);
  EXPECT_EQ(packed<const void *>(isa::Type::u64, "x"), &buffer);
  EXPECT_EQ(packed<uint16_t>(isa::Type::f16, "1.5"), 0x3e00);
}

TEST(Arguments, StructsHaveFieldsAtTheirNaturalAlignment) {
  auto bytes =
      packArguments(kernelWith({{isa::Type::b8, 24}}), {"{i32 5, f64 2.5, ptr x}"}, lookup);
  int32_t first;
  double second;
  const void *third;
  std::memcpy(&first, bytes.data(), 4);
  std::memcpy(&second, bytes.data() + 8, 8);
  std::memcpy(&third, bytes.data() + 16, 8);
  EXPECT_EQ(first, 5);
  EXPECT_EQ(second, 2.5);
  EXPECT_EQ(third, &buffer);
  EXPECT_THROW(packArguments(kernelWith({{isa::Type::b8, 8}}), {"{i32 5, f64 2.5}"}, lookup),
               UsageError);
}

TEST(Arguments, RefusalsShowTheParameterList) {
  EXPECT_NE(refusal(isa::Type::u32, "2.5")
                .find("argument 1 of k (p0, .u32): '2.5' is not an integer\n  k(p0: .u32)"),
            std::string::npos);
  EXPECT_NE(refusal(isa::Type::u32, "4294967296").find("does not fit in 32 bits"),
            std::string::npos);
  EXPECT_NE(refusal(isa::Type::u16, "-40000").find("does not fit in 16 bits"), std::string::npos);
  EXPECT_NE(refusal(isa::Type::u64, "y").find("neither a number nor a buffer"), std::string::npos);
  EXPECT_NE(refusal(isa::Type::f32, "two").find("'two' is not a number"), std::string::npos);
  try {
    packArguments(kernelWith({{isa::Type::u32, 0}, {isa::Type::f32, 0}}), {"1"}, lookup);
    FAIL();
  } catch (const UsageError &error) {
    EXPECT_STREQ(error.what(), "k takes 2 arguments, 1 are given:\n  k(p0: .u32, p1: .f32)");
  }
}

TEST(Arguments, NumbersThatAreNoAddressesAreTold) {
  const auto kernel = kernelWith(
      {{isa::Type::u32, 0}, {isa::Type::u64, 0}, {isa::Type::u64, 0}, {isa::Type::f64, 0}});
  EXPECT_EQ(notAddresses(kernel, {"5", "x", "0x7f0000000000", "5"}), "");
  const std::string told = notAddresses(kernel, {"5", "7", "x", "5"});
  EXPECT_NE(told.find("argument 2 (p1) is the number 7; if it is a pointer"), std::string::npos)
      << told;
  EXPECT_EQ(told.find("argument 1"), std::string::npos) << told;
}

} // namespace
} // namespace ptxrun::command
