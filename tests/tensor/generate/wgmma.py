"""Writes wgmma.ptx, wgmma.toml and expected/wgmma.npy: every form of 9.7.15, with results of a model in integers and exact
fractions of two. Layouts of registers and metadata are those of the manual's figures."""
import os
import struct

from formats import FORMATS, IMAGE_BYTES, Matrix, element, f16, f32, hashed, image, npy, words

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

KERNEL = """
.visible .entry {name}(.param .u64 image, .param .u64 out, .param .u64 descA, .param .u64 descB)
{{
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<10>; .reg .b32 %a<4>; .reg .b32 %d<{count}>; .reg .b32 %m;
  ld.param.u64 %rd1, [image];
  ld.param.u64 %rd2, [out];
  ld.param.u64 %rd3, [descA];
  ld.param.u64 %rd4, [descB];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %r1;
COPY:
  mul.wide.u32 %rd5, %r2, 4;
  add.u64 %rd6, %rd1, %rd5;
  ld.global.b32 %r3, [%rd6];
  mov.u32 %r4, tile;
  cvt.u32.u64 %r5, %rd5;
  add.u32 %r4, %r4, %r5;
  st.shared.b32 [%r4], %r3;
  add.u32 %r2, %r2, 128;
  setp.lt.u32 %p1, %r2, {words};
  @%p1 bra COPY;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  mov.u32 %r4, tile;
  shr.u32 %r4, %r4, 4;
  cvt.u64.u32 %rd5, %r4;
  add.u64 %rd3, %rd3, %rd5;
  add.u64 %rd4, %rd4, %rd5;
  mul.wide.u32 %rd5, %r1, 4;
  add.u64 %rd6, %rd1, %rd5;
  ld.global.b32 %a0, [%rd6];
  ld.global.b32 %a1, [%rd6+512];
  ld.global.b32 %a2, [%rd6+1024];
  ld.global.b32 %a3, [%rd6+1536];
{metadata}{accumulators}  setp.eq.u32 %p2, %r1, 999;
  wgmma.fence.sync.aligned;
  {instruction};
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  mov.u32 %r6, 17;
{hash}  add.u64 %rd7, %rd2, %rd5;
  st.global.b32 [%rd7], %r6;
  ret;
}}
"""


class Case:
    def __init__(self, n, d, a, b, k, registers=False, sparse=0, selector=0, scale=("1",), ta=0, tb=0, na=1, nb=1, saturates=False,
                 matrices=None, kind=None, isFloat=True):
        self.n, self.d, self.a, self.b, self.k = n, d, a, b, k
        self.registers, self.sparse, self.selector, self.scale = registers, sparse, selector, scale[0]
        self.ta, self.tb, self.na, self.nb, self.saturates = ta, tb, na, nb, saturates
        self.matrices, self.kind, self.isFloat = matrices, kind, isFloat

    def hasInput(self):
        return self.scale in ("1",)  # %p2 is false

    def instruction(self):
        shape = f"m64n{self.n}k{self.k}"
        name = "wgmma.mma_async" + (".sp" if self.sparse else "") + f".sync.aligned.{shape}"
        name += (".satfinite" if self.saturates else "") + f".{self.d}.{self.a}.{self.b}" + (".and.popc" if self.a == "b1" else "")
        count = self.count()
        d = "{" + ", ".join(f"%d{i}" for i in range(count)) + "}"
        a = "{%a0, %a1, %a2, %a3}" if self.registers else "%rd3"
        text = f"{name} {d}, {a}, %rd4"
        if self.sparse:
            text += f", %m, {self.selector}"
        text += f", {self.scale}"
        if self.isFloat:
            text += f", {self.na}, {self.nb}"
        if self.a in ("f16", "bf16"):
            text += ("" if self.registers else f", {self.ta}") + f", {self.tb}"
        return text

    def count(self):
        return self.n // (4 if self.d == "f16" else 2)

    def data(self):
        return image(self.kind)

    def metadataOf(self, lane):
        """A legal metadata word of each thread."""
        out, state = 0, lane * 2654435761 + 12345
        if self.a == "tf32":
            for i in range(8):
                state = (state * 1103515245 + 12345) & 0x7FFFFFFF
                out |= (0xE if state >> 16 & 1 else 4) << 4 * i
            return out
        pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
        for i in range(8):
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            low, high = pairs[(state >> 16) % 6]
            out |= (low | high << 2) << 4 * i
        return out

    def codeA(self, data, m, k):
        """Element k of row m of A as it is stored (compressed where it is sparse)."""
        bits = FORMATS[self.a][0]
        if not self.registers:
            return self.matrices[0].code(data, m, k)
        # Figures 148, 150, 152, 154: register i of thread t of warp m / 16: row t / 4 + 8 * (i % 2), bytes from 4 * (t % 4) + 16 * (i / 2).
        at = k * bits // 8
        thread = m // 16 * 32 + m % 8 * 4 + at % 16 // 4
        register = m % 16 // 8 + at // 16 * 2
        word = element(data, 4 * (thread + 128 * register), 32)
        return word >> (k * bits % 32) & (1 << bits) - 1

    def placeOf(self, m, e):
        """Which k the compressed element e of row m stands for (figures 176, 178, 180, 181)."""
        warp, row = m // 16, m % 16
        if FORMATS[self.a][0] == 8:
            thread = row % 8 * 4 + row // 8 + 2 * (e // 16)
            index = self.metadataOf(warp * 32 + thread) >> 2 * (e % 16) & 3
            return e // 2 * 4 + index
        if self.a == "tf32":
            thread = row % 8 * 4 + 2 * self.selector + e // 4
            index = self.metadataOf(warp * 32 + thread) >> (row // 8 * 16 + 4 * (e % 4)) & 15
            return 2 * e + (index == 0xE)
        thread = row % 8 * 4 + 2 * self.selector + e // 8
        index = self.metadataOf(warp * 32 + thread) >> (row // 8 * 16 + 2 * (e % 8)) & 3
        return e // 2 * 4 + index

    def inputOf(self, register, thread):
        """What the kernel puts into D."""
        x = (thread * 7 + register * 13) % 32 - 16
        if self.d == "f32":
            return f32(x)
        if self.d == "f16":
            return f16(x) | f16(x) << 16
        return x & 0xFFFFFFFF

    def results(self):
        data = self.data()
        a, b = FORMATS[self.a], FORMATS[self.b]
        depth = self.k // 2 if self.sparse else self.k
        A = [[(self.placeOf(m, e) if self.sparse else e, self.na * a[1](self.codeA(data, m, e))) for e in range(depth)] for m in range(64)]
        B = [[self.nb * b[1](self.matrices[1].code(data, n, k)) for k in range(self.k)] for n in range(self.n)]
        out = []
        for thread in range(128):
            registers = []
            for i in range(self.count()):
                halves = []
                for e in ((2 * i, 2 * i + 1) if self.d == "f16" else (i,)):
                    # Figure 149: two on end in a row, rows t / 4 and 8 below, 8 columns on.
                    m = thread // 32 * 16 + thread % 32 // 4 + 8 * (e // 2 % 2)
                    n = e // 4 * 8 + thread % 4 * 2 + e % 2
                    total = sum(x * B[n][k] for k, x in A[m])
                    if self.hasInput():
                        total += (thread * 7 + i * 13) % 32 - 16
                    halves.append(total)
                registers.append(self.encode(halves))
            out.append(hashed(registers))
        return out

    def encode(self, values):
        if self.d == "f32":
            bits = f32(values[0] + 0.0)
            assert struct.unpack("<f", struct.pack("<I", bits))[0] == values[0]
            return bits
        if self.d == "f16":
            for v in values:
                assert abs(v) <= 2048
            return f16(values[0] + 0.0) | f16(values[1] + 0.0) << 16
        v = int(values[0])
        if self.saturates:
            v = max(-(1 << 31), min((1 << 31) - 1, v))
        return v

    def text(self, name):
        metadata = ""
        if self.sparse:
            metadata = "  ld.global.b32 %m, [%rd6+{}];\n".format(IMAGE_BYTES)
        accumulators = "".join(
            f"  mad.lo.u32 %r7, %r1, 7, {13 * i};\n  and.b32 %r7, %r7, 31;\n  sub.s32 %d{i}, %r7, 16;\n" + {
                "f32": f"  cvt.rn.f32.s32 %f1, %d{i};\n  mov.b32 %d{i}, %f1;\n",
                "f16": f"  cvt.rn.f16.s32 %h1, %d{i};\n  mov.b32 %d{i}, {{%h1, %h1}};\n"}.get(self.d, "") for i in range(self.count()))
        hashing = "".join(f"  mad.lo.u32 %r6, %r6, 31, %d{i};\n" for i in range(self.count()))
        text = KERNEL.format(name=name, count=self.count(), words=IMAGE_BYTES // 4, metadata=metadata, accumulators=accumulators,
                             instruction=self.instruction(), hash=hashing)
        return text.replace(".reg .b32 %m;", ".reg .b32 %m; .reg .f32 %f<2>; .reg .b16 %h<2>;")


def layouts(bits, k, n, tb=0, ta=0, choice=0, sparse=False):
    """Descriptors of A (32 bytes of a row) and B that fit the image; `choice` varies strides and swizzles."""
    mode = (0, 32, 64, 128)[choice % 4]
    modeB = (128, 64, 0, 32)[choice % 4]
    bytesB = k * bits // 8
    if bytesB == 64 and modeB == 32:
        modeB = 64
    T = 128 // bits

    def one(mode, major, bits, rows, depth, start):
        if major == "k":
            if mode == 0:
                return Matrix(start, 144, 128 * max(1, depth * bits // 128) + 32, 0, "k", bits)
            # A row of the pattern may begin inside it, where what follows does not leave its 128 bytes.
            inside = 32 if mode == 128 and depth * bits // 8 == 32 else 0
            return Matrix(start + inside, 16, 8 * mode, mode, "k", bits)
        if mode == 0:
            return Matrix(start, 128 * ((rows + T - 1) // T) + 16, 128, 0, "mn", bits)
        width = mode
        blocks = (rows * bits // 8 + width - 1) // width
        return Matrix(start, 8 * width, 8 * width * blocks, mode, "mn", bits)

    kA = k // 2 if sparse else k
    return one(mode, "mn" if ta else "k", bits, 64, kA, 1024), one(modeB, "mn" if tb else "k", bits, n, k, 2048)


def cases():
    list_ = []

    def add(n, d, a, b, k, choice, kind, **more):
        bits = FORMATS[a][0]
        m = layouts(bits, k, n, more.get("tb", 0), more.get("ta", 0), choice, bool(more.get("sparse")))
        list_.append(Case(n, d, a, b, k, matrices=m, kind=kind, **more))

    for i, n in enumerate((8, 16, 40, 72, 96, 176, 256)):  # every sort of N
        add(n, "f32", "f16", "f16", 16, i, "f16", scale=("%p2",) if i % 3 == 2 else ("1",))
    for sparse, k in ((0, 16), (1, 32)):
        for d, a, kind in (("f32", "f16", "f16"), ("f16", "f16", "units16"), ("f32", "bf16", "bf16")):
            for choice in range(4):
                add((8, 24, 64, 128)[choice] if d == "f32" else 24, d, a, a, k, choice, kind, sparse=sparse, selector=choice % 2,
                    ta=choice & 1, tb=choice >> 1, na=(1, -1)[choice % 2], nb=(1, 1, -1, -1)[choice])
            for choice in range(4):
                add((16, 8, 32, 24)[choice], d, a, a, k, choice, kind, registers=True, sparse=sparse, selector=(choice + 1) % 2,
                    tb=choice & 1, na=(-1, 1)[choice % 2], scale=("0",) if choice == 2 else ("1",))
        for registers in (False, True):
            for choice in range(4):
                add((8, 16, 48, 24)[choice], "f32", "tf32", "tf32", 16 if sparse else 8, choice, "tf32", registers=registers, sparse=sparse,
                    selector=choice % 2, na=(1, -1)[choice % 2])
            for choice, (a, b) in enumerate((("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e5m2", "e5m2"))):
                add((8, 32, 24, 16)[choice], "f32", a, b, 64 if sparse else 32, choice, "f8", registers=registers, sparse=sparse)
            for choice, (a, b) in enumerate((("e4m3", "e4m3"),)):
                add(16, "f16", a, b, 64 if sparse else 32, choice + 1, "units8", registers=registers, sparse=sparse)
            for choice, (a, b) in enumerate((("s8", "s8"), ("s8", "u8"), ("u8", "s8"), ("u8", "u8"))):
                add((8, 48, 24, 16)[choice], "s32", a, b, 64 if sparse else 32, choice, "any", registers=registers, sparse=sparse,
                    isFloat=False, saturates=choice % 2 == 1)
            if not sparse:
                for choice in range(3):
                    add((8, 24, 64)[choice], "s32", "b1", "b1", 256, choice, "any", registers=registers, isFloat=False)
    return list_


def main():
    all_ = cases()
    expected, launches = [], []
    text = ["// Every form of wgmma (PTX ISA 9.7.15). Written by generate/wgmma.py; wgmma.toml has descriptors, expected/wgmma.npy results.\n"
            ".version 8.4\n.target sm_90a\n.address_size 64\n\n.shared .align 1024 .b8 tile[%d];\n" % IMAGE_BYTES]
    kinds = sorted({c.kind for c in all_})
    for i, c in enumerate(all_):
        name = f"{c.d}_{c.a}_{c.b}_n{c.n}_{'sparse_' if c.sparse else ''}{'registers' if c.registers else 'descriptor'}_{i}"
        text.append(c.text(name))
        expected += c.results()
        a, b = (m.wgmma() for m in c.matrices)
        source = f"{c.kind}{'_tf32' if c.a == 'tf32' else ''}"
        launches.append(f'[[launch]]\nkernel = "{name}"\nblock = 128\narguments = ["{source}", "out+{512 * i}", "{a:#x}", "{b:#x}"]\n')
    with open(HERE + "/wgmma.ptx", "w") as file:
        file.write("".join(text))
    # Behind the image: metadata of the 128 threads, of 2-bit indices or (tf32) of 4-bit ones.
    sources = []
    for kind in kinds:
        for suffix in ("", "_tf32"):
            if (suffix == "_tf32") != (kind == "tf32"):
                continue
            c = next(c for c in all_ if c.kind == kind)
            npy(f"{HERE}/images/{kind}.npy", words(image(kind)) + [c.metadataOf(t) for t in range(128)])
            sources.append(f'{kind}{suffix} = "images/{kind}.npy"\n')
    npy(HERE + "/expected/wgmma.npy", expected)
    with open(HERE + "/wgmma.toml", "w") as file:
        file.write("# Written by generate/wgmma.py: a hash of each thread's accumulators.\nmodule = \"wgmma.ptx\"\n\n[buffers]\n" + "".join(sources) +
                   f'out = "u32[{len(expected)}]"\n\n' + "\n".join(launches) + '\n[[expect]]\nbuffer = "out"\nfile = "expected/wgmma.npy"\n')
    print(len(all_), "cases")


if __name__ == "__main__":
    main()
