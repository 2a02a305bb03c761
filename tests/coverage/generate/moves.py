"""mov, cvta, isspacep, createpolicy, prefetch, cp.async and others of PTX ISA 9.7.9, and control flow (9.7.12): bytes that are moved,
addresses that lead to the same bytes."""
from forms import bitsOf, covering, formsOf
from kernels import Cell

WINDOWS = {"const": ("%table", "u64"), "global": ("%in", "u64"), "local": ("%l", "u64"), "shared": ("%s", "u64"),
           "shared::cta": ("%s", "u64"), "shared::cluster": ("%s", "u64"), "param": ("%p", "u64"), "param::entry": ("%p", "u64")}
ADDRESSES = ".reg .b64 %l, %s, %p;\nmov.u64 %l, own;\ncvt.u64.u32 %s, %shared;\nmov.u64 %p, given;\n"


def row(data, space):
    return lambda t: data.row(0 if space.startswith("param") else t)


def moveCells(data):
    made = []
    for form in formsOf("mov"):
        if form.notation == "mov.type d, a;" and form.section == "9.7.9.3":
            for choice in covering(form, lambda c: True, {"pred"}):
                kind, size = choice.type, bitsOf(choice.type) // 8
                kind = kind if kind in ("f32", "f64") else f"b{8 * size}"
                made.append(Cell(f".reg .{kind} %a, %d;\nld.global.{kind} %a, [%in];\n{choice.mnemonic} %d, %a;\nst.global.{kind} [{{out}}], %d;",
                                 lambda t, size=size: data.row(t)[:size]))
        if "vec" in [slot.name for slot in form.slots]:
            for choice in covering(form, lambda c: bitsOf(c.type) * c.vector <= 128):
                made.append(vectorMove(choice, data))
        if form.section == "9.7.9.4" and form.notation == "mov.type d, a;":
            for choice in covering(form, lambda c: True):
                made += [packing(choice, data)]
    return made


def vectorMove(choice, data):
    size, count = bitsOf(choice.type) // 8, choice.vector
    kind = choice.type if choice.type in ("f32", "f64") else f"b{8 * size}"
    names = lambda letter: "{" + ", ".join(f"%{letter}{i}" for i in range(count)) + "}"
    code = f".reg .{kind} %a<{count}>, %d<{count}>;\n" + "".join(f"ld.global.{kind} %a{i}, [%in+{size * i}];\n" for i in range(count))
    code += f"{choice.mnemonic} {names('d')}, {names('a')};\n"
    kept = range(min(count, 32 // size))
    code += "".join(f"st.global.{kind} [{{out}}+{size * i}], %d{i};\n" for i in kept)
    return Cell(code, lambda t: data.row(t)[:size * len(kept)])


def packing(choice, data):
    """Two halves together, taken apart again and stored the other way round."""
    size = bitsOf(choice.type) // 8
    half = f"b{4 * size}"
    code = f".reg .{half} %a, %b, %c, %d;\n.reg .b{8 * size} %w;\n"
    if half == "b8":
        code += "ld.global.b8 %a, [%in];\nld.global.b8 %b, [%in+1];\n"
    else:
        code += f"ld.global.{half} %a, [%in];\nld.global.{half} %b, [%in+{size // 2}];\n"
    code += f"{choice.mnemonic} %w, {{%a, %b}};\n{choice.mnemonic} {{%c, %d}}, %w;\n"
    code += f"st.global.b{8 * size} [{{out}}], %w;\nst.global.{half} [{{out}}+{size}], %d;\nst.global.{half} [{{out}}+{size + size // 2}], %c;\n"
    return Cell(code, lambda t: data.row(t)[:size] + data.row(t)[size // 2:size] + data.row(t)[:size // 2])


def addressCells(data):
    """A generic address of each space leads to what lies there; the way back gives the address again."""
    made = []
    for space, (address, _) in WINDOWS.items():
        code = ADDRESSES + f".reg .b64 %g, %b, %v;\n.reg .pred %q;\ncvta.{space}.u64 %g, {address};\nld.b64 %v, [%g];\nst.global.b64 [{{out}}], %v;\n"
        code += f"cvta.to.{space}.u64 %b, %g;\nsub.u64 %b, %b, {address};\nst.global.b64 [{{out}}+8], %b;\n"
        code += f"isspacep.{space} %q, %g;\nselp.b64 %v, 1, 0, %q;\nst.global.b64 [{{out}}+16], %v;\n"
        other = "local" if space != "local" else "shared"
        code += f"isspacep.{other} %q, %g;\nselp.b64 %v, 1, 0, %q;\nst.global.b64 [{{out}}+24], %v;\n"
        made.append(Cell(code, lambda t, get=row(data, space): get(t)[:8] + bytes(8) + (1).to_bytes(8, "little")))
    return made


def hintCells(data):
    """Policies and prefetches: a load behind them gives what lies there."""
    made = []
    for form in formsOf("createpolicy"):
        for choice in covering(form, lambda c: True):
            operands = {"range": "[%in], 32, 64", "fractional": "0.5"}.get(form.slots[0].name)
            if operands:
                code = f".reg .b64 %v, %q;\n{choice.mnemonic} %q, {operands};\nld.global.L2::cache_hint.b64 %v, [%in], %q;\n"
                code += "st.global.b64 [{out}], %v;"
                made.append(Cell(code, lambda t: data.row(t)[:8]))
    for form in formsOf("prefetch"):
        for choice in covering(form, lambda c: True):
            place = {"const": "%table", "local": "own", "param": "%p"}.get(choice.space, "%in")
            code = ADDRESSES + f".reg .b64 %v;\n{choice.mnemonic} [{place}];\nld.global.b64 %v, [%in];\nst.global.b64 [{{out}}], %v;"
            made.append(Cell(code, lambda t: data.row(t)[:8]))
    return made


def copyCells(data):
    """cp.async: `cp-size` bytes, of them `src-size` from the source, zeros for the rest; none from it where it is ignored."""
    made = []
    for form in formsOf("cp"):
        if form.section != "9.7.9.25.3.1":
            continue
        ignores = "ignore-src" in form.notation
        for number, choice in enumerate(covering(form, lambda c: True)):
            size = 16 if choice.has("cg") else (4, 8, 16)[number % 3]
            given = [size, size // 2, 0][number % 3]
            code = f".reg .pred %q;\n.reg .b64 %v<4>;\nst.shared.v2.b64 [%other], {{0, 0}};\nsetp.ge.u32 %q, %thread, 16;\n"
            code += f"{choice.mnemonic} [%other], [%in], {size}, {'%q' if ignores else given}{', %policy' if choice.get('hint') else ''};\n"
            code += "cp.async.wait_all;\nld.shared.v2.b64 {%v0, %v1}, [%other];\nst.global.v2.b64 [{out}], {%v0, %v1};"
            made.append(Cell(code, lambda t, size=size, given=given, ignores=ignores:
                             data.row(t)[:(size if t < 16 else 0) if ignores else given]))
    return made


FUNCTIONS = """
.global .align 8 .b64 left%(n)d;
.func (.param .b64 r) give%(n)d
{
  st.param.b64 [r], 0x1234;
  ret.uni;
}
.func leave%(n)d
{
  .reg .b64 %%v;
  mov.b64 %%v, 0x5678;
  st.global.b64 [left%(n)d], %%v;
  ret.uni;
}
.func twice%(n)d(.param .b64 a)
{
  .reg .b64 %%v;
  ld.param.b64 %%v, [a];
  add.u64 %%v, %%v, %%v;
  st.global.b64 [left%(n)d], %%v;
  ret;
}
"""


def controlCells(data):
    made = []
    for number, uni in enumerate(("", ".uni")):
        code = f""".param .b64 r;
.param .b64 a;
.reg .b64 %v<4>;
call{uni} (r), give{number};
ld.param.b64 %v0, [r];
call{uni} leave{number};
ld.global.b64 %v1, [left{number}];
st.param.b64 [a], %v0;
bar.sync 0;
call{uni} twice{number}, (a);
ld.global.b64 %v2, [left{number}];
bra{uni} SKIP{number};
mov.b64 %v0, 0;
SKIP{number}:
st.global.v2.b64 [{{out}}], {{%v0, %v1}};
mov.b32 %other, 1;
TARGETS{number}: .branchtargets WRONG{number}, RIGHT{number};
brx.idx{uni} %other, TARGETS{number};
WRONG{number}:
mov.b64 %v2, 0;
RIGHT{number}:
mov.u32 %other, cells;
mad.lo.u32 %other, %thread, 64, %other;
st.global.b64 [{{out}}+16], %v2;"""
        expected = b"".join(v.to_bytes(8, "little") for v in (0x1234, 0x5678, 2 * 0x1234))
        made.append(Cell(code, lambda t: expected, FUNCTIONS % {"n": number}))
    return made


def cells(data):
    return moveCells(data) + addressCells(data) + hintCells(data) + copyCells(data) + controlCells(data)
