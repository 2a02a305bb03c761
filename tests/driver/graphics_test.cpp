// OpenGL interoperability, driver and runtime API, on an OpenGL that this program brings along.
#include <numeric>

#include "tests/driver/driver_fixture.h"
#include "tests/driver/fake_gl.h"

extern "C" {
int cudaGraphicsGLRegisterBuffer(CUgraphicsResource *, unsigned, unsigned);
int cudaGraphicsGLRegisterImage(CUgraphicsResource *, unsigned, unsigned, unsigned);
int cudaGraphicsMapResources(int, CUgraphicsResource *, CUstream);
int cudaGraphicsUnmapResources(int, CUgraphicsResource *, CUstream);
int cudaGraphicsResourceGetMappedPointer(void **, size_t *, CUgraphicsResource);
int cudaGraphicsSubResourceGetMappedArray(CUarray *, CUgraphicsResource, unsigned, unsigned);
int cudaGraphicsUnregisterResource(CUgraphicsResource);
int cudaGLGetDevices(unsigned *, int *, unsigned, int);
int cudaGLSetGLDevice(int);
int cudaGLRegisterBufferObject(unsigned);
int cudaGLMapBufferObject(void **, unsigned);
int cudaGLUnmapBufferObject(unsigned);
int cudaGLUnregisterBufferObject(unsigned);
int cudaMemset(void *, int, size_t);
int cudaGetLastError();
}

namespace ptxrun::tests {
namespace {

constexpr int kRgba8 = 0x8058, kRgba32f = 0x8814, kRgba8ui = 0x8D7C, kRgb8 = 0x8051;
constexpr int kPackAlignment = 0x0D05, kUnpackRowLength = 0x0CF2, kUnpackBinding = 0x88EF,
              kArrayBinding = 0x8894, kTexture2dBinding = 0x8069;

class Graphics : public DriverTest {
 protected:
  void SetUp() override {
    gl = {};
    gl.state[kPackAlignment] = gl.state[0x0CF5] = 4;
    DriverTest::SetUp();
  }
  CUgraphicsResource registerBuffer(unsigned buffer, unsigned flags = 0) {
    CUgraphicsResource resource = nullptr;
    EXPECT_CUDA(cuGraphicsGLRegisterBuffer(&resource, buffer, flags));
    return resource;
  }
  CUgraphicsResource registerImage(unsigned texture, unsigned target, unsigned flags = 0) {
    CUgraphicsResource resource = nullptr;
    EXPECT_CUDA(cuGraphicsGLRegisterImage(&resource, texture, target, flags));
    return resource;
  }
  CUdeviceptr pointer(CUgraphicsResource resource, size_t expectedBytes) {
    CUdeviceptr address = 0;
    size_t bytes = 0;
    EXPECT_CUDA(cuGraphicsResourceGetMappedPointer(&address, &bytes, resource));
    EXPECT_EQ(bytes, expectedBytes);
    return address;
  }
  /// Copies all of a two-dimensional array of single bytes per element, one way or the other.
  CUresult copyPlane(CUarray array, std::vector<uint8_t> &plain, size_t width, bool isToArray) {
    CUDA_MEMCPY2D c = {};
    c.srcMemoryType = isToArray ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    c.dstMemoryType = isToArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    c.srcHost = c.dstHost = plain.data();
    c.srcArray = c.dstArray = array;
    c.WidthInBytes = width;
    c.Height = plain.size() / width;
    return cuMemcpy2D(&c);
  }
};

std::vector<uint8_t> counting(size_t count) {
  std::vector<uint8_t> values(count);
  std::iota(values.begin(), values.end(), uint8_t{1});
  return values;
}

/// What programs do every frame: map, launch, unmap.
TEST_F(Graphics, KernelsReadAndWriteBuffers) {
  const unsigned buffer = gl.addBuffer(counting(64)), other = gl.addBuffer({});
  gl.state[kArrayBinding] = static_cast<int>(other);
  CUgraphicsResource resource = registerBuffer(buffer);
  CUstream stream = nullptr;
  ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  for (uint32_t frame = 0; frame < 3; ++frame) {
    ASSERT_CUDA(cuGraphicsMapResources(1, &resource, stream));
    const CUdeviceptr address = pointer(resource, 64);
    EXPECT_EQ(download<uint8_t>(address + 32, 1)[0], 33);
    ASSERT_CUDA(launch(function(kSmall, "store"), 1, 1, stream, address, frame));
    ASSERT_CUDA(cuGraphicsUnmapResources(1, &resource, stream));
    EXPECT_EQ(gl.buffers[buffer][0], frame); // the kernel's, without any other wait
    EXPECT_EQ(gl.buffers[buffer][63], 64);
  }
  EXPECT_EQ(gl.state[kArrayBinding], static_cast<int>(other)); // the program sees no trace
  EXPECT_CUDA(cuGraphicsUnregisterResource(resource));
  EXPECT_RESULT(cuGraphicsUnregisterResource(resource), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Graphics, FlagsSayWhichContentsMove) {
  const unsigned buffer = gl.addBuffer(counting(16));
  CUgraphicsResource reader = registerBuffer(buffer, CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY);
  ASSERT_CUDA(cuGraphicsMapResources(1, &reader, nullptr));
  ASSERT_CUDA(cuMemsetD8(pointer(reader, 16), 99, 16));
  ASSERT_CUDA(cuGraphicsUnmapResources(1, &reader, nullptr));
  EXPECT_EQ(gl.writes, 0);
  EXPECT_EQ(gl.reads, 1);
  CUgraphicsResource writer = registerBuffer(buffer, CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD);
  ASSERT_CUDA(cuGraphicsMapResources(1, &writer, nullptr));
  ASSERT_CUDA(cuMemsetD8(pointer(writer, 16), 7, 16));
  ASSERT_CUDA(cuGraphicsUnmapResources(1, &writer, nullptr));
  EXPECT_EQ(gl.reads, 1);
  EXPECT_EQ(gl.buffers[buffer], std::vector<uint8_t>(16, 7));
  CUgraphicsResource either = registerBuffer(buffer); // a hint for one mapping
  ASSERT_CUDA(cuGraphicsResourceSetMapFlags(either, CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY));
  ASSERT_CUDA(cuGraphicsMapResources(1, &either, nullptr));
  EXPECT_RESULT(cuGraphicsResourceSetMapFlags(either, 0), CUDA_ERROR_ALREADY_MAPPED);
  ASSERT_CUDA(cuMemsetD8(pointer(either, 16), 8, 16));
  ASSERT_CUDA(cuGraphicsUnmapResources(1, &either, nullptr));
  EXPECT_EQ(gl.buffers[buffer][0], 7);
  EXPECT_RESULT(cuGraphicsResourceSetMapFlags(either, 3), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graphics, BuffersMayChangeTheirSize) {
  const unsigned buffer = gl.addBuffer({});
  CUgraphicsResource resource = registerBuffer(buffer);
  ASSERT_CUDA(cuGraphicsMapResources(1, &resource, nullptr));
  EXPECT_EQ(pointer(resource, 0), 0u);
  ASSERT_CUDA(cuGraphicsUnmapResources(1, &resource, nullptr));
  gl.buffers[buffer] = counting(4096);
  ASSERT_CUDA(cuGraphicsMapResources(1, &resource, nullptr));
  EXPECT_EQ(download<uint8_t>(pointer(resource, 4096) + 100, 1)[0], 101);
  ASSERT_CUDA(cuGraphicsUnmapResources(1, &resource, nullptr));
}

TEST_F(Graphics, ChecksWhatItIsGiven) {
  const unsigned buffer = gl.addBuffer(counting(16));
  CUgraphicsResource resource = nullptr;
  EXPECT_RESULT(cuGraphicsGLRegisterBuffer(&resource, 77, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_RESULT(cuGraphicsGLRegisterBuffer(&resource, buffer, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuGraphicsGLRegisterBuffer(nullptr, buffer, 0), CUDA_ERROR_INVALID_VALUE);
  resource = registerBuffer(buffer);
  CUgraphicsResource twice[] = {resource, resource};
  EXPECT_RESULT(cuGraphicsMapResources(2, twice, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_RESULT(cuGraphicsMapResources(0, twice, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuGraphicsUnmapResources(1, &resource, nullptr), CUDA_ERROR_NOT_MAPPED);
  CUdeviceptr address = 0;
  CUarray array = nullptr;
  EXPECT_RESULT(cuGraphicsResourceGetMappedPointer(&address, nullptr, resource),
                CUDA_ERROR_NOT_MAPPED);
  ASSERT_CUDA(cuGraphicsMapResources(1, &resource, nullptr));
  EXPECT_RESULT(cuGraphicsMapResources(1, &resource, nullptr), CUDA_ERROR_ALREADY_MAPPED);
  EXPECT_RESULT(cuGraphicsSubResourceGetMappedArray(&array, resource, 0, 0),
                CUDA_ERROR_NOT_MAPPED_AS_ARRAY);
  const unsigned three = gl.addTexture(FakeGl::kTexture2d, kRgb8, 3, 4, 4, 1, 1);
  EXPECT_RESULT(cuGraphicsGLRegisterImage(&resource, three, FakeGl::kTexture2d, 0),
                CUDA_ERROR_INVALID_VALUE); // three channels
  EXPECT_RESULT(cuGraphicsGLRegisterImage(&resource, three, 0x0DE0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuGraphicsGLRegisterImage(&resource, 9, FakeGl::kTexture2d, 0),
                CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Graphics, SaysWhenThereIsNoContext) {
  const unsigned buffer = gl.addBuffer(counting(16));
  CUgraphicsResource resource = registerBuffer(buffer), none = nullptr;
  unsigned count = 0;
  CUdevice device = -1;
  ASSERT_CUDA(cuGLGetDevices(&count, &device, 1, CU_GL_DEVICE_LIST_ALL));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(device, 0);
  gl.hasContext = false;
  testing::internal::CaptureStderr();
  EXPECT_RESULT(cuGraphicsGLRegisterBuffer(&none, buffer, 0), CUDA_ERROR_OPERATING_SYSTEM);
  EXPECT_RESULT(cuGraphicsMapResources(1, &resource, nullptr), CUDA_ERROR_UNKNOWN);
  EXPECT_RESULT(cuGLGetDevices(&count, &device, 1, CU_GL_DEVICE_LIST_ALL),
                CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "ptxrun: no OpenGL interoperability: the calling thread has no current OpenGL context\n");
}

TEST_F(Graphics, TexturesAreArrays) {
  const unsigned texture = gl.addTexture(FakeGl::kTexture2d, kRgba8, 4, 5, 3, 1, 1);
  gl.textures[texture].levels[0].faces[0] = counting(60);
  gl.state[kPackAlignment] = 8; // the program's own settings stay out of it
  gl.state[kUnpackRowLength] = 100;
  gl.state[kUnpackBinding] = static_cast<int>(gl.addBuffer(counting(8)));
  gl.state[kTexture2dBinding] = 55;
  const auto before = gl.state;
  CUgraphicsResource resource =
      registerImage(texture, FakeGl::kTexture2d, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
  ASSERT_CUDA(cuGraphicsMapResources(1, &resource, nullptr));
  CUarray array = nullptr;
  ASSERT_CUDA(cuGraphicsSubResourceGetMappedArray(&array, resource, 0, 0));
  CUDA_ARRAY3D_DESCRIPTOR d = {};
  ASSERT_CUDA(cuArray3DGetDescriptor(&d, array));
  EXPECT_EQ(d.Width, 5u);
  EXPECT_EQ(d.Height, 3u);
  EXPECT_EQ(d.NumChannels, 4u);
  EXPECT_EQ(d.Format, CU_AD_FORMAT_UNSIGNED_INT8);
  EXPECT_EQ(d.Flags, unsigned{CUDA_ARRAY3D_SURFACE_LDST});
  std::vector<uint8_t> texels(60);
  ASSERT_CUDA(copyPlane(array, texels, 20, false));
  EXPECT_EQ(texels, counting(60));
  texels.assign(60, 200);
  ASSERT_CUDA(copyPlane(array, texels, 20, true));
  CUdeviceptr address = 0;
  EXPECT_RESULT(cuGraphicsResourceGetMappedPointer(&address, nullptr, resource),
                CUDA_ERROR_NOT_MAPPED_AS_POINTER);
  EXPECT_RESULT(cuGraphicsSubResourceGetMappedArray(&array, resource, 1, 0),
                CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuGraphicsSubResourceGetMappedArray(&array, resource, 0, 1),
                CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE); // the resource's
  ASSERT_CUDA(cuGraphicsUnmapResources(1, &resource, nullptr));
  EXPECT_EQ(gl.textures[texture].levels[0].faces[0], texels);
  EXPECT_EQ(gl.lastFormat, 0x1908u); // GL_RGBA
  EXPECT_EQ(gl.lastType, 0x1401u);   // GL_UNSIGNED_BYTE
  for (const auto &[name, value] : before)
    EXPECT_EQ(gl.state[name], value) << name;
}

TEST_F(Graphics, FacesAndLevelsAreArraysOfTheirOwn) {
  const unsigned cube = gl.addTexture(FakeGl::kTextureCube, kRgba8ui, 4, 4, 4, 1, 3);
  gl.textures[cube].levels[1].faces[3] = counting(16);
  CUgraphicsResource resource = registerImage(cube, FakeGl::kTextureCube);
  ASSERT_CUDA(cuGraphicsMapResources(1, &resource, nullptr));
  EXPECT_EQ(gl.reads, 18);
  CUarray face = nullptr;
  ASSERT_CUDA(cuGraphicsSubResourceGetMappedArray(&face, resource, 3, 1));
  std::vector<uint8_t> texels(16);
  ASSERT_CUDA(copyPlane(face, texels, 8, false));
  EXPECT_EQ(texels, counting(16));
  CUmipmappedArray all = nullptr;
  CUarray level = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR d = {};
  ASSERT_CUDA(cuGraphicsResourceGetMappedMipmappedArray(&all, resource));
  ASSERT_CUDA(cuMipmappedArrayGetLevel(&level, all, 2));
  ASSERT_CUDA(cuArray3DGetDescriptor(&d, level));
  EXPECT_EQ(d.Width, 1u);
  EXPECT_EQ(d.Depth, 6u);
  texels.assign(16, 77);
  ASSERT_CUDA(copyPlane(face, texels, 8, true));
  ASSERT_CUDA(cuGraphicsUnmapResources(1, &resource, nullptr));
  EXPECT_EQ(gl.textures[cube].levels[1].faces[3], texels);
  EXPECT_EQ(gl.lastFormat, 0x8D99u); // GL_RGBA_INTEGER
}

TEST_F(Graphics, VolumesAndLayers) {
  for (const unsigned target : {FakeGl::kTexture3d, FakeGl::kTexture2dArray}) {
    const unsigned texture = gl.addTexture(target, kRgba32f, 16, 2, 2, 3, 1);
    gl.textures[texture].levels[0].faces[0] = counting(192);
    CUgraphicsResource resource = registerImage(texture, target);
    ASSERT_CUDA(cuGraphicsMapResources(1, &resource, nullptr));
    const bool hasLayers = target == FakeGl::kTexture2dArray;
    CUarray array = nullptr;
    ASSERT_CUDA(cuGraphicsSubResourceGetMappedArray(&array, resource, hasLayers ? 2 : 0, 0));
    CUDA_ARRAY3D_DESCRIPTOR d = {};
    ASSERT_CUDA(cuArray3DGetDescriptor(&d, array));
    EXPECT_EQ(d.Depth, hasLayers ? 0u : 3u);
    EXPECT_EQ(d.Format, CU_AD_FORMAT_FLOAT);
    if (hasLayers) {
      std::vector<uint8_t> texels(64);
      ASSERT_CUDA(copyPlane(array, texels, 32, false));
      EXPECT_EQ(texels[0], 129); // the third layer's first
    }
    ASSERT_CUDA(cuGraphicsUnmapResources(1, &resource, nullptr));
    EXPECT_EQ(gl.textures[texture].levels[0].faces[0], counting(192));
    EXPECT_CUDA(cuGraphicsUnregisterResource(resource));
  }
}

TEST_F(Graphics, BuffersByNameAsInCuda2) {
  const unsigned buffer = gl.addBuffer(counting(16));
  CUdeviceptr address = 0;
  size_t bytes = 0;
  ASSERT_CUDA(cuGLInit());
  EXPECT_RESULT(cuGLMapBufferObject(&address, &bytes, buffer), CUDA_ERROR_INVALID_VALUE);
  ASSERT_CUDA(cuGLRegisterBufferObject(buffer));
  EXPECT_RESULT(cuGLRegisterBufferObject(buffer), CUDA_ERROR_ALREADY_MAPPED);
  ASSERT_CUDA(cuGLMapBufferObject(&address, &bytes, buffer));
  EXPECT_EQ(bytes, 16u);
  EXPECT_RESULT(cuGLMapBufferObject(&address, &bytes, buffer), CUDA_ERROR_MAP_FAILED);
  ASSERT_CUDA(cuMemsetD8Async(address, 3, 16, nullptr));
  ASSERT_CUDA(cuGLUnmapBufferObject(buffer));
  EXPECT_EQ(gl.buffers[buffer], std::vector<uint8_t>(16, 3));
  EXPECT_CUDA(cuGLSetBufferObjectMapFlags(buffer, CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY));
  EXPECT_CUDA(cuGLUnregisterBufferObject(buffer));
  EXPECT_RESULT(cuGLSetBufferObjectMapFlags(buffer, 0), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Graphics, CapturesCannotHoldMappings) {
  CUgraphicsResource resource = registerBuffer(gl.addBuffer(counting(16)));
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  ASSERT_CUDA(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_RESULT(cuGraphicsMapResources(1, &resource, stream),
                CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  cuStreamEndCapture(stream, &graph);
}

TEST_F(Graphics, TheRuntimeApiIsTheSame) {
  const unsigned buffer = gl.addBuffer(counting(16)), old = gl.addBuffer(counting(8));
  CUgraphicsResource resource = nullptr;
  ASSERT_EQ(cudaGLSetGLDevice(0), 0);
  ASSERT_EQ(cudaGraphicsGLRegisterBuffer(&resource, buffer, 2), 0);
  ASSERT_EQ(cudaGraphicsMapResources(1, &resource, nullptr), 0);
  void *pointer = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(cudaGraphicsResourceGetMappedPointer(&pointer, &bytes, resource), 0);
  EXPECT_EQ(bytes, 16u);
  ASSERT_EQ(cudaMemset(pointer, 4, 16), 0);
  ASSERT_EQ(cudaGraphicsUnmapResources(1, &resource, nullptr), 0);
  EXPECT_EQ(gl.buffers[buffer], std::vector<uint8_t>(16, 4));
  EXPECT_EQ(cudaGraphicsUnregisterResource(resource), 0);
  EXPECT_EQ(cudaGraphicsUnregisterResource(resource), 400);
  const unsigned texture = gl.addTexture(FakeGl::kTexture2d, kRgba8, 4, 5, 3, 1, 1);
  CUarray array = nullptr;
  ASSERT_EQ(cudaGraphicsGLRegisterImage(&resource, texture, FakeGl::kTexture2d, 0), 0);
  ASSERT_EQ(cudaGraphicsMapResources(1, &resource, nullptr), 0);
  EXPECT_EQ(cudaGraphicsSubResourceGetMappedArray(&array, resource, 0, 0), 0);
  ASSERT_EQ(cudaGraphicsUnmapResources(1, &resource, nullptr), 0);
  ASSERT_EQ(cudaGLRegisterBufferObject(old), 0);
  ASSERT_EQ(cudaGLMapBufferObject(&pointer, old), 0);
  ASSERT_EQ(cudaMemset(pointer, 9, 8), 0);
  ASSERT_EQ(cudaGLUnmapBufferObject(old), 0);
  EXPECT_EQ(gl.buffers[old], std::vector<uint8_t>(8, 9));
  EXPECT_EQ(cudaGLUnregisterBufferObject(old), 0);
  unsigned count = 0;
  int device = -1;
  EXPECT_EQ(cudaGLGetDevices(&count, &device, 1, 1), 0);
  EXPECT_EQ(count, 1u);
  cudaGetLastError();
}

} // namespace
} // namespace ptxrun::tests
