// Tensor-maps. The 128 bytes are rt's (rt/memory/README.md); what they may say is CUDA's.
#include <algorithm>
#include <cstring>

#include "loader/libcuda/api.h"
#include "rt/memory/tensor_map.h"

using namespace ptxrun::driver;
namespace rt = ptxrun::rt;

namespace {

/// CUDA's numbers of the element types differ from PTX's.
constexpr rt::TensorType kTypes[] = {
    rt::TensorType::u8,      rt::TensorType::u16,   rt::TensorType::u32,      rt::TensorType::s32,
    rt::TensorType::u64,     rt::TensorType::s64,   rt::TensorType::f16,      rt::TensorType::f32,
    rt::TensorType::f64,     rt::TensorType::bf16,  rt::TensorType::f32Ftz,   rt::TensorType::tf32,
    rt::TensorType::tf32Ftz, rt::TensorType::b4x16, rt::TensorType::b4x16p64, rt::TensorType::b6};

struct Swizzle {
  rt::TensorSwizzle span;
  rt::TensorAtomicity atomicity = rt::TensorAtomicity::bytes16;
};
constexpr Swizzle kSwizzles[] = {{rt::TensorSwizzle::none},
                                 {rt::TensorSwizzle::bytes32},
                                 {rt::TensorSwizzle::bytes64},
                                 {rt::TensorSwizzle::bytes128},
                                 {rt::TensorSwizzle::bytes128, rt::TensorAtomicity::bytes32},
                                 {rt::TensorSwizzle::bytes128, rt::TensorAtomicity::bytes32Flip8},
                                 {rt::TensorSwizzle::bytes128, rt::TensorAtomicity::bytes64}};

/// What all three functions are given.
struct Request {
  CUtensorMap *map;
  CUtensorMapDataType type;
  uint32_t rank;
  void *address;
  const uint64_t *dims, *strides;
  const uint32_t *elementStrides;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
};

template <class T, size_t Count> bool isIndexOf(const T (&)[Count], int index) {
  return index >= 0 && index < static_cast<int>(Count);
}

bool hasKnownNumbers(const Request &r) {
  return isIndexOf(kTypes, r.type) && isIndexOf(kSwizzles, r.swizzle) && r.interleave >= 0 &&
         r.interleave <= CU_TENSOR_MAP_INTERLEAVE_32B && r.promotion >= 0 &&
         r.promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B && r.fill >= 0 &&
         r.fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
}

bool hasPlaces(const Request &r) {
  return r.map && reinterpret_cast<uintptr_t>(r.map) % 64 == 0 && r.rank >= 1 &&
         r.rank <= rt::kMaxTensorRank && r.dims && r.elementStrides && (r.strides || r.rank == 1);
}

rt::TensorShape shapeOf(const Request &r) {
  rt::TensorShape s;
  s.type = kTypes[r.type];
  s.rank = r.rank;
  s.address = reinterpret_cast<uint64_t>(r.address);
  std::copy_n(r.dims, r.rank, s.sizes.begin());
  std::copy_n(r.elementStrides, r.rank, s.elementStrides.begin());
  if (r.rank > 1)
    std::copy_n(r.strides, r.rank - 1, s.strides.begin());
  s.interleave = static_cast<rt::TensorInterleave>(r.interleave);
  s.swizzle = kSwizzles[r.swizzle].span;
  s.atomicity = kSwizzles[r.swizzle].atomicity;
  s.fill = static_cast<rt::TensorFill>(r.fill);
  return s;
}

CUresult explained(const char *function, const std::string &error) {
  if (error.empty())
    return CUDA_SUCCESS;
  if (isVerbose())
    report("%s: %s", function, error.c_str());
  return CUDA_ERROR_INVALID_VALUE;
}

/// Checks what every request has in common, then has `fill` write the map.
template <class Fill> CUresult encode(const char *function, const Request &r, Fill fill) {
  PTXRUN_TRY(checkInitialised());
  if (!hasPlaces(r))
    return explained(function, "a null pointer, a map that is not aligned to 64 bytes, or a rank "
                               "that is not 1 to 5");
  if (!hasKnownNumbers(r))
    return explained(function,
                     "a type, interleave, swizzle, promotion or fill that does not exist");
  rt::TensorMap map;
  PTXRUN_TRY(explained(function, fill(&map, shapeOf(r))));
  static_assert(sizeof map == sizeof *r.map);
  memcpy(r.map, &map, sizeof map);
  return CUDA_SUCCESS;
}

} // namespace

PTXRUN_API CUresult cuTensorMapEncodeTiled(
    CUtensorMap *map, CUtensorMapDataType type, uint32_t rank, void *address,
    const uint64_t *globalDim, const uint64_t *globalStrides, const uint32_t *boxDim,
    const uint32_t *elementStrides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  const Request request{map,           type,           rank,       address, globalDim,
                        globalStrides, elementStrides, interleave, swizzle, promotion,
                        fill};
  return encode("cuTensorMapEncodeTiled", request,
                [&](rt::TensorMap *to, const rt::TensorShape &shape) -> std::string {
                  if (!boxDim)
                    return "boxDim is null";
                  std::array<uint32_t, rt::kMaxTensorRank> box{};
                  std::copy_n(boxDim, rank, box.begin());
                  return rt::encodeTiled(to, shape, box);
                });
}

PTXRUN_API CUresult cuTensorMapEncodeIm2col(
    CUtensorMap *map, CUtensorMapDataType type, uint32_t rank, void *address,
    const uint64_t *globalDim, const uint64_t *globalStrides, const int *pixelBoxLowerCorner,
    const int *pixelBoxUpperCorner, uint32_t channelsPerPixel, uint32_t pixelsPerColumn,
    const uint32_t *elementStrides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  const Request request{map,           type,           rank,       address, globalDim,
                        globalStrides, elementStrides, interleave, swizzle, promotion,
                        fill};
  return encode("cuTensorMapEncodeIm2col", request,
                [&](rt::TensorMap *to, const rt::TensorShape &shape) -> std::string {
                  if (rank < 3 || !pixelBoxLowerCorner || !pixelBoxUpperCorner)
                    return "a rank below 3, or no corners";
                  // W first, as the dimensions are: CUDA's text reads {D, H, W}, but its own
                  // libraries pass {W, H, D}.
                  std::array<int, 3> lower{}, upper{};
                  std::copy_n(pixelBoxLowerCorner, rank - 2, lower.begin());
                  std::copy_n(pixelBoxUpperCorner, rank - 2, upper.begin());
                  return rt::encodeIm2col(to, shape, lower, upper, channelsPerPixel,
                                          pixelsPerColumn);
                });
}

PTXRUN_API CUresult cuTensorMapEncodeIm2colWide(
    CUtensorMap *map, CUtensorMapDataType type, uint32_t rank, void *address,
    const uint64_t *globalDim, const uint64_t *globalStrides, int pixelBoxLowerCornerWidth,
    int pixelBoxUpperCornerWidth, uint32_t channelsPerPixel, uint32_t pixelsPerColumn,
    const uint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
    CUtensorMapFloatOOBfill fill) {
  const Request request{map,           type,           rank,       address, globalDim,
                        globalStrides, elementStrides, interleave, swizzle, promotion,
                        fill};
  return encode(
      "cuTensorMapEncodeIm2colWide", request,
      [&](rt::TensorMap *to, const rt::TensorShape &shape) -> std::string {
        if (mode != CU_TENSOR_MAP_IM2COL_WIDE_MODE_W && mode != CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128)
          return "a mode that does not exist";
        const auto kind = mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W ? rt::TensorKind::im2colW
                                                                   : rt::TensorKind::im2colW128;
        return rt::encodeIm2colWide(to, shape, kind, pixelBoxLowerCornerWidth,
                                    pixelBoxUpperCornerWidth, channelsPerPixel, pixelsPerColumn);
      });
}

PTXRUN_API CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address) {
  PTXRUN_TRY(checkInitialised());
  if (!map || reinterpret_cast<uintptr_t>(map) % 64)
    return CUDA_ERROR_INVALID_VALUE;
  rt::TensorMap changed;
  memcpy(&changed, map, sizeof changed);
  PTXRUN_TRY(explained("cuTensorMapReplaceAddress",
                       rt::replaceAddress(&changed, reinterpret_cast<uint64_t>(address))));
  memcpy(map, &changed, sizeof changed);
  return CUDA_SUCCESS;
}
