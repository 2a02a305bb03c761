"""atom, red (PTX ISA 9.7.13.5, 9.7.13.6), multimem on one replica (9.7.9.14): each thread on its own cell, so that no order matters.

The model: integers modulo 2^n, small whole numbers as floats, of which sums are exact.
"""
import struct

from forms import bitsOf, covering, formsOf
from kernels import Cell

PLACES = {None: ("%tmp", "global"), "global": ("%tmp", "global"), "shared": ("%other", "shared"), "shared::cta": ("%other", "shared"),
          "shared::cluster": ("%other", "shared")}
FLOATS = {"f16", "bf16", "f16x2", "bf16x2", "f32", "f64"}
OPERATIONS = {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"}


def encode(type_, value):
    """A number as bytes of one element that is not packed."""
    if type_ == "f64":
        return struct.pack("<d", value)
    if type_ == "f32":
        return struct.pack("<f", value)
    if type_ == "f16":
        return struct.pack("<e", value)
    if type_ == "bf16":
        return struct.pack("<f", value)[2:]
    bits = bitsOf(type_)
    return (value & (1 << bits) - 1).to_bytes(bits // 8, "little")


def apply(op, type_, old, b, c):
    if op == "inc":
        return 0 if old >= b else old + 1
    if op == "dec":
        return b if old == 0 or old > b else old - 1
    if op == "cas":
        return c if old == b else old
    return {"add": lambda: old + b, "min": lambda: min(old, b), "max": lambda: max(old, b), "and": lambda: old & b, "or": lambda: old | b,
            "xor": lambda: old ^ b, "exch": lambda: b}[op]()


def elementsOf(choice):
    """The type of one number, and how many there are."""
    type_ = choice.type
    if type_.endswith("x2"):
        return type_[:-2], 2 * choice.vector
    return type_, choice.vector


def numbers(choice, thread, salt, op):
    """Old values, operands b and c."""
    type_, count = elementsOf(choice)
    isFloat = type_ in FLOATS
    rows = []
    for i in range(count):
        old, b = 3 + thread + i, (thread * 5 + salt + 7 * i) % 29 + 1
        if type_[0] == "s" or isFloat:
            old, b = old - 12, b - 9
        elif not isFloat and bitsOf(type_) >= 64 and type_[0] == "u":
            old, b = old << 40, b << 39
        c = b + 17
        if op == "cas" and thread % 2:
            b = old
        rows.append((old, b, c))
    return type_, rows


def isLegal(choice):
    return bitsOf(choice.type) * choice.vector <= 128 and (choice.space in (None, "global") or not choice.get("hint"))


def registers(name, choice):
    """Declaration and text of an operand's registers; their width in bytes."""
    bits = bitsOf(choice.type)
    kind = choice.type if choice.type in ("f32", "f64") else f"b{bits}"
    names = [f"%{name}{i}" for i in range(choice.vector)]
    text = names[0] if choice.vector == 1 else "{" + ", ".join(names) + "}"
    return f".reg .{kind} %{name}<{choice.vector}>;\n", text, names, kind, bits // 8


def cell(choice, salt, returnsOld):
    op = choice.among(OPERATIONS)
    place, space = PLACES[choice.space]
    operands = [name for name in ("b", "c")[:2 if choice.form.notation.endswith(", c;") else 1]]
    code = ".reg .b64 %v<2>;\n.reg .b16 %h;\n.reg .pred %p;\n"
    texts = []
    rows = [numbers(choice, t, salt, op) for t in range(32)]
    blobs = {key: [b"".join(encode(r[0], row[k]) for row in r[1]).ljust(16, b"\0") for r in rows] for k, key in enumerate(("old", "b", "c"))}
    table = f"numbers_{salt}"
    content = b"".join(blobs["old"][t] + blobs["b"][t] + blobs["c"][t] + bytes(16) for t in range(32))
    function = f".global .align 16 .b8 {table}[{len(content)}] = {{{', '.join(map(str, content))}}};\n"
    code += f".reg .b64 %n;\n.reg .b32 %i;\nmov.u64 %n, {table};\nmul.wide.u32 %v0, %thread, 64;\nadd.u64 %n, %n, %v0;\n"
    code += f"ld.global.v2.b64 {{%v0, %v1}}, [%n];\nst.{space}.v2.b64 [{place}], {{%v0, %v1}};\n"
    for k, name in enumerate(operands):
        declaration, text, names, kind, width = registers(name, choice)
        code += declaration + "".join(f"ld.global.{kind} {r}, [%n+{16 * k + 16 + width * i}];\n" for i, r in enumerate(names))
        texts.append(text)
    policy = ", %policy" if choice.get("hint") else ""
    if returnsOld:
        declaration, text, names, kind, width = registers("d", choice)
        code += declaration + f"{choice.mnemonic} {text}, [{place}], {', '.join(texts)}{policy};\n"
        code += "".join(f"st.global.{kind} [{{out}}+{width * i}], {r};\n" for i, r in enumerate(names))
    else:
        code += f"{choice.mnemonic} [{place}], {', '.join(texts)}{policy};\n"
    code += f"ld.{space}.v2.b64 {{%v0, %v1}}, [{place}];\nst.global.v2.b64 [{{out}}+16], {{%v0, %v1}};\n"

    def expected(thread):
        type_, values = rows[thread]
        new = b"".join(encode(type_, apply(op, type_, *row)) for row in values).ljust(16, b"\0")
        return (blobs["old"][thread] if returnsOld else bytes(16)) + new

    return Cell(code, expected, function)


def cells(data):
    made = []
    for opcode in ("atom", "red"):
        for form in formsOf(opcode):
            if form.instruction == "red.async":
                continue
            for choice in covering(form, isLegal):
                made.append(cell(choice, len(made), opcode == "atom"))
    return made
