#!/usr/bin/env python3
"""rr.py PTXRUN SAMPLE.toml: rr records a run and replays it to the same output, on two threads.

Ends with 77 where there is no rr, or it cannot record: it needs the processor's performance counters, which virtual machines
seldom offer, and leave of the kernel (perf_event_paranoid)."""
import os
import shutil
import subprocess
import sys
import tempfile

ptxrun, sample = sys.argv[1:]


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, timeout=200, **more)


def main(folder):
    if not shutil.which("rr"):
        return "skipped: no rr here"
    environment = dict(os.environ, _RR_TRACE_DIR=folder, PTXRUN_CACHE="off", OMP_NUM_THREADS="2")
    trial = run("rr", "record", "-o", os.path.join(folder, "trial"), "true", env=environment)
    if trial.returncode:
        return "skipped: rr cannot record here: " + " ".join((trial.stderr or trial.stdout).split())[:300]
    trace = os.path.join(folder, "run")
    plain = run(ptxrun, "run", sample)
    recorded = run("rr", "record", "-o", trace, ptxrun, "run", sample, env=environment)
    assert recorded.returncode == plain.returncode == 0, recorded.stderr
    replayed = run("rr", "replay", "-a", trace, env=environment)
    assert replayed.returncode == 0 and replayed.stdout == recorded.stdout, replayed.stderr
    return ""


with tempfile.TemporaryDirectory(prefix="ptxrun-rr-") as place:
    reason = main(place)
print(reason or "rr replays what it recorded")
sys.exit(77 if reason else 0)
