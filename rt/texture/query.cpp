// txq and suq (PTX ISA 9.7.10.5, 9.7.11.4). Channel data types and orders are numbered as in tables
// 12 and 13, the only source language the manual has numbers of.
#include <algorithm>

#include "rt/texture/surface.h"

namespace ptxrun::rt {

namespace {

using abi::TextureQuery;

uint32_t channelDataType(const Texture &t) {
  const bool isFraction = t.read.isNormalizedFloat;
  switch (t.image.type) {
  case ChannelType::s8:
    return isFraction ? 0x10d0 : 0x10d7;
  case ChannelType::s16:
    return isFraction ? 0x10d1 : 0x10d8;
  case ChannelType::s32:
    return 0x10d9;
  case ChannelType::u8:
    return isFraction ? 0x10d2 : 0x10da;
  case ChannelType::u16:
    return isFraction ? 0x10d3 : 0x10db;
  case ChannelType::u32:
    return 0x10dc;
  case ChannelType::f16:
    return 0x10dd;
  case ChannelType::f32:
    return 0x10de;
  }
  return 0;
}

/// CL_R, CL_RG, CL_RGBA.
uint32_t channelOrder(const Image &image) {
  return image.channels == 1 ? 0x10b0 : image.channels == 2 ? 0x10b2 : 0x10b5;
}

/// In the manual's order: wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border.
uint32_t addressMode(AddressMode mode) {
  switch (mode) {
  case AddressMode::wrap:
    return 0;
  case AddressMode::mirror:
    return 1;
  case AddressMode::clamp:
    return 3;
  case AddressMode::border:
    return 4;
  }
  return 0;
}

} // namespace

uint32_t queryImage(const ImageRecord &record, const abi::TextureOperation &op, uint32_t number) {
  const Texture &t = record.texture;
  const ImageLevel &level = t.image.level[op.hasLevel ? std::min(number, t.image.levels - 1) : 0];
  switch (op.query) {
  case TextureQuery::width:
    return level.width;
  case TextureQuery::height:
    return level.height;
  case TextureQuery::depth:
    return level.depth;
  case TextureQuery::channelDataType:
    return channelDataType(t);
  case TextureQuery::channelOrder:
    return channelOrder(t.image);
  case TextureQuery::arraySize:
    return t.image.isLayered ? t.image.layers / (t.image.isCube ? 6 : 1) : 0;
  case TextureQuery::levels:
    return t.image.levels > 1 ? t.image.levels : 0;
  case TextureQuery::samples:
    return t.image.samples > 1 ? t.image.samples : 0;
  case TextureQuery::memoryLayout:
    return t.image.shape == ImageShape::linear || t.image.isPitched;
  case TextureQuery::normalizedCoords:
    return t.sampler.isNormalized;
  case TextureQuery::forceUnnormalizedCoords:
    return t.sampler.forcesUnnormalized;
  case TextureQuery::filterMode:
    return t.sampler.isLinear;
  case TextureQuery::addressMode0:
    return addressMode(t.sampler.address[0]);
  case TextureQuery::addressMode1:
    return addressMode(t.sampler.address[1]);
  case TextureQuery::addressMode2:
    return addressMode(t.sampler.address[2]);
  }
  return 0;
}

} // namespace ptxrun::rt
