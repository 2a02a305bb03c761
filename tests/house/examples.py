#!/usr/bin/env python3
"""examples.py REPOSITORY BIN: runs the marked commands of the READMEs; see README.md here."""
import os
import re
import subprocess
import sys
import tempfile

from sources import files, finish, read

MARK = re.compile(r'^<!-- run(?:: (\d+))? -->\n\n?((?:    .*\n|\n(?=    ))+)', re.M)


def matches(expected, printed):
    """`...` stands for anything, over lines too; blanks at line ends do not count."""
    parts = [re.escape(part) for part in '\n'.join(line.rstrip() for line in expected).split('...')]
    return re.fullmatch('.*'.join(parts) + r'\s*', '\n'.join(line.rstrip() for line in printed.split('\n')), re.S) is not None


def commands(block):
    """(command, lines it must print) of an indented block."""
    found = []
    for line in block.rstrip('\n').split('\n'):
        line = line[4:]
        if line.startswith('$ '):
            # A comment behind the command is for readers.
            found.append((re.sub(r'\s{2,}# .*$', '', line[2:]), []))
        elif found and found[-1][0].endswith('\\'):
            found[-1] = (found[-1][0][:-1] + line.strip(), [])
        elif found:
            found[-1][1].append(line)
    return found


def main(root, folder):
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as home:
        environment = dict(os.environ, PATH=folder + ':' + os.environ['PATH'], PTXRUN_CACHE=os.path.join(home, 'cache'))
        for name in files(root, '.md'):
            for number, match in enumerate(MARK.finditer(read(root, name))):
                scratch = os.path.join(home, f'{count}-{number}')
                os.makedirs(scratch)
                listed = commands(match.group(2))
                for index, (command, expected) in enumerate(listed):
                    count += 1
                    done = subprocess.run(['bash', '-c', command], cwd=root, env=dict(environment, scratch=scratch),
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
                    status = int(match.group(1) or 0) if index == len(listed) - 1 else 0
                    if done.returncode != status:
                        problems.append(f'{name}: $ {command}\nended with {done.returncode}, not {status}:\n{done.stdout}')
                    elif expected and not matches(expected, done.stdout):
                        problems.append(f'{name}: $ {command}\nprints\n{done.stdout}\nand not\n' + '\n'.join(expected))
    if not count:
        problems.append('no README has a marked example')
    print(f'{count} commands')
    finish(problems)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2])
