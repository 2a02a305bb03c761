/* Linked to an object with a runtime inside. */
#include <stdio.h>

int checkRuntime(void);

int main(void) {
  printf("answer %d\n", checkRuntime());
  return 0;
}
