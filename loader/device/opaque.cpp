#include "loader/device/opaque.h"

#include <cstring>

#include "rt/texture/registry.h"

namespace ptxrun::device {

namespace {

constexpr uint64_t kHandleBytes = 8;

rt::AddressMode addressMode(std::string_view word) {
  return word == "wrap"              ? rt::AddressMode::wrap
         : word == "mirror"          ? rt::AddressMode::mirror
         : word == "clamp_to_border" ? rt::AddressMode::border
                                     : rt::AddressMode::clamp;
}

/// What the initial value says of the sampler. Sizes and formats come from what is bound.
void initialise(rt::Sampler &sampler, const check::OpaqueField &field) {
  constexpr std::string_view kModes[] = {"addr_mode_0", "addr_mode_1", "addr_mode_2"};
  for (int d = 0; d < 3; ++d)
    if (field.name == kModes[d])
      sampler.address[d] = addressMode(field.word);
  if (field.name == "filter_mode")
    sampler.isLinear = field.word == "linear";
  else if (field.name == "normalized_coords")
    sampler.isNormalized = field.number != 0;
  else if (field.name == "force_unnormalized_coords")
    sampler.forcesUnnormalized = field.number != 0;
}

} // namespace

abi::ImageKind imageKindOf(const check::Variable &variable) {
  switch (variable.type) {
  case isa::Type::texref:
    return abi::ImageKind::texture;
  case isa::Type::samplerref:
    return abi::ImageKind::sampler;
  case isa::Type::surfref:
    return abi::ImageKind::surface;
  default:
    return abi::ImageKind::none;
  }
}

uint64_t placeOpaqueVariable(const check::Variable &variable, void *address) {
  uint64_t first = 0;
  for (uint64_t at = 0; at + kHandleBytes <= variable.bytes; at += kHandleBytes) {
    char *place = static_cast<char *>(address) + at;
    rt::ImageRecord *record = rt::createImage(imageKindOf(variable));
    if (!record)
      return 0;
    for (const check::OpaqueField &field : variable.fields)
      initialise(record->texture.sampler, field);
    record->isBound = record->kind == abi::ImageKind::sampler;
    std::memcpy(place, &record->handle, kHandleBytes);
    rt::addOpaqueVariable(place, record);
    first = first ? first : record->handle;
  }
  return first;
}

void removeOpaqueVariable(const check::Variable &variable, void *address) {
  for (uint64_t at = 0; at + kHandleBytes <= variable.bytes; at += kHandleBytes) {
    const char *place = static_cast<char *>(address) + at;
    uint64_t handle = 0;
    std::memcpy(&handle, place, kHandleBytes);
    rt::removeOpaqueVariable(place);
    rt::destroyImage(handle, imageKindOf(variable));
  }
}

} // namespace ptxrun::device
