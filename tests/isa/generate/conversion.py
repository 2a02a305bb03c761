"""Cases of cvt and cvt.pack, PTX ISA 9.7.9.21 and 9.7.9.22."""
from fractions import Fraction
from math import floor

import exact
from casefile import CaseFile, clamp, hexf, integers, limits, signed, unsigned, wrap
from exact import BF16, E2M1, E2M3, E3M2, E4M3, E5M2, F16, F32, F64, INF, NAN, TF32, interesting, random_float, random_source
from floating_point import flushed

INTEGERS = ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"]
FLOATS = {f.name: f for f in (BF16, F16, F32, F64)}
TITLE = "PTX ISA 9.7.9.21: cvt, "


def register(t, other=""):
    """The register an operand sits in: 8-bit integers in 16 bits, but beside bf16 in 8 (ptxas takes nothing wider there)."""
    return ("b8" if other == "bf16" else "b16") if t in ("u8", "s8") else t


def stored(value, t):
    """An 8-bit result in its 16-bit register."""
    return unsigned(value, 16) if t in ("u8", "s8") else value


def integer_to_integer():
    rng = random_source("cvt integer")
    out = CaseFile("conversion", "integer_integer", TITLE + "integer to integer")
    for d in INTEGERS:
        for s in INTEGERS:
            low, high = limits(d)
            narrows = limits(s)[0] < low or limits(s)[1] > high
            for sat in ("", ".sat")[:2 if narrows else 1]:
                out.signature(f"{register(s)} -> {register(d)}; registers")
                for a in integers(rng, s, 12):
                    value = clamp(a, d) if sat else wrap(a, d)
                    out.case(f"cvt{sat}.{d}.{s}", [stored(a, s)], [stored(value, d)])
    out.write()


def to_integral(x, rounding):
    down = floor(x)
    if rounding == "rzi":
        return down if x >= 0 or down == x else down + 1
    if rounding == "rmi":
        return down
    if rounding == "rpi":
        return down if down == x else down + 1
    rest = x - down
    return down + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and down & 1))


def float_to_integer():
    rng = random_source("cvt float to integer")
    out = CaseFile("conversion", "float_integer", TITLE + "float to integer: saturates; NaN by the manual's Integer Notes")
    for s, fmt in FLOATS.items():
        for d in INTEGERS:
            for rounding in ("rni", "rzi", "rmi", "rpi"):
                for ftz in ("", ".ftz")[:2 if s == "f32" and d in ("u32", "s32", "s64") else 1]:
                    for sat in ("", ".sat")[:2 if s != "bf16" and d in ("u8", "s32") and rounding == "rzi" else 1]:
                        out.signature(f"{s} -> {register(d, s)}; registers")
                        low, high = limits(d)
                        edges = [fmt.encode(Fraction(x) + Fraction(h, 2)) for x in (low, high, 0, 1, 2) for h in (-1, 0, 1)]
                        for a in [rng.choice(interesting(fmt)) for _ in range(4)] + edges[:4] + rng.sample(edges, 5) + [fmt.nan, 1, fmt.sign | 1, fmt.infinity]:
                            out.case(f"cvt.{rounding}{ftz}{sat}.{d}.{s}", [hexf(fmt, a)], [stored(float_as_integer(fmt, a, d, rounding, ftz), d)])
    out.write()


def float_as_integer(fmt, a, d, rounding, ftz):
    a = flushed(fmt, bool(ftz), a)
    negative, value = fmt.decode(a)
    bits = int(d[1:])
    if value == NAN:
        return wrap(1 << (bits - 1), d) if fmt is F64 or bits == 64 else 0
    if value == INF:
        return limits(d)[0 if negative else 1]
    return clamp(to_integral(fmt.value(a), rounding), d)


def integer_to_float():
    rng = random_source("cvt integer to float")
    out = CaseFile("conversion", "integer_float", TITLE + "integer to float")
    for d, fmt in FLOATS.items():
        for s in INTEGERS:
            for rounding in ("rn", "rz", "rm", "rp"):
                for sat in ("", ".sat")[:2 if d != "bf16" and s in ("s32", "u64") else 1]:
                    out.signature(f"{register(s, d)} -> {d}; registers")
                    bits = int(s[1:])
                    ties = [wrap((1 << k) + (1 << max(k - fmt.mantissa - 1, 0)) + e, s) for k in (bits - 1, bits - 2, bits // 2 + 1, 24) for e in (-1, 0, 1)]
                    for a in integers(rng, s, 9) + rng.sample(ties, 4 if sat else 7):
                        result = fmt.encode(Fraction(a), rounding)
                        result = exact.saturate(fmt, result) if sat else result
                        out.case(f"cvt.{rounding}{sat}.{d}.{s}", [stored(a, s)], [hexf(fmt, result)])
    out.write()


def float_value(d, s, a, rounding, ftz, sat, integral):
    """Bits in d of a in s, or NAN."""
    source, target = FLOATS[s], FLOATS[d]
    if ftz and source is F32:
        a = F32.flush(a)
    negative, value = source.decode(a)
    if value == NAN:
        return 0 if sat else NAN
    if value != INF:
        value = source.value(a)
        if integral:
            value = Fraction(to_integral(value, integral))
        negative = bool(a & source.sign)
    result = target.encode(value, rounding or "rn", negative)
    if ftz and target is F32:
        result = F32.flush(result)
    return exact.saturate(target, result) if sat else result


def float_to_float():
    rng = random_source("cvt float")
    out = CaseFile("conversion", "float_float", TITLE + "float to float")
    narrower = [("f16", "f32"), ("f16", "f64"), ("f32", "f64"), ("bf16", "f64")]
    wider = [("f32", "f16"), ("f64", "f32"), ("f64", "f16"), ("f32", "bf16"), ("f64", "bf16")]
    for d, s in narrower:
        for rounding in ("rn", "rz", "rm", "rp"):
            for ftz in ("", ".ftz")[:2 if "f32" in (d, s) else 1]:
                for sat in ("", ".sat")[:2 if d != "bf16" else 1]:
                    conversions(out, rng, d, s, rounding, ftz, sat)
    for rounding in ("rm", "rp"):
        conversions(out, rng, "bf16", "f32", rounding, "", "")
    for rounding in ("rn", "rz", "rm", "rp"):
        conversions(out, rng, "bf16", "f32", rounding, ".ftz", "")
        conversions(out, rng, "bf16", "f16", rounding, "", "")
        conversions(out, rng, "f16", "bf16", rounding, "", "")
        conversions(out, rng, "f64", "bf16", rounding, "", "")
        conversions(out, rng, "f32", "bf16", rounding, "", "")
    for d, s in wider:
        for ftz in ("", ".ftz")[:2 if "f32" in (d, s) else 1]:
            for sat in ("", ".sat")[:2 if s != "bf16" else 1]:
                conversions(out, rng, d, s, "", ftz, sat)
    for t in FLOATS:
        for integral in ("", "rni", "rzi", "rmi", "rpi"):
            for ftz in ("", ".ftz")[:2 if t == "f32" else 1]:
                for sat in ("", ".sat")[:2 if t != "bf16" else 1]:
                    conversions(out, rng, t, t, "", ftz, sat, integral)
    out.write()


def seldom_written():
    """.ftz where no subnormal can come of it or only the result is an f32; and bf16 to f16 and back without a rounding modifier,
    of values that both have."""
    rng = random_source("cvt seldom written")
    out = CaseFile("conversion", "seldom_written", TITLE + "modifiers that are seldom written")
    for s in INTEGERS:
        for rounding in ("rn", "rz", "rm", "rp"):
            out.signature(f"{register(s, 'f32')} -> f32; registers")
            for a in integers(rng, s, 10):
                out.case(f"cvt.{rounding}.ftz.f32.{s}", [stored(a, s)], [hexf(F32, F32.encode(Fraction(a), rounding))])
    for rounding in ("rn", "rz", "rm", "rp"):
        conversions(out, rng, "f32", "bf16", rounding, ".ftz", "")
    for d, s in (("bf16", "f16"), ("f16", "bf16")):
        out.signature(f"{s} -> {d}; registers")
        for n in [0, 1, -1, 3, -7, 127, 255, -200]:
            for scale in (Fraction(1, 64), 1, 128):
                value = n * scale
                out.case(f"cvt.{d}.{s}", [hexf(FLOATS[s], FLOATS[s].encode(value))], [hexf(FLOATS[d], FLOATS[d].encode(value))])
    out.write()


def conversions(out, rng, d, s, rounding, ftz, sat, integral=""):
    source, target = FLOATS[s], FLOATS[d]
    written = rounding or integral
    out.signature(f"{s} -> {d}; registers")
    for a in sources(rng, source, target, 10 if sat or ftz else 16, bool(integral)):
        result = float_value(d, s, a, rounding, ftz, sat, integral)
        if result == NAN and d == s and not (sat or ftz or integral):
            result = a  # moved
        out.case(f"cvt{'.' + written if written else ''}{ftz}{sat}.{d}.{s}", [hexf(source, a)], [hexf(target, result)])


def sources(rng, source, target, count, integral=False):
    """Specials, ties of the target and their neighbours, numbers at both ends of the target's range."""
    values = [rng.choice(interesting(source)) for _ in range(3)] + [source.nan, source.infinity, source.sign]
    dropped = max(source.mantissa - target.mantissa, 1)
    while len(values) < count:
        x = random_float(rng, source, min(source.bias - 1, target.bias + target.mantissa + 2 if rng.random() < .6 else 3))
        if integral:
            x = source.encode(Fraction(rng.randint(-9, 9), 2) + rng.choice([0, 0, Fraction(1, 1024)]), negative=True)
        elif rng.random() < .5 and source.mantissa > target.mantissa:
            x = (x >> dropped << dropped) + (1 << (dropped - 1)) + rng.choice([0, 0, 1, -1])
        values.append(x % (2 * source.sign))
    return values


NARROW = {"e4m3": E4M3, "e5m2": E5M2, "e2m3": E2M3, "e3m2": E3M2, "e2m1": E2M1, "f16": F16, "bf16": BF16}


def to_narrow(fmt, bits, rounding, relu, finite):
    """The element's bits of an f32."""
    negative, value = F32.decode(bits)
    if value == NAN:
        return fmt.largest if fmt.top == "numbers" else fmt.nan
    if relu and negative:
        return 0
    return fmt.encode(F32.value(bits) if value != INF else INF, rounding, negative, finite)


def pick_sources(rng, fmt, count):
    return [x for x in sources(rng, F32, fmt, count)]


def pairs_to_half():
    rng = random_source("cvt half pairs")
    out = CaseFile("conversion", "half", TITLE + "f32 to f16, bf16, their pairs and tf32, .relu and .satfinite")
    for fmt in (F16, BF16):
        for rounding in ("rn", "rz"):
            for relu in ("", ".relu"):
                for finite in ("", ".satfinite"):
                    name = f"cvt.{rounding}{relu}{finite}"
                    convert = lambda a: to_narrow(fmt, a, rounding, bool(relu), bool(finite))
                    is_special = bool(relu or finite)
                    out.signature(f"f32 -> {fmt.name}; registers")
                    for a in pick_sources(rng, fmt, 14):
                        result = convert(a)
                        out.case(f"{name}.{fmt.name}.f32", [hexf(F32, a)], [hexf(fmt, result if is_special or not fmt.is_nan(result) else NAN)])
                    out.signature(f"f32 f32 -> {fmt.name}x2; registers")
                    for a, b in zip(pick_sources(rng, fmt, 12), reversed(pick_sources(rng, fmt, 12))):
                        out.case(f"{name}.{fmt.name}x2.f32", [hexf(F32, a), hexf(F32, b)], [f"0x{convert(a) << 16 | convert(b):08X}"])
    for name, rounding, finite, relu in [("rna", "rna", "", ""), ("rn", "rn", "", ""), ("rz", "rz", "", ""), ("rn", "rn", "", ".relu"), ("rz", "rz", "", ".relu"), ("rna", "rna", ".satfinite", "")]:
        tf32_cases(out, rng, name, rounding, finite, relu)
    out.write()
    out = CaseFile("conversion", "tf32_satfinite", TITLE + "f32 to tf32, .satfinite", "8.6 sm_100")
    for rounding in ("rn", "rz"):
        for relu in ("", ".relu"):
            tf32_cases(out, rng, rounding, rounding, ".satfinite", relu)
    out.write()


def tf32_cases(out, rng, name, rounding, finite, relu):
    out.signature("f32 -> b32; registers")
    for a in pick_sources(rng, TF32, 16):
        result = to_narrow(TF32, a, rounding, bool(relu), bool(finite))
        word = 0x7FFFFFFF if TF32.is_nan(result) else result << 13
        out.case(f"cvt.{name}{finite}{relu}.tf32.f32", [hexf(F32, a)], [f"0x{word:08X}"])


def narrow_pairs():
    rng = random_source("cvt narrow")
    files = {"fp8": (("e4m3", "e5m2"), "9.0 sm_90"), "fp6_fp4": (("e2m3", "e3m2", "e2m1"), "9.1 sm_100f")}
    for name, (formats, target) in files.items():
        out = CaseFile("conversion", name, TITLE + ", ".join(formats), target)
        for element in formats:
            down(out, rng, element, "f32")
            down(out, rng, element, "f16")
            up(out, rng, element, "f16")
        out.write()
    out = CaseFile("conversion", "narrow_bf16", TITLE + "narrow formats to and from bf16x2", "9.2 sm_100f")
    for element in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1"):
        down(out, rng, element, "bf16")
        up(out, rng, element, "bf16")
        up(out, rng, element, "bf16", scaled=True)
    out.write()


def width_of(element):
    return 4 if element == "e2m1" else 8


def down(out, rng, element, source):
    fmt, bits = NARROW[element], width_of(element)
    kind = {"f32": F32, "f16": F16, "bf16": BF16}[source]
    for relu in ("", ".relu"):
        packed_type = f"{source}x2" if source != "f32" else "f32"
        out.signature(f"{'f32 f32' if source == 'f32' else packed_type} -> b{2 * bits}; registers")
        for a, b in zip(sources(rng, kind, fmt, 18), reversed(sources(rng, kind, fmt, 18))):
            high, low = (narrow_from(fmt, kind, x, relu) for x in (a, b))
            given = [hexf(F32, a), hexf(F32, b)] if source == "f32" else [f"0x{a << 16 | b:08X}"]
            out.case(f"cvt.rn.satfinite{relu}.{element}x2.{packed_type}", given, [f"0x{high << bits | low:0{bits // 2}X}"])


def narrow_from(fmt, kind, bits, relu):
    negative, value = kind.decode(bits)
    as_f32 = F32.nan if value == NAN else F32.encode(value if value == INF else kind.value(bits), "rn", negative)
    return to_narrow(fmt, as_f32, "rn", bool(relu), True)


def up(out, rng, element, target, scaled=False):
    fmt, bits, goal = NARROW[element], width_of(element), {"f16": F16, "bf16": BF16}[target]
    for relu in ("", ".relu"):
        for finite in ("", ".satfinite")[:2 if target == "bf16" else 1]:
            out.signature(f"b{2 * bits}{' b16' if scaled else ''} -> {target}x2; registers")
            for _ in range(14):
                elements = [rng.randrange(2 * fmt.sign) for _ in range(2)]
                factors = [rng.choice([127, 126, 130, 0, 255, 254, 1, rng.randrange(256)]) for _ in range(2)] if scaled else [127, 127]
                results = [widened(fmt, goal, e, f, relu, finite) for e, f in zip(elements, factors)]
                given = [f"0x{elements[1] << bits | elements[0]:0{bits // 2}X}"] + ([f"0x{factors[1] << 8 | factors[0]:04X}"] if scaled else [])
                name = f"cvt.rn{relu}{finite}{'.scaled::n2::ue8m0' if scaled else ''}.{target}x2.{element}x2"
                out.case(name, given, [f"0x{results[1] << 16 | results[0]:08X}"])


def widened(fmt, goal, bits, factor, relu, finite):
    negative, value = fmt.decode(bits)
    if value == NAN or factor == 255:
        return goal.nan
    if relu and negative:
        return 0
    if value != INF:
        value = fmt.value(bits) * Fraction(2) ** (factor - 127)
    return goal.encode(value, "rn", negative, bool(finite))


def scale_factors():
    rng = random_source("ue8m0")
    out = CaseFile("conversion", "ue8m0", TITLE + "ue8m0. |a| counts; what is below 2^-127 gives 0", "9.0 sm_100a")
    for rounding in ("rz", "rp"):
        for finite in ("", ".satfinite"):
            pool = interesting(F32) + [0x00400000, 0x00400001, 0x003FFFFF, 0x7F000001, 0x7F7FFFFF, 0x40490FDB]
            out.signature("f32 f32 -> b16; registers")
            for _ in range(16):
                a, b = rng.choice(pool), rng.choice(pool)
                out.case(f"cvt.{rounding}{finite}.ue8m0x2.f32", [hexf(F32, a), hexf(F32, b)], [f"0x{ue8m0(a, rounding, finite) << 8 | ue8m0(b, rounding, finite):04X}"])
            out.signature("bf16x2 -> b16; registers")
            for _ in range(12):
                a, b = (rng.choice(interesting(BF16) + [0x40, 0x41, 0x7F01]) for _ in range(2))
                high, low = ue8m0(a << 16, rounding, finite), ue8m0(b << 16, rounding, finite)
                out.case(f"cvt.{rounding}{finite}.ue8m0x2.bf16x2", [f"0x{a << 16 | b:08X}"], [f"0x{high << 8 | low:04X}"])
    out.signature("b16 -> bf16x2; registers")
    for a, b in [(0, 1), (127, 255), (254, 128), (2, 200)]:
        words = [0x7FFF if x == 255 else BF16.encode(Fraction(2) ** (x - 127)) for x in (a, b)]
        out.case("cvt.rn.bf16x2.ue8m0x2", [f"0x{a << 8 | b:04X}"], [f"0x{words[0] << 16 | words[1]:08X}"])
    out.write()


def ue8m0(bits, rounding, finite):
    value = F32.decode(bits)[1]
    if value == NAN:
        return 255
    if value == INF:
        return 254 if finite else 255
    if value < Fraction(1, 2 ** 127):
        return 0
    exponent = exact.floor_log2(value)
    if rounding == "rp" and value != Fraction(2) ** exponent:
        exponent += 1
    return min(exponent + 127, 254 if finite else 255)


def fixed_point():
    rng = random_source("s2f6")
    out = CaseFile("conversion", "s2f6", TITLE + "s2f6: two's complement sixty-fourths", "9.1 sm_100a")
    for relu in ("", ".relu"):
        for scaled in (False, True):
            scale = ".scaled::n2::ue8m0" if scaled else ""
            for source in ("f32", "bf16"):
                out.signature(f"{'f32 f32' if source == 'f32' else 'bf16x2'}{' b16' if scaled else ''} -> b16; registers")
                for _ in range(14):
                    fmt = F32 if source == "f32" else BF16
                    a, b = (rng.choice([random_float(rng, fmt, 7), fmt.encode(Fraction(rng.randint(-300, 300), 128)), rng.choice(interesting(fmt))]) for _ in range(2))
                    factors = [rng.choice([126, 127, 128, 130]) for _ in range(2)] if scaled else [127, 127]
                    high, low = s2f6(fmt, a, factors[1], relu), s2f6(fmt, b, factors[0], relu)
                    given = [hexf(F32, a), hexf(F32, b)] if source == "f32" else [f"0x{a << 16 | b:08X}"]
                    given += [f"0x{factors[1] << 8 | factors[0]:04X}"] if scaled else []
                    out.case(f"cvt.rn.satfinite{relu}{scale}.s2f6x2.{source if source == 'f32' else 'bf16x2'}", given, [f"0x{high << 8 | low:04X}"])
            for finite in ("", ".satfinite"):
                out.signature(f"b16{' b16' if scaled else ''} -> bf16x2; registers")
                for _ in range(8):
                    elements = [rng.randrange(256) for _ in range(2)]
                    factors = [rng.choice([100, 127, 129, 254]) for _ in range(2)] if scaled else [127, 127]
                    words = []
                    for e, f in zip(elements, factors):
                        value = Fraction(signed(e, 8), 64) * Fraction(2) ** (f - 127)
                        words.append(BF16.encode(max(value, 0) if relu else value, "rn", False, bool(finite)))
                    given = [f"0x{elements[1] << 8 | elements[0]:04X}"] + ([f"0x{factors[1] << 8 | factors[0]:04X}"] if scaled else [])
                    out.case(f"cvt.rn{finite}{relu}{scale}.bf16x2.s2f6x2", given, [f"0x{words[1] << 16 | words[0]:08X}"])
    out.write()


def s2f6(fmt, bits, factor, relu):
    negative, value = fmt.decode(bits)
    if value == NAN:
        return 0x7F
    if relu and negative:
        return 0
    if value == INF:
        return 0x80 if negative else 0x7F
    scaled = fmt.value(bits) / Fraction(2) ** (factor - 127) * 64
    return unsigned(clamp(to_integral(scaled, "rni"), "s8"), 8)


def stochastic():
    rng = random_source("stochastic")
    out = CaseFile("conversion", "stochastic", TITLE + ".rs: random bits are added to the discarded ones, most significant bits aligned", "8.7 sm_100a")
    for element in ("f16", "bf16"):
        for relu in ("", ".relu"):
            for finite in ("", ".satfinite"):
                out.signature(f"f32 f32 b32 -> {element}x2; registers")
                for _ in range(14):
                    pool = [x for x in pick_sources(rng, NARROW[element], 40) if is_bounded(NARROW[element], x)]
                    a, b = rng.choice(pool), rng.choice(pool)
                    random = rng.getrandbits(32)
                    high, low = (rounded_stochastic(element, x, r, relu, finite) for x, r in ((a, random >> 16), (b, random & 0xFFFF)))
                    out.case(f"cvt.rs{relu}{finite}.{element}x2.f32", [hexf(F32, a), hexf(F32, b), hex(random)], [f"0x{high << 16 | low:08X}"])
    for element in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1"):
        bits = width_of(element)
        for relu in ("", ".relu"):
            out.signature(f"{{f32 f32 f32 f32}} b32 -> b{4 * bits}; registers")
            for _ in range(14):
                values = [rng.choice(pick_sources(rng, NARROW[element], 16)) for _ in range(4)]
                random = rng.getrandbits(32)
                upper, lower = random >> 16, random & 0xFFFF
                shares = [upper, upper, lower, lower] if bits == 8 else [upper >> 8, lower >> 8, upper & 255, lower & 255]
                word = 0
                for x, r in zip(values, shares):
                    word = word << bits | rounded_stochastic(element, x, r, relu, True)
                out.case(f"cvt.rs{relu}.satfinite.{element}x4.f32", ["{" + ", ".join(hexf(F32, v) for v in values) + "}", hex(random)], [f"0x{word:0{bits}X}"])
    out.write()


def is_bounded(fmt, bits):
    """True unless the truncated value overflows, where the manual does not say what .rs gives."""
    value = F32.decode(bits)[1]
    return value in (NAN, INF) or value < fmt.decode(fmt.largest)[1] + fmt.decode(fmt.largest)[1] / (1 << fmt.mantissa + 2)


def rounded_stochastic(element, bits, random, relu, finite):
    """Adds random (13, 16 or 8 bits) to the discarded part as a fraction of a unit of the result."""
    fmt = NARROW[element]
    size = {"f16": 13, "e2m1": 8}.get(element, 16)
    random &= (1 << size) - 1
    negative, value = F32.decode(bits)
    if value in (NAN, INF) or value == 0 or (relu and negative):
        return to_narrow(fmt, bits, "rz", bool(relu), bool(finite))
    unit = Fraction(2) ** (max(exact.floor_log2(value), 1 - fmt.bias) - fmt.mantissa)
    # The hardware adds integers: bits of random below the last discarded bit are lost.
    lowest = Fraction(2) ** (max(exact.floor_log2(value), -126) - 23)
    addend = Fraction(random, 1 << size) * unit // lowest * lowest
    kept = value // unit * unit
    up = value - kept + addend >= unit
    result = kept + unit if up else kept
    if up and result > fmt.decode(fmt.largest)[1] and not finite:
        return fmt.infinity | (fmt.sign if negative else 0)
    return fmt.encode(-result if negative else result, "rz", negative, bool(finite))


def pack():
    rng = random_source("pack")
    out = CaseFile("conversion", "pack", "PTX ISA 9.7.9.22: cvt.pack")
    for t in ("u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"):
        bits = int(t[1:])
        third = bits < 16
        out.signature(f"s32 s32{' b32' if third else ''} -> b32; registers")
        for _ in range(14):
            a, b = (rng.choice(integers(rng, "s32", 10) + [rng.randint(-(1 << bits), 1 << bits) for _ in range(10)]) for _ in range(2))
            c = rng.getrandbits(32)
            d = unsigned(clamp(a, t), bits) << bits | unsigned(clamp(b, t), bits)
            if third:
                d = unsigned(d | c << 2 * bits, 32)
            out.case(f"cvt.pack.sat.{t}.s32{'.b32' if third else ''}", [a, b] + ([hex(c)] if third else []), [f"0x{d:08X}"])
    out.write()


def main():
    integer_to_integer()
    float_to_integer()
    integer_to_float()
    float_to_float()
    seldom_written()
    pairs_to_half()
    narrow_pairs()
    scale_factors()
    fixed_point()
    stochastic()
    pack()


if __name__ == "__main__":
    main()
