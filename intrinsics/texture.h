// What texture and surface instructions ask of the runtime (PTX ISA 9.7.10, 9.7.11), as one word.
// Generated code hands it to ptxrun_texture_* with rows of operands; lowering makes it, rt takes it
// apart.
#pragma once
#include <cstdint>

namespace ptxrun::abi {

enum class TextureAction : uint8_t {
  sample,      ///< tex
  gather,      ///< tld4
  load,        ///< suld.b
  store,       ///< sust.b
  storeTexel,  ///< sust.p
  reduce,      ///< sured.b
  reduceTexel, ///< sured.p
  query,       ///< txq, suq
};

/// .geom. a: array; ms: multi-sample.
enum class TextureGeometry : uint8_t { d1, d2, d3, a1, a2, cube, acube, ms, ams };

/// How the level of a mipmap is found: .base (or nothing), .level, .grad.
enum class TextureLevel : uint8_t { base, given, gradient };

/// .clamp of surface instructions.
enum class SurfaceBound : uint8_t { trap, clamp, zero };

enum class TextureQuery : uint8_t {
  width,
  height,
  depth,
  channelDataType,
  channelOrder,
  arraySize,
  levels,
  samples,
  memoryLayout,
  normalizedCoords,
  forceUnnormalizedCoords,
  filterMode,
  addressMode0,
  addressMode1,
  addressMode2,
};

/// Operands are rows of W 32-bit words, one per lane: which stands in which row.
enum TextureRow : uint32_t {
  kRowLayer = 0,    ///< index into an array, unsigned
  kRowX = 1,        ///< x, y, z in the next two; bytes or texels along x for surfaces
  kRowSample = 3,   ///< of multi-sample textures
  kRowLevel = 4,    ///< .level's lod (float, or signed where coordinates are), a query's lod
  kRowDx = 4,       ///< .grad's dPdx, three rows
  kRowDy = 7,       ///< .grad's dPdy, three rows
  kRowOffsets = 10, ///< of x, y, z in signed fields of kOffsetBits, lowest first
  kRowCompare = 11, ///< depth to compare with
  kRowData = 4,     ///< what a surface instruction stores: as many rows as it has 32-bit words
  kTextureRows = 12,
};
inline constexpr uint32_t kOffsetBits = 4;
/// Rows of results: the four elements of tex and tld4; the words that suld loads, low words first,
/// each value of 8 or 16 bits alone and zero-extended; a query's answer.
inline constexpr uint32_t kTextureResults = 4;

struct TextureOperation {
  TextureAction action = TextureAction::sample;
  TextureGeometry geometry = TextureGeometry::d2;
  TextureLevel level = TextureLevel::base;
  bool hasIntegerCoordinates = false; ///< .ctype .s32
  bool hasOffsets = false;
  bool hasCompare = false;
  bool hasSampler = false; ///< a sampler of its own (independent mode)
  uint8_t component = 0;   ///< tld4: .r .g .b .a
  TextureQuery query = TextureQuery::width;
  bool hasLevel = false; ///< txq.level
  SurfaceBound bound = SurfaceBound::trap;
  uint8_t bytes = 4;      ///< of one element that a surface instruction moves: 1, 2, 4 or 8
  uint8_t elements = 1;   ///< 1, 2 or 4
  uint8_t reduceOp = 0;   ///< ReduceOp
  uint8_t reduceSign = 0; ///< 1: signed

  /// Bits 0 to 27; the caller has those above for itself (kTexturesVary, kSamplersVary).
  constexpr uint32_t pack() const {
    uint32_t bits = uint32_t(action) | uint32_t(geometry) << 3 | uint32_t(hasOffsets) << 7;
    switch (action) {
    case TextureAction::sample:
    case TextureAction::gather:
      return bits | uint32_t(level) << 8 | uint32_t(hasIntegerCoordinates) << 10 |
             uint32_t(hasCompare) << 11 | uint32_t(hasSampler) << 12 | uint32_t(component) << 13;
    case TextureAction::query:
      return bits | uint32_t(query) << 8 | uint32_t(hasLevel) << 12;
    default:
      return bits | uint32_t(bound) << 8 | uint32_t(bytes) << 10 | uint32_t(elements) << 14 |
             uint32_t(reduceOp) << 17 | uint32_t(reduceSign) << 21;
    }
  }
  static constexpr TextureOperation unpack(uint32_t bits) {
    const auto field = [bits](uint32_t at, uint32_t width) {
      return bits >> at & ((1u << width) - 1);
    };
    TextureOperation o;
    o.action = TextureAction(field(0, 3));
    o.geometry = TextureGeometry(field(3, 4));
    o.hasOffsets = field(7, 1);
    switch (o.action) {
    case TextureAction::sample:
    case TextureAction::gather:
      o.level = TextureLevel(field(8, 2));
      o.hasIntegerCoordinates = field(10, 1);
      o.hasCompare = field(11, 1);
      o.hasSampler = field(12, 1);
      o.component = uint8_t(field(13, 2));
      break;
    case TextureAction::query:
      o.query = TextureQuery(field(8, 4));
      o.hasLevel = field(12, 1);
      break;
    default:
      o.bound = SurfaceBound(field(8, 2));
      o.bytes = uint8_t(field(10, 4));
      o.elements = uint8_t(field(14, 3));
      o.reduceOp = uint8_t(field(17, 4));
      o.reduceSign = uint8_t(field(21, 1));
      break;
    }
    return o;
  }
};

/// Beside the operation: the array of textures (samplers) has one handle per lane; else one for
/// all.
inline constexpr uint32_t kTexturesVary = 1u << 28, kSamplersVary = 1u << 29;

/// What a handle names, and what an opaque variable is (istypep).
enum class ImageKind : uint8_t { none, texture, sampler, surface };

} // namespace ptxrun::abi
