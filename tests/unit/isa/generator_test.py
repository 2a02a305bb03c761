#!/usr/bin/env python3
"""The generator's own rules: each faulty table must be refused with the message that says why."""
import os
import subprocess
import sys
import tempfile

CASES = [
    ("two instructions that accept the same", "accepts what",
     "== 1.1 add\nadd.u32 d, a, b; | lane lowerX\n== 1.2 plus\nadd.u32 d, a, b; | lane lowerY\n"),
    ("the same up to optional modifiers", "accepts what",
     "== 1.1 add\nadd{.sat}.u32 d, a, b; | lane lowerX\n== 1.2 plus\nadd.t d, a, b; | lane lowerY\n  .t = { .u32, .u64 }\n"),
    ("an unknown attribute", "unknown attribute", "== 1.1 add\nadd.u32 d, a, b; | lane lowerX frobnicate\n"),
    ("no effect", "needs an effect", "== 1.1 add\nadd.u32 d, a, b; | lowerX\n"),
    ("an operand without a type", "needs a type", "== 1.1 add\nadd d, a, b; | lane lowerX\n"),
    ("a condition on a modifier that is not there", "no modifier", "== 1.1 add\nadd.u32 d{, a:u32 if .hint}; | lane lowerX\n"),
    ("a line that is no form", "expected: notation", "== 1.1 add\nadd.u32 d, a, b\n"),
]
FINE = "== 1.1 add\nadd.u32 d, a, b; | lane lowerX\n== 1.2 add\nadd.f32 d, a, b; | lane lowerY\n"


def run(folder, spec):
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "01_test.ptxspec")
        with open(path, "w") as file:
            file.write(spec)
        done = subprocess.run([sys.executable, "-B", os.path.join(folder, "generate.py"), place, path],
                              capture_output=True, text=True)
        return done.returncode, done.stderr


failures = 0
for name, message, spec in CASES:
    code, text = run(sys.argv[1], spec)
    if code == 0 or message not in text:
        failures += 1
        print(f"{name}: expected '{message}', got {code}: {text}")
code, text = run(sys.argv[1], FINE)
if code != 0:
    failures += 1
    print(f"a table without fault was refused: {text}")
sys.exit(1 if failures else 0)
