// Texture and surface objects.
#include <map>
#include <mutex>
#include <optional>

#include "loader/capture/recorder.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/texture.h"

using namespace ptxrun::driver;
namespace abi = ptxrun::abi;
namespace capture = ptxrun::capture;
namespace rt = ptxrun::rt;

namespace {

/// What an object was made of.
struct Description {
  CUDA_RESOURCE_DESC resource = {};
  CUDA_TEXTURE_DESC sampling = {};
  std::optional<CUDA_RESOURCE_VIEW_DESC> view;
  abi::ImageKind kind = abi::ImageKind::texture;
  const Context *owner = nullptr;
};

/// By handle. Never destroyed: programs destroy objects while the process ends.
struct Descriptions {
  std::mutex mutex;
  std::map<uint64_t, Description> byHandle;
};
Descriptions &descriptions() {
  static auto *instance = new Descriptions;
  return *instance;
}

CUresult publishImage(abi::ImageKind kind, const rt::Texture &texture, Description description,
                      unsigned long long *handle) {
  rt::ImageRecord *record = rt::createImage(kind);
  if (!record)
    return CUDA_ERROR_OUT_OF_MEMORY;
  record->texture = texture;
  record->isBound = true;
  Descriptions &all = descriptions();
  std::lock_guard lock(all.mutex);
  description.kind = kind;
  if (Context *context = currentContext())
    description.owner = &context->owner();
  all.byHandle[record->handle] = description;
  *handle = record->handle;
  if (auto *recorder = capture::Recorder::instance())
    recorder->noteImage(*record);
  return CUDA_SUCCESS;
}

void destroyRecord(uint64_t handle, abi::ImageKind kind) {
  if (auto *recorder = capture::Recorder::instance())
    recorder->forgetImage(handle);
  rt::destroyImage(handle, kind);
}

/// What still runs may use it.
CUresult destroyObject(unsigned long long handle, abi::ImageKind kind) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  const rt::ImageRecord *record = rt::findImage(handle);
  if (!record || record->kind != kind)
    return CUDA_ERROR_INVALID_VALUE;
  context->synchronise();
  Descriptions &all = descriptions();
  std::lock_guard lock(all.mutex);
  // An opaque variable's record is the module's.
  if (all.byHandle.erase(handle) == 0)
    return CUDA_ERROR_INVALID_VALUE;
  destroyRecord(handle, kind);
  return CUDA_SUCCESS;
}

template <class Out, class Read>
CUresult describe(Out *out, unsigned long long handle, abi::ImageKind kind, Read read) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  const rt::ImageRecord *record = rt::findImage(handle);
  Descriptions &all = descriptions();
  std::lock_guard lock(all.mutex);
  const auto found = all.byHandle.find(handle);
  if (!out || !record || record->kind != kind || found == all.byHandle.end())
    return CUDA_ERROR_INVALID_VALUE;
  return read(found->second);
}

} // namespace

void ptxrun::driver::releaseImagesOf(const Context &context) {
  Descriptions &all = descriptions();
  std::lock_guard lock(all.mutex);
  std::erase_if(all.byHandle, [&](const auto &entry) {
    const bool isOwned = entry.second.owner == &context;
    if (isOwned)
      destroyRecord(entry.first, entry.second.kind);
    return isOwned;
  });
}

PTXRUN_API CUresult cuTexObjectCreate(CUtexObject *handle, const CUDA_RESOURCE_DESC *resource,
                                      const CUDA_TEXTURE_DESC *sampling,
                                      const CUDA_RESOURCE_VIEW_DESC *view) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!handle || !resource || !sampling)
    return CUDA_ERROR_INVALID_VALUE;
  rt::Texture texture;
  PTXRUN_TRY(readTexture(*resource, *sampling, view, texture));
  Description description{*resource, *sampling, {}};
  if (view)
    description.view = *view;
  return publishImage(abi::ImageKind::texture, texture, description, handle);
}

PTXRUN_API CUresult cuTexObjectDestroy(CUtexObject handle) {
  return destroyObject(handle, abi::ImageKind::texture);
}

PTXRUN_API CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *out, CUtexObject handle) {
  return describe(out, handle, abi::ImageKind::texture, [&](const Description &d) {
    *out = d.resource;
    return CUDA_SUCCESS;
  });
}

PTXRUN_API CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *out, CUtexObject handle) {
  return describe(out, handle, abi::ImageKind::texture, [&](const Description &d) {
    *out = d.sampling;
    return CUDA_SUCCESS;
  });
}

PTXRUN_API CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *out,
                                                   CUtexObject handle) {
  return describe(out, handle, abi::ImageKind::texture, [&](const Description &d) {
    if (!d.view)
      return CUDA_ERROR_INVALID_VALUE;
    *out = *d.view;
    return CUDA_SUCCESS;
  });
}

PTXRUN_API CUresult cuSurfObjectCreate(CUsurfObject *handle, const CUDA_RESOURCE_DESC *resource) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!handle || !resource || resource->resType != CU_RESOURCE_TYPE_ARRAY)
    return CUDA_ERROR_INVALID_VALUE;
  rt::Texture texture;
  PTXRUN_TRY(readResource(*resource, texture.image, texture.read.isNormalizedFloat));
  return publishImage(abi::ImageKind::surface, texture, {*resource, {}, {}}, handle);
}

PTXRUN_API CUresult cuSurfObjectDestroy(CUsurfObject handle) {
  return destroyObject(handle, abi::ImageKind::surface);
}

PTXRUN_API CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *out, CUsurfObject handle) {
  return describe(out, handle, abi::ImageKind::surface, [&](const Description &d) {
    *out = d.resource;
    return CUDA_SUCCESS;
  });
}

PTXRUN_API CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *width, CUarray_format format,
                                                       unsigned channels, CUdevice) {
  PTXRUN_TRY(checkInitialised());
  TexelFormat texel;
  PTXRUN_TRY(readFormat(format, channels, texel));
  if (!width)
    return CUDA_ERROR_INVALID_VALUE;
  *width = kMostLinearTexels;
  return CUDA_SUCCESS;
}
