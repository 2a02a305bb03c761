// Every property and attribute of the devices, printed as deviceQuery does; those that programs compute with make sense.
#include "check.h"
#include <cstring>

int main(int argc, char **argv) {
  int count = -1;
  if (cudaGetDeviceCount(&count) != cudaSuccess || !count) {
    printf("no device\n");
    return 1;
  }
  for (int device = 0; device < count; ++device) {
    CHECK(cudaSetDevice(device));
    cudaDeviceProp p;
    memset(&p, 0xff, sizeof p);
    CHECK(cudaGetDeviceProperties(&p, device));
    int driver = 0, runtime = 0;
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    EXPECT(driver >= runtime && runtime >= 12000);
    printf("Device %d: \"%s\" %d.%d, driver %d.%d\n", device, p.name, p.major, p.minor, driver / 1000, driver % 100 / 10);
    printf("  memory %.0f MBytes (%llu), %d SMs, L2 %d, bus %d bits\n", p.totalGlobalMem / 1048576.0, (unsigned long long)p.totalGlobalMem,
           p.multiProcessorCount, p.l2CacheSize, p.memoryBusWidth);
    printf("  textures 1D=%d, 2D=(%d, %d), 3D=(%d, %d, %d), layered 1D=(%d) %d, 2D=(%d, %d) %d\n", p.maxTexture1D, p.maxTexture2D[0],
           p.maxTexture2D[1], p.maxTexture3D[0], p.maxTexture3D[1], p.maxTexture3D[2], p.maxTexture1DLayered[0], p.maxTexture1DLayered[1],
           p.maxTexture2DLayered[0], p.maxTexture2DLayered[1], p.maxTexture2DLayered[2]);
    printf("  constant %zu, shared %zu (optin %zu, per SM %zu, reserved %zu), registers %d (%d per SM), warp %d\n", p.totalConstMem,
           p.sharedMemPerBlock, p.sharedMemPerBlockOptin, p.sharedMemPerMultiprocessor, p.reservedSharedMemPerBlock, p.regsPerBlock,
           p.regsPerMultiprocessor, p.warpSize);
    printf("  PCI %d:%d:%d, async engines %d, UVA %d, managed %d, cooperative %d, integrated %d\n", p.pciDomainID, p.pciBusID,
           p.pciDeviceID, p.asyncEngineCount, p.unifiedAddressing, p.managedMemory, p.cooperativeLaunch, p.integrated);
    EXPECT(p.major >= 5 && p.minor >= 0 && p.minor < 10 && p.warpSize == 32 && p.name[0] && strlen(p.name) < sizeof p.name);
    EXPECT(p.totalConstMem == 65536 && p.sharedMemPerBlock == 49152 && p.sharedMemPerBlockOptin >= p.sharedMemPerBlock);
    EXPECT(p.sharedMemPerMultiprocessor >= p.sharedMemPerBlockOptin && p.regsPerBlock == 65536 && p.regsPerMultiprocessor >= 65536);
    EXPECT(p.maxThreadsPerBlock == 1024 && p.maxThreadsDim[0] == 1024 && p.maxThreadsDim[1] == 1024 && p.maxThreadsDim[2] == 64);
    EXPECT(p.maxGridSize[0] == 2147483647 && p.maxGridSize[1] == 65535 && p.maxGridSize[2] == 65535);
    EXPECT(p.maxThreadsPerMultiProcessor >= 1024 && p.maxThreadsPerMultiProcessor % 32 == 0 && p.maxBlocksPerMultiProcessor > 0);
    EXPECT(p.multiProcessorCount > 0 && p.l2CacheSize > 0 && p.memoryBusWidth > 0 && p.memPitch > 1 << 20 && p.textureAlignment > 0);
    EXPECT(p.unifiedAddressing == 1 && p.managedMemory == 1 && p.canMapHostMemory == 1 && p.concurrentKernels == 1);
    EXPECT(p.maxTexture2D[0] >= 65536 && p.maxSurface2D[0] >= 32768 && p.maxTexture3D[2] >= 2048 && p.surfaceAlignment > 0);
    int clock = 0, memoryClock = 0, mode = -1, timeout = -1;
    CHECK(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device));
    CHECK(cudaDeviceGetAttribute(&memoryClock, cudaDevAttrMemoryClockRate, device));
    CHECK(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, device));
    CHECK(cudaDeviceGetAttribute(&timeout, cudaDevAttrKernelExecTimeout, device));
    EXPECT(clock > 100000 && memoryClock > 100000 && mode == 0 && timeout == 0);
    printf("  peak %.1f GB/s at %d kHz\n", 2.0 * memoryClock * (p.memoryBusWidth / 8) / 1e6, clock);
    // Every attribute answers, or says that it is no attribute.
    int answered = 0;
    for (int attribute = 1; attribute < cudaDevAttrMax; ++attribute) {
      int value = 0;
      cudaError_t error = cudaDeviceGetAttribute(&value, (cudaDeviceAttr)attribute, device);
      EXPECT(error == cudaSuccess || error == cudaErrorInvalidValue || error == cudaErrorNotSupported);
      answered += error == cudaSuccess;
    }
    EXPECT(answered > 110);
    char bus[32], id[16] = {};
    CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, device));
    int byBus = -1, chosen = -1;
    CHECK(cudaDeviceGetByPCIBusId(&byBus, bus));
    CHECK(cudaChooseDevice(&chosen, &p));
    EXPECT(byBus == device && chosen >= 0 && memcmp(p.uuid.bytes, id, 16) != 0);
    size_t free = 0, total = 0, limit = 0;
    CHECK(cudaMemGetInfo(&free, &total));
    EXPECT(free <= total && total == p.totalGlobalMem);
    for (int l = cudaLimitStackSize; l <= cudaLimitPersistingL2CacheSize; ++l)
      CHECK(cudaDeviceGetLimit(&limit, (cudaLimit)l));
    int least = 0, greatest = 0;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(least >= greatest);
    cudaFuncCache cache;
    unsigned flags = 77;
    CHECK(cudaDeviceGetCacheConfig(&cache));
    CHECK(cudaGetDeviceFlags(&flags));
    EXPECT(flags < 64);
  }
  int now = -1, peers = -1;
  CHECK(cudaGetDevice(&now));
  EXPECT(now == count - 1);
  CHECK(cudaDeviceCanAccessPeer(&peers, 0, 0));
  EXPECT(peers == 0);
  EXPECT(cudaSetDevice(count) == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaSuccess);
  cudaDeviceProp other;
  EXPECT(cudaGetDeviceProperties(&other, 99) == cudaErrorInvalidDevice);
  cudaGetLastError();
  CHECK(cudaDeviceReset());
  return done();
}
