"""Cases of logic and shift instructions, PTX ISA 9.7.8, and of prmt and mov, 9.7.9."""
from casefile import CaseFile, signed, unsigned, wrap
from exact import random_source

SIZES = (16, 32, 64)


def logic():
    rng = random_source("logic")
    operations = {"and": lambda a, b, m: a & b, "or": lambda a, b, m: a | b, "xor": lambda a, b, m: a ^ b}
    for number, (op, compute) in enumerate(operations.items(), 1):
        out = CaseFile("logic_shift", op, f"PTX ISA 9.7.8.{number}: {op}")
        out.signature("pred pred -> pred")
        for a in (0, 1):
            for b in (0, 1):
                out.case(f"{op}.pred", [truth(a), truth(b)], [truth(compute(a, b, 1))])
        for n in SIZES:
            out.signature(f"b{n} b{n} -> b{n}")
            for _ in range(8):
                a, b = rng.getrandbits(n), rng.getrandbits(n)
                out.case(f"{op}.b{n}", [hex(a), hex(b)], [hex(compute(a, b, 1))])
        out.write()
    out = CaseFile("logic_shift", "not", "PTX ISA 9.7.8.4: not")
    out.signature("pred -> pred")
    for a in (0, 1):
        out.case("not.pred", [truth(a)], [truth(1 - a)])
    for n in SIZES:
        out.signature(f"b{n} -> b{n}")
        for a in [0, (1 << n) - 1] + [rng.getrandbits(n) for _ in range(5)]:
            out.case(f"not.b{n}", [hex(a)], [hex(a ^ ((1 << n) - 1))])
    out.write()
    out = CaseFile("logic_shift", "cnot", "PTX ISA 9.7.8.5: cnot")
    for n in SIZES:
        out.signature(f"b{n} -> b{n}")
        for a in [0, 1, 1 << (n - 1), (1 << n) - 1, rng.getrandbits(n)]:
            out.case(f"cnot.b{n}", [hex(a)], [int(a == 0)])
    out.write()


def truth(value):
    return "true" if value else "false"


def lop3():
    rng = random_source("lop3")
    out = CaseFile("logic_shift", "lop3", "PTX ISA 9.7.8.6: lop3. Tables from the manual's examples and at random.")
    tables = [0x00, 0x80, 0x40, 0xFE, 0xFF, 0x1A, 0xF0, 0xCC, 0xAA, 0x96, 0xE8, 0xCA, 0x3F, 0x6C] + rng.sample(range(256), 10)
    out.signature("b32 b32 b32 imm -> b32")
    for table in tables:
        for _ in range(2):
            a, b, c = (rng.getrandbits(32) for _ in range(3))
            out.case("lop3.b32", [hex(a), hex(b), hex(c), table], [hex(look_up(table, a, b, c))])
    for boolean in ("or", "and"):
        for negated in ("", "!"):
            out.signature(f"b32 b32 b32 imm {negated}pred -> b32|pred")
            for table in (0x3F, 0x00, 0x80):
                for q in (0, 1):
                    for a in (0, rng.getrandbits(32)):
                        b, c = rng.getrandbits(32), rng.getrandbits(32) & a
                        d = look_up(table, a, b, c)
                        given = q ^ (negated == "!")
                        p = (d != 0 or given) if boolean == "or" else (d != 0 and given)
                        out.case(f"lop3.{boolean}.b32", [hex(a), hex(b), hex(c), table, truth(q)], [hex(d), truth(p)])
    out.write()


def look_up(table, a, b, c):
    return sum((table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i for i in range(32))


def shifts():
    rng = random_source("shifts")
    amounts = [0, 1, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 0x7FFFFFFF, 0xFFFFFFFF]
    out = CaseFile("logic_shift", "shl", "PTX ISA 9.7.8.8: shl")
    for n in SIZES:
        out.signature(f"b{n} u32 -> b{n}")
        for amount in amounts:
            a = rng.getrandbits(n)
            out.case(f"shl.b{n}", [hex(a), amount], [hex(unsigned(a << min(amount, n), n))])
    out.write()
    out = CaseFile("logic_shift", "shr", "PTX ISA 9.7.8.9: shr")
    for kind in "bus":
        for n in SIZES:
            t = f"{kind}{n}"
            out.signature(f"{t} u32 -> {t}")
            for amount in amounts:
                a = signed(rng.getrandbits(n), n) if kind == "s" else rng.getrandbits(n)
                out.case(f"shr.{t}", [a, amount], [a >> min(amount, n)])
    out.write()
    out = CaseFile("logic_shift", "shf", "PTX ISA 9.7.8.7: shf")
    for direction in "lr":
        for mode in ("clamp", "wrap"):
            out.signature("b32 b32 u32 -> b32")
            for amount in amounts:
                a, b = rng.getrandbits(32), rng.getrandbits(32)
                n = min(amount, 32) if mode == "clamp" else amount & 31
                both = b << 32 | a
                d = unsigned(both << n >> 32, 32) if direction == "l" else unsigned(both >> n, 32)
                out.case(f"shf.{direction}.{mode}.b32", [hex(a), hex(b), amount], [hex(d)])
    out.write()


MODES = {  # sources of bytes 3, 2, 1, 0 by c[1:0], the manual's table
    "f4e": ["3210", "4321", "5432", "6543"], "b4e": ["5670", "6701", "7012", "0123"], "rc8": ["0000", "1111", "2222", "3333"],
    "ecl": ["3210", "3211", "3222", "3333"], "ecr": ["0000", "1110", "2210", "3210"], "rc16": ["1010", "3232", "1010", "3232"]}


def prmt():
    rng = random_source("prmt")
    out = CaseFile("data_movement", "prmt", "PTX ISA 9.7.9.7: prmt")
    out.signature("b32 b32 b32 -> b32")
    for _ in range(24):
        a, b, c = (rng.getrandbits(32) for _ in range(3))
        data = [(b << 32 | a) >> (8 * i) & 255 for i in range(8)]
        picks = [c >> (4 * i) & 15 for i in range(4)]
        result = [(255 if data[p & 7] & 128 else 0) if p & 8 else data[p & 7] for p in picks]
        out.case("prmt.b32", [hex(a), hex(b), hex(c)], [hex(int.from_bytes(bytes(result), "little"))])
    for mode, rows in MODES.items():
        out.signature("b32 b32 b32 -> b32")
        for c in [0, 1, 2, 3, 0xFFFFFFFC, 0x12345679]:
            a, b = rng.getrandbits(32), rng.getrandbits(32)
            data = [(b << 32 | a) >> (8 * i) & 255 for i in range(8)]
            result = [data[int(x)] for x in reversed(rows[c & 3])]
            out.case(f"prmt.b32.{mode}", [hex(a), hex(b), hex(c)], [hex(int.from_bytes(bytes(result), "little"))])
    out.write()


def mov():
    rng = random_source("mov")
    out = CaseFile("data_movement", "mov", "PTX ISA 9.7.9.3: mov")
    for t in ["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"]:
        out.signature(f"{t} -> {t}")
        for _ in range(4):
            a = wrap(rng.getrandbits(64), t)
            out.case(f"mov.{t}", [a], [a])
    for t, digits in (("f32", 8), ("f64", 16)):
        out.signature(f"{t} -> {t}")
        for bits in (0x7FF0000000000001, 0x3FF0000000000000, 0x8000000000000000, 0x123456789ABCDEF):
            word = f"0{'f' if t == 'f32' else 'd'}{bits >> (64 - 4 * digits):0{digits}X}"
            out.case(f"mov.{t}", [word], [word])
    out.signature("pred -> pred")
    out.case("mov.pred", ["true"], ["true"])
    out.case("mov.pred", ["false"], ["false"])
    out.write()
    out = CaseFile("data_movement", "mov_vector", "PTX ISA 9.7.9.4: mov between scalars and vectors", "9.0 sm_90")
    for total, part in [(16, 8), (32, 8), (32, 16), (64, 16), (64, 32), (128, 32), (128, 64)]:
        count = total // part
        vector = "{" + " ".join([f"b{part}"] * count) + "}"
        for packing in (True, False):
            out.signature(f"{vector} -> b{total}; registers" if packing else f"b{total} -> {vector}; registers")
            for _ in range(4):
                whole = rng.getrandbits(total)
                parts = "{" + ", ".join(hex(whole >> (i * part) & ((1 << part) - 1)) for i in range(count)) + "}"
                word = f"0x{whole:0{total // 4}x}"
                out.case(f"mov.b{total}", [parts if packing else word], [word if packing else parts])
    out.write()


def main():
    logic()
    lop3()
    shifts()
    prmt()
    mov()


if __name__ == "__main__":
    main()
