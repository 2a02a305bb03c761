"""Element formats, images of shared memory, and files: what the models of wgmma and tcgen05 share.

Values are chosen so that every sum is exact in the accumulators' type: results depend on layouts, selections and signs, not
on the order of sums (tests of the arithmetic itself are elsewhere).
"""
import array
import random
import struct

IMAGE_BYTES = 32768


def f16(x):
    return struct.unpack("<H", struct.pack("<e", x))[0]


def f32(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def small(exponent_bits, mantissa_bits, bias, code):
    """The value of a float code without infinities or NaN."""
    sign = -1 if code >> (exponent_bits + mantissa_bits) else 1
    e = code >> mantissa_bits & (1 << exponent_bits) - 1
    m = code & (1 << mantissa_bits) - 1
    value = m * 2.0 ** (1 - bias - mantissa_bits) if e == 0 else (1 + m / 2.0**mantissa_bits) * 2.0 ** (e - bias)
    return sign * value


# bits, value of a code
FORMATS = {
    "f16": (16, lambda c: struct.unpack("<e", struct.pack("<H", c))[0]),
    "bf16": (16, lambda c: struct.unpack("<f", struct.pack("<I", c << 16))[0]),
    "tf32": (32, lambda c: struct.unpack("<f", struct.pack("<I", c & ~0x1FFF))[0]),
    "e4m3": (8, lambda c: small(4, 3, 7, c)),
    "e5m2": (8, lambda c: small(5, 2, 15, c)),
    "e3m2": (6, lambda c: small(3, 2, 3, c)),
    "e2m3": (6, lambda c: small(2, 3, 1, c)),
    "e2m1": (4, lambda c: small(2, 1, 1, c)),
    "ue8m0": (8, lambda c: 2.0 ** (c - 127)),
    "ue4m3": (8, lambda c: small(4, 3, 7, c & 0x7F)),
    "s8": (8, lambda c: c - 256 if c > 127 else c),
    "u8": (8, lambda c: c),
    "b1": (1, lambda c: c),
}


def image(kind):
    """Bytes whose elements of some formats are small numbers."""
    r = random.Random(kind)
    if kind == "f16":
        words = [f16(r.randint(-6, 6)) for _ in range(IMAGE_BYTES // 2)]
        return array.array("H", words).tobytes()
    if kind == "units16":  # -1, 0, 1: for f16 accumulators
        return array.array("H", [f16(r.randint(-1, 1)) for _ in range(IMAGE_BYTES // 2)]).tobytes()
    if kind == "bf16":
        return array.array("H", [f32(r.randint(-6, 6)) >> 16 for _ in range(IMAGE_BYTES // 2)]).tobytes()
    if kind == "tf32":  # the low 13 bits are not zero
        return array.array("I", [f32(r.randint(-6, 6)) | r.randint(0, 0x1FFF) for _ in range(IMAGE_BYTES // 4)]).tobytes()
    if kind == "f8":  # from 0.5 to 3.75 as e4m3, from 0.0625 to 8 or so as e5m2
        return bytes(r.randint(0x30, 0x47) | r.choice((0, 0x80)) for _ in range(IMAGE_BYTES))
    if kind == "units8":  # -1, 0, 1 as e4m3; e5m2 has other powers of two
        return bytes(r.choice((0x38, 0xB8, 0, 0x38)) for _ in range(IMAGE_BYTES))
    return bytes(r.randint(0, 255) for _ in range(IMAGE_BYTES))  # "any"


def element(data, at, bits, index=0):
    """Code of `bits` bits: at byte `at`; narrower than a byte: the index-th from there on."""
    assert 0 <= at and at + max(bits, 8) // 8 <= len(data), at
    if bits >= 8:
        return int.from_bytes(data[at:at + bits // 8], "little")
    first = at * 8 + index * bits
    pair = int.from_bytes(data[first // 8:first // 8 + 2], "little")
    return pair >> first % 8 & (1 << bits) - 1


def npy(path, words):
    """A file of u32s."""
    header = "{'descr': '<u4', 'fortran_order': False, 'shape': (%d,), }" % len(words)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(array.array("I", [w & 0xFFFFFFFF for w in words]).tobytes())


def hashed(registers):
    """What the kernels make of a thread's registers."""
    h = 17
    for r in registers:
        h = (h * 31 + (r & 0xFFFFFFFF)) & 0xFFFFFFFF
    return h


def words(data):
    return list(array.array("I", data))


class Matrix:
    """A canonical layout of the manual (9.7.15.5.1.2.1.3, 9.7.16.3.3), in bytes from the image's start. T elements are 16 bytes.

    mode: 0, 32, 64, 128 bytes of swizzling, or 129: 128 bytes with atoms of 32.
    """

    def __init__(self, start, leading, stride, mode, major, bits, base=0):
        self.start, self.leading, self.stride, self.mode, self.major, self.bits, self.base = start, leading, stride, mode, major, bits, base

    def swizzled(self, at):
        line = (at >> 7) - self.base
        if self.mode == 129:
            return at ^ (line & 3) << 5
        b = {0: 0, 32: 1, 64: 2, 128: 3}[self.mode]
        return at ^ (line & (1 << b) - 1) << 4

    def byte(self, mn, k):
        """Where element (mn, k) is; of elements below a byte, where the byte with its first bit is."""
        width = 128 if self.mode == 129 else self.mode
        if self.major == "k":
            along = k * self.bits // 8
            if self.mode == 0:  # ((8,m),(T,2k)):((1T,SBO),(1,LBO))
                at = mn % 8 * 16 + mn // 8 * self.stride + along % 16 + along // 16 * self.leading
            else:  # ((8,m),(T,2k)):((width,SBO),(1,T))
                at = mn % 8 * width + mn // 8 * self.stride + along
        else:
            along = mn * self.bits // 8
            if self.mode == 0:  # ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO))
                at = along % 16 + along // 16 * self.stride + k % 8 * 16 + k // 8 * self.leading
            else:  # ((T,w,m),(8,k)):((1,T,LBO),(width,SBO)); atoms of 32 bytes: (4,k)
                rows = 4 if self.mode == 129 else 8
                at = along % width + along // width * self.leading + k % rows * width + k // rows * self.stride
        return self.swizzled(self.start + at)

    def code(self, data, mn, k):
        if self.bits >= 8:
            return element(data, self.byte(mn, k), self.bits)
        return element(data, self.byte(mn, k), self.bits, k * self.bits % 8 // self.bits)

    def fields(self):
        return (self.start >> 4) | (self.leading >> 4) << 16 | (self.stride >> 4) << 32 | self.base << 49

    def wgmma(self):
        return self.fields() | {0: 0, 128: 1, 64: 2, 32: 3}[self.mode] << 62

    def tcgen05(self):
        return self.fields() | 1 << 46 | {0: 0, 129: 1, 128: 2, 64: 4, 32: 6}[self.mode] << 61
