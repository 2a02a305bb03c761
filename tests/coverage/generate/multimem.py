"""multimem.ld_reduce and multimem.st (PTX ISA 9.7.9.14) on a multicast object with one replica: a reduction over one value is that
value, a store reaches the one place. multimem.red is what red is (atomics.py)."""
from atomics import cell
from forms import bitsOf, covering, formsOf
from kernels import Cell


def isLegal(choice):
    return bitsOf(choice.type) * choice.vector <= 128


def registers(choice):
    names = [f"%d{i}" for i in range(choice.vector)]
    kind = choice.type if choice.type in ("f32", "f64") else f"b{bitsOf(choice.type)}"
    return kind, names, names[0] if choice.vector == 1 else "{" + ", ".join(names) + "}"


def loadCell(choice, data):
    kind, names, text = registers(choice)
    width = bitsOf(choice.type) // 8
    code = f".reg .{kind} %d<{choice.vector}>;\n{choice.mnemonic} {text}, [%tame];\n"
    code += "".join(f"st.global.{kind} [{{out}}+{width * i}], {name};\n" for i, name in enumerate(names))
    return Cell(code, lambda t: data.tameRow(t)[:width * choice.vector])


def storeCell(choice, data):
    kind, names, text = registers(choice)
    width = bitsOf(choice.type) // 8
    code = f".reg .{kind} %d<{choice.vector}>;\n.reg .b64 %v<4>;\nst.global.v2.b64 [%tmp], {{0, 0}};\nst.global.v2.b64 [%tmp+16], {{0, 0}};\n"
    code += "".join(f"ld.global.{kind} {name}, [%tame+{width * i}];\n" for i, name in enumerate(names))
    code += f"{choice.mnemonic} [%tmp], {text};\n"
    code += "".join(f"ld.global.b64 %v{i}, [%tmp+{8 * i}];\nst.global.b64 [{{out}}+{8 * i}], %v{i};\n" for i in range(4))
    return Cell(code, lambda t: data.tameRow(t)[:width * choice.vector])


def cells(data):
    made = []
    for form in formsOf("multimem"):
        if form.instruction not in ("multimem.ld_reduce", "multimem.st", "multimem.red"):
            continue
        for choice in covering(form, isLegal):
            if form.instruction == "multimem.red":
                made.append(cell(choice, 1000 + len(made), False))
            else:
                made.append((loadCell if form.instruction == "multimem.ld_reduce" else storeCell)(choice, data))
    return made
