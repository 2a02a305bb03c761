#!/usr/bin/env python3
"""Computes the expected buffers of tests/sync that are more than an expression says. usage: make.py"""
import struct

import os


def save(name, words):
    header = "{'descr': '<u4', 'fortran_order': False, 'shape': (%d,), }" % len(words)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".npy"), "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack("<%dI" % len(words), *words))


def words(*parts):
    data = b"".join(parts)
    return list(struct.unpack("<%dI" % (len(data) // 4), data))


def asyncStores():
    result = []
    for cta in range(2):
        for thread in range(32):
            n = 100 * (1 - cta) + thread
            row = words(
                struct.pack("<Ii", n, n + 1),
                struct.pack("<Q", n << 40),
                struct.pack("<4I", n, n + 1, n + 2, n + 3),
                struct.pack("<QQ", n, n << 40),
                struct.pack("<dd", n, n),
                struct.pack("<4f", n, n, n, 3.0),
                struct.pack("<ff", n, n),
                struct.pack("<Ii", n, -5),
                struct.pack("<f", n),
            )
            # Four bytes that nobody writes lie before the last value: they are left out of the comparison by storing zeros there.
            row += [0] + words(struct.pack("<d", n)) + [0] * 4
            result += row
    return result


def asyncReleases():
    result = []
    for n in range(64):
        result += words(
            struct.pack("<II", n, n),
            struct.pack("<Q", n << 33),
            struct.pack("<BBH", n, n, n),
            struct.pack("<f", n),
            struct.pack("<d", n),
            struct.pack("<II", 77, 0),
            struct.pack("<Q", n << 33),
            struct.pack("<4I", 0, 0, 0, 0),
        )
    return result


save("async_stores", asyncStores())
save("async_releases", asyncReleases())
