"""Two forms that accept one and the same instruction, though they stand under different instructions, are an error: what an
instruction means must not depend on the order of the table. Forms of one instruction may overlap (`ld` with and without cache
operators): they mean the same, and the first one wins."""
import itertools

from spec_parser import SpecError


def check(table):
    byOpcode = {}
    for form in table.forms:
        byOpcode.setdefault(form.opcode, []).append(form)
    for forms in byOpcode.values():
        for a, b in itertools.combinations(forms, 2):
            if (a.section, a.instruction) != (b.section, b.instruction) and overlap(a, b):
                raise SpecError(b.path, b.line, f"accepts what {a.section} '{a.notation}' ({a.path}:{a.line}) accepts")


def overlap(a, b):
    return versionsOverlap(a, b) and modifiersOverlap(a, b) and operandsOverlap(a.operands, b.operands)


def versionsOverlap(a, b):
    return not (a.until and b.since > a.until) and not (b.until and a.since > b.until)


def modifiersOverlap(a, b):
    for kind in ("type", "space"):
        if not sequencesOverlap(ordered(a, kind), ordered(b, kind)):
            return False
    return covers(a, b) and covers(b, a)


def ordered(form, kind):
    return [slot for slot in form.slots if slot.kind == kind]


def words(slot):
    return {c.token for c in slot.choices}


def sequencesOverlap(a, b):
    if not a and not b:
        return True
    if a and b and words(a[0]) & words(b[0]) and sequencesOverlap(a[1:], b[1:]):
        return True
    if a and a[0].isOptional and sequencesOverlap(a[1:], b):
        return True
    return bool(b and b[0].isOptional and sequencesOverlap(a, b[1:]))


def covers(a, b):
    """Each mandatory word of a finds a slot of its own in b (greedy; mandatory slots hold few tokens in common)."""
    free = [slot for slot in b.slots if slot.kind not in ("type", "space")]
    for slot in a.slots:
        if slot.kind in ("type", "space") or slot.isOptional:
            continue
        partner = next((other for other in free if words(other) & words(slot)), None)
        if partner is None:
            return False
        free.remove(partner)
    return True


def shapes(operand):
    if operand.kind == "address":
        return {"address"}
    if operand.kind in ("pack", "unpack"):
        return {"vector"}
    if operand.kind in ("sink", "list", "label", "labels", "callee", "prototype"):
        return {operand.kind}
    if operand.kind == "imm":
        return {"integer"}
    found = {"scalar"} if operand.arity == (0, 0) else {"vector"}
    if operand.aritySlot >= 0:
        found |= {"scalar", "vector"}
    if "scalar" in found and not operand.isRegisterOnly and not operand.isDestination:
        found.add("integer")
    return found


def operandsOverlap(a, b):
    if not a and not b:
        return True
    if a and b and shapes(a[0]) & shapes(b[0]) and operandsOverlap(a[1:], b[1:]):
        return True
    if a and a[0].isOptional and operandsOverlap(a[1:], b):
        return True
    return bool(b and b[0].isOptional and operandsOverlap(a, b[1:]))
