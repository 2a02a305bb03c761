#!/usr/bin/env python3
"""The long test of types that no device was asked about: dot products under --matrix=exact against the model, as many as wanted.

usage: vectors.py PTXRUN [--random N] [--adversarial N] [--jobs N] [TYPE...]

Of each type N dot products (10^6) of all patterns, and N (10^5) of the other masks of all.py: like exponents, one exponent, zeros and subnormals.
Prints a line for each type; ends with 1 where a bit differs.
"""
import argparse
import array
import functools
import os
import subprocess
import sys
import tempfile
from multiprocessing import Pool

import all as generator
import cases
import form_list
import forms
from forms import BITS

FORMS = {  # the file of form_list, and what the instruction's name must have
    "s8": ("integer", "m16n8k32.row.col.s32.s8.s8"), "u8": ("integer", "m16n8k32.row.col.s32.u8.u8"), "s8, u8": ("integer", "m16n8k32.row.col.s32.s8.u8"),
    "s8 satfinite": ("integer", "m16n8k32.row.col.satfinite.s32.s8.s8"), "s4": ("integer", "m16n8k64.row.col.s32.s4.s4"),
    "u4": ("integer", "m16n8k64.row.col.s32.u4.u4"), "b1 xor": ("integer", "m16n8k256.row.col.s32.b1.b1.s32.xor"),
    "b1 and": ("integer", "m16n8k256.row.col.s32.b1.b1.s32.and"), "f64": ("float", "m16n8k4.row.col.f64"),
    "e3m2": ("float", "kind::f8f6f4.f32.e3m2.e3m2"), "e2m3": ("float", "kind::f8f6f4.f32.e2m3.e2m3"), "e2m1": ("float", "kind::f8f6f4.f32.e2m1.e2m1"),
    "mxf8f6f4": ("scaled", "kind::mxf8f6f4.block_scale.f32.e4m3.e5m2"), "mxf8f6f4 e3m2": ("scaled", "kind::mxf8f6f4.block_scale.f32.e3m2.e3m2"),
    "mxf8f6f4 e2m3": ("scaled", "kind::mxf8f6f4.block_scale.f32.e2m3.e2m3"), "mxf4": ("scaled", "kind::mxf4.block_scale.f32"),
    "mxf4nvf4": ("scaled", "kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3")}
PER_LAUNCH = 500


@functools.cache
def formOf(type_):
    file, name = FORMS[type_]
    return next(form for form in form_list.FILES[file]() if name in form.text)


def made(work):
    """Inputs and results of a case, as 32-bit words."""
    type_, mode, seed = work
    form = formOf(type_)
    masks = generator.masks_of(form, mode, seed)
    inputs = [[cases.word(mask, seed, r, lane) for lane in range(32)] for r, mask in enumerate(masks)]
    out = forms.multiply(form, form.policies[-1], inputs)
    size = 8 if form.types[0] == "f64" else 4
    packed = lambda registers: b"".join(w.to_bytes(size, "little") for register in registers for w in register)
    return packed([[w & (1 << 8 * size) - 1 for w in register] for register in inputs]), packed(out)


def npy(path, content):
    header = "{'descr': '<u4', 'fortran_order': False, 'shape': (%d,), }" % (len(content) // 4)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + array.array("H", [len(header)]).tobytes() + header.encode() + content)


def areSame(ptxrun, form, results, folder):
    inputs, outputs = (b"".join(r[i] for r in results) for i in (0, 1))
    npy(folder + "/in.npy", inputs)
    npy(folder + "/expected.npy", outputs)
    with open(folder + "/vectors.ptx", "w") as file:
        file.write(f".version {form.version}\n.target {form.target}\n.address_size 64\n\n{generator.kernel(form)}")
    with open(folder + "/vectors.toml", "w") as file:
        file.write(f'module = "vectors.ptx"\n[buffers]\nin = "in.npy"\nout = "u32[{len(outputs) // 4}]"\n[[launch]]\nkernel = "{form.name}"\n'
                   f'grid = {len(results)}\nblock = 32\narguments = ["in", "out"]\n[[expect]]\nbuffer = "out"\nfile = "expected.npy"\n')
    return subprocess.run([ptxrun, "run", folder + "/vectors.toml", "--matrix", "exact", "--quiet"]).returncode == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ptxrun")
    parser.add_argument("--random", type=int, default=10**6)
    parser.add_argument("--adversarial", type=int, default=10**5)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("types", nargs="*", default=list(FORMS))
    options = parser.parse_args()
    isRight = True
    with tempfile.TemporaryDirectory() as folder, Pool(options.jobs) as pool:
        for type_ in options.types or list(FORMS):
            form = formOf(type_)
            dots = form.shape[0] * form.shape[1]
            modes = (0,) if BITS[form.types[1]] == 1 else (1, 2, 3)
            work = [(type_, 0, seed) for seed in range(-(-options.random // dots))]
            work += [(type_, modes[i % len(modes)], 2**32 + i) for i in range(-(-options.adversarial // dots))]
            same = True
            for first in range(0, len(work), PER_LAUNCH):
                same &= areSame(options.ptxrun, form, pool.map(made, work[first:first + PER_LAUNCH], 20), folder)
            print(f"{type_}: {len(work) * dots} dot products of {form.products()}: {'all bits' if same else 'DIFFERENT'}", flush=True)
            isRight &= same
    sys.exit(not isRight)


if __name__ == "__main__":
    main()
