#!/usr/bin/env python3
"""Writes kernels and launch descriptions in which every value of every modifier of some instructions is executed.

usage: all.py FOLDER
"""
import sys

sys.dont_write_bytecode = True
import atomics
import kernels
import loads_stores
import messages
import moves
import multimem
import tcgen05_collectors
import tensor_reductions
import variants
import wgmma_shapes


def main():
    data = kernels.Data()
    for family in (atomics, loads_stores, messages, moves, multimem):
        kernels.write(sys.argv[1], family.__name__, family.cells(data), data)
    for family in (tcgen05_collectors, tensor_reductions, variants, wgmma_shapes):
        family.write(sys.argv[1])


if __name__ == "__main__":
    main()
