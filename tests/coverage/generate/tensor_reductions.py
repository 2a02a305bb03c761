"""cp.reduce.async.bulk.tensor (PTX ISA 9.7.9.25.5.3): every operation in every form, on u32 tensors whose last dimension counts the
operations; each reduces the same 16 words into its own 16."""
import random
import struct

from atomics import apply
from forms import formsOf
from kernels import save

OPERATIONS = ["add", "min", "max", "inc", "dec", "and", "or", "xor"]


def write(folder):
    rng = random.Random("tensor reductions")
    values = [rng.getrandbits(32) if i % 2 else rng.randrange(1, 40) for i in range(16)]
    count = len(OPERATIONS)
    old = [rng.getrandbits(32) if i % 3 else rng.randrange(50) for i in range(16 * count)]
    new = [apply(OPERATIONS[i // 16], "u32", old[i], values[i % 16], 0) % 2**32 for i in range(16 * count)]
    text, buffers, launches, expectations = ".version 8.8\n.target sm_100a\n.address_size 64\n", "", "", ""
    number = 0
    for form in formsOf("cp"):
        if form.section != "9.7.9.25.5.3":
            continue
        slots = [slot.name for slot in form.slots]
        rank = int(next(name for name in slots if name.endswith("d") and name[0].isdigit())[0])
        isScatter, isIm2col = "tile::scatter4" in slots, "im2col_no_offs" in slots
        for hint in ("", ".L2::cache_hint"):
            shape = {1: "dims = [128], box = [16]", 2: "dims = [4, 32], box = [4, 4]"}.get(rank)
            if isScatter:
                shape = "dims = [4, 32], box = [4, 1]"
            elif isIm2col:
                dims = [4, 4] + [1] * (rank - 3) + [count]
                corners = str([0] * (rank - 2)) if rank > 3 else "0"
                shape = f"dims = {dims}, lower = {corners}, upper = {corners}, channels = 4, pixels = 4"
            elif rank > 2:
                shape = f"dims = {[4, 4] + [1] * (rank - 3) + [count]}, box = {[4, 4] + [1] * (rank - 2)}"
            text += f"""
.visible .entry k{number}(.param .align 64 .b8 into[128], .param .u64 in)
{{
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  .shared .align 128 .b8 box[128];
  ld.param.u64 %rd1, [in];
  mov.b64 %rd2, into;
  cvta.param.u64 %rd2, %rd2;
  mov.u32 %r1, box;
"""
            for i in range(0, 64, 4):
                text += f"  ld.global.u32 %r2, [%rd1+{i}];\n  st.shared.u32 [%r1+{i}], %r2;\n"
            text += "  fence.proxy.async.shared::cta;\n"
            tile = ".im2col_no_offs" if isIm2col else ".tile::scatter4" if isScatter else ".tile" if hint else ""
            for k, op in enumerate(OPERATIONS):
                place = {1: [16 * k], 2: [0, 4 * k]}.get(rank, [0] * (rank - 1) + [k])
                if isScatter:
                    place = [0] + [4 * k + i for i in range(4)]
                coordinates = ", ".join(map(str, place))
                policy = ", 0x12F0000000000000" if hint else ""
                text += f"  cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{op}{tile}.bulk_group{hint} "
                text += f"[%rd2, {{{coordinates}}}], [%r1]{policy};\n"
            text += "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\n  ret;\n}\n"
            buffers += f't{number} = "tensor_reductions.old.npy"\n'
            launches += f"""
[[launch]]
kernel = "k{number}"
block = 1
arguments = [{{tensormap = {{buffer = "t{number}", type = "u32", {shape}}}}}, "in"]
"""
            expectations += f'\n[[expect]]\nbuffer = "t{number}"\nfile = "tensor_reductions.new.npy"\n'
            number += 1
    save(folder, "tensor_reductions.ptx", text.encode())
    for name, words in (("in", values), ("old", old), ("new", new)):
        saveWords(folder, f"tensor_reductions.{name}.npy", words)
    save(folder, "tensor_reductions.toml", (f'module = "tensor_reductions.ptx"\n\n[buffers]\nin = "tensor_reductions.in.npy"\n{buffers}'
                                            + launches + expectations).encode())


def saveWords(folder, name, words):
    header = "{'descr': '<u4', 'fortran_order': False, 'shape': (%d,), }" % len(words)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    save(folder, name, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(words)}I", *words))
