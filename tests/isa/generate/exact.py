"""Exact arithmetic for the expected values of case files: integers and rationals only, no floating point of the host."""
from fractions import Fraction
import random

INF, NAN = "inf", "nan"


class Format:
    """A binary floating point format. top: "ieee" (infinity and NaN), "nan" (no infinity), "numbers" (neither)."""

    def __init__(self, name, exponent, mantissa, top="ieee"):
        self.name, self.exponent, self.mantissa, self.top = name, exponent, mantissa, top
        self.bits = 1 + exponent + mantissa
        self.bias = (1 << (exponent - 1)) - 1
        self.sign = 1 << (exponent + mantissa)
        self.infinity = ((1 << exponent) - 1) << mantissa
        self.largest = {"ieee": self.infinity - 1, "nan": self.sign - 2, "numbers": self.sign - 1}[top]
        self.nan = self.sign - 1
        self.one = self.bias << mantissa
        self.smallest_normal = 1 << mantissa

    def decode(self, bits):
        """(negative, value): value is a Fraction, INF or NAN."""
        negative, magnitude = bool(bits & self.sign), bits & (self.sign - 1)
        if self.top == "ieee" and magnitude >= self.infinity:
            return negative, INF if magnitude == self.infinity else NAN
        if self.top == "nan" and magnitude == self.nan:
            return negative, NAN
        field, fraction = magnitude >> self.mantissa, magnitude & ((1 << self.mantissa) - 1)
        significand = fraction if field == 0 else fraction + (1 << self.mantissa)
        return negative, Fraction(significand) * Fraction(2) ** (max(field, 1) - self.bias - self.mantissa)

    def value(self, bits):
        negative, value = self.decode(bits)
        return -value if negative and isinstance(value, Fraction) else value

    def is_nan(self, bits):
        return self.decode(bits)[1] == NAN

    def is_subnormal(self, bits):
        magnitude = bits & (self.sign - 1)
        return 0 < magnitude < self.smallest_normal

    def flush(self, bits):
        return bits & self.sign if self.is_subnormal(bits) else bits

    def encode(self, value, mode="rn", negative=None, finite=False):
        """The bits of a Fraction (or INF, -INF as negative=True) rounded by mode: rn rz rm rp rna. Zero takes `negative`."""
        if value == INF:
            return (self.sign if negative else 0) | (self.largest if finite or self.top != "ieee" else self.infinity)
        if value == 0:
            return self.sign if negative else 0
        negative, magnitude = value < 0, abs(value)
        exponent = max(floor_log2(magnitude), 1 - self.bias)
        unit = Fraction(2) ** (exponent - self.mantissa)
        kept = magnitude // unit
        rest = magnitude - kept * unit
        if rounds_up(mode, negative, int(kept), rest, unit):
            kept += 1
        bits = ((exponent + self.bias - 1) << self.mantissa) + int(kept)
        if bits > self.largest:
            inward = mode == "rz" or (mode == "rm" and not negative) or (mode == "rp" and negative)
            bits = self.largest if inward or finite or self.top == "numbers" else (self.infinity if self.top == "ieee" else self.nan)
        return bits | (self.sign if negative else 0)


def floor_log2(x):
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    return exponent - 1 if Fraction(2) ** exponent > x else exponent


def rounds_up(mode, negative, kept, rest, unit):
    if rest == 0:
        return False
    if mode == "rn":
        return rest * 2 > unit or (rest * 2 == unit and kept & 1)
    if mode == "rna":
        return rest * 2 >= unit
    return {"rz": False, "rm": negative, "rp": not negative}[mode]


F16, BF16, F32, F64 = Format("f16", 5, 10), Format("bf16", 8, 7), Format("f32", 8, 23), Format("f64", 11, 52)
TF32 = Format("tf32", 8, 10)
E5M2, E4M3 = Format("e5m2", 5, 2), Format("e4m3", 4, 3, "nan")
E3M2, E2M3, E2M1 = (Format("e3m2", 3, 2, "numbers"), Format("e2m3", 2, 3, "numbers"), Format("e2m1", 2, 1, "numbers"))
FORMATS = {f.name: f for f in (F16, BF16, F32, F64)}


def add(fmt, mode, a, b):
    """Bits of a + b, or NAN."""
    return fma(fmt, mode, fmt.one, a, b)


def mul(fmt, mode, a, b):
    (sa, x), (sb, y) = fmt.decode(a), fmt.decode(b)
    if NAN in (x, y) or (INF in (x, y) and 0 in (x, y)):
        return NAN
    if INF in (x, y):
        return fmt.encode(INF, negative=sa != sb)
    return fmt.encode(fmt.value(a) * fmt.value(b), mode, negative=sa != sb)


def fma(fmt, mode, a, b, c, sources=None):
    """Bits of a * b + c, or NAN; a and b in `sources` if that is another format."""
    source = sources or fmt
    (sa, x), (sb, y), (sc, z) = source.decode(a), source.decode(b), fmt.decode(c)
    if NAN in (x, y, z) or (INF in (x, y) and 0 in (x, y)):
        return NAN
    sp = sa != sb
    if INF in (x, y):
        return NAN if z == INF and sc != sp else fmt.encode(INF, negative=sp)
    if z == INF:
        return fmt.encode(INF, negative=sc)
    product = x * y * (-1 if sp else 1)
    total = product + z * (-1 if sc else 1)
    zero = sp if product == 0 and z == 0 and sp == sc else mode == "rm"
    return fmt.encode(total, mode, negative=zero)


def div(fmt, mode, a, b):
    (sa, x), (sb, y) = fmt.decode(a), fmt.decode(b)
    if NAN in (x, y) or (x == INF and y == INF) or (x == 0 and y == 0):
        return NAN
    negative = sa != sb
    if x == INF or y == 0:
        return fmt.encode(INF, negative=negative)
    if y == INF:
        return fmt.encode(Fraction(0), negative=negative)
    return fmt.encode(fmt.value(a) / fmt.value(b), mode, negative=negative)


def sqrt(fmt, mode, a):
    negative, x = fmt.decode(a)
    if x == 0:
        return a
    if x == NAN or negative:
        return NAN
    if x == INF:
        return a
    return fmt.encode(sticky_sqrt(x, fmt.mantissa + 4), mode)


def sticky_sqrt(x, bits):
    """A rational that rounds like sqrt(x): exact, or truncated with one more half unit far below."""
    shift = bits + (x.denominator.bit_length() - x.numerator.bit_length()) // 2 + 2
    scaled = x * Fraction(4) ** shift
    root = isqrt(scaled.numerator // scaled.denominator)
    exact = Fraction(root) ** 2 == scaled
    return (Fraction(root) if exact else Fraction(2 * root + 1, 2)) / Fraction(2) ** shift


def isqrt(n):
    from math import isqrt as integer_root
    return integer_root(n)


def saturate(fmt, bits):
    """.sat: [0, 1], NaN and -0 to +0."""
    if bits == NAN or fmt.is_nan(bits) or bits & fmt.sign:
        return 0
    return min(bits, fmt.one)


def random_source(name):
    """The same numbers in every run."""
    return random.Random("ptxrun " + name)


def interesting(fmt):
    """Bits of numbers where things happen."""
    m = fmt.mantissa
    magnitudes = [0, 1, fmt.smallest_normal - 1, fmt.smallest_normal, fmt.one - 1, fmt.one, fmt.one + 1,
                  fmt.one + (1 << (m - 1)), (fmt.bias + 1) << m, (fmt.bias + m) << m, fmt.largest, fmt.infinity]
    return magnitudes + [x | fmt.sign for x in magnitudes] + [fmt.nan]


def random_float(rng, fmt, span=None):
    """Random bits; within 2^±span of 1 where span is given."""
    if span is None:
        return rng.getrandbits(fmt.bits)
    field = fmt.bias + rng.randint(-span, span)
    return (rng.getrandbits(1) * fmt.sign) | field << fmt.mantissa | rng.getrandbits(fmt.mantissa)
