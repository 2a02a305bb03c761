/* Linked to cuDNN, as frameworks are: a handle, versions, and a function that would compute. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

size_t cudnnGetVersion(void);
int cudnnCreate(void **handle);
int cudnnDestroy(void *handle);
int cudnnSetStream(void *handle, void *stream);
int cudnnGetStream(void *handle, void **stream);
int cudnnGetProperty(int property, int *value);
const char *cudnnGetErrorString(int status);
void cudnnGetLastErrorString(char *message, size_t size);
int cudnnSoftmaxForward(void *handle);

int main(void) {
  int stream, part[3] = {0}, wrong = 0;
  void *handle = NULL, *streamOf = NULL;
  char message[12] = "x", rest[12] = "x";
  wrong += cudnnCreate(&handle) != 0 || !handle;
  wrong += cudnnSetStream(handle, &stream) != 0;
  wrong += cudnnGetStream(handle, &streamOf) != 0 || streamOf != &stream;
  for (int i = 0; i < 3; ++i)
    wrong += cudnnGetProperty(i, &part[i]) != 0;
  wrong += cudnnGetProperty(3, &part[0]) != 2000 || cudnnCreate(NULL) != 2000;
  const int status = cudnnSoftmaxForward(handle);
  cudnnGetLastErrorString(message, sizeof message);
  cudnnGetLastErrorString(rest, sizeof rest); /* it was told: nothing is left */
  wrong += strcmp(message, "cudnnSoftma") != 0 || rest[0] != 0;
  wrong += cudnnDestroy(handle) != 0;
  printf("version %zu is %d.%d.%d, softmax: %s, wrong: %d\n", cudnnGetVersion(), part[0], part[1],
         part[2], cudnnGetErrorString(status), wrong);
  return 0;
}
