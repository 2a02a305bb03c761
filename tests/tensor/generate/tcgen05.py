"""Writes tcgen05_*.ptx and .toml, expected/tcgen05_*.npy: every form of tcgen05.mma (PTX ISA 9.7.16.10) with results of a model in
exact numbers. Tensor memory has D in columns 0 to 255, A in 256 to 319, block scales in 320 to 335, metadata from 336 on."""
import os
import random
import struct

from formats import FORMATS, IMAGE_BYTES, Matrix, element, f16, f32, hashed, image, npy, words

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAIRS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
ROTATE = 1000  # words by which the odd CTA's data differ

PROLOGUE = """
.visible .entry {name}(.param .u64 image, .param .u64 aux, .param .u64 out, .param .u64 descA, .param .u64 descB, .param .u64 zeros,
    .param .u32 idesc, .param .u32 which, .param .u32 isInput, .param .u32 lane, .param .u32 columns){cluster}
{{
  .reg .pred %p<6>; .reg .b16 %h<2>; .reg .f32 %f<2>; .reg .b32 %r<24>; .reg .b64 %rd<16>; .reg .b32 %d<32>; .reg .b32 %x<8>;
  ld.param.u64 %rd1, [image];
  ld.param.u64 %rd2, [aux];
  ld.param.u64 %rd3, [out];
  ld.param.u64 %rd4, [descA];
  ld.param.u64 %rd5, [descB];
  ld.param.u64 %rd9, [zeros];
  ld.param.u32 %r20, [idesc];
  ld.param.u32 %r19, [which];
  ld.param.u32 %r21, [isInput];
  ld.param.u32 %r22, [lane];
  ld.param.u32 %r23, [columns];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %cluster_ctarank;
  mul.lo.u32 %r3, %r2, {rotate};
  mov.u32 %r4, %r1;
COPY:
  add.u32 %r5, %r4, %r3;
  and.b32 %r5, %r5, {mask};
  mul.wide.u32 %rd6, %r5, 4;
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
  tcgen05.relinquish_alloc_permit.cta_group::{group}.sync.aligned;
ALLOCATED:
  fence.proxy.async.shared::cta;
  bar.sync 0;
  ld.shared.b32 %r9, [taddr];
  and.b32 %r10, %r1, 96;
  shl.b32 %r11, %r10, 16;
  add.u32 %r10, %r9, %r11;          // the warp's lanes
  mov.u32 %r4, 0;
ACCUMULATORS:
{inputs}  add.u32 %r5, %r10, %r4;
  tcgen05.st.sync.aligned.32x32b.x32.b32 [%r5], {{{d32}}};
  add.u32 %r4, %r4, 32;
  setp.lt.u32 %p1, %r4, 256;
  @%p1 bra ACCUMULATORS;
  mov.u32 %r4, 0;
FACTORS:                            // lane l: words 64 l to 64 l + 63 of the image
  shl.b32 %r5, %r1, 6;
  add.u32 %r5, %r5, %r4;
  add.u32 %r5, %r5, %r3;
  and.b32 %r5, %r5, {mask};
  mul.wide.u32 %rd6, %r5, 4;
  add.u64 %rd6, %rd1, %rd6;
{loads}  add.u32 %r5, %r10, %r4;
  add.u32 %r5, %r5, 256;
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%r5], {{%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}};
  add.u32 %r4, %r4, 8;
  setp.lt.u32 %p1, %r4, 64;
  @%p1 bra FACTORS;
  mov.u32 %r4, 0;
OTHERS:                             // and 32 l to 32 l + 31 of the scales and metadata
  shl.b32 %r5, %r1, 5;
  add.u32 %r5, %r5, %r4;
  mul.wide.u32 %rd6, %r5, 4;
  add.u64 %rd6, %rd2, %rd6;
{loads}  add.u32 %r5, %r10, %r4;
  add.u32 %r5, %r5, 320;
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%r5], {{%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}};
  add.u32 %r4, %r4, 8;
  setp.lt.u32 %p1, %r4, 32;
  @%p1 bra OTHERS;
  tcgen05.wait::st.sync.aligned;
  tcgen05.fence::before_thread_sync;
  {meet}
  tcgen05.fence::after_thread_sync;
  or.b32 %r12, %r1, %r2;
  setp.ne.u32 %p1, %r12, 0;
  @%p1 bra ISSUED;
  mov.u32 %r7, tile;
  shr.u32 %r7, %r7, 4;
  and.b32 %r7, %r7, 0x3fff;
  cvt.u64.u32 %rd6, %r7;
  add.u64 %rd4, %rd4, %rd6;
  add.u64 %rd5, %rd5, %rd6;
  shl.b32 %r22, %r22, 16;
  add.u32 %r13, %r9, %r22;          // D
  add.u32 %r14, %r13, 256;          // A
  add.u32 %r15, %r9, 320;
  add.u32 %r16, %r9, 328;
  add.u32 %r17, %r9, 336;
  setp.ne.u32 %p2, %r21, 0;
{masks}{instructions}COMMIT:
  {commit}
ISSUED:
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [done], 0;
  @!%p3 bra WAIT;
  tcgen05.fence::after_thread_sync;
  mov.u32 %r18, 17;
  mov.u32 %r4, 0;
RESULTS:
  add.u32 %r5, %r10, %r4;
  tcgen05.ld.sync.aligned.32x32b.x32.b32 {{{d32}}}, [%r5];
  tcgen05.wait::ld.sync.aligned;
{hash}  add.u32 %r4, %r4, 32;
  setp.lt.u32 %p1, %r4, %r23;
  @%p1 bra RESULTS;
  shl.b32 %r5, %r2, 7;
  add.u32 %r5, %r5, %r1;
  mul.wide.u32 %rd6, %r5, 4;
  add.u64 %rd6, %rd3, %rd6;
  st.global.b32 [%rd6], %r18;
  tcgen05.fence::before_thread_sync;
  {meet}
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra FREED;
  tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 %r9, 512;
FREED:
  ret;
}}
"""

D32 = ", ".join(f"%d{i}" for i in range(32))
LOADS = "".join(f"  ld.global.b32 %d{i}, [%rd6+{4 * i}];\n" for i in range(8))
HASH = "".join(f"  mad.lo.u32 %r18, %r18, 31, %d{i};\n" for i in range(32))

KINDS = {  # dense K, image
    "f16": 16, "tf32": 8, "f8f6f4": 32, "i8": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}
NUMBERS = {"f16": 0, "bf16": 1, "tf32": 2, "u8": 0, "s8": 1, "e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}


class Case:
    group, m, n, a, b, d = 1, 128, 64, "f16", "f16", "f32"
    kind, source, sparse, ws, masked, shift, selector, block, vector = "f16", "descriptor", 0, 0, 0, 0, 0, 0, ""
    isInput, na, nb, ta, tb, lane, collector, zeros, saturates = 1, 1, 1, 0, 0, 0, "", None, 0
    scale, ida, idb, choice, wide, ashift, k96 = "ue8m0", 0, 0, 0, 0, 0, 0

    def __init__(self, **fields):
        for name, value in fields.items():
            assert hasattr(Case, name), name
            setattr(self, name, value)
        self.dense = 96 if self.k96 else KINDS[self.kind]
        self.k = self.dense * (2 if self.sparse else 1)
        self.isByteEach = self.kind in ("f8f6f4", "mxf8f6f4")
        self.rows = self.m // self.group
        self.matrices = [self.matrix(self.a, self.rows, self.dense, self.ta, 0, self.choice),
                         self.matrix(self.b, self.n // self.group + 32, self.k, self.tb, 8192, self.choice + 1)]

    def bits(self, type_):
        return 8 if self.isByteEach else FORMATS[type_][0]

    def matrix(self, type_, rows, depth, transposed, start, choice):
        bits = self.bits(type_)
        mode = (128, 32, 64, 0)[choice % 4]
        if depth * bits // 8 > 32 and mode == 32:
            mode = 64
        if depth * bits // 8 == 48:
            mode = 128
        T = 128 // bits
        if transposed:
            if bits == 32:
                mode = 129
            width = 128 if mode == 129 else mode
            if mode == 0:
                return Matrix(start, 128 * ((rows + T - 1) // T), 128, 0, "mn", bits)
            lines = 4 if mode == 129 else 8
            blocks = (rows * bits // 8 + width - 1) // width
            return Matrix(start, lines * width, lines * width * blocks, mode, "mn", bits)
        if mode == 0:
            return Matrix(start, 128, 128 * (depth * bits // 128), 0, "k", bits)
        inside = 32 if mode == 128 and depth * bits // 8 == 32 else 0
        return Matrix(start + inside, 16, 8 * mode, mode, "k", bits)

    def imageKind(self):
        if self.d == "f16":
            return "units16"
        return {"f16": "f16", "bf16": "bf16", "tf32": "tf32", "e4m3": "f8", "e5m2": "f8"}.get(self.a, "any")

    def auxKind(self):
        return f"{self.scale}_{'tf32' if self.kind == 'tf32' else 'pairs'}_{32 if self.ws else 128}"

    # --- data ------------------------------------------------------------------------------------

    def memory(self, rank):
        data = words(image(self.imageKind()))
        turned = data[ROTATE * rank:] + data[:ROTATE * rank]
        shared = b"".join(w.to_bytes(4, "little") for w in turned)
        other = aux(self.auxKind())
        lanes = []
        for lane in range(128):
            row = [self.inputOf(lane, c) for c in range(256)]
            row += [data[(64 * lane + c + ROTATE * rank) % len(data)] for c in range(64)]
            row += other[32 * lane:32 * lane + 32]
            lanes.append(row)
        return shared, lanes

    def inputOf(self, lane, column):
        x = (lane * 7 + column * 13) % 32 - 16
        return f32(x) if self.d == "f32" else f16(x) if self.d == "f16" else x & 0xFFFFFFFF

    # --- the model -------------------------------------------------------------------------------

    def isHalf(self):
        return self.rows == 64 and not self.ws and (self.group == 1 or self.sparse)

    def place(self, row, n):
        """Lane and column of an element of D in its CTA (data path layouts A to G)."""
        if self.isHalf():
            return row // 16 * 32 + row % 16 + self.lane, n
        parts = 128 // self.rows
        each = self.n // parts
        return n // each * self.rows + row, n % each

    def stored(self, type_, shared, matrix, mn, k):
        """A code in shared memory; 6- and 4-bit ones may lie 16 to 16 bytes."""
        bits = FORMATS[type_][0]
        if not self.isByteEach or bits == 8:
            return matrix.code(shared, mn, k)
        if matrix.major == "k":
            return element(shared, matrix.byte(mn, k // 16 * 16), bits, k % 16)
        return element(shared, matrix.byte(mn // 16 * 16, k), bits, mn % 16)

    def inTensor(self, row, e):
        """A code of A in a lane's columns from 256 on."""
        bits = self.bits(self.a)
        word = row[256 + e * bits // 32]
        code = word >> e * bits % 32 & (1 << bits) - 1
        if self.isByteEach and FORMATS[self.a][0] < 8:
            code = code & 63 if FORMATS[self.a][0] == 6 else code >> 2 & 15
        return code

    def kOf(self, lanes, lane, row, e):
        """Which k a stored element of A stands for; `row` counts within the lanes' block of rows."""
        if not self.sparse:
            return e
        bits = FORMATS[self.a][0]
        if bits > 8:
            index = 4 if self.a == "tf32" else 2
            run = 16 // index
            base = lane // 16 * 16
            cell = lanes[base + row % 8 + 8 * (e // run)][336 + self.selector]
            code = cell >> (row // 8 % 2 * 16 + index * (e % run)) & (1 << index) - 1
            return 2 * e + (code == 0xE) if self.a == "tf32" else e // 2 * 4 + code
        pair = e // 2 if self.kind in ("mxf4", "mxf4nvf4") else e
        code = lanes[lane][336 + pair // 16] >> 2 * (pair % 16) & 3
        if self.kind in ("mxf4", "mxf4nvf4"):
            return e // 4 * 8 + 2 * code + e % 2
        return e // 2 * 4 + code

    def scaleOf(self, lanes, lane, first, index, s, count, id_):
        byte = id_ + s
        cell = lanes[lane // 32 * 32 + index % 32][first + index // 32 + byte // 4 * ((count + 31) // 32)]
        return FORMATS[self.scale][1](cell >> 8 * (byte % 4) & 255)

    def zeroMask(self):
        """9.7.16.4.3."""
        if self.zeros is None:
            return [0] * self.n, 0
        starts, firsts, skip, use, shift = self.zeros
        parts, mask = 128 // self.m, []
        for p in range(parts):
            pattern = []
            zero = firsts[p]
            while len(pattern) < self.n + 300:
                pattern += [zero] * (skip + 1 if zero else use + 1)
                zero = 1 - zero
            mask += pattern[starts[p]:starts[p] + self.n // parts]
        return mask, shift

    def zeroDescriptor(self):
        if self.zeros is None:
            return 0
        starts, firsts, skip, use, shift = self.zeros
        d = 1 << 39 | skip << 40 | use << 48 | shift << 56
        for i, s in enumerate(starts):
            d |= s << 8 * i | firsts[i] << 32 + i
        return d

    def results(self):
        ctas = [self.memory(rank) for rank in range(self.group)]
        a, b = FORMATS[self.a][1], FORMATS[self.b][1]
        mask, shift = self.zeroMask()
        half = self.n // self.group
        B = [[0 if mask[n] else self.nb * b(self.stored(self.b, ctas[n // half][0], self.matrices[1], n % half + shift, k))
              for k in range(self.k)] for n in range(self.n)]
        out = []
        for rank, (shared, lanes) in enumerate(ctas):
            result = [row[:256] for row in lanes]
            rowsDone = {}
            for row in range(self.rows):
                for n in range(self.n):
                    lane, column = self.place(row, n)
                    if self.masked and self.maskWord(rank, lane // 32) >> lane % 32 & 1:
                        continue
                    key = (row, lane)
                    if key not in rowsDone:
                        rowsDone[key] = self.rowOf(shared, lanes, row, lane, a)
                    result[lane][column] = self.elementOf(lanes, rowsDone[key], B[n], row, lane, column, n)
            out += [hashed(r[:(self.columns() + 31) // 32 * 32]) for r in result]
        return out

    def rowOf(self, shared, lanes, row, lane, a):
        source = lanes[lane - 1 if self.ashift and lane else lane]
        block = row % 16 if self.isHalf() else row
        elements = []
        for e in range(self.dense):
            code = self.stored(self.a, shared, self.matrices[0], row, e) if self.source == "descriptor" else self.inTensor(source, e)
            elements.append((self.kOf(lanes, lane, block, e), self.na * a(code)))
        return elements

    def elementOf(self, lanes, A, B, row, lane, column, n):
        d = ((lane * 7 + column * 13) % 32 - 16) * 2.0**-self.shift if self.isInput else 0
        if self.d == "s32":
            d = int(d)
        if not self.block:
            total = d + sum(x * B[k] for k, x in A)
        else:
            total, per = d, self.dense // self.block
            first = n - n % (self.n // (128 // self.rows)) if not self.isHalf() else 0
            for s in range(per):
                dot = sum(x * B[k] for k, x in A[s * self.block:(s + 1) * self.block])
                dot *= self.scaleOf(lanes, lane, 320, row, s, self.rows, self.ida)
                total += dot * self.scaleOf(lanes, lane, 328, n - first, s, self.n // (128 // self.rows), self.idb)
                assert struct.unpack("<f", struct.pack("<f", total))[0] == total
        if self.d == "f32":
            bits = f32(total + 0.0)
            assert struct.unpack("<f", struct.pack("<I", bits))[0] == total
            return bits
        if self.d == "f16":
            assert abs(total) <= 2048 and total * 4 == int(total * 4)
            return f16(total + 0.0)
        return max(-(1 << 31), min((1 << 31) - 1, total)) if self.saturates else total

    def columns(self):
        return self.n if self.isHalf() else self.n // (128 // self.rows)

    def maskWord(self, rank, i):
        return (0x80000001, 0xFFFFFFFF, 0x0, 0x00FF00F0, 0x1, 0x12345678, 0xFF, 0x80000000)[4 * rank + i]

    # --- text ------------------------------------------------------------------------------------

    def metadataOffset(self):
        """Some of the later columns are in the address, from where the selector counts on."""
        return 2 if self.selector >= 2 and self.choice // 2 % 2 else 0

    def descriptor(self):
        if self.block:
            four = self.kind in ("mxf4", "mxf4nvf4")
            d = self.idb << 4 | (1 if four else NUMBERS[self.a]) << 7 | (1 if four else NUMBERS[self.b]) << 10
            d |= (1 if self.scale == "ue8m0" else 0) << 23 | self.m >> 7 << 27 | self.ida << 29 | self.k96 << 31
        else:
            d = self.selector - self.metadataOffset() | self.saturates << 3 | {"f16": 0, "f32": 1, "s32": 2}[self.d] << 4
            d |= NUMBERS[self.a] << 7 | NUMBERS[self.b] << 10 | self.m >> 4 << 24
        d |= self.sparse << 2 | (self.na < 0) << 13 | (self.nb < 0) << 14 | self.ta << 15 | self.tb << 16 | self.n >> 3 << 17
        return d

    def instruction(self):
        name = "tcgen05.mma" + (".ws" if self.ws else "") + (".sp" if self.sparse else "")
        name += f".cta_group::{self.group}.kind::{self.kind}" + (".block_scale" + self.vector if self.block else "")
        name += (".ashift" if self.ashift else "") + self.collector
        text = f"{name} [%r13], " + ("%rd4" if self.source == "descriptor" else "[%r14]") + ", %rd5"
        offset = self.metadataOffset()
        text += (f", [%r17{f'+{offset}' if offset else ''}]" if self.sparse else "") + ", %r20"
        if self.block:
            text += ", [%r15], [%r16]"
        if self.masked:
            text += ", {" + ", ".join(f"%x{i}" for i in range(4 * self.group)) + "}"
        text += ", %p2" + (f", {self.shift}" if self.shift else "") + (", %rd9" if self.zeros else "")
        return text

    def family(self):
        """What kernels differ in beside the instruction."""
        return self.group, self.d

    def text(self, name, instructions):
        inputs = ""
        for i in range(32):
            inputs += f"  mul.lo.u32 %r6, %r1, 7;\n  mad.lo.u32 %r6, %r4, 13, %r6;\n  add.u32 %r6, %r6, {13 * i};\n"
            inputs += f"  and.b32 %r6, %r6, 31;\n  sub.s32 %d{i}, %r6, 16;\n"
            inputs += {"f32": f"  cvt.rn.f32.s32 %f1, %d{i};\n  mov.b32 %d{i}, %f1;\n",
                       "f16": f"  cvt.rn.f16.s32 %h1, %d{i};\n  cvt.u32.u16 %d{i}, %h1;\n"}.get(self.d, "")
        masks = "".join(f"  mov.b32 %x{i}, {self.maskWord(i // 4, i % 4)};\n" for i in range(4 * self.group))
        choice = "".join(f"  setp.ne.u32 %p1, %r19, {i};\n  @%p1 bra OTHER_{i};\n  {text};\n  bra COMMIT;\nOTHER_{i}:\n"
                         for i, text in enumerate(instructions))
        commit = f"tcgen05.commit.cta_group::{self.group}.mbarrier::arrive::one.shared::cluster"
        if self.group == 2:
            commit = f"mov.b16 %h1, 3;\n  mov.u32 %r7, done;\n  {commit}.multicast::cluster.b64 [%r7], %h1;"
        else:
            commit = f"mov.u32 %r7, done;\n  {commit}.b64 [%r7];"
        meet = "barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;" if self.group == 2 else "bar.sync 0;"
        return PROLOGUE.format(name=name, cluster="\n  .reqnctapercluster 2, 1, 1" if self.group == 2 else "", rotate=ROTATE,
                               mask=IMAGE_BYTES // 4 - 1, words=IMAGE_BYTES // 4, group=self.group, inputs=inputs, d32=D32, loads=LOADS,
                               meet=meet, masks=masks, instructions=choice, commit=commit, hash=HASH)


def aux(kind):
    """Per lane: 16 words of scales (the same in each quarter of the lanes), 16 of metadata."""
    scale, meta, period = kind.split("_")
    words_ = []
    for lane in range(128):
        r = random.Random(f"{scale} {lane % 32}")
        for _ in range(16):
            codes = [r.randint(126, 128) if scale == "ue8m0" else r.randint(0x38, 0x3F) for _ in range(4)]
            words_.append(int.from_bytes(bytes(codes), "little"))
        r = random.Random(f"{meta} {lane % int(period)}")
        for _ in range(16):
            word = 0
            for i in range(8):
                low, high = r.choice(PAIRS)
                word |= (r.choice((4, 0xE)) if meta == "tf32" else low | high << 2) << 4 * i
            words_.append(word)
    return words_


def cases():
    """By target: sm_100a, sm_100f."""
    main, family = [], []
    types = {"f16": [("f16", "f16", "f32"), ("bf16", "bf16", "f32"), ("f16", "f16", "f16")], "tf32": [("tf32", "tf32", "f32")],
             "f8f6f4": [("e4m3", "e5m2", "f32"), ("e2m3", "e2m3", "f32"), ("e3m2", "e2m1", "f32"), ("e2m1", "e3m2", "f32")],
             "i8": [("s8", "u8", "s32"), ("u8", "s8", "s32")]}
    count = 0
    for group in (1, 2):
        for sparse in (0, 1):
            for kind, list_ in types.items():
                for source, ashift in (("descriptor", 0), ("tensor", 0), ("tensor", 1)):
                    for masked in (0, 1):
                        a, b, d = list_[count % len(list_)]
                        m = (128 if ashift or count % 2 else 64) * group
                        n = (64, 32, 96, 16)[count % 4] if not (kind == "i8" and group == 2) else 64
                        main.append(Case(group=group, sparse=sparse, kind=kind, source=source, ashift=ashift, masked=masked, a=a, b=b, d=d, m=m, n=n,
                                         selector=count % 4 if kind in ("f16", "tf32") and sparse else 0, choice=count,
                                         na=-1 if count % 3 == 0 and kind != "i8" else 1, nb=-1 if count % 5 == 0 and kind != "i8" else 1,
                                         ta=count // 2 % 2 if source == "descriptor" else 0, tb=count // 3 % 2,
                                         lane=16 if m == 64 and group == 1 and count % 4 == 0 else 0, isInput=int(count % 4 != 1),
                                         collector=("", ".collector::a::discard", ".collector::a::lastuse")[count % 3],
                                         saturates=int(kind == "i8" and count % 2)))
                        count += 1
                        if kind in ("f16", "tf32"):  # scale-input-d
                            family.append(Case(group=group, sparse=sparse, kind=kind, source=source, ashift=ashift, masked=masked, a=kind, b=kind, m=128 * group,
                                               n=32, shift=count % 2 + 1, choice=count))
            # Block scales.
            for kind, vector, block, scale, list_ in (
                    ("mxf8f6f4", "", 32, "ue8m0", [("e4m3", "e4m3"), ("e2m1", "e3m2")]),
                    ("mxf8f6f4", ".scale_vec::1X", 32, "ue8m0", [("e5m2", "e4m3"), ("e2m3", "e2m1")]),
                    ("mxf4", "", 32, "ue8m0", [("e2m1", "e2m1")]), ("mxf4", ".scale_vec::2X", 32, "ue8m0", [("e2m1", "e2m1")]),
                    ("mxf4nvf4", ".scale_vec::2X", 32, "ue8m0", [("e2m1", "e2m1")]),
                    ("mxf4nvf4", ".scale_vec::4X", 16, "ue4m3", [("e2m1", "e2m1")]), ("mxf4nvf4", ".block16", 16, "ue4m3", [("e2m1", "e2m1")])):
                for source in ("descriptor", "tensor"):
                    a, b = list_[count % len(list_)]
                    m = 256 if group == 2 and (sparse or count % 2) else 128
                    ids = (count % 4, (count + 1) % 4) if kind == "mxf8f6f4" else (count % 2 * 2, 0) if block == 32 else (0, 0)
                    main.append(Case(group=group, sparse=sparse, kind=kind, source=source, vector=vector, block=block, scale=scale, a=a, b=b, m=m,
                                     n=(64, 32, 96)[count % 3], choice=count, ida=ids[0], idb=ids[1], isInput=int(count % 3 != 1),
                                     na=-1 if count % 2 else 1))
                    count += 1
    for sparse in (0, 1):  # weight stationary
        for kind, list_ in types.items():
            for source in ("descriptor", "tensor"):
                for m in (32, 64, 128):
                    a, b, d = list_[count % len(list_)]
                    zeros = None
                    if count % 2:
                        zeros = ((0, 1, 2, 1)[:128 // m], (1, 1, 0, 0)[:128 // m], 2, 3, 2 if count % 4 == 1 and m == 32 else 0)
                    main.append(Case(ws=1, sparse=sparse, kind=kind, source=source, a=a, b=b, d=d, m=m, n=64, choice=count, zeros=zeros,
                                     selector=count % 4 if kind in ("f16", "tf32") and sparse else 0,
                                     collector=("", ".collector::b0::fill", ".collector::b3::discard")[count % 3]))
                    count += 1
    return {"tcgen05_mma": ("sm_100a", main), "tcgen05_family": ("sm_100f", family)}


def main():
    for file, (target, all_) in cases().items():
        text = [f"// Products of tensor cores (PTX ISA 9.7.16.10). Written by generate/tcgen05.py; {file}.toml has descriptors,\n"
                f"// expected/{file}.npy results.\n.version 8.8\n.target {target}\n.address_size 64\n\n"
                f".shared .align 1024 .b8 tile[{IMAGE_BYTES}];\n.shared .align 8 .b64 done;\n.shared .align 4 .b32 taddr;\n"]
        launches, expected, sources = [], [], {}
        families = {}
        for c in all_:
            instructions = families.setdefault(c.family(), (c, []))[1]
            if c.instruction() not in instructions:
                instructions.append(c.instruction())
        for (group, d), (c, instructions) in families.items():
            text.append(c.text(f"products_{d}_{group}", instructions))
        for c in all_:
            sources[c.imageKind()] = f'{c.imageKind()} = "images/{c.imageKind()}.npy"\n'
            sources[c.auxKind()] = f'{c.auxKind()} = "images/{c.auxKind()}.npy"\n'
            npy(f"{HERE}/images/{c.auxKind()}.npy", aux(c.auxKind()))
            a, b = (m.tcgen05() for m in c.matrices)
            cluster = "grid = 2\ncluster = 2\n" if c.group == 2 else ""
            which = families[c.family()][1].index(c.instruction())
            launches.append(f'[[launch]]\nkernel = "products_{c.d}_{c.group}"\n{cluster}block = 128\narguments = ["{c.imageKind()}", "{c.auxKind()}", '
                            f'"out+{4 * len(expected)}", "{a:#x}", "{b:#x}", "{c.zeroDescriptor():#x}", "{c.descriptor():#x}", "{which}", '
                            f'"{c.isInput}", "{c.lane}", "{c.columns()}"]   # {c.instruction().split()[0]}\n')
            expected += c.results()
        with open(f"{HERE}/{file}.ptx", "w") as out:
            out.write("".join(text))
        npy(f"{HERE}/expected/{file}.npy", expected)
        with open(f"{HERE}/{file}.toml", "w") as out:
            out.write(f'# Written by generate/tcgen05.py: a hash of each lane\'s columns.\nmodule = "{file}.ptx"\n\n[buffers]\n' + "".join(sources.values()) +
                      f'out = "u32[{len(expected)}]"\n\n' + "\n".join(launches) + f'\n[[expect]]\nbuffer = "out"\nfile = "expected/{file}.npy"\n')
        print(file, len(all_), "cases", len(families), "kernels")


if __name__ == "__main__":
    main()
