#include "tests/texture/model.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ptxrun::texture_test {

namespace {

using abi::TextureAction;
using abi::TextureGeometry;
using rt::AddressMode;
using rt::ChannelType;

int64_t modulo(int64_t i, int64_t n) { return (i % n + n) % n; }

/// A texel along one axis: its index, or that it is the border's.
struct Index {
  int64_t i = 0;
  bool isBorder = false;
};

Index address(int64_t i, int64_t n, AddressMode mode) {
  switch (mode) {
  case AddressMode::wrap:
    return {modulo(i, n)};
  case AddressMode::mirror: {
    const int64_t place = modulo(i, 2 * n);
    return {place < n ? place : 2 * n - 1 - place};
  }
  case AddressMode::clamp:
    return {std::clamp<int64_t>(i, 0, n - 1)};
  case AddressMode::border:
    return {std::clamp<int64_t>(i, 0, n - 1), i < 0 || i >= n};
  }
  return {};
}

struct Case {
  const rt::Texture &t;
  const rt::Sampler &s;
  const abi::TextureOperation &op;
  const Operands &in;
  bool isNormalized, isInteger, isLinear;

  float f(uint32_t row) const { return floatOf(in[row]); }
  int32_t i(uint32_t row) const { return static_cast<int32_t>(in[row]); }
  int dimensions() const {
    switch (op.geometry) {
    case TextureGeometry::d1:
    case TextureGeometry::a1:
      return 1;
    case TextureGeometry::d3:
      return 3;
    default:
      return 2;
    }
  }
  bool isCube() const {
    return op.geometry == TextureGeometry::cube || op.geometry == TextureGeometry::acube;
  }
};

double scaleOf(const Case &c) {
  switch (c.t.image.type) {
  case ChannelType::u8:
    return 255;
  case ChannelType::s8:
    return 127;
  case ChannelType::u16:
    return 65535;
  case ChannelType::s16:
    return 32767;
  default:
    return 1;
  }
}

template <class T> T at(const char *p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

double halfValue(uint16_t h) {
  const int exponent = h >> 10 & 31, mantissa = h & 1023;
  const double magnitude =
      exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24);
  return h & 0x8000 ? -magnitude : magnitude;
}

/// One channel as bits (sign- or zero-extended) and as the number that filtering sees.
void readChannel(const Case &c, const char *p, uint32_t channel, uint32_t &bits, double &value) {
  switch (c.t.image.type) {
  case ChannelType::u8:
    value = bits = at<uint8_t>(p);
    break;
  case ChannelType::u16:
    value = bits = at<uint16_t>(p);
    break;
  case ChannelType::u32:
    value = bits = at<uint32_t>(p);
    break;
  case ChannelType::s8:
    bits = static_cast<uint32_t>(at<int8_t>(p));
    value = at<int8_t>(p);
    break;
  case ChannelType::s16:
    bits = static_cast<uint32_t>(at<int16_t>(p));
    value = at<int16_t>(p);
    break;
  case ChannelType::s32:
    bits = at<uint32_t>(p);
    value = at<int32_t>(p);
    break;
  case ChannelType::f16:
    value = halfValue(at<uint16_t>(p));
    bits = bitsOf(static_cast<float>(value));
    break;
  case ChannelType::f32:
    value = at<float>(p);
    bits = at<uint32_t>(p);
    break;
  }
  if (c.t.read.isNormalizedFloat)
    value = std::max(value / scaleOf(c), -1.0);
  if (c.t.read.isSrgb && channel < 3)
    value = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

struct Texel {
  double value[4] = {0, 0, 0, 1};
  uint32_t bits[4] = {0, 0, 0, 1};
};

Texel texelAt(const Case &c, const rt::ImageLevel &level, const Index *index, int64_t layer) {
  const rt::Image &image = c.t.image;
  bool isBorder = false;
  for (int d = 0; d < c.dimensions(); ++d)
    isBorder |= index[d].isBorder;
  const int64_t sample =
      image.samples > 1 ? std::min<int64_t>(c.in[abi::kRowSample], image.samples - 1) : 0;
  const int64_t z = c.dimensions() == 3 ? index[2].i : layer;
  const int64_t y = c.dimensions() >= 2 ? index[1].i : 0;
  const char *p = image.base + level.offset + uint64_t(z) * level.slice +
                  uint64_t(y) * level.pitch +
                  uint64_t(index[0].i * image.samples + sample) * image.texelBytes();
  Texel texel;
  for (uint32_t ch = 0; ch < image.channels; ++ch) {
    readChannel(c, p + ch * rt::bytesOf(image.type), ch, texel.bits[ch], texel.value[ch]);
    if (isBorder) {
      const double color = image.shape == rt::ImageShape::linear ? 0.0 : double(c.s.border[ch]);
      texel.value[ch] = color;
      texel.bits[ch] = static_cast<uint32_t>(static_cast<int32_t>(color));
    }
    if (c.op.hasCompare)
      texel.value[ch] = double(c.f(abi::kRowCompare)) <= texel.value[ch] ? 1 : 0;
  }
  return texel;
}

/// Where a coordinate falls: the texel of nearest filtering; or of linear filtering the lower one
/// with the weight of the upper.
void locate(const Case &c, double x, int d, int64_t n, bool isLinear, AddressMode mode,
            Index *index, double &weight) {
  int64_t offset = 0;
  if (c.op.hasOffsets) {
    const uint32_t field = c.in[abi::kRowOffsets] >> (4 * d) & 15;
    offset = field < 8 ? field : int64_t(field) - 16;
  }
  if (!c.isNormalized && (mode == AddressMode::wrap || mode == AddressMode::mirror))
    mode = AddressMode::clamp;
  if (c.isNormalized) {
    if (mode == AddressMode::wrap)
      x -= std::floor(x);
    if (mode == AddressMode::mirror)
      x = std::fmod(std::floor(x), 2) == 0 ? x - std::floor(x) : 1 - (x - std::floor(x));
    x *= double(n);
  }
  weight = 0;
  if (!isLinear) {
    index[0] = address(int64_t(std::floor(x)) + offset, n, mode);
    return;
  }
  const double below = std::floor((x - 0.5) * 256 + 0.5); // 8 bits of fraction
  const int64_t first = int64_t(std::floor(below / 256));
  weight = below / 256 - double(first);
  index[0] = address(first + offset, n, mode);
  index[1] = address(first + 1 + offset, n, mode);
}

/// Direction to face and place (the guide's table of cubemap faces).
int projectFace(const Case &c, double *place) {
  const double x = c.f(abi::kRowX), y = c.f(abi::kRowX + 1), z = c.f(abi::kRowX + 2);
  const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  int face;
  double m, s, t;
  if (az >= ax && az >= ay)
    face = z < 0 ? 5 : 4, m = az, s = z < 0 ? -x : x, t = -y;
  else if (ay >= ax)
    face = y < 0 ? 3 : 2, m = ay, s = x, t = y < 0 ? -z : z;
  else
    face = x < 0 ? 1 : 0, m = ax, s = x < 0 ? z : -z, t = -y;
  place[0] = (s / m + 1) / 2;
  place[1] = (t / m + 1) / 2;
  return face;
}

struct Located {
  Index index[3][2];
  double weight[3];
  int64_t layer = 0;
};

Located locateAll(const Case &c, const rt::ImageLevel &level, bool isLinear) {
  Located l;
  const int64_t size[3] = {level.width, level.height, level.depth};
  double place[3] = {};
  const bool hasLayer =
      c.op.geometry == TextureGeometry::a1 || c.op.geometry == TextureGeometry::a2 ||
      c.op.geometry == TextureGeometry::acube || c.op.geometry == TextureGeometry::ams;
  const int64_t count = c.t.image.layers / (c.isCube() ? 6 : 1);
  if (hasLayer)
    l.layer = std::min<int64_t>(c.in[abi::kRowLayer], count - 1);
  if (c.isCube())
    l.layer = l.layer * 6 + projectFace(c, place);
  for (int d = 0; d < c.dimensions(); ++d) {
    const AddressMode mode =
        c.t.image.shape == rt::ImageShape::linear ? AddressMode::border : c.s.address[d];
    double x = c.isCube() ? place[d] : double(c.f(abi::kRowX + d));
    if (c.isCube() && !c.isNormalized)
      x *= double(size[d]);
    if (c.op.hasIntegerCoordinates) {
      Case whole = c;
      whole.isNormalized = false;
      AddressMode kept =
          c.isNormalized || (mode != AddressMode::wrap && mode != AddressMode::mirror)
              ? mode
              : AddressMode::clamp;
      int64_t i = c.i(abi::kRowX + d);
      if (c.op.hasOffsets) {
        const uint32_t field = c.in[abi::kRowOffsets] >> (4 * d) & 15;
        i += field < 8 ? field : int64_t(field) - 16;
      }
      l.index[d][0] = address(i, size[d], kept);
      l.weight[d] = 0;
      continue;
    }
    locate(c, x, d, size[d], isLinear, mode, l.index[d], l.weight[d]);
  }
  return l;
}

Texel sampleLevel(const Case &c, const rt::ImageLevel &level) {
  const Located l = locateAll(c, level, c.isLinear);
  Texel sum;
  for (double &v : sum.value)
    v = 0;
  const int corners = c.isLinear ? 1 << c.dimensions() : 1;
  for (int corner = 0; corner < corners; ++corner) {
    Index index[3];
    double weight = 1;
    for (int d = 0; d < c.dimensions(); ++d) {
      const int which = corner >> d & 1;
      index[d] = l.index[d][which];
      if (c.isLinear)
        weight *= which ? l.weight[d] : 1 - l.weight[d];
    }
    const Texel texel = texelAt(c, level, index, l.layer);
    for (int ch = 0; ch < 4; ++ch) {
      sum.value[ch] += weight * texel.value[ch];
      sum.bits[ch] = texel.bits[ch];
    }
  }
  return sum;
}

/// The four texels counter-clockwise from the lower left, one component.
Fetched gatherFour(const Case &c) {
  const rt::ImageLevel &level = c.t.image.level[0];
  const Located l = locateAll(c, level, true);
  const int corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  Fetched result;
  result.isInteger = c.isInteger;
  for (int k = 0; k < 4; ++k) {
    const Index index[2] = {l.index[0][corners[k][0]], l.index[1][corners[k][1]]};
    const Texel texel = texelAt(c, level, index, l.layer);
    result.value[k] = texel.value[c.op.component];
    result.bits[k] = texel.bits[c.op.component];
  }
  return result;
}

double levelOfDetail(const Case &c) {
  if (c.op.level == abi::TextureLevel::given)
    return c.op.hasIntegerCoordinates ? double(c.i(abi::kRowLevel)) : double(c.f(abi::kRowLevel));
  const rt::ImageLevel &base = c.t.image.level[0];
  const double size[3] = {double(base.width), double(base.height), double(base.depth)};
  double longest = 0;
  for (uint32_t row : {abi::kRowDx, abi::kRowDy}) {
    double d[3] = {c.f(row), c.f(row + 1), c.f(row + 2)}, square = 0;
    if (c.isCube()) { // by differences, in double
      constexpr double kStep = 1e-6;
      const double at[3] = {c.f(abi::kRowX), c.f(abi::kRowX + 1), c.f(abi::kRowX + 2)};
      const double ax = std::fabs(at[0]), ay = std::fabs(at[1]), az = std::fabs(at[2]);
      const int major = az >= ax && az >= ay ? 2 : ay >= ax ? 1 : 0;
      const int minor[2] = {major == 0 ? 2 : 0, major == 1 ? 2 : 1};
      for (int k = 0; k < 2; ++k) {
        const auto place = [&](double step) {
          return (at[minor[k]] + step * d[minor[k]]) / std::fabs(at[major] + step * d[major]) / 2;
        };
        const double change = (place(kStep) - place(-kStep)) / (2 * kStep) * size[k];
        square += change * change;
      }
    } else {
      for (int k = 0; k < c.dimensions(); ++k) {
        const double change = c.isNormalized ? d[k] * size[k] : d[k];
        square += change * change;
      }
    }
    longest = std::max(longest, std::sqrt(square));
  }
  return longest > 0 ? std::log2(longest) : -100;
}

Texel sampleMipmap(const Case &c) {
  const rt::Image &image = c.t.image;
  // The bias is for fetches that ask for a level, the range for all.
  const double asked =
      c.op.level == abi::TextureLevel::base ? 0 : levelOfDetail(c) + double(c.s.bias);
  const double lod =
      std::clamp(asked, double(c.s.minLevel), std::max(double(c.s.maxLevel), double(c.s.minLevel)));
  const int last = int(image.levels) - 1;
  if (!c.s.isMipLinear || c.isInteger)
    return sampleLevel(c, image.level[std::clamp(int(std::floor(lod + 0.5)), 0, last)]);
  // What is meant to be on a step may be below it by what differences leave.
  const double steps = std::floor(lod * 256 + 0x1p-10);
  const double fixed = std::clamp(steps / 256, 0.0, double(last));
  const int first = int(fixed), second = std::min(first + 1, last);
  const double weight = fixed - first;
  Texel a = sampleLevel(c, image.level[first]);
  const Texel b = sampleLevel(c, image.level[second]);
  for (int ch = 0; ch < 4; ++ch)
    a.value[ch] = (1 - weight) * a.value[ch] + weight * b.value[ch];
  return a;
}

} // namespace

Fetched model(const rt::Texture &t, const rt::Sampler &s, const abi::TextureOperation &op,
              const Operands &in) {
  const bool isInteger = !rt::isFloat(t.image.type) && !t.read.isNormalizedFloat;
  const Case c{t,
               s,
               op,
               in,
               s.isNormalized && !s.forcesUnnormalized,
               isInteger,
               s.isLinear && !op.hasIntegerCoordinates && !isInteger};
  if (op.action == TextureAction::gather)
    return gatherFour(c);
  const Texel texel = t.image.levels == 1 ? sampleLevel(c, t.image.level[0]) : sampleMipmap(c);
  Fetched result;
  result.isInteger = isInteger;
  for (int ch = 0; ch < 4; ++ch) {
    result.value[ch] = texel.value[ch];
    result.bits[ch] = texel.bits[ch];
  }
  return result;
}

} // namespace ptxrun::texture_test
