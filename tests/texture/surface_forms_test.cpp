// Every form of 9.7.11 through the driver API: forms.ptx (generate.py) over arrays of every shape,
// against a copy on the host.
#include "tests/texture/forms_fixture.h"

namespace ptxrun::texture_test {
namespace {

class SurfaceForms : public TextureForms {
 protected:
  void make(const Shape &s, ChannelType type, uint32_t channels) {
    own_ = makeImage(s.shape, s.isLayered, s.isCube, s.width, s.height, s.depth, 1, type, channels,
                     1, 6);
    CUDA_ARRAY3D_DESCRIPTOR d = describe(s, type, channels);
    d.Flags |= CUDA_ARRAY3D_SURFACE_LDST;
    ASSERT_CUDA(cuArray3DCreate(&array_, &d));
    copyLevel(own_, 0, array_, true);
    CUDA_RESOURCE_DESC resource = {};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array_;
    ASSERT_CUDA(cuSurfObjectCreate(&object_, &resource));
  }
  void destroy() {
    EXPECT_CUDA(cuSurfObjectDestroy(object_));
    EXPECT_CUDA(cuArrayDestroy(array_));
  }

  /// Operands with places of their own, so that stores do not meet: x by the thread's number in
  /// steps of `step`; some out of bounds unless the form traps.
  std::vector<Operands> places(const Shape &s, uint32_t step, uint32_t rowBytes, bool mayLeave) {
    std::vector<Operands> lanes(kThreads);
    const uint32_t across = rowBytes / step, rows = std::max(s.height, 1u),
                   layers = std::max(s.depth, 1u);
    for (uint32_t l = 0; l < kThreads; ++l) {
      const uint32_t place = l % (across * rows * layers);
      int x = int(place % across * step), y = int(place / across % rows),
          z = int(place / across / rows);
      if (mayLeave && l % 7 == 0)
        (l % 3 == 0 ? x : l % 3 == 1 && s.height ? y : x) = l % 2 ? -16 : 4096;
      lanes[l][abi::kRowX] = uint32_t(x);
      lanes[l][abi::kRowX + 1] = uint32_t(y);
      lanes[l][abi::kRowX + 2] = uint32_t(z);
      lanes[l][abi::kRowLayer] = uint32_t(z);
      for (uint32_t r = 4; r < 8; ++r)
        lanes[l][abi::kRowData + r - 4] = random_();
    }
    return lanes;
  }

  /// Where a lane's access lands in the host's copy; null where it is out of bounds.
  char *placeOf(const Shape &s, const Operands &in, uint32_t unit, uint32_t bytes,
                const std::string &bound) {
    const rt::ImageLevel &level = own_.image.level[0];
    const bool isArray = s.isLayered;
    int64_t at[3] = {int64_t(int32_t(in[abi::kRowX])) * unit, 0, 0};
    const int64_t most[3] = {int64_t(level.width) * own_.image.texelBytes() - bytes,
                             int64_t(level.height) - 1,
                             int64_t(isArray ? own_.image.layers : level.depth) - 1};
    if (s.height)
      at[1] = int32_t(in[abi::kRowX + 1]);
    if (s.shape == ImageShape::d3)
      at[2] = int32_t(in[abi::kRowX + 2]);
    else if (isArray)
      at[2] = in[abi::kRowLayer];
    for (int d = 0; d < 3; ++d) {
      const int64_t inside = std::clamp<int64_t>(at[d], 0, most[d]);
      if (inside != at[d] && bound != "clamp")
        return nullptr;
      at[d] = inside;
    }
    return own_.memory.data() + uint64_t(at[2]) * level.slice + uint64_t(at[1]) * level.pitch +
           at[0];
  }

  void expectSame(const std::string &what) {
    std::vector<char> back(own_.memory.size());
    copyLevel(own_, 0, array_, false, back.data());
    const rt::ImageLevel &level = own_.image.level[0];
    const uint64_t used = level.width * own_.image.texelBytes();
    for (uint64_t at = 0; at < back.size(); at += level.pitch)
      ASSERT_EQ(memcmp(back.data() + at, own_.memory.data() + at, used), 0)
          << what << " row " << at / level.pitch;
  }

  OwnImage own_;
  CUarray array_ = nullptr;
  CUsurfObject object_ = 0;
};

uint32_t bytesOf(const std::string &type) { return uint32_t(std::stoi(type.substr(1))) / 8; }
uint32_t elementsOf(const std::string &vector) { return uint32_t(vector[1] - '0'); }

TEST_F(SurfaceForms, EveryFormOfSuldLoads) {
  for (const std::string &name : kernels("suld_", 15)) {
    const auto parts = split(name);
    const Shape &s = shapeOf(parts[1]);
    make(s, ChannelType::u32, 4);
    const auto lanes = places(s, 16, s.width * 16, parts[2] != "trap");
    ASSERT_CUDA(run(name, object_, lanes));
    const std::vector<Row> rows = results(33);
    size_t row = 0;
    for (const auto &[bytes, count] : std::initializer_list<std::pair<uint32_t, uint32_t>>{{1, 1},
                                                                                           {1, 2},
                                                                                           {1, 4},
                                                                                           {2, 1},
                                                                                           {2, 2},
                                                                                           {2, 4},
                                                                                           {4, 1},
                                                                                           {4, 2},
                                                                                           {4, 4},
                                                                                           {8, 1},
                                                                                           {8, 2}})
      for (uint32_t at = 0; at < bytes * count; at += std::min(bytes, 4u), ++row)
        for (uint32_t l = 0; l < kThreads; ++l) {
          const char *place = placeOf(s, lanes[l], 1, bytes * count, parts[2]);
          uint32_t expected = 0;
          if (place)
            memcpy(&expected, place + at, std::min(bytes, 4u));
          ASSERT_EQ(rows[row][l], expected) << name << " row " << row << " lane " << l;
        }
    destroy();
  }
}

TEST_F(SurfaceForms, EveryFormOfSustStores) {
  for (const std::string &name : kernels("sust_", 165)) {
    const auto parts = split(name); // sust, geometry, bound, type, vector
    const Shape &s = shapeOf(parts[1]);
    make(s, ChannelType::u32, 4);
    const uint32_t bytes = bytesOf(parts[3]), count = elementsOf(parts[4]);
    auto lanes = places(s, 16, s.width * 16, parts[2] == "zero");
    ASSERT_CUDA(run(name, object_, lanes));
    for (const Operands &in : lanes)
      if (char *place = placeOf(s, in, 1, bytes * count, parts[2]))
        for (uint32_t at = 0, r = abi::kRowData; at < bytes * count; at += std::min(bytes, 4u), ++r)
          memcpy(place + at, &in[r], std::min(bytes, 4u));
    expectSame(name);
    if (HasFatalFailure())
      return;
    destroy();
  }
}

TEST_F(SurfaceForms, SustClampsToTheEdge) {
  const Shape &s = shapeOf("2d");
  make(s, ChannelType::u32, 1);
  std::vector<Operands> lanes(kThreads);
  for (Operands &in : lanes) { // all of them in one corner
    in[abi::kRowX] = 1000;
    in[abi::kRowX + 1] = uint32_t(-3);
    in[abi::kRowData] = 77;
  }
  ASSERT_CUDA(run("sust_2d_clamp_b32_v1", object_, lanes));
  const uint32_t value = 77;
  memcpy(own_.memory.data() + 4 * (s.width - 1), &value, 4);
  expectSame("clamp");
}

TEST_F(SurfaceForms, EveryFormOfFormattedSustConverts) {
  for (const std::string &name : kernels("sustp_", 27)) {
    const auto parts = split(name); // sustp, geometry, bound, vector
    const Shape &s = shapeOf(parts[1]);
    const uint32_t count = elementsOf(parts[3]);
    for (const ChannelType type : {ChannelType::f32, ChannelType::f16, ChannelType::u8,
                                   ChannelType::s16, ChannelType::u32}) {
      make(s, type, count);
      const uint32_t bytes = rt::bytesOf(type);
      auto lanes = places(s, 1, s.width, parts[2] == "zero");
      for (Operands &in : lanes)
        for (uint32_t c = 0; c < 4; ++c)
          in[abi::kRowData + c] = rt::isFloat(type) ? bitsOf(float(int(random_() % 256) - 128) / 16)
                                                    : random_() % 100'000 - 50'000;
      ASSERT_CUDA(run(name, object_, lanes));
      for (const Operands &in : lanes)
        if (char *place = placeOf(s, in, count * bytes, count * bytes, parts[2]))
          for (uint32_t c = 0; c < count; ++c) {
            const uint32_t word = in[abi::kRowData + c];
            const _Float16 half = static_cast<_Float16>(floatOf(word));
            const auto byte = static_cast<uint8_t>(std::min<uint32_t>(word, 255));
            const auto narrow =
                static_cast<int16_t>(std::clamp<int32_t>(int32_t(word), -32768, 32767));
            const void *from = type == ChannelType::f16   ? static_cast<const void *>(&half)
                               : type == ChannelType::u8  ? &byte
                               : type == ChannelType::s16 ? static_cast<const void *>(&narrow)
                                                          : &word;
            memcpy(place + c * bytes, from, bytes);
          }
      expectSame(name + " type " + std::to_string(int(type)));
      if (HasFatalFailure())
        return;
      destroy();
    }
  }
}

template <class T> T reduced(const std::string &op, T a, T b) {
  return op == "add"   ? T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b)) // wraps
         : op == "min" ? std::min(a, b)
         : op == "max" ? std::max(a, b)
         : op == "and" ? T(a & b)
                       : T(a | b);
}

TEST_F(SurfaceForms, EveryFormOfSuredReduces) {
  for (const std::string &name : kernels("sured", 66))
    for (const bool isSigned : {false, true}) {
      const auto parts = split(name); // suredb or suredp, geometry, operation, type, bound
      const Shape &s = shapeOf(parts[1]);
      const bool isTexel = parts[0] == "suredp";
      const uint32_t bytes = bytesOf(parts[3]);
      make(s, isSigned ? ChannelType::s32 : ChannelType::u32, bytes / 4);
      auto lanes =
          places(s, isTexel ? 1 : bytes, s.width * (isTexel ? 1 : bytes), parts[4] == "zero");
      for (size_t l = 0; l < lanes.size(); l += 2) // two threads at each place
        if (l + 1 < lanes.size())
          for (uint32_t r = 0; r < 4; ++r)
            lanes[l + 1][r] = lanes[l][r];
      ASSERT_CUDA(run(name, object_, lanes));
      const bool hasSign = isTexel ? isSigned : parts[3][0] == 's';
      for (const Operands &in : lanes)
        if (char *place = placeOf(s, in, isTexel ? bytes : 1, bytes, parts[4])) {
          uint64_t old = 0, value = in[abi::kRowData] | uint64_t{in[abi::kRowData + 1]} << 32;
          memcpy(&old, place, bytes);
          const uint64_t now =
              bytes == 8 ? (hasSign ? uint64_t(reduced(parts[2], int64_t(old), int64_t(value)))
                                    : reduced(parts[2], old, value))
                         : (hasSign ? uint32_t(reduced(parts[2], int32_t(old), int32_t(value)))
                                    : reduced(parts[2], uint32_t(old), uint32_t(value)));
          memcpy(place, &now, bytes);
        }
      expectSame(name);
      if (HasFatalFailure())
        return;
      destroy();
    }
}

TEST_F(SurfaceForms, QueriesAnswer) {
  make(shapeOf("a2d"), ChannelType::s16, 2);
  ASSERT_CUDA(run("suq", object_, std::vector<Operands>(kThreads)));
  const uint32_t expected[] = {8, 16, 1, 0x10d8, 0x10b2, 3, 0};
  const std::vector<Row> rows = results(std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i)
    EXPECT_EQ(rows[i][5], expected[i]) << i;
}

TEST_F(SurfaceForms, TrapsOutOfBounds) {
  make(shapeOf("2d"), ChannelType::u32, 4);
  std::vector<Operands> lanes(kThreads);
  lanes[40][abi::kRowX] = 256;
  testing::internal::CaptureStderr();
  EXPECT_RESULT(run("suld_2d_trap", object_, lanes), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("coordinates 256, 0 are outside"),
            std::string::npos);
}

} // namespace
} // namespace ptxrun::texture_test
