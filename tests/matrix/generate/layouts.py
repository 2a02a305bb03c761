"""Where the elements of fragments stand, from the formulas under the figures of PTX ISA 9.7.14.5 and 9.7.14.6.2. Each function
takes (lane, i): element i of the thread's fragment, and gives its row and column."""


def factor_a(m, per_register):
    def place(lane, i):
        group, in_group = lane >> 2, lane % 4
        register = i // per_register
        if m == 8:
            return group, in_group * per_register + i % per_register + register * 4 * per_register
        row = group if register % 2 == 0 else group + 8
        return row, in_group * per_register + i % per_register + register // 2 * 4 * per_register
    return place


def factor_b(per_register):
    def place(lane, i):
        return lane % 4 * per_register + i % per_register + i // per_register * 4 * per_register, lane >> 2
    return place


def accumulator(lane, i):
    return (lane >> 2) + (8 if i >= 2 else 0), lane % 4 * 2 + (i & 1)


# m8n8k4 with f16: computation q has the lanes with lane % 16 // 4 == q (9.7.14.5.1).
def quad_a(is_row):
    def place(lane, i):
        high = 0 if lane < 16 else 4
        return (lane % 4 + high, i) if is_row else (i % 4 + high, lane % 4)
    return place


def quad_b(is_row):
    def place(lane, i):
        high = 0 if lane < 16 else 4
        return (lane % 4, i + high) if is_row else (i, lane % 4 + high)
    return place


def quad_half(lane, i):
    return lane % 4 + (0 if lane < 16 else 4), i


def quad_single(lane, i):
    x = (lane & 1) + (i & 2)
    return x + (0 if lane < 16 else 4), (i & 4) + (lane & 2) + (i & 1)


def metadata_chunk(row, chunk, bits, threads, selector):
    """Lane and lowest bit of the 4 metadata bits of a chunk. bits: of an element; threads: of a group that have metadata."""
    first = 0 if threads == 4 else selector * threads
    lane = row % 8 * 4 + first
    if bits >= 16:  # T(j): chunks 4j to 4j + 3 of row g in bits 0 to 15, of row g + 8 above
        return lane + chunk // 4, chunk % 4 * 4 + (16 if row >= 8 else 0)
    return lane + chunk // 8 * 2 + (1 if row >= 8 else 0), chunk % 8 * 4
