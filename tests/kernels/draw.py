#!/usr/bin/env python3
"""draw.py SEED COUNT [NAME]: kernels as people write them, drawn at random, as a .cu file for this folder on standard output.

Blocks and grids of any shape; loops that stride by a block, a warp or a grid, downwards, by powers, over rows of their own, with
counters of every width, left and gone on with early; conditions and switches; structures, local arrays, tiles in shared memory, bins
of atomics, shuffles, functions that are called. Nothing in them is undefined: bounds of every signed expression and every index are
known here, unsigned ones wrap, no float becomes infinite, and what threads do to each other commutes or lies between barriers.
"""
import random
import sys

INPUTS = {  # name: C type, elements, least and greatest value, argument of the case
    "words": ("unsigned", 8192, 0, 2**32 - 1, "in(8192, random({}))"),
    "bytes": ("unsigned char", 8192, 0, 255, "in(8192, random({}))"),
    "shorts": ("short", 8192, -32768, 32767, "in(8192, random({}))"),
    "longs": ("unsigned long long", 4096, 0, 2**64 - 1, "in(4096, random({}))"),
    "floats": ("float", 8192, -1, 1, "in(8192, random({}))"),
    "doubles": ("double", 4096, -1, 1, "in(4096, random({}))"),
    "small": ("int", 8192, 0, 15, "in(8192, small({}))"),
}
UNSIGNED = {"unsigned": 32, "unsigned long long": 64}
SIGNED = {"int": 1 << 30, "long long": 1 << 61}
FLOATS = {"float": 1e12, "double": 1e60}
STRUCTURES = """
struct Triple { float x, y, z; };
struct Pixel { unsigned char r, g, b; };
struct Mixed { unsigned short kind; unsigned value; unsigned char flag; };
struct alignas(16) Quad { unsigned x, y, z, w; };
"""
FIELDS = {"Triple": (12, "floats", [("x", "float"), ("y", "float"), ("z", "float")]),
          "Pixel": (3, "bytes", [("r", "byte"), ("g", "byte"), ("b", "byte")]),
          "Mixed": (12, "words", [("kind", "short"), ("value", "unsigned"), ("flag", "byte")]),
          "Quad": (16, "words", [("x", "unsigned"), ("y", "unsigned"), ("z", "unsigned"), ("w", "unsigned")])}
BOUNDS = {"byte": ("int", 0, 255), "short": ("int", 0, 65535), "unsigned": ("unsigned", 0, 2**32 - 1), "float": ("float", -1, 1)}


class Kernel:
    def __init__(self, seed, name):
        self.r = random.Random(seed)
        self.name = name
        r = self.r
        self.x = r.choice([1, 7, 8, 16, 16, 20, 32, 32, 32, 33, 48, 64, 96, 128, 128, 256])
        self.y = r.choice([1, 1, 1, 2, 3, 4, 8]) if self.x <= 32 else r.choice([1, 1, 1, 2])
        self.z = r.choice([1, 1, 1, 1, 2]) if self.x * self.y <= 64 else 1
        self.threads = self.x * self.y * self.z
        self.grid = (r.randint(1, 5), r.choice([1, 1, 2]), 1)
        self.all = self.threads * self.grid[0] * self.grid[1]
        self.inputs = r.sample(list(INPUTS), r.randint(2, 4))
        self.n = r.choice([r.randint(1, 60), r.randint(60, 400), r.choice([64, 100, 128, 256, 257])])
        self.out = r.choice(["unsigned", "unsigned", "int", "float", "float", "double", "unsigned long long", "unsigned char", "unsigned short"])
        self.slots = r.choice([1, 1, 2, 4, 5, 8])
        self.layout = r.choice(["{j} * ALL + g", "g * SLOTS + {j}"]).replace("ALL", str(self.all)).replace("SLOTS", str(self.slots))
        self.bins = r.choice([0, 0, 16, 61, 64])
        self.atomic = r.choice(["Add", "Add", "Max", "Min", "Or", "And", "Xor"])
        self.fresh = 0
        self.budget = r.randint(6, 16)
        self.helpers = []
        self.shared = []
        self.rounds = 1
        # Readable integers, with bounds.
        self.names = [("g", "int", 0, self.all - 1), ("tx", "int", 0, self.x - 1), ("tid", "int", 0, self.threads - 1), ("n", "int", 1, 400)]
        if self.y * self.z > 1:
            self.names.append(("ty", "int", 0, self.y - 1))
        self.sums = []  # variables that statements add to: name, type
        self.arrays = []  # arrays of the thread: name, type, elements

    def new(self, stem):
        self.fresh += 1
        return f"{stem}{self.fresh}"

    # Indices ------------------------------------------------------------------------------------------------------------------
    def affine(self):
        r = self.r
        picked = r.sample(self.names, min(len(self.names), r.choice([1, 1, 2, 2, 3])))
        loops = [v for v in self.names if v[0].startswith("i")]
        if loops and r.random() < 0.7:
            picked = [r.choice(loops)] + picked[:1]
        text, low, high = "", 0, 0
        factors = [r.choice([1, 1, 1, 2, 3, 4, self.x, 17, 32, -1]) for _ in picked]
        for (name, type_, a, b), k in zip(picked, factors):
            cast = r.choice(["", "", "", "(size_t)", "(long long)"]) if k >= 0 else ""
            if -1 in factors and type_ == "unsigned":
                name = f"(int){name}"  # what is below zero in between is so in 64 bits, too
            text += (f" - {name}" if k == -1 else f" + {cast}{name}" + (f" * {k}" if k != 1 else ""))
            low, high = low + min(k * a, k * b), high + max(k * a, k * b)
        c = r.choice([0, 0, 0, 1, 2, r.randint(0, 300)])
        if low < 0:
            c -= low
        if c:
            text += f" + {c}"
        return text[3:] if text.startswith(" + ") else f"0{text}", low + c, high + c

    def index(self, count):
        """An index from 0 to count - 1."""
        r = self.r
        text, low, high = self.affine()
        if r.random() < 0.12 and "words" in self.inputs:
            text, low, high = f"words[{self.index(8192)}]", 0, 2**32 - 1
        elif r.random() < 0.12 and "small" in self.inputs:
            a, b = f"small[{self.index(8192)}]", r.choice([1, 1, 3, 16])
            text, low, high = f"{text} + {a} * {b}", low, high + 15 * b
        if high < count:
            return text if r.random() < 0.9 else f"{count - 1} - ({text})"
        kind = r.choice(["%", "&", "min", "%"])
        if kind == "&" or high >= 2**31:
            power = 1 << (count.bit_length() - 1)
            return f"(unsigned)({text}) & {power - 1}" if kind == "&" else f"(unsigned)({text}) % {count}"
        if kind == "min":
            return f"min((int)({text}), {count - 1})"
        return f"({text}) % {count}" if r.random() < 0.5 else f"(unsigned)({text}) % {count}u"

    def load(self):
        """An element of an input: text, type, least, greatest."""
        r = self.r
        name = r.choice(self.inputs)
        type_, count, low, high, _ = INPUTS[name]
        if r.random() < 0.15:
            for structure, (size, of, fields) in FIELDS.items():
                if of == name:
                    field, kind = r.choice(fields)
                    if structure == "Mixed" and kind == "unsigned" or r.random() < 0.8:
                        width = {"floats": 4, "bytes": 1, "words": 4}[of]
                        type_, low, high = BOUNDS[kind]
                        return f"(({r.choice(['const ', ''])}{structure} *){name})[{self.index(count * width // size)}].{field}", type_, low, high
        return f"{name}[{self.index(count)}]", "int" if type_ in ("unsigned char", "short") else type_, low, high

    # Expressions --------------------------------------------------------------------------------------------------------------
    def integer(self, depth, type_="int"):
        """Signed, exact: text and bounds."""
        r, limit = self.r, SIGNED[type_]
        if depth <= 0 or r.random() < 0.1:
            kind = r.random()
            if kind < 0.45:
                name, its, low, high = r.choice(self.names)
                return (name if type_ == its else f"({type_}){name}"), low, high
            if kind < 0.6:
                c = r.choice([r.randint(-9, 9), r.randint(-500, 500)])
                return f"({c})", c, c
            text, found, low, high = self.load()
            if found == "int":
                return (text if type_ == "int" else f"(long long){text}"), low, high
            if found in UNSIGNED:
                by = r.randint(1, 12)
                return f"({type_})({text} & {(1 << by) - 1})", 0, (1 << by) - 1
            return f"({type_})({text} * {100 if found == 'double' else '100.0f'})", -100, 100
        a, low, high = self.integer(depth - 1, type_)
        b, low2, high2 = self.integer(depth - 1, type_)
        kind = r.choice(["+", "+", "-", "-", "*", "*", "&", "|", "^", ">>", "<<", "min", "max", "?", "/", "%", "abs"])
        if kind in "+-*":
            products = [x * y for x in (low, high) for y in (low2, high2)]
            bounds = {"+": (low + low2, high + high2), "-": (low - high2, high - low2), "*": (min(products), max(products))}[kind]
            return (f"({a} {kind} {b})", *bounds) if -limit < bounds[0] and bounds[1] < limit else (a, low, high)
        if kind in "&|^":
            bound = 1 << max(abs(low), abs(high), abs(low2), abs(high2)).bit_length()
            return (f"({a} {kind} {b})", -bound if min(low, low2) < 0 else 0, bound) if bound < limit else (a, low, high)
        by = r.randint(1, 7)
        if kind == ">>":
            return f"({a} >> {by})", low >> by, high >> by
        if kind == "<<":
            return (f"({a} << {by})", low << by, high << by) if low >= 0 and high << by < limit else (a, low, high)
        if kind in ("/", "%"):
            by = r.choice([2, 3, 5, 7, 8, 10, 16, 31, 100])
            bound = max(abs(low), abs(high)) if kind == "/" else by - 1
            return f"({a} {kind} {by})", -bound if low < 0 else 0, bound
        if kind == "abs":
            return f"({a} < 0 ? -{a} : {a})", 0, max(abs(low), abs(high))
        if kind in ("min", "max") and type_ == "int":
            pick = min if kind == "min" else max
            return f"{kind}((int){a}, (int){b})", pick(low, low2), pick(high, high2)
        return f"({self.condition(1)} ? {a} : {b})", min(low, low2), max(high, high2)

    def bits(self, depth, type_):
        """Unsigned, wraps."""
        r = self.r
        if depth <= 0 or r.random() < 0.1:
            kind = r.random()
            sums = [v for v, t in self.sums if t == type_]
            if kind < 0.3 and sums:
                return r.choice(sums)
            arrays = [a for a in self.arrays if a[1] == type_]
            if kind < 0.4 and arrays:
                name, _, count = r.choice(arrays)
                return f"{name}[{self.index(count)}]"
            if kind < 0.75:
                text, found, *_ = self.load()
                if found in FLOATS:
                    return f"({type_})(int)({text} * 1000{'' if found == 'double' else '.0f'})"
                return text if found == type_ else f"({type_}){text}"
            if kind < 0.85:
                return f"{r.choice([r.randint(0, 9), r.randint(0, 1000), r.randint(0, 2**31)])}u{'ll' if type_ != 'unsigned' else ''}"
            return f"({type_})({self.integer(1)[0]})"
        a, b = self.bits(depth - 1, type_), self.bits(depth - 2, type_)
        width = UNSIGNED[type_]
        kind = r.choice(["+", "+", "-", "*", "&", "|", "^", "shift", "rotate", "/", "~", "?", "word", "mixed"])
        if kind in "+-*&|^":
            return f"({a} {kind} {b})"
        if kind == "shift":
            by = str(r.randint(1, width - 1)) if r.random() < 0.6 else f"({b} & {width - 1})"
            return f"({a} {r.choice(['<<', '>>'])} {by})"
        if kind == "rotate":
            by = r.randint(1, width - 1)
            return f"({a} << {by} | {a} >> {width - by})"
        if kind == "/":
            by = r.choice([f"({b} | 1)", "3", "7", "10", "1000", "(unsigned)n"])
            return f"({a} {r.choice('/%')} {by})"
        if kind == "~":
            return f"{r.choice('~-')}({a})"
        if kind == "?":
            return f"({self.condition(1)} ? {a} : {b})"
        if kind == "mixed":
            other = "unsigned" if width == 64 else "unsigned long long"
            return f"({type_})({self.bits(depth - 1, other)}{' >> 17' if width == 32 else ''})"
        if width == 64:
            return f"({a} >> 32 | {b} << 32)"
        return r.choice([f"(unsigned)__popc({a})", f"(unsigned)__clz((int)({a}))", f"__brev({a})", f"__umulhi({a}, {b})",
                         f"__byte_perm({a}, {b}, 0x{r.randint(0, 7)}{r.randint(0, 7)}{r.randint(0, 7)}{r.randint(0, 7)})",
                         f"__funnelshift_l({a}, {b}, {r.randint(0, 31)})", f"min({a}, (unsigned){b})", f"max((unsigned){a}, {b})",
                         f"(unsigned)(unsigned char)({a})", f"(unsigned)(int)(short)({a})"])

    def real(self, depth, type_):
        """Finite: text and the greatest magnitude."""
        r, suffix = self.r, "f" if type_ == "float" else ""
        if depth <= 0 or r.random() < 0.1:
            kind = r.random()
            sums = [v for v, t in self.sums if t == type_]
            if kind < 0.25 and sums:
                return r.choice(sums), 1e5
            arrays = [a for a in self.arrays if a[1] == type_]
            if kind < 0.35 and arrays:
                name, _, count = r.choice(arrays)
                return f"{name}[{self.index(count)}]", 1e5
            if kind < 0.8:
                text, found, low, high = self.load()
                if found == type_:
                    return text, 1
                if found in UNSIGNED and r.random() < 0.5:
                    return f"({type_})({text} & 1023)", 1023
                return f"({type_}){text}", max(abs(low), abs(high))
            if kind < 0.9:
                return r.choice(["0.5", "0.25", "1.5", "3.0", "0.1", "0.001"]) + suffix, 3
            text, low, high = self.integer(1)
            return f"({type_})({text})", max(abs(low), abs(high))
        (a, high), (b, high2) = self.real(depth - 1, type_), self.real(depth - 1, type_)
        kind = r.choice(["+", "+", "-", "*", "*", "/", "sqrt", "?", "min", "abs", "-x", "other"])
        if kind in "+-":
            return f"({a} {kind} {b})", high + high2
        if kind == "*":
            return (f"({a} * {b})", high * high2) if high * high2 < FLOATS[type_] else (a, high)
        if kind == "/":
            return (f"({a} / (1{'.0f' if suffix else '.0'} + {b} * {b}))", high) if high2 < 1e6 else (a, high)
        if kind == "sqrt":
            return f"sqrt{suffix}(fabs{suffix}({a}))", max(high, 1)
        if kind == "abs":
            return f"fabs{suffix}({a})", high
        if kind == "-x":
            return f"(-{a})", high
        if kind == "min":
            return f"({a} {r.choice('<>')} {b} ? {a} : {b})", max(high, high2)
        if kind == "other":
            text, most = self.real(depth - 1, "double" if suffix else "float")
            return f"({type_})({text})", most
        return f"({self.condition(1)} ? {a} : {b})", max(high, high2)

    def condition(self, depth):
        r = self.r
        kind = r.random()
        sign = r.choice(["<", ">", "<=", ">=", "==", "!="])
        if depth > 0 and kind < 0.2:
            return f"({self.condition(0)} {r.choice(['&&', '||'])} {self.condition(0)})"
        if kind < 0.5:
            return f"({self.integer(1)[0]} {sign} {self.integer(1)[0]})"
        if kind < 0.65:
            return f"({self.bits(1, 'unsigned')} & {r.choice([1, 2, 3, 7, 8])})"
        if kind < 0.75:
            type_ = r.choice(list(UNSIGNED))
            return f"({self.bits(1, type_)} {sign} {self.bits(1, type_)})"
        if kind < 0.9:
            name, _, low, high = r.choice(self.names)
            return f"({name} {sign} {r.randint(low, high)})"
        return f"({self.real(1, 'float')[0]} {sign} {self.real(0, 'float')[0]})"

    def value(self, type_, depth):
        """Of any type, as what is stored or added."""
        if type_ in ("unsigned char", "unsigned short"):
            return f"({type_})({self.bits(depth, 'unsigned')})"
        if type_ in UNSIGNED:
            return self.bits(depth, type_)
        if type_ in SIGNED:
            return self.integer(depth, type_)[0]
        for _ in range(6):
            text, high = self.real(depth, type_)
            if high <= 1e5:
                return text
        return self.r.choice(["0.5f", "0.25f"])

    # Statements ---------------------------------------------------------------------------------------------------------------
    def add(self, margin):
        r = self.r
        name, type_ = r.choice(self.sums)
        if type_ in UNSIGNED:
            text = self.bits(r.randint(1, 3), type_)
            if r.random() < 0.3:
                return f"{margin}{name} = {name} * {r.choice([31, 33, 5])}u + {text};"
            return f"{margin}{name} {r.choice('+-^')}= {text};"
        text = self.value(type_, r.randint(0, 2))
        if r.random() < 0.3 or self.rounds > 2000:
            return f"{margin}{name} = {name} * {r.choice(['0.5f', '0.25f', '-0.5f'])} + {text} * 0.5f;"
        text, found, *_ = self.load()
        if found == type_:
            return f"{margin}{name} {r.choice('+-')}= ({type_}){text} * {r.choice(['1.0f', '0.5f'])};"
        return f"{margin}{name} = {self.value(type_, 1)} * 0.5f;"

    def place(self):
        j = self.r.choice([str(self.r.randrange(self.slots)), f"({self.affine()[0]}) % {self.slots}"]) if self.slots > 1 else "0"
        return f"out[{self.layout.format(j=j)}]"

    def store(self, margin):
        r = self.r
        place = self.place()
        if r.random() < 0.2 and self.out in UNSIGNED:
            return f"{margin}{place} {r.choice('+^')}= {self.value(self.out, 2)};"
        return f"{margin}{place} = {self.value(self.out, r.randint(1, 3))};"

    def scope(self, margin, count, depth):
        """count statements whose variables end with them."""
        names, sums, arrays = len(self.names), len(self.sums), len(self.arrays)
        text = "\n".join(self.statement(margin, depth) for _ in range(count))
        del self.names[names:], self.sums[sums:], self.arrays[arrays:]
        return text

    def loop(self, margin, depth):
        r, i = self.r, self.new("i")
        type_ = r.choice(["int", "int", "int", "unsigned", "unsigned", "size_t", "long long", "short"])
        unroll = r.choice(["", "", "", f"{margin}#pragma unroll 1\n", f"{margin}#pragma unroll 4\n"])
        start, step, bound, most = "0", "1", "n", 400
        kind = r.choice(["stride", "stride", "stride", "count", "count", "n", "down", "power", "row", "own"])
        if self.rounds > 4 and kind in ("n", "down"):
            kind = "count"
        if kind == "stride":
            start, low, by = r.choice([("tx", self.x, self.x), ("tid", self.threads, self.threads), ("g", self.all, self.all),
                                       ("tid & 31", 32, 32), ("tx", self.x, 32), ("tid", self.threads, self.threads * 4)])
            if r.random() < 0.2:
                start = f"{start} + {r.randint(1, 9)}"
            step = str(by)
            if by == self.x and r.random() < 0.5:
                step = "blockDim.x"
            bound, most = r.choice([("n", 400), (str(r.randint(1, 600)), 600), (f"n + {r.choice(self.names)[0]}", 400 + self.all)])
            rounds = max(1, most // by)
        elif kind == "count":
            most = rounds = r.choice([2, 3, 4, 5, 8, 9, 16, 17])
            bound = str(most)
        elif kind == "own":
            low, most = r.choice([("tid % 7", 6), ("(tx & 3)", 3), ("tid % 5 + 1", 5), ("(int)(g & 15)", 15)])
            bound, rounds = low, most
        elif kind == "row":
            k = r.choice([3, 4, 5, 8])
            bits = r.choice([3, 7, 15])
            text = f"small[{self.index(8192)}] & {bits}" if "small" in self.inputs else f"({self.bits(0, 'unsigned')}) & {bits}"
            end = self.new("end")
            self.names.append((i, "int", 0, self.all * k + bits))
            body = self.body(margin, depth, bits)
            return (f"{margin}{{\n{margin}  const int {end} = g * {k} + (int)({text});\n{unroll}"
                    f"{margin}  for (int {i} = g * {k}; {i} < {end}; ++{i}) {{\n{body}\n{margin}  }}\n{margin}}}")
        elif kind == "down":
            start = r.choice(["n - 1", "399", f"{r.randint(3, 40)}"])
            self.names.append((i, "int", 0, 399))
            body = self.body(margin, depth, 200)
            by = r.choice([1, 1, 2, 3])
            return f"{unroll}{margin}for (int {i} = {start}; {i} >= 0; {i} -= {by}) {{\n{body}\n{margin}}}"
        elif kind == "power":
            self.names.append((i, "int", 1, 512))
            body = self.body(margin, depth, 9)
            head = r.choice([f"int {i} = 1; {i} < n; {i} *= 2", f"int {i} = 256; {i} > 0; {i} >>= 1", f"int {i} = tx + 1; {i} < 300; {i} <<= 1"])
            return f"{unroll}{margin}for ({head}) {{\n{body}\n{margin}}}"
        else:
            step = r.choice(["1", "1", "2", "4"])
            rounds = 200
        if type_ in ("unsigned", "size_t") and bound == "n":
            bound = f"({type_})n"
        if type_ == "short" and kind == "stride":
            type_ = "int"
        self.names.append((i, type_, 0, most))
        body = self.body(margin, depth, rounds)
        comparison = "<=" if kind == "own" and r.random() < 0.3 else "<"
        if type_ == "int" and comparison == "<" and step == "1" and start == "0" and r.random() < 0.1:
            comparison = "!="
        if comparison == "!=" and not bound.isdigit():
            comparison = "<"
        return f"{unroll}{margin}for ({type_} {i} = {start}; {i} {comparison} {bound}; {i} += {step}) {{\n{body}\n{margin}}}"

    def body(self, margin, depth, rounds):
        """Of a loop whose counter is the last name."""
        r, counter = self.r, self.names[-1]
        outer, self.rounds = self.rounds, self.rounds * max(rounds, 1)
        text = self.scope(margin + "  ", r.choice([1, 1, 2, 3]), depth - 1)
        if r.random() < 0.15:
            text = f"{margin}  if ({self.condition(1)}) {r.choice(['break', 'continue'])};\n" + text
        elif r.random() < 0.1:
            text += f"\n{margin}  if ({self.condition(1)}) break;\n{self.add(margin + '  ')}"
        self.rounds = outer
        self.names.remove(counter)
        return text

    def while_loop(self, margin):
        r, name = self.r, self.new("w")
        return (f"{margin}unsigned {name} = {self.bits(1, 'unsigned')};\n{margin}while ({name} > {r.choice([0, 3, 100])}) {{\n"
                f"{self.add(margin + '  ')}\n{margin}  {name} {r.choice(['>>= 1', '>>= 3', '/= 3', '&= ' + name + ' - 1'])};\n{margin}}}")

    def switch(self, margin, depth):
        count = self.r.choice([2, 3, 4, 6])
        text = f"{margin}switch ({self.bits(1, 'unsigned')} % {count + 1}) {{\n"
        for k in range(count):
            text += f"{margin}case {k}: {{\n{self.scope(margin + '  ', 1, depth - 1)}\n{margin}}}\n"
            text += f"{margin}  break;\n" if self.r.random() < 0.8 else ""
        return text + f"{margin}default:\n{self.add(margin + '  ')}\n{margin}}}"

    def local_array(self, margin):
        r, name, i = self.r, self.new("a"), self.new("i")
        type_, count = r.choice(["unsigned", "float", "unsigned long long"]), r.choice([3, 4, 8, 16])
        fill = self.value(type_, 0)
        self.arrays.append((name, type_, count))
        self.names.append((i, "int", 0, count - 1))
        later = self.value(type_, 1)
        self.names.pop()
        return (f"{margin}{type_} {name}[{count}];\n{margin}for (int {i} = 0; {i} < {count}; ++{i}) {name}[{i}] = {fill};\n"
                f"{margin}for (int {i} = {r.choice([0, 1])}; {i} < {count}; ++{i}) {name}[{i}] = {later};\n"
                f"{margin}{name}[{self.index(count)}] = {self.value(type_, 1)};")

    def call(self, margin):
        """A function of its own: not for what only the kernel knows."""
        r, name = self.r, self.new("helper")
        name = f"{self.name}_{name}"
        kind = r.choice(["__noinline__ ", "", "__forceinline__ "])
        mine = [(v, t) for v, t in self.sums if t in ("unsigned", "float")]
        if not mine:
            return self.add(margin)
        target, type_ = r.choice(mine)
        template = r.random() < 0.3
        step = {"unsigned": "x = x * 33u + (y ^ k);", "float": "x = x * 0.5f + y * 0.25f;"}[type_]
        leave = {"unsigned": "if (x & 4096) return x >> 1;", "float": "if (x > 100.0f) return x * 0.5f;"}[type_]
        rounds = r.choice(["4", "(y > 0 ? 3 : 5)", "turns"])
        head = "template <int turns> " if template else ""
        parameter = "" if template else ", int turns"
        self.helpers.append(f"{head}static __device__ {kind}{type_} {name}({type_} x, {type_} y{parameter}) {{\n"
                            f"  for (int k = 0; k < {rounds}; ++k) {{\n    {leave if r.random() < 0.6 else ''}\n    {step}\n  }}\n  return x;\n}}\n")
        given = "<" + str(r.randint(1, 6)) + ">" if template else ""
        last = "" if template else ", " + r.choice(["3", "tx & 7", "tid % 5"])
        return f"{margin}{target} = {name}{given}({target}, {self.value(type_, 1)}{last});"

    def statement(self, margin, depth):
        r = self.r
        self.budget -= 1
        kinds = ["add"] * 5 + ["store"] * 2 + ["declare", "call", "array"]
        if self.bins:
            kinds += ["atomic"] * 2
        if depth > 0 and self.budget > 0:
            kinds += ["loop"] * 6 + ["if"] * 3 + ["while", "switch"]
        kind = r.choice(kinds)
        if kind == "loop":
            return self.loop(margin, depth)
        if kind == "if":
            text = f"{margin}if ({self.condition(1)}) {{\n{self.scope(margin + '  ', r.choice([1, 2]), depth - 1)}\n{margin}}}"
            if r.random() < 0.4:
                text += f" else {{\n{self.scope(margin + '  ', 1, depth - 1)}\n{margin}}}"
            return text
        if kind == "while":
            return self.while_loop(margin)
        if kind == "switch":
            return self.switch(margin, depth)
        if kind == "array":
            return self.local_array(margin)
        if kind == "call":
            return self.call(margin)
        if kind == "store":
            return self.store(margin)
        if kind == "atomic":
            value = self.bits(1, "unsigned")
            if r.random() < 0.5:
                value = r.choice(["1u", "(unsigned)tx", value])
            return f"{margin}atomic{self.atomic}(&bins[{self.index(self.bins)}], {value});"
        if kind == "declare":
            name, type_ = self.new("s"), r.choice(["unsigned", "float", "unsigned long long", "double"])
            text = f"{margin}{type_} {name} = {self.value(type_, 1)};"
            self.sums.append((name, type_))
            return text
        return self.add(margin)

    def tile(self, margin):
        """A tile in shared memory: filled, met at a barrier, read, and met once more."""
        r, name = self.r, self.new("tile")
        type_ = r.choice(["unsigned", "float", "unsigned char", "unsigned long long", "unsigned short"])
        bits = type_.replace("unsigned char", "unsigned").replace("unsigned short", "unsigned")
        self.shared.append(f"  __shared__ {type_} {name}[{self.threads}];\n")
        place = r.choice(["tid", "tid", f"{self.threads - 1} - tid", "(tid * 5) % COUNT", "tx * HEIGHT + ty"])
        if "HEIGHT" in place and self.y * self.z == 1 or "5" in place and self.threads % 5 == 0:
            place = "tid"
        place = place.replace("COUNT", str(self.threads)).replace("HEIGHT", str(self.y * self.z))
        if "ty" in place and self.z > 1:
            place = "tid"
        text = f"{margin}{name}[{place}] = {self.value(type_, 2)};\n{margin}__syncthreads();\n"
        mine = [(v, t) for v, t in self.sums if t == bits]
        if not mine:
            mine = [(self.new("s"), bits)]
            text += f"{margin}{bits} {mine[0][0]} = 0;\n"
            self.sums.append(mine[0])
        target = r.choice(mine)[0]
        scale = " * 0.5f" if type_ == "float" else ""
        if r.random() < 0.5:
            i, most = self.new("i"), r.choice([4, 7, 16])
            self.names.append((i, "int", 0, most - 1))
            read = f"{name}[{self.index(self.threads)}]"
            self.names.pop()
            text += f"{margin}for (int {i} = 0; {i} < {most}; ++{i}) {target} = {target}{scale or ' * 5u'} + {read}{scale};\n"
        elif r.random() < 0.5 and type_ != "float":
            s = self.new("h")
            text += (f"{margin}for (int {s} = {self.threads} / 2; {s} > 0; {s} >>= 1) {{\n"
                     f"{margin}  if (tid < {s}) {name}[tid] += {name}[tid + {s}];\n"
                     f"{margin}  __syncthreads();\n{margin}}}\n{margin}{target} += {name}[0];\n")
        else:
            text += f"{margin}{target} = {target}{scale or ' * 3u'} + {name}[{self.index(self.threads)}]{scale};\n"
        return text + f"{margin}__syncthreads();"

    def collective(self, margin):
        """All lanes of whole warps."""
        r = self.r
        name = r.choice([v for v, t in self.sums if t in ("unsigned", "float")] or [self.sums[0][0]])
        type_ = dict(self.sums)[name]
        scale = " * 0.5f" if type_ in FLOATS else ""
        kind = r.choice(["tree", "scan", "xor", "ballot"])
        d = self.new("d")
        if kind == "tree":
            return f"{margin}for (int {d} = 16; {d} > 0; {d} >>= 1) {name} = {name}{scale} + __shfl_down_sync(0xffffffffu, {name}, {d}){scale};"
        if kind == "scan":
            return (f"{margin}for (int {d} = 1; {d} < 32; {d} *= 2) {{\n{margin}  const {type_} u = __shfl_up_sync(0xffffffffu, {name}, {d});\n"
                    f"{margin}  if ((tid & 31) >= {d}) {name} = {name}{scale} + u{scale};\n{margin}}}")
        if kind == "xor":
            return f"{margin}{name} = {name}{scale} + __shfl_xor_sync(0xffffffffu, {name}, {r.randint(1, 31)}){scale};"
        mine = [v for v, t in self.sums if t == "unsigned"]
        text = f"__ballot_sync(0xffffffffu, {self.condition(1)} ? 1 : 0)"
        return f"{margin}{mine[0]} ^= {text};" if mine else f"{margin}if ({text} & 1) {name} = {name} * 0.5f;"

    def text(self):
        r, margin = self.r, "  "
        lines = []
        for type_ in r.sample(["unsigned", "float", "unsigned long long", "double"], r.randint(1, 3)):
            name = self.new("s")
            self.sums.append((name, type_))
            lines.append(f"  {type_} {name} = {r.choice(['0', '1', 'tx'])};")
        if r.random() < 0.4 and "floats" in self.inputs:
            self.inputs.append("floats")
        meets = r.random() < 0.4
        if not meets and r.random() < 0.4:
            lines.append(f"  if (g >= {r.randint(1, self.all)}) return;")
        for _ in range(r.choice([2, 3, 4])):
            lines.append(self.statement(margin, 3))
            if meets and r.random() < 0.6:
                lines.append(self.collective(margin) if self.threads % 32 == 0 and r.random() < 0.4 else self.tile(margin))
        for name, type_ in self.sums:
            if self.out in FLOATS:
                cast = name if type_ in FLOATS else f"({self.out})({name} & 1023)"
            else:
                cast = f"({self.out}){name}" if type_ in UNSIGNED else f"({self.out})(int)({name} * 0.001f)"
            lines.append(f"  {self.place()} {'=' if self.out in FLOATS else '+='} {cast};")
        restrict = r.choice(["", "__restrict__ "])
        inputs = list(dict.fromkeys(self.inputs))
        parameters = [f"const {INPUTS[k][0]} *{restrict}{k}" for k in inputs] + [f"{self.out} *{restrict}out", "int n"]
        arguments = [INPUTS[k][4].format(r.randint(1, 99)) for k in inputs] + [f"inout({self.all * self.slots}, zeros())", str(self.n)]
        if self.bins:
            parameters.append("unsigned *bins")
            arguments.append(f"inout({self.bins}, {'random(7)' if self.atomic in ('Min', 'And') else 'zeros()'})")
        z = "threadIdx.z * blockDim.y + threadIdx.y" if self.z > 1 else "threadIdx.y"
        head = (f"  const int tx = threadIdx.x, tid = ({z}) * {r.choice(['blockDim.x', str(self.x)])} + tx;\n"
                f"  const int g = (blockIdx.y * gridDim.x + blockIdx.x) * {self.threads} + tid;\n")
        if self.y == self.z == 1 and self.grid[1] == 1 and r.random() < 0.7:
            head = "  const int tx = threadIdx.x, tid = threadIdx.x;\n  const int g = blockIdx.x * blockDim.x + threadIdx.x;\n"
        if self.y * self.z > 1:
            head += "  const int ty = threadIdx.y;\n"
        body = "\n".join(lines)
        grid, block = ", ".join(map(str, self.grid)), f"{self.x}, {self.y}, {self.z}"
        return (f"{''.join(self.helpers)}extern \"C\" __global__ void {self.name}({', '.join(parameters)}) {{\n"
                f"{''.join(self.shared)}{head}{body}\n}}\n"
                f"CASE({self.name}, grid({grid}), block({block}), {', '.join(arguments)})\n")


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    name = sys.argv[3] if len(sys.argv) > 3 else "drawn"
    print(f"// Written by draw.py {seed} {count}.{STRUCTURES}")
    for k in range(count):
        print(Kernel(seed + k, f"{name}{seed + k}").text())


main()
