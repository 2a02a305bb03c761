"""Tests of tests/sync with modifiers that must change nothing of their results: policies, .tile (the mode where none is written),
.cta_group of the CTA's own barrier, multicast to the one CTA there is, generic addresses or global memory in place of shared memory."""
import itertools
import os
import re

from kernels import save

SYNC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../sync")
POLICY = "0x12F0000000000000"  # as createpolicy makes it: evict_last for all of it


def hinted(name, operands):
    if ".L2::cache_hint" in name or ".cp_mask" in name or "shared::cluster.shared::cta" in name:
        return name, operands
    return name + ".L2::cache_hint", f"{operands}, {POLICY}"


def otherTile(name, operands):
    if ".tensor." not in name or "im2col" in name or "tile::" in name or "prefetch" in name:
        return name, operands
    return (name.replace(".tile", ""), operands) if ".tile" in name else (name + ".tile", operands)


def grouped(number):
    def change(name, operands):
        isLoad = ".tensor." in name and "mbarrier" in name and "cta_group" not in name
        return (f"{name}.cta_group::{number}", operands) if isLoad else (name, operands)
    return change


def multicast(name, operands):
    isPossible = ".tensor." in name and "shared::cluster.global" in name and "multicast" not in name
    return (name + ".multicast::cluster", operands + ", 1") if isPossible else (name, operands)


def copies(*changes):
    """Each asynchronous bulk copy under the changes, first to last."""
    def line(text):
        match = re.match(r"(\s*(?:@\S+ )?)(cp\.(?:reduce\.)?async\.bulk\.[\w.:]+) (\[.*);(.*)", text, re.S)
        if not match or "group" in match[2].split(".")[3]:
            return text
        name, operands = match[2], match[3]
        for change in changes:
            name, operands = change(name, operands)
        return f"{match[1]}{name} {operands};{match[4]}"
    return line


def replacements(where):
    """tensormap.replace of a map that lies elsewhere: by its generic address, or of a copy of it, which is copied back."""
    numbers = itertools.count()

    def line(text):
        match = re.match(r"(\s*)tensormap\.replace\.tile\.(\w+)\.(shared::cta|global)\.b1024\.(b\d+) \[(%\w+)\](.*)", text, re.S)
        if not match:
            return text
        blank, field, space, kind, address, rest = match.groups()
        fromSpace = "shared" if space == "shared::cta" else "global"
        if where == "generic":
            start = f"cvt.u64.u32 %else, {address}; cvta.shared.u64 %else, %else;" if fromSpace == "shared" else f"mov.b64 %else, {address};"
            return f"{blank}{{ .reg .b64 %else; {start} tensormap.replace.tile.{field}.b1024.{kind} [%else]{rest.rstrip()} }}\n"
        toSpace, variable = ("global", "elsewhere") if fromSpace == "shared" else ("shared", "near")
        name, register = ("global", ".b64") if toSpace == "global" else ("shared::cta", ".b32")
        next(numbers)
        code = [f"{{ .reg {register} %else; .reg .b64 %word;", f"mov{register} %else, {variable};"]
        code += [f"ld.{fromSpace}.b64 %word, [{address}+{i}]; st.{toSpace}.b64 [%else+{i}], %word;" for i in range(0, 128, 8)]
        code.append(f"tensormap.replace.tile.{field}.{name}.b1024.{kind} [%else]{rest.rstrip()}")
        code += [f"ld.{toSpace}.b64 %word, [%else+{i}]; st.{fromSpace}.b64 [{address}+{i}], %word;" for i in range(0, 128, 8)]
        return "\n".join(blank + part for part in code) + " }\n"
    return line


def scopes(scope):
    return lambda text: text.replace("tensormap::generic.release.gpu.sync", f"tensormap::generic.release.{scope}.sync")


def then(*changes):
    def line(text):
        for change in changes:
            text = change(text)
        return text
    return line


TENSORS = ["tensor_tile", "tensor_im2col", "tensor_im2col_w", "tensor_gather"]
VARIANTS = [(name, "policy", copies(hinted)) for name in TENSORS + ["tensor_reduce", "tensor_cluster", "bulk_copy", "bulk_reduce", "cache_hints"]]
VARIANTS += [(name, "group1", copies(otherTile, grouped(1))) for name in TENSORS]
VARIANTS += [(name, "group2", copies(grouped(2), multicast)) for name in TENSORS]
VARIANTS += [(name, "multicast", copies(otherTile, multicast, hinted)) for name in TENSORS]
VARIANTS += [("tensormap", "generic", then(replacements("generic"), scopes("cta"))),
             ("tensormap", "copied", then(replacements("other"), scopes("cluster"))), ("tensormap", "system", scopes("sys"))]


def write(folder):
    for name, suffix, change in VARIANTS:
        with open(os.path.join(SYNC, name + ".ptx")) as file:
            lines = file.readlines()
        with open(os.path.join(SYNC, name + ".toml")) as file:
            description = file.read()
        text = "".join(map(change, lines))
        if suffix not in ("generic", "copied", "system"):
            text = re.sub(r"\.target sm_90\n", ".target sm_100a\n", re.sub(r"\.version 8\.[67]", ".version 8.8", text))
        else:
            variables = ".global .align 128 .b8 elsewhere[128];\n.shared .align 128 .b8 near[128];\n"
            text = text.replace(".address_size 64\n", ".address_size 64\n" + variables, 1)
        save(folder, f"{name}_{suffix}.ptx", text.encode())
        save(folder, f"{name}_{suffix}.toml", description.replace(f'"{name}.ptx"', f'"{name}_{suffix}.ptx"').encode())
