#!/usr/bin/env python3
"""recordings.py PTXRUN PROGRAM MODULE.ptx: launches that were recorded come out the same in the debugger, also after going back and on again."""
import os
import subprocess
import sys
import tempfile

PTXRUN, PROGRAM, MODULE = sys.argv[1:4]
SCENARIOS = ["streams", "float_atomics", "slots", "race", "locks", "managed", "pools", "variables", "printing", "heap", "pointers", "boxes",
             "cooperative", "reload"]


def debug(recording, launch):
    return subprocess.run([PTXRUN, "debug", recording, "--launch", str(launch), "--batch", "--ex", "run", "--ex", "reverse-stepi", "--ex", "continue"],
                          capture_output=True, text=True, timeout=60)


def record(scenario, file):
    subprocess.run([PTXRUN, "record", "-o", file, "--", PROGRAM, MODULE, scenario], capture_output=True, timeout=60,
                   env={**os.environ, "OMP_NUM_THREADS": "2"})


def main():
    launches = 0
    with tempfile.TemporaryDirectory(prefix="ptxrun-debug-") as folder:
        for scenario in SCENARIOS:
            file = os.path.join(folder, scenario)
            record(scenario, file)
            for launch in range(3):
                done = debug(file, launch)
                if "has no launch" in done.stderr:
                    break
                launches += 1
                assert done.returncode == 0 and "other values" not in done.stdout and "failed" not in done.stdout, (scenario, launch, done)
                assert done.stdout.count("The launch has ended.") == 2, (scenario, launch, done.stdout)
        file = os.path.join(folder, "crash")
        record("crash", file)
        said = debug(file, 1).stdout
        assert "illegal address: write at 0x40" in said and "bad_address () at recorded.ptx" in said, said
    assert launches >= 30, launches
    print("%d launches" % launches)


main()
