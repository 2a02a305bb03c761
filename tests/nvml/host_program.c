/* A plain C program, linked against the library; it asks for something that is not supported, too.
 */
#include <stdio.h>
#include <string.h>

#include "loader/libnvml/nvml_api.h"

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned *milliwatts);

int main(void) {
  nvmlDevice_t device = NULL;
  char name[96] = "";
  unsigned milliwatts = 0;
  const int isRight = nvmlInit_v2() == NVML_SUCCESS &&
                      nvmlDeviceGetHandleByIndex_v2(0, &device) == NVML_SUCCESS &&
                      nvmlDeviceGetName(device, name, sizeof name) == NVML_SUCCESS &&
                      strncmp(name, "ptxrun CPU", 10) == 0 &&
                      nvmlDeviceGetPowerUsage(device, &milliwatts) == NVML_ERROR_NOT_SUPPORTED &&
                      nvmlShutdown() == NVML_SUCCESS;
  printf("%s: %s\n", name, isRight ? "right" : "wrong");
  return isRight ? 0 : 1;
}
