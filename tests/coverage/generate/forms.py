"""The forms of the instruction table, and combinations of their modifiers in which each value occurs."""
import glob
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../translate/isa"))
import spec_parser

SPACES = {"const", "global", "local", "param", "param::entry", "param::func", "shared", "shared::cta", "shared::cluster"}
_table = None


def formsOf(opcode):
    """All forms of instructions with this opcode ("ld"), in order."""
    global _table
    if not _table:
        _table = spec_parser.readTable(sorted(glob.glob(os.path.join(os.path.dirname(spec_parser.__file__), "spec/*.ptxspec"))))
    return [form for form in _table.forms if form.opcode == opcode]


class Choice:
    """Which modifiers an instruction of the form is written with."""

    def __init__(self, form, chosen):
        self.form, self.chosen = form, chosen  # per slot a spec_parser.Choice or None

    @property
    def mnemonic(self):
        return ".".join([self.form.opcode] + [c.token for c in self.chosen if c])

    def has(self, token):
        return any(c and c.token == token for c in self.chosen)

    def get(self, slotName):
        """The token in the slot of that name; None where it was left out or there is none."""
        for slot, c in zip(self.form.slots, self.chosen):
            if slot.name == slotName:
                return c.token if c else None
        return None

    def among(self, tokens):
        """The first modifier that is one of them."""
        return next((c.token for c in self.chosen if c and c.token in tokens), None)

    @property
    def space(self):
        return self.among(SPACES)

    @property
    def vector(self):
        return int((self.among({"v2", "v4", "v8"}) or "v1")[1:])

    @property
    def type(self):
        return [c.token for c in self.chosen if c and c.token in spec_parser.TYPES][-1]


def covering(form, isLegal, without=()):
    """Legal choices in which every value of every slot occurs but those `without`; raises where some never can."""
    rng = random.Random(form.section + form.notation)
    wanted = {(i, c) for i, slot in enumerate(form.slots) for c in list(slot.choices) + [None] * slot.isOptional
              if not (c and c.token in without)}
    found = []
    for _ in range(200000):
        if not wanted:
            return found
        i, value = rng.choice(sorted(wanted, key=lambda w: (w[0], w[1].token if w[1] else "")))
        chosen = []
        for k, slot in enumerate(form.slots):
            options = [c for c in slot.choices if c.token not in without] + [None] * slot.isOptional
            fresh = [c for c in options if (k, c) in wanted]
            chosen.append(value if k == i else rng.choice(fresh if fresh and rng.random() < .7 else options))
        if not groupsAreWhole(form, chosen):
            continue
        choice = Choice(form, chosen)
        gains = {(k, c) for k, c in enumerate(chosen)} & wanted
        if gains and isLegal(choice):
            wanted -= gains
            found.append(choice)
    raise ValueError(f"{form.section} {form.notation}: no legal instruction with " +
                     ", ".join(f"{form.slots[i].name}: {c.token if c else 'left out'}" for i, c in wanted))


def groupsAreWhole(form, chosen):
    groups = {}
    for slot, c in zip(form.slots, chosen):
        if slot.group:
            groups.setdefault(slot.group, set()).add(c is not None)
    return all(len(present) == 1 for present in groups.values())


def bitsOf(type_):
    """Of one element."""
    if type_.startswith(("e5m2", "e4m3")):
        return 8 * int(type_[5:] or 1)
    base, _, lanes = type_.lstrip("busfe").partition("x")
    return int(base) * int(lanes or 1)
