"""`python -m ptxrun WORDS...` is `ptxrun WORDS...`."""

import os
import sys

from ptxrun import command


def main():
    os.execv(command(), ["ptxrun", *sys.argv[1:]])


if __name__ == "__main__":
    main()
