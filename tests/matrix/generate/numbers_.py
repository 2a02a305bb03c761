"""Numbers as (sign, significand, exponent) of integers, exact; rounding them. Independent of intrinsics/matrix."""

NAN, INFINITY = "nan", "inf"

# name: (exponent bits, mantissa bits, what the highest exponent means)
FORMATS = {
    "f16": (5, 10, "ieee"), "bf16": (8, 7, "ieee"), "tf32": (8, 10, "ieee"), "f32": (8, 23, "ieee"), "f64": (11, 52, "ieee"),
    "e5m2": (5, 2, "ieee"), "e4m3": (4, 3, "nan"), "e3m2": (3, 2, "numbers"), "e2m3": (2, 3, "numbers"), "e2m1": (2, 1, "numbers"),
    "ue4m3": (4, 3, "nan"),
}


class Number:
    """sign * significand * 2^exponent, or `special`. The exponent is that of the last bit; `leading` that of the bit before the
    point in the format the number came from (of a subnormal one: the format's least)."""

    def __init__(self, sign=1, significand=0, exponent=0, leading=0, special=None):
        self.sign, self.significand, self.exponent, self.leading, self.special = sign, significand, exponent, leading, special

    @property
    def value(self):
        return self.sign * self.significand


def decode(name, bits):
    if name == "ue8m0":
        return Number(special=NAN) if bits == 0xff else Number(1, 1, bits - 127, bits - 127)
    exponent_bits, mantissa_bits, top = FORMATS[name]
    if name == "tf32":
        bits >>= 13
    sign = -1 if bits >> (exponent_bits + mantissa_bits) & 1 and name != "ue4m3" else 1
    field = bits >> mantissa_bits & (1 << exponent_bits) - 1
    mantissa = bits & (1 << mantissa_bits) - 1
    highest = (1 << exponent_bits) - 1
    if top == "ieee" and field == highest:
        return Number(sign, special=NAN if mantissa else INFINITY)
    if top == "nan" and field == highest and mantissa == (1 << mantissa_bits) - 1:
        return Number(special=NAN)
    leading = max(field, 1) - ((1 << exponent_bits - 1) - 1)
    return Number(sign, mantissa + (1 << mantissa_bits if field else 0), leading - mantissa_bits, leading)


def divided(value, shift, mode):
    """The integer value * 2^-shift by a rounding mode: z to zero, n to nearest even, d down, u up."""
    if shift <= 0:
        return value << -shift
    floor, rest = value >> shift, value & (1 << shift) - 1
    if rest == 0 or mode == "d":
        return floor
    if mode == "u":
        return floor + 1
    if mode == "z":
        return floor + (value < 0)
    half = 1 << shift - 1
    return floor + (rest > half or rest == half and floor & 1)


def encode(name, value, exponent, mode, zero_sign=1, fraction=None):
    """Bits of value * 2^exponent in a format; `fraction`: fewer bits behind the point than the format has. A magnitude beyond the
    format is infinity (mode z: too, as tensor cores do; modes d and u as IEEE 754 says)."""
    exponent_bits, mantissa_bits, _ = FORMATS[name]
    bias = (1 << exponent_bits - 1) - 1
    sign_bit = 1 << exponent_bits + mantissa_bits
    if value == 0:
        return sign_bit if zero_sign < 0 else 0
    kept = mantissa_bits if fraction is None else fraction
    leading = max(abs(value).bit_length() - 1 + exponent, 1 - bias)
    rounded = divided(value, leading - kept - exponent, mode)
    sign = sign_bit if value < 0 else 0
    magnitude = abs(rounded) << mantissa_bits - kept
    if magnitude >= 2 << mantissa_bits:
        magnitude >>= 1
        leading += 1
    if leading > bias:
        return sign | ((1 << exponent_bits) - 1) << mantissa_bits
    if magnitude < 1 << mantissa_bits:
        return sign | magnitude
    return sign | (leading + bias - 1 << mantissa_bits) + magnitude


def fma(name, a, b, c, mode="n"):
    """Fused multiply-add of bits a, b (Numbers) and c (bits of `name`) as IEEE 754 says; NaN gives None."""
    c = decode(name, c)
    exponent_bits, mantissa_bits, _ = FORMATS[name]
    infinity = ((1 << exponent_bits) - 1) << mantissa_bits
    sign_bit = 1 << exponent_bits + mantissa_bits
    product_sign = a.sign * b.sign
    special = ieee_special([(a, b)], c)
    if special == NAN:
        return None
    if special:
        return infinity | (sign_bit if special == -INFINITY_SIGN else 0)
    exponent = min(a.exponent + b.exponent, c.exponent)
    product = a.value * b.value << a.exponent + b.exponent - exponent
    addend = c.value << c.exponent - exponent
    if product + addend == 0:
        both_negative = product_sign < 0 and c.sign < 0
        differ = product_sign != c.sign
        if product != 0 or differ:
            return sign_bit if mode == "d" else (sign_bit if both_negative else 0)
        return sign_bit if both_negative else 0
    return encode(name, product + addend, exponent, mode)


INFINITY_SIGN = 1


def ieee_special(products, c):
    """What an IEEE sum of products and c gives where one is not finite: NAN, 1 or -1 for an infinity, None where all are
    finite."""
    signs = set()
    for a, b in products:
        if a.special == NAN or b.special == NAN:
            return NAN
        if a.special or b.special:
            other = b if a.special else a
            if not other.special and other.significand == 0:
                return NAN
            signs.add(a.sign * b.sign)
    if c.special == NAN:
        return NAN
    if c.special:
        signs.add(c.sign)
    if len(signs) > 1:
        return NAN
    return signs.pop() if signs else None
