"""tcgen05.mma (PTX ISA 9.7.16.10) with every value of .collector and of block sizes: a kernel launch for each form multiplies the same matrices
into one part of D after the other, with a value each, in an order in which what a collector is to use is what was filled in. Collectors
change no result: each part must be what the model of tests/tensor says."""
import os
import sys

from forms import formsOf
from kernels import save

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tensor/generate"))
import tcgen05
from formats import IMAGE_BYTES, hashed, image, npy, words

COLUMNS = 256  # of D
TYPES = {"f16": ("f16", "f16", "f32"), "tf32": ("tf32", "tf32", "f32"), "f8f6f4": ("e4m3", "e5m2", "f32"), "i8": ("s8", "u8", "s32"),
         "mxf8f6f4": ("e4m3", "e4m3", "f32"), "mxf4": ("e2m1", "e2m1", "f32"), "mxf4nvf4": ("e2m1", "e2m1", "f32")}


def caseOf(form, number):
    notation = form.notation
    tokens = {c.token for slot in form.slots for c in slot.choices}
    kind = next((k for k in ("mxf8f6f4", "mxf4nvf4", "mxf4") if f"kind::{k}" in tokens), None)
    if not kind:
        kinds = [k for k in ("f16", "tf32", "f8f6f4", "i8") if f"kind::{k}" in tokens]
        kind = kinds[number % len(kinds)]
    a, b, d = TYPES[kind]
    group, ws = 2 if "cta_group::2" in notation else 1, ".ws" in form.instruction
    return tcgen05.Case(group=group, sparse=int(".sp" in form.instruction), ws=int(ws), kind=kind, a=a, b=b, d=d, m=32 if ws else 128 * group,
                        n=64 if ws else 32, source="tensor" if "[a]" in notation else "descriptor", choice=number, isInput=0,
                        masked=int("disable-output-lane" in notation), shift=int("scale-input-d" in notation),
                        ashift=int("ashift" in tokens), block=32 if "block_scale" in tokens else 0, vector=".block32" if "block_scale" in tokens else "")


def valuesOf(form):
    """Of the modifier: without it, then as they stand in the manual; 16 of the collectors of B fill D."""
    slot = next(slot for slot in form.slots if "collector" in slot.choices[0].token)
    values = ["." + c.token for c in slot.choices]
    return values if len(values) == 16 else [""] + values


def width(case):
    return case.n * case.rows // 128 if case.ws else case.n


def instructions(case, values):
    text = []
    for value in values:
        case.collector = value
        text.append(case.instruction())
    return f";\n  add.u32 %r13, %r13, {width(case)};\n  ".join(text)


def results(case, count):
    """As Case.results(), with the product in each of `count` parts of D."""
    ctas = [case.memory(rank) for rank in range(case.group)]
    a, b = (tcgen05.FORMATS[t][1] for t in (case.a, case.b))
    half = case.n // case.group
    B = [[b(case.stored(case.b, ctas[n // half][0], case.matrices[1], n % half, k)) for k in range(case.k)] for n in range(case.n)]
    out = []
    for rank, (shared, lanes) in enumerate(ctas):
        result = [row[:COLUMNS] for row in lanes]
        for row in range(case.rows):
            elements = {}
            for n in range(case.n):
                lane, column = case.place(row, n)
                if case.masked and case.maskWord(rank, lane // 32) >> lane % 32 & 1:
                    continue
                if lane not in elements:
                    elements[lane] = case.rowOf(shared, lanes, row, lane, a)
                value = case.elementOf(lanes, elements[lane], B[n], row, lane, column, n)
                for part in range(count):
                    result[lane][part * width(case) + column] = value
        out += [hashed(r) for r in result]
    return out


def genericAddresses(text):
    """The same kernel, with alloc and commit by generic addresses."""
    for name, place, state in (("taddr", "[taddr], 512", "shared::cta"), ("done", "[%r7]", "shared::cluster")):
        lines = []
        for line in text.split("\n"):
            if ("tcgen05.alloc" in line or "tcgen05.commit" in line) and place in line:
                lines.append(f"  mov.b64 %rd10, {name};\n  cvta.shared.u64 %rd10, %rd10;")
                line = line.replace("." + state, "").replace(place.split(",")[0], "[%rd10]")
            lines.append(line)
        text = "\n".join(lines)
    return text


def write(folder):
    forms = [f for f in formsOf("tcgen05") if f.section.startswith("9.7.16.10.9.")]
    for target, shifts in (("sm_100a", False), ("sm_100f", True)):
        writeModule(folder, f"tcgen05_collectors_{target}", target, [f for f in forms if ("scale-input-d" in f.notation) == shifts])


def writeModule(folder, module, target, forms):
    text = (f".version 8.8\n.target {target}\n.address_size 64\n\n.shared .align 1024 .b8 tile[{IMAGE_BYTES}];\n.shared .align 8 .b64 done;\n"
            ".shared .align 4 .b32 taddr;\n")
    arrays, launches, expected, families = {}, "", [], {}
    for number, form in enumerate(forms):
        case, values = caseOf(form, number), valuesOf(form)
        family = families.setdefault(case.family(), (case, []))[1]
        for name, content in ((case.imageKind(), words(image(case.imageKind()))), (case.auxKind(), tcgen05.aux(case.auxKind()))):
            arrays[name] = content
        a, b = (m.tcgen05() for m in case.matrices)
        cluster = "grid = 2\ncluster = 2\n" if case.group == 2 else ""
        launches += (f'\n[[launch]]\nkernel = "products_{case.d}_{case.group}"\n{cluster}block = 128\narguments = ["{case.imageKind()}", '
                     f'"{case.auxKind()}", "out+{4 * len(expected)}", "{a:#x}", "{b:#x}", "0", "{case.descriptor():#x}", "{len(family)}", "0", "0", '
                     f'"{COLUMNS}"]\n')
        family.append(instructions(case, values))
        expected += results(case, len(values))
    for (group, d), (case, family) in families.items():
        text += genericAddresses(case.text(f"products_{d}_{group}", family))
    for name, content in {**arrays, "expected": expected}.items():
        npy(os.path.join(folder, f"{module}.{name}.npy"), content)
    buffers = "".join(f'{name} = "{module}.{name}.npy"\n' for name in arrays)
    save(folder, module + ".ptx", text.encode())
    save(folder, module + ".toml", (f'module = "{module}.ptx"\n\n[buffers]\n{buffers}out = "u32[{len(expected)}]"\n{launches}\n'
                                    f'[[expect]]\nbuffer = "out"\nfile = "{module}.expected.npy"\n').encode())
