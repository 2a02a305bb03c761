"""Writes tcgen05_moves.ptx and .toml, tcgen05_reduce.ptx and .toml and what they expect: tcgen05.ld, ld.red, st, cp and shift in every
form (PTX ISA 9.7.16.8, 9.7.16.9). Where registers lie in tensor memory is the figures' of 9.7.16.2.3.1."""
import os
import struct

from formats import IMAGE_BYTES, Matrix, element, hashed, image, npy, words

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LANES, COLUMNS = 128, 512

HEAD = """// tcgen05.ld, st, cp and shift (PTX ISA 9.7.16.8, 9.7.16.9). Written by generate/moves.py.
.version 8.8
.target {target}
.address_size 64

.shared .align 1024 .b8 tile[{bytes}];
.shared .align 8 .b64 done;
.shared .align 4 .b32 taddr;
"""

# Lane l, column c of tensor memory holds word (61 l + c) modulo 8192 of the image.
KERNEL = """
.visible .entry {name}(.param .u64 image, .param .u64 out){cluster}
{{
  .reg .pred %p<4>; .reg .b16 %h<2>; .reg .b32 %r<24>; .reg .b64 %rd<10>; .reg .b32 %d<130>; .reg .f32 %f<130>;
  ld.param.u64 %rd1, [image];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %cluster_ctarank;
  mov.u32 %r4, %r1;
COPY:
  mul.wide.u32 %rd6, %r4, 4;
  add.u64 %rd6, %rd1, %rd6;
  ld.global.b32 %r6, [%rd6];
  mov.u32 %r7, tile;
  shl.b32 %r8, %r4, 2;
  add.u32 %r7, %r7, %r8;
  st.shared.b32 [%r7], %r6;
  add.u32 %r4, %r4, 128;
  setp.lt.u32 %p1, %r4, {words};
  @%p1 bra COPY;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra INITIALISED;
  mbarrier.init.shared::cta.b64 [done], 1;
  fence.mbarrier_init.release.cluster;
INITIALISED:
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra ALLOCATED;
  tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [taddr], 512;
ALLOCATED:
  fence.proxy.async;
  bar.sync 0;
  ld.shared.b32 %r9, [taddr];
  and.b32 %r10, %r1, 96;
  shl.b32 %r10, %r10, 16;
  add.u32 %r10, %r9, %r10;
  mov.u32 %r4, 0;
FILL:
  mad.lo.u32 %r5, %r1, 61, %r4;
{fill}  add.u32 %r6, %r10, %r4;
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%r6], {{%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}};
  add.u32 %r4, %r4, 8;
  setp.lt.u32 %p1, %r4, 512;
  @%p1 bra FILL;
  tcgen05.wait::st.sync.aligned;
  {meet}
  mov.u32 %r11, 17;
{body}
  mul.lo.u32 %r12, %r2, 128;
  add.u32 %r12, %r12, %r1;
  mul.wide.u32 %rd6, %r12, 4;
  add.u64 %rd6, %rd2, %rd6;
  st.global.b32 [%rd6], %r11;
  tcgen05.fence::before_thread_sync;
  {meet}
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra FREED;
  tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 %r9, 512;
  tcgen05.relinquish_alloc_permit.cta_group::{group}.sync.aligned;
FREED:
  ret;
}}
"""

FILL = "".join(f"""  add.u32 %r6, %r5, {i};
  and.b32 %r6, %r6, {IMAGE_BYTES // 4 - 1};
  mul.wide.u32 %rd6, %r6, 4;
  add.u64 %rd6, %rd1, %rd6;
  ld.global.b32 %d{i}, [%rd6];
""" for i in range(8))


def registers(count, kind="d"):
    return "{" + ", ".join(f"%{kind}{i}" for i in range(count)) + "}"


def hashing(count, extra=""):
    return "".join(f"  mad.lo.u32 %r11, %r11, 31, %d{i};\n" for i in range(count)) + extra


SHAPES = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}  # registers of x1
MOST = {"32x32b": 128, "16x64b": 128, "16x128b": 64, "16x256b": 32, "16x32bx2": 128}


def cell(shape, register, thread):
    """Lane and 32-bit piece of its row that a thread's register is, as the figures draw them."""
    if shape == "32x32b":
        return thread, register
    if shape == "16x64b":  # pairs of threads: lanes 0 and 8; the next pair: the next piece
        return (thread & 1) * 8 + (thread >> 2), (thread >> 1 & 1) + 2 * register
    if shape == "16x128b":
        return (thread >> 2) + 8 * (register & 1), (thread & 3) + 4 * (register >> 1)
    if shape == "16x256b":
        return (thread >> 2) + 8 * (register >> 1 & 1), (thread & 3) * 2 + (register & 1) + 8 * (register >> 2)
    return thread & 15, register


class Memory:
    def __init__(self, data):
        self.cells = [[data[(61 * lane + c) % len(data)] for c in range(COLUMNS)] for lane in range(LANES)]

    def places(self, shape, register, thread, lane, column, packed, split):
        """The cells of a register: one, or the low halves of two."""
        row, piece = cell(shape, register, thread % 32)
        at = column + (split if shape == "16x32bx2" and thread % 32 >= 16 else 0)
        row += thread // 32 * 32 + lane
        return [(row, at + 2 * piece), (row, at + 2 * piece + 1)] if packed else [(row, at + piece)]

    def load(self, *place):
        cells = self.places(*place)
        if len(cells) == 1:
            return self.cells[cells[0][0]][cells[0][1]]
        low, high = (self.cells[r][c] & 0xFFFF for r, c in cells)
        return low | high << 16

    def store(self, value, *place):
        cells = self.places(*place)
        if len(cells) == 1:
            self.cells[cells[0][0]][cells[0][1]] = value
        else:
            for (r, c), half in zip(cells, (value & 0xFFFF, value >> 16)):
                self.cells[r][c] = half

    def hash(self, columns, seed):
        """What reading back columns 0 to columns - 1 by 32x32b.x32 adds."""
        out = []
        for thread in range(128):
            h = seed[thread]
            for c in range(columns):
                h = (h * 31 + self.cells[thread][c]) & 0xFFFFFFFF
            out.append(h)
        return out


READ_BACK = """  mov.u32 %r4, 0;
BACK:
  add.u32 %r6, %r10, %r4;
  tcgen05.ld.sync.aligned.32x32b.x32.b32 {d}, [%r6];
  tcgen05.wait::ld.sync.aligned;
{hash}  add.u32 %r4, %r4, 32;
  setp.lt.u32 %p1, %r4, {columns};
  @%p1 bra BACK;
""".replace("{d}", registers(32)).replace("{hash}", hashing(32))


def moves(data):
    """One kernel: all loads and stores of the sizes; the model beside."""
    memory = Memory(data)
    text, seed = [], [17] * 128
    for shape, per in SHAPES.items():
        for packed in (False, True):
            size = 1
            while size <= MOST[shape]:
                count = size * per
                width = count * (1 if shape in ("32x32b", "16x32bx2") else 2) * (2 if packed else 1)  # columns
                split = (40 if width <= 40 else 256) if shape == "16x32bx2" else 0
                if width + split > COLUMNS:
                    break
                lane = 0 if shape == "32x32b" or size % 2 else 16
                column = 3 if width < 100 else 0
                address = f"  add.u32 %r6, %r10, {(lane << 16) + column};\n"
                tail = f", {split}" if shape == "16x32bx2" else ""
                load = f"tcgen05.ld.sync.aligned.{shape}.x{size}{'.pack::16b' if packed else ''}.b32 {registers(count)}, [%r6]{tail};\n"
                text.append(address + "  " + load + "  tcgen05.wait::ld.sync.aligned;\n" + hashing(count))
                for thread in range(128):
                    for i in range(count):
                        seed[thread] = (seed[thread] * 31 + memory.load(shape, i, thread, lane, column, packed, split)) & 0xFFFFFFFF
                change = "".join(f"  add.u32 %d{i}, %d{i}, {0x10003 * (i + 1)};\n" for i in range(count))
                values = [[(memory.load(shape, i, thread, lane, column, packed, split) + 0x10003 * (i + 1)) & 0xFFFFFFFF for i in range(count)]
                          for thread in range(128)]
                there = column + 5 if width < 100 else column
                text.append(change + f"  add.u32 %r6, %r10, {(lane << 16) + there};\n" +
                            f"  tcgen05.st.sync.aligned.{shape}.x{size}{'.unpack::16b' if packed else ''}.b32 [%r6]{tail}, {registers(count)};\n" +
                            "  tcgen05.wait::st.sync.aligned;\n")
                for thread in range(128):
                    for i in range(count):
                        memory.store(values[thread][i], shape, i, thread, lane, there, packed, split)
                size *= 2
    text.append(READ_BACK.replace("{columns}", str(COLUMNS)))
    return "".join(text), memory.hash(COLUMNS, seed)


def copies(data, group):
    """cp in every shape and format, and shift, by thread 0; then all of tensor memory is read."""
    memory = [Memory(data) for _ in range(group)]
    raw = image("any")
    text, column = "  or.b32 %r13, %r1, %r2;\n  setp.ne.u32 %p1, %r13, 0;\n  @%p1 bra ISSUED;\n", 0
    text += "  mov.u32 %r14, tile;\n  and.b32 %r14, %r14, 0x3ffff;\n  shr.u32 %r14, %r14, 4;\n  cvt.u64.u32 %rd3, %r14;\n"
    shapes = {"128x256b": (128, 32, lambda r: [r]), "4x256b": (4, 32, lambda r: [32 * r]), "128x128b": (128, 16, lambda r: [r]),
              "64x128b.warpx2::02_13": (64, 16, lambda r: [r, r + 64]),
              "64x128b.warpx2::01_23": (64, 16, lambda r: [r % 32 + r // 32 * 64, r % 32 + r // 32 * 64 + 32]),
              "32x128b.warpx4": (32, 16, lambda r: [r, r + 32, r + 64, r + 96])}
    choice = 0
    for shape, (rows, bytes_, lanes) in shapes.items():
        for format_ in ("", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64"):
            mode = (0, 128, 64, 32)[choice % 4]
            m = Matrix(64 * choice if mode == 0 else 2048, 2048 if mode == 0 else 16, 128 if mode == 0 else 8 * mode, mode, "k", 8)
            text += f"  add.u32 %r6, %r9, {column};\n  add.u64 %rd4, %rd3, {m.tcgen05()};\n  tcgen05.cp.cta_group::{group}.{shape}{format_} [%r6], %rd4;\n"
            for mem in memory:
                for r in range(rows):
                    row = b""
                    for piece in range(0, bytes_, 16):
                        at = m.byte(r, piece)
                        part = raw[at:at + 16]
                        if format_:
                            bits = 6 if "b6" in format_ else 4
                            # 16 elements on end; each becomes a byte, 4 bits in its bits 2 to 5.
                            part = bytes(element(part + b"\0", 0, bits, i) << (0 if bits == 6 else 2) for i in range(16))
                        row += part
                    for lane in lanes(r):
                        mem.cells[lane][column:column + bytes_ // 4] = words(row)
            choice += 1
            column += bytes_ // 4
    for lane in (0, 96):
        text += f"  add.u32 %r6, %r9, {(lane << 16) + 300};\n  tcgen05.shift.cta_group::{group}.down [%r6];\n"
        for mem in memory:  # each row goes to the next lane; the last one's is dropped, the first keeps its own
            before = [row[300:308] for row in mem.cells]
            for i in range(1, 32):
                mem.cells[lane + i][300:308] = before[lane + i - 1]
    mask = "" if group == 1 else ".multicast::cluster"
    operand = "" if group == 1 else ", %h1"
    text += f"  mov.b16 %h1, 3;\n  mov.u32 %r7, done;\n  tcgen05.commit.cta_group::{group}.mbarrier::arrive::one.shared::cluster{mask}.b64 [%r7]{operand};\n"
    text += "ISSUED:\nWAIT:\n  mbarrier.try_wait.parity.shared::cta.b64 %p3, [done], 0;\n  @!%p3 bra WAIT;\n  tcgen05.fence::after_thread_sync;\n"
    text += READ_BACK.replace("{columns}", str(COLUMNS))
    return text, [h for mem in memory for h in mem.hash(COLUMNS, [17] * 128)]


def asFloat(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def reduced(values, op, type_, abs_, nan):
    if type_ != "f32":
        key = (lambda v: v - (1 << 32) if v >> 31 else v) if type_ == "s32" else (lambda v: v)
        return (min if op == "min" else max)(values, key=key)
    values = [v & 0x7FFFFFFF if abs_ else v for v in values]
    isNan = [asFloat(v) != asFloat(v) for v in values]
    if all(isNan) or (nan and any(isNan)):
        return 0x7FFFFFFF
    order = lambda v: (asFloat(v), -(v >> 31))  # -0 below +0
    return (min if op == "min" else max)((v for v, n in zip(values, isNan) if not n), key=order)


def reductions(data):
    memory = Memory(data)
    text, seed = [], [17] * 128
    kinds = [(t, op) for t in (("u32", 0, 0), ("s32", 0, 0), ("f32", 0, 0), ("f32", 1, 0), ("f32", 0, 1), ("f32", 1, 1)) for op in ("min", "max")]
    sizes = (2, 4, 8, 16, 32, 64, 128)
    made = [(shape, *kind) for shape in ("32x32b", "16x32bx2") for kind in kinds]
    made = [(*one, sizes[turn % 7]) for turn, one in enumerate(made)]
    # Integers are a form of their own: the sizes that they have not had.
    made += [("32x32b", *kinds[i % 4], size) for i, size in enumerate((32, 64, 128))] + [("16x32bx2", *kinds[i % 4], size) for i, size in enumerate((8, 16, 32))]
    for turn, (shape, (type_, abs_, nan), op, size) in enumerate(made):
        split = 200 if shape == "16x32bx2" else 0
        column = 7 * (turn % 5)
        kind = "f" if type_ == "f32" else "d"
        name = f"tcgen05.ld.red.sync.aligned.{shape}.x{size}.{op}{'.abs' if abs_ else ''}{'.NaN' if nan else ''}.{type_}"
        tail = f", {split}" if split else ""
        text.append(f"  add.u32 %r6, %r10, {column};\n  {name} {registers(size, kind)}, %{kind}129, [%r6]{tail};\n  tcgen05.wait::ld.sync.aligned;\n")
        if kind == "f":
            text.append("".join(f"  mov.b32 %d{i}, %f{i};\n" for i in [*range(size), 129]))
        text.append(hashing(size, "  mad.lo.u32 %r11, %r11, 31, %d129;\n"))
        for thread in range(128):
            values = [memory.load(shape, i, thread, 0, column, False, split) for i in range(size)]
            for v in values + [reduced(values, op, type_, abs_, nan)]:
                seed[thread] = (seed[thread] * 31 + v) & 0xFFFFFFFF
    return "".join(text), seed


def write(file, target, kernels, source):
    """kernels: name, group, text, expected."""
    text, launches, expected = [HEAD.format(target=target, bytes=IMAGE_BYTES)], [], []
    for name, group, body, results in kernels:
        meet = "barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;" if group == 2 else "bar.sync 0;"
        text.append(KERNEL.format(name=name, cluster="\n  .reqnctapercluster 2, 1, 1" if group == 2 else "", words=IMAGE_BYTES // 4, group=group, fill=FILL,
                                  meet=meet, body=body))
        cluster = "grid = 2\ncluster = 2\n" if group == 2 else ""
        launches.append(f'[[launch]]\nkernel = "{name}"\n{cluster}block = 128\narguments = ["source", "out+{4 * len(expected)}"]\n')
        expected += results
    open(f"{HERE}/{file}.ptx", "w").write("".join(text))
    npy(f"{HERE}/expected/{file}.npy", expected)
    open(f"{HERE}/{file}.toml", "w").write(
        f'# Written by generate/moves.py: a hash of what each thread reads.\nmodule = "{file}.ptx"\n\n[buffers]\nsource = "images/{source}.npy"\n'
        f'out = "u32[{len(expected)}]"\n\n' + "\n".join(launches) + f'\n[[expect]]\nbuffer = "out"\nfile = "expected/{file}.npy"\n')


def main():
    data = words(image("any"))
    write("tcgen05_moves", "sm_100a", [("loadsAndStores", 1, *moves(data)), ("copiesAndShifts", 1, *copies(data, 1)), ("copiesAndShiftsOfAPair", 2, *copies(data, 2))],
          "any")
    # Numbers with NaN, infinities and both zeros among them.
    special = [0x7FC00001, 0xFF800000, 0x80000000, 0, 0x7F800000]
    mixed = [special[i // 37 % 5] if i % 37 == 0 else w for i, w in enumerate(words(image("any")))]
    npy(f"{HERE}/images/mixed.npy", mixed)
    write("tcgen05_reduce", "sm_103a", [("reductions", 1, *reductions(mixed))], "mixed")


if __name__ == "__main__":
    main()
