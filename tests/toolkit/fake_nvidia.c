/* Stands for NVIDIA's NVRTC and nvJitLink: says, as "PTX", what it was asked for. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static char text[1000];

static void say(const char *words) { strncat(text, words, sizeof text - strlen(text) - 1); }
static void sayOptions(int count, const char *const *options) {
  for (int i = 0; i < count; ++i)
    say(options[i]), say(" ");
}

int nvrtcCreateProgram(void **program, const char *source, const char *name, int headerCount,
                       const char *const *headers, const char *const *includeNames) {
  (void)source, (void)name, (void)headerCount, (void)headers, (void)includeNames;
  *program = text;
  return 0;
}
int nvrtcDestroyProgram(void **program) {
  *program = NULL;
  return 0;
}
int nvrtcCompileProgram(void *program, int count, const char *const *options) {
  (void)program;
  text[0] = 0;
  sayOptions(count, options);
  return strstr(text, "--fail") ? 6 : 0;
}
int nvrtcGetPTXSize(void *program, size_t *bytes) {
  *bytes = strlen(program) + 1;
  return 0;
}
int nvrtcGetPTX(void *program, char *to) {
  strcpy(to, program);
  return 0;
}
int nvrtcGetCUBINSize(void *program, size_t *bytes) {
  (void)program;
  *bytes = 0;
  return 0;
}
int nvrtcGetCUBIN(void *program, char *to) {
  (void)program, (void)to;
  return 3;
}
int nvrtcVersion(int *major, int *minor) {
  *major = 77, *minor = 7;
  return 0;
}
const char *nvrtcGetErrorString(int result) { return result == 6 ? "SIX" : "OTHER"; }

int nvJitLinkCreate(void **handle, uint32_t count, const char **options) {
  text[0] = 0;
  say(".version 8.0\n.target sm_80\n.address_size 64\n// ");
  sayOptions((int)count, options);
  say("\n.visible .global .u32 parts = ");
  *handle = text;
  return 0;
}
int nvJitLinkDestroy(void **handle) {
  *handle = NULL;
  return 0;
}
int nvJitLinkAddData(void *handle, int input, const void *data, size_t bytes, const char *name) {
  (void)handle, (void)data, (void)name;
  char part[32];
  snprintf(part, sizeof part, "%zu + ", input == 3 ? bytes : 1000000);
  say(part);
  return 0;
}
int nvJitLinkComplete(void *handle) {
  (void)handle;
  say("0;\n");
  return 0;
}
int nvJitLinkGetLinkedPtxSize(void *handle, size_t *bytes) {
  *bytes = strlen(handle) + 1;
  return 0;
}
int nvJitLinkGetLinkedPtx(void *handle, char *to) {
  strcpy(to, handle);
  return 0;
}
int nvJitLinkGetErrorLogSize(void *handle, size_t *bytes) {
  (void)handle;
  *bytes = 1;
  return 0;
}
int nvJitLinkGetErrorLog(void *handle, char *to) {
  (void)handle;
  *to = 0;
  return 0;
}
