// Textures and surfaces in recordings. Their memory is recorded as all memory is; what is said here
// is what is behind a handle.
#pragma once
#include <string>

#include "loader/capture/codec.h"
#include "rt/texture/registry.h"

namespace ptxrun::capture {

/// A texture or surface object that was made, or a reference of a module that was bound anew.
struct ImageEvent {
  uint64_t handle = 0;
  abi::ImageKind kind = abi::ImageKind::none;
  bool isBound = false;
  rt::Texture texture; ///< image.base is the address of the recorded program
};

/// Samplers have none, nor what nobody has given memory to.
inline bool hasImage(const ImageEvent &event) {
  return event.isBound && event.kind != abi::ImageKind::sampler;
}

std::string encode(const ImageEvent &);
/// Throws BadRecording, also where levels do not lie within the image's bytes: what is read can be
/// given to instructions, once there is memory at its address.
void decode(std::string_view, ImageEvent &);

} // namespace ptxrun::capture
