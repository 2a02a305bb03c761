#!/usr/bin/env python3
"""Writes forms.ptx: every form of tex, tld4, txq, istypep, suld, sust, sured and suq (PTX ISA 9.7.10, 9.7.11).

Every kernel has the parameters (texture or surface, input, output): rows of 64 words, one per thread, in the input as
intrinsics/texture.h numbers them, and in the output one after the other in the order of the instructions. The tests
know from a kernel's name what it does.
"""
import re

HEAD = """.version 9.0
.target sm_90
.address_size 64
.global .texref boundTexture;
.global .surfref boundSurface;
"""

GEOMETRIES = {  # name: coordinates in the vector, in the rows' names; L layer, S sample, - padding; offsets
    "1d": ("X", 1), "2d": ("XY", 2), "3d": ("XYZ-", 3), "a1d": ("LX", 1), "a2d": ("LXY-", 2), "cube": ("XYZ-", 0),
    "acube": ("LXYZ", 0), "2dms": ("SXY-", 2), "a2dms": ("LSXY", 2)}
ROWS = {"L": 0, "X": 1, "Y": 2, "Z": 3, "S": 3, "-": 1}
DIMENSIONS = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3, "acube": 3}


class Kernel:
    def __init__(self, name):
        self.name, self.body, self.rows = name, [], 0

    def emit(self, line):
        self.body.append("  " + line)

    def store(self, register):
        self.emit(f"st.global.b32 [%out+{256 * self.rows}], {register};")
        self.rows += 1

    def text(self):
        body = "\n".join(self.body)
        loads = ""
        for r in range(12):
            for kind in "if":
                if re.search(rf"%{kind}{r}\b", body):
                    loads += f"  ld.global.b32 %{kind}{r}, [%in+{256 * r}];\n"
        return f""".visible .entry {self.name}(.param .u64 image, .param .u64 input, .param .u64 output) {{
  .reg .b64 %image, %in, %out, %at, %d<4>;
  .reg .b32 %t, %i<12>, %r<4>, %one, %zero;
  .reg .f32 %f<12>, %g<4>;
  .reg .b16 %h<4>;
  .reg .pred %p;
  ld.param.u64 %image, [image];
  ld.param.u64 %in, [input];
  ld.param.u64 %out, [output];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %at, %t, 4;
  add.s64 %in, %in, %at;
  add.s64 %out, %out, %at;
{loads}""" + body + "\n  ret;\n}\n"


def coordinates(geometry, ctype):
    letters, _ = GEOMETRIES[geometry]
    names = [("%i" if letter in "LS" or ctype == "s32" else "%f") + str(ROWS[letter]) for letter in letters]
    return "{" + ", ".join(names) + "}"


def offsets(k, geometry):
    """Unpacks the signed fields of row 10."""
    count = GEOMETRIES[geometry][1]
    for d in range(count):
        k.emit(f"bfe.s32 %r{d}, %i10, {4 * d}, 4;")
    names = [f"%r{d}" for d in range(count)] + (["%r0"] if count == 3 else [])
    return ", {" + ", ".join(names) + "}"


def level_operands(level, geometry, ctype):
    if level == "level":
        return ", " + ("%i4" if ctype == "s32" else "%f4")
    if level != "grad":
        return ""
    n = DIMENSIONS[geometry]
    def vector(row):
        names = [f"%f{row + d}" for d in range(n)]
        return ", {" + ", ".join(names + ["%f1"] * (1 if n == 3 else 0)) + "}"
    return vector(4) + vector(7)


def tex(level, geometry, ctype):
    k = Kernel(f"tex_{level or 'plain'}_{geometry}_{ctype}")
    mode = "." + level if level else ""
    c, more = coordinates(geometry, ctype), level_operands(level, geometry, ctype)
    k.emit(f"tex{mode}.{geometry}.v4.f32.{ctype} {{%g0, %g1, %g2, %g3}}, [%image, {c}]{more};")
    for e in range(4):
        k.store(f"%g{e}")
    e = offsets(k, geometry) if GEOMETRIES[geometry][1] else ""
    k.emit(f"tex{mode}.{geometry}.v4.u32.{ctype} {{%r0, %r1, %r2, %r3}}, [%image, {c}]{more}{e};")
    for e in range(4):
        k.store(f"%r{e}")
    k.emit(f"tex{mode}.{geometry}.v4.s32.{ctype} {{%r0, %r1, %r2, %r3}}|%p, [%image, {c}]{more};")
    k.emit("@!%p mov.b32 %r0, -1;")
    for e in range(4):
        k.store(f"%r{e}")
    k.emit(f"tex{mode}.{geometry}.v4.f16.{ctype} {{%h0, %h1, %h2, %h3}}, [%image, {c}]{more};")
    for e in range(4):
        k.emit(f"cvt.f32.f16 %g0, %h{e};")
        k.store("%g0")
    f = ", %f11" if ctype == "f32" and geometry != "3d" else ""
    k.emit(f"tex{mode}.{geometry}.v2.f16x2.{ctype} {{%r0, %r1}}, [%image, {c}]{more}{f};")
    for e in range(4):
        k.emit(f"mov.b32 {{%h0, %h1}}, %r{e // 2};")
        k.emit(f"cvt.f32.f16 %g0, %h{e % 2};")
        k.store("%g0")
    return k


def tld4(geometry):
    k = Kernel(f"tld4_{geometry}")
    c = coordinates(geometry, "f32")
    for i, component in enumerate("rgba"):
        e = offsets(k, geometry) if component == "g" and geometry in ("2d", "a2d") else ""
        f = ", %f11" if component == "b" else ""
        dtype = {"r": "f32", "g": "u32", "b": "f32", "a": "s32"}[component]
        registers = "{%g0, %g1, %g2, %g3}" if dtype == "f32" else "{%r0, %r1, %r2, %r3}"
        p = "|%p" if component == "a" else ""
        k.emit(f"tld4.{component}.{geometry}.v4.{dtype}.f32 {registers}{p}, [%image, {c}]{e}{f};")
        for n in range(4):
            k.store(f"%{'g' if dtype == 'f32' else 'r'}{n}")
    return k


def queries():
    k = Kernel("txq")
    for q in ("width height depth channel_data_type channel_order normalized_coords array_size num_mipmap_levels "
              "num_samples filter_mode addr_mode_0 addr_mode_1 addr_mode_2").split():
        k.emit(f"txq.{q}.b32 %r0, [%image];")
        k.store("%r0")
    for q in ("width", "height", "depth"):
        k.emit(f"txq.level.{q}.b32 %r0, [%image], %i4;")
        k.store("%r0")
    s = Kernel("suq")
    for q in "width height depth channel_data_type channel_order array_size memory_layout".split():
        s.emit(f"suq.{q}.b32 %r0, [%image];")
        s.store("%r0")
    t = Kernel("istypep")
    t.emit("mov.u64 %d0, boundTexture;")
    t.emit("mov.u64 %d1, boundSurface;")
    t.emit("mov.u64 %d2, 12345678;")
    for kind in ("texref", "samplerref", "surfref"):
        for source in ("%image", "%d0", "%d1", "%d2", "%in"):
            t.emit(f"istypep.{kind} %p, {source};")
            t.emit("selp.b32 %r0, 1, 0, %p;")
            t.store("%r0")
    return [k, s, t]


def surface_coordinates(geometry):
    return {"1d": "{%i1}", "2d": "{%i1, %i2}", "3d": "{%i1, %i2, %i3, %i3}", "a1d": "{%i0, %i1}",
            "a2d": "{%i0, %i1, %i2, %i2}"}[geometry]


SHAPES = [("", "b8"), ("v2", "b8"), ("v4", "b8"), ("", "b16"), ("v2", "b16"), ("v4", "b16"), ("", "b32"), ("v2", "b32"),
          ("v4", "b32"), ("", "b64"), ("v2", "b64")]


def registers(vector, type_):
    n = int(vector[1]) if vector else 1
    kind = {"b8": "%h", "b16": "%h", "b32": "%r", "b64": "%d"}[type_]
    names = [f"{kind}{i}" for i in range(n)]
    return names, ("{" + ", ".join(names) + "}" if vector else names[0])


def words(k, names, type_):
    """Stores loaded values, 32 bits a row."""
    for name in names:
        if type_ == "b64":
            k.emit(f"mov.b64 {{%one, %zero}}, {name};")
            k.store("%one")
            k.store("%zero")
        elif type_ == "b32":
            k.store(name)
        else:
            k.emit(f"cvt.u32.u16 %one, {name};")
            k.store("%one")


def take(k, names, type_):
    """Fills the registers that are stored to the surface from rows 4 on."""
    row = 4
    for name in names:
        if type_ == "b64":
            k.emit(f"mov.b64 {name}, {{%i{row}, %i{row + 1}}};")
            row += 2
        else:
            k.emit(f"mov.b32 {name}, %i{row};" if type_ == "b32" else f"cvt.u16.u32 {name}, %i{row};")
            row += 1


def surfaces():
    made = []
    operators = {"suld": ["", ".ca", ".cg", ".cs", ".cv"], "sust": ["", ".wb", ".cg", ".cs", ".wt"]}
    n = 0
    for geometry in ("1d", "2d", "3d", "a1d", "a2d"):
        c = surface_coordinates(geometry)
        for clamp in ("trap", "clamp", "zero"):
            k = Kernel(f"suld_{geometry}_{clamp}")
            for vector, type_ in SHAPES:
                names, operand = registers(vector, type_)
                v = "." + vector if vector else ""
                k.emit(f"suld.b.{geometry}{operators['suld'][n % 5]}{v}.{type_}.{clamp} {operand}, [%image, {c}];")
                n += 1
                words(k, names, type_)
            made.append(k)
            for vector, type_ in SHAPES:
                names, operand = registers(vector, type_)
                v = "." + vector if vector else ""
                k = Kernel(f"sust_{geometry}_{clamp}_{type_}_{vector or 'v1'}")
                take(k, names, type_)
                k.emit(f"sust.b.{geometry}{operators['sust'][n % 5]}{v}.{type_}.{clamp} [%image, {c}], {operand};")
                n += 1
                made.append(k)
            if geometry in ("1d", "2d", "3d"):
                for vector in ("", "v2", "v4"):
                    names, operand = registers(vector, "b32")
                    k = Kernel(f"sustp_{geometry}_{clamp}_{vector or 'v1'}")
                    take(k, names, "b32")
                    k.emit(f"sust.p.{geometry}{'.' + vector if vector else ''}.b32.{clamp} [%image, {c}], {operand};")
                    made.append(k)
    return made


def reductions():
    made = []
    forms = [("b", "add", t) for t in ("u32", "s32", "u64")] + \
            [("b", op, t) for op in ("min", "max") for t in ("u32", "s32", "u64", "s64")] + \
            [("b", op, "b32") for op in ("and", "or")] + [("p", op, "b32") for op in ("add", "min", "max", "and", "or")] + \
            [("p", op, "b64") for op in ("min", "max")]
    turns = [(*form, ("trap", "clamp", "zero")[i % 3]) for i, form in enumerate(forms)]
    turns += [("b", "or", "b32", "clamp"), ("p", "min", "b64", "zero")]  # what the turns leave out
    for geometry in ("1d", "2d", "3d"):
        for mode, op, type_, clamp in turns:
            k = Kernel(f"sured{mode}_{geometry}_{op}_{type_}_{clamp}")
            wide = type_.endswith("64")
            take(k, ["%d0" if wide else "%r0"], "b64" if wide else "b32")
            k.emit(f"sured.{mode}.{op}.{geometry}.{type_}.{clamp} [%image, {surface_coordinates(geometry)}], "
                   f"{'%d0' if wide else '%r0'};")
            made.append(k)
    return made


def main():
    made = []
    for geometry in GEOMETRIES:
        isSamples = geometry.endswith("ms")
        for ctype in ["s32"] if isSamples else ["f32"] if "cube" in geometry else ["f32", "s32"]:
            for level in ["", "base"] if isSamples else ["", "base", "level", "grad"]:
                made.append(tex(level, geometry, ctype))
    made += [tld4(g) for g in ("2d", "a2d", "cube", "acube")] + queries() + surfaces() + reductions()
    with open("forms.ptx", "w") as file:
        file.write("// Written by generate.py.\n" + HEAD + "".join(k.text() for k in made))


main()
