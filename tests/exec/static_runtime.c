/* Looks like an object that nvcc linked NVIDIA's static runtime into: functions of the runtime
 * under their names, local to the object. They answer kInside, which nobody should see under
 * `ptxrun exec`. */
#include <dlfcn.h>
#include <stddef.h>

enum { kInside = 999 };
#define INSIDE __attribute__((visibility("hidden"), noinline, used))
#define FUNCTION(name)                                                                             \
  INSIDE int name(void) {                                                                          \
    __asm__ volatile(".skip 16, 0x90");                                                            \
    return kInside;                                                                                \
  }

FUNCTION(__cudaRegisterFatBinary)
FUNCTION(cudaLaunchKernel)
FUNCTION(cudaMalloc)
FUNCTION(cudaFree)
#if RUNTIME_MAJOR == 12
FUNCTION(cudaGetDeviceProperties_v2)
#elif RUNTIME_MAJOR == 13
FUNCTION(cudaLibraryLoadData)
#endif
INSIDE int cudaRuntimeGetVersion(int *version) {
  __asm__ volatile(".skip 16, 0x90");
  *version = kInside;
  return 0;
}
/* As many arguments as there are registers for, whole numbers and others. */
INSIDE int cudaMemcpy2D(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width,
                        size_t height, int kind) {
  (void)to, (void)toPitch, (void)from, (void)fromPitch, (void)width, (void)height, (void)kind;
  __asm__ volatile(".skip 16, 0x90");
  return kInside;
}

/* Texts that a real runtime has as data; what is left of it in a stripped object. */
__attribute__((used)) static const char *const kTexts[] = {
    "__cudaInitModule", "cudaGetDriverEntryPoint", "cudaMallocFromPoolAsync"};

static int versionAtStart;
__attribute__((constructor)) static void start(void) { cudaRuntimeGetVersion(&versionAtStart); }

/* The version that a constructor saw, or -1 where a copy by the runtime goes wrong. */
int checkRuntime(void) {
  unsigned char from[3][8], to[3][4];
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 8; ++column)
      from[row][column] = (unsigned char)(row * 8 + column), to[row][column / 2] = 0;
  enum { kHostToHost = 0 };
  if (cudaMemcpy2D(to, 4, from, 8, 4, 3, kHostToHost) != 0)
    return -1;
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 4; ++column)
      if (to[row][column] != row * 8 + column)
        return -1;
  return versionAtStart;
}

/* What a runtime does first that was not replaced. */
int openDriver(void) { return dlopen("libcuda.so.1", RTLD_NOW) ? 0 : kInside; }
