"""mbarrier (PTX ISA 9.7.13.15), st.async (9.7.9.12), red.async (9.7.13.7), st.bulk (9.7.9.13): each thread with a barrier of its own.

The model of a phase: it completes when no arrival is pending and as many bytes have come as were announced.
"""
from atomics import apply, encode
from forms import bitsOf, covering, formsOf
from kernels import Cell

# The barrier is at %other, generic address %g, with 64 bytes of the thread's own.
OPENING = ".reg .b64 %g, %state, %v<4>;\n.reg .b32 %n;\n.reg .pred %p;\ncvt.u64.u32 %g, %other;\ncvta.shared.u64 %g, %g;\n"
TEST = "mbarrier.test_wait.parity.shared.b64 %%p, [%%other], %d;\nselp.b64 %%v0, 1, 0, %%p;\nst.global.b64 [{out}+%d], %%v0;\n"
CLOSING = "mbarrier.inval.shared.b64 [%other];\n"


def flags(*values):
    return lambda t: b"".join(int(v).to_bytes(8, "little") for v in values)


def place(choice):
    return "[%g]" if choice.space is None else "[%other]"


def phase(count, code, *tests):
    """Initialises for `count` arrivals; then code and tests in turn. A test is (parity, expected)."""
    text, expected = OPENING + f"mbarrier.init.shared.b64 [%other], {count};\n", []
    for step in (code, *tests):
        if isinstance(step, str):
            text += step
        else:
            text += TEST % (step[0], 8 * len(expected))
            expected.append(step[1])
    return Cell(text + CLOSING, flags(*expected))


def arrivals(form, choice):
    name, where = choice.mnemonic, place(choice)
    state = "_" if choice.space == "shared::cluster" else "%state"
    drops = "arrive_drop" in choice.form.instruction or choice.has("arrive_drop")
    again = "mbarrier.arrive.shared.b64 _, [%other];\n"
    if "txCount" in form.notation:
        code = f"{name} {state}, {where}, 16;\n"
        complete = "mbarrier.complete_tx.shared::cta.relaxed.cta.b64 [%other], 16;\n"
        if drops:
            return phase(2, code + again, (0, False), complete, (0, True), again, (1, True))
        return phase(1, code, (0, False), complete, (0, True))
    if choice.has("noComplete"):
        return phase(3, f"{name} {state}, {where}, 2;\n", (0, False), again, (0, True))
    hasCount = ", count" in form.notation
    code = f"{name} {state}, {where}{', 2' if hasCount else ''};\n"
    count = 2 if hasCount else 1
    if drops:  # the next phase expects what is left
        return phase(count + 1, code, (0, False), again, (0, True), again, (1, True))
    return phase(count + 1, code, (0, False), again, (0, True))


def barrierCells():
    made = []
    for form in formsOf("mbarrier"):
        kind = form.instruction.partition(".")[2]
        if kind in ("arrive", "arrive_drop"):
            for choice in covering(form, lambda c: True):
                made.append(arrivals(form, choice))
        if kind in ("expect_tx", "complete_tx"):
            for choice in covering(form, lambda c: True):
                other = "complete_tx" if kind == "expect_tx" else "expect_tx"
                plain = f"mbarrier.{other}.shared::cta.relaxed.cta.b64 [%other], 8;\n"
                mine = f"{choice.mnemonic} {place(choice)}, 8;\n"
                announce, complete = (mine, plain) if kind == "expect_tx" else (plain, mine)
                made.append(phase(1, announce + "mbarrier.arrive.shared.b64 _, [%other];\n", (0, False), complete, (0, True)))
        if kind in ("test_wait", "try_wait"):
            for choice in covering(form, lambda c: True):
                operand = "0" if choice.has("parity") else "%state"
                code = "mbarrier.arrive.shared.b64 %state, [%other];\nmbarrier.arrive.shared.b64 _, [%other];\n"
                code += f"{choice.mnemonic} %p, {place(choice)}, {operand};\nselp.b64 %v0, 1, 0, %p;\nst.global.b64 [{{out}}], %v0;\n"
                made.append(Cell(OPENING + "mbarrier.init.shared.b64 [%other], 2;\n" + code + CLOSING, flags(1)))
    return made


WAIT = """WAIT%(n)d:
mbarrier.try_wait.parity.shared.b64 %%p, [%%other], 0;
@!%%p bra WAIT%(n)d;
"""


def sourceOf(choice):
    names = [f"%d{i}" for i in range(choice.vector)]
    bits = bitsOf(choice.type)
    kind = choice.type if choice.type in ("f32", "f64") else f"b{bits}"
    text = names[0] if choice.vector == 1 else "{" + ", ".join(names) + "}"
    code = f".reg .{kind} %d<{choice.vector}>;\n" + "".join(f"ld.global.{kind} {r}, [%in+{bits // 8 * i}];\n" for i, r in enumerate(names))
    return code, text, bits // 8 * choice.vector


def storeCells(data):
    made = []
    for form in formsOf("st"):
        if form.instruction != "st.async":
            continue
        for choice in covering(form, lambda c: bitsOf(c.type) * c.vector <= 128):
            load, text, size = sourceOf(choice)
            if "mbar" in form.notation:
                # 16 bytes behind the barrier, at the same kind of address.
                base = "%g" if choice.space is None else "%other"
                code = OPENING + "mbarrier.init.shared.b64 [%other], 1;\nst.shared.v2.b64 [%other+16], {0, 0};\n" + load
                code += f"mbarrier.arrive.expect_tx.shared.b64 _, [%other], {size};\n"
                code += f"{choice.mnemonic} [{base}+16], {text}, [{base}];\n" + WAIT % {"n": 10000 + len(made)}
                code += "ld.shared.v2.b64 {%v0, %v1}, [%other+16];\nst.global.v2.b64 [{out}], {%v0, %v1};\n" + CLOSING
            else:  # performed at the latest when the kernel ends
                code = ".reg .b64 %a;\nADDRESS\n" + load + f"{choice.mnemonic} [%a], {text};\n"
            made.append(Cell(code, lambda t, size=size: data.row(t)[:size]))
    return made


def reductionCells():
    made = []
    for form in formsOf("red"):
        if form.instruction != "red.async":
            continue
        for choice in covering(form, lambda c: True):
            op, type_ = choice.among({"add", "inc", "dec", "min", "max", "and", "or", "xor"}), choice.type
            bits = bitsOf(type_)
            old, b = 0, 0x35
            if "mbar" in form.notation:
                old, base = 0x5A, "%g" if choice.space is None else "%other"
                code = OPENING + f"mbarrier.init.shared.b64 [%other], 1;\nst.shared.b64 [%other+16], {old};\n"
                code += f"mbarrier.arrive.expect_tx.shared.b64 _, [%other], {bits // 8};\n"
                code += f"{choice.mnemonic} [{base}+16], {b}, [{base}];\n" + WAIT % {"n": 20000 + len(made)}
                code += "ld.shared.b64 %v0, [%other+16];\nst.global.b64 [{out}], %v0;\n" + CLOSING
            else:
                code = f".reg .b64 %a;\nADDRESS\n{choice.mnemonic} [%a], {b};\n"
            new = encode(type_, apply(op, type_, old, b, 0))
            made.append(Cell(code, lambda t, new=new: new))
    return made


def bulkCells():
    """st.bulk: zeros for 16 bytes, what follows stays."""
    made = []
    for form in formsOf("st"):
        if form.instruction != "st.bulk":
            continue
        for choice in covering(form, lambda c: True):
            wide = "size" in form.notation and form in formsOf("st") and form.operands[1].type == "u64"
            size = "%v1" if wide else "%n"
            code = OPENING + "mov.b64 %v0, -1;\nst.shared.v2.b64 [%other], {%v0, %v0};\nst.shared.b64 [%other+16], %v0;\n"
            code += ("mov.b64 %v1, 16;\n" if wide else "mov.b32 %n, 16;\n") + f"{choice.mnemonic} {place(choice)}, {size}, 0;\n"
            code += "ld.shared.v2.b64 {%v2, %v3}, [%other];\nst.global.v2.b64 [{out}], {%v2, %v3};\nld.shared.b64 %v2, [%other+16];\n"
            made.append(Cell(code + "st.global.b64 [{out}+16], %v2;", lambda t: bytes(16) + b"\xff" * 8))
    return made


def cells(data):
    return barrierCells() + storeCells(data) + reductionCells() + bulkCells()
