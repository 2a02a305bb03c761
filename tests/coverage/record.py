#!/usr/bin/env python3
"""Runs a test with the record of forms on (loader/device/form_record.h) and keeps the record if the test passes.

usage: record.py RECORD COMMAND...                                       one program that compares all it computes
       record.py RECORD --descriptions PTXRUN FOLDER... -- OPTION...   ptxrun run of each launch description
       record.py RECORD --generated PTXRUN GENERATOR -- OPTION...      the same with what GENERATOR writes into a folder

What was executed counts as tested: these tests compare results. Descriptions without `expect` are left out.
"""
import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    record = pathlib.Path(sys.argv[1])
    record.parent.mkdir(parents=True, exist_ok=True)
    record.unlink(missing_ok=True)
    lines, failed = set(), []
    with tempfile.TemporaryDirectory() as folder:
        for command in commandsOf(sys.argv[2:], folder):
            status, found = run(command)
            if status == 0:
                lines |= found
            else:
                failed.append(f"exit code {status}: {' '.join(command)}")
    if failed:
        sys.exit("\n".join(failed))
    record.write_text("".join(sorted(lines)))


def commandsOf(words, folder):
    if not words[0].startswith("--"):
        return [words]
    ptxrun, end = words[1], words.index("--")
    folders = words[2:end]
    if words[0] == "--generated":
        subprocess.run([sys.executable, "-B", words[2], folder], check=True)
        folders = [folder]
    files = [file for path in folders for file in sorted(pathlib.Path(path).glob("*.toml"))]
    options = ["--no-cache", "--quiet", "--timeout", "60"] + words[end + 1:]
    return [[ptxrun, "run", str(file)] + options for file in files if "expect" in file.read_text()]


def run(command):
    """Exit status and the lines of the record, `executed` replaced by `tested`."""
    with tempfile.NamedTemporaryFile(mode="r", suffix=".record") as file:
        status = subprocess.run(command, env=dict(os.environ, PTXRUN_FORM_RECORD=file.name)).returncode
        return status, {line.replace("executed\t", "tested\t", 1) for line in file}


if __name__ == "__main__":
    main()
