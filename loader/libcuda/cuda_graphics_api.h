/* The driver API's types and functions of graphics interoperability. Part of cuda_api.h. Plain
 * C. */
#ifndef PTXRUN_LIBCUDA_CUDA_GRAPHICS_API_H
#define PTXRUN_LIBCUDA_CUDA_GRAPHICS_API_H
#include "loader/libcuda/cuda_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CUgraphicsResource_st *CUgraphicsResource;

typedef enum CUgraphicsRegisterFlags PTXRUN_ANY_INT {
  CU_GRAPHICS_REGISTER_FLAGS_NONE = 0,
  CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY = 1,
  CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD = 2,
  CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST = 4,
  CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER = 8
} CUgraphicsRegisterFlags;

typedef enum CUgraphicsMapResourceFlags PTXRUN_ANY_INT {
  CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE = 0,
  CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY = 1,
  CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD = 2
} CUgraphicsMapResourceFlags;

typedef enum CUGLDeviceList PTXRUN_ANY_INT {
  CU_GL_DEVICE_LIST_ALL = 1,
  CU_GL_DEVICE_LIST_CURRENT_FRAME = 2,
  CU_GL_DEVICE_LIST_NEXT_FRAME = 3
} CUGLDeviceList;

/* Of any graphics API. */

CUresult cuGraphicsMapResources(unsigned int count, CUgraphicsResource *resources, CUstream stream);
CUresult cuGraphicsMapResources_ptsz(unsigned int count, CUgraphicsResource *resources,
                                     CUstream stream);
CUresult cuGraphicsUnmapResources(unsigned int count, CUgraphicsResource *resources,
                                  CUstream stream);
CUresult cuGraphicsUnmapResources_ptsz(unsigned int count, CUgraphicsResource *resources,
                                       CUstream stream);
CUresult cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr *address, size_t *bytes,
                                               CUgraphicsResource resource);
CUresult cuGraphicsSubResourceGetMappedArray(CUarray *array, CUgraphicsResource resource,
                                             unsigned int index, unsigned int level);
CUresult cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray *array,
                                                   CUgraphicsResource resource);
CUresult cuGraphicsResourceSetMapFlags_v2(CUgraphicsResource resource, unsigned int flags);
CUresult cuGraphicsResourceSetMapFlags(CUgraphicsResource resource, unsigned int flags);
CUresult cuGraphicsUnregisterResource(CUgraphicsResource resource);

/* OpenGL. */

CUresult cuGraphicsGLRegisterBuffer(CUgraphicsResource *resource, unsigned int buffer,
                                    unsigned int flags);
CUresult cuGraphicsGLRegisterImage(CUgraphicsResource *resource, unsigned int image,
                                   unsigned int target, unsigned int flags);
CUresult cuGLGetDevices_v2(unsigned int *found, CUdevice *devices, unsigned int room,
                           CUGLDeviceList list);
CUresult cuGLGetDevices(unsigned int *found, CUdevice *devices, unsigned int room,
                        CUGLDeviceList list);

/* OpenGL as of CUDA 2: buffers go by their names. */

CUresult cuGLInit(void);
CUresult cuGLCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
CUresult cuGLCtxCreate(CUcontext *context, unsigned int flags, CUdevice device);
CUresult cuGLRegisterBufferObject(unsigned int buffer);
CUresult cuGLUnregisterBufferObject(unsigned int buffer);
CUresult cuGLSetBufferObjectMapFlags(unsigned int buffer, unsigned int flags);
CUresult cuGLMapBufferObject_v2(CUdeviceptr *address, size_t *bytes, unsigned int buffer);
CUresult cuGLMapBufferObject_v2_ptds(CUdeviceptr *address, size_t *bytes, unsigned int buffer);
CUresult cuGLMapBufferObjectAsync_v2(CUdeviceptr *address, size_t *bytes, unsigned int buffer,
                                     CUstream stream);
CUresult cuGLMapBufferObjectAsync_v2_ptsz(CUdeviceptr *address, size_t *bytes, unsigned int buffer,
                                          CUstream stream);
CUresult cuGLUnmapBufferObject(unsigned int buffer);
CUresult cuGLUnmapBufferObjectAsync(unsigned int buffer, CUstream stream);

#ifdef __cplusplus
}
#endif

#ifndef PTXRUN_LIBCUDA_PLAIN_NAMES
#define cuGraphicsResourceGetMappedPointer cuGraphicsResourceGetMappedPointer_v2
#define cuGraphicsResourceSetMapFlags cuGraphicsResourceSetMapFlags_v2
#define cuGLCtxCreate cuGLCtxCreate_v2
#define cuGLGetDevices cuGLGetDevices_v2
#define cuGLMapBufferObject cuGLMapBufferObject_v2
#define cuGLMapBufferObjectAsync cuGLMapBufferObjectAsync_v2
#endif
#endif
