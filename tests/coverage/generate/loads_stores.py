"""ld, ldu, st and their relatives (PTX ISA 9.7.9.8 to 9.7.9.11, 9.7.9.14): bytes are moved; caches, policies, orders change nothing of them.

The model: little endian; integers narrower than their register are extended by their sign, all else by zeros.
"""
from forms import bitsOf, covering, formsOf
from kernels import Cell

CALLEES = """
.func fetch%(n)d(.param .align 32 .b8 p[64], .param .b64 o)
{
  .reg .b64 %%out;
  ld.param.b64 %%out, [o];
  %(code)s
  ret;
}
"""
KEEP = """
.func keep%(n)d(.param .align 32 .b8 p[32], .param .b64 o)
{
  .reg .b64 %%out, %%v<4>;
  ld.param.b64 %%out, [o];
  ld.param.v2.b64 {%%v0, %%v1}, [p];
  ld.param.v2.b64 {%%v2, %%v3}, [p+16];
  st.global.v2.b64 [%%out], {%%v0, %%v1};
  st.global.v2.b64 [%%out+16], {%%v2, %%v3};
  ret;
}
"""
PLACES = {None: "%in", "global": "%in", "const": "%table", "local": "own", "param": "given", "param::entry": "given", "param::func": "p",
          "shared": "%shared", "shared::cta": "%shared", "shared::cluster": "%shared"}
TARGETS = {None: "%tmp", "global": "%tmp", "local": "scratch", "shared": "%other", "shared::cta": "%other", "shared::cluster": "%other",
           "param": "p", "param::func": "p"}
_number = 0


def isLegal(choice):
    """What of the table's notes is about several modifiers at once."""
    bits = bitsOf(choice.type) * choice.vector
    isGlobal = choice.space in (None, "global")
    if any(c and c.isGlobal for c in choice.chosen) and not isGlobal:
        return False
    if any(c and c.isWide for c in choice.chosen) and bits != 256:
        return False
    if choice.vector == 8 and bits != 256 or bits > 256:
        return False
    if bits == 256 and not (choice.form.isWide and bitsOf(choice.type) in (32, 64)):
        return False
    names = [slot.name for slot in choice.form.slots]
    if "evict1" in names and choice.form.slots[0].name not in ("volatile",) and not choice.has("relaxed") and not choice.has("acquire") \
            and not choice.has("release") and not (choice.get("evict1") or choice.get("evict2")):
        return False  # that is the form before this one
    return True


def registerType(type_):
    return type_ if type_ in ("f32", "f64") else f"b{max(32, bitsOf(type_))}"


def vectorText(names):
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"


def extended(row, type_, count):
    size = bitsOf(type_) // 8
    parts = [int.from_bytes(row[size * i:size * i + size], "little", signed=type_[0] == "s") for i in range(count)]
    width = max(32, bitsOf(type_)) // 8
    return b"".join((p & (1 << 8 * width) - 1).to_bytes(width, "little") for p in parts)


def putRegisters(type_, count, address):
    """Stores of %d<count> behind each other."""
    kind, width = registerType(type_), max(32, bitsOf(type_)) // 8
    return "".join(f"st.global.{kind} [{address}+{width * i}], %d{i};\n" for i in range(count))


def loadCell(choice, data):
    global _number
    type_, count, space = choice.type, choice.vector, choice.space
    registers = vectorText([f"%d{i}" for i in range(count)])
    policy = ", %policy" if choice.get("hint") else ""
    code = f".reg .{registerType(type_)} %d<{count}>;\n{choice.mnemonic} {registers}, [{PLACES[space]}]{policy};\n"
    if space == "param::func":
        _number += 1
        function = CALLEES % {"n": _number, "code": code.replace("\n", "\n  ") + putRegisters(type_, count, "%out").replace("\n", "\n  ")}
        code = ".reg .b64 %a, %v<8>;\n.param .align 32 .b8 p[64];\n.param .b64 o;\n"
        for i in range(8):
            code += f"ld.global.b64 %v{i}, [%in+{8 * i}];\nst.param.b64 [p+{8 * i}], %v{i};\n"
        code += f"ADDRESS\nst.param.b64 [o], %a;\ncall.uni fetch{_number}, (p, o);\n"
        return Cell(code, lambda t: extended(data.row(t), type_, count), function)
    isGiven = space in ("param", "param::entry")
    return Cell(code + putRegisters(type_, count, "{out}"), lambda t: extended(data.row(0 if isGiven else t), type_, count))


def storeCell(choice, data):
    global _number
    type_, count, space = choice.type, choice.vector, choice.space
    kind, width = registerType(type_), max(32, bitsOf(type_)) // 8
    registers = vectorText([f"%d{i}" for i in range(count)])
    policy = ", %policy" if choice.get("hint") else ""
    target = TARGETS[space]
    code = f".reg .{kind} %d<{count}>;\n.reg .b64 %v<4>;\n"
    code += "".join(f"ld.global.{kind} %d{i}, [%in+{width * i}];\n" for i in range(count))
    store = f"{choice.mnemonic} [{target}], {registers}{policy};\n"
    function = ""
    plain = {None: "global", "shared::cta": "shared", "shared::cluster": "shared", "param::func": "param"}.get(space, space)
    zeros = "".join(f"st.{plain}.b64 [{target}+{8 * i}], 0;\n" for i in range(4))
    if plain == "param":
        _number += 1
        function = KEEP % {"n": _number}
        code += ".reg .b64 %a;\n.param .align 32 .b8 p[32];\n.param .b64 o;\n" + zeros + store
        code += f"ADDRESS\nst.param.b64 [o], %a;\ncall.uni keep{_number}, (p, o);\n"
    else:
        code += zeros + store
        code += "".join(f"ld.{plain}.b64 %v{i}, [{target}+{8 * i}];\nst.global.b64 [{{out}}+{8 * i}], %v{i};\n" for i in range(4))
    size = bitsOf(type_) // 8
    return Cell(code, lambda t: b"".join(data.row(t)[width * i:width * i + size] for i in range(count)), function)


def cells(data):
    made = []
    for form in formsOf("ld") + formsOf("ldu"):
        made += [loadCell(choice, data) for choice in covering(form, isLegal)]
    for form in formsOf("st"):
        if not {"async", "bulk"} & {c.token for slot in form.slots for c in slot.choices}:
            made += [storeCell(choice, data) for choice in covering(form, isLegal)]
    return made
