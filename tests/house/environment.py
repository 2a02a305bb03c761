#!/usr/bin/env python3
"""environment.py REPOSITORY: loader/ptxrun/environment.def names exactly the variables that the sources read."""
import re
import sys

from sources import files, finish, read

TABLE = 'loader/ptxrun/environment.def'
# Read by libraries under us, or by name from a list that the sources pass on.
NOT_IN_OURS = {'OMP_NUM_THREADS'}
# Read, and of no use to say: where the loader and the home folder are.
NOT_TOLD = {'HOME', 'LD_LIBRARY_PATH', 'LD_AUDIT', 'PATH', 'TMPDIR'}


def main(root):
    table = re.findall(r'^ENVIRONMENT\(\w+, "(\w+)"', read(root, TABLE), re.M)
    used = {}
    for name in files(root, '.h', '.cpp', '.c'):
        if name.split('/')[0] not in ('intrinsics', 'translate', 'rt', 'loader'):
            continue
        text = re.sub(r'^\s*//.*$', '', read(root, name), flags=re.M)
        for match in re.finditer(r'"(PTXRUN_[A-Z_]+[A-Z])"', text):
            used.setdefault(match.group(1), name)
        for match in re.finditer(r'getenv\("(\w+)"\)', text):
            used.setdefault(match.group(1), name)
        for match in re.finditer(r'"((?:CUDA|XDG)_[A-Z_]+)"', text):
            if match.group(1) in table:
                used.setdefault(match.group(1), name)
    for name in files(root):
        if name.startswith('loader/') and name.split('/')[-2] == 'bin':
            for match in re.finditer(r'\$\{(PTXRUN_[A-Z_]+)', read(root, name)):
                used.setdefault(match.group(1), name)
    problems = [f'{used[name]} reads {name}, which {TABLE} does not name' for name in used if name not in table and name not in NOT_TOLD]
    problems += [f'{TABLE}: nobody reads {name}' for name in table if name not in used and name not in NOT_IN_OURS]
    problems += [f'{TABLE}: {name} stands there twice' for name in set(table) if table.count(name) > 1]
    finish(sorted(problems))


if __name__ == '__main__':
    main(sys.argv[1])
