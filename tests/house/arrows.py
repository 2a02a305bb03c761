#!/usr/bin/env python3
"""arrows.py REPOSITORY: who may include whom. A folder reads those that stand in its line, and no others.

The floors: intrinsics is the ground; translate and rt stand on it side by side; loader joins them. Within translate and rt, a line names
folders of lines above it only, so there is no circle.
"""
import os
import re
import sys

from sources import files, finish, read

ARROWS = {
    'intrinsics/lane': '',
    'intrinsics/matrix': 'intrinsics/lane intrinsics',
    'intrinsics': 'intrinsics/matrix',
    'translate/support': 'intrinsics/matrix',
    'translate/isa': '',
    'translate/syntax': 'translate/support',
    'translate/check': 'translate/isa translate/support translate/syntax',
    'translate/lower': 'intrinsics intrinsics/matrix translate/check translate/isa translate/support',
    'translate/observe': 'intrinsics translate/check translate/lower',
    'translate/simt': 'intrinsics intrinsics/matrix translate/lower translate/support',
    'translate/jit': 'intrinsics translate/lower translate/simt',
    'translate': 'intrinsics/matrix translate/check translate/jit translate/lower translate/observe translate/simt '
                 'translate/support translate/syntax',
    'rt/atomics': 'intrinsics',
    'rt/memory': 'intrinsics',
    'rt/launch': 'intrinsics rt/memory',
    'rt/observe': 'intrinsics rt/launch',
    'rt/tensor': 'intrinsics intrinsics/matrix rt/launch rt/observe',
    'rt/sync': 'intrinsics intrinsics/matrix rt/atomics rt/launch rt/memory rt/observe rt/tensor',
    'rt/texture': 'intrinsics rt/atomics rt/launch',
    'rt/exec': 'intrinsics rt/launch rt/memory rt/observe rt/sync rt/tensor',
}
# Words of the floors: nothing below loader includes loader, intrinsics includes nothing of translate and rt, and so on.
FLOORS = {'intrinsics': ('intrinsics',), 'translate': ('intrinsics', 'translate'), 'rt': ('intrinsics', 'rt'),
          'loader': ('intrinsics', 'translate', 'rt', 'loader')}


def included(root):
    """(file, its folder, the folder of what it includes) for each include of ours."""
    for name in files(root, '.h', '.cpp', '.c', '.def'):
        folder = os.path.dirname(name)
        if folder.split('/')[0] not in FLOORS:
            continue
        for match in re.finditer(r'^\s*#\s*include "([^"]+)"', read(root, name), re.M):
            target = os.path.dirname(match.group(1))
            if target and target != folder:
                yield name, folder, target


def main(root):
    problems = []
    for name, folder, target in included(root):
        if target.split('/')[0] not in FLOORS[folder.split('/')[0]]:
            problems.append(f'{name}: {folder} includes {target}: an arrow up')
        if folder not in ARROWS:
            if folder.split('/')[0] != 'loader':
                problems.append(f'{name}: {folder} has no line in ARROWS')
            continue
        if target not in ARROWS[folder].split():
            problems.append(f'{name}: {folder} includes {target}, which its line does not name')
    # No circle in the lines themselves.
    done = set()

    def visit(folder, path):
        if folder in path:
            problems.append('a circle: ' + ' -> '.join(path[path.index(folder):] + [folder]))
        elif folder not in done:
            for target in ARROWS.get(folder, '').split():
                if (folder, target) != ('intrinsics/matrix', 'intrinsics'):
                    visit(target, path + [folder])
            done.add(folder)

    for folder in ARROWS:
        visit(folder, [])
    finish(sorted(set(problems)))


if __name__ == '__main__':
    main(sys.argv[1])
