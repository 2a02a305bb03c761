// Entry points of texture and surface instructions: from handles to records, errors by name, lanes
// with different handles one handle after the other.
#include <cstdio>
#include <cstring>

#include "rt/launch/failure.h"
#include "rt/launch/worker.h"
#include "rt/texture/kernels.h"
#include "rt/texture/surface.h"

namespace ptxrun::rt {

namespace {

using abi::ImageKind;
using abi::TextureAction;
using abi::TextureOperation;

/// One instruction of a gang.
struct Call {
  GangState &g;
  TextureOperation op;
  uint32_t lanes;
  const uint32_t *in;
  uint32_t *out;
  void (*sample)(const SampleCall &);
};

const char *nameOf(TextureAction action) {
  switch (action) {
  case TextureAction::sample:
    return "tex";
  case TextureAction::gather:
    return "tld4";
  case TextureAction::load:
    return "suld";
  case TextureAction::store:
  case TextureAction::storeTexel:
    return "sust";
  case TextureAction::reduce:
  case TextureAction::reduceTexel:
    return "sured";
  case TextureAction::query:
    return "query of a texture or surface";
  }
  return "texture instruction";
}

const char *nameOf(abi::TextureGeometry geometry) {
  static constexpr const char *kNames[] = {"1d",   "2d",    "3d",   "a1d",  "a2d",
                                           "cube", "acube", "2dms", "a2dms"};
  return kNames[static_cast<size_t>(geometry)];
}

std::string hex(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

[[noreturn]] void fail(const Call &c, Status status, const char *what, uint64_t handle,
                       const char *more = "") {
  recordFailure(c.g, status,
                std::string(nameOf(c.op.action)) + ": " + what + " " + hex(handle) + more + " in " +
                    describeGang(c.g));
  leaveKernel(c.g);
}

[[noreturn]] void failGeometry(const Call &c, uint64_t handle) {
  recordFailure(c.g, Status::undefinedUse,
                std::string(nameOf(c.op.action)) + "." + nameOf(c.op.geometry) +
                    ": the geometry is not that of the image behind handle " + hex(handle) +
                    " in " + describeGang(c.g));
  leaveKernel(c.g);
}

[[noreturn]] void failBounds(const Call &c, const ImageRecord &record, uint32_t lane) {
  const ImageLevel &level = record.texture.image.level[0];
  const auto at = [&](uint32_t row) {
    return std::to_string(static_cast<int32_t>(c.in[row * c.lanes + lane]));
  };
  const bool hasY =
      c.op.geometry != abi::TextureGeometry::d1 && c.op.geometry != abi::TextureGeometry::a1;
  c.g.gang.firstThread += lane; // the report names the one thread
  c.g.gang.laneCount = 1;
  recordFailure(c.g, Status::trap,
                std::string(nameOf(c.op.action)) + ".trap: coordinates " + at(abi::kRowX) +
                    (hasY ? ", " + at(abi::kRowX + 1) : "") + " are outside of the surface of " +
                    std::to_string(level.width) + " x " + std::to_string(level.height) +
                    " elements of " + std::to_string(record.texture.image.texelBytes()) +
                    " bytes in " + describeGang(c.g));
  leaveKernel(c.g);
}

/// The record behind a handle or the address of an opaque variable.
const ImageRecord &recordOf(const Call &c, uint64_t handle, ImageKind wanted, ImageKind orElse) {
  const ImageRecord *record = handle >> 32 ? findOpaqueVariable(handle) : findImage(handle);
  if (!record)
    fail(c, Status::undefinedUse, "there is no texture, sampler or surface with handle", handle);
  if (record->kind != wanted && record->kind != orElse)
    fail(c, Status::undefinedUse,
         wanted == ImageKind::surface   ? "a surface is wanted; something else has handle"
         : wanted == ImageKind::sampler ? "a sampler is wanted; something else has handle"
                                        : "a texture is wanted; something else has handle",
         handle);
  if (!record->isBound)
    fail(c, Status::undefinedUse, "nothing is bound to the reference with handle", handle);
  return *record;
}

void sampleLanes(const Call &c, uint64_t texture, uint64_t sampler) {
  const ImageRecord &record = recordOf(c, texture, ImageKind::texture, ImageKind::texture);
  if (!fits(c.op.geometry, record.texture.image))
    failGeometry(c, texture);
  SampleCall call{&record.texture, &record.texture.sampler, c.op, c.lanes, c.in, c.out};
  Sampler own;
  if (c.op.hasSampler) {
    // The texture says whether coordinates are normalised (5.3, table 11).
    own = recordOf(c, sampler, ImageKind::sampler, ImageKind::texture).texture.sampler;
    own.isNormalized = record.texture.sampler.isNormalized;
    call.sampler = &own;
  }
  GuestAccess access(*groupOf(c.g).worker);
  c.sample(call);
}

void accessLanes(const Call &c, uint64_t handle, uint32_t mask) {
  const ImageRecord &record = recordOf(c, handle, ImageKind::surface, ImageKind::surface);
  if (!fits(c.op.geometry, record.texture.image))
    failGeometry(c, handle);
  uint32_t trapped = ~0u;
  {
    GuestAccess access(*groupOf(c.g).worker);
    for (uint32_t left = mask; left && trapped == ~0u; left &= left - 1) {
      const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
      if (!accessSurface(record.texture, c.op, {c.lanes, lane, c.in, c.out}))
        trapped = lane;
    }
  }
  if (trapped != ~0u)
    failBounds(c, record, trapped);
}

void queryLanes(const Call &c, uint64_t handle, uint32_t mask) {
  const ImageRecord *record = handle >> 32 ? findOpaqueVariable(handle) : findImage(handle);
  if (!record)
    fail(c, Status::undefinedUse, "there is no texture, sampler or surface with handle", handle);
  for (uint32_t left = mask; left; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    c.out[lane] =
        queryImage(*record, c.op, c.op.hasLevel ? c.in[abi::kRowLevel * c.lanes + lane] : 0);
  }
}

/// The lanes of `mask`, which have one texture and one sampler. What lanes outside of the mask find
/// in their results may change.
void serveGroup(const Call &c, uint64_t texture, uint64_t sampler, uint32_t mask) {
  switch (c.op.action) {
  case TextureAction::sample:
  case TextureAction::gather:
    return sampleLanes(c, texture, sampler);
  case TextureAction::query:
    return queryLanes(c, texture, mask);
  default:
    return accessLanes(c, texture, mask);
  }
}

void serve(abi::Gang *gang, uint32_t mask, uint32_t operation, uint32_t lanes,
           const uint64_t *textures, const uint64_t *samplers, const uint32_t *in, uint32_t *out,
           void (*sample)(const SampleCall &)) {
  Call c{stateOf(gang), TextureOperation::unpack(operation), lanes, in, out, sample};
  const bool texturesVary = operation & abi::kTexturesVary;
  const bool samplersVary = operation & abi::kSamplersVary;
  if (!texturesVary && !samplersVary)
    return serveGroup(c, *textures, *samplers, mask);
  uint32_t rows[abi::kTextureResults * abi::kWarpSize];
  c.out = rows;
  for (uint32_t left = mask; left;) {
    const auto first = static_cast<uint32_t>(__builtin_ctz(left));
    const uint64_t texture = textures[texturesVary ? first : 0];
    const uint64_t sampler = samplers[samplersVary ? first : 0];
    uint32_t group = 0;
    for (uint32_t l = first; l < lanes; ++l)
      if (left >> l & 1 && textures[texturesVary ? l : 0] == texture &&
          samplers[samplersVary ? l : 0] == sampler)
        group |= 1u << l;
    serveGroup(c, texture, sampler, group);
    for (uint32_t row = 0; row < abi::kTextureResults; ++row)
      for (uint32_t some = group; some; some &= some - 1) {
        const auto at = row * lanes + static_cast<uint32_t>(__builtin_ctz(some));
        out[at] = rows[at];
      }
    left &= ~group;
  }
}

} // namespace
} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

void ptxrun_texture_sse4(abi::Gang *gang, uint32_t mask, uint32_t operation, uint32_t lanes,
                         const uint64_t *textures, const uint64_t *samplers, const uint32_t *in,
                         uint32_t *out) {
  serve(gang, mask, operation, lanes, textures, samplers, in, out, sampleOnSse4);
}
void ptxrun_texture_avx2(abi::Gang *gang, uint32_t mask, uint32_t operation, uint32_t lanes,
                         const uint64_t *textures, const uint64_t *samplers, const uint32_t *in,
                         uint32_t *out) {
  serve(gang, mask, operation, lanes, textures, samplers, in, out, sampleOnAvx2);
}
void ptxrun_texture_avx512(abi::Gang *gang, uint32_t mask, uint32_t operation, uint32_t lanes,
                           const uint64_t *textures, const uint64_t *samplers, const uint32_t *in,
                           uint32_t *out) {
  serve(gang, mask, operation, lanes, textures, samplers, in, out, sampleOnAvx512);
}

bool ptxrun_istypep(uint64_t handle, uint32_t kind) {
  const ImageRecord *record = handle >> 32 ? findOpaqueVariable(handle) : findImage(handle);
  return record && record->kind == static_cast<abi::ImageKind>(kind);
}
}
