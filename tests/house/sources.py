"""The source files of the repository: what git tracks, or, without git, what lies in the folders."""
import os
import subprocess
import sys

FLOORS = ('intrinsics', 'translate', 'rt', 'loader', 'samples', 'tests')


def files(root, *endings):
    """Paths relative to `root`, of those that end so (all without endings)."""
    try:
        listed = subprocess.run(['git', '-C', root, 'ls-files', '-co', '--exclude-standard'], capture_output=True, text=True, check=True)
        names = listed.stdout.split('\n')
    except (OSError, subprocess.CalledProcessError):
        names = [os.path.relpath(os.path.join(folder, name), root)
                 for floor in FLOORS for folder, _, inside in os.walk(os.path.join(root, floor)) for name in inside]
    return sorted(name for name in names if name and name.endswith(endings or '') and os.path.isfile(os.path.join(root, name)))


def read(root, name):
    with open(os.path.join(root, name), encoding='utf-8', errors='replace') as file:
        return file.read()


def finish(problems):
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)
