#!/usr/bin/env python3
"""inspect_programs.py PTXRUN FOLDER: what `ptxrun inspect` says of the programs that nvcc built there."""
import json
import os
import shutil
import subprocess
import sys
import tempfile


def inspect(ptxrun, program, code):
    text = subprocess.run([ptxrun, "inspect", program], capture_output=True, text=True, timeout=300)
    assert text.returncode == code, (program, text)
    full = subprocess.run([ptxrun, "inspect", "--json", program], capture_output=True, text=True, timeout=300)
    assert full.returncode == code, (program, full)
    found = json.loads(full.stdout)
    assert found["runs"] is (code == 0) and found["howToRun"] in text.stdout, (found["howToRun"], text.stdout)
    return found


def kernels(found):
    return {kernel["kernel"] for kernel in found["kernels"]}


def main():
    ptxrun, folder = sys.argv[1], sys.argv[2]
    wanted = {"_Z5scaleIfEvPT_i", "_Z8sumBlockPKiPi", "_Z9useStruct3BigPd"}
    static = os.path.join(folder, "runtime_program_static")
    found = inspect(ptxrun, static, 0)
    assert found["kind"] == "executable" and found["runtime"] == "static" and kernels(found) == wanted, found
    assert found["howToRun"] == "ptxrun exec " + static and not found["machineCodeOnly"], found
    entries = [entry for one in found["fatBinaries"] for entry in one["entries"]]
    assert any(entry["kind"] == "PTX" and entry["architecture"] == "compute_75" for entry in entries), entries

    shared = inspect(ptxrun, os.path.join(folder, "runtime_program_shared"), 0)
    assert shared["runtime"] == "shared" and shared["runtimeLibrary"].startswith("libcudart.so."), shared
    assert "LD_LIBRARY_PATH=" in shared["howToRun"] and kernels(shared) == wanted, shared

    # Kernels that launch kernels, in objects that were linked (-rdc=true).
    children = inspect(ptxrun, os.path.join(folder, "child_program_static"), 0)
    assert any(one["isOfObject"] for one in children["fatBinaries"]) and len(children["kernels"]) > 1, children

    code = inspect(ptxrun, os.path.join(folder, "runtime_program_machine_code"), 1)
    assert set(code["machineCodeOnly"]) == wanted and not code["kernels"], code
    assert "-gencode=arch=compute_80,code=compute_80" in code["howToRun"], code

    if shutil.which("strip"):
        with tempfile.TemporaryDirectory(prefix="ptxrun-inspect-") as scratch:
            stripped = shutil.copy(static, os.path.join(scratch, "stripped"))
            subprocess.run(["strip", stripped], check=True)
            found = inspect(ptxrun, stripped, 1)
            assert found["runtime"] == "static, stripped" and "-cudart shared" in found["howToRun"], found


main()
