#!/usr/bin/env python3
"""speed.py PTXRUN: reverse-step in a kernel of more than a million instructions takes at most a second, and ends where it began."""
import re
import subprocess
import sys
import time
from pathlib import Path


class Session:
    def __init__(self, ptxrun):
        self.process = subprocess.Popen([ptxrun, "debug", "collatz.toml", "--schedule", "serial"], cwd=Path(__file__).parent,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def perform(self, command):
        """What it says, and after how many seconds."""
        begin = time.monotonic()
        self.process.stdin.write(command + "\nprint 12345678\n")
        self.process.stdin.flush()
        said = ""
        while "= 12345678\n" not in said:
            line = self.process.stdout.readline()
            assert line, said
            said += line
        return said, time.monotonic() - begin

    def now(self):
        return int(re.search(r"time (\d+)", self.perform("info time")[0]).group(1))


def main():
    session = Session(sys.argv[1])
    session.perform("break kernels.cu:66")
    session.perform("run")
    begin = session.now()
    assert begin > 1000000, begin
    worst = 0
    for back, on in (("reverse-stepi", "stepi"), ("reverse-step", "step"), ("reverse-next", "next"), ("reverse-stepi 3", "stepi 3")):
        said, seconds = session.perform(back)
        worst = max(worst, seconds / (3 if "3" in back else 1))
        assert session.now() < begin, said
        session.perform(on)
        assert session.now() == begin, (back, session.now(), begin)
    print("%d instructions; the slowest step back took %.3f s" % (begin, worst))
    session.process.stdin.write("quit\n")
    session.process.stdin.close()
    assert session.process.wait() == 0
    return 0 if worst <= 1 else 1


sys.exit(main())
