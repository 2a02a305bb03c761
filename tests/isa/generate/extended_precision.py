"""Cases of extended-precision arithmetic, PTX ISA 9.7.2. A carry made by one add.cc goes in; addc makes the one that comes out visible.
A borrow is made by sub.cc and seen by subc: how CC.CF holds it is another matter (mixed_carry.vec, by hand)."""
from casefile import CaseFile, integers, wrap
from exact import random_source

TYPES = ["u32", "s32", "u64", "s64"]


def width(t):
    return int(t[1:])



def run(op, t, a, b, c, carry):
    """(result, carry out) of the operation on a, b (and c)."""
    n = width(t)
    mask = (1 << n) - 1
    kind = op.split(".")[0]
    if kind in ("mad", "madc"):
        product = a * b
        part = (product >> n if ".hi" in op else product) & mask
        total = part + (c & mask) + carry
        return total & mask, total >> n
    if kind in ("add", "addc"):
        total = (a & mask) + (b & mask) + carry
        return total & mask, total >> n
    total = (a & mask) - (b & mask) - carry
    return total & mask, int(total < 0)


def cases(out, op, rng):
    t = op.split(".")[-1]
    kind, writes = op.split(".")[0], ".cc" in op
    takes = kind in ("addc", "subc", "madc")
    operands = 3 if kind.startswith("mad") else 2
    out.signature(f"{' '.join([t] * operands)} u32 -> {t} u32")
    arguments = ", ".join(f"$a{i}" for i in range(operands))
    subtracts = kind in ("sub", "subc")
    carry_in = f"sub.cc.u32 $d1, 0, $a{operands}; " if subtracts else f"add.cc.u32 $d1, $a{operands}, -1; "
    carry_out = "subc.u32 $d1, 0, 0; neg.s32 $d1, $d1;" if subtracts else "addc.u32 $d1, 0, 0;"
    before = carry_in if takes else ""
    after = carry_out if writes else "mov.u32 $d1, 0;"
    out.code(f"{before}{op} $d0, {arguments}; {after}")
    for _ in range(14):
        values = [rng.choice(integers(rng, t, 12)) for _ in range(operands)]
        carry = rng.getrandbits(1)
        result, left = run(op, t, *values, *([0] * (3 - operands)), carry if takes else 0)
        out.case(op, values + [carry], [wrap(result, t), left if writes else 0])


def main():
    for name, number, ops in [
        ("add_cc", 1, ["add.cc"]), ("addc", 2, ["addc", "addc.cc"]), ("sub_cc", 3, ["sub.cc"]), ("subc", 4, ["subc", "subc.cc"]),
        ("mad_cc", 5, ["mad.lo.cc", "mad.hi.cc"]), ("madc", 6, ["madc.lo", "madc.hi", "madc.lo.cc", "madc.hi.cc"])]:
        rng = random_source(name)
        word = "borrow" if name.startswith("sub") else "carry"
        out = CaseFile("extended_precision", name, f"PTX ISA 9.7.2.{number}: {name}. The last operand is the {word} in, the last result the {word} out.")
        for op in ops:
            for t in TYPES:
                cases(out, f"{op}.{t}", rng)
        out.write()


if __name__ == "__main__":
    main()
