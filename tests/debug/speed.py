#!/usr/bin/env python3
"""speed.py PTXRUN: reverse-step in a kernel of more than a million instructions takes at most a second, and ends where it began."""
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path


class Session:
    def __init__(self, ptxrun, *what, order="serial"):
        self.process = subprocess.Popen([ptxrun, "debug", *what, "--schedule", order], cwd=Path(__file__).parent,
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


    def end(self):
        self.process.stdin.write("quit\n")
        self.process.stdin.close()
        assert self.process.wait() == 0


def back_and_forth(ptxrun):
    """The slowest step back; every one is undone by one forwards."""
    session = Session(ptxrun, "collatz.toml")
    session.perform("break kernels.cu:66")
    session.perform("run")
    begin = session.now()
    assert begin > 1000000, begin
    worst = 0
    for back, on, count in (("reverse-stepi", "stepi", 1), ("reverse-step", "step", 1), ("reverse-next", "next", 1), ("reverse-stepi 3", "stepi 3", 3)):
        said, seconds = session.perform(back)
        worst = max(worst, seconds / count)
        assert session.now() < begin, said
        session.perform(on)
        assert session.now() == begin, (back, session.now(), begin)
    session.end()
    print("%d instructions; the slowest step back took %.3f s" % (begin, worst))
    return worst


def checkpoints(ptxrun):
    """Many blocks: a step back goes on from a checkpoint, and finds what was there."""
    session = Session(ptxrun, "kernels_debug.ptx", "-k", "_Z7collatzPy", "-g", "24", "-b", "1", "--arg", "u64[32]")
    session.perform("break kernels.cu:66 if blockIdx.x == 23")
    _, whole = session.perform("run")
    end = session.now()
    assert end > 40000000, end
    said, back = session.perform("reverse-stepi")
    assert back < whole, (back, whole)
    said, _ = session.perform("last-write 0x200000210e00")
    assert "Written by block (22,0,0), thread (0,0,0)" in said, said
    session.perform("goto-time 1000")
    assert "= 0\n" in session.perform("print *(unsigned long *) 0x200000210e00")[0]
    session.perform("goto-time %d" % end)
    assert session.now() == end
    assert "= 111000\n" in session.perform("print *(unsigned long *) 0x200000210e00")[0]
    session.end()
    print("%d instructions in %.3f s, a step back in %.3f s" % (end, whole, back))


def long_block(ptxrun):
    """One block of tens of millions of instructions: steps back from its end, each from a checkpoint within it, and many stops."""
    session = Session(ptxrun, "kernels_debug.ptx", "-k", "_Z7collatzPy", "-g", "1", "-b", "32", "--arg", "u64[32]", order="gangs:32")
    session.perform("break kernels.cu:66 if threadIdx.x == 31")
    _, whole = session.perform("run")
    end = session.now()
    assert end > 15000000, end
    first, *others = [session.perform("reverse-stepi")[1] for _ in range(10)]
    session.perform("break kernels.cu:61")
    stops = [session.perform("reverse-continue") for _ in range(100)]
    assert all("Breakpoint 2" in said for said, _ in stops), stops[-1]
    seconds = sorted(seconds for _, seconds in stops)
    session.end()
    print("%d instructions of one block in %.3f s, a step back in %.3f s, others %.3f s; 100 stops back in %.3f s"
          % (end, whole, first, max(others), sum(seconds)))
    assert sorted(others)[4] < whole / 2 and seconds[50] < whole / 4, (whole, first, others, seconds)


def interrupted(ptxrun):
    """Ctrl-C stops a kernel that runs long, and it can be walked through from there."""
    session = Session(ptxrun, "kernels_debug.ptx", "-k", "_Z7collatzPy", "-g", "100000", "-b", "64", "--arg", "u64[64]")
    session.perform("info launches")
    threading.Timer(0.5, lambda: session.process.send_signal(signal.SIGINT)).start()
    said, _ = session.perform("run")
    assert "Interrupted." in said, said
    begin = session.now()
    session.perform("reverse-stepi")
    assert session.now() == begin - 1, (session.now(), begin)
    session.end()


def main():
    interrupted(sys.argv[1])
    worst = back_and_forth(sys.argv[1])
    checkpoints(sys.argv[1])
    long_block(sys.argv[1])
    return 0 if worst <= 1 else 1


sys.exit(main())
