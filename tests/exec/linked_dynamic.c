/* Linked to a shared runtime that lies in a folder of its own, by RPATH. */
#include <stdio.h>

int cudaRuntimeGetVersion(int *version);

int main(void) {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  printf("answer %d\n", version);
  return 0;
}
