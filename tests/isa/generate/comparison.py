"""Cases of comparison and selection, PTX ISA 9.7.6 and 9.7.7."""
from casefile import CaseFile, hexf, integers, wrap
from exact import BF16, F16, F32, F64, FORMATS, NAN, interesting, random_float, random_source

INTEGER = {"b": ["eq", "ne"], "s": ["eq", "ne", "lt", "le", "gt", "ge"],
           "u": ["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"]}
FLOAT = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
ORDER = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
         "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
ORDER.update({"lo": ORDER["lt"], "ls": ORDER["le"], "hi": ORDER["gt"], "hs": ORDER["ge"]})
BOOLEAN = {"": lambda t, c: t, "and": lambda t, c: t and c, "or": lambda t, c: t or c, "xor": lambda t, c: t != c}


def truth(value):
    return "true" if value else "false"


def key(fmt, bits):
    """Numbers in order, infinities outermost."""
    negative, value = fmt.decode(bits)
    return (-1 if negative else 1, 0) if value == "inf" else (0, fmt.value(bits))


def compare_float(fmt, op, a, b, ftz=False):
    if ftz:
        a, b = fmt.flush(a), fmt.flush(b)
    unordered = fmt.is_nan(a) or fmt.is_nan(b)
    if op in ("num", "nan"):
        return unordered == (op == "nan")
    if unordered:
        return op.endswith("u")
    return ORDER[op[:2]](key(fmt, a), key(fmt, b))


def pairs(rng, t, count):
    """Pairs of operands, equal ones among them."""
    if t in FORMATS:
        fmt = FORMATS[t]
        pool = interesting(fmt)
        some = [(rng.choice(pool), rng.choice(pool)) for _ in range(count - 3)]
        same = rng.choice(pool)
        return some + [(same, same), (fmt.nan, fmt.one), (0, fmt.sign)]
    pool = integers(rng, t, 16)
    some = [(rng.choice(pool), rng.choice(pool)) for _ in range(count - 1)]
    return some + [(pool[-1], pool[-1])]


def text(t, value):
    return hexf(FORMATS[t], value) if t in FORMATS else value


def compare(t, op, a, b, ftz=False):
    return compare_float(FORMATS[t], op, a, b, ftz) if t in FORMATS else ORDER[op[:2]](a, b)


def operators(t):
    return FLOAT if t in FORMATS else INTEGER[t[0]]


def setp(out, t, rng, ftz, negations=("", "!")):
    registers = "; registers" if t in ("f16", "bf16") else ""
    suffix = ".ftz" if ftz else ""
    for op in operators(t):
        out.signature(f"{t} {t} -> pred{registers}")
        for a, b in pairs(rng, t, 7):
            out.case(f"setp.{op}{suffix}.{t}", [text(t, a), text(t, b)], [truth(compare(t, op, a, b, ftz))])
    for i, boolean in enumerate(("and", "or", "xor")):
        op = operators(t)[i % len(operators(t))]
        for negated in negations:
            both = t not in ("f16", "bf16")  # halves have no second result
            out.signature(f"{t} {t} {negated}pred -> {'pred|pred' if both else 'pred'}{registers}")
            for a, b in pairs(rng, t, 6):
                c = rng.getrandbits(1)
                given = bool(c) != (negated == "!")
                result = compare(t, op, a, b, ftz)
                p, q = BOOLEAN[boolean](result, given), BOOLEAN[boolean](not result, given)
                out.case(f"setp.{op}.{boolean}{suffix}.{t}", [text(t, a), text(t, b), truth(c)], [truth(p), truth(q)][:2 if both else 1])


def set_cases(out, d, t, rng, ftz, ops, source=None):
    yes = {"f32": "0f3F800000", "f16": "0x3C00", "bf16": "0x3F80"}.get(d) or wrap(-1, d)
    no = {"f32": "0f00000000", "f16": "0x0000", "bf16": "0x0000"}.get(d, 0)
    half = d in ("f16", "bf16") or t in ("f16", "bf16")
    registers = "; registers" if half else ""
    suffix = ".ftz" if ftz else ""
    for op in ops:
        out.signature(f"{t} {t} -> {d}{registers}")
        for a, b in pairs(rng, t, 5):
            out.case(f"set.{op}{suffix}.{d}.{t}", [text(t, a), text(t, b)], [yes if compare(t, op, a, b, ftz) else no])
    boolean, op = rng.choice(["and", "or", "xor"]), rng.choice(ops)
    out.signature(f"{t} {t} pred -> {d}{registers}")
    for a, b in pairs(rng, t, 5):
        c = bool(rng.getrandbits(1))
        result = BOOLEAN[boolean](compare(t, op, a, b, ftz), c)
        out.case(f"set.{op}.{boolean}{suffix}.{d}.{t}", [text(t, a), text(t, b), truth(c)], [yes if result else no])


NUMBERS = ["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"]


def full():
    rng = random_source("comparison")
    out = CaseFile("comparison", "setp", "PTX ISA 9.7.6.2: setp")
    for t in NUMBERS:
        setp(out, t, rng, False)
    setp(out, "f32", rng, True)
    out.write()
    out = CaseFile("comparison", "set", "PTX ISA 9.7.6.1: set")
    for t in NUMBERS:
        for d in ("u32", "s32", "f32"):
            ops = operators(t)
            set_cases(out, d, t, rng, False, ops if d == "u32" else rng.sample(ops, 2))
    set_cases(out, "u32", "f32", rng, True, FLOAT)
    set_cases(out, "f32", "f32", rng, True, ["lt", "geu"])
    out.write()
    selection(rng)


def selection(rng):
    out = CaseFile("comparison", "selp", "PTX ISA 9.7.6.3: selp")
    for t in NUMBERS:
        out.signature(f"{t} {t} pred -> {t}")
        for a, b in pairs(rng, t, 5):
            c = rng.getrandbits(1)
            out.case(f"selp.{t}", [text(t, a), text(t, b), truth(c)], [text(t, a if c else b)])
    out.write()
    out = CaseFile("comparison", "slct", "PTX ISA 9.7.6.4: slct")
    for t in NUMBERS:
        for c, ftz in (("s32", ""), ("f32", ""), ("f32", ".ftz")):
            out.signature(f"{t} {t} {c} -> {t}")
            choices = [0, 1, -1, 2147483647, -2147483648] if c == "s32" else [0, 0x80000000, 0x3F800000, 0xBF800000, 0x80000001, 0x7FFFFFFF, 0xFF800000]
            for value in choices:
                a, b = pairs(rng, t, 5)[0]
                decoded = F32.flush(value) if ftz else value
                yes = value >= 0 if c == "s32" else compare_float(F32, "ge", decoded, 0)
                out.case(f"slct{ftz}.{t}.{c}", [text(t, a), text(t, b), text(c, value)], [text(t, a if yes else b)])
    out.write()


def pair_word(low, high):
    return f"0x{high << 16 | low:08X}"


def half():
    rng = random_source("half comparison")
    out = CaseFile("half_comparison", "setp", "PTX ISA 9.7.7.2: setp")
    for t in ("f16", "bf16"):
        setp(out, t, rng, False)
    setp(out, "f16", rng, True)
    for t in ("f16", "bf16"):
        for ftz in ("", ".ftz")[:2 if t == "f16" else 1]:
            fmt = FORMATS[t]
            for op in FLOAT:
                out.signature(f"{t}x2 {t}x2 -> pred|pred; registers")
                for (a, b), (c, d) in zip(pairs(rng, t, 6), reversed(pairs(rng, t, 6))):
                    p, q = compare_float(fmt, op, a, b, ftz), compare_float(fmt, op, c, d, ftz)
                    out.case(f"setp.{op}{ftz}.{t}x2", [pair_word(a, c), pair_word(b, d)], [truth(p), truth(q)])
            for boolean in ("and", "or", "xor"):
                out.signature(f"{t}x2 {t}x2 !pred -> pred|pred; registers")
                for (a, b), (c, d) in zip(pairs(rng, t, 6), reversed(pairs(rng, t, 6))):
                    e = bool(rng.getrandbits(1))
                    p, q = (BOOLEAN[boolean](compare_float(fmt, "ltu", x, y, ftz), not e) for x, y in ((a, b), (c, d)))
                    out.case(f"setp.ltu.{boolean}{ftz}.{t}x2", [pair_word(a, c), pair_word(b, d), truth(e)], [truth(p), truth(q)])
    out.write()
    out = CaseFile("half_comparison", "set", "PTX ISA 9.7.7.1: set")
    for d in ("f16", "bf16"):
        for t in ["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f16", "f32", "f64"]:
            ops = FLOAT if t == "f16" else ["eq", "ne"] if t[0] == "b" else ["lt", "ge", "ne"]
            set_cases(out, d, t, rng, False, ops)
    for t in ("f16", "f32"):
        set_cases(out, "f16", t, rng, True, ["lt", "equ"])
    for t in ("f16", "bf16"):
        for d in ("u16", "s16", "u32", "s32"):
            set_cases(out, d, t, rng, False, ["eq", "ltu", "nan"])
    set_cases(out, "u32", "f16", rng, True, ["gt", "leu"])
    set_cases(out, "bf16", "bf16", rng, False, FLOAT)
    for t in ("f16", "bf16"):
        for d in (t + "x2", "u32", "s32"):
            for ftz in ("", ".ftz")[:2 if t == "f16" else 1]:
                packed_set(out, t, d, ftz, rng)
    out.write()


def packed_set(out, t, d, ftz, rng):
    fmt = FORMATS[t]
    yes = fmt.one if d.endswith("x2") else 0xFFFF
    for op in FLOAT if not ftz else ["eq", "gtu"]:
        out.signature(f"{t}x2 {t}x2 -> {d}; registers")
        for (a, b), (c, e) in zip(pairs(rng, t, 5), reversed(pairs(rng, t, 5))):
            low, high = (yes if compare_float(fmt, op, x, y, ftz) else 0 for x, y in ((a, b), (c, e)))
            out.case(f"set.{op}{ftz}.{d}.{t}x2", [pair_word(a, c), pair_word(b, e)], [pair_word(low, high)])
    out.signature(f"{t}x2 {t}x2 pred -> {d}; registers")
    for (a, b), (c, e) in zip(pairs(rng, t, 5), reversed(pairs(rng, t, 5))):
        given = bool(rng.getrandbits(1))
        low, high = (yes if compare_float(fmt, "le", x, y, ftz) != given else 0 for x, y in ((a, b), (c, e)))
        out.case(f"set.le.xor{ftz}.{d}.{t}x2", [pair_word(a, c), pair_word(b, e), truth(given)], [pair_word(low, high)])


def with_booleans():
    """Every comparison with every Boolean operation, in each form of setp and set that has them; types and .ftz take turns."""
    rng = random_source("comparison with Boolean operations")
    out = CaseFile("comparison", "setp_boolean", "PTX ISA 9.7.6.2: setp with a Boolean operation, each with each comparison")
    for types in (["u16", "u32", "u64"], ["s16", "s32", "s64"], ["f32"], ["f64"]):
        for i, (op, boolean) in enumerate(with_each(types[0])):
            boolean_setp(out, op, boolean, types[i % len(types)], types == ["f32"] and i % 2, rng)
    out.write()
    out = CaseFile("half_comparison", "setp_boolean", "PTX ISA 9.7.7.2: setp with a Boolean operation, each with each comparison")
    for t in ("f16", "bf16"):
        for i, (op, boolean) in enumerate(with_each(t)):
            ftz = t == "f16" and i % 2
            boolean_setp(out, op, boolean, t, ftz, rng)
            packed_setp(out, op, boolean, t, ftz, rng)
    out.write()
    out = CaseFile("comparison", "set_boolean", "PTX ISA 9.7.6.1: set with a Boolean operation, each with each comparison")
    for types in (["b16", "b32", "b64"], ["u16", "u32", "u64"], ["s16", "s32", "s64"], ["f32"], ["f64"]):
        for i, (op, boolean) in enumerate(with_each(types[0])):
            boolean_set(out, op, boolean, ("u32", "s32", "f32")[i % 3], types[i % len(types)], types == ["f32"] and i % 2, rng)
    out.write()
    out = CaseFile("half_comparison", "set_boolean", "PTX ISA 9.7.7.1: set, each comparison with each Boolean operation and without")
    for d in ("f16", "bf16"):
        for types in (["b16", "b32", "b64"], ["u16", "u32", "u64"], ["s16", "s32", "s64"], ["f32"], ["f64"], ["f16"], ["bf16"]):
            if types == ["bf16"] and d == "f16":
                continue
            for i, (op, boolean) in enumerate(with_each(types[0], ("", "and", "or", "xor"))):
                ftz = d == "f16" and types[0] in ("f16", "f32") and i % 2
                boolean_set(out, op, boolean, d, types[i % len(types)], ftz, rng)
    for t in ("f16", "bf16"):
        for i, (op, boolean) in enumerate(with_each(t, ("", "and", "or", "xor"))):
            boolean_set(out, op, boolean, ("u16", "s16", "u32", "s32")[i % 4], t, t == "f16" and i % 2, rng)
            packed_boolean_set(out, op, boolean, (t + "x2", "u32", "s32")[i % 3], t, t == "f16" and i % 2, rng)
    out.write()


def with_each(t, booleans=("and", "or", "xor")):
    return [(op, boolean) for op in operators(t) for boolean in booleans]


def spelled(*parts):
    return ".".join(part for part in parts if part)


def boolean_setp(out, op, boolean, t, ftz, rng):
    both = t not in ("f16", "bf16")
    out.signature(f"{t} {t} pred -> {'pred|pred' if both else 'pred; registers'}")
    for a, b in pairs(rng, t, 4):
        for c in (False, True):
            result = compare(t, op, a, b, ftz)
            p, q = BOOLEAN[boolean](result, c), BOOLEAN[boolean](not result, c)
            out.case(spelled("setp", op, boolean, ftz and "ftz", t), [text(t, a), text(t, b), truth(c)], [truth(p), truth(q)][:2 if both else 1])


def packed_setp(out, op, boolean, t, ftz, rng):
    out.signature(f"{t}x2 {t}x2 pred -> pred|pred; registers")
    for (a, b), (c, d) in zip(pairs(rng, t, 5), reversed(pairs(rng, t, 5))):
        e = bool(rng.getrandbits(1))
        p, q = (BOOLEAN[boolean](compare_float(FORMATS[t], op, x, y, ftz), e) for x, y in ((a, b), (c, d)))
        out.case(spelled("setp", op, boolean, ftz and "ftz", t + "x2"), [pair_word(a, c), pair_word(b, d), truth(e)], [truth(p), truth(q)])


def boolean_set(out, op, boolean, d, t, ftz, rng):
    yes = {"f32": "0f3F800000", "f16": "0x3C00", "bf16": "0x3F80"}.get(d) or wrap(-1, d)
    no = {"f32": "0f00000000", "f16": "0x0000", "bf16": "0x0000"}.get(d, 0)
    half = d in ("f16", "bf16") or t in ("f16", "bf16")
    out.signature(f"{t} {t}{' pred' if boolean else ''} -> {d}{'; registers' if half else ''}")
    for a, b in pairs(rng, t, 5):
        c = bool(rng.getrandbits(1))
        result = BOOLEAN[boolean](compare(t, op, a, b, ftz), c)
        out.case(spelled("set", op, boolean, ftz and "ftz", d, t), [text(t, a), text(t, b)] + [truth(c)] * bool(boolean), [yes if result else no])


def packed_boolean_set(out, op, boolean, d, t, ftz, rng):
    yes = FORMATS[t].one if d.endswith("x2") else 0xFFFF
    out.signature(f"{t}x2 {t}x2{' pred' if boolean else ''} -> {d}; registers")
    for (a, b), (c, e) in zip(pairs(rng, t, 5), reversed(pairs(rng, t, 5))):
        given = bool(rng.getrandbits(1))
        low, high = (yes if BOOLEAN[boolean](compare_float(FORMATS[t], op, x, y, ftz), given) else 0 for x, y in ((a, b), (c, e)))
        out.case(spelled("set", op, boolean, ftz and "ftz", d, t + "x2"), [pair_word(a, c), pair_word(b, e)] + [truth(given)] * bool(boolean),
                 [pair_word(low, high)])


def main():
    full()
    half()
    with_booleans()


if __name__ == "__main__":
    main()
