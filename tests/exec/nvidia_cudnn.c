/* Looks like NVIDIA's libcudnn.so.9 where there is no GPU: it has a version, and makes no handle.
 */
#include <stddef.h>

size_t cudnnGetVersion(void) { return 90302; }
int cudnnCreate(void **handle) {
  *handle = NULL;
  return 1001; /* CUDNN_STATUS_NOT_INITIALIZED */
}
int cudnnDestroy(void *handle) {
  (void)handle;
  return 1001;
}
int cudnnSetStream(void *handle, void *stream) {
  (void)handle;
  (void)stream;
  return 1001;
}
int cudnnGetStream(void *handle, void **stream) {
  (void)handle;
  (void)stream;
  return 1001;
}
int cudnnGetProperty(int property, int *value) {
  (void)property;
  (void)value;
  return 1001;
}
const char *cudnnGetErrorString(int status) {
  (void)status;
  return "";
}
void cudnnGetLastErrorString(char *message, size_t size) {
  (void)message;
  (void)size;
}
int cudnnSoftmaxForward(void *handle) {
  (void)handle;
  return 1001;
}
