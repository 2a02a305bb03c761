// Texture and surface references: the .texref and .surfref variables of modules, and what is bound
// to them. What has been launched sees what was bound when it was launched: a change waits for it.
#include <algorithm>
#include <memory>

#include "loader/capture/recorder.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/module.h"
#include "loader/libcuda/texture.h"

using namespace ptxrun::driver;
namespace abi = ptxrun::abi;
namespace rt = ptxrun::rt;

namespace {

/// A CUtexref. A module's has a record; one of cuTexRefCreate has none, and no kernel.
class TextureReference final : public Object {
 public:
  static constexpr Kind kKind = Kind::textureReference;
  explicit TextureReference(uint64_t image) : Object(kKind), image(image) {
    sampling.flags = CU_TRSF_READ_AS_INTEGER;
    for (CUaddress_mode &mode : sampling.addressMode)
      mode = CU_TR_ADDRESS_MODE_CLAMP;
  }
  const uint64_t image; ///< handle of the record, 0 for none
  bool isBound = false;
  CUDA_RESOURCE_DESC resource = {};
  CUDA_TEXTURE_DESC sampling = {};
  CUarray_format format = CU_AD_FORMAT_FLOAT; ///< of memory that is bound
  unsigned channels = 1;
};

class SurfaceReference final : public Object {
 public:
  static constexpr Kind kKind = Kind::surfaceReference;
  explicit SurfaceReference(uint64_t image) : Object(kKind), image(image) {}
  const uint64_t image;
  CUarray array = nullptr;
};

/// One reference object per variable, made when first asked for; they live as long as the process.
template <class Reference> Reference *referenceFor(uint64_t image) {
  static auto *mutex = new std::mutex;
  static auto *all = new std::map<uint64_t, std::shared_ptr<Reference>>;
  std::lock_guard lock(*mutex);
  std::shared_ptr<Reference> &reference = (*all)[image];
  if (!reference) {
    reference = std::make_shared<Reference>(image);
    Registry::instance().add(reference);
  }
  return reference.get();
}

template <class Reference, class Handle>
CUresult findReference(Handle *out, CUmodule handle, const char *name, abi::ImageKind kind) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  const auto module = resolveModule(handle);
  if (!module)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!out || !name)
    return CUDA_ERROR_INVALID_VALUE;
  const auto *variable = module->findVariable(name);
  if (!variable || variable->image != kind)
    return CUDA_ERROR_NOT_FOUND;
  *out = handleOf<Handle>(referenceFor<Reference>(variable->imageHandle));
  return CUDA_SUCCESS;
}

template <class Reference, class Handle>
CUresult enterReference(Handle handle, std::shared_ptr<Reference> &reference) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  reference = resolve<Reference>(handle);
  return reference ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void noteChange(const rt::ImageRecord &record) {
  if (auto *recorder = ptxrun::capture::Recorder::instance())
    recorder->noteImage(record);
}

/// Brings the record up to date with what the reference says.
CUresult update(TextureReference &r) {
  rt::Texture texture;
  if (r.isBound)
    PTXRUN_TRY(readTexture(r.resource, r.sampling, nullptr, texture));
  rt::ImageRecord *record = r.image ? rt::findImage(r.image) : nullptr;
  if (!record)
    return CUDA_SUCCESS;
  currentContext()->synchronise();
  record->texture = texture;
  record->isBound = r.isBound;
  noteChange(*record);
  return CUDA_SUCCESS;
}

/// A change that comes to nothing where it makes no sense of what is bound.
template <class Change> CUresult change(CUtexref handle, Change apply) {
  std::shared_ptr<TextureReference> reference;
  PTXRUN_TRY(enterReference(handle, reference));
  TextureReference &r = *reference;
  const auto before = std::tuple(r.isBound, r.resource, r.sampling, r.format, r.channels);
  CUresult result = apply(r);
  if (result == CUDA_SUCCESS)
    result = update(r);
  if (result != CUDA_SUCCESS)
    std::tie(r.isBound, r.resource, r.sampling, r.format, r.channels) = before;
  return result;
}

template <class Read> CUresult ask(CUtexref handle, Read read) {
  std::shared_ptr<TextureReference> reference;
  PTXRUN_TRY(enterReference(handle, reference));
  return read(*reference);
}

/// The answer, or INVALID_VALUE where there is no place for it.
template <class T, class U> CUresult give(T *out, const U &value) {
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = static_cast<T>(value);
  return CUDA_SUCCESS;
}

} // namespace

PTXRUN_API CUresult cuModuleGetTexRef(CUtexref *texture, CUmodule module, const char *name) {
  return findReference<TextureReference>(texture, module, name, abi::ImageKind::texture);
}
PTXRUN_API CUresult cuModuleGetSurfRef(CUsurfref *surface, CUmodule module, const char *name) {
  return findReference<SurfaceReference>(surface, module, name, abi::ImageKind::surface);
}

PTXRUN_API CUresult cuTexRefCreate(CUtexref *texture) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!texture)
    return CUDA_ERROR_INVALID_VALUE;
  *texture = publish<CUtexref>(std::make_shared<TextureReference>(0));
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuTexRefDestroy(CUtexref texture) {
  std::shared_ptr<TextureReference> reference;
  PTXRUN_TRY(enterReference(texture, reference));
  if (reference->image != 0)
    return CUDA_ERROR_INVALID_VALUE;
  withdraw<TextureReference>(texture);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuTexRefSetArray(CUtexref texture, CUarray array, unsigned) {
  return change(texture, [&](TextureReference &r) {
    r.isBound = array != nullptr;
    r.resource = {};
    r.resource.resType = CU_RESOURCE_TYPE_ARRAY;
    r.resource.res.array.hArray = array;
    if (const auto found = resolve<Array>(array)) { // CU_TRSA_OVERRIDE_FORMAT must be given
      r.format = found->description.Format;
      r.channels = found->description.NumChannels;
    }
    return CUDA_SUCCESS;
  });
}
PTXRUN_API CUresult cuTexRefSetMipmappedArray(CUtexref texture, CUmipmappedArray array, unsigned) {
  return change(texture, [&](TextureReference &r) {
    r.isBound = array != nullptr;
    r.resource = {};
    r.resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    r.resource.res.mipmap.hMipmappedArray = array;
    return CUDA_SUCCESS;
  });
}
PTXRUN_API CUresult cuTexRefSetAddress_v2(size_t *offset, CUtexref texture, CUdeviceptr address,
                                          size_t bytes) {
  if (offset)
    *offset = 0;
  return change(texture, [&](TextureReference &r) {
    r.isBound = address != 0;
    r.resource = {};
    r.resource.resType = CU_RESOURCE_TYPE_LINEAR;
    r.resource.res.linear = {address, r.format, r.channels, bytes};
    return CUDA_SUCCESS;
  });
}
PTXRUN_API CUresult cuTexRefSetAddress2D_v3(CUtexref texture,
                                            const CUDA_ARRAY_DESCRIPTOR *description,
                                            CUdeviceptr address, size_t pitch) {
  return change(texture, [&](TextureReference &r) {
    if (!description)
      return CUDA_ERROR_INVALID_VALUE;
    r.isBound = address != 0;
    r.format = description->Format;
    r.channels = description->NumChannels;
    r.resource = {};
    r.resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    r.resource.res.pitch2D = {
        address, r.format, r.channels, description->Width, description->Height, pitch};
    return CUDA_SUCCESS;
  });
}
PTXRUN_API CUresult cuTexRefSetAddress2D_v2(CUtexref texture,
                                            const CUDA_ARRAY_DESCRIPTOR *description,
                                            CUdeviceptr address, size_t pitch) {
  return cuTexRefSetAddress2D_v3(texture, description, address, pitch);
}
PTXRUN_API CUresult cuTexRefSetFormat(CUtexref texture, CUarray_format format, int channels) {
  return change(texture, [&](TextureReference &r) {
    TexelFormat ignored;
    PTXRUN_TRY(readFormat(format, static_cast<unsigned>(channels), ignored));
    r.format = format;
    r.channels = static_cast<unsigned>(channels);
    if (r.isBound && r.resource.resType == CU_RESOURCE_TYPE_LINEAR) {
      r.resource.res.linear.format = format;
      r.resource.res.linear.numChannels = r.channels;
    }
    return CUDA_SUCCESS;
  });
}
PTXRUN_API CUresult cuTexRefSetAddressMode(CUtexref texture, int dimension, CUaddress_mode mode) {
  return change(texture, [&](TextureReference &r) {
    if (dimension < 0 || dimension > 2)
      return CUDA_ERROR_INVALID_VALUE;
    r.sampling.addressMode[dimension] = mode;
    return CUDA_SUCCESS;
  });
}
PTXRUN_API CUresult cuTexRefSetFilterMode(CUtexref texture, CUfilter_mode mode) {
  return change(texture, [&](TextureReference &r) {
    r.sampling.filterMode = mode;
    return CUDA_SUCCESS;
  });
}
PTXRUN_API CUresult cuTexRefSetMipmapFilterMode(CUtexref texture, CUfilter_mode mode) {
  return change(texture, [&](TextureReference &r) {
    r.sampling.mipmapFilterMode = mode;
    return CUDA_SUCCESS;
  });
}
PTXRUN_API CUresult cuTexRefSetMipmapLevelBias(CUtexref texture, float bias) {
  return change(texture, [&](TextureReference &r) {
    r.sampling.mipmapLevelBias = bias;
    return CUDA_SUCCESS;
  });
}
PTXRUN_API CUresult cuTexRefSetMipmapLevelClamp(CUtexref texture, float least, float most) {
  return change(texture, [&](TextureReference &r) {
    r.sampling.minMipmapLevelClamp = least;
    r.sampling.maxMipmapLevelClamp = most;
    return CUDA_SUCCESS;
  });
}
PTXRUN_API CUresult cuTexRefSetMaxAnisotropy(CUtexref texture, unsigned most) {
  return change(texture, [&](TextureReference &r) {
    r.sampling.maxAnisotropy = most;
    return CUDA_SUCCESS;
  });
}
PTXRUN_API CUresult cuTexRefSetBorderColor(CUtexref texture, float *color) {
  return change(texture, [&](TextureReference &r) {
    if (!color)
      return CUDA_ERROR_INVALID_VALUE;
    std::copy_n(color, 4, r.sampling.borderColor);
    return CUDA_SUCCESS;
  });
}
PTXRUN_API CUresult cuTexRefSetFlags(CUtexref texture, unsigned flags) {
  return change(texture, [&](TextureReference &r) {
    r.sampling.flags = flags;
    return CUDA_SUCCESS;
  });
}

PTXRUN_API CUresult cuTexRefGetAddress_v2(CUdeviceptr *address, CUtexref texture) {
  return ask(texture, [&](const TextureReference &r) {
    if (!r.isBound)
      return CUDA_ERROR_INVALID_VALUE;
    switch (r.resource.resType) {
    case CU_RESOURCE_TYPE_LINEAR:
      return give(address, r.resource.res.linear.devPtr);
    case CU_RESOURCE_TYPE_PITCH2D:
      return give(address, r.resource.res.pitch2D.devPtr);
    default:
      return CUDA_ERROR_INVALID_VALUE;
    }
  });
}
PTXRUN_API CUresult cuTexRefGetArray(CUarray *array, CUtexref texture) {
  return ask(texture, [&](const TextureReference &r) {
    return r.isBound && r.resource.resType == CU_RESOURCE_TYPE_ARRAY
               ? give(array, r.resource.res.array.hArray)
               : CUDA_ERROR_INVALID_VALUE;
  });
}
PTXRUN_API CUresult cuTexRefGetMipmappedArray(CUmipmappedArray *array, CUtexref texture) {
  return ask(texture, [&](const TextureReference &r) {
    return r.isBound && r.resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
               ? give(array, r.resource.res.mipmap.hMipmappedArray)
               : CUDA_ERROR_INVALID_VALUE;
  });
}
PTXRUN_API CUresult cuTexRefGetAddressMode(CUaddress_mode *mode, CUtexref texture, int dimension) {
  return ask(texture, [&](const TextureReference &r) {
    return dimension < 0 || dimension > 2 ? CUDA_ERROR_INVALID_VALUE
                                          : give(mode, r.sampling.addressMode[dimension]);
  });
}
PTXRUN_API CUresult cuTexRefGetFilterMode(CUfilter_mode *mode, CUtexref texture) {
  return ask(texture, [&](const TextureReference &r) { return give(mode, r.sampling.filterMode); });
}
PTXRUN_API CUresult cuTexRefGetFormat(CUarray_format *format, int *channels, CUtexref texture) {
  return ask(texture, [&](const TextureReference &r) {
    PTXRUN_TRY(give(format, r.format));
    return give(channels, r.channels);
  });
}
PTXRUN_API CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode *mode, CUtexref texture) {
  return ask(texture,
             [&](const TextureReference &r) { return give(mode, r.sampling.mipmapFilterMode); });
}
PTXRUN_API CUresult cuTexRefGetMipmapLevelBias(float *bias, CUtexref texture) {
  return ask(texture,
             [&](const TextureReference &r) { return give(bias, r.sampling.mipmapLevelBias); });
}
PTXRUN_API CUresult cuTexRefGetMipmapLevelClamp(float *least, float *most, CUtexref texture) {
  return ask(texture, [&](const TextureReference &r) {
    PTXRUN_TRY(give(least, r.sampling.minMipmapLevelClamp));
    return give(most, r.sampling.maxMipmapLevelClamp);
  });
}
PTXRUN_API CUresult cuTexRefGetMaxAnisotropy(int *most, CUtexref texture) {
  return ask(texture,
             [&](const TextureReference &r) { return give(most, r.sampling.maxAnisotropy); });
}
PTXRUN_API CUresult cuTexRefGetBorderColor(float *color, CUtexref texture) {
  return ask(texture, [&](const TextureReference &r) {
    if (!color)
      return CUDA_ERROR_INVALID_VALUE;
    std::copy_n(r.sampling.borderColor, 4, color);
    return CUDA_SUCCESS;
  });
}
PTXRUN_API CUresult cuTexRefGetFlags(unsigned *flags, CUtexref texture) {
  return ask(texture, [&](const TextureReference &r) { return give(flags, r.sampling.flags); });
}

PTXRUN_API CUresult cuSurfRefSetArray(CUsurfref surface, CUarray handle, unsigned flags) {
  std::shared_ptr<SurfaceReference> reference;
  PTXRUN_TRY(enterReference(surface, reference));
  const auto array = resolve<Array>(handle);
  rt::ImageRecord *record = rt::findImage(reference->image);
  if (!array || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  reference->array = handle;
  if (!record) // its module is gone
    return CUDA_SUCCESS;
  currentContext()->synchronise();
  record->texture.image = array->image;
  record->texture.read.isNormalizedFloat = array->isFraction;
  record->isBound = true;
  noteChange(*record);
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuSurfRefGetArray(CUarray *array, CUsurfref surface) {
  std::shared_ptr<SurfaceReference> reference;
  PTXRUN_TRY(enterReference(surface, reference));
  return give(array, reference->array);
}
