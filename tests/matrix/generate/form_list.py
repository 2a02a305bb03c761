"""All forms of mma and mma.sp, with every choice of types."""
from itertools import product

from forms import Form

EIGHT, FOUR = ("s8", "u8"), ("s4", "u4")
FP8, NARROW = ("e4m3", "e5m2"), ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")
ALL = ("fast", "sm_70", "sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120")
FROM80 = ("fast", "sm_80", "sm_90", "sm_120")
FROM89 = ("fast", "sm_89", "sm_90", "sm_100", "sm_120")
LAST = ("fast", "sm_120")


def shape_text(shape):
    return "m%dn%dk%d" % shape


def dense(shape, types, counts, target, version, policies, **more):
    text = f"mma.sync.aligned.{shape_text(shape)}.row.col." + ".".join(types)
    return Form(text, target, version, shape, types, counts, policies=policies, **more)


def half_forms():
    for (d, c), a, b in product([("f32", "f32"), ("f16", "f16"), ("f32", "f16"), ("f16", "f32")], ("row", "col"), ("row", "col")):
        if (d, c) == ("f16", "f32"):
            continue  # ptxas has no f16 results of f32 accumulators here
        types = (d, "f16", "f16", c)
        count = {"f32": 8, "f16": 4}
        yield Form(f"mma.sync.aligned.m8n8k4.{a}.{b}." + ".".join(types), "sm_75", "6.4", (8, 8, 4), types,
                   (count[d], 2, 2, count[c]), (a, b), policies=("fast", "sm_70", "sm_75", "sm_80"))
    for t, n in (("f32", 4), ("f16", 2)):
        types = (t, "f16", "f16", t)
        yield dense((16, 8, 8), types, (n, 2, 1, n), "sm_80", "7.0", ALL)
        yield dense((16, 8, 16), types, (n, 4, 2, n), "sm_80", "7.0", ALL)


def other_float_forms():
    for t, shape, a, b in (("tf32", (16, 8, 4), 2, 1), ("tf32", (16, 8, 8), 4, 2), ("bf16", (16, 8, 8), 2, 1),
                           ("bf16", (16, 8, 16), 4, 2)):
        yield dense(shape, ("f32", t, t, "f32"), (4, a, b, 4), "sm_80", "7.0", FROM80)
    for a, b, (d, n), k in product(FP8, FP8, (("f32", 4), ("f16", 2)), (16, 32)):
        yield dense((16, 8, k), (d, a, b, d), (n, k // 8, k // 16, n), "sm_89", "8.7", FROM89)
    for a, b, (d, n) in product(NARROW, NARROW, (("f32", 4), ("f16", 2))):
        text = f"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.{d}.{a}.{b}.{d}"
        yield Form(text, "sm_120a", "8.7", (16, 8, 32), (d, a, b, d), (n, 4, 2, n), policies=LAST)
    for (k, d, n), (a, b) in product(((16, "f32", 4), (16, "f16", 2), (32, "f32", 4), (32, "f16", 2)), (("e4m3", "e5m2"), ("e5m2", "e4m3"))):
        text = f"mma.sync.aligned.m16n8k{k}.row.col.kind::f8f6f4.{d}.{a}.{b}.{d}"
        yield Form(text, "sm_100a", "8.7", (16, 8, k), (d, a, b, d), (n, k // 8, k // 16, n), policies=("fast", "sm_100"))
    for shape, counts in (((8, 8, 4), (2, 1, 1, 2)), ((16, 8, 4), (4, 2, 1, 4)), ((16, 8, 8), (4, 4, 2, 4)), ((16, 8, 16), (4, 8, 4, 4))):
        yield dense(shape, ("f64",) * 4, counts, "sm_90", "7.8", ("fast",))


def integer_forms():
    for types8, shapes in ((EIGHT, {(8, 8, 16): (2, 1, 1, 2), (16, 8, 16): (4, 2, 1, 4), (16, 8, 32): (4, 4, 2, 4)}),
                           (FOUR, {(8, 8, 32): (2, 1, 1, 2), (16, 8, 32): (4, 2, 1, 4), (16, 8, 64): (4, 4, 2, 4)})):
        for (shape, counts), a, b, sat in product(shapes.items(), types8, types8, (False, True)):
            text = f"mma.sync.aligned.{shape_text(shape)}.row.col{'.satfinite' * sat}.s32.{a}.{b}.s32"
            yield Form(text, "sm_80", "7.0", shape, ("s32", a, b, "s32"), counts, satfinite=sat)
    for shape, counts in (((8, 8, 128), (2, 1, 1, 2)), ((16, 8, 128), (4, 2, 1, 4)), ((16, 8, 256), (4, 4, 2, 4))):
        for operation in ("xor", "and"):
            text = f"mma.sync.aligned.{shape_text(shape)}.row.col.s32.b1.b1.s32.{operation}.popc"
            yield Form(text, "sm_80", "7.1", shape, ("s32", "b1", "b1", "s32"), counts, bit_operation=operation)


def scaled_forms():
    for a, b in product(NARROW, NARROW):
        for vec in ("", ".scale_vec::1X") if a == b else ("",):
            yield Form(f"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale{vec}.f32.{a}.{b}.f32.ue8m0", "sm_120a", "8.7",
                       (16, 8, 32), ("f32", a, b, "f32"), (4, 4, 2, 4), scale=("ue8m0", 1), policies=LAST)
    for kind, vec, n, scale, version in four_bit_kinds():
        yield Form(f"mma.sync.aligned.m16n8k64.row.col.{kind}.block_scale{vec}.f32.e2m1.e2m1.f32.{scale}", "sm_120a", version,
                   (16, 8, 64), ("f32", "e2m1", "e2m1", "f32"), (4, 4, 2, 4), scale=(scale, n), is_dense4=True, policies=LAST)


def four_bit_kinds():
    return (("kind::mxf4", "", 2, "ue8m0", "8.7"), ("kind::mxf4", ".scale_vec::2X", 2, "ue8m0", "8.7"),
            ("kind::mxf4nvf4", ".scale_vec::2X", 2, "ue8m0", "8.7"), ("kind::mxf4nvf4", ".scale_vec::4X", 4, "ue4m3", "8.7"),
            ("kind::mxf4nvf4", ".scale_vec::4X", 4, "ue8m0", "9.1"))


def sparse(variant, shape, tail, target, version, types, counts, selectors, policies, **more):
    for selector in selectors:
        text = f"mma.{variant}.sync.aligned.{shape_text(shape)}.row.col.{tail}"
        yield Form(text, target, version, shape, types, counts, is_sparse=True, selector=selector, policies=policies, **more)


def sparse_forms():
    for variant in ("sp", "sp::ordered_metadata"):
        for t, n, c in (("f16", 4, "f32"), ("f16", 2, "f16"), ("bf16", 4, "f32"), ("tf32", 4, "f32")):
            types, tail = (c, t, t, c), f"{c}.{t}.{t}.{c}"
            k = 8 if t == "tf32" else 16
            yield from sparse(variant, (16, 8, k), tail, "sm_80", "8.5", types, (n, 2, 2, n), range(4), FROM80)
            yield from sparse(variant, (16, 8, 2 * k), tail, "sm_80", "8.5", types, (n, 4, 4, n), range(2), FROM80)
        for types8, k in ((EIGHT, 32), (FOUR, 64)):
            for a, b, sat in product(types8, types8, (False, True)):
                types, tail = ("s32", a, b, "s32"), f"s32.{a}.{b}.s32"
                for size, regs, selectors in ((k, 2, range(2)), (2 * k, 4, range(1))):
                    text = ("satfinite." if sat else "") + tail
                    yield from sparse(variant, (16, 8, size), text, "sm_80", "8.5", types, (4, regs, regs, 4), selectors, ("fast",),
                                      satfinite=sat)
        for a, b in product(FP8, FP8):
            yield from sparse(variant, (16, 8, 64), f"f32.{a}.{b}.f32", "sm_89", "8.5", ("f32", a, b, "f32"), (4, 4, 4, 4), (0,), FROM89)


def sparse_narrow_forms():
    ordered = "sp::ordered_metadata"
    for a, b, (d, n) in product(NARROW, NARROW, (("f32", 4), ("f16", 2))):
        yield from sparse(ordered, (16, 8, 64), f"kind::f8f6f4.{d}.{a}.{b}.{d}", "sm_120a", "8.7", (d, a, b, d), (n, 4, 4, n), (0,), LAST)
    for a, b in product(FP8, FP8):
        yield from sparse(ordered, (16, 8, 64), f"f16.{a}.{b}.f16", "sm_120a", "8.7", ("f16", a, b, "f16"), (2, 4, 4, 2), (0,), LAST)
    for a, b in (("e5m2", "e4m3"), ("e4m3", "e5m2")):
        yield from sparse(ordered, (16, 8, 64), f"kind::f8f6f4.f32.{a}.{b}.f32", "sm_100a", "8.7", ("f32", a, b, "f32"), (4, 4, 4, 4), (0,),
                          ("fast", "sm_100"))
    for a, b in product(NARROW, NARROW):
        for vec in ("", ".scale_vec::1X") if a == b else ("",):
            yield from sparse(ordered, (16, 8, 64), f"kind::mxf8f6f4.block_scale{vec}.f32.{a}.{b}.f32.ue8m0", "sm_120a", "8.7",
                              ("f32", a, b, "f32"), (4, 4, 4, 4), (0,), LAST, scale=("ue8m0", 1))
    for kind, vec, n, scale, version in four_bit_kinds():
        yield from sparse(ordered, (16, 8, 128), f"{kind}.block_scale{vec}.f32.e2m1.e2m1.f32.{scale}", "sm_120a", version,
                          ("f32", "e2m1", "e2m1", "f32"), (4, 4, 4, 4), (0,), LAST, scale=(scale, n), is_dense4=True)


FILES = {"half": half_forms, "float": other_float_forms, "integer": integer_forms, "scaled": scaled_forms, "sparse": sparse_forms,
         "sparse_narrow": sparse_narrow_forms}
