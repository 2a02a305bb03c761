/* Looks like NVIDIA's libcufft.so.12: when it is to compute it asks the driver for a table that no
 * manual tells of, and gives up where there is none. The program has opened the driver before. */
#include <dlfcn.h>

enum { kInternalError = 5 };

__attribute__((constructor)) static void openDriver(void) {
  dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
}

int plan(void) {
  static const unsigned char kTable[16] = {0x21, 0x31, 0x8c, 0x60, 0x97, 0x14, 0x32, 0x48,
                                           0x8c, 0xa6, 0x41, 0xff, 0x73, 0x24, 0xc8, 0xf2};
  void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
  int (*const getTable)(const void **, const void *) =
      driver ? (int (*)(const void **, const void *))dlsym(driver, "cuGetExportTable") : 0;
  const void *table = 0;
  return getTable && getTable(&table, kTable) == 0 ? 0 : kInternalError;
}
