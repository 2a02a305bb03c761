// Fat binaries, ELF files, static libraries and anything else as code images.
#include <cstdint>

#include "tests/fuzz/image_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ptxrun::tests::tryImage({reinterpret_cast<const char *>(data), size}, /*isBehindAddress=*/false);
  return 0;
}
