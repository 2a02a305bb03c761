"""How matrix instructions sum: dot products by policy. Factors are Numbers, accumulators and results bits of f32 or f16."""
from numbers_ import INFINITY, NAN, Number, decode, encode, fma, ieee_special

NAN_BITS = {"f32": 0x7fffffff, "f16": 0x7fff}
INFINITY_BITS = {"f32": 0x7f800000, "f16": 0x7c00}
SIGN_BITS = {"f32": 0x80000000, "f16": 0x8000}


def special_bits(kind, result):
    if kind == NAN:
        return NAN_BITS[result]
    return INFINITY_BITS[result] | (SIGN_BITS[result] if kind < 0 else 0)


def convert(bits, source, result, mode="n"):
    """f32 to f16 by a rounding mode, or nothing to do. Mode z: too large a number becomes the largest."""
    if source == result:
        return bits
    x = decode(source, bits)
    if x.special:
        return special_bits(NAN if x.special == NAN else x.sign, result)
    bits = encode(result, x.value, x.exponent, mode, x.sign)
    return bits - 1 if mode == "z" and bits & 0x7fff == 0x7c00 else bits


def chain(pairs, c, result, c_type):
    """Policy fast: f32 fma in ascending k from c, rounded to the result once."""
    total = convert(c, c_type, "f32")
    for a, b in pairs:
        total = fma("f32", a, b, total)
        if total is None:
            return NAN_BITS[result]
    if decode("f32", total).special == NAN:
        return NAN_BITS[result]
    return convert(total, "f32", result)


def add(x, y, result):
    """IEEE addition to nearest of bits of `result`."""
    total = fma(result, decode(result, x), Number(1, 1, 0, 0), y)
    return NAN_BITS[result] if total is None else total


def fused(terms, c, result, F, least, fraction=None):
    """One step: `terms` are (sign * significand, exponent of its last bit, exponent it aligns by)."""
    terms = [t for t in terms if t[0] != 0]
    if c.significand:
        terms.append((c.value, c.exponent, c.leading))
    if not terms:
        return 0
    top = max([t[2] for t in terms] + ([least] if least is not None else []))
    total = 0
    for value, exponent, _ in terms:
        shift = top - F - exponent  # the term in units of 2^(top - F), cut off toward zero
        magnitude = abs(value) >> shift if shift > 0 else abs(value) << -shift
        total += magnitude if value > 0 else -magnitude
    if total == 0:
        return 0
    bits = encode(result, total, top - F, "n" if result == "f16" else "z", fraction=fraction)
    return 0 if bits == SIGN_BITS[result] else bits  # zero has no sign


def fused_chunks(pairs, c, result, L, F, least, fraction=None):
    for first in range(0, len(pairs), L):
        chunk = pairs[first:first + L]
        number = decode(result, c)
        special = ieee_special(chunk, number)
        if special:
            c = special_bits(special, result)
            continue
        terms = [(a.value * b.value, a.exponent + b.exponent, a.leading + b.leading) for a, b in chunk]
        c = fused(terms, number, result, F, least, fraction)
    return c


# Factors of 16 bits: products in a step, fraction bits, least exponent with f32 and with f16 results.
HALVES = {70: (4, 23, -131, -19), 75: (8, 24, -132, -20), 80: (8, 24, -132, -20), 89: (8, 24, -132, -20),
          90: (16, 25, -133, -21), 100: (16, 25, -133, -21), 120: (16, 25, -133, -21)}


def dot(policy, unit, types, shape, pairs, c, satfinite=False):
    """One dot product. types: (d, a, b, c); policy: "fast" or the number of an architecture."""
    d_type, a_type, _, c_type = types
    if policy == "fast":
        return chain(pairs, c, d_type, c_type)
    if shape == (8, 8, 4):
        return small_dot(policy, types, pairs, c)
    steps = "f16" if (d_type, c_type) == ("f16", "f16") else "f32"
    c = convert(c, c_type, steps)
    if a_type in ("f16", "bf16", "tf32"):
        L, F, least32, least16 = HALVES[policy if a_type == "f16" else max(policy, 80)]
        if a_type == "tf32":
            L = 4 if unit == "wmma" else L // 2
        out = fused_chunks(pairs, c, steps, L, F, least16 if steps == "f16" else least32)
    else:
        out = narrow_dot(policy, unit, types, pairs, c, steps)
    return convert(out, steps, d_type, "z" if satfinite and policy >= 80 else "n")


def narrow_dot(policy, unit, types, pairs, c, steps):
    least = -21 if steps == "f16" else -133
    is_fp8 = all(t in ("e4m3", "e5m2") for t in types[1:3])
    if policy == 120 or not is_fp8:
        return fused_chunks(pairs, c, steps, 32, 25, least)
    if unit == "wgmma":
        return fused_chunks(pairs, c, steps, 32, 13, None, None if steps == "f16" else 13)
    if policy < 90:  # native on sm_89
        return fused_chunks(pairs, c, steps, 16, 13, None, None if steps == "f16" else 13)
    # As f16: k = 0, 1 (mod 4) from zero, then k = 2, 3 (mod 4), then c by an addition.
    halves = [(as_half(a), as_half(b)) for a, b in pairs]
    low = [p for k, p in enumerate(halves) if k % 4 < 2]
    high = [p for k, p in enumerate(halves) if k % 4 >= 2]
    total = fused_chunks(high, fused_chunks(low, 0, steps, 16, 25, least), steps, 16, 25, least)
    return add(total, c, steps)


def as_half(x):
    if x.special or x.significand == 0:
        return x
    return decode("f16", encode("f16", x.value, x.exponent, "n"))


def small_dot(policy, types, pairs, c):
    d_type, _, _, c_type = types
    if policy <= 75:
        _, F, least32, least16 = HALVES[policy]
        steps = "f16" if (d_type, c_type) == ("f16", "f16") else "f32"
        out = fused_chunks(pairs, convert(c, c_type, steps), steps, 4, F, least16 if steps == "f16" else least32)
        return convert(out, steps, d_type)
    c = convert(c, c_type, "f32")
    if d_type == "f16":  # ((c + (p0 + p1)) + (p2 + p3))
        zero = 0x80000000  # x + -0 = x: a product rounded by itself
        for (a0, b0), (a1, b1) in (pairs[0:2], pairs[2:4]):
            first = or_nan(fma("f32", a0, b0, zero))
            c = add(c, or_nan(fma("f32", a1, b1, first)), "f32")
    else:
        total = 0
        for a, b in pairs:
            total = or_nan(fma("f32", a, b, total))
        c = add(c, total, "f32")
    return convert(c, "f32", d_type)


def or_nan(bits):
    return NAN_BITS["f32"] if bits is None else bits


def scaled_dot(policy, k, pairs, c, scales):
    """`scales`: (scale of A, scale of B) for each product."""
    if policy == "fast":
        return scaled_chain(pairs, c, scales)
    number = decode("f32", c)
    if k < 64:  # one step; the scales' exponents join those of the products
        if any(x.special or y.special for x, y in scales):
            return NAN_BITS["f32"]
        special = ieee_special(pairs, number)
        if special:
            return special_bits(special, "f32")
        terms = [(a.value * b.value, a.exponent + b.exponent + x.leading + y.leading, a.leading + b.leading + x.leading + y.leading)
                 for (a, b), (x, y) in zip(pairs, scales)]
        return fused(terms, number, "f32", 25, -133)
    terms = []
    for group in range(0, k, 16):
        x, y = scales[group]
        if x.special or y.special:
            return NAN_BITS["f32"]
        products = [(a.value * b.value, a.exponent + b.exponent) for a, b in pairs[group:group + 16]]
        low = min(e for _, e in products)
        total = sum(v << e - low for v, e in products)
        terms.append((total * x.significand * y.significand, low + x.exponent + y.exponent, x.leading + y.leading))
    if number.special:
        return special_bits(NAN if number.special == NAN else number.sign, "f32")
    return fused(terms, number, "f32", 35, -139)


def scaled_chain(pairs, c, scales):
    block = next((k for k in range(1, len(scales)) if scales[k][0] is not scales[0][0]), len(scales))
    for first in range(0, len(pairs), block):
        total = 0
        for a, b in pairs[first:first + block]:
            total = or_nan(fma("f32", a, b, total))
        scale_a, scale_b = scales[first]
        scaled = or_nan(fma("f32", decode("f32", total), scale_a, zero_of(total, scale_a)))
        c = or_nan(fma("f32", decode("f32", scaled), scale_b, c))
    return NAN_BITS["f32"] if decode("f32", c).special == NAN else c


def zero_of(bits, scale):
    """The zero whose addition leaves a product as it is."""
    return 0x80000000 if (bits >> 31) else 0
