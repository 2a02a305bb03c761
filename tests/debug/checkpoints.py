#!/usr/bin/env python3
"""checkpoints.py PTXRUN FOLDER: sessions say the same whether a step back executes again from the beginning or from a checkpoint a few
instructions before. Kernels of FOLDER (tests/sync) wait in all the ways there are; times, orders and addresses are drawn."""
import random
import re
import subprocess
import sys
from pathlib import Path

PTXRUN, FOLDER = sys.argv[1], Path(sys.argv[2])
DESCRIPTIONS = ["barriers", "barrier_reductions", "warp_barrier", "shuffles", "votes", "mbarrier_wait", "mbarrier_copies", "async_copy", "bulk_copy",
                "cluster_barrier", "cluster_memory", "locks", "launch_control", "waiting_lanes", "tensor_tile"]
ORDERS = ["gangs:8", "gangs:32", "lockstep", "oldest-first", "reverse", "seed:4", "seed:5", "serial"]


def session(what, order, spacing, commands):
    words = [PTXRUN, "debug", *what, "--schedule", order, "--checkpoint-every", str(spacing)]
    done = subprocess.run(words, input="\n".join(commands) + "\n", capture_output=True, text=True, timeout=300, cwd=Path(__file__).parent)
    # Addresses of the host differ between runs.
    return re.sub(r"0x(7[ef]|5[56])[0-9a-f]{10}|\b(1[34]\d{13}|9[34]\d{12})\b", "HOST", done.stdout + done.stderr)


def commands(draw, end, address):
    at = lambda: "goto-time %d" % draw.randrange(end)
    look = ["info time", "backtrace", "info registers", "info cuda threads", "info cuda barriers", "x/8x " + address]
    lines = [at(), *look, "stepi 3", "reverse-stepi 2", *look, "last-write " + address, *look, "last-write " + address, "info time"]
    for _ in range(4):
        lines += [at(), "reverse-step", "info time", "reverse-next", *look, "step", "next", "info time", "reverse-finish", "info time"]
    lines += [at(), "watch *(unsigned *) " + address, "reverse-continue", *look, "reverse-continue", "info time", "continue", "info time"]
    return lines


def check(what, order, draw):
    found = re.findall(r"time (\d+)", session(what, order, 10**12, ["run", "info time", "reverse-stepi", "info time"]))
    end = int(found[-1]) if found else 0
    if end < 10:
        return "does not run under %s: %s" % (order, found)
    lines = commands(draw, end, "0x%x" % (0x200000000000 + 0x200000 * draw.randrange(2) + 4 * draw.randrange(16)))
    plain = session(what, order, 10**12, lines)
    spacing = max(end // draw.choice([7, 40, 150]), 3)
    kept = session(what, order, spacing, lines)
    if plain == kept:
        return ""
    first = next(i for i, (a, b) in enumerate(zip((plain + "$").splitlines(), (kept + "$").splitlines())) if a != b)
    return "order %s, a checkpoint every %d instructions of %d, line %d:\n  %s\n  %s\n%s" % (
        order, spacing, end, first, plain.splitlines()[first:first + 1], kept.splitlines()[first:first + 1], "; ".join(lines))


failures = 0
draw = random.Random(5)
cases = [([str(FOLDER / (name + ".toml")), "--launch", "0"], draw.choice(ORDERS)) for name in DESCRIPTIONS]
cases += [([str(FOLDER / (name + ".toml")), "--launch", "0"], "serial") for name in ("barriers", "mbarrier_wait", "locks")]
cases += [([str(FOLDER.parent / "tensor" / (name + ".toml")), "--launch", "0"], order)
          for name, order in (("tcgen05_moves", "gangs:32"), ("wgmma", "serial"))]
cases += [(["tiles.toml"], order) for order in ORDERS]
for what, order in cases:
    problem = check(what, order, draw)
    print("FAILED" if problem else "ok    ", Path(what[0]).stem, order, problem)
    failures += bool(problem)
sys.exit(1 if failures else 0)
