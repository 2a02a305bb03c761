"""Cases of integer arithmetic, PTX ISA 9.7.1."""
from casefile import CaseFile, clamp, hexf, integers, limits, signed, unsigned, wrap
from exact import random_source

ALL = ["u16", "u32", "u64", "s16", "s32", "s64"]
COUNT = 14


def width(t):
    return int(t[1:])


def tuples(rng, types, count=COUNT):
    """Operand tuples: limits against limits first, then random."""
    columns = [integers(rng, t, count * 2) for t in types]
    for column in columns[1:]:
        rng.shuffle(column)
    return list(zip(*columns))[:count + 6]


def simple(name, number, title, forms, compute, target=None):
    """forms: (mnemonic, operand types, result type)."""
    rng = random_source(name)
    out = CaseFile("integer", name, f"PTX ISA 9.7.1.{number}: {title}", target)
    for mnemonic, types, result in forms:
        out.signature(f"{' '.join(types)} -> {result}")
        for operands in tuples(rng, types):
            out.case(mnemonic, operands, [wrap(compute(mnemonic, types, *operands), result)])
    out.write()


def quotient(a, b):
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


def division(mnemonic, types, a, b):
    if b == 0:  # unspecified; what GPUs give
        return -1
    return quotient(a, b)


def remainder(mnemonic, types, a, b):
    return a if b == 0 else a - quotient(a, b) * b


def product(mnemonic, types, a, b, c=0):
    n = width(types[0])
    t = a * b
    if ".wide" in mnemonic:
        return t + c
    if ".hi" in mnemonic:
        t >>= n
    total = wrap(t, types[0]) + c
    return clamp(total, types[0]) if ".sat" in mnemonic else total


def product24(mnemonic, types, a, b, c=0):
    low = (lambda x: signed(x, 24)) if types[0][0] == "s" else (lambda x: unsigned(x, 24))
    t = low(a) * low(b)
    t = t >> 16 if ".hi" in mnemonic else t
    total = wrap(t, types[0]) + c
    return clamp(total, "s32") if ".sat" in mnemonic else total


def add_sub(mnemonic, types, a, b):
    total = a + b if mnemonic.startswith("add") else a - b
    return clamp(total, types[0]) if ".sat" in mnemonic else total


def packed(values, element):
    return sum(unsigned(v, width(element)) << (i * width(element)) for i, v in enumerate(values))


def unpack(word, element, count):
    return [wrap(word >> (i * width(element)), element) for i in range(count)]


def packed_cases(name, title, forms, compute, target):
    """forms: (mnemonic, element type, element count, operand count)."""
    rng = random_source("packed " + name)
    out = CaseFile("integer", name, title, target)
    for mnemonic, element, count, operands in forms:
        out.signature(f"{' '.join(['b32'] * operands)} -> b32; registers")
        for _ in range(12):
            values = [[rng.choice(integers(rng, element, 12)) for _ in range(count)] for _ in range(operands)]
            result = [compute(mnemonic, element, *column) for column in zip(*values)]
            out.case(mnemonic, [f"0x{packed(v, element):08X}" for v in values], [f"0x{packed(result, element):08X}"])
    out.write()


def packed_value(mnemonic, element, a, b=0):
    op = mnemonic.split(".")[0]
    value = {"add": a + b, "sub": a - b, "neg": -a, "min": min(a, b), "max": max(a, b)}[op]
    if ".sat" in mnemonic:
        value = clamp(value, element)
    return max(value, 0) if ".relu" in mnemonic else value


def bfe(mnemonic, types, a, b, c):
    n, pos, length = width(types[0]), b & 255, c & 255
    a = unsigned(a, n)
    sign = 0 if types[0][0] == "u" or length == 0 else a >> min(pos + length - 1, n - 1) & 1
    return sum((a >> (pos + i) & 1 if i < length and pos + i < n else sign) << i for i in range(n))


def bfi(n, a, b, pos, length):
    for i in range(length & 255):
        if (pos & 255) + i < n:
            bit = 1 << ((pos & 255) + i)
            b = b | bit if a >> i & 1 else b & ~bit
    return b


def bfind(mnemonic, types, a):
    n = width(types[0])
    found = (~a if a < 0 else a).bit_length() - 1
    if found < 0:
        return -1
    return n - 1 - found if ".shiftamt" in mnemonic else found


def fns(mask, base, offset):
    if offset == 0:
        return base if mask >> base & 1 else 0xFFFFFFFF
    pos, count, step = base, abs(offset) - 1, 1 if offset > 0 else -1
    while 0 <= pos < 32:
        if mask >> pos & 1:
            if count == 0:
                return pos
            count -= 1
        pos += step
    return 0xFFFFFFFF


def szext(mnemonic, types, a, b):
    if b >= 32 and ".clamp" in mnemonic:
        return a
    n = b & 31
    return 0 if n == 0 else (signed(a, n) if types[0] == "s32" else unsigned(a, n))


def bmsk(mnemonic, types, a, b):
    if ".wrap" in mnemonic:
        a, b = a & 31, b & 31
    return unsigned(((1 << min(b, 32)) - 1) << a, 32) if a < 32 else 0


def dot(elements, mnemonic, types, a, b, c):
    atype, btype = mnemonic.split(".")[-2:]
    size = 32 // elements
    x = [wrap(a >> (i * size), atype[0] + str(size)) for i in range(elements)]
    y = [wrap(b >> (i * 8), btype[0] + "8") for i in range(4)]
    first = 2 if ".hi" in mnemonic else 0
    return c + sum(x[i] * y[first + i] for i in range(elements))


def fields():
    """bfe, bfi, fns, shifts of fields: positions and lengths around every edge."""
    rng = random_source("fields")
    edges = [0, 1, 5, 31, 32, 33, 63, 64, 100, 255, 256, 257]
    out = CaseFile("integer", "bfe", "PTX ISA 9.7.1.19: bfe")
    for t in ["u32", "s32", "u64", "s64"]:
        for i in range(30):
            if i in (0, 20):  # literals end at 255
                out.signature(f"{t} u32 u32 -> {t}" + ("" if i == 0 else "; registers"))
                allowed = edges[:-2] if i == 0 else edges
            a, pos, length = wrap(rng.getrandbits(64), t), rng.choice(allowed), rng.choice(allowed)
            out.case(f"bfe.{t}", [a, pos, length], [wrap(bfe("bfe", [t], a, pos, length), t)])
    out.write()
    out = CaseFile("integer", "bfi", "PTX ISA 9.7.1.20: bfi")
    for n in (32, 64):
        for i in range(30):
            if i in (0, 20):
                out.signature(f"b{n} b{n} u32 u32 -> b{n}" + ("" if i == 0 else "; registers"))
                allowed = edges[:-2] if i == 0 else edges
            a, b, pos, length = rng.getrandbits(n), rng.getrandbits(n), rng.choice(allowed), rng.choice(allowed)
            out.case(f"bfi.b{n}", [hex(a), hex(b), pos, length], [hex(bfi(n, a, b, pos, length))])
    out.write()
    out = CaseFile("integer", "fns", "PTX ISA 9.7.1.17: fns")
    out.signature("b32 b32 s32 -> b32")
    for mask, base, offset in [(0xAAAAAAAA, 3, 1), (0xAAAAAAAA, 3, -1), (0xAAAAAAAA, 2, 1), (0xAAAAAAAA, 2, -1)]:
        out.case("fns.b32", [hex(mask), base, offset], [hex(fns(mask, base, offset))])
    for _ in range(30):
        mask, base, offset = rng.getrandbits(32) & rng.getrandbits(32), rng.randrange(32), rng.choice([0, 1, -1, 2, -3, 5, -8, 17, -32, 33, 2147483647, -2147483648])
        out.case("fns.b32", [hex(mask), base, offset], [hex(fns(mask, base, offset))])
    out.write()


def main():
    simple("add", 1, "add", [(f"add.{t}", [t, t], t) for t in ALL] + [("add.sat.s32", ["s32"] * 2, "s32")], add_sub)
    simple("sub", 2, "sub", [(f"sub.{t}", [t, t], t) for t in ALL] + [("sub.sat.s32", ["s32"] * 2, "s32")], add_sub)
    modes = [(f"mul.{m}.{t}", [t, t], t) for m in ("lo", "hi") for t in ALL]
    wide = [(t, t[0] + str(2 * width(t))) for t in ("u16", "s16", "u32", "s32")]
    simple("mul", 3, "mul", modes + [(f"mul.wide.{t}", [t, t], w) for t, w in wide], product)
    modes = [(f"mad.{m}.{t}", [t, t, t], t) for m in ("lo", "hi") for t in ALL]
    modes += [(f"mad.wide.{t}", [t, t, w], w) for t, w in wide] + [("mad.hi.sat.s32", ["s32"] * 3, "s32")]
    simple("mad", 4, "mad", modes, product)
    simple("mul24", 5, "mul24", [(f"mul24.{m}.{t}", [t, t], t) for m in ("lo", "hi") for t in ("u32", "s32")], product24)
    modes = [(f"mad24.{m}.{t}", [t] * 3, t) for m in ("lo", "hi") for t in ("u32", "s32")]
    simple("mad24", 6, "mad24", modes + [("mad24.hi.sat.s32", ["s32"] * 3, "s32")], product24)
    simple("sad", 7, "sad", [(f"sad.{t}", [t] * 3, t) for t in ALL], lambda m, t, a, b, c: c + abs(a - b))
    simple("div", 8, "div; by zero unspecified: all ones as GPUs give", [(f"div.{t}", [t] * 2, t) for t in ALL], division)
    simple("rem", 9, "rem; by zero unspecified: the dividend as GPUs give", [(f"rem.{t}", [t] * 2, t) for t in ALL], remainder)
    simple("abs", 10, "abs", [(f"abs.{t}", [t], t) for t in ("s16", "s32", "s64")], lambda m, t, a: abs(a))
    simple("neg", 11, "neg", [(f"neg.{t}", [t], t) for t in ("s16", "s32", "s64")], lambda m, t, a: -a)
    simple("min", 12, "min", [(f"min.{t}", [t] * 2, t) for t in ALL] + [("min.relu.s32", ["s32"] * 2, "s32")],
           lambda m, t, a, b: max(min(a, b), 0) if ".relu" in m else min(a, b))
    simple("max", 13, "max", [(f"max.{t}", [t] * 2, t) for t in ALL] + [("max.relu.s32", ["s32"] * 2, "s32")],
           lambda m, t, a, b: max(a, b, 0) if ".relu" in m else max(a, b))
    pairs = [("add.u16x2", "u16", 2, 2), ("add.s16x2", "s16", 2, 2)]
    pairs += [(f"{op}{relu}.{t}x2", t, 2, 2) for op in ("min", "max") for t, relu in (("u16", ""), ("s16", ""), ("s16", ".relu"))]
    packed_cases("packed16", "PTX ISA 9.7.1.1, 9.7.1.12, 9.7.1.13: u16x2, s16x2", pairs, packed_value, None)
    newer = [(f"{op}{sat}.{t}x4", t, 4, 2) for op in ("add", "sub") for sat in ("", ".sat") for t in ("u8", "s8")]
    newer += [(f"add.sat.{t}x2", t, 2, 2) for t in ("u16", "s16")] + [("neg.s8x4", "s8", 4, 1)]
    newer += [(f"{op}{relu}.{t}x4", t, 4, 2) for op in ("min", "max") for t, relu in (("u8", ""), ("s8", ""), ("s8", ".relu"))]
    packed_cases("packed8", "PTX ISA 9.7.1.1 to 9.7.1.13: forms of PTX 9.2", newer, packed_value, "9.2 sm_120f")
    simple("add_sat_u32", 1, "add.sat.u32", [("add.sat.u32", ["u32"] * 2, "u32")], add_sub, "9.2 sm_120f")
    simple("popc", 14, "popc", [(f"popc.b{n}", [f"b{n}"], "u32") for n in (32, 64)], lambda m, t, a: bin(a).count("1"))
    simple("clz", 15, "clz", [(f"clz.b{n}", [f"b{n}"], "u32") for n in (32, 64)], lambda m, t, a: width(t[0]) - a.bit_length())
    simple("brev", 18, "brev", [(f"brev.b{n}", [f"b{n}"], f"b{n}") for n in (32, 64)],
           lambda m, t, a: int(f"{a:0{width(t[0])}b}"[::-1], 2))
    simple("bfind", 16, "bfind", [(f"bfind{s}.{t}", [t], "u32") for s in ("", ".shiftamt") for t in ("u32", "u64", "s32", "s64")], bfind)
    fields()
    simple("szext", 21, "szext", [(f"szext.{m}.{t}", [t, "u32"], t) for m in ("clamp", "wrap") for t in ("u32", "s32")], szext)
    simple("bmsk", 22, "bmsk", [(f"bmsk.{m}.b32", ["u32", "u32"], "b32") for m in ("clamp", "wrap")], bmsk)
    kinds = [(a, b) for a in ("u32", "s32") for b in ("u32", "s32")]
    simple("dp4a", 23, "dp4a", [(f"dp4a.{a}.{b}", ["b32"] * 3, "b32") for a, b in kinds], lambda *x: dot(4, *x))
    simple("dp2a", 24, "dp2a", [(f"dp2a.{m}.{a}.{b}", ["b32"] * 3, "b32") for m in ("lo", "hi") for a, b in kinds], lambda *x: dot(2, *x))


if __name__ == "__main__":
    main()
