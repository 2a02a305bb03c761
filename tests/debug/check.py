#!/usr/bin/env python3
"""check.py PTXRUN SESSION [--update]: performs a session of `ptxrun debug` and compares what it says with SESSION's .expected.

Lines of a session: `#$ WORDS` runs ptxrun with these words first, `#! WORDS` are those of ptxrun debug, `#= N` its exit status (0);
other lines are commands on its standard input. {tmp} is a folder for files. Addresses that differ between runs (of the host: 0x7f...) become HOST."""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def perform(ptxrun, session, folder):
    arguments, status, commands, said = [], 0, [], ""
    for line in session.read_text().splitlines():
        line = line.replace("{tmp}", folder)
        if line.startswith("#$ "):
            subprocess.run([ptxrun, *line[3:].split()], cwd=session.parent, check=True, stdout=subprocess.DEVNULL, timeout=60)
        elif line.startswith("#! "):
            arguments += line[3:].split()
        elif line.startswith("#= "):
            status = int(line[3:])
        else:
            commands.append(line + "\n")
    done = subprocess.run([ptxrun, "debug", *arguments], cwd=session.parent, input="".join(commands), capture_output=True, text=True,
                          timeout=120)
    said = done.stdout + done.stderr
    if done.returncode != status:
        said += "exit status %d, expected %d\n" % (done.returncode, status)
    said = re.sub(r"0x7[ef][0-9a-f]{10}", "HOST", said)
    return said.replace(folder, "TMP")


def main():
    ptxrun, session = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    expected = session.with_suffix(".expected")
    folder = tempfile.mkdtemp(prefix="ptxrun-debug-")
    try:
        said = perform(str(ptxrun), session, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if "--update" in sys.argv:
        expected.write_text(said)
        return 0
    wanted = expected.read_text()
    if said == wanted:
        return 0
    for number, (a, b) in enumerate(zip(said.splitlines() + [""], wanted.splitlines() + [""]), 1):
        if a != b:
            print("%s:%d\n  says:     %s\n  expected: %s" % (expected.name, number, a, b))
            break
    print(said)
    return 1


sys.exit(main())
