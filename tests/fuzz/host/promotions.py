#!/usr/bin/env python3
"""promotions.py SEED COUNT: kernels that compute with bytes and 16-bit numbers, as C for nvptx64 and for the host, on standard output.

C promotes them to int; each kernel evaluates expressions of which no part overflows (their bounds are known here), many of which
stay in 16 bits, some just not. Compiled for the host it is a program that writes the launches, with the results that they must have,
as a description for ptxrun run.
"""
import random
import sys

from launches import print_end

THREADS, GUARD, INPUTS = 384, 370, 400
LEAVES = [("ub[i]", 0, 255, 5), ("ub[i + 1]", 0, 255, 4), ("ub[i + 7]", 0, 255, 2), ("sb[i]", -128, 127, 3), ("sb[i + 3]", -128, 127, 2),
          ("us[i]", 0, 65535, 1), ("ss[i]", -32768, 32767, 2)]
CASTS = [("unsigned char", 0, 255), ("signed char", -128, 127), ("short", -32768, 32767), ("unsigned short", 0, 65535)]
RESULTS = {"unsigned char": "u8", "signed char": "s8", "short": "s16", "unsigned short": "u16", "int": "s32", "long long": "s64"}
LIMIT = 1 << 29

PRELUDE = """
static inline int least(int a, int b) { return a < b ? a : b; }
static inline int most(int a, int b) { return a > b ? a : b; }
static inline int size(int a) { return a < 0 ? -a : a; }
#define INPUTS const unsigned char *ub, const signed char *sb, const unsigned short *us, const short *ss
#ifdef __NVPTX__
#define KERNEL(name, type) __attribute__((nvptx_kernel)) void name(INPUTS, type *out)
#define THREAD const int i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
#else
#define KERNEL(name, type) static void name(INPUTS, type *out, int i)
#define THREAD
extern int printf(const char *, ...);
#endif
"""


class Drawer:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def leaf(self):
        if self.r.random() < 0.2:
            c = self.r.choice([self.r.randint(-8, 8), self.r.randint(-300, 300), self.r.randint(-40000, 70000)])
            return f"({c})", c, c
        return self.r.choices(LEAVES, [w for *_, w in LEAVES])[0][:3]

    def expression(self, depth):
        """Text, and the least and the greatest value."""
        if depth == 0 or self.r.random() < 0.08:
            return self.leaf()
        kind = self.r.choices(["+", "-", "*", "bits", "<<", ">>", "least", "most", "size", "?", "cast"],
                              [9, 7, 3, 5, 2, 5, 3, 3, 2, 4, 1])[0]
        a, low, high = self.expression(depth - 1)
        if kind in ("<<", ">>"):
            by = self.r.randint(1, 8)
            if kind == ">>":
                return f"({a} >> {by})", low >> by, high >> by
            return (f"({a} << {by})", low << by, high << by) if low >= 0 and high << by <= LIMIT else (a, low, high)
        if kind == "size":
            return f"size({a})", 0 if low <= 0 <= high else min(abs(low), abs(high)), max(abs(low), abs(high))
        if kind == "cast":
            type_, least, most = self.r.choice(CASTS)
            return f"(int)({type_})({a})", least, most
        b, low2, high2 = self.expression(depth - 1)
        if kind == "?":
            sign = self.r.choice(["", "(unsigned)"])
            c, d = self.expression(max(depth - 2, 0))[0], self.expression(max(depth - 2, 0))[0]
            return f"({sign}{c} {self.r.choice(['<', '>', '<=', '>=', '==', '!='])} {sign}{d} ? {a} : {b})", min(low, low2), max(high, high2)
        if kind in ("least", "most"):
            pick = min if kind == "least" else max
            return f"{kind}({a}, {b})", pick(low, low2), pick(high, high2)
        if kind == "bits":
            bound = 1 << max(abs(low), abs(high), abs(low2), abs(high2)).bit_length()
            return f"({a} {self.r.choice('&|^')} {b})", -bound if min(low, low2) < 0 else 0, bound
        products = [x * y for x in (low, high) for y in (low2, high2)]
        bounds = {"+": (low + low2, high + high2), "-": (low - high2, high - low2), "*": (min(products), max(products))}[kind]
        return (f"({a} {kind} {b})", *bounds) if -LIMIT <= bounds[0] and bounds[1] <= LIMIT else (a, low, high)

    def kernel(self, name):
        type_ = self.r.choice(list(RESULTS))
        draw = lambda most: self.expression(self.r.randint(2, most))[0]
        body = f"out[i] = ({type_}){draw(6)};"
        if self.r.random() < 0.3:
            body = f"if ({draw(3)} > {draw(3)}) {body} else out[i] = ({type_}){draw(4)};"
        return f"KERNEL({name}, {type_}) {{ THREAD if (i < {GUARD}) {{ {body} }} }}", type_


def values(random_, low, high):
    return [random_.choice([low, high, 0]) if random_.random() < 0.2 else random_.randint(low, high) for _ in range(INPUTS)]


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    drawer = Drawer(seed)
    print(PRELUDE)
    kernels = []
    for n in range(count):
        text, type_ = drawer.kernel(f"k{n}")
        print(text)
        kernels.append((f"k{n}", type_))
    inputs = {"ub": ("unsigned char", 0, 255), "sb": ("signed char", -128, 127), "us": ("unsigned short", 0, 65535), "ss": ("short", -32768, 32767)}
    print('#ifndef __NVPTX__\nint main(void) {\n  printf("module = \\"kernels.ptx\\"\\n[buffers]\\n");')
    for name, (type_, low, high) in inputs.items():
        text = ",".join(map(str, values(drawer.r, low, high)))
        print(f'  static const {type_} {name}[] = {{{text}}};\n  printf("{name} = \\"{RESULTS[type_]}[{INPUTS}]:{text}\\"\\n");')
    for name, type_ in kernels:
        print(f'  {{ static {type_} out[{THREADS}];\n  for (int i = 0; i < {THREADS}; ++i) {name}(ub, sb, us, ss, out, i);\n'
              f'  printf("out{name} = \\"{RESULTS[type_]}[{THREADS}]:zero\\"\\nwant{name} = \\"{RESULTS[type_]}[{THREADS}]:");\n'
              f'  for (int i = 0; i < {THREADS}; ++i) printf(i ? ",%lld" : "%lld", (long long)out[i]);\n  printf("\\"\\n"); }}')
    print_end([(name, THREADS // 96, 96) for name, _ in kernels], inputs)


main()
