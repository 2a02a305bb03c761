#!/usr/bin/env python3
"""orders.py PTXRUN: kernels that race come out the same, debugged or not, under every schedule that repeats itself; and after going back and forth."""
import re
import subprocess
import sys
from pathlib import Path

MODULE = Path(__file__).resolve().parent.parent / "explore" / "bugs.ptx"
SCHEDULES = ["serial", "reverse", "oldest-first", "lockstep", "gangs:8"] + ["seed:%d" % n for n in range(8)]


def words(ptxrun, *more):
    done = subprocess.run([ptxrun, *more], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def main():
    ptxrun = str(Path(sys.argv[1]).resolve())
    kernels = re.findall(r"\.entry (\w+)", MODULE.read_text())
    kernels = [k for k in kernels if not k.startswith("fixed_")][:6]
    differing = 0
    for kernel in kernels:
        results = set()
        for schedule in SCHEDULES:
            launch = [str(MODULE), "--kernel", kernel, "--grid", "2", "--block", "32", "--schedule", schedule]
            text = words(ptxrun, "run", *launch, "--arg", "print:u32[64]", "-q", "--print-limit", "64")
            plain = re.findall(r"\d+", text[text.rfind("]: ") + 2:])
            text = words(ptxrun, "debug", *launch, "--arg", "u32[64]", "--batch", "--ex", "run", "--ex", "reverse-stepi",
                         "--ex", "print (unsigned int *) %s_param_0" % kernel, "--ex", "continue", "--ex", "x/64uw $1")
            debugged = re.findall(r"\t(\d+)", text)
            assert plain == debugged, (kernel, schedule, plain, debugged)
            results.add(tuple(plain))
        differing += len(results) > 1
    assert differing >= 3, differing # else nothing was tried
    print("%d kernels, %d of them with several results" % (len(kernels), differing))


main()
