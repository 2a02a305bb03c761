"""Kernels made of cells: each cell is PTX that leaves 32 bytes of its own per thread in `out`, and what must stand there."""
import os
import random
import struct

THREADS = 32
CELL = 32          # bytes that a cell leaves for a thread
PER_KERNEL = 40

PROLOGUE = """
{
  .reg .b64 %in, %tame, %tmp, %out, %table, %policy, %wide;
  .reg .b32 %thread, %shared, %other;
  .local .align 32 .b8 own[64];
  .local .align 32 .b8 scratch[64];
  .shared .align 32 .b8 rows[2048];
  .shared .align 32 .b8 cells[2048];
  ld.param.u64 %in, [in];
  ld.param.u64 %tame, [tame];
  ld.param.u64 %tmp, [tmp];
  ld.param.u64 %out, [out];
  mov.u32 %thread, %tid.x;
  mul.wide.u32 %wide, %thread, 64;
  add.u64 %in, %in, %wide;
  add.u64 %tame, %tame, %wide;
  add.u64 %tmp, %tmp, %wide;
  mov.u64 %table, table;
  add.u64 %table, %table, %wide;
  mov.u32 %shared, rows;
  mad.lo.u32 %shared, %thread, 64, %shared;
  mov.u32 %other, cells;
  mad.lo.u32 %other, %thread, 64, %other;
  mul.wide.u32 %wide, %thread, 32;
  add.u64 %out, %out, %wide;
  createpolicy.fractional.L2::evict_last.b64 %policy, 1.0;
  { .reg .b64 %v<8>;
"""


def prologue():
    text = PROLOGUE
    for i in range(8):
        text += f"    ld.global.b64 %v{i}, [%in+{8 * i}]; st.local.b64 [own+{8 * i}], %v{i}; st.shared.b64 [%shared+{8 * i}], %v{i};\n"
    return text + "  }\n"


class Data:
    """What kernels read: `in` any bytes, `tame` bytes that make finite positive floats of every type; 64 of them per thread."""

    def __init__(self):
        rng = random.Random("coverage")
        self.wild = bytes(rng.randrange(256) for _ in range(64 * THREADS))
        self.tame = bytes(rng.randrange(0x10, 0x40) for _ in range(64 * THREADS))

    def row(self, thread):
        return self.wild[64 * thread:64 * thread + 64]

    def tameRow(self, thread):
        return self.tame[64 * thread:64 * thread + 64]


class Cell:
    """`code` without braces, may use %in, %tame, %tmp, %table, %shared, %other, own, scratch, %policy; `{out}` is the address for its
    result, and `ADDRESS` becomes an instruction that puts it into %a. `expected(thread)` gives up to 32 bytes; what is missing is zero. `functions`: device functions it calls."""

    def __init__(self, code, expected, functions=""):
        self.code, self.expected, self.functions = code, expected, functions


def write(folder, name, cells, data, header=".version 9.2\n.target sm_100a\n.address_size 64\n"):
    """name.ptx, name.toml and what the latter expects."""
    table = ", ".join(map(str, data.wild))
    text = f"// Made by tests/coverage/generate.\n{header}.const .align 32 .b8 table[{len(data.wild)}] = {{{table}}};\n"
    launches, expected = "", b""
    for first in range(0, len(cells), PER_KERNEL):
        part = cells[first:first + PER_KERNEL]
        kernel = f"k{first // PER_KERNEL}"
        text += "".join(cell.functions for cell in part)
        text += f"\n.visible .entry {kernel}(.param .u64 in, .param .u64 tame, .param .u64 tmp, .param .u64 out, .param .align 32 .b8 given[64])"
        text += prologue()
        for i, cell in enumerate(part):
            place = f"%out+{(first + i) * CELL * THREADS}"
            code = cell.code.replace("ADDRESS", placeInRegister(first + i)).replace("{out}", place)
            text += "  {\n" + "".join(f"    {line}\n" for line in code.strip().splitlines()) + "  }\n"
        text += "  ret;\n}\n"
        given = ", ".join(f"u64 {word}" for word in struct.unpack("<8Q", data.row(0)))
        launches += f'\n[[launch]]\nkernel = "{kernel}"\nblock = {THREADS}\narguments = ["in", "tame", "tmp", "out", "{{{given}}}"]\n'
    for cell in cells:
        for thread in range(THREADS):
            expected += cell.expected(thread)[:CELL].ljust(CELL, b"\0")
    save(folder, name + ".ptx", text.encode())
    saveArray(folder, name + ".in.npy", data.wild)
    saveArray(folder, name + ".tame.npy", data.tame)
    saveArray(folder, name + ".expected.npy", expected)
    save(folder, name + ".toml", f"""module = "{name}.ptx"

[buffers]
in = "{name}.in.npy"
tame = "{name}.tame.npy"
tmp = "u8[{64 * THREADS}]"
out = "u8[{len(expected)}]"
{launches}
[[expect]]
buffer = "out"
file = "{name}.expected.npy"
""".encode())


def placeInRegister(number):
    return f"add.u64 %a, %out, {number * CELL * THREADS};"


def save(folder, name, content):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(content)


def saveArray(folder, name, content):
    header = "{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % len(content)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    save(folder, name, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + content)
