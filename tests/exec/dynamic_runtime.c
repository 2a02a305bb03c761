/* Looks like NVIDIA's shared runtime, which a program finds by its own search path. */
int cudaRuntimeGetVersion(int *version) {
  *version = 999;
  return 0;
}
