"""The forms of 9.7.14 that multiply fragments: how each is written, and what comes out of one warp's registers."""
from dataclasses import dataclass, field

import layouts
import sums
from numbers_ import decode, fma

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "e3m2": 8, "e2m3": 8, "e2m1": 8,
        "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32}


@dataclass
class Form:
    text: str       # the instruction without operands
    target: str     # sm_80
    version: str
    shape: tuple    # m, n, k
    types: tuple    # d, a, b, c
    counts: tuple   # registers of d, a, b, c
    layout: tuple = ("row", "col")
    is_sparse: bool = False
    selector: int = 0
    scale: tuple = ()  # type, scales per row
    is_dense4: bool = False  # e2m1 without containers of 8 bits
    satfinite: bool = False
    rounding: str = "n"
    bit_operation: str = ""
    policies: tuple = ("fast",)
    name: str = field(default="")

    def __post_init__(self):
        name = self.text + (f"_{self.selector}" if self.is_sparse else "")
        self.name = name.replace("mma.", "", 1).replace("::", "_").replace(".", "_").replace("_sync_aligned", "")

    @property
    def is_quad(self):
        return self.shape == (8, 8, 4) and self.types[1] == "f16"

    def bits(self, which):
        t = self.types[which]
        return 4 if t == "e2m1" and self.is_dense4 else BITS[t]

    def products(self):
        return self.shape[2] // 2 if self.is_sparse else self.shape[2]


def unpack(word, bits, count):
    return [word >> bits * i & (1 << bits) - 1 for i in range(count)]


def element(form, which, bits):
    t = form.types[which]
    if t == "e2m1" and not form.is_dense4:
        bits >>= 2
    if t in ("s8", "s4", "s32"):
        width = BITS[t]
        return bits - (1 << width) if bits >> width - 1 else bits
    return bits if t in ("u8", "u4", "b1") else decode(t, bits)


def spread(form, which, registers, place, quad, make):
    bits = form.bits(which)
    per = max(1, 32 // bits) if bits != 64 else 1
    matrix = {}
    for lane in range(32):
        if form.is_quad and lane % 16 // 4 != quad:
            continue
        for r, register in enumerate(registers):
            for p, raw in enumerate(unpack(register[lane], bits, per)):
                matrix[place(lane, r * per + p)] = make(raw)
    return matrix


def places(form):
    if form.is_quad:
        single = {"f16": layouts.quad_half, "f32": layouts.quad_single}
        return (single[form.types[0]], layouts.quad_a(form.layout[0] == "row"), layouts.quad_b(form.layout[1] == "row"),
                single[form.types[3]])
    per = [32 // form.bits(i) if form.bits(i) <= 32 else 1 for i in (1, 2)]
    return layouts.accumulator, layouts.factor_a(form.shape[0], per[0]), layouts.factor_b(per[1]), layouts.accumulator


def column_of(form, metadata, row, product):
    """Which k the compressed element stands for."""
    bits = form.bits(1)
    if bits == 32:
        lane, low = layouts.metadata_chunk(row, product, bits, form.products() // 4, form.selector)
        return 2 * product + (metadata[lane] >> low & 15 == 0xe)
    pair = 2 if bits == 4 else 1
    chunk, inside = divmod(product, 2 * pair)
    chunks = form.products() // (2 * pair)
    lane, low = layouts.metadata_chunk(row, chunk, bits, chunks // 4, form.selector)
    index = metadata[lane] >> low + 2 * (inside // pair) & 3
    return (4 * chunk + index) * pair + inside % pair


def scales_of(form, extra, row, column):
    scale_type, count = form.scale
    data_a, byte_a, thread_a, data_b, byte_b, thread_b = extra
    word_a = data_a[row % 8 * 4 + 2 * (thread_a[0] & 1) + row // 8]
    word_b = data_b[column * 4 + (thread_b[0] & 3)]
    pick = lambda word, byte, i: decode(scale_type, word >> 8 * (byte[0] + i) & 0xff)
    pairs = [(pick(word_a, byte_a, i), pick(word_b, byte_b, i)) for i in range(count)]
    per = form.products() // count
    return [pairs[k // per] for k in range(form.products())]


def multiply(form, policy, inputs):
    """inputs: registers, each 32 words: a, b, c, then the rest. Returns the registers of d."""
    counts = form.counts
    registers, at = [], 0
    for count in counts[1:]:
        registers.append(inputs[at:at + count])
        at += count
    extra = inputs[at:]
    metadata = extra.pop(0) if form.is_sparse else None
    place_d, place_a, place_b, place_c = places(form)
    out = [[0] * 32 for _ in range(counts[0])]
    d_bits = BITS[form.types[0]]
    for quad in range(4 if form.is_quad else 1):
        a = spread(form, 1, registers[0], place_a, quad, lambda raw: element(form, 1, raw))
        b = spread(form, 2, registers[1], place_b, quad, lambda raw: element(form, 2, raw))
        c = spread(form, 3, registers[2], place_c, quad, lambda raw: raw)
        d = {}
        for row, column in c:
            ks = [column_of(form, metadata, row, p) if form.is_sparse else p for p in range(form.products())]
            pairs = [(a[row, p], b[k, column]) for p, k in enumerate(ks)]
            d[row, column] = dot(form, policy, pairs, c[row, column], extra, row, column)
        for lane in range(32):
            if form.is_quad and lane % 16 // 4 != quad:
                continue
            per = 2 if d_bits == 16 else 1
            for r in range(counts[0]):
                for p in range(per):
                    out[r][lane] |= d[place_d(lane, r * per + p)] << 16 * p
    return out


def dot(form, policy, pairs, c, extra, row, column):
    kind = form.types[1]
    if kind == "f64":
        for x, y in pairs:
            c = fma("f64", x, y, c, form.rounding)
        return c
    if kind == "b1":
        together = (lambda x, y: x ^ y) if form.bit_operation == "xor" else (lambda x, y: x & y)
        return (c + sum(together(x, y) for x, y in pairs)) & 0xffffffff
    if kind in ("s8", "u8", "s4", "u4"):
        total = (c - (1 << 32) if c >> 31 else c) + sum(x * y for x, y in pairs)
        if form.satfinite:
            total = max(-1 << 31, min((1 << 31) - 1, total))
        return total & 0xffffffff
    policy = policy if policy == "fast" else int(policy[3:])
    if form.scale:
        return sums.scaled_dot(policy, len(pairs), pairs, c, scales_of(form, extra, row, column))
    return sums.dot(policy, "mma", form.types, form.shape, pairs, c)
