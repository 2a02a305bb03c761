/* A program of Csmith (-DPROGRAM="file") as a kernel, or as a host program that prints its sum. */
#define main programMain
#include PROGRAM
#undef main
#undef printf

#ifdef __NVPTX__
__attribute__((nvptx_kernel)) void run(uint32_t *sum) {
  programMain();
  *sum = programSum;
}
#else
extern int printf(const char *, ...);
int main(void) {
  programMain();
  printf("[%u]\n", programSum);
  return 0;
}
#endif
