// Resources of graphics APIs, whichever it is: mapping, what they are mapped as, the end.
#include <algorithm>
#include <vector>

#include "loader/libcuda/api.h"
#include "loader/libcuda/graphics_resource.h"
#include "loader/libcuda/stream_capture.h"

namespace ptxrun::driver {

namespace {

using Resources = std::vector<std::shared_ptr<GraphicsResource>>;

CUresult enterResource(CUgraphicsResource handle, std::shared_ptr<GraphicsResource> &resource) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  resource = resolve<GraphicsResource>(handle);
  return resource ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult enterMapped(CUgraphicsResource handle, std::shared_ptr<GraphicsResource> &resource) {
  PTXRUN_TRY(enterResource(handle, resource));
  return resource->isMapped() ? CUDA_SUCCESS : CUDA_ERROR_NOT_MAPPED;
}

/// All of them, none twice.
CUresult resolveAll(unsigned count, const CUgraphicsResource *handles, Resources &resources) {
  if (count == 0 || !handles)
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    const bool isTwice = std::find(handles, handles + i, handles[i]) != handles + i;
    resources.push_back(resolve<GraphicsResource>(handles[i]));
    if (isTwice || !resources.back())
      return CUDA_ERROR_INVALID_HANDLE;
  }
  return CUDA_SUCCESS;
}

CUresult enterAll(unsigned count, const CUgraphicsResource *handles, CUstream streamHandle,
                  Context *&context, std::shared_ptr<Stream> &stream, Resources &resources) {
  PTXRUN_TRY(enter(streamHandle, context, stream));
  PTXRUN_TRY(forbidCapture(*stream));
  return resolveAll(count, handles, resources);
}

} // namespace

CUresult GraphicsResource::map(Context &context) {
  GlState state;
  const GlFunctions *gl = currentGl(state);
  if (!gl)
    return CUDA_ERROR_UNKNOWN;
  PTXRUN_TRY(prepare(*gl, context));
  if (!has(CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD))
    PTXRUN_TRY(fetch(*gl, context));
  isMapped_ = true;
  return CUDA_SUCCESS;
}

CUresult GraphicsResource::unmap(Context &context) {
  isMapped_ = false;
  if (has(CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY))
    return CUDA_SUCCESS;
  GlState state;
  const GlFunctions *gl = currentGl(state);
  return gl ? store(*gl, context) : CUDA_ERROR_UNKNOWN;
}

CUresult GraphicsResource::pointer(CUdeviceptr *, size_t *) const {
  return CUDA_ERROR_NOT_MAPPED_AS_POINTER;
}
CUresult GraphicsResource::array(CUarray *, unsigned, unsigned) const {
  return CUDA_ERROR_NOT_MAPPED_AS_ARRAY;
}
CUresult GraphicsResource::mipmappedArray(CUmipmappedArray *) const {
  return CUDA_ERROR_NOT_MAPPED_AS_ARRAY;
}

/// Contents are fetched on the calling thread, which has the graphics context. Work that is still
/// queued cannot use the memory: it was unmapped.
CUresult mapResources(unsigned count, const CUgraphicsResource *handles, CUstream streamHandle) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  Resources resources;
  PTXRUN_TRY(enterAll(count, handles, streamHandle, context, stream, resources));
  for (const auto &resource : resources)
    if (resource->isMapped())
      return CUDA_ERROR_ALREADY_MAPPED;
  for (const auto &resource : resources)
    PTXRUN_TRY(resource->map(*context));
  return CUDA_SUCCESS;
}

CUresult unmapResources(unsigned count, const CUgraphicsResource *handles, CUstream streamHandle) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  Resources resources;
  PTXRUN_TRY(enterAll(count, handles, streamHandle, context, stream, resources));
  for (const auto &resource : resources)
    if (!resource->isMapped())
      return CUDA_ERROR_NOT_MAPPED;
  stream->waitFor({}); // the legacy stream waits for the blocking ones
  stream->synchronise();
  PTXRUN_TRY(context->error());
  for (const auto &resource : resources)
    PTXRUN_TRY(resource->unmap(*context));
  return CUDA_SUCCESS;
}

} // namespace ptxrun::driver

using namespace ptxrun::driver;

PTXRUN_STREAM_API(cuGraphicsMapResources, _ptsz,
                  (unsigned count, CUgraphicsResource *resources, CUstream stream),
                  (count, resources, stream)) {
  return mapResources(count, resources, stream);
}
PTXRUN_STREAM_API(cuGraphicsUnmapResources, _ptsz,
                  (unsigned count, CUgraphicsResource *resources, CUstream stream),
                  (count, resources, stream)) {
  return unmapResources(count, resources, stream);
}

PTXRUN_API CUresult cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr *address, size_t *bytes,
                                                          CUgraphicsResource handle) {
  std::shared_ptr<GraphicsResource> resource;
  PTXRUN_TRY(enterMapped(handle, resource));
  CUdeviceptr foundAddress = 0;
  size_t foundBytes = 0;
  PTXRUN_TRY(resource->pointer(&foundAddress, &foundBytes));
  if (address)
    *address = foundAddress;
  if (bytes)
    *bytes = foundBytes;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuGraphicsSubResourceGetMappedArray(CUarray *array, CUgraphicsResource handle,
                                                        unsigned index, unsigned level) {
  std::shared_ptr<GraphicsResource> resource;
  PTXRUN_TRY(enterMapped(handle, resource));
  return array ? resource->array(array, index, level) : CUDA_ERROR_INVALID_VALUE;
}

PTXRUN_API CUresult cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray *array,
                                                              CUgraphicsResource handle) {
  std::shared_ptr<GraphicsResource> resource;
  PTXRUN_TRY(enterMapped(handle, resource));
  return array ? resource->mipmappedArray(array) : CUDA_ERROR_INVALID_VALUE;
}

PTXRUN_API CUresult cuGraphicsResourceSetMapFlags_v2(CUgraphicsResource handle, unsigned flags) {
  std::shared_ptr<GraphicsResource> resource;
  PTXRUN_TRY(enterResource(handle, resource));
  if (flags > CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD)
    return CUDA_ERROR_INVALID_VALUE;
  if (resource->isMapped())
    return CUDA_ERROR_ALREADY_MAPPED;
  resource->setMapFlags(flags);
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuGraphicsResourceSetMapFlags(CUgraphicsResource resource, unsigned flags) {
  return cuGraphicsResourceSetMapFlags_v2(resource, flags);
}

/// What still runs may use it. Contents that were not unmapped are lost.
PTXRUN_API CUresult cuGraphicsUnregisterResource(CUgraphicsResource handle) {
  std::shared_ptr<GraphicsResource> resource;
  PTXRUN_TRY(enterResource(handle, resource));
  currentContext()->synchronise();
  withdraw<GraphicsResource>(handle);
  return CUDA_SUCCESS;
}
