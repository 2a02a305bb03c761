#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {

namespace {

/// tile(map, out, x, y): the 2-dimensional box of 256 bytes at (x, y) of the tensor, to out.
constexpr const char *kTile = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry tile(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 x, .param .u32 y)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<6>;
  .shared .align 128 .b8 box[256];
  .shared .align 8 .b64 bar;
  ld.param.u32 %r1, [x];
  ld.param.u32 %r2, [y];
  mov.b64 %rd1, map;
  cvta.param.u64 %rd2, %rd1;
  mov.u32 %r3, box;
  mov.u32 %r4, bar;
  mbarrier.init.shared.b64 [bar], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd2, {%r1, %r2}], [%r4];
$wait:
  mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
  @!%p1 bra $wait;
  ld.param.u64 %rd3, [out];
  mov.u32 %r5, 0;
$copy:
  add.u32 %r6, %r3, %r5;
  ld.shared.u32 %r7, [%r6];
  st.global.u32 [%rd3], %r7;
  add.u64 %rd3, %rd3, 4;
  add.u32 %r5, %r5, 4;
  setp.lt.u32 %p1, %r5, 256;
  @%p1 bra $copy;
  ret;
}
)";

/// What a call is given; each test changes one thing of a request that is right.
struct Tiled {
  CUtensorMap map{};
  CUtensorMap *to = &map;
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  uint32_t rank = 2;
  uint64_t address = 0x10000;
  std::vector<uint64_t> dims = {32, 16}, strides = {128};
  std::vector<uint32_t> box = {8, 8}, steps = {1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  CUresult encode() {
    return cuTensorMapEncodeTiled(to, type, rank, reinterpret_cast<void *>(address), dims.data(),
                                  strides.data(), box.data(), steps.data(), interleave, swizzle,
                                  promotion, fill);
  }
};

template <class Change> CUresult with(Change change) {
  Tiled request;
  change(request);
  return request.encode();
}

} // namespace

using TensorMap = DriverTest;

TEST_F(TensorMap, IsSupportedByTheDevice) {
  int value = 0;
  EXPECT_CUDA(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0));
  EXPECT_EQ(value, 1);
}

TEST_F(TensorMap, IsAKernelsArgument) {
  std::vector<uint32_t> data(32 * 16);
  for (uint32_t i = 0; i < data.size(); ++i)
    data[i] = 1000 + i;
  const CUdeviceptr out = upload(std::vector<uint32_t>(64));
  Tiled request;
  request.address = upload(data);
  ASSERT_CUDA(request.encode());
  const int x = 28, y = 3; // half of each row is outside
  ASSERT_CUDA(launch(function(kTile, "tile"), 1, 1, nullptr, request.map, out, x, y));
  const auto box = download<uint32_t>(out, 64);
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t column = 28 + i % 8, row = 3 + i / 8;
    EXPECT_EQ(box[i], column < 32 ? 1000 + row * 32 + column : 0) << i;
  }
}

TEST_F(TensorMap, GetsAnotherAddress) {
  Tiled request;
  ASSERT_CUDA(request.encode());
  std::vector<uint32_t> data(32 * 16, 7);
  const CUdeviceptr out = upload(std::vector<uint32_t>(64)), tensor = upload(data);
  EXPECT_RESULT(cuTensorMapReplaceAddress(&request.map, reinterpret_cast<void *>(tensor + 8)),
                CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuTensorMapReplaceAddress(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUtensorMap none{};
  EXPECT_RESULT(cuTensorMapReplaceAddress(&none, nullptr), CUDA_ERROR_INVALID_VALUE);
  ASSERT_CUDA(cuTensorMapReplaceAddress(&request.map, reinterpret_cast<void *>(tensor)));
  const int zero = 0;
  ASSERT_CUDA(launch(function(kTile, "tile"), 1, 1, nullptr, request.map, out, zero, zero));
  EXPECT_EQ(download<uint32_t>(out, 64), std::vector<uint32_t>(64, 7));
}

TEST_F(TensorMap, KeepsCudasRules) {
  const auto invalid = nameOf(CUDA_ERROR_INVALID_VALUE);
#define EXPECT_INVALID(change) EXPECT_EQ(nameOf(with([](Tiled &t) { change; })), invalid) << #change
#define EXPECT_VALID(change) EXPECT_CUDA(with([](Tiled &t) { change; }))
  EXPECT_VALID(t.steps[0] = 9); // is not looked at
  EXPECT_VALID(t.dims[0] = uint64_t{1} << 32);
  EXPECT_VALID((t.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, t.box[0] = 32));
  EXPECT_VALID((t.type = CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, t.dims[0] = 256, t.box[0] = 128));
  EXPECT_INVALID(t.to = nullptr);
  EXPECT_INVALID(t.to = reinterpret_cast<CUtensorMap *>(reinterpret_cast<char *>(&t.map) + 32));
  EXPECT_INVALID(t.rank = 0);
  EXPECT_INVALID(t.rank = 6);
  EXPECT_INVALID(t.address += 8);
  EXPECT_INVALID(t.dims[1] = 0);
  EXPECT_INVALID(t.dims[1] = (uint64_t{1} << 32) + 1);
  EXPECT_INVALID(t.strides[0] = 136);
  EXPECT_INVALID(t.strides[0] = uint64_t{1} << 40);
  EXPECT_INVALID(t.box[1] = 0);
  EXPECT_INVALID(t.box[1] = 257);
  EXPECT_INVALID(t.box[0] = 6);
  EXPECT_INVALID(t.steps[1] = 0);
  EXPECT_INVALID(t.steps[1] = 9);
  EXPECT_INVALID(t.interleave = CU_TENSOR_MAP_INTERLEAVE_16B); // needs three dimensions
  EXPECT_INVALID((t.swizzle = CU_TENSOR_MAP_SWIZZLE_32B, t.box[0] = 16));
  EXPECT_INVALID(t.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
  EXPECT_INVALID(t.type = static_cast<CUtensorMapDataType>(16));
  EXPECT_INVALID(t.swizzle = static_cast<CUtensorMapSwizzle>(7));
  EXPECT_INVALID(t.promotion = static_cast<CUtensorMapL2promotion>(-1));
  EXPECT_INVALID((t.type = CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, t.dims[0] = 192, t.box[0] = 128));
  EXPECT_INVALID((t.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, t.dims[0] = 256));
#undef EXPECT_INVALID
#undef EXPECT_VALID
}

TEST_F(TensorMap, EncodesIm2col) {
  CUtensorMap map;
  const uint64_t dims[] = {64, 9, 14, 3}, strides[] = {128, 1152, 16128};
  const uint32_t steps[] = {1, 1, 1, 1};
  const auto encode = [&](int lower, int upper, uint32_t channels, uint32_t pixels) {
    const int lowers[] = {lower, lower}, uppers[] = {upper, upper};
    return cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4,
                                   reinterpret_cast<void *>(0x10000), dims, strides, lowers, uppers,
                                   channels, pixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                   CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
  };
  EXPECT_CUDA(encode(-1, -1, 64, 1024));
  EXPECT_RESULT(encode(-129, -1, 64, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(encode(5, -4, 64, 64), CUDA_ERROR_INVALID_VALUE) << "an empty bounding box";
  EXPECT_RESULT(encode(-1, -1, 72, 64), CUDA_ERROR_INVALID_VALUE) << "144 bytes are more than 128";
  EXPECT_RESULT(encode(-1, -1, 64, 1025), CUDA_ERROR_INVALID_VALUE);
  const auto encodeWide = [&](CUtensorMapSwizzle swizzle, CUtensorMapIm2ColWideMode mode) {
    return cuTensorMapEncodeIm2colWide(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, reinterpret_cast<void *>(0x10000), dims, strides,
        -1, 0, 64, 64, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, mode, swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  EXPECT_CUDA(encodeWide(CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W));
  EXPECT_CUDA(encodeWide(CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128));
  EXPECT_RESULT(encodeWide(CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W),
                CUDA_ERROR_INVALID_VALUE);
}

} // namespace ptxrun::tests
