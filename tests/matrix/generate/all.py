#!/usr/bin/env python3
"""Writes the kernels (mma_*.ptx) and cases (mma_*.cases) of tests/matrix anew; the same ones every time."""
import os
import zlib

import cases
import form_list
import forms
import moves
import wgmma
import wmma
from multiprocessing import Pool

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")

# Masks that make a word's elements: all patterns; like exponents; one exponent (sums that cancel); zeros and
# subnormals; with bf16, products about the smallest f32.
MODES = {
    "f16": ("ffffffff/0", "9fff9fff/20002000", "83ff83ff/3c003c00", "80038003/0"),
    "bf16": ("ffffffff/0", "83ff83ff/3c003c00", "807f807f/3f803f80", "80038003/0", "807f807f/1a001a00"),
    "tf32": ("ffffffff/0", "83ffffff/3c000000", "807fffff/3f800000", "8001ffff/0"),
    "f32": ("ffffffff/0", "83ffffff/3c000000", "807fffff/3f800000", "8001ffff/0", "80000001/0"),
    "e4m3": ("ffffffff/0", "bfbfbfbf/0", "87878787/38383838", "83838383/0"),
    "e5m2": ("ffffffff/0", "9f9f9f9f/20202020", "83838383/3c3c3c3c", "81818181/0"),
    "e3m2": ("3f3f3f3f/0",) * 4, "e2m3": ("3f3f3f3f/0",) * 4, "e2m1": ("3c3c3c3c/0",) * 4,
    "s8": ("ffffffff/0", "ffffffff/0", "ff7f7f7f/0", "ffffffff/80808080"),
    "b1": ("ffffffff/0",) * 4,
    "s32": ("ffffffff/0", "800001ff/7ffffe00", "1ff/80000000", "ffff/0"),
    "f64": ("bfffffffffffffff/0", "80ffffffffffffff/3f00000000000000", "800fffffffffffff/3ff0000000000000", "8000000000000003/0"),
    "ue8m0": ("ffffffff/0", "03030303/7e7e7e7e", "07070707/7c7c7c7c", "0/7f7f7f7f"),
    "ue4m3": ("ffffffff/0", "7f7f7f7f/0", "0f0f0f0f/30303030", "83838383/0"),
}
for name in ("u8", "s4", "u4"):
    MODES[name] = MODES["s8"]


def masks_of(form, mode, seed):
    d, a, b, c = form.types
    factor = lambda t: "ffffffff/0" if t == "e2m1" and form.is_dense4 else MODES[t][mode]
    masks = [factor(a)] * form.counts[1] + [factor(b)] * form.counts[2] + [MODES[c][mode]] * form.counts[3]
    if form.is_sparse:
        masks.append("paired" if a == "tf32" else "ordered")
    if form.scale:
        count = form.scale[1]
        byte = (seed % 4) if count == 1 else (seed % 2 * 2) if count == 2 else 0
        constant = lambda x: f"0/{x:x}"
        other = (seed // 2 % 4) if count == 1 else (seed // 2 % 2 * 2) if count == 2 else 0
        data = MODES[form.scale[0]][mode]
        masks += [data, constant(byte), constant(seed % 2), data, constant(other), constant(seed // 3 % 4)]
    return masks


def cases_of(form):
    lines = []
    base = zlib.crc32(form.name.encode())
    modes = (0,) if form.types[1] == "b1" else range(5 if form.types[1] == "bf16" else 4)
    for policy in form.policies:
        for mode in modes:
            seed = base * 16 + mode
            masks = masks_of(form, mode, seed)
            inputs = [[cases.word(m, seed, r, lane) for lane in range(32)] for r, m in enumerate(masks)]
            out = forms.multiply(form, policy, inputs)
            if any(word is None for register in out for word in register):
                raise SystemExit(f"{form.name}: a NaN whose bits nobody states")
            digest = cases.digest([w for register in out for w in register], 8 if form.types[0] == "f64" else 4)
            lines.append(f"{policy} {seed} {packed(masks)} {digest:016x}")
    return lines


def packed(masks):
    """Runs of equal masks as COUNT*MASK."""
    runs = []
    for mask in masks:
        if runs and runs[-1][1] == mask:
            runs[-1][0] += 1
        else:
            runs.append([1, mask])
    return ",".join(f"{n}*{mask}" for n, mask in runs)


def operand(letter, count):
    return "{" + ", ".join(f"%{letter}{i}" for i in range(count)) + "}"


def kernel(form):
    size = 8 if form.types[0] == "f64" else 4
    d, a, b, c = form.counts
    extra = form.is_sparse + (6 if form.scale else 0)
    register = lambda t: {"f32": "f32", "f64": "f64", "s32": "s32"}.get(t, "b32")
    types = [register(form.types[0]), "f64" if size == 8 else "b32", "f64" if size == 8 else "b32", register(form.types[3])]
    text = f".visible .entry {form.name}(.param .u64 in, .param .u64 out)\n{{\n  .reg .b64 %in, %out;\n  .reg .b32 %t<4>, %e<8>;\n"
    if form.scale:
        text += "  .reg .b16 %h<4>;\n"
    text += "".join(f"  .reg .{types[i]} %{letter}<{max(1, form.counts[i])}>;\n" for i, letter in enumerate("dabc"))
    text += ("  mov.u32 %t0, %ctaid.x;\n  mov.u32 %t1, %laneid;\n  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n"
             f"  mad.wide.u32 %in, %t0, {32 * size * (a + b + c + extra)}, %in;\n  mad.wide.u32 %in, %t1, {size}, %in;\n"
             f"  mad.wide.u32 %out, %t0, {32 * size * d}, %out;\n  mad.wide.u32 %out, %t1, {size}, %out;\n")
    at = 0
    for letter, count, t in (("a", a, types[1]), ("b", b, types[2]), ("c", c, types[3]), ("e", extra, "b32")):
        for i in range(count):
            text += f"  ld.global.{t} %{letter}{i}, [%in+{at * 32 * size}];\n"
            at += 1
    more = ""
    first = 1 if form.is_sparse else 0
    if form.is_sparse:
        more += f", %e0, {form.selector}"
    if form.scale:
        for i, source in enumerate((1, 2, 4, 5)):
            text += f"  cvt.u16.u32 %h{i}, %e{first + source};\n"
        more += f", %e{first}, {{%h0, %h1}}, %e{first + 3}, {{%h2, %h3}}"
    text += f"  {form.text} {operand('d', d)}, {operand('a', a)}, {operand('b', b)}, {operand('c', c)}{more};\n"
    text += "".join(f"  st.global.{types[0]} [%out+{i * 32 * size}], %d{i};\n" for i in range(d))
    return text + "  ret;\n}\n"


def write(name, made):
    by_target = {}
    for form in made:
        by_target.setdefault((form.target, form.version), []).append(form)
    with Pool() as pool:
        for (target, version), group in sorted(by_target.items()):
            stem = os.path.join(FOLDER, f"mma_{name}_{target}_{version.replace('.', '')}")
            with open(stem + ".ptx", "w") as file:
                file.write(f"// Generated by generate/all.py.\n.version {version}\n.target {target}\n.address_size 64\n\n")
                file.write("\n".join(kernel(form) for form in group))
            with open(stem + ".cases", "w") as file:
                file.write("# Generated by generate/all.py: policy seed masks digest\n")
                for form, lines in zip(group, pool.map(cases_of, group)):
                    size = 64 if form.types[0] == "f64" else 32
                    inputs = sum(form.counts[1:]) + form.is_sparse + (6 if form.scale else 0)
                    file.write(f"kernel {form.name} {inputs} {form.counts[0]} {size}\n" + "".join(line + "\n" for line in lines))


def wmma_cases(form):
    lines, inputs, outputs = wmma.cases_of(form, MODES)
    text = f"kernel {form.name} {inputs} {outputs} {form.size * 8}\n"
    return text + "".join(f"{policy} {seed} {packed(masks)} {digest:016x}\n" for policy, seed, masks, digest in lines)


def write_wmma():
    by_target = {}
    for form in wmma.all_forms():
        by_target.setdefault((form.target, form.version), []).append(form)
    with Pool() as pool:
        for (target, version), group in sorted(by_target.items()):
            stem = os.path.join(FOLDER, f"wmma_{target}_{version.replace('.', '')}")
            with open(stem + ".ptx", "w") as file:
                file.write(f"// Generated by generate/all.py.\n.version {version}\n.target {target}\n.address_size 64\n\n")
                file.write("\n".join(wmma.kernel(form) for form in group))
            with open(stem + ".cases", "w") as file:
                file.write("# Generated by generate/all.py: policy seed masks digest\n" + "".join(pool.map(wmma_cases, group)))


def wgmma_cases(form):
    return wgmma.text_of(form, MODES)


def write_wgmma():
    stem = os.path.join(FOLDER, f"wgmma_{wgmma.TARGET}_{wgmma.VERSION.replace('.', '')}")
    made = wgmma.all_forms()
    with open(stem + ".ptx", "w") as file:
        file.write(f"// Generated by generate/all.py.\n.version {wgmma.VERSION}\n.target {wgmma.TARGET}\n.address_size 64\n\n")
        file.write("\n".join(wgmma.kernel(form) for form in made))
    with Pool() as pool, open(stem + ".cases", "w") as file:
        file.write("# Generated by generate/all.py: policy seed masks digest\n" + "".join(pool.map(wgmma_cases, made)))


def write_moves():
    for target in ("sm_90", "sm_100a"):
        group = [move for move in moves.all_moves() if move.target == target]
        stem = os.path.join(FOLDER, f"moves_{target}")
        with open(stem + ".ptx", "w") as file:
            file.write(f"// Generated by generate/all.py.\n.version 8.6\n.target {target}\n.address_size 64\n\n")
            file.write("\n".join(moves.kernel(move) for move in group))
        with open(stem + ".cases", "w") as file:
            file.write("# Generated by generate/all.py: policy seed masks digest\n" + "".join(moves.text_of(move) for move in group))


if __name__ == "__main__":
    write_moves()
    write_wgmma()
    write_wmma()
    for name, function in form_list.FILES.items():
        write(name, list(function()))
