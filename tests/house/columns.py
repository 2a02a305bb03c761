#!/usr/bin/env python3
"""columns.py REPOSITORY: lines of code have at most 150 columns (clang-format makes 100), no tabs, no blanks at their ends."""
import sys

from sources import files, finish, read

LIMIT = 150


def main(root):
    problems = []
    for name in files(root, '.h', '.cpp', '.def'):
        for number, line in enumerate(read(root, name).split('\n'), 1):
            if len(line) > LIMIT:
                problems.append(f'{name}:{number}: {len(line)} columns, more than {LIMIT}')
            if '\t' in line:
                problems.append(f'{name}:{number}: a tab')
            if line != line.rstrip():
                problems.append(f'{name}:{number}: blanks at the end')
    finish(problems)


if __name__ == '__main__':
    main(sys.argv[1])
