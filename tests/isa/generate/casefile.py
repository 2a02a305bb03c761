"""Writing case files (tests/isa/README.md has their format)."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class CaseFile:
    def __init__(self, section, name, title, target=None):
        self.path = os.path.join(ROOT, section, name + ".vec")
        self.lines = ["# " + title]
        if target:
            self.lines.append("target " + target)

    def signature(self, text):
        self.lines += ["", ": " + text]

    def code(self, text):
        self.lines.append("= " + text)

    def case(self, mnemonic, operands, results, tolerance=None):
        line = f"{mnemonic} {', '.join(map(str, operands))} -> {', '.join(map(str, results))}"
        self.lines.append(line + (f" ~ {tolerance}" if tolerance else ""))

    def write(self):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, "w") as out:
            out.write("\n".join(self.lines) + "\n")


def hexf(fmt, bits):
    """Bits as PTX writes them: 0f for f32, 0d for f64, else hexadecimal; "nan" stays."""
    if bits == "nan":
        return bits
    prefix = {"f32": "0f", "f64": "0d"}.get(fmt.name, "0x")
    return f"{prefix}{bits:0{fmt.bits // 4}X}"


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def unsigned(value, bits):
    return value & ((1 << bits) - 1)


def wrap(value, type_name):
    """An integer as a value of "s32", "u16" ...: two's complement."""
    bits = int(type_name[1:])
    return signed(value, bits) if type_name[0] == "s" else unsigned(value, bits)


def limits(type_name):
    bits = int(type_name[1:])
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if type_name[0] == "s" else (0, (1 << bits) - 1)


def clamp(value, type_name):
    low, high = limits(type_name)
    return min(max(value, low), high)


def integers(rng, type_name, count):
    """Limits, small numbers and random ones of any size."""
    low, high = limits(type_name)
    bits = int(type_name[1:])
    values = [0, 1, high, low, high - 1, low + 1, wrap(-1, type_name), 2, 7]
    while len(values) < count:
        values.append(wrap(rng.getrandbits(rng.randint(1, bits)), type_name))
    return values[:count] if count < len(values) else values
