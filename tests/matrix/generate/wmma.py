"""wmma: kernels that load A, B and C, multiply and store D, in every type, shape and layout, from every state space, with and
without stride. What the fragments look like does not show."""
import zlib
from dataclasses import dataclass
from itertools import product

import cases
import forms
import sums
from numbers_ import fma
from forms import BITS

SHAPES = ((16, 16, 16), (8, 32, 16), (32, 8, 16))
HALF_POLICIES = ("fast", "sm_75", "sm_80", "sm_90")


@dataclass
class Wmma:
    shape: tuple
    types: tuple      # d, a, b, c
    layouts: tuple    # a, b, c, d
    space: str
    has_stride: bool
    target: str = "sm_80"
    version: str = "7.8"
    policies: tuple = ("fast",)
    satfinite: bool = False
    rounding: str = ""
    bit_operation: str = ""

    @property
    def name(self):
        m, n, k = self.shape
        parts = [f"wmma_m{m}n{n}k{k}", *self.types, *self.layouts, self.space.replace("::", "_") or "generic"]
        return "_".join(parts + ["stride"] * self.has_stride + ["satfinite"] * self.satfinite + [self.rounding] * bool(self.rounding)
                        + [self.bit_operation] * bool(self.bit_operation))

    def region(self, which):
        """Rows, columns, layout, type of a, b, c, d."""
        m, n, k = self.shape
        rows, columns = ((m, k), (k, n), (m, n), (m, n))[which]
        return rows, columns, self.layouts[which], self.types[(1, 2, 3, 0)[which]]

    def stride(self, which):
        rows, columns, layout, t = self.region(which)
        line = columns if layout == "row" else rows
        return line + (max(8, 128 // BITS[t]) if self.has_stride else 0)

    def words(self, which):
        """Size in units of 32 words (of 4 or 8 bytes)."""
        rows, columns, layout, t = self.region(which)
        lines = rows if layout == "row" else columns
        return -(-lines * self.stride(which) * BITS[t] // (32 * self.size * 8))

    @property
    def size(self):
        return 8 if self.types[0] == "f64" else 4

    def index(self, which, row, column):
        layout = self.region(which)[2]
        return row * self.stride(which) + column if layout == "row" else column * self.stride(which) + row


def all_forms():
    spaces = ("global", "", "shared", "shared::cta")
    count = 0

    def spin():  # every combination of space and stride occurs with every kind of form
        nonlocal count
        count += 1
        return {"space": spaces[count % 4], "has_stride": bool(count // 4 % 2)}

    both = ("row", "col")
    for shape, a, b in product(SHAPES, both, both):
        for d, c in product(("f16", "f32"), ("f16", "f32")):
            for e in both:
                yield Wmma(shape, (d, "f16", "f16", c), (a, b, e, both[count % 2]), policies=HALF_POLICIES, **spin())
        yield Wmma(shape, ("f32", "bf16", "bf16", "f32"), (a, b, both[count % 2], both[count // 2 % 2]), policies=("fast", "sm_80", "sm_90"), **spin())
        for x, y in product(("s8", "u8"), ("s8", "u8")):
            if x != y:
                continue
            for sat in (False, True):
                yield Wmma(shape, ("s32", x, y, "s32"), (a, b, both[count % 2], both[count // 2 % 2]), satfinite=sat, **spin())
    for a, b, e in product(both, both, both):
        yield Wmma((16, 16, 8), ("f32", "tf32", "tf32", "f32"), (a, b, e, both[count % 2]), policies=("fast", "sm_80", "sm_90"), **spin())
        for rounding in ("", "rn", "rz", "rm", "rp"):
            yield Wmma((8, 8, 4), ("f64",) * 4, (a, b, e, both[count % 2]), rounding=rounding, **spin())
    for space, e in (("global", "col"), ("shared", "row")):
        yield Wmma((16, 16, 8), ("f32", "tf32", "tf32", "f32"), ("col", "row", e, e), space, False, policies=("fast", "sm_80"))
    for e, x in product(both, ("s4", "u4")):
        for sat in (False, True):
            yield Wmma((8, 8, 32), ("s32", x, x, "s32"), ("row", "col", e, both[count % 2]), satfinite=sat, **spin())
    for e, operation in product(both, ("xor", "and")):
        yield Wmma((8, 8, 128), ("s32", "b1", "b1", "s32"), ("row", "col", e, both[count % 2]), bit_operation=operation, **spin())
    for d, c in product(("f16", "f32"), ("f16", "f32")):
        yield Wmma((16, 16, 16), (d, "f16", "f16", c), ("row", "col", "row", "row"), "global", False, "sm_75", "6.4", HALF_POLICIES, True)
        for shape in SHAPES[1:]:
            yield Wmma(shape, (d, "f16", "f16", c), ("col", "row", "row", "col"), "global", False, "sm_75", "6.4", ("fast", "sm_75"), True)


def register_counts(form):
    m, n, k = form.shape
    t = form.types[1]
    if t == "f16":
        a = b = 8
    elif t == "tf32":
        a = b = 4
    else:
        per = max(1, 32 // BITS[t]) if t != "f64" else 1
        a, b = m * k // 32 // per, n * k // 32 // per
    accumulators = lambda t: m * n // 32 // (2 if t == "f16" else 1)
    return a, b, accumulators(form.types[3]), accumulators(form.types[0])


def kernel(form):
    counts = register_counts(form)
    size = form.size
    words = [form.words(i) for i in range(4)]
    inputs = sum(words[:3])
    register = lambda t: {"f32": "f32", "f64": "f64", "s32": "s32"}.get(t, "b32")
    kinds = [register(form.types[i]) for i in (1, 2, 3, 0)]
    text = f".visible .entry {form.name}(.param .u64 in, .param .u64 out)\n{{\n  .reg .b64 %in, %out, %from, %to, %gen;\n  .reg .b32 %t<8>;\n  .reg .b{size * 8} %w;\n"
    is_shared = form.space.startswith("shared")
    if is_shared:
        text += f"  .shared .align 128 .b8 memory[{(inputs + words[3]) * 32 * size}];\n"
    text += "".join(f"  .reg .{kinds[i]} %{'abcd'[i]}<{counts[i]}>;\n" for i in range(4))
    text += ("  mov.u32 %t0, %ctaid.x;\n  mov.u32 %t1, %laneid;\n  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n"
             f"  mad.wide.u32 %in, %t0, {inputs * 32 * size}, %in;\n  mad.wide.u32 %out, %t0, {words[3] * 32 * size}, %out;\n")
    base, target = "%in", "%out"
    if is_shared:
        text += (f"  mov.u64 %gen, memory;\n  mad.wide.u32 %from, %t1, {size}, %in;\n  mad.wide.u32 %to, %t1, {size}, %gen;\n")
        for i in range(inputs):
            text += f"  ld.global.b{size * 8} %w, [%from+{i * 32 * size}];\n  st.shared.b{size * 8} [%to+{i * 32 * size}], %w;\n"
        for i in range(words[3]):
            text += f"  mov.b{size * 8} %w, 0;\n  st.shared.b{size * 8} [%to+{(inputs + i) * 32 * size}], %w;\n"
        text += "  bar.sync 0;\n"
        base = target = "memory"
    m, n, k = form.shape
    shape = f"m{m}n{n}k{k}"
    space = f".{form.space}" if form.space else ""
    at = 0
    for which, letter in enumerate("abc"):
        t = form.region(which)[3]
        stride = f", {form.stride(which)}" if form.has_stride else ""
        regs = "{" + ", ".join(f"%{letter}{i}" for i in range(counts[which])) + "}"
        text += f"  wmma.load.{letter}.sync.aligned.{form.layouts[which]}.{shape}{space}.{t} {regs}, [{base}+{at * 32 * size}]{stride};\n"
        at += words[which]
    d, a, b, c = form.types
    tail = f"{d}.{c}" if a == "f16" else f"{d}.{a}.{b}.{c}"
    sat = ".satfinite" * form.satfinite
    rounding = f".{form.rounding}" * bool(form.rounding)
    name = f"wmma.mma.sync.aligned.{form.layouts[0]}.{form.layouts[1]}.{shape}{rounding}.{tail}{sat}"
    if form.bit_operation:
        name = f"wmma.mma.{form.bit_operation}.popc.sync.aligned.row.col.{shape}.{tail}"
    regs = ["{" + ", ".join(f"%{l}{i}" for i in range(n)) + "}" for l, n in zip("abcd", counts)]
    text += f"  {name} {regs[3]}, {regs[0]}, {regs[1]}, {regs[2]};\n"
    stride = f", {form.stride(3)}" if form.has_stride else ""
    offset = inputs * 32 * size if is_shared else 0
    text += f"  wmma.store.d.sync.aligned.{form.layouts[3]}.{shape}{space}.{d} [{target}+{offset}], {regs[3]}{stride};\n"
    if is_shared:
        text += f"  bar.sync 0;\n  mad.wide.u32 %out, %t1, {size}, %out;\n"
        for i in range(words[3]):
            text += f"  ld.shared.b{size * 8} %w, [%to+{(inputs + i) * 32 * size}];\n  st.global.b{size * 8} [%out+{i * 32 * size}], %w;\n"
    return text + "  ret;\n}\n"


def multiply(form, policy, memory):
    """memory: integers of all bytes of a, b, c. Returns that of d."""
    m, n, k = form.shape
    bits = [BITS[form.region(i)[3]] for i in range(4)]
    unit = form.size * 8
    regions = []
    for which in range(3):
        regions.append(memory & (1 << form.words(which) * 32 * unit) - 1)
        memory >>= form.words(which) * 32 * unit
    get = lambda which, row, column: regions[which] >> form.index(which, row, column) * bits[which] & (1 << bits[which]) - 1
    view = forms.Form("", "", "", form.shape, form.types, (), layout=form.layouts, satfinite=form.satfinite,
                      rounding={"": "n", "rn": "n", "rz": "z", "rm": "d", "rp": "u"}[form.rounding], bit_operation=form.bit_operation)
    out = 0
    for row, column in product(range(m), range(n)):
        pairs = [(forms.element(view, 1, get(0, row, i)), forms.element(view, 2, get(1, i, column))) for i in range(k)]
        c = get(2, row, column)
        if form.types[1] in ("f16", "bf16", "tf32"):
            value = sums.dot(policy if policy == "fast" else int(policy[3:]), "wmma", form.types, form.shape, pairs, c, form.satfinite)
            if form.satfinite and (policy == "fast" or policy < "sm_80"):
                value = finite(value, form.types[0])
        else:
            value = forms.dot(view, policy, pairs, c, None, row, column)
        out |= value << form.index(3, row, column) * bits[3]
    return out


def finite(bits, t):
    if t == "f16":
        return 0 if bits & 0x7fff > 0x7c00 else bits - 1 if bits & 0x7fff == 0x7c00 else bits
    return 0 if bits & 0x7fffffff > 0x7f800000 else bits - 1 if bits & 0x7fffffff == 0x7f800000 else bits


def cases_of(form, modes):
    lines = []
    base = zlib.crc32(form.name.encode())
    words = [form.words(i) for i in range(4)]
    choose = (0,) if form.types[1] == "b1" else (1, 2, 3) if form.types[1] == "f64" and form.rounding in ("rz", "rm", "rp") else range(4)
    for policy, mode in product(form.policies, choose):
        seed = base * 16 + mode
        masks = [modes[form.region(i)[3]][mode] for i in range(3) for _ in range(words[i])]
        memory = 0
        for r, mask in enumerate(masks):
            for lane in range(32):
                memory |= cases.word(mask, seed, r, lane) << (r * 32 + lane) * form.size * 8
        out = multiply(form, policy, memory)
        unit = form.size * 8
        digest = cases.digest([out >> i * unit & (1 << unit) - 1 for i in range(words[3] * 32)], form.size)
        lines.append((policy, seed, masks, digest))
    return lines, sum(words[:3]), words[3]
