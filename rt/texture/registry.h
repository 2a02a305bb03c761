// Handles of textures, samplers and surfaces: which records they name. A handle is never more than
// 32 bits and never that of an opaque variable's address; looking one up takes no lock.
#pragma once
#include <functional>
#include <vector>

#include "rt/texture/texture.h"

namespace ptxrun::rt {

struct ImageRecord {
  uint64_t handle = 0; ///< 0: not in use
  abi::ImageKind kind = abi::ImageKind::none;
  bool isBound = false; ///< a reference that nobody has given memory to is not
  Texture texture;      ///< surfaces use the image alone, samplers the sampler
};

/// A new record, in use until destroyImage. Null when there are too many (a million). Records
/// never move; the caller sees to it that no kernel uses one that it changes.
ImageRecord *createImage(abi::ImageKind);
/// A record that has the given handle; one with the same number, but used before, is no more.
/// Null where the handle is in use, or no handle is made so.
ImageRecord *createImageAt(uint64_t handle, abi::ImageKind);
/// The next records that createImage makes on this thread have these handles, in this order, for as
/// long as there are any and they are free. Empty: as always.
void placeNextImages(std::vector<uint64_t> handles);
/// Every record in use, by rising numbers. None is made or destroyed meanwhile.
void eachImage(const std::function<void(const ImageRecord &)> &);
/// False where there is none of this kind.
bool destroyImage(uint64_t handle, abi::ImageKind);
/// Null where the handle names nothing.
ImageRecord *findImage(uint64_t handle);

/// The opaque variable (`.texref` and so on) at an address of device memory stands for a record.
void addOpaqueVariable(const void *variable, ImageRecord *);
void removeOpaqueVariable(const void *variable);
/// Null where no opaque variable is.
ImageRecord *findOpaqueVariable(uint64_t address);

} // namespace ptxrun::rt
