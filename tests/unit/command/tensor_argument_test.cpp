#include "loader/ptxrun/tensor_argument.h"

#include <gtest/gtest.h>

#include "loader/ptxrun/errors.h"

namespace ptxrun::command {
namespace {

alignas(256) const char buffer[64] = {};
std::optional<const void *> lookup(std::string_view text) {
  if (text == "x")
    return buffer;
  return std::nullopt;
}

rt::TensorMap made(std::string_view text) {
  return makeTensorMap(text, lookup, {{"n", nullptr, 40}});
}

std::string errorOf(std::string_view text) {
  try {
    made(text);
  } catch (const UsageError &error) {
    return error.what();
  }
  return "";
}

TEST(TensorArgument, SaysWhatTheDriverIsTold) {
  rt::TensorMap map = made("tensormap{buffer=x; type=f16; dims=64, n, 3; box=32,8,1; "
                           "element_strides=1,2,1; swizzle=64B; fill=nan}");
  EXPECT_EQ(map.address, reinterpret_cast<uint64_t>(buffer));
  EXPECT_EQ(map.rank, 3);
  EXPECT_EQ(map.type, rt::TensorType::f16);
  EXPECT_EQ(map.size(1), 40u);
  EXPECT_EQ(map.stride[0], 128u) << "without gaps";
  EXPECT_EQ(map.stride[1], 128u * 40);
  EXPECT_EQ(map.box[1], 8);
  EXPECT_EQ(map.elementStride[1], 2);
  EXPECT_EQ(map.swizzle, rt::TensorSwizzle::bytes64);
  EXPECT_EQ(map.fill, rt::TensorFill::nan);
  EXPECT_EQ(made("tensormap{buffer=x;type=u8;dims=16,2;strides=n * 16;box=16,1}").stride[0], 640u);
}

TEST(TensorArgument, KnowsTheImageModes) {
  rt::TensorMap map = made("tensormap{buffer=x;type=f32;dims=16,9,9,2;lower=-1,-2;upper=1,2;"
                           "channels=16;pixels=32}");
  EXPECT_EQ(map.kind, rt::TensorKind::im2col);
  EXPECT_EQ(map.lower[1], -2);
  EXPECT_EQ(map.upper[0], 1);
  map = made("tensormap{buffer=x;type=f32;dims=16,9,9,2;lower=-1;upper=1;channels=16;"
             "swizzle=64B;mode=im2col_w_128}");
  EXPECT_EQ(map.kind, rt::TensorKind::im2colW128);
  EXPECT_EQ(map.pixelsPerColumn, 128);
}

TEST(TensorArgument, PacksInterleavedSlices) {
  rt::TensorMap map = made("tensormap{buffer=x;type=u16;dims=20,6,5,2;box=8,1,1,1;interleave=16B}");
  EXPECT_EQ(map.stride[0], 16u) << "W";
  EXPECT_EQ(map.stride[1], 96u) << "H";
  EXPECT_EQ(map.stride[2], 96u * 5 * 3) << "N, behind three slices";
}

TEST(TensorArgument, NamesWhatIsWrong) {
  EXPECT_NE(errorOf("tensormap{buffer=x;type=f16;dims=64;box=32;swizle=64B}").find("'swizzle'"),
            std::string::npos);
  EXPECT_NE(errorOf("tensormap{buffer=y;type=f16;dims=64;box=32}").find("no buffer 'y'"),
            std::string::npos);
  EXPECT_NE(errorOf("tensormap{buffer=x;type=f17;dims=64;box=32}").find("'f17' is no type"),
            std::string::npos);
  EXPECT_NE(errorOf("tensormap{buffer=x;type=f16;dims=64,2;box=32}").find("'box' needs 2"),
            std::string::npos);
  EXPECT_NE(errorOf("tensormap{buffer=x;type=f16;dims=64;box=300}").find("must be 1 to 256"),
            std::string::npos);
  EXPECT_NE(errorOf("tensormap{buffer=x;type=f16;dims=64}").find("'box' is missing"),
            std::string::npos);
}

} // namespace
} // namespace ptxrun::command
