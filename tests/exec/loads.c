/* loads OBJECT FUNCTION: loads an object, calls its function and prints what that answers. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words) {
  if (count != 3)
    return 2;
  void *const object = dlopen(words[1], RTLD_NOW);
  if (!object) {
    puts(dlerror());
    return 2;
  }
  int (*const function)(void) = (int (*)(void))dlsym(object, words[2]);
  printf("answer %d\n", function());
  return 0;
}
