"""Cases of half precision arithmetic, PTX ISA 9.7.4."""
from fractions import Fraction

import exact
import functions
from casefile import CaseFile, hexf
from exact import BF16, F16, INF, NAN, random_source
from floating_point import flushed, min_max, operands, reciprocal_root, through

FORMATS = (F16, BF16)
NUMBERS = {"add": 1, "sub": 2, "mul": 3, "fma": 4, "neg": 5, "abs": 6, "min": 7, "max": 8, "tanh": 9, "ex2": 10}
OUT_OF_BOUNDS = (0x7FF7, 0xFFF7)  # an H200 says so; the manual names no number


def value_of(op, fmt, values, mods):
    """Bits of the result or NAN."""
    ftz = "ftz" in mods
    if "oob" in mods and any(v in OUT_OF_BOUNDS for v in values[:2]):
        return 0
    values = [flushed(fmt, ftz, v) for v in values]
    if op in ("min", "max"):
        result = min_max(op, fmt, *values, nan="NaN" in mods, absolute="xorsign" in mods, xorsign="xorsign" in mods)
        return fmt.nan if result == NAN else result
    if op == "neg":
        return values[0] ^ fmt.sign
    if op == "abs":
        return values[0] & ~fmt.sign
    if op == "sub":
        result = exact.add(fmt, "rn", values[0], values[1] ^ fmt.sign)
    else:
        result = {"add": exact.add, "mul": exact.mul, "fma": exact.fma}[op](fmt, "rn", *values)
    result = flushed(fmt, ftz, result)
    if "sat" in mods:
        return exact.saturate(fmt, result)
    if "relu" in mods:
        return fmt.nan if result == NAN else 0 if result & fmt.sign else result
    return result


def specials(fmt, op, rng):
    """Operands on which rounding twice goes wrong: sums just beside a tie, with something far below that decides."""
    if op != "fma":
        return []
    result = []
    for _ in range(8):
        a = random_odd(fmt, rng, 0)
        b = fmt.one | 1 << (fmt.mantissa - 1 - rng.randrange(3))
        tiny = (rng.getrandbits(1) * fmt.sign) | rng.choice([1, fmt.smallest_normal, 3 << fmt.mantissa])
        result.append((a, b, tiny))
        result.append((tiny, fmt.one | rng.getrandbits(3), a))
    return result


def random_odd(fmt, rng, shift):
    return (fmt.bias + shift << fmt.mantissa) | rng.getrandbits(fmt.mantissa) | 1


def cases(op, count, combinations):
    """combinations: (formats, modifiers)."""
    rng = random_source("half " + op)
    out = CaseFile("half_precision", op, f"PTX ISA 9.7.4.{NUMBERS[op]}: {op}")
    for formats, mods in combinations:
        for fmt in formats:
            name = ".".join([op] + mods)
            tuples = operands(rng, fmt, count, 14) + specials(fmt, op, rng)
            if "oob" in mods:
                for v in OUT_OF_BOUNDS:
                    tuples += [(v, fmt.one, fmt.one), (fmt.one, v, fmt.one), (fmt.one, fmt.one, v)]
            out.signature(f"{' '.join([fmt.name] * count)} -> {fmt.name}; registers")
            good = []
            for values in tuples:
                result = value_of(op, fmt, values, mods)
                out.case(f"{name}.{fmt.name}", [hexf(fmt, v) for v in values], [hexf(fmt, result)])
                if result != NAN and not (fmt.is_nan(result) and op in ("neg", "abs")):
                    good.append((values, result))
            out.signature(f"{' '.join([fmt.name + 'x2'] * count)} -> {fmt.name}x2; registers")
            for (low, d0), (high, d1) in list(zip(good, good[1:] + good[:1]))[:10]:
                out.case(f"{name}.{fmt.name}x2", [f"0x{h << 16 | l:08X}" for l, h in zip(low, high)], [f"0x{d1 << 16 | d0:08X}"])
    out.write()


def approximate(op, function, bounds, mods):
    rng = random_source("half " + op)
    out = CaseFile("half_precision", op, f"PTX ISA 9.7.4.{NUMBERS[op]}: {op}")
    for fmt in FORMATS:
        name = f"{op}.approx{mods[fmt.name]}.{fmt.name}"
        out.signature(f"{fmt.name} -> {fmt.name}; registers")
        good = []
        for (a,) in operands(rng, fmt, 1, 40):
            result = function(fmt, flushed(fmt, bool(mods[fmt.name]), a))
            result = flushed(fmt, bool(mods[fmt.name]), result)
            is_number = result != NAN and fmt.decode(result)[1] not in (INF, 0)
            out.case(name, [hexf(fmt, a)], [hexf(fmt, result)], bounds[fmt.name] if is_number else None)
            if result != NAN and not is_number:
                good.append((a, result))
        out.signature(f"{fmt.name}x2 -> {fmt.name}x2; registers")
        for (low, d0), (high, d1) in list(zip(good, good[1:] + good[:1]))[:8]:
            out.case(name + "x2", [f"0x{high << 16 | low:08X}"], [f"0x{d1 << 16 | d0:08X}"])
    out.write()


def packed_tanh():
    """Both halves within the bound: taken apart, since tolerances are for single floats."""
    rng = random_source("half tanh packed")
    out = CaseFile("half_precision", "tanh_packed", "PTX ISA 9.7.4.9: tanh of pairs")
    for fmt, bound in ((F16, "2^-10.987"), (FORMATS[1], "2^-8")):
        name = f"tanh.approx.{fmt.name}x2"
        numbers = [a for (a,) in operands(rng, fmt, 1, 60) if fmt.decode(a)[1] != NAN]
        out.signature(f"{fmt.name} {fmt.name} -> {fmt.name} {fmt.name} b32; registers")
        out.code(f"mov.b32 $d2, {{$a0, $a1}}; {name} $d2, $d2; mov.b32 {{$d0, $d1}}, $d2; mov.b32 $d2, 0;")
        for low, high in zip(numbers, reversed(numbers)):
            results = [hexf(fmt, tanh(fmt, a)) for a in (low, high)]
            out.case(name, [hexf(fmt, low), hexf(fmt, high)], results + [0], bound)
    out.write()


def tanh(fmt, a):
    negative, value = fmt.decode(a)
    if value == NAN:
        return NAN
    if value == INF or value > 40:
        return fmt.one | (a & fmt.sign)
    return a if value == 0 else fmt.encode(functions.tanh(fmt.value(a)))


def ex2(fmt, a):
    negative, value = fmt.decode(a)
    if value == NAN:
        return NAN
    if value == INF or value > 300:
        return 0 if negative else fmt.infinity
    return fmt.encode(functions.exp2(fmt.value(a)))


def main():
    plain = [(FORMATS, []), (FORMATS, ["rn"])]
    f16 = [((F16,), [*r, *m]) for r in ([], ["rn"]) for m in (["ftz"], ["sat"], ["ftz", "sat"])]
    for op in ("add", "sub", "mul"):
        cases(op, 2, plain + f16)
    fused = [(FORMATS, ["rn"]), (FORMATS, ["rn", "relu"]), (FORMATS, ["rn", "oob"]), (FORMATS, ["rn", "oob", "relu"])]
    cases("fma", 3, fused + [((F16,), ["rn", *m]) for m in (["ftz"], ["sat"], ["ftz", "sat"], ["ftz", "relu"])])
    for op in ("neg", "abs"):
        cases(op, 1, [(FORMATS, []), ((F16,), ["ftz"])])
    for op in ("min", "max"):
        cases(op, 2, [(FORMATS, [*n, *x]) for n in ([], ["NaN"]) for x in ([], ["xorsign", "abs"])] +
              [((F16,), ["ftz", *n, *x]) for n in ([], ["NaN"]) for x in ([], ["xorsign", "abs"])])
    approximate("tanh", tanh, {"f16": "2^-10.987", "bf16": "2^-8"}, {"f16": "", "bf16": ""})
    packed_tanh()
    approximate("ex2", ex2, {"f16": "2^-9.9rel", "bf16": "2^-7rel"}, {"f16": "", "bf16": ".ftz"})


if __name__ == "__main__":
    main()
