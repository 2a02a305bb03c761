// Processes that end, or whose fork's child ends, at any moment after cuInit, while threads of the driver get ready.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loader/libcuda/cuda_api.h"

enum { kLives = 60, kStepUs = 250 };

static void live(unsigned microseconds, int forks) {
  if (cuInit(0) != CUDA_SUCCESS)
    _exit(4);
  usleep(microseconds);
  if (forks && fork() == 0)
    exit(3);
  if (!forks)
    exit(3);
  int status = 0;
  wait(&status);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 5);
}

int main(void) {
  int failures = 0;
  for (int k = 0; k < kLives; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20); // a life that hangs ends by a signal
      live((unsigned)(k / 2) * kStepUs, k % 2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
      continue;
    ++failures;
    fprintf(stderr, "life %d: status 0x%x\n", k, status);
  }
  return failures != 0;
}
