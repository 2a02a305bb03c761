// CUDA arrays and mipmapped arrays.
#include "loader/libcuda/array.h"
#include "loader/libcuda/context.h"

using namespace ptxrun::driver;
namespace rt = ptxrun::rt;

namespace {

constexpr size_t kArrayAlignment = 256;

/// Lays out, allocates and publishes an Array or MipmappedArray.
template <class Handle, class Make>
CUresult create(Handle *handle, const CUDA_ARRAY3D_DESCRIPTOR *description, unsigned levels,
                Make make) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!handle || !description)
    return CUDA_ERROR_INVALID_VALUE;
  rt::Image image;
  TexelFormat format;
  PTXRUN_TRY(layOut(*description, levels, image, format));
  auto memory = std::make_shared<ArrayMemory>(image.bytes);
  image.base = memory->base();
  if (!image.base)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *handle = publish<Handle>(make(std::move(memory), image, format.isFraction));
  return CUDA_SUCCESS;
}

CUresult createArray(CUarray *handle, const CUDA_ARRAY3D_DESCRIPTOR *description) {
  return create(handle, description, 1, [&](auto memory, const rt::Image &image, bool isFraction) {
    return std::make_shared<Array>(std::move(memory), *description, image, isFraction, false);
  });
}

template <class T, class Handle> CUresult enterArray(Handle handle, std::shared_ptr<T> &array) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  array = resolve<T>(handle);
  return array ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

template <class T, class Handle>
CUresult requirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out, Handle handle) {
  std::shared_ptr<T> array;
  PTXRUN_TRY(enterArray(handle, array));
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = {};
  out->size = array->image.bytes;
  out->alignment = kArrayAlignment;
  return CUDA_SUCCESS;
}

} // namespace

PTXRUN_API CUresult cuArrayCreate_v2(CUarray *handle, const CUDA_ARRAY_DESCRIPTOR *given) {
  if (!given)
    return CUDA_ERROR_INVALID_VALUE;
  const CUDA_ARRAY3D_DESCRIPTOR description = {given->Width,  given->Height,      0,
                                               given->Format, given->NumChannels, 0};
  return createArray(handle, &description);
}

PTXRUN_API CUresult cuArray3DCreate_v2(CUarray *handle,
                                       const CUDA_ARRAY3D_DESCRIPTOR *description) {
  return createArray(handle, description);
}

PTXRUN_API CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *out, CUarray handle) {
  std::shared_ptr<Array> array;
  PTXRUN_TRY(enterArray(handle, array));
  const CUDA_ARRAY3D_DESCRIPTOR &d = array->description;
  // It cannot say what such an array is.
  if (!out || d.Depth != 0)
    return CUDA_ERROR_INVALID_VALUE;
  *out = {d.Width, d.Height, d.Format, d.NumChannels};
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *out, CUarray handle) {
  std::shared_ptr<Array> array;
  PTXRUN_TRY(enterArray(handle, array));
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = array->description;
  return CUDA_SUCCESS;
}

/// What still runs may use it.
PTXRUN_API CUresult cuArrayDestroy(CUarray handle) {
  std::shared_ptr<Array> array;
  PTXRUN_TRY(enterArray(handle, array));
  if (array->isLevel)
    return CUDA_ERROR_INVALID_HANDLE;
  currentContext()->synchronise();
  withdraw<Array>(handle);
  return CUDA_SUCCESS;
}

/// Arrays of one plane only, which have none to ask for.
PTXRUN_API CUresult cuArrayGetPlane(CUarray *plane, CUarray handle, unsigned) {
  std::shared_ptr<Array> array;
  PTXRUN_TRY(enterArray(handle, array));
  (void)plane;
  return CUDA_ERROR_INVALID_VALUE;
}

PTXRUN_API CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out,
                                                 CUarray handle, CUdevice) {
  return requirements<Array>(out, handle);
}

/// No array is sparse.
PTXRUN_API CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *, CUarray handle) {
  std::shared_ptr<Array> array;
  PTXRUN_TRY(enterArray(handle, array));
  return CUDA_ERROR_INVALID_VALUE;
}

PTXRUN_API CUresult cuMipmappedArrayCreate(CUmipmappedArray *handle,
                                           const CUDA_ARRAY3D_DESCRIPTOR *description,
                                           unsigned levels) {
  return create(
      handle, description, levels, [&](auto memory, const rt::Image &image, bool isFraction) {
        auto array =
            std::make_shared<MipmappedArray>(std::move(memory), *description, image, isFraction);
        for (const auto &level : array->levels)
          Registry::instance().add(level);
        return array;
      });
}

PTXRUN_API CUresult cuMipmappedArrayGetLevel(CUarray *level, CUmipmappedArray handle,
                                             unsigned number) {
  std::shared_ptr<MipmappedArray> array;
  PTXRUN_TRY(enterArray(handle, array));
  if (!level || number >= array->levels.size())
    return CUDA_ERROR_INVALID_VALUE;
  *level = handleOf<CUarray>(array->levels[number].get());
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
  std::shared_ptr<MipmappedArray> array;
  PTXRUN_TRY(enterArray(handle, array));
  currentContext()->synchronise();
  withdraw<MipmappedArray>(handle);
  for (const auto &level : array->levels)
    withdraw<Array>(handleOf<CUarray>(level.get()));
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out,
                                                          CUmipmappedArray handle, CUdevice) {
  return requirements<MipmappedArray>(out, handle);
}

PTXRUN_API CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *,
                                                        CUmipmappedArray handle) {
  std::shared_ptr<MipmappedArray> array;
  PTXRUN_TRY(enterArray(handle, array));
  return CUDA_ERROR_INVALID_VALUE;
}
