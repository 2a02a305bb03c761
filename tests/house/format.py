#!/usr/bin/env python3
"""format.py REPOSITORY [--update]: C++ files are as clang-format makes them, but for those in unformatted.txt, a list that shrinks."""
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from sources import files, finish

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'unformatted.txt')


def main(root, isUpdate):
    tool = next((name for name in ('clang-format-14', 'clang-format') if shutil.which(name)), None)
    if not tool or 'version 14' not in subprocess.run([tool, '--version'], capture_output=True, text=True).stdout:
        print('clang-format 14 is not installed')
        sys.exit(77)
    names = files(root, '.h', '.cpp')

    def isFormatted(name):
        return subprocess.run([tool, '--dry-run', '-Werror', name], cwd=root, capture_output=True).returncode == 0

    with ThreadPoolExecutor(2) as pool:
        unformatted = [name for name, isGood in zip(names, pool.map(isFormatted, names)) if not isGood]
    if isUpdate:
        with open(LIST, 'w', encoding='utf-8') as file:
            file.write(''.join(name + '\n' for name in unformatted))
        return
    with open(LIST, encoding='utf-8') as file:
        known = set(file.read().split())
    finish([f'{name}: run clang-format -i (.clang-format)' for name in unformatted if name not in known])


if __name__ == '__main__':
    main(sys.argv[1], '--update' in sys.argv)
