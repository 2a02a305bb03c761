"""Inputs of a case, made from its seed by both sides (matrix_test.cpp has the same), and the digest of what comes out."""

M64 = (1 << 64) - 1
ORDERED = (0x4, 0x8, 0x9, 0xc, 0xd, 0xe)  # two ascending indices out of four
PAIRED = (0x4, 0xe)


def mixed(seed, register, lane):
    x = (seed + (register * 32 + lane + 1) * 0x9E3779B97F4A7C15) & M64
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & M64
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & M64
    return x ^ x >> 31


def word(mask, seed, register, lane):
    """mask: "AND/OR" in hexadecimal, "ordered" or "paired" metadata."""
    x = mixed(seed, register, lane)
    if mask in ("ordered", "paired"):
        table = ORDERED if mask == "ordered" else PAIRED
        return sum(table[(x >> 4 * i & 15) % len(table)] << 4 * i for i in range(8))
    keep, put = (int(t, 16) for t in mask.split("/"))
    return x & keep | put


def digest(words, size):
    h = 0xcbf29ce484222325
    for w in words:
        for i in range(size):
            h = ((h ^ (w >> 8 * i & 0xff)) * 0x100000001b3) & M64
    return h
