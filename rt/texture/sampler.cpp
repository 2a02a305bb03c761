// The sampler. Compiled once for each CPU level, with PTXRUN_SAMPLE naming the function.
#include "rt/texture/flat.h"
#include "rt/texture/lod.h"
#include "rt/texture/sample.h"

namespace ptxrun::rt {
namespace {

/// Reads the operands: layer, sample and coordinates; of cubes, the place on the face.
template <int N, class Offset>
void readCoordinates(Lanes<N, Offset> &r, int dimensions, Floats<N> *direction) {
  const TextureGeometry g = r.op.geometry;
  const bool isCube = g == TextureGeometry::cube || g == TextureGeometry::acube;
  if (g == TextureGeometry::a1 || g == TextureGeometry::a2 || g == TextureGeometry::acube ||
      g == TextureGeometry::ams) {
    const uint32_t count = isCube ? r.t.image.layers / 6 : r.t.image.layers;
    Ints<N> layer = loadRow<N>(r.call, abi::kRowLayer, r.lane);
    const Ints<N> last = Ints<N>(int32_t(count) - 1);
    r.layer = ((layer < 0) | (layer > last)) ? last : layer; // unsigned
  }
  if (isCube) {
    for (int k = 0; k < 3; ++k)
      direction[k] = loadFloats<N>(r.call, abi::kRowX + k, r.lane);
    const CubePlace<N> place = projectOnCube<N>(direction[0], direction[1], direction[2]);
    r.face = place.face;
    r.layer = r.layer * 6 + place.face;
    r.coordinate[0] = place.s, r.coordinate[1] = place.t;
    if (!r.isNormalized) { // a direction has no unit
      r.coordinate[0] *= float(r.t.image.level[0].width);
      r.coordinate[1] *= float(r.t.image.level[0].height);
    }
    return;
  }
  for (int d = 0; d < dimensions; ++d) {
    const Ints<N> row = loadRow<N>(r.call, abi::kRowX + d, r.lane);
    r.texel[d] = row;
    r.coordinate[d] = asFloats<N>(row);
  }
  if (g == TextureGeometry::ms || g == TextureGeometry::ams) {
    const Ints<N> sample = loadRow<N>(r.call, abi::kRowSample, r.lane);
    const Ints<N> last = Ints<N>(int32_t(r.t.image.samples) - 1);
    r.sample = ((sample < 0) | (sample > last)) ? last : sample;
  }
}

template <int N, class Offset> void readExtras(Lanes<N, Offset> &r) {
  if (r.op.hasOffsets) {
    const Ints<N> packed = loadRow<N>(r.call, abi::kRowOffsets, r.lane);
    for (int d = 0; d < 3; ++d) // each field with its sign
      r.offset[d] = packed << (32 - abi::kOffsetBits * (d + 1)) >> (32 - abi::kOffsetBits);
  }
  if (r.op.hasCompare)
    r.compare = loadFloats<N>(r.call, abi::kRowCompare, r.lane);
  r.hasBorder = r.t.image.shape == ImageShape::linear;
  for (AddressMode mode : r.s.address)
    r.hasBorder |= mode == AddressMode::border;
}

/// Fractions of what was fetched as integers, and the channels that the texture has not: 0, 0, 1.
template <int N, class Offset> void finish(const Lanes<N, Offset> &r, Texel<N> &v) {
  const bool isGather = r.op.action == TextureAction::gather;
  const uint32_t channels = r.t.image.channels;
  const auto missing = [&](uint32_t c) {
    const Ints<N> one = r.t.isInteger() ? Ints<N>(1) : asInts<N>(Floats<N>(1.0f));
    return c == 3 ? asFloats<N>(one) : Floats<N>(0.0f);
  };
  for (uint32_t k = 0; k < 4; ++k) {
    const uint32_t c = isGather ? r.op.component : k;
    if (c >= channels)
      v.channel[k] = missing(c);
    else if (r.scale != 1)
      v.channel[k] = v.channel[k] / r.scale;
    memcpy(r.call.out + k * r.call.lanes + r.lane, &v.channel[k], 4 * N);
  }
}

template <int N, int dimensions, class Offset>
void sampleMipmap(const Lanes<N, Offset> &r, const Floats<N> *direction, Texel<N> &v) {
  const LevelChoice<N> choice = chooseLevel<N, Offset>(r, dimensions, direction);
  sampleLevel<N, dimensions, Offset>(r, placesOf<N, Offset>(r.t.image, choice.first), v);
  if (!anyOf<N>(choice.weight > 0.0f))
    return;
  Texel<N> other;
  sampleLevel<N, dimensions, Offset>(r, placesOf<N, Offset>(r.t.image, choice.second), other);
  for (uint32_t c = 0; c < r.t.image.channels; ++c)
    v.channel[c] = (1.0f - choice.weight) * v.channel[c] + choice.weight * other.channel[c];
}

template <int N, int dimensions, class Offset>
void sampleLanes(const SampleCall &call, uint32_t lane) {
  Lanes<N, Offset> r{call, lane};
  Floats<N> direction[3];
  readCoordinates<N, Offset>(r, dimensions, direction);
  readExtras<N, Offset>(r);
  Texel<N> v;
  if constexpr (dimensions == 2) {
    if (r.op.action == TextureAction::gather) {
      r.isLinear = true;
      gatherLevel<N, Offset>(r, placeOf<N, Offset>(r.t.image, 0), v);
      return finish<N, Offset>(r, v);
    }
  }
  if (staysAtBase(r.op, r.t.image, r.s))
    sampleLevel<N, dimensions, Offset>(r, placeOf<N, Offset>(r.t.image, 0), v);
  else
    sampleMipmap<N, dimensions, Offset>(r, direction, v);
  finish<N, Offset>(r, v);
}

template <int N, class Offset> void sampleDimensions(const SampleCall &call, uint32_t lane) {
  switch (call.operation.geometry) {
  case TextureGeometry::d1:
  case TextureGeometry::a1:
    return sampleLanes<N, 1, Offset>(call, lane);
  case TextureGeometry::d3:
    return sampleLanes<N, 3, Offset>(call, lane);
  default:
    return sampleLanes<N, 2, Offset>(call, lane);
  }
}

using Fetch = void (*)(const SampleCall &, uint32_t lane);

template <int N, int dimensions, class Format> Fetch flatOf(const SampleCall &call) {
  if constexpr (Format::kIsFiltered)
    if (call.sampler->isLinear)
      return sampleFlat<N, dimensions, Format, true>;
  return sampleFlat<N, dimensions, Format, false>;
}

template <int N, class Format> Fetch fetchOf(const SampleCall &call) {
  if (isElementFetch(call))
    return sampleElements<N, Format>;
  switch (flatDimensions(call)) {
  case 1:
    return flatOf<N, 1, Format>(call);
  case 2:
    return flatOf<N, 2, Format>(call);
  case 3:
    return flatOf<N, 3, Format>(call);
  default:
    return sampleDimensions<N, Ints<N>>;
  }
}

/// The function for N lanes of such a call.
template <int N> Fetch chooseFetch(const SampleCall &call) {
  const Image &image = call.texture->image;
  if (image.bytes >> 31)
    return sampleDimensions<N, Longs<N>>;
  const uint32_t channels = image.channels;
  const bool isByte = image.type == ChannelType::u8 && !call.texture->read.isSrgb;
  const bool isFraction = call.texture->read.isNormalizedFloat;
  if (image.type == ChannelType::f32 && channels == 1)
    return fetchOf<N, FloatFormat<1>>(call);
  if (image.type == ChannelType::f32 && channels == 2)
    return fetchOf<N, FloatFormat<2>>(call);
  if (image.type == ChannelType::f32 && channels == 4)
    return fetchOf<N, FloatFormat<4>>(call);
  if (isByte && isFraction && channels == 1)
    return fetchOf<N, ByteFormat<1>>(call);
  if (isByte && isFraction && channels == 4)
    return fetchOf<N, ByteFormat<4>>(call);
  if (isByte && !isFraction && channels == 4)
    return fetchOf<N, ByteElements>(call);
  if (image.type == ChannelType::u32 || image.type == ChannelType::s32)
    if (channels == 4)
      return fetchOf<N, WordElements>(call);
  return sampleDimensions<N, Ints<N>>;
}

} // namespace

void PTXRUN_SAMPLE(const SampleCall &call) {
  if (call.lanes == 1)
    return chooseFetch<1>(call)(call, 0);
  const Fetch fetch = chooseFetch<8>(call);
  for (uint32_t lane = 0; lane < call.lanes; lane += 8)
    fetch(call, lane);
}

} // namespace ptxrun::rt
