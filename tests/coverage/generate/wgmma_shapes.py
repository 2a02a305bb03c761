"""wgmma.mma_async (PTX ISA 9.7.15) of every N: a kernel for each form multiplies 64 rows of A by the first N columns of one B, shape after
shape, and hashes of each result the first two and the last four registers. The products are those of the model of tests/tensor."""
import os
import sys
from operator import itemgetter, mul

from forms import formsOf
from kernels import save

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tensor/generate"))
import wgmma
from formats import FORMATS, IMAGE_BYTES, image, npy, words

IMAGES = {"f16": "f16", "bf16": "bf16", "tf32": "tf32", "e4m3": "f8", "e5m2": "f8"}


def casesOf(form):
    """A case of N = 256 for each choice of types, and the Ns that it is to have."""
    tokens = [[c.token for c in slot.choices] for slot in form.slots]
    shapes = next(t for t in tokens if t[0].startswith("m64n"))
    pairs = [(a, b) for a in choices(tokens, -2) for b in choices(tokens, -1)]
    if "popc" in (t[0] for t in tokens):
        pairs = [("b1", "b1")]
    d = next(t[0] for t in tokens if t[0] in ("f32", "f16", "s32"))
    sparse, registers = int(form.instruction.endswith(".sp")), "a-desc" not in form.notation
    for i, (a, b) in enumerate(pairs):
        ns = [int(s.split("n")[1].split("k")[0]) for s in shapes[i::len(pairs)]]
        k = int(shapes[0].split("k")[1])
        matrices = wgmma.layouts(FORMATS[a][0], k, 256, choice=3, sparse=bool(sparse))
        kind = "any" if d == "s32" else ("units16" if a == "f16" else "units8") if d == "f16" else IMAGES[a]
        yield wgmma.Case(256, d, a, b, k, registers=registers, sparse=sparse, scale=("0",), matrices=matrices, kind=kind,
                         isFloat=d != "s32"), ns


def choices(tokens, at):
    return [t for t in tokens[at] if t in FORMATS]


class Products:
    """Elements of D = A * B, a column at a time."""

    def __init__(self, case):
        self.case, self.data, self.columns = case, case.data(), {}
        a, depth = FORMATS[case.a][1], case.k // 2 if case.sparse else case.k
        self.rows = []
        for m in range(64):
            at = [case.placeOf(m, e) if case.sparse else e for e in range(depth)]
            self.rows.append(([a(case.codeA(self.data, m, e)) for e in range(depth)], itemgetter(*at)))

    def column(self, n):
        if n not in self.columns:
            b = FORMATS[self.case.b][1]
            codes = [b(self.case.matrices[1].code(self.data, n, k)) for k in range(self.case.k)]
            self.columns[n] = [sum(map(mul, row, chosen(codes))) for row, chosen in self.rows]
        return self.columns[n]

    def register(self, i, thread):
        """As figure 149 and its like have it."""
        elements = (2 * i, 2 * i + 1) if self.case.d == "f16" else (i,)
        row = thread // 32 * 16 + thread % 32 // 4
        return self.case.encode([self.column(e // 4 * 8 + thread % 4 * 2 + e % 2)[row + 8 * (e // 2 % 2)] for e in elements])


def sampled(count):
    return sorted({0, 1, *range(count - 4, count)} & set(range(count)))


def kernel(name, made):
    """The kernel, and its results by thread."""
    text, results = "  mov.u32 %r8, 17;\n", [17] * 128
    for case, ns in made:
        products = Products(case)
        for n in ns:
            case.n = n
            text += f"  wgmma.fence.sync.aligned;\n  {case.instruction()};\n"
            text += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n"
            for i in sampled(case.count()):
                text += f"  mad.lo.u32 %r8, %r8, 31, %d{i};\n"
                results = [(h * 31 + products.register(i, t)) & 0xFFFFFFFF for t, h in enumerate(results)]
        case.n = 256
    case = made[0][0]
    body = wgmma.KERNEL.format(name=name, count=case.count(), words=IMAGE_BYTES // 4, accumulators="", instruction="@INSTRUCTION@",
                               metadata=f"  ld.global.b32 %m, [%rd6+{IMAGE_BYTES}];\n" if case.sparse else "", hash="  mov.u32 %r6, %r8;\n")
    first, last = body.index("  wgmma.fence"), body.index("  mov.u32 %r6, 17;")
    return body[:first] + text + body[last:], results


def write(folder):
    for sparse in (False, True):
        writeModule(folder, "wgmma_shapes" + "_sparse" * sparse, [f for f in formsOf("wgmma") if f.instruction == "wgmma.mma_async" + ".sp" * sparse])


def writeModule(folder, module, forms):
    text = ".version 8.4\n.target sm_90a\n.address_size 64\n\n.shared .align 1024 .b8 tile[%d];\n" % IMAGE_BYTES
    sources, launches, expected = {}, "", []
    for number, form in enumerate(forms):
        made = list(casesOf(form))
        case = made[0][0]
        body, results = kernel(f"k{number}", made)
        text += body
        source = f"{case.kind}{'_tf32' if case.a == 'tf32' else ''}"
        sources[source] = words(image(case.kind)) + [case.metadataOf(t) for t in range(128)]
        a, b = (m.wgmma() for m in case.matrices)
        launches += (f'\n[[launch]]\nkernel = "k{number}"\nblock = 128\narguments = ["{source}", "out+{4 * len(expected)}", '
                     f'"{a:#x}", "{b:#x}"]\n')
        expected += results
    buffers = "".join(f'{source} = "{module}.{source}.npy"\n' for source in sources)
    for name, content in {**sources, "expected": expected}.items():
        npy(os.path.join(folder, f"{module}.{name}.npy"), content)
    save(folder, module + ".ptx", text.encode())
    save(folder, module + ".toml", (f'module = "{module}.ptx"\n\n[buffers]\n{buffers}out = "u32[{len(expected)}]"\n{launches}\n'
                                    f'[[expect]]\nbuffer = "out"\nfile = "{module}.expected.npy"\n').encode())
