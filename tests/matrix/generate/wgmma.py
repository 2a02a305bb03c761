"""What wgmma computes (9.7.15): kernels of one m64n8 product each, A in registers, B in shared memory (K-major, no swizzle). Layouts,
descriptors and every N are tested in tests/tensor; these are about rounding."""
import zlib
from dataclasses import dataclass

import cases
import layouts
import sums
from forms import BITS, unpack
from numbers_ import Number, decode

TARGET, VERSION = "sm_90a", "8.2"
POLICIES = ("fast", "sm_90")
THREADS = 128


@dataclass
class Form:
    types: tuple  # d, a, b
    is_sparse: bool = False
    selector: int = 0
    signs: tuple = (1, 1)

    @property
    def bits(self):
        return BITS[self.types[1]]

    @property
    def products(self):
        return 256 // self.bits

    @property
    def k(self):
        return self.products * (2 if self.is_sparse else 1)

    @property
    def registers(self):
        return 2 if self.types[0] == "f16" else 4

    @property
    def name(self):
        text = "wgmma_" + ("sp_" if self.is_sparse else "") + f"m64n8k{self.k}_" + "_".join(self.types)
        return text + (f"_{self.selector}" if self.is_sparse else "") + ("_negated" if self.signs != (1, 1) else "")

    def parts(self):
        """Words of 32 lanes of: A, B, C, metadata."""
        return 16, self.k * self.bits // 128, 4 * self.registers, 4 if self.is_sparse else 0


def all_forms():
    made = []
    for d, a, b in (("f32", "f16", "f16"), ("f16", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "tf32", "tf32"),
                    *((d, a, b) for d in ("f32", "f16") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2"))):
        made += [Form((d, a, b)), Form((d, a, b), True)]
        if BITS[a] > 8:
            made.append(Form((d, a, b), True, 1))
    made += [Form(("f32", "f16", "f16"), signs=(-1, 1)), Form(("f32", "e4m3", "e4m3"), signs=(1, -1))]
    return made


def kernel(form):
    a, b, c, e = form.parts()
    d = form.registers
    each = lambda letter, count: "{" + ", ".join(f"%{letter}{i}" for i in range(count)) + "}"
    text = (f".visible .entry {form.name}(.param .u64 in, .param .u64 out)\n.reqntid {THREADS}\n{{\n  .reg .b64 %in, %out, %at, %desc;\n"
            f"  .reg .b32 %t<4>, %a<4>, %d<4>, %e;\n  .reg .pred %p;\n  .shared .align 128 .b8 tile[{512}];\n"
            "  mov.u32 %t0, %ctaid.x;\n  mov.u32 %t1, %tid.x;\n  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n"
            f"  mad.wide.u32 %in, %t0, {128 * (a + b + c + e)}, %in;\n  mad.wide.u32 %at, %t1, 4, %in;\n"
            f"  mad.wide.u32 %out, %t0, {512 * d}, %out;\n  mad.wide.u32 %out, %t1, 4, %out;\n")
    text += "".join(f"  ld.global.b32 %a{i}, [%at+{512 * i}];\n" for i in range(4))
    text += "".join(f"  ld.global.b32 %d{i}, [%at+{128 * (a + b) + 512 * i}];\n" for i in range(d))
    if form.is_sparse:
        text += f"  ld.global.b32 %e, [%at+{128 * (a + b + c)}];\n"
    text += (f"  setp.lt.u32 %p, %t1, {32 * b};\n  mov.u32 %t2, tile;\n  mad.lo.u32 %t3, %t1, 4, %t2;\n"
             f"  @%p ld.global.b32 %t0, [%at+{128 * a}];\n  @%p st.shared.b32 [%t3], %t0;\n"
             "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n  shr.u32 %t2, %t2, 4;\n  cvt.u64.u32 %desc, %t2;\n"
             f"  or.b64 %desc, %desc, {8 << 16 | 16 << 32:#x};\n"
             "  wgmma.fence.sync.aligned;\n")
    name = f"wgmma.mma_async{'.sp' if form.is_sparse else ''}.sync.aligned.m64n8k{form.k}.{'.'.join(form.types)}"
    text += f"  {name} {each('d', d)}, {each('a', 4)}, %desc" + (f", %e, {form.selector}" if form.is_sparse else "")
    text += f", 1, {form.signs[0]}, {form.signs[1]}" + (", 0" if form.bits == 16 else "") + ";\n"
    text += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n"
    text += "".join(f"  st.global.b32 [%out+{512 * i}], %d{i};\n" for i in range(d))
    return text + "  ret;\n}\n"


def factor(kind, raw, sign):
    x = decode(kind, raw)
    return x if sign > 0 else Number(-x.sign, x.significand, x.exponent, x.leading, x.special)


def column_of(form, metadata, row, product):
    """Which k a compressed element stands for (figures of 9.7.15.6.1)."""
    warp, row = divmod(row, 16)
    word = lambda lane: metadata[warp * 32 + lane]
    if form.bits == 8:
        return product // 2 * 4 + (word(row % 8 * 4 + row // 8 + product // 16 * 2) >> product % 16 * 2 & 3)
    if form.bits == 32:
        chunk = word(row % 8 * 4 + 2 * form.selector + product // 4) >> (row // 8 * 16 + product % 4 * 4) & 15
        return 2 * product + (chunk == 0xe)
    return product // 2 * 4 + (word(row % 8 * 4 + 2 * form.selector + product // 8) >> (row // 8 * 16 + product % 8 * 2) & 3)


def multiply(form, policy, words):
    """`words`: what the kernel reads. Returns what it writes."""
    d_type, a_type, b_type = form.types
    counts = form.parts()
    at = [32 * sum(counts[:i]) for i in range(5)]
    a_words, b_words, c_words, metadata = (words[at[i]:at[i + 1]] for i in range(4))
    per = 32 // form.bits
    place = layouts.factor_a(16, per)
    a = {}
    for thread in range(THREADS):
        for i in range(4 * per):
            row, k = place(thread % 32, i)
            raw = unpack(a_words[i // per * THREADS + thread], form.bits, per)[i % per]
            a[thread // 32 * 16 + row, k] = factor(a_type, raw, form.signs[0])
    b = {}
    for n in range(8):
        for k in range(form.k):
            byte = k * form.bits // 8
            word = b_words[(byte // 16 * 128 + n * 16 + byte % 16) // 4]
            b[k, n] = factor(b_type, word >> byte % 4 * 8 & (1 << form.bits) - 1, form.signs[1])
    size = BITS[d_type]
    out = [0] * (form.registers * THREADS)
    for row in range(64):
        ks = [column_of(form, metadata, row, p) if form.is_sparse else p for p in range(form.products)]
        for n in range(8):
            thread = row // 16 * 32 + row % 8 * 4 + n // 2
            i = row % 16 // 8 * 2 + n % 2
            index, shift = (i * THREADS + thread, 0) if size == 32 else (i // 2 * THREADS + thread, i % 2 * 16)
            c = c_words[index] >> shift & (1 << size) - 1
            pairs = [(a[row, p], b[k, n]) for p, k in enumerate(ks)]
            out[index] |= sums.dot(policy, "wgmma", (d_type, a_type, b_type, d_type), (64, 8, form.k), pairs, c) << shift
    return out


def text_of(form, modes):
    """The lines of a .cases file."""
    counts = form.parts()
    lines = f"kernel {form.name} {sum(counts)} {4 * form.registers} 32 {THREADS}\n"
    for policy in POLICIES:
        for mode in range(5 if form.types[1] == "bf16" else 4):
            seed = zlib.crc32(form.name.encode()) * 16 + mode
            runs = [f"{counts[0]}*{modes[form.types[1]][mode]}", f"{counts[1]}*{modes[form.types[2]][mode]}",
                    f"{counts[2]}*{modes[form.types[0]][mode]}"]
            if form.is_sparse:
                runs.append(f"{counts[3]}*{'paired' if form.bits == 32 else 'ordered'}")
            masks = [mask for run in runs for mask in [run.split("*")[1]] * int(run.split("*")[0])]
            words = [cases.word(mask, seed, r, lane) & 0xffffffff for r, mask in enumerate(masks) for lane in range(32)]
            out = multiply(form, policy if policy == "fast" else int(policy[3:]), words)
            lines += f"{policy} {seed} {','.join(runs)} {cases.digest(out, 4):016x}\n"
    return lines
