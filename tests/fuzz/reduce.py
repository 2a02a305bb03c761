#!/usr/bin/env python3
"""Makes an input smaller that makes a command fail, as long as it fails in the same way.

    reduce.py FILE [--output FILE] [--match TEXT] [--timeout SECONDS] -- COMMAND ...

COMMAND is run with {} replaced by a file. The same way: the same exit status (or signal, or no end within the time), and, with
--match, TEXT in what it prints. Of PTX, first lines go, then instructions, then operands' characters; of other files, bytes.
What is left is written over FILE, or to --output.
"""
import argparse
import re
import subprocess
import sys
import tempfile


class Failure:
    def __init__(self, command, match, timeout):
        self.command, self.match, self.timeout = command, match, timeout
        self.file = tempfile.NamedTemporaryFile(suffix=".ptx")
        self.expected = None
        self.tries = 0

    def run(self, contents):
        self.tries += 1
        with open(self.file.name, "wb") as file:
            file.write(contents)
        command = [word.replace("{}", self.file.name) for word in self.command]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=self.timeout)
        except subprocess.TimeoutExpired as expired:
            return "no end", expired.output or b""
        return done.returncode, done.stdout

    def is_same(self, contents):
        status, output = self.run(contents)
        return status == self.expected and (not self.match or self.match.encode() in output)


def without_pieces(pieces, is_same):
    """The pieces that the failure needs: halves are left out first, then quarters, down to single ones."""
    size = max(1, len(pieces) // 2)
    while True:
        at, has_changed = 0, False
        while at < len(pieces):
            fewer = pieces[:at] + pieces[at + size:]
            if fewer and is_same(b"".join(fewer)):
                pieces, has_changed = fewer, True
            else:
                at += size
        if size == 1 and not has_changed:
            return pieces
        size = max(1, size // 2)


def reduced(contents, is_same):
    is_text = b"\0" not in contents and all(byte < 128 for byte in contents)
    steps = [rb"[^\n]*\n|[^\n]+", rb"[^;{}\n]*[;{}\n]|[^;{}\n]+", rb"[\w.%$]+|\s+|[^\w.%$\s]"] if is_text else []
    if not is_text or len(contents) < 512:
        steps.append(rb"(?s:.)")
    while True:
        before = contents
        for step in steps:
            contents = b"".join(without_pieces(re.findall(step, contents), is_same))
        if contents == before:
            return contents


def main():
    if "--" not in sys.argv:
        sys.exit(__doc__)
    split = sys.argv.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--output")
    parser.add_argument("--match", default="")
    parser.add_argument("--timeout", type=float, default=20)
    given = parser.parse_args(sys.argv[1:split])
    with open(given.file, "rb") as file:
        contents = file.read()
    failure = Failure(sys.argv[split + 1:], given.match, given.timeout)
    failure.expected, output = failure.run(contents)
    if failure.expected == 0 or (given.match and given.match.encode() not in output):
        sys.exit(f"reduce.py: {given.file} does not fail that way (exit status {failure.expected})")
    small = reduced(contents, failure.is_same)
    with open(given.output or given.file, "wb") as file:
        file.write(small)
    print(f"{given.file}: {len(contents)} bytes, {len(small)} of them needed ({failure.tries} runs)")


main()
