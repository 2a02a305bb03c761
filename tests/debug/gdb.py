# gdb with PTXRUN_GDB: breakpoints at lines of PTX, frames of kernels below ours, of PTX in a file and of PTX that a program
# loads from memory.
# Usage: gdb.py SOURCE:LINE TEXT-OF-THAT-LINE SAID-AT-THE-END PROGRAM ARGUMENTS...; ends with 77 where there is no gdb, or it may not trace.
import os
import re
import shutil
import subprocess
import sys
import tempfile

place, text, end, *program = sys.argv[1:]
if not shutil.which("gdb"):
    print("skipped: no gdb here")
    sys.exit(77)
commands = ["set breakpoint pending on", "set pagination off", "set width 0", f"break {place}", "run", "backtrace 4", "delete", "continue"]
words = ["gdb", "-nx", "-q", "-batch"] + [w for c in commands for w in ("-ex", c)] + ["--args"] + program
with tempfile.TemporaryDirectory() as folder:
    environment = dict(os.environ, PTXRUN_GDB=folder, PTXRUN_CACHE="off", OMP_NUM_THREADS="1")
    for _ in range(3):
        ran = subprocess.run(words, capture_output=True, text=True, timeout=100, env=environment)
        if "Couldn't get registers: No such process" not in ran.stderr:
            break # else gdb itself lost the program between the ends of its threads
if "ptrace" in ran.stderr and "not permitted" in ran.stderr:
    print("skipped: gdb may not trace here")
    sys.exit(77)
for expected in (rf"hit Breakpoint 1\S*, \S+ \(\) at \S*{place}", text, rf"#0  \S+ \(\) at \S*{place}",
                 r"#[123]  .*(cta_range|gang).* at ", end, "exited normally"):
    if not re.search(expected, ran.stdout):
        sys.exit(f"not said: {expected}\n{ran.stdout}\n{ran.stderr}")
print("gdb shows the kernel's lines")
