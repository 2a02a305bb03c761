#!/usr/bin/env python3
"""Fails when the figures that ship (translate/isa/coverage.txt) claim more than the records of this run saw.

usage: check_table.py PTXRUN ALL_RECORDS RECORD...

ALL_RECORDS becomes all records in one file. To bring the table up to date:
    build/bin/ptxrun isa --record=build/coverage.record --table > translate/isa/coverage.txt
"""
import json
import pathlib
import subprocess
import sys


def main():
    ptxrun, together = sys.argv[1], pathlib.Path(sys.argv[2])
    lines = set()
    for name in sys.argv[3:]:
        lines |= set(pathlib.Path(name).read_text().splitlines(keepends=True))
    together.write_text("".join(sorted(lines)))
    print(subprocess.run([ptxrun, "isa", f"--record={together}"], check=True, capture_output=True, text=True).stdout)
    shipped, seen = claims(ptxrun), claims(ptxrun, f"--record={together}")
    for claim in sorted(shipped - seen):
        print("claimed, but not seen in this run:", *claim)
    if seen - shipped:
        print(f"seen in this run, but not in the table: {len(seen - shipped)} forms and values")
    if shipped - seen:
        sys.exit("translate/isa/coverage.txt is not what this run saw")


def claims(ptxrun, *options):
    """(place in the table, form, set, value, status) of all that is executed or tested."""
    text = subprocess.run([ptxrun, "isa", "--json", *options], check=True, capture_output=True, text=True).stdout
    found = set()
    for number, form in enumerate(json.loads(text)):
        name = f"{form['section']} {form['form']}"
        found |= {(number, name, "", "", stage) for stage in ("executed", "tested") if form[stage]}
        for values in form["modifiersTested"]:
            found |= {(number, name, values["set"], value or "left out", "tested") for value in values["tested"]}
    return found


if __name__ == "__main__":
    main()
