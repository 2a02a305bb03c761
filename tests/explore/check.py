#!/usr/bin/env python3
"""check.py PTXRUN bugs.ptx [FIRST LAST]: explore finds each planted bug within 200 seeds and writes a script that shows it every time;
kernels without a bug have one result. A hang (hang_...) is told as such, well before --timeout, and the script shows it."""
import os
import re
import subprocess
import sys
import tempfile
import time

PTXRUN, MODULE = sys.argv[1:3]
FOLDER = tempfile.mkdtemp(prefix="ptxrun-explore-")
failures = []


def run(command, kernel, *more):
    words = [PTXRUN, command, MODULE, "--kernel", kernel, "--grid", "2", "--block", "32", "--arg", "print:u32[64]", *more]
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


def words(result):
    return result.stdout[result.stdout.find("u32[64]:"):] + (result.stderr if result.returncode else "")


def check_hang(kernel, script, found, seconds):
    if "hang: every thread that is left spins or waits" not in found.stdout or seconds > 15:
        return "no hang is told, or not soon: %.1f s\n%s" % (seconds, found.stdout)
    if not os.path.exists(script):
        return "no script is written\n" + found.stdout
    if run("run", kernel, "--schedule", "serial", "-q").returncode != 0:
        return "it does not end under serial"
    shown = [run("run", kernel, "--schedule", "script:" + script, "-q") for _ in range(3)]
    if any(one.returncode != 1 or "hang:" not in one.stderr for one in shown) or len(set(one.stderr for one in shown)) != 1:
        return "the script does not show it every time\n" + shown[0].stderr
    return ""


def check(kernel):
    script = os.path.join(FOLDER, kernel + ".schedule")
    has_bug = not kernel.startswith("fixed_")
    begin = time.monotonic()
    found = run("explore", kernel, "--seeds", "200" if has_bug else "40", "--shrink-seconds", "5", "-o", script)
    if found.returncode != (1 if has_bug else 0):
        return "explore ends with %d\n%s%s" % (found.returncode, found.stdout, found.stderr)
    if not has_bug:
        return ""
    if kernel.startswith("hang_"):
        return check_hang(kernel, script, found, time.monotonic() - begin)
    if not os.path.exists(script):
        return "no script is written\n" + found.stdout
    if "two accesses raced" not in found.stdout and "async late" not in open(script).read():
        return "nobody is said to have raced\n" + found.stdout
    limit = ["--print-limit", "64", "-q"]
    serial = words(run("run", kernel, "--schedule", "serial", *limit))
    shown = [words(run("run", kernel, "--schedule", "script:" + script, *limit)) for _ in range(3)]
    if shown[0] == serial or len(set(shown)) != 1:
        return "the script does not show it every time\n" + serial + shown[0]
    return ""


kernels = re.findall(r"\.visible \.entry (\w+)\(", open(MODULE).read())
part, parts = (int(sys.argv[3]), int(sys.argv[4])) if len(sys.argv) > 4 else (0, 1)
for kernel in kernels[part::parts]:
    problem = check(kernel)
    print("ok     " if not problem else "FAILED ", kernel, problem)
    failures += [kernel] if problem else []
subprocess.run(["rm", "-rf", FOLDER])
sys.exit(1 if failures else 0)
