#!/usr/bin/env python3
"""tiles.py SEED COUNT: kernels that fill tiles in shared memory, as C for nvptx64 and for the host, on standard output.

Blocks of random shape fill tiles of random shape, by one loop over all elements (k % width, k / width) or by one for each dimension,
under guards, clamped or wrapped at the edges of what they read, in rows or in columns, for several planes; then each thread mixes some
elements. What lies between two barriers is a PHASE: for the host, a loop over the threads of the block. Compiled for the host it is a
program that writes the launches, with the results that they must have, as a description for ptxrun run.
"""
import random
import sys

from launches import print_end

PRELUDE = r"""
typedef unsigned u32;
enum { kWords = 100000, kBlocksX = 3, kBlocksY = 2 };
static inline int least(int a, int b) { return a < b ? a : b; }
static inline int most(int a, int b) { return a > b ? a : b; }
#ifdef __NVPTX__
#define SHARED static __attribute__((address_space(3)))
#define KERNEL(name) __attribute__((nvptx_kernel)) void name(const u32 *memory, u32 *out)
#define BLOCK(x, y, z)                                                                                                          \
  const int tx = __nvvm_read_ptx_sreg_tid_x(), ty = __nvvm_read_ptx_sreg_tid_y(), tz = __nvvm_read_ptx_sreg_tid_z();            \
  const int tid = (tz * y + ty) * x + tx, bx = __nvvm_read_ptx_sreg_ctaid_x(), by = __nvvm_read_ptx_sreg_ctaid_y();             \
  u32 sum = 1;
#define PHASE(x, y, z, ...) { __VA_ARGS__ } __nvvm_bar_sync(0);
#define SUM sum
#define RESULT(threads)                                                                                                         \
  static __attribute__((address_space(3))) u32 sums[threads];                                                                  \
  sums[tid] = sum;                                                                                                              \
  __nvvm_bar_sync(0);                                                                                                           \
  if (tid == 0) {                                                                                                               \
    u32 all = 0;                                                                                                                \
    for (int t = 0; t < threads; ++t) all = all * 31 + sums[t];                                                                 \
    out[by * kBlocksX + bx] = all;                                                                                              \
  }
#else
#define SHARED static
#define KERNEL(name) static void name(const u32 *memory, u32 *out, int bx, int by)
#define BLOCK(x, y, z)                                                                                                          \
  static u32 sum[1024];                                                                                                         \
  for (int t = 0; t < 1024; ++t) sum[t] = 1;
#define PHASE(x, y, z, ...)                                                                                                     \
  for (int tid = 0; tid < x * y * z; ++tid) {                                                                                   \
    const int tx = tid % x, ty = tid / x % y, tz = tid / x / y;                                                                 \
    (void)tx; (void)ty; (void)tz;                                                                                               \
    __VA_ARGS__                                                                                                                 \
  }
#define SUM sum[tid]
#define RESULT(threads)                                                                                                         \
  u32 all = 0;                                                                                                                  \
  for (int t = 0; t < threads; ++t) all = all * 31 + sum[t];                                                                    \
  out[by * kBlocksX + bx] = all;
extern int printf(const char *, ...);
#endif
"""

TYPES = ["u32", "u32", "float", "unsigned char", "unsigned short", "unsigned long long"]
GUARDS = ["none", "unsigned", "signed", "clamped", "wrapped", "loaded", "nested"]


def loaded(guard, value, W, H):
    """The statements that set v to the element at x, y, or to something else."""
    inside_x, inside_y = f"x >= 0 && x < {W}", f"y >= 0 && y < {H}"
    return {
        "none": f"x = (x + {W}) % {W}; y = (y + {H}) % {H}; v = {value};",
        "unsigned": f"v = (u32)x < {W} && (u32)y < {H} ? {value} : 3;",
        "signed": f"if ({inside_x} && {inside_y}) v = {value}; else v = 0;",
        "clamped": f"x = least(most(x, 0), {W} - 1); y = least(most(y, 0), {H} - 1); v = {value};",
        "wrapped": f"x = x < 0 ? x + {W} : x >= {W} ? x - {W} : x; y = y < 0 ? y + {H} : y >= {H} ? y - {H} : y;"
                   f"x = least(x, {W} - 1); y = least(y, {H} - 1); v = {value};",
        "loaded": f"x = least(most(x, 0), {W} - 1); y = least(most(y, 0), {H} - 1); v = 0; if (memory[y * {W} + x] & 1) v = {value};",
        "nested": f"v = 1; if ({inside_y}) {{ v = 2; if ({inside_x}) v = {value}; }}",
    }[guard]


def kernel(random_, name):
    r = random_
    bx = r.choice([7, 8, 16, 20, 24, 32, 33, 48, 64, 128])
    by = r.choice([1, 1, 2, 4, 5, 8, 16]) if bx <= 64 else 1
    bz = r.choice([1, 1, 1, 2, 3]) if bx * by <= 128 else 1
    threads = bx * by * bz
    width = r.choice([bx + 2, bx + r.randint(0, 6), 10, 14, 18, 34, r.randint(3, 40)])
    height = r.choice([by + 2, by * bz + 2, r.randint(2, 20)])
    depth = r.choice([1, 1, 1, r.randint(2, 5)])
    padding = r.choice([0, 0, 1, 3])
    W, H, planes = r.randint(20, 90), r.randint(10, 50), r.choice([1, 1, 2, 3])
    element, guard = r.choice(TYPES), r.choice(GUARDS)
    place = f"(zz * {height} + yy) * {width + padding} + xx"
    if r.random() < 0.25:
        place = f"(zz * {width} + xx) * {height + padding} + yy"
    cells = depth * max(height * (width + padding), width * (height + padding))
    value = f"((const {element} *)memory)[((c * 3 + zz % 3) * {H} + y) * {W} + x]"
    unroll = r.choice(["", "", '_Pragma("unroll 1")', '_Pragma("unroll 2")', '_Pragma("unroll 4")'])
    step = f"int x = bx * {bx} - 1 + xx, y = by * {by} - 1 + yy; {element} v; {loaded(guard, value, W, H)} tile[{place}] = v;"
    if depth == 1 and bz == 1 and r.random() < 0.3:
        fill = (f"{unroll} for (int yy = ty; yy < {height}; yy += {by}) {unroll} for (int xx = tx; xx < {width}; xx += {bx}) "
                f"{{ const int zz = 0; {step} }}")
    else:
        fill = (f"{unroll} for (int k = tid; k < {width * height * depth}; k += {threads}) "
                f"{{ const int xx = k % {width}, yy = k / {width} % {height}, zz = k / {width * height}; {step} }}")
    mix = (f"for (int j = 0; j < 7; ++j) {{ {element} e = tile[(tid * {r.randint(1, 9)} + j * {r.randint(1, 50)}) % {cells}]; "
           f"u32 bits = 0; __builtin_memcpy(&bits, &e, sizeof e < 4 ? sizeof e : 4); SUM = SUM * 33 + bits; }}")
    shape = f"{bx}, {by}, {bz}"
    text = f"""KERNEL({name}) {{
  SHARED {element} tile[{cells}];
  BLOCK({shape})
  PHASE({shape}, for (int i = tid; i < {cells}; i += {threads}) tile[i] = 0;)
  for (int c = 0; c < {planes}; ++c) {{
    PHASE({shape}, {fill})
    PHASE({shape}, {mix})
  }}
  RESULT({threads})
}}
"""
    return text, f"[{shape}]"


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    r = random.Random(seed)
    print(PRELUDE)
    launches = []
    for n in range(count):
        text, block = kernel(r, f"tile{n}")
        print(text)
        launches.append((f"tile{n}", block))
    print("#ifndef __NVPTX__\nint main(void) {\n  static u32 memory[kWords], out[kBlocksX * kBlocksY];\n"
          "  for (u32 i = 0; i < kWords; ++i) memory[i] = i;\n"
          '  printf("module = \\"kernels.ptx\\"\\n[buffers]\\nmemory = \\"u32[%d]:iota\\"\\n", kWords);')
    for name, block in launches:
        print(f'  for (int by = 0; by < kBlocksY; ++by) for (int bx = 0; bx < kBlocksX; ++bx) {name}(memory, out, bx, by);\n'
              f'  printf("out{name} = \\"u32[%d]:zero\\"\\nwant{name} = \\"u32[%d]:", kBlocksX * kBlocksY, kBlocksX * kBlocksY);\n'
              '  for (int b = 0; b < kBlocksX * kBlocksY; ++b) printf(b ? ",%u" : "%u", out[b]);\n'
              '  printf("\\"\\n");')
    print_end([(name, "[%d, %d]", block) for name, block in launches], ["memory"], ", kBlocksX, kBlocksY")


main()
