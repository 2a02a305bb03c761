"""Cases of floating point arithmetic, PTX ISA 9.7.3 and 9.7.5."""
from fractions import Fraction

import exact
import functions
from casefile import CaseFile, hexf
from exact import BF16, F16, F32, F64, INF, NAN, interesting, random_float, random_source

ROUNDINGS = ["rn", "rz", "rm", "rp"]


def operands(rng, fmt, count, total=16):
    """Tuples: specials and edges, then numbers of nearby size (so that sums round and cancel), then tiny and huge ones."""
    pool = interesting(fmt)
    result = [tuple(rng.choice(pool) for _ in range(count)) for _ in range(total // 3)]
    while len(result) < total:
        span = rng.choice([1, 2, fmt.mantissa, fmt.mantissa + 3])
        values = [random_float(rng, fmt, min(span, fmt.bias // 3)) for _ in range(count)]
        if rng.random() < 0.3:  # towards the subnormals
            values = [v & (fmt.sign | ((1 << fmt.mantissa) - 1) | (3 << fmt.mantissa)) for v in values]
        if count == 3 and rng.random() < 0.4:  # c near -a * b
            product = exact.mul(fmt, "rn", values[0], values[1])
            values[2] = ((product ^ fmt.sign) + rng.choice([0, 0, 1, -1])) % (2 * fmt.sign) if product != NAN else values[2]
        result.append(tuple(values))
    return result


def flushed(fmt, ftz, bits):
    return fmt.flush(bits) if ftz and bits != NAN else bits


def arithmetic(op, fmt, mode, values):
    if op == "sub":
        return exact.add(fmt, mode, values[0], values[1] ^ fmt.sign)
    if op == "rcp":
        return exact.div(fmt, mode, fmt.one, values[0])
    return {"add": exact.add, "mul": exact.mul, "fma": exact.fma, "mad": exact.fma, "div": exact.div, "sqrt": exact.sqrt}[op](fmt, mode, *values)


def compute(op, fmt, mode, ftz, sat, values):
    result = flushed(fmt, ftz, arithmetic(op, fmt, mode, [flushed(fmt, ftz, v) for v in values]))
    return exact.saturate(fmt, result) if sat else result


def basic(op, number, count, has_default, has_sat):
    rng = random_source(op)
    out = CaseFile("floating_point", op, f"PTX ISA 9.7.3.{number}: {op}")
    for fmt in (F32, F64):
        out.signature(f"{' '.join([fmt.name] * count)} -> {fmt.name}")
        for rounding in ([""] if has_default else []) + ROUNDINGS:
            for ftz in (False, True)[:2 if fmt is F32 else 1]:
                for sat in (False, True)[:2 if fmt is F32 and has_sat else 1]:
                    mnemonic = op + (f".{rounding}" if rounding else "") + (".ftz" if ftz else "") + (".sat" if sat else "") + f".{fmt.name}"
                    for values in operands(rng, fmt, count, 12 if sat or ftz else 24):
                        result = compute(op, fmt, rounding or "rn", ftz, sat, values)
                        out.case(mnemonic, [hexf(fmt, v) for v in values], [hexf(fmt, result)])
    out.write()


def pair(values):
    return f"0x{values[1] << 32 | values[0]:016X}"


def packed():
    rng = random_source("f32x2")
    out = CaseFile("floating_point", "f32x2", "PTX ISA 9.7.3.3 to 9.7.3.6: f32x2", "8.6 sm_100")
    for op, count in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)):
        for rounding in ROUNDINGS + ([""] if op != "fma" else []):
            for ftz in (False, True):
                out.signature(f"{' '.join(['f32x2'] * count)} -> f32x2")
                name = op + (f".{rounding}" if rounding else "") + (".ftz" if ftz else "") + ".f32x2"
                for _ in range(8):
                    low, high = (plain(op, rounding or "rn", ftz, count, rng) for _ in range(2))
                    out.case(name, [pair(x) for x in zip(low[0], high[0])], [pair((low[1], high[1]))])
    out.write()


def plain(op, rounding, ftz, count, rng):
    """Operands whose result is a number: in a pair a NaN has no spelling of its own."""
    while True:
        values = rng.choice(operands(rng, F32, count))
        result = compute(op, F32, rounding, ftz, False, values)
        if result != NAN and not F32.is_nan(result):
            return values, result


def min_max_value(op, fmt, a, b, nan):
    if fmt.is_nan(a) or fmt.is_nan(b):
        if nan or (fmt.is_nan(a) and fmt.is_nan(b)):
            return NAN
        return b if fmt.is_nan(a) else a
    order = lambda x: (0, 0, 1 if not x & fmt.sign else 0) if fmt.decode(x)[1] == 0 else \
        ((-1 if x & fmt.sign else 1, 0, 0) if fmt.decode(x)[1] == INF else (0, fmt.value(x), 0))
    return min(a, b, key=order) if op == "min" else max(a, b, key=order)


def min_max(op, fmt, a, b, nan=False, absolute=False, xorsign=False, ftz=False):
    a, b = flushed(fmt, ftz, a), flushed(fmt, ftz, b)
    sign = (a ^ b) & fmt.sign
    if absolute:
        a, b = a & ~fmt.sign, b & ~fmt.sign
    result = min_max_value(op, fmt, a, b, nan)
    return result & ~fmt.sign | sign if xorsign and result != NAN else result


def min_max_cases(op, number):
    rng = random_source("float " + op)
    out = CaseFile("floating_point", op, f"PTX ISA 9.7.3.{number}: {op}")
    for ftz in ("", ".ftz"):
        for nan in ("", ".NaN"):
            for xorsign in ("", ".xorsign.abs"):
                out.signature("f32 f32 -> f32")
                for a, b in operands(rng, F32, 2, 16) + [(0, F32.sign), (F32.sign, 0), (F32.nan, F32.one), (F32.one, F32.nan), (F32.nan, F32.nan)]:
                    result = min_max(op, F32, a, b, bool(nan), bool(xorsign), bool(xorsign), bool(ftz))
                    if result == NAN and nan:
                        result = F32.nan
                    out.case(f"{op}{ftz}{nan}{xorsign}.f32", [hexf(F32, a), hexf(F32, b)], [hexf(F32, result)])
    out.signature("f64 f64 -> f64")
    for a, b in operands(rng, F64, 2, 16) + [(0, F64.sign), (F64.sign, 0), (F64.nan, F64.one), (F64.one, F64.nan)]:
        out.case(f"{op}.f64", [hexf(F64, a), hexf(F64, b)], [hexf(F64, min_max(op, F64, a, b))])
    out.write()
    out = CaseFile("floating_point", op + "3", f"PTX ISA 9.7.3.{number}: {op} of three", "8.8 sm_100")
    for ftz in ("", ".ftz"):
        for nan in ("", ".NaN"):
            for absolute in ("", ".abs"):
                out.signature("f32 f32 f32 -> f32")
                for a, b, c in operands(rng, F32, 3, 12):
                    two = min_max(op, F32, a, b, bool(nan), bool(absolute), False, bool(ftz))
                    three = min_max(op, F32, F32.nan if two == NAN else two, c, bool(nan), bool(absolute), False, bool(ftz))
                    out.case(f"{op}{ftz}{nan}{absolute}.f32", [hexf(F32, x) for x in (a, b, c)], [hexf(F32, three)])
    out.write()


def signs():
    for op, number, compute_sign in (("abs", 9, lambda f, a: a & ~f.sign), ("neg", 10, lambda f, a: a ^ f.sign)):
        out = CaseFile("floating_point", op, f"PTX ISA 9.7.3.{number}: {op}")
        for fmt, ftz in ((F32, ""), (F32, ".ftz"), (F64, "")):
            out.signature(f"{fmt.name} -> {fmt.name}")
            for a in interesting(fmt):
                out.case(f"{op}{ftz}.{fmt.name}", [hexf(fmt, a)], [hexf(fmt, compute_sign(fmt, flushed(fmt, ftz, a)))])
        out.write()
    rng = random_source("copysign")
    out = CaseFile("floating_point", "copysign", "PTX ISA 9.7.3.2: copysign. The sign of a, the rest of b.")
    for fmt in (F32, F64):
        out.signature(f"{fmt.name} {fmt.name} -> {fmt.name}")
        for a, b in operands(rng, fmt, 2, 14):
            out.case(f"copysign.{fmt.name}", [hexf(fmt, a), hexf(fmt, b)], [hexf(fmt, a & fmt.sign | b & ~fmt.sign)])
    out.write()
    out = CaseFile("floating_point", "testp", "PTX ISA 9.7.3.1: testp")
    for fmt in (F32, F64):
        for op in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            out.signature(f"{fmt.name} -> pred")
            for a in interesting(fmt):
                value = fmt.decode(a)[1]
                nan, infinite, small = value == NAN, value == INF, fmt.is_subnormal(a)
                result = {"finite": not nan and not infinite, "infinite": infinite, "number": not nan, "notanumber": nan,
                          "normal": not nan and not infinite and not small, "subnormal": small}[op]
                out.case(f"testp.{op}.{fmt.name}", [hexf(fmt, a)], ["true" if result else "false"])
    out.write()


def approximate(name, number, title, forms, target=None):
    """forms: (mnemonic, formats of operands, tolerance, function of the bits -> bits)."""
    rng = random_source("approx " + name)
    out = CaseFile("floating_point", name, f"PTX ISA 9.7.3.{number}: {title}", target)
    for mnemonic, fmt, count, tolerance, function, extra in forms:
        out.signature(f"{' '.join([fmt.name] * count)} -> {fmt.name}")
        values = [(x,) for x in interesting(fmt)] if count == 1 else operands(rng, fmt, count, 16)
        values += [tuple(random_float(rng, fmt, 20) for _ in range(count)) for _ in range(10)]
        for v in values + extra:
            result = function(v)
            if result is None:
                continue
            plain_number = result != NAN and fmt.decode(result)[1] not in (INF, 0)
            out.case(mnemonic, [hexf(fmt, x) for x in v], [hexf(fmt, result)], tolerance(v) if plain_number and callable(tolerance) else tolerance if plain_number else None)
    out.write()


def through(function, ftz=False, specials=None):
    """A function of one rational as a function of f32 bits: rounded to nearest; `specials` by decoded (negative, value)."""
    def apply(v):
        a = flushed(F32, ftz, v[0])
        negative, value = F32.decode(a)
        if value == NAN:
            return NAN
        special = specials(negative, value, a) if specials else None
        if special is not None:
            return special
        return flushed(F32, ftz, F32.encode(function(F32.value(a)), "rn", negative))
    return apply


def bits_of(x):
    return F32.encode(Fraction(x))


def span(*values):
    return [(F32.encode(Fraction(v)),) for v in values]


def functions_of_one():
    one, inf, neg = F32.one, F32.infinity, F32.sign
    sincos = lambda zero: lambda n, v, a: NAN if v == INF else (a if zero is None else zero) if v == 0 else None
    angles = span(*[Fraction(k, 16) * 22 / 7 * s for k in (1, 4, 8, 12, 16, 20, 24, 28, 31) for s in (1, -1)])
    far = span(*[Fraction(k * 22, 7) + Fraction(k, 9) for k in (-99, -50, -13, 5, 17, 40, 77, 99)])
    angle_bound = lambda v: "2^-20.5" if abs(F32.value(v[0])) <= 6.28 else "2^-14.7"
    in_range = lambda f: lambda v: None if F32.decode(v[0])[1] not in (INF, NAN) and abs(F32.value(v[0])) > 314 else f(v)
    for name, number, quarter, zero in (("sin", 18, 0, None), ("cos", 19, 1, one)):
        forms = [(f"{name}.approx{ftz}.f32", F32, 1, angle_bound,
                  in_range(through(lambda x: functions.sine(x, quarter), bool(ftz), sincos(zero))), angles + far) for ftz in ("", ".ftz")]
        approximate(name, number, f"{name}; errors outside of [-100pi, 100pi] are not bounded", forms)
    log_bound = lambda v: "2^-22" if Fraction(1, 2) < F32.value(v[0]) < 2 else "2^-22rel"
    forms = [(f"lg2.approx{ftz}.f32", F32, 1, log_bound, through(functions.log2, bool(ftz), LOGS),
              span(Fraction(3, 4), Fraction(5, 4), Fraction(99, 100), Fraction(101, 100), Fraction(2, 3), Fraction(4, 3), 1000)) for ftz in ("", ".ftz")]
    approximate("lg2", 20, "lg2", forms)
    forms = [(f"ex2.approx{ftz}.f32", F32, 1, "2ulp", through(functions.exp2, bool(ftz), POWERS),
              span(Fraction(1, 2), -Fraction(1, 2), 10, -10, 127, Fraction(1279, 10), -126, -Fraction(1261, 10), -Fraction(1275, 10), -149, -151, -Fraction(47, 100))) for ftz in ("", ".ftz")]
    approximate("ex2", 21, "ex2", forms)
    limits = lambda n, v, a: (one | (neg if n else 0)) if v == INF else a if v == 0 else (F32.encode(Fraction(-1 if n else 1)) if v > 40 else None)
    approximate("tanh", 22, "tanh", [("tanh.approx.f32", F32, 1, "2^-11rel", through(functions.tanh, False, limits),
                span(Fraction(1, 10), Fraction(1, 2), -Fraction(3, 2), 3, 5, Fraction(49, 10), Fraction(51, 10), -8, 20))], "9.0 sm_90")


def roots_and_quotients():
    specific = [(F32.encode(Fraction(3)), F32.encode(Fraction(7)))]
    divide = lambda ftz: lambda v: compute("div", F32, "rn", ftz, False, v)

    def div_approx(ftz):
        def apply(v):
            a, b = (flushed(F32, ftz, x) for x in v)
            big = F32.decode(b)[1]
            if big not in (INF, NAN) and big > Fraction(2) ** 126 and not F32.is_nan(a):
                return NAN if F32.decode(a)[1] == INF else (a ^ b) & F32.sign
            if big not in (INF, NAN) and 0 < big < Fraction(1, 2 ** 126):
                return None  # no bound there
            return compute("div", F32, "rn", ftz, False, v)
        return apply
    huge = [(F32.one, 0x7F000001), (0xC0490FDB, 0x7F7FFFFF), (0x7F800000, 0x7F000001), (0x7F800000, 0xFF7FFFFF), (0x40490FDB, 0x7E800000)]
    forms = [(f"div.approx{f}.f32", F32, 2, "2ulp", div_approx(bool(f)), specific + huge) for f in ("", ".ftz")]
    forms += [(f"div.full{f}.f32", F32, 2, "2ulp", divide(bool(f)), specific) for f in ("", ".ftz")]
    approximate("div_approx", 8, "div.approx, div.full", forms)
    one_ulp = [(f"rcp.approx{f}.f32", F32, 1, "1ulp", lambda v, f=f: compute("rcp", F32, "rn", bool(f), False, v), []) for f in ("", ".ftz")]
    upper = lambda function: lambda v: function(v[0] & 0xFFFFFFFF00000000)
    flush64 = lambda a: F64.flush(a)

    def rcp64(a):
        result = compute("rcp", F64, "rn", False, False, [flush64(a)])
        return 0x7FFFFFFF00000000 if result == NAN else flush64(result)

    def rsqrt64(a):
        result = reciprocal_root(F64, flush64(a))
        return 0x7FFFFFFF00000000 if result == NAN else flush64(result)
    one_ulp.append(("rcp.approx.ftz.f64", F64, 1, "2^-19.9rel", upper(rcp64), []))
    approximate("rcp_approx", 13, "rcp.approx, and 9.7.3.14: rcp.approx.ftz.f64", one_ulp)
    roots = [(f"sqrt.approx{f}.f32", F32, 1, "2^-23rel", lambda v, f=f: compute("sqrt", F32, "rn", bool(f), False, v), []) for f in ("", ".ftz")]
    approximate("sqrt_approx", 15, "sqrt.approx", roots)
    roots = [(f"rsqrt.approx{f}.f32", F32, 1, "2^-22.9rel", lambda v, f=f: reciprocal_root(F32, flushed(F32, bool(f), v[0])), []) for f in ("", ".ftz")]
    roots.append(("rsqrt.approx.f64", F64, 1, "2^-51rel", lambda v: reciprocal_root(F64, v[0]), []))
    roots.append(("rsqrt.approx.ftz.f64", F64, 1, "2^-19.9rel", upper(rsqrt64), []))
    approximate("rsqrt_approx", 16, "rsqrt.approx, and 9.7.3.17: rsqrt.approx.ftz.f64", roots)


def reciprocal_root(fmt, a):
    negative, value = fmt.decode(a)
    if value == NAN or (negative and value != 0):
        return NAN
    if value == 0:
        return fmt.infinity | (a & fmt.sign)
    if value == INF:
        return 0
    return fmt.encode(exact.sticky_sqrt(1 / value, fmt.mantissa + 8))


def legacy():
    """PTX 1.0 to 1.3 knew no .approx and .rn: f32 functions are the approximate ones with .ftz, f64 division is div.rn."""
    rng = random_source("legacy")
    out = CaseFile("floating_point", "legacy", "PTX ISA 9.7.3: forms of PTX 1.3 without .approx, .rn and .ftz", "1.3 sm_13")
    edges = [x for x in interesting(F32) if x & 0x7FFFFFFF <= F32.largest and abs(F32.value(x)) < 2 ** 120]
    one = {"rcp": "1ulp", "sqrt": "2^-23rel", "rsqrt": "2^-22.9rel", "sin": "2^-20.5", "cos": "2^-20.5", "lg2": "2^-22rel", "ex2": "2ulp"}
    exact_values = {
        "rcp": lambda a: compute("rcp", F32, "rn", True, False, [a]), "sqrt": lambda a: compute("sqrt", F32, "rn", True, False, [a]),
        "rsqrt": lambda a: reciprocal_root(F32, F32.flush(a)), "lg2": through(functions.log2, True, LOGS), "ex2": through(functions.exp2, True, POWERS),
        "sin": through(lambda x: functions.sine(x), True, lambda n, v, a: a if v == 0 else None),
        "cos": through(lambda x: functions.sine(x, 1), True, lambda n, v, a: F32.one if v == 0 else None)}
    for op, tolerance in one.items():
        out.signature("f32 -> f32")
        small = op in ("sin", "cos")
        for a in edges + [random_float(rng, F32, 2) for _ in range(4)]:
            if small and abs(F32.value(a)) > 6:
                continue
            function = exact_values[op]
            result = function((a,)) if op in ("sin", "cos", "lg2", "ex2") else function(a)
            plain_number = result != NAN and F32.decode(result)[1] not in (INF, 0)
            is_absolute = op == "lg2" and plain_number and Fraction(1, 2) < F32.value(a) < 2
            out.case(f"{op}.f32", [hexf(F32, a)], [hexf(F32, result)], "2^-22" if is_absolute else tolerance if plain_number else None)
    out.signature("f32 f32 -> f32")
    for a, b in [(random_float(rng, F32, 9), random_float(rng, F32, 9)) for _ in range(6)] + [(1, F32.one), (F32.one, 1)]:
        result = compute("div", F32, "rn", True, False, [a, b])
        out.case("div.f32", [hexf(F32, a), hexf(F32, b)], [hexf(F32, result)], "2ulp" if F32.decode(result)[1] not in (INF, 0) else None)
    out.signature("f64 f64 -> f64")
    for a, b in operands(rng, F64, 2, 12):
        out.case("div.f64", [hexf(F64, a), hexf(F64, b)], [hexf(F64, compute("div", F64, "rn", False, False, [a, b]))])
    out.signature("f64 f64 f64 -> f64")
    for v in operands(rng, F64, 3, 12):
        out.case("mad.f64", [hexf(F64, x) for x in v], [hexf(F64, compute("mad", F64, "rn", False, False, v))])
    out.signature("f64 -> f64")
    for (a,) in operands(rng, F64, 1, 10):
        out.case("rcp.f64", [hexf(F64, a)], [hexf(F64, compute("rcp", F64, "rn", False, False, [a]))])
        out.case("sqrt.f64", [hexf(F64, a)], [hexf(F64, compute("sqrt", F64, "rn", False, False, [a]))])
        root = reciprocal_root(F64, a)
        out.case("rsqrt.f64", [hexf(F64, a)], [hexf(F64, root)], "2^-51rel" if root != NAN and F64.decode(root)[1] not in (INF, 0) else None)
    out.write()
    out = CaseFile("floating_point", "legacy_mad", "PTX ISA 9.7.3.7: mad.f32 without rounding is mad.rn on sm_20", "3.1 sm_20")
    for ftz in ("", ".ftz"):
        for sat in ("", ".sat"):
            out.signature("f32 f32 f32 -> f32")
            for v in operands(rng, F32, 3, 12):
                out.case(f"mad{ftz}{sat}.f32", [hexf(F32, x) for x in v], [hexf(F32, compute("mad", F32, "rn", bool(ftz), bool(sat), v))])
    out.write()


def LOGS(negative, value, a):
    return F32.infinity | F32.sign if value == 0 else NAN if negative else F32.infinity if value == INF else None


def POWERS(negative, value, a):
    if value == INF or value == 0:
        return (0 if negative else F32.infinity) if value else F32.one
    return 0 if F32.value(a) < -160 else F32.infinity if F32.value(a) >= 128 else None


def mixed():
    rng = random_source("mixed")
    out = CaseFile("mixed_precision", "mixed", "PTX ISA 9.7.5: f32 with f16 and bf16 sources", "8.6 sm_100")
    for source in (F16, BF16):
        for op, count in (("add", 2), ("sub", 2), ("fma", 3)):
            for rounding in ROUNDINGS + ([""] if op != "fma" else []):
                for sat in ("", ".sat"):
                    name = op + (f".{rounding}" if rounding else "") + sat + f".f32.{source.name}"
                    out.signature(f"{' '.join([source.name] * (count - 1))} f32 -> f32; registers")
                    for _ in range(8):
                        halves = [rng.choice(interesting(source) + [random_float(rng, source, 9)] * 20) for _ in range(count - 1)]
                        c = rng.choice(interesting(F32) + [random_float(rng, F32, 20)] * 20)
                        addend = c ^ F32.sign if op == "sub" else c
                        x = halves if op == "fma" else [halves[0], source.one]
                        result = exact.fma(F32, rounding or "rn", x[0], x[1], addend, source)
                        result = exact.saturate(F32, result) if sat else result
                        out.case(name, [hexf(source, h) for h in halves] + [hexf(F32, c)], [hexf(F32, result)])
    out.write()


def main():
    for op, number, count, default, sat in (("add", 3, 2, True, True), ("sub", 4, 2, True, True), ("mul", 5, 2, True, True),
                                            ("fma", 6, 3, False, True), ("mad", 7, 3, False, True), ("div", 8, 2, False, False),
                                            ("rcp", 13, 1, False, False), ("sqrt", 15, 1, False, False)):
        basic(op, number, count, default, sat)
    packed()
    min_max_cases("min", 11)
    min_max_cases("max", 12)
    signs()
    functions_of_one()
    roots_and_quotients()
    legacy()
    mixed()


if __name__ == "__main__":
    main()
