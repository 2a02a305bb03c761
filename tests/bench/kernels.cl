// The sample kernels again, in OpenCL 1.2: the same algorithms with the same blocks, for PoCL. Where a sample uses warp
// operations, which OpenCL 1.2 lacks, local memory takes their place.

kernel void saxpy(int n, float a, global const float *x, global float *y) {
  int i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}

kernel void triad(int n, double s, global double *a, global const double *b, global const double *c) {
  int i = get_global_id(0);
  if (i < n) a[i] = b[i] + s * c[i];
}

kernel void copy4(int n, global const float4 *from, global float4 *to) {
  int i = get_global_id(0);
  if (i < n) to[i] = from[i];
}

void atomicAddFloat(volatile global float *address, float value) {
  union { unsigned bits; float real; } old, sum;
  do {
    old.real = *address;
    sum.real = old.real + value;
  } while (atomic_cmpxchg((volatile global unsigned *)address, old.bits, sum.bits) != old.bits);
}

kernel void reduce(int n, global const float *x, global float *sum) {
  local float part[256];
  int t = get_local_id(0);
  float mine = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) mine += x[i];
  part[t] = mine;
  for (int half_ = 128; half_ > 0; half_ /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < half_) part[t] += part[t + half_];
  }
  if (t == 0) atomicAddFloat(sum, part[0]);
}

/// Inclusive scan of one value per work-item.
unsigned blockScan(unsigned value, local unsigned *sums) {
  int t = get_local_id(0);
  sums[t] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int offset = 1; offset < 256; offset *= 2) {
    unsigned below = t >= offset ? sums[t - offset] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[t] += below;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  unsigned result = sums[t];
  barrier(CLK_LOCAL_MEM_FENCE);
  return result;
}

kernel void scanBlocks(int n, global const uint4 *in, global uint4 *out, global unsigned *totals) {
  local unsigned sums[256];
  int i = get_global_id(0);
  uint4 v = i * 4 < n ? in[i] : (uint4)(0);
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  unsigned last = blockScan(v.w, sums);
  unsigned before = last - v.w;
  if (i * 4 < n) out[i] = v + before;
  if (get_local_id(0) == 255) totals[get_group_id(0)] = last;
}

kernel void scanTotals(int blocks, global unsigned *totals) {
  local unsigned sums[256];
  local unsigned carry;
  int t = get_local_id(0);
  if (t == 0) carry = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int base = 0; base < blocks; base += 256) {
    int i = base + t;
    unsigned sum = blockScan(i < blocks ? totals[i] : 0, sums) + carry;
    if (i < blocks) totals[i] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t == 255) carry = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

kernel void addOffsets(int n, global const unsigned *totals, global uint4 *out) {
  int i = get_global_id(0), group = get_group_id(0);
  if (group == 0 || i * 4 >= n) return;
  out[i] += totals[group - 1];
}

kernel void stencil2d(int width, int height, global const float *in, global float *out) {
  local float tile[10][34];
  int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1), tx = lx + 1, ty = ly + 1;
  bool isInside = x < width && y < height;
  if (isInside) {
    tile[ty][tx] = in[y * width + x];
    if (lx == 0 && x > 0) tile[ty][0] = in[y * width + x - 1];
    if (lx == 31 && x + 1 < width) tile[ty][33] = in[y * width + x + 1];
    if (ly == 0 && y > 0) tile[0][tx] = in[(y - 1) * width + x];
    if (ly == 7 && y + 1 < height) tile[9][tx] = in[(y + 1) * width + x];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!isInside) return;
  float result = tile[ty][tx];
  if (x > 0 && x + 1 < width && y > 0 && y + 1 < height)
    result = 0.5f * result + 0.125f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
  out[y * width + x] = result;
}

kernel void transpose(int width, int height, global const float *in, global float *out) {
  local float tile[32][33];
  int lx = get_local_id(0), ly = get_local_id(1), gx = get_group_id(0), gy = get_group_id(1);
  int x = gx * 32 + lx, y = gy * 32 + ly;
  for (int row = 0; row < 32; row += 8)
    if (x < width && y + row < height) tile[ly + row][lx] = in[(y + row) * width + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  x = gy * 32 + lx;
  y = gx * 32 + ly;
  for (int row = 0; row < 32; row += 8)
    if (x < height && y + row < width) out[(y + row) * height + x] = tile[lx][ly + row];
}

kernel void spmv(int rows, global const int *rowStart, global const int *column, global const float *value, global const float *x, global float *y) {
  local float part[256];
  int t = get_local_id(0), row = get_global_id(0) / 32, lane = t % 32;
  float sum = 0;
  if (row < rows)
    for (int k = rowStart[row] + lane; k < rowStart[row + 1]; k += 32) sum += value[k] * x[column[k]];
  part[t] = sum;
  for (int offset = 16; offset > 0; offset /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < offset) part[t] += part[t + offset];
  }
  if (lane == 0 && row < rows) y[row] = part[t];
}

kernel void histogram(int words, global const unsigned *data, global unsigned *bins) {
  local unsigned mine[256];
  for (int bin = get_local_id(0); bin < 256; bin += get_local_size(0)) mine[bin] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < words; i += get_global_size(0)) {
    unsigned word = data[i];
    atomic_inc(&mine[word & 255]);
    atomic_inc(&mine[(word >> 8) & 255]);
    atomic_inc(&mine[(word >> 16) & 255]);
    atomic_inc(&mine[word >> 24]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int bin = get_local_id(0); bin < 256; bin += get_local_size(0))
    if (mine[bin]) atomic_add(&bins[bin], mine[bin]);
}

float normalCdf(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  float tail = 0.39894228f * exp(-0.5f * d * d) *
               (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - tail : tail;
}

kernel void blackScholes(int n, float rate, float volatility, global const float *price, global const float *strike, global const float *years,
                         global float *call, global float *put) {
  int i = get_global_id(0);
  if (i >= n) return;
  float s = price[i], x = strike[i], t = years[i];
  float root = sqrt(t);
  float d1 = (log(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
  float d2 = d1 - volatility * root;
  float n1 = normalCdf(d1), n2 = normalCdf(d2);
  float discounted = x * exp(-rate * t);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}

#pragma OPENCL FP_CONTRACT OFF
kernel void mandelbrot(int width, int height, int limit, float left, float top, float step, global int *iterations) {
  int px = get_global_id(0), py = get_global_id(1);
  if (px >= width || py >= height) return;
  float cx = left + step * (float)px, cy = top - step * (float)py;
  float x = 0, y = 0, xx = 0, yy = 0;
  int count = 0;
  while (count < limit && xx + yy <= 4.0f) {
    float xy = x * y;
    y = xy + xy + cy;
    x = xx - yy + cx;
    xx = x * x;
    yy = y * y;
    ++count;
  }
  iterations[py * width + px] = count;
}
#pragma OPENCL FP_CONTRACT ON

kernel void nbody(int n, float softening, global const float4 *body, global float4 *acceleration) {
  local float4 tile[256];
  int i = get_global_id(0), t = get_local_id(0);
  float4 me = i < n ? body[i] : (float4)(0);
  float ax = 0, ay = 0, az = 0;
  for (int base = 0; base < n; base += 256) {
    tile[t] = base + t < n ? body[base + t] : (float4)(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 256; ++k) {
      float4 other = tile[k];
      float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      float inverse = rsqrt(dx * dx + dy * dy + dz * dz + softening);
      float weight = other.w * inverse * inverse * inverse;
      ax += dx * weight;
      ay += dy * weight;
      az += dz * weight;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < n) acceleration[i] = (float4)(ax, ay, az, 0);
}

kernel void sgemmNaive(int n, global const float *a, global const float *b, global float *c) {
  int column = get_global_id(0), row = get_global_id(1);
  if (column >= n || row >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

kernel void sgemmTiled(int n, global const float *a, global const float *b, global float *c) {
  local float panelA[8][128], panelB[8][128];
  int thread = get_local_id(0), bx = get_group_id(0), by = get_group_id(1);
  int row = thread / 16 * 8, column = thread % 16 * 8;
  int rowA = thread / 2, columnA = thread % 2 * 4, rowB = thread / 32, columnB = thread % 32 * 4;
  a += by * 128 * n;
  b += bx * 128;
  float sum[8][8] = {{0}};
  for (int base = 0; base < n; base += 8) {
    float4 four = *(global const float4 *)&a[rowA * n + base + columnA];
    panelA[columnA + 0][rowA] = four.x;
    panelA[columnA + 1][rowA] = four.y;
    panelA[columnA + 2][rowA] = four.z;
    panelA[columnA + 3][rowA] = four.w;
    *(local float4 *)&panelB[rowB][columnB] = *(global const float4 *)&b[(base + rowB) * n + columnB];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 8; ++k)
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) sum[i][j] += panelA[k][row + i] * panelB[k][column + j];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c += (by * 128 + row) * n + bx * 128 + column;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) c[i * n + j] = sum[i][j];
}

kernel void bitonic(global unsigned *keys) {
  local unsigned run[1024];
  int thread = get_local_id(0);
  global unsigned *mine = keys + get_group_id(0) * 1024;
  run[thread] = mine[thread];
  run[thread + 512] = mine[thread + 512];
  for (int size = 2; size <= 1024; size *= 2)
    for (int distance = size / 2; distance > 0; distance /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      int low = 2 * thread - (thread & (distance - 1)), high = low + distance;
      unsigned first = run[low], second = run[high];
      bool isAscending = (low & size) == 0;
      if ((first > second) == isAscending) {
        run[low] = second;
        run[high] = first;
      }
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  mine[thread] = run[thread];
  mine[thread + 512] = run[thread + 512];
}

constant unsigned kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

unsigned rotateRight(unsigned x, int n) { return rotate(x, (unsigned)(32 - n)); }
unsigned bigEndian(unsigned x) { return (rotate(x, 8u) & 0x00ff00ff) | (rotate(x, 24u) & 0xff00ff00); }

kernel void sha256(int n, int blocks, global const unsigned *message, global unsigned *digest) {
  int i = get_global_id(0);
  if (i >= n) return;
  unsigned state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  unsigned w[16];
  for (int block = 0; block < blocks; ++block) {
    for (int k = 0; k < 16; ++k) w[k] = bigEndian(message[(i * blocks + block) * 16 + k]);
    unsigned a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
    __attribute__((opencl_unroll_hint(64))) for (int t = 0; t < 64; ++t) {
      if (t >= 16) {
        unsigned w2 = w[(t - 2) & 15], w15 = w[(t - 15) & 15];
        w[t & 15] += (rotateRight(w2, 17) ^ rotateRight(w2, 19) ^ (w2 >> 10)) + w[(t - 7) & 15] + (rotateRight(w15, 7) ^ rotateRight(w15, 18) ^ (w15 >> 3));
      }
      unsigned t1 = h + (rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25)) + ((e & f) ^ (~e & g)) + kRound[t] + w[t & 15];
      unsigned t2 = (rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e, state[5] += f, state[6] += g, state[7] += h;
  }
  for (int k = 0; k < 8; ++k) digest[8 * i + k] = bigEndian(state[k]);
}
