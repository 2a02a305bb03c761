#!/usr/bin/env python3
"""summary.py PTXRUN SUMMARY_PROGRAM: what a process says of itself at its end, however it ends, and where it says it."""
import os
import re
import subprocess
import sys
import tempfile

ENDS = {"return": 3, "exit": 4, "terminate": 5, "closed": 6}
LAUNCHES = 4 * 500 + 2  # and those of the process's last moments


def run(words, code, **environment):
    clean = {name: value for name, value in os.environ.items() if name != "PTXRUN_SUMMARY"}
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env={**clean, **environment})
    assert done.returncode == code, (words, done)
    return done.stderr


def check(page):
    launched = re.search(r"^ +(\d+) .* store$", page, re.M)
    assert launched and int(launched[1]) == LAUNCHES, page
    for count, amount, what in ((3, "3.0 MiB", "host to device"), (1, "512.0 KiB", "device to host"),
                                (1, "256 B", "device to device"), (1, "1.0 MiB", "fill")):
        assert re.search(rf"^ +{count} +{amount} .*  {what}$", page, re.M), (what, page)
    assert "modules loaded: 1 in " in page and re.search(r"memory: at most 1\.\d MiB", page), page
    assert re.search(r"^ +\d+  exact +st\{\.weak\}", page, re.M) and " unsupported\n" in page, page
    assert page.count("ptxrun: summary of ") == 1, page


def main():
    ptxrun, program = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory(prefix="ptxrun-summary-") as folder:
        file = os.path.join(folder, "page")
        for end, code in ENDS.items():
            check(run([ptxrun, "exec", "--summary", program, end], code))
            check(run([program, end], code, PTXRUN_SUMMARY="1"))
            run([ptxrun, "exec", "--summary=" + file, program, end], code)
            check(open(file).read())
        run([program, "return"], 3, PTXRUN_SUMMARY=os.path.join(folder, "of-%p"))
        numbered = [name for name in os.listdir(folder) if re.fullmatch(r"of-\d+", name)]
        assert len(numbered) == 1, os.listdir(folder)
        check(open(os.path.join(folder, numbered[0])).read())
        for off in ("", "0"):
            assert run([program, "return"], 3, PTXRUN_SUMMARY=off) == ""
        nowhere = os.path.join(folder, "missing", "page")
        assert "there will be no summary" in run([program, "return"], 3, PTXRUN_SUMMARY=nowhere)


main()
