#!/usr/bin/env python3
"""Makes the expected results that no short expression gives, from Python's own arithmetic and hashlib. Writes .npy by hand."""
import hashlib
import os
import struct

here = os.path.dirname(os.path.abspath(__file__))


def save(name, descr, shape, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (descr, ", ".join(map(str, shape)) + ("," if len(shape) == 1 else ""))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(os.path.join(here, name), "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def f32(x):
    """Rounds to single precision: exact for one operation on singles done in doubles."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def mandelbrot(width, height, limit, left, top, step):
    counts = []
    for py in range(height):
        for px in range(width):
            cx, cy = f32(left + f32(step * px)), f32(top - f32(step * py))
            x = y = xx = yy = 0.0
            count = 0
            while count < limit and f32(xx + yy) <= 4.0:
                xy = f32(x * y)
                y = f32(f32(xy + xy) + cy)
                x = f32(f32(xx - yy) + cx)
                xx, yy = f32(x * x), f32(y * y)
                count += 1
            counts.append(count)
    save("mandelbrot.npy", "<i4", (height, width), struct.pack("<%di" % len(counts), *counts))


def sha256(n):
    messages, digests = b"", b""
    for i in range(n):
        text = (b"message number %d " % i) * 8
        text = text[:64 + i % 40]  # two blocks with its padding
        padded = text + b"\x80" + b"\0" * (-(len(text) + 9) % 64) + struct.pack(">Q", 8 * len(text))
        assert len(padded) == 128
        messages += padded
        digests += hashlib.sha256(text).digest()
    save("sha256_messages.npy", "|u1", (n, 128), messages)
    save("sha256.npy", "|u1", (n, 32), digests)


def philox(n, key0, key1):
    words = []
    for i in range(n):
        c, k0, k1 = [i, 0, 0, 0], key0, key1
        for _ in range(10):
            p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(p1 >> 32) ^ c[1] ^ k0, p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k1, p0 & 0xFFFFFFFF]
            k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
        words += c
    save("philox.npy", "<u4", (n, 4), struct.pack("<%dI" % len(words), *words))


def gridBarrier(n, steps):
    rod = [i * 7919 % 100000 for i in range(n)]
    for _ in range(steps):
        rod = [(rod[i - 1] + 2 * rod[i] + rod[(i + 1) % n]) // 4 for i in range(n)]
    save("grid_barrier.npy", "<u4", (n,), struct.pack("<%dI" % n, *rod))


mandelbrot(64, 48, 500, -2.0, 1.125, 0.046875)
sha256(100)
philox(100, 0x12345678, 0x9ABCDEF0)
gridBarrier(20000, 20)
