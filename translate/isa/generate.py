#!/usr/bin/env python3
"""Turns translate/isa/spec/*.ptxspec into the constant tables of the isa library (see README.md for the notation).

usage: generate.py OUTPUT_FOLDER SPEC...
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import spec_ambiguity
import spec_parser
import spec_writer


def main():
    folder, paths = sys.argv[1], sorted(sys.argv[2:])
    try:
        table = spec_parser.readTable(paths)
        spec_ambiguity.check(table)
    except spec_parser.SpecError as error:
        sys.exit(f"{error.path}:{error.line}: error: {error.message}")
    spec_writer.write(table, folder)


if __name__ == "__main__":
    main()
