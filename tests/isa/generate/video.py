"""Cases of video instructions, PTX ISA 9.7.18, from the manual's pseudo-code."""
from casefile import CaseFile, clamp, integers, signed, unsigned
from exact import random_source

TYPES = ("u32", "s32")
SCALAR = ["", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"]


def extract(word, selector, kind):
    """partSelectSignExtend"""
    if not selector:
        return signed(word, 32) if kind == "s32" else word
    bits = 8 if selector[1] == "b" else 16
    value = word >> (bits * int(selector[2])) & ((1 << bits) - 1)
    return signed(value, bits) if kind == "s32" else value


def saturated(tmp, sat, kind, selector):
    if not sat:
        return unsigned(tmp, 32)
    bits = {"": 32, "b": 8, "h": 16}[selector[1:2]]
    return unsigned(clamp(tmp, kind[0] + str(bits)), 32)


def secondary(op, tmp, c, kind):
    number = lambda x: signed(x, 32) if kind == "s32" else unsigned(x, 32)
    return unsigned({"add": tmp + c, "min": min(number(tmp), number(c)), "max": max(number(tmp), number(c))}[op], 32)


def merge(selector, tmp, c):
    bits = 8 if selector[1] == "b" else 16
    shift = bits * int(selector[2])
    mask = ((1 << bits) - 1) << shift
    return c & ~mask & 0xFFFFFFFF | tmp << shift & mask


def primary(op, a, b):
    average = (a + b + 1) >> 1 if a + b >= 0 else (a + b) >> 1
    return {"add": a + b, "sub": a - b, "absdiff": abs(a - b), "min": min(a, b), "max": max(a, b), "avrg": average}[op]


COMPARE = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
           "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}


def words(rng):
    pool = [x & 0xFFFFFFFF for x in integers(rng, "s32", 14)] + [0x80FF7F01, 0x00FF8000, 0x7FFF8000]
    return rng.choice(pool + [rng.getrandbits(32)] * 8)


def scalar(out, rng, head, tail, compute, kind, is_shift=False):
    """One secondary form: none, .op2, or merge; `compute(a, b, dsel)` gives the 32-bit result."""
    for form in ("", "op2", "merge"):
        asel, bsel = rng.choice(SCALAR), rng.choice(SCALAR)
        dsel = rng.choice(SCALAR[1:]) if form == "merge" else ""
        op2 = rng.choice(["add", "min", "max"]) if form == "op2" else ""
        name = head + tail + (f".{op2}" if op2 else "")
        out.signature(f"b32 b32{' b32' if form else ''} -> b32; registers")
        out.code(f"{name} $d0{dsel}, $a0{asel}, $a1{bsel}" + (", $a2;" if form else ";"))
        for _ in range(4):
            a, b, c = words(rng), words(rng), words(rng)
            if is_shift and rng.random() < 0.7:
                b = b & 0x1F1F1F1F | rng.choice([0, 0x20202020])
            result = compute(a, b, asel, bsel, dsel)
            result = secondary(op2, result, c, kind) if op2 else merge(dsel, result, c) if dsel else result
            out.case(name, [hex(a), hex(b), hex(c)][:3 if form else 2], [hex(result)])


def scalar_file():
    rng = random_source("video")
    out = CaseFile("video", "scalar", "PTX ISA 9.7.18.1: scalar video instructions")
    for op in ("add", "sub", "absdiff", "min", "max"):
        for d in TYPES:
            for x in TYPES:
                for y in TYPES:
                    for sat in ("", ".sat"):
                        def compute(a, b, asel, bsel, dsel):
                            return saturated(primary(op, extract(a, asel, x), extract(b, bsel, y)), sat, d, dsel)
                        scalar(out, rng, f"v{op}.{d}.{x}.{y}", sat, compute, d)
    for op in ("shl", "shr"):
        for d in TYPES:
            for x in TYPES:
                for sat in ("", ".sat"):
                    for mode in ("clamp", "wrap"):
                        def compute(a, b, asel, bsel, dsel):
                            n = extract(b, bsel, "u32")
                            n = min(n, 32) if mode == "clamp" else n & 31
                            value = extract(a, asel, x)
                            return saturated(value << n if op == "shl" else value >> n, sat, d, dsel)
                        scalar(out, rng, f"v{op}.{d}.{x}.u32{sat}", f".{mode}", compute, d, True)
    for x in TYPES:
        for y in TYPES:
            for op in COMPARE:
                def compute(a, b, asel, bsel, dsel):
                    return int(COMPARE[op](extract(a, asel, x), extract(b, bsel, y)))
                scalar(out, rng, f"vset.{x}.{y}.{op}", "", compute, "u32")
    out.write()
    multiply(rng)


def multiply(rng):
    out = CaseFile("video", "vmad", "PTX ISA 9.7.18.1.3: vmad")
    for d in TYPES:
        for x in TYPES:
            for y in TYPES:
                for po in ("", ".po"):
                    for sat in ("", ".sat"):
                        for scale, shift in (("", 0), (".shr7", 7), (".shr15", 15)):
                            asel, bsel = rng.choice(SCALAR), rng.choice(SCALAR)
                            signs = [(0, 0, 0) if po else rng.choice([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])]
                            for na, nb, nc in signs:
                                name = f"vmad.{d}.{x}.{y}{po}{sat}{scale}"
                                minus = ["-" if n else "" for n in (na, nb, nc)]
                                out.signature("b32 b32 b32 -> b32; registers")
                                out.code(f"{name} $d0, {minus[0]}$a0{asel}, {minus[1]}$a1{bsel}, {minus[2]}$a2;")
                                final = "s32" in (x, y) or na != nb or nc
                                for _ in range(3):
                                    a, b, c = words(rng), words(rng), words(rng)
                                    product = extract(a, asel, x) * extract(b, bsel, y)
                                    addend = signed(c, 32) if final else c
                                    total = (-product if na != nb else product) + (-addend if nc else addend) + (1 if po else 0)
                                    total >>= shift
                                    if sat:
                                        total = clamp(total, "s32" if final else "u32")
                                    out.case(name, [hex(a), hex(b), hex(c)], [hex(unsigned(total, 32))])
    out.write()


def lanes_of(a, b, selector, count, kind, first):
    bits = 32 // count
    both = b << 32 | a
    indices = [int(x) for x in reversed(selector[2:])] if selector else range(first, first + count)
    values = [both >> (bits * i) & ((1 << bits) - 1) for i in indices]
    return [signed(v, bits) for v in values] if kind == "s32" else values


def simd_form(out, rng, name, count, x, y, compute, add):
    """compute(x, y) gives one lane's integer."""
    letter, bits = ("h", 16) if count == 2 else ("b", 8)
    # the defaults or a choice of selectors, in turn
    for chosen in (rng.random() < 0.5,):
        asel, bsel = (f".{letter}" + "".join(rng.choice("0123" if count == 2 else "01234567") for _ in range(count)) if chosen else "" for _ in range(2))
        subset = sorted(rng.sample(range(count), rng.randint(1, count)), reverse=True)
        mask = f".{letter}" + "".join(map(str, subset)) if chosen else ""
        named = subset if chosen else range(count)
        out.signature("b32 b32 b32 -> b32; registers")
        out.code(f"{name} $d0{mask}, $a0{asel}, $a1{bsel}, $a2;")
        for _ in range(4):
            a, b, c = words(rng), words(rng), words(rng)
            t = [compute(p, q) for p, q in zip(lanes_of(a, b, asel, count, x, 0), lanes_of(a, b, bsel, count, y, count))]
            if add:
                d = c + sum(t[i] for i in named)
            else:
                d = sum(unsigned(t[i] if i in named else c >> (bits * i), bits) << (bits * i) for i in range(count))
            out.case(name, [hex(a), hex(b), hex(c)], [hex(unsigned(d, 32))])


def simd():
    for count in (2, 4):
        rng = random_source(f"video simd {count}")
        out = CaseFile("video", f"simd{count}", f"PTX ISA 9.7.18.{count // 2 + 1}: SIMD video instructions of {count} lanes")
        for op in ("add", "sub", "avrg", "absdiff", "min", "max"):
            for d in TYPES:
                for x in TYPES:
                    for y in TYPES:
                        for mode in ("", ".sat", ".add"):
                            limit = d[0] + str(32 // count)
                            compute = lambda p, q: clamp(primary(op, p, q), limit) if mode == ".sat" else primary(op, p, q)
                            simd_form(out, rng, f"v{op}{count}.{d}.{x}.{y}{mode}", count, x, y, compute, mode == ".add")
        for x in TYPES:
            for y in TYPES:
                for op in COMPARE:
                    for mode in ("", ".add"):
                        simd_form(out, rng, f"vset{count}.{x}.{y}.{op}{mode}", count, x, y, lambda p, q: int(COMPARE[op](p, q)), bool(mode))
        out.write()


def main():
    scalar_file()
    simd()


if __name__ == "__main__":
    main()
