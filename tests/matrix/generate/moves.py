"""ldmatrix and stmatrix in all forms: lane l has the row l in shared memory, at (5 * l % 32) * 16."""
import zlib
from dataclasses import dataclass

import cases


@dataclass
class Move:
    text: str
    target: str
    registers: int
    space: str

    @property
    def is_store(self):
        return self.text.startswith("stmatrix")

    @property
    def name(self):
        return self.text.replace("::", "_").replace(".", "_").replace("_sync_aligned", "")


def all_moves():
    spaces = ("", ".shared", ".shared::cta")
    count = 0
    for name in ("ldmatrix", "stmatrix"):
        target = "sm_90"
        for n in (1, 2, 4):
            for trans in ("", ".trans"):
                count += 1
                space = spaces[count % 3]
                yield Move(f"{name}.sync.aligned.m8n8.x{n}{trans}{space}.b16", target, n, space)
    for n in (1, 2):
        for source in ("b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64"):
            count += 1
            space = spaces[count % 3]
            yield Move(f"ldmatrix.sync.aligned.m16n16.x{n}.trans{space}.{source}", "sm_100a", 2 * n, space)
    for n in (1, 2, 4):
        for source in ("b8x16.b6x16_p32", "b8x16.b4x16_p64"):
            count += 1
            space = spaces[count % 3]
            yield Move(f"ldmatrix.sync.aligned.m8n16.x{n}{space}.{source}", "sm_100a", n, space)
        yield Move(f"stmatrix.sync.aligned.m16n8.x{n}.trans{spaces[n % 3]}.b8", "sm_100a", n, spaces[n % 3])
    for space in spaces[::2]:  # what the turns above leave out
        yield Move(f"ldmatrix.sync.aligned.m16n16.x1.trans{space}.b8", "sm_100a", 2, space)
    yield Move("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b6x16_p32", "sm_100a", 2, ".shared")
    yield Move("stmatrix.sync.aligned.m16n8.x1.trans.b8", "sm_100a", 1, "")


def kernel(move):
    """Loads: 4 registers in (the rows), d out. Stores: d in, 4 out."""
    inputs, outputs = (move.registers, 4) if move.is_store else (4, move.registers)
    regs = "{" + ", ".join(f"%d{i}" for i in range(move.registers)) + "}"
    text = (f".visible .entry {move.name}(.param .u64 in, .param .u64 out)\n{{\n  .reg .b64 %in, %out, %gen;\n  .reg .b32 %t<8>, %d<4>;\n"
            "  .shared .align 16 .b8 memory[512];\n  mov.u32 %t0, %ctaid.x;\n  mov.u32 %t1, %laneid;\n  ld.param.u64 %in, [in];\n"
            f"  ld.param.u64 %out, [out];\n  mad.wide.u32 %in, %t0, {inputs * 128}, %in;\n  mad.wide.u32 %out, %t0, {outputs * 128}, %out;\n"
            "  mul.lo.u32 %t2, %t1, 5;\n  and.b32 %t2, %t2, 31;\n  shl.b32 %t2, %t2, 4;\n  mov.u32 %t3, memory;\n  add.u32 %t2, %t2, %t3;\n"
            "  cvt.u64.u32 %gen, %t2;\n  cvta.shared.u64 %gen, %gen;\n")
    address = "%t2" if move.space else "%gen"
    if move.is_store:
        text += "  mov.u32 %t4, 0;\n" + "".join(f"  st.shared.b32 [%t2+{4 * i}], %t4;\n" for i in range(4)) + "  bar.sync 0;\n"
        text += "  mad.wide.u32 %in, %t1, 4, %in;\n" + "".join(f"  ld.global.b32 %d{i}, [%in+{128 * i}];\n" for i in range(move.registers))
        text += f"  {move.text} [{address}], {regs};\n  bar.sync 0;\n  mad.wide.u32 %out, %t1, 16, %out;\n"
        text += "".join(f"  ld.shared.b32 %t4, [%t2+{4 * i}];\n  st.global.b32 [%out+{4 * i}], %t4;\n" for i in range(4))
    else:
        text += "  mad.wide.u32 %in, %t1, 16, %in;\n"
        text += "".join(f"  ld.global.b32 %t4, [%in+{4 * i}];\n  st.shared.b32 [%t2+{4 * i}], %t4;\n" for i in range(4)) + "  bar.sync 0;\n"
        text += f"  {move.text} {regs}, [{address}];\n  mad.wide.u32 %out, %t1, 4, %out;\n"
        text += "".join(f"  st.global.b32 [%out+{128 * i}], %d{i};\n" for i in range(move.registers))
    return text + "  ret;\n}\n"


def bits_at(row, first, width):
    return int.from_bytes(bytes(row), "little") >> first & (1 << width) - 1


def loaded(move, rows):
    out = [[0] * 32 for _ in range(move.registers)]
    for lane in range(32):
        group, t = lane >> 2, lane % 4
        for r in range(move.registers):
            if ".m8n8." in move.text:
                row = lambda i: rows[8 * r + i]
                if ".trans" in move.text:
                    out[r][lane] = bits_at(row(2 * t), 16 * group, 16) | bits_at(row(2 * t + 1), 16 * group, 16) << 16
                else:
                    out[r][lane] = bits_at(row(group), 32 * t, 32)
                continue
            width = 6 if "b6x16" in move.text else 4 if "b4x16" in move.text else 8
            for e in range(4):
                if ".m8n16." in move.text:
                    element = bits_at(rows[8 * r + group], width * (4 * t + e), width)
                else:
                    element = bits_at(rows[r // 2 * 16 + 4 * t + e], width * (group + 8 * (r % 2)), width)
                out[r][lane] |= element << 8 * e
    return [w for register in out for w in register]


def stored(move, registers):
    rows = [[0] * 16 for _ in range(32)]
    for lane in range(32):
        group, t = lane >> 2, lane % 4
        for r, register in enumerate(registers):
            parts = register[lane].to_bytes(4, "little")
            for e in range(4):
                if ".b8" in move.text:
                    rows[8 * r + 2 * t + e % 2][group + e // 2 * 8] = parts[e]
                elif ".trans" in move.text:
                    rows[8 * r + 2 * t + e // 2][2 * group + e % 2] = parts[e]
                else:
                    rows[8 * r + group][4 * t + e] = parts[e]
    return [bits_at(row, 32 * i, 32) for row in rows for i in range(4)]


def text_of(move):
    inputs, outputs = (move.registers, 4) if move.is_store else (4, move.registers)
    seed = zlib.crc32(move.name.encode())
    words = [[cases.word("ffffffff/0", seed, r, lane) for lane in range(32)] for r in range(inputs)]
    if move.is_store:
        out = stored(move, words)
    else:
        flat = [w for register in words for w in register]
        out = loaded(move, [b"".join(w.to_bytes(4, "little") for w in flat[4 * i:4 * i + 4]) for i in range(32)])
    return f"kernel {move.name} {inputs} {outputs} 32\nfast {seed} {inputs}*ffffffff/0 {cases.digest(out, 4):016x}\n"
