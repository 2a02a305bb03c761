// Every thread sorts its own run of keys in place by quicksort with a stack of its own: divergence everywhere.
constexpr int kStack = 32;

extern "C" __global__ void quicksort(int runs, int length, int *keys) {
  int run = blockIdx.x * blockDim.x + threadIdx.x;
  if (run >= runs) return;
  int *mine = keys + run * length;
  int stack[kStack];
  int top = 0;
  stack[top++] = 0;
  stack[top++] = length - 1;
  while (top > 0) {
    int high = stack[--top], low = stack[--top];
    while (low < high) {
      int pivot = mine[(low + high) / 2];
      int left = low, right = high;
      while (left <= right) {
        while (mine[left] < pivot) ++left;
        while (mine[right] > pivot) --right;
        if (left <= right) {
          int key = mine[left];
          mine[left++] = mine[right];
          mine[right--] = key;
        }
      }
      // The longer part waits on the stack, the shorter one goes on: the stack stays below 2 * log2(length).
      if (right - low > high - left) {
        stack[top++] = low;
        stack[top++] = right;
        low = left;
      } else {
        if (left < high) {
          stack[top++] = left;
          stack[top++] = high;
        }
        high = right;
      }
    }
  }
}
