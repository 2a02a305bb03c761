#!/usr/bin/env python3
"""readmes.py REPOSITORY: every folder with code says in a README where to start reading. The one above, where it tells of the folder, and
that of a folder of tests for what lies in it, are enough."""
import os
import sys

from sources import files, finish


def main(root):
    problems = []
    folders = {os.path.dirname(name) for name in files(root, '.h', '.cpp', '.c', '.cu', '.py', '.sh', '.def', '.ptxspec')}
    for folder in sorted(folders):
        if folder in ('', '.ci'):
            continue
        parts = folder.split('/')
        # Below a folder of tests, cases and generators belong to it.
        own = '/'.join(parts[:2]) if parts[0] == 'tests' else folder if parts[-1] not in ('spec', 'expected') else '/'.join(parts[:-1])
        above = os.path.join(root, os.path.dirname(own), 'README.md')
        isTold = os.path.dirname(own) and os.path.exists(above) and os.path.basename(own) + '/' in open(above, encoding='utf-8').read()
        if not isTold and not os.path.exists(os.path.join(root, own, 'README.md')):
            problems.append(f'{own} has no README.md')
    finish(sorted(set(problems)))


if __name__ == '__main__':
    main(sys.argv[1])
