"""Writes the tables that C++ includes: isa_tokens.inc, isa_special.inc, isa_handlers.inc, isa_tables.inc."""
import os
import re

import spec_parser

CPP_WORDS = {"and", "or", "xor", "not", "const", "volatile", "double", "union", "none", "inline", "auto"}


def identifier(spelling):
    name = re.sub(r"[^A-Za-z0-9]+", "_", spelling)
    if name[0].isdigit():
        name = "_" + name
    return name + "_" if name in CPP_WORDS else name


def string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Pool:
    """An array without repetitions of equal runs."""

    def __init__(self):
        self.items, self.known = [], {}

    def add(self, run):
        run = tuple(run)
        if run not in self.known:
            self.known[run] = len(self.items)
            self.items.extend(run)
        return self.known[run]


class Writer:
    def __init__(self, table):
        self.table = table
        self.choices, self.slots, self.operands, self.ranges, self.targets = Pool(), [], [], Pool(), Pool()
        self.targets.add(["{0, 0}"])
        tokens = set(spec_parser.SPACES)
        for form in table.forms:
            for slot in form.slots:
                tokens.update(c.token for c in slot.choices)
        tokens.update(["v2", "v4", "v8"])
        self.tokens = sorted(tokens)

    def rule(self, targets):
        """Index and length of a list of alternatives; length 0: every target."""
        entries = []
        for target in targets:
            match = re.fullmatch(r"sm_(\d+)([af]?)", target)
            entries.append("{%s, %s}" % (match[1], "'%s'" % match[2] if match[2] else "0"))
        return "{%d, %d}" % (self.targets.add(entries) if entries else 0, len(entries))

    def choice(self, c):
        return "{Token::%s, %d, %s, %s, %s}" % (identifier(c.token), c.since, self.rule(c.targets), flag(c.isWide),
                                                flag(c.isGlobal))

    def form(self, form):
        """Slots and operands are appended; the pattern's line is returned."""
        firstSlot = len(self.slots)
        for slot in form.slots:
            entries = [self.choice(c) for c in slot.choices]
            self.slots.append("{%d, %d, SlotKind::%s, %s, %s, %d, %s}" % (
                self.choices.add(entries), len(entries), slot.kind, flag(slot.isOptional), flag(slot.isInPlace), slot.group,
                string(slot.name)))
        nested = []
        for operand in form.operands:
            nested.append(len(self.operands))
            self.operands.extend(self.operand(part, 0) for part in operand.nested)
        first = len(self.operands)
        for operand, start in zip(form.operands, nested):
            self.operands.append(self.operand(operand, start))
        return "{%d, %d, %d, %d, %d, %d, %s, %s}" % (firstSlot, len(form.slots), first, len(form.operands), form.until, form.ceiling,
                                                     self.rule(form.targets), flag(form.isWide))

    def operand(self, o, nested):
        ranges = ["{%d, %d, %d}" % run for run in o.immediates or []]
        flags = [name for name, isSet in (
            ("kDestination", o.isDestination), ("kWider", o.mayBeWider), ("kSink", o.maySink), ("kRegisterOnly", o.isRegisterOnly),
            ("kNegatable", o.mayNegate), ("kOptional", o.isOptional), ("kJoined", o.isJoined), 
            (o.selector, o.selector), ("kDoubled", o.isDoubled), ("kUnified", o.isUnified), ("kSpecial", o.maySpecial),
            ("kIndexed", o.isIndexed)) if isSet]
        space = o.space if o.kind == "address" else None
        rule = "none" if o.kind != "address" else "fixed" if space in spec_parser.SPACES.values() else space or "slot"
        fixed = space if rule == "fixed" else "generic"
        return "{%s, OperandKind::%s, Type::%s, %d, {%d, %d}, %d, %s, %d, %d, SpaceRule::%s, StateSpace::%s, %d, %d, %d, %d, %d, %s}" % (
            string(o.name), identifier(o.kind) if o.kind != "value" else "value", o.type or "none", o.typeSlot, o.arity[0],
            o.arity[1], o.aritySlot, "'%s'" % o.arityLetter if o.arityLetter else "0", o.arityFactor, o.conditionSlot, rule, fixed, o.spaceSlot,
            self.ranges.add(ranges) if ranges else 0, len(ranges), nested, len(o.nested), " | ".join(flags) or "0")


def flag(value):
    return "true" if value else "false"


def write(table, folder):
    writer = Writer(table)
    patterns = [writer.form(form) for form in table.forms]
    os.makedirs(folder, exist_ok=True)
    save(folder, "isa_tokens.inc", ["PTXRUN_TOKEN(%s, %s)" % (identifier(t), string(t)) for t in writer.tokens])
    save(folder, "isa_special.inc", ["PTXRUN_SPECIAL(%s, %s, %s, %d)" % (identifier(n), string(n), t, c)
                                     for n, t, c, _, _ in table.specials])
    handlers = sorted({form.handler for form in table.forms if not form.isTodo})
    save(folder, "isa_handlers.inc", ["PTXRUN_HANDLER(%s)" % h for h in handlers])
    save(folder, "isa_tables.inc", tables(table, writer, patterns))


def tables(table, writer, patterns):
    lines = ["constexpr Form kForms[] = {"]
    for index, f in enumerate(table.forms):
        effect, handler = ("todo", "none") if f.isTodo else (f.effect, f.handler)
        lines.append("{%d, %s, %s, %s, Effect::%s, Handler::%s, %s, %d, %d, %s}," % (
            index, string(f.opcode), string(f.notation), string(f.section), effect, handler, string(f.intrinsic), f.since, index,
            string(f.instruction)))
    lines.append("};")
    special = ["{%d, %s}" % (since, writer.rule(targets)) for _, _, _, since, targets in table.specials]
    add(lines, "Pattern", "kPatterns", patterns)
    add(lines, "Slot", "kSlots", writer.slots)
    add(lines, "Choice", "kChoices", writer.choices.items)
    add(lines, "OperandPattern", "kOperands", writer.operands)
    add(lines, "ImmediateRange", "kRanges", writer.ranges.items or ["{0, 0, 1}"])
    add(lines, "SpecialRule", "kSpecialRules", special or ["{0, {0, 0}}"])
    opcodes = {}
    for index, f in enumerate(table.forms):
        opcodes.setdefault(f.opcode, []).append(str(index))
    order, entries = [], []
    for opcode in sorted(opcodes):
        entries.append("{%s, %d, %d}" % (string(opcode), len(order), len(opcodes[opcode])))
        order.extend(opcodes[opcode])
    add(lines, "uint16_t", "kOpcodeForms", order)
    add(lines, "OpcodeEntry", "kOpcodes", entries)
    add(lines, "TargetAlternative", "kTargets", writer.targets.items)
    return lines


def add(lines, type_, name, entries):
    lines.append("constexpr %s %s[] = {" % (type_, name))
    lines.extend(entry + "," for entry in entries)
    lines.append("};")


def save(folder, name, lines):
    text = "// Generated from translate/isa/spec by generate.py.\n" + "\n".join(lines) + "\n"
    path = os.path.join(folder, name)
    if not os.path.exists(path) or open(path).read() != text:
        with open(path, "w") as file:
            file.write(text)
