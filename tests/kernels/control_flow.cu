// Divergent branches and loops, nested every way.

extern "C" __global__ void nestedIf(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i], r = 0;
  if (v & 1) {
    r = 3;
    if (v & 2) {
      r += v >> 3;
      if (v & 4) r ^= 0x55;
      else if (v & 8) r = -r;
    } else {
      if ((v & 12) == 12) r = i;
      r *= 7;
    }
    r += 11;
  } else if (v & 16) {
    r = v % 13;
    if (r < 0) r = -r * 5;
  }
  out[i] = r;
}
CASE(nestedIf, grid(3), block(70), in(210), out(210), 210)
CASE(nestedIf, grid(4), block(64), in(250), out(256), 250)

extern "C" __global__ void nestedLoops(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned r = 1;
  int outer = in[i] & 7;
  for (int a = 0; a < outer; ++a)
    for (int b = a; b < (in[(i + a) % n] & 15); ++b) {
      r = r * 31 + b;
      for (int c = 0; c < (b & 3); ++c) r ^= r >> (c + 1);
    }
  out[i] = r;
}
CASE(nestedLoops, grid(2), block(96), in(190), out(190), 190)

extern "C" __global__ void breakContinue(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int seed = in[i], sum = 0, why = 0;
  for (int k = 0; k < 100; ++k) {
    seed = seed * 1103515245 + 12345;
    if ((seed >> 16) % 5 == 0) continue;
    sum += k;
    if (sum > 1000) {
      why = 1;
      break;
    }
    if ((seed >> 20 & 63) == 7) {
      why = 2;
      break;
    }
    if ((seed >> 8 & 127) == 9) {
      out[i] = -k;
      return;
    }
  }
  out[i] = sum * 4 + why;
}
CASE(breakContinue, grid(3), block(64), in(192), out(192), 192)

extern "C" __global__ void switchDense(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i], r = 0;
  switch (v & 15) {
  case 0: r = v * 2; break;
  case 1: r = v - 7;  // falls through
  case 2: r += 100; break;
  case 3:
    for (int k = 0; k < (v >> 4 & 7); ++k) r += k * v;
    break;
  case 5: r = v / 3;  // falls through
  case 6: r -= 4;     // falls through
  case 7: r ^= v; break;
  case 9: r = -v; break;
  case 12: out[i] = 77; return;
  case 13: r = in[(i + 1) % n]; break;
  default: r = 1;
  }
  out[i] = r;
}
CASE(switchDense, grid(5), block(40), in(200), out(200), 200)

extern "C" __global__ void switchSparse(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i] % 9, r;
  switch (v * 1000 - 3) {
  case -3: r = 5; break;
  case 997: r = in[i] & 31; break;
  case 3997: r = i * i; break;
  case -4003: r = 9; break;
  case 7997: r = -i; break;
  default: r = v;
  }
  out[i] = r;
}
CASE(switchSparse, grid(2), block(128), in(256), out(256), 256)

extern "C" __global__ void collatz(const unsigned *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long v = in[i] % 10007 + 1;
  int steps = 0;
  while (v != 1) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    ++steps;
  }
  out[i] = steps;
}
CASE(collatz, grid(2), block(100), in(200), out(200), 200)

extern "C" __global__ void gcdLcm(const unsigned *a, const unsigned *b, unsigned *gcd, unsigned *rounds, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = a[i] % 100000 + 1, y = b[i] % 100000 + 1, count = 0;
  do {
    unsigned r = x % y;
    x = y;
    y = r;
    ++count;
  } while (y);
  gcd[i] = x;
  rounds[i] = count;
}
CASE(gcdLcm, grid(4), block(50), in(200, random(2)), in(200, random(3)), out(200), out(200), 200)

extern "C" __global__ void gotoOutOfLoops(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int a, b = 0, c = 0;
  for (a = 0; a < 10; ++a)
    for (b = 0; b < 10; ++b)
      for (c = 0; c < 10; ++c) {
        int key = (a * 100 + b * 10 + c) ^ (in[i] & 255);
        if (key % 97 == 13) goto found;
        if (key % 61 == 60) goto next;
      }
next:
  out[i] = -1 - a;
  return;
found:
  out[i] = a * 100 + b * 10 + c;
}
CASE(gotoOutOfLoops, grid(2), block(64), in(128), out(128), 128)

extern "C" __global__ void gotoIntoLoop(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i] & 63, count = 0, r = 0;
  if (v & 1) goto middle;
top:
  r += v;
  v = (v * 5 + 3) & 63;
  if (r & 32) goto last;
middle:
  r ^= v << 1;
  ++count;
  if (count < 20 && v != 7) goto top;
  if (count > 30) goto done;
last:
  r += 3;
  v = (v + 11) & 63;
  ++count;
  if (count < 40 && (v & 3)) goto middle;
done:
  out[i] = r * 64 + count;
}
CASE(gotoIntoLoop, grid(3), block(64), in(190), out(190), 190)

extern "C" __global__ void shortCircuit(const int *in, const int *table, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i], r = 0;
  // The right side must not be read where the left one decides: its index is far out of bounds then.
  if ((v & 7) < 4 && table[(v & 7) < 4 ? v & 3 : 1 << 28] > 0) r |= 1;
  if ((v & 7) >= 4 || table[(v & 7) >= 4 ? 1 << 28 : v & 3] < 0) r |= 2;
  if (((v & 8) && (v & 16)) || ((v & 32) && !(v & 64) && (v & 128))) r |= 4;
  out[i] = r;
}
CASE(shortCircuit, grid(1), block(200), in(200), in(4), out(200), 200)

extern "C" __global__ void byteCodeMachine(const unsigned char *code, const int *in, int *out, int length, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int a = in[i], b = i, pc = i % length;
  for (int step = 0; step < 200; ++step) {
    int op = code[pc] & 15, operand = code[pc] >> 4;
    pc = (pc + 1) % length;
    switch (op) {
    case 0: a += operand; break;
    case 1: b ^= a; break;
    case 2: a = a * 3 + b; break;
    case 3:
      if (a & 1) pc = (pc + operand) % length;
      break;
    case 4:
      if (b < a) pc = (pc + operand * 2) % length;
      break;
    case 5: {
      int t = a;
      a = b;
      b = t;
      break;
    }
    case 6: a >>= operand & 3; break;
    case 7: b -= operand; break;
    case 8:
      while ((a & 7) > 4) a -= 3;
      break;
    case 9:
      if (operand == 15 && step > 50) goto halt;
      break;
    default: b += op;
    }
  }
halt:
  out[i] = a ^ b * 7;
}
CASE(byteCodeMachine, grid(3), block(64), in(97, random(7)), in(192), out(192), 97, 192)

extern "C" __global__ void binarySearch(const int *keys, int *out, int n) {
  __shared__ int sorted[128];
  for (int k = threadIdx.x; k < 128; k += blockDim.x) sorted[k] = k * k - 1000;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int key = keys[i] % 16000, low = 0, high = 128;
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] < key) low = middle + 1;
    else high = middle;
  }
  out[i] = low;
}
CASE(binarySearch, grid(3), block(50), in(150), out(150), 150)

extern "C" __global__ void exitsWithValues(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = in[i] & 1023, y = 0, z = 0, k = 0;
  for (;;) {
    y = x * 3 + k;
    if (y % 7 == 0) {
      z = y + 1;
      break;
    }
    x = (x * 5 + 1) & 1023;
    if (x % 11 == 0) {
      z = -x;
      break;
    }
    z = x ^ y;
    if (++k == 25) break;
  }
  out[i] = x + y * 3 + z * 7 + k * 1000003;
}
CASE(exitsWithValues, grid(2), block(90), in(180), out(180), 180)

extern "C" __global__ void loopsInBranches(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i], r = 0;
  if (v & 1) {
    for (int k = 0; k < (v >> 1 & 31); ++k) r += k * i;
  } else if (v & 2) {
    int k = v & 0xff;
    while (k > 3) {
      k = k * 2 / 3;
      r += k;
      if (r > 300) break;
    }
  } else {
    do {
      r += 5;
      v >>= 1;
    } while (v & 4);
  }
  for (int k = r & 7; k-- > 0;) r = r * 3 - k;
  out[i] = r;
}
CASE(loopsInBranches, grid(2), block(96), in(192), out(192), 192)

// A uniform loop around divergent code, and a divergent loop around uniform code.
extern "C" __global__ void uniformAndDivergent(const int *in, int *out, int rounds, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i < n ? in[i] : -1, r = 0;
  for (int round = 0; round < rounds; ++round) {
    if (round % 3 == 1) r += rounds;  // uniform
    for (int k = 0; k < (v & 3); ++k) {
      if (rounds > 4) r += k * round;  // uniform inside a divergent loop
      else r -= k;
    }
    if (v < 0) continue;
    r ^= round;
  }
  if (i < n) out[i] = r;
}
CASE(uniformAndDivergent, grid(3), block(50), in(140), out(140), 9, 140)
CASE(uniformAndDivergent, grid(1), block(33), in(33), out(33), 2, 33)

extern "C" __global__ void deepNesting(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = in[i], r = 0;
  for (unsigned a = 0; a < (v & 3); ++a)
    if (v >> a & 4)
      for (unsigned b = 0; b < (v >> 3 & 3); ++b)
        if ((v >> b & 9) != 9)
          for (unsigned c = 0; c < (v >> 5 & 3); ++c)
            if (v >> c & 64) {
              for (unsigned d = 0; d < (v >> 8 & 3); ++d) r += a + 3 * b + 9 * c + 27 * d;
            } else {
              r ^= v >> c;
              if (r % 17 == 3) break;
            }
  out[i] = r;
}
CASE(deepNesting, grid(4), block(64), in(256), out(256), 256)

// Threads of a warp that leave one after the other.
extern "C" __global__ void staggeredExit(int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int r = 0;
  for (int k = 0; k < 64; ++k) {
    if (k == (threadIdx.x * 7) % 64) {
      out[i] = r;
      return;
    }
    r += k * (threadIdx.x + 1);
  }
  out[i] = -1;
}
CASE(staggeredExit, grid(2), block(64), out(128))
CASE(staggeredExit, grid(1), block(1), out(1))

extern "C" __global__ void selectChains(const int *a, const int *b, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = a[i], y = b[i];
  int low = x < y ? x : y, high = x < y ? y : x;
  bool both = x > 0 && y > 0, either = x > 0 || y > 0, odd = (x ^ y) & 1;
  out[i] = both ? low : either ? high : odd ? low ^ high : (both != odd ? 1 : 2);
}
CASE(selectChains, grid(3), block(64), in(192, random(4)), in(192, random(5)), out(192), 192)
