#!/usr/bin/env python3
"""Writes a text file as C++ string literals, one a line: quote_lines.py OUTPUT_FILE INPUT_FILE."""
import json
import sys

with open(sys.argv[2], encoding="utf-8") as source, open(sys.argv[1], "w") as target:
    target.write("".join(json.dumps(line.rstrip("\n")) + ",\n" for line in source))
