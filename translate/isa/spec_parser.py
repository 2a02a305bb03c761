"""Reads the instruction table: *.ptxspec files to Forms with Slots and Operands."""
import os
import re

# Literals that may stand anywhere behind the opcode. Any other literal directly behind the opcode (and behind other such
# literals) is part of the instruction's name and keeps its place: mul.wide, bar.arrive, but for SHORT_NAMES.
FREE_WORDS = set("""sync aligned approx full ftz sat rn rna rs relu satfinite noftz NaN abs oob weak volatile relaxed acquire
release mmio nc add popc ballot uni L1 L2 tensormap cc trans all any unified mbarrier_init noComplete sp::ordered_metadata
tensormap::generic async::generic""".split())
# Instructions whose name ends where it does in the heading: literals behind it may stand anywhere.
SHORT_NAMES = set("""cp.async cp.async.bulk cp.reduce.async.bulk cp.async.bulk.prefetch cp.async.bulk.tensor cp.reduce.async.bulk.tensor
cp.async.bulk.prefetch.tensor tensormap.replace tensormap.cp_fenceproxy clusterlaunchcontrol.query_cancel""".split())

TYPES = set("""pred b1 b2 b4 b8 b16 b32 b64 b128 u2 u4 u8 u16 u32 u64 s2 s4 s8 s16 s32 s64 f16 f32 f64 f16x2 f32x2 bf16 bf16x2
tf32 e4m3 e5m2 e4m3x2 e5m2x2 e4m3x4 e5m2x4 e2m1 e2m3 e3m2 e2m1x2 e2m3x2 e3m2x2 e2m1x4 e2m3x4 e3m2x4 ue8m0 ue4m3 ue8m0x2 s2f6x2
u8x4 s8x4 u16x2 s16x2 b4x16 b4x16_p64 b6x16_p32 b6p2x16 b8x16 texref samplerref surfref""".split())

SPACES = {
    "const": "constant", "global": "global", "local": "local", "param": "param", "param::entry": "param",
    "param::func": "param", "shared": "shared", "shared::cta": "shared", "shared::cluster": "sharedCluster",
}

EFFECTS = {"lane", "memory", "warp", "sync", "control", "hint"}
KINDS = {"sink", "imm", "label", "labels", "callee", "prototype", "list", "any", "addr", "ptr", "pack", "unpack", "opaque"}


class SpecError(Exception):
    def __init__(self, path, line, message):
        super().__init__(message)
        self.path, self.line, self.message = path, line, message


class Choice:
    """One token that a slot accepts, with what it needs."""

    def __init__(self, token, since=0, targets=()):
        self.token, self.since, self.targets = token, since, tuple(targets)
        self.isWide = False    # only with 256-bit vectors
        self.isGlobal = False  # only with .global and generic addresses


class Slot:
    """A place for one modifier. `group` names slots that are written together or not at all ({.xorsign.abs})."""

    def __init__(self, name, choices, isOptional, isInPlace, group):
        self.name, self.choices, self.isOptional, self.isInPlace, self.group = name, choices, isOptional, isInPlace, group

    @property
    def kind(self):
        words = [c.token for c in self.choices]
        if all(w in TYPES for w in words):
            return "type"
        if all(w in SPACES for w in words):
            return "space"
        if all(w in ("row", "col") for w in words):
            return "layout"
        if all(re.fullmatch(r"v\d+", w) for w in words):
            return "vector"
        return "word"


class Operand:
    def __init__(self):
        self.name = ""
        self.kind = "value"
        self.type = ""           # a type's name; empty with typeSlot
        self.typeSlot = -1
        self.isDoubled = False   # `wide`
        self.arity = (0, 0)      # vector of that many elements; (0, 0) a scalar
        self.aritySlot = -1      # arity given by a number in the modifier written there,
        self.arityLetter = ""    # the one behind this letter (m64n8k16: n), else the first
        self.arityFactor = 1     # times this, or divided by its negative
        self.isDestination = self.mayBeWider = self.maySink = self.isRegisterOnly = False
        self.mayNegate = self.isOptional = self.isJoined = self.isUnified = False
        self.selector = ""        # which selectors may stand behind a register
        self.maySpecial = self.isIndexed = False
        self.conditionSlot = -1
        self.space = None        # of an address: fixed
        self.spaceSlot = -1
        self.immediates = None   # list of (low, high)
        self.nested = []         # an address's further parts


class Form:
    pass


class Table:
    def __init__(self):
        self.forms = []
        self.specials = []


def version(text):
    major, minor = text.split(".")
    return int(major) * 10 + int(minor)


def readTable(paths):
    table = Table()
    for path in paths:
        if os.path.basename(path).startswith("10_special"):
            readSpecials(path, table)
        else:
            readFile(path, table)
    return table


def readSpecials(path, table):
    for number, line in enumerate(open(path), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            name, kind, components = words[0], words[1].lstrip("."), int(words[2])
            since, targets = 10, ()
            for word in words[3:]:
                if word.startswith("since="):
                    since = version(word[6:])
                else:
                    targets = tuple(word.split("|"))
        except (ValueError, IndexError):
            raise SpecError(path, number, "expected: %name .type components {since=x.y} {target}")
        table.specials.append((name.lstrip("%"), kind, components, since, targets))


def readFile(path, table):
    shared, heading, pending, sets = {}, None, [], {}

    def flush():
        for number, notation, attributes in pending:
            scope = dict(shared)
            scope.update(sets)
            table.forms.append(buildForm(path, number, heading, notation, attributes, scope))
        pending.clear()
        sets.clear()

    for number, line in enumerate(open(path), 1):
        text = line.split("#")[0].rstrip()
        if not text.strip():
            continue
        if text.startswith("=="):
            flush()
            words = text[2:].split(None, 1)
            if len(words) != 2:
                raise SpecError(path, number, "expected: == section instruction")
            heading = words
        elif re.match(r"\s*\.\S+\s*=", text):
            name, entry = readSet(path, number, text)
            (sets if heading else shared)[name] = entry
        else:
            if heading is None or "|" not in text or ";" not in text:
                raise SpecError(path, number, "expected: notation; | attributes")
            cut = text.rindex(";")
            pending.append((number, text[:cut].strip(), text[cut + 1:].strip().lstrip("|").split()))
    flush()


def readSet(path, number, text):
    match = re.fullmatch(r"\s*\.(\S+?)(!?)\s*=\s*\{(.*)\}\s*", text)
    if not match:
        raise SpecError(path, number, "expected: .name = { .a, .b@7.8@sm_90 }")
    choices = []
    for item in match[3].split(","):
        for one in expand(item.strip()):
            choices.append(readChoice(path, number, one))
    return match[1], (choices, bool(match[2]))


def expand(item):
    """`.m64n[8:24:8]k16` to .m64n8k16, .m64n16k16, .m64n24k16."""
    match = re.fullmatch(r"(.*)\[(\d+):(\d+):(\d+)\](.*)", item)
    if not match:
        return [item]
    first, last, step = int(match[2]), int(match[3]), int(match[4])
    return [f"{match[1]}{n}{match[5]}" for n in range(first, last + 1, step)]


def readChoice(path, number, item):
    parts = item.split("@")
    choice = Choice(parts[0].lstrip("."))
    for part in parts[1:]:
        if re.fullmatch(r"\d+\.\d+", part):
            choice.since = version(part)
        elif part.startswith("sm_"):
            choice.targets = tuple(part.split("|"))
        elif part == "wide":
            choice.isWide = True
        elif part == "global":
            choice.isGlobal = True
        else:
            raise SpecError(path, number, f"expected a version or a target after @, found '{part}'")
    return choice


def buildForm(path, number, heading, notation, attributes, sets):
    form = Form()
    form.path, form.line = path, number
    form.section, form.instruction = heading
    head, _, tail = notation.partition(" ")
    form.opcode = re.match(r"[a-z0-9]+", head)[0]
    nameEnd = len(form.instruction if form.instruction in SHORT_NAMES else head) - len(form.opcode)
    form.slots = readSlots(path, number, head[len(form.opcode):], nameEnd, sets)
    form.notation = printable(notation, form, sets)
    readAttributes(form, attributes)
    form.operands = OperandReader(form, tail).read()
    return form


def readAttributes(form, words):
    form.isTodo = form.isWide = False
    form.effect = form.handler = form.intrinsic = ""
    form.since, form.until, form.targets, form.ceiling = 10, 0, (), 0
    for word in words:
        if word == "todo":
            form.isTodo = True
        elif word == "wide":
            form.isWide = True
        elif word in EFFECTS:
            form.effect = word
        elif word.startswith("lower"):
            form.handler = word
        elif word.startswith("intrinsic="):
            form.intrinsic = word[10:]
        elif word.startswith("since="):
            form.since = version(word[6:])
        elif word.startswith("until="):
            form.until = version(word[6:])
        elif word.startswith("below=sm_"):
            form.ceiling = int(word[9:])
        elif word.startswith("sm_"):
            form.targets = tuple(word.split("|"))
        else:
            raise SpecError(form.path, form.line, f"unknown attribute '{word}'")
    if not form.effect or not (form.handler or form.isTodo):
        raise SpecError(form.path, form.line, "a form needs an effect, and a handler or `todo`")


def readSlots(path, number, text, nameEnd, sets):
    slots, depth, group, position = [], 0, 0, 0
    inName = True
    groups = 0
    while position < len(text):
        if text[position] == "{":
            depth, groups = 1, groups + 1
            group = groups
            position += 1
        elif text[position] == "}":
            depth, group = 0, 0
            position += 1
        else:
            match = re.match(r"\.([A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*(?:@[A-Za-z0-9_.|]*[A-Za-z0-9])*)", text[position:])
            if not match:
                raise SpecError(path, number, f"cannot read modifiers at '{text[position:]}'")
            word = match[1]
            if word in sets:
                choices, isInPlace = sets[word]
            else:
                choices, isInPlace = [readChoice(path, number, word)], False
                word = choices[0].token
                if inName and not depth and position < nameEnd and word not in FREE_WORDS and word not in TYPES and word not in SPACES:
                    isInPlace = True
            inName = inName and isInPlace
            slots.append(Slot(word, choices, depth > 0, isInPlace, group))
            position += match.end()
    sizes = {}
    for slot in slots:
        sizes[slot.group] = sizes.get(slot.group, 0) + 1
    for slot in slots:
        if slot.group and sizes[slot.group] == 1:
            slot.group = 0
    return slots


def printable(notation, form, sets):
    """The manual's line: our annotations removed."""
    head, _, tail = notation.partition(" ")
    head = re.sub(r"@[A-Za-z0-9_.|]*[A-Za-z0-9]", "", head)
    tail = re.sub(r" if \.[A-Za-z0-9_:]+", "", tail)
    tail = re.sub(r"(?<=\w):\.?[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*(?:::[A-Za-z0-9]+)*(?:\([^)]*\))?", "", tail)
    tail = re.sub(r"<[^>]*>", "", tail)
    tail = re.sub(r"(?<=[\w}])(?:[*_!%+]|\^[24]?)+(?=[,|{}\]]|$)", "", tail)
    return (head + " " + tail).strip() + ";"


class OperandReader:
    """Recursive descent over the operand part of a notation."""

    def __init__(self, form, text):
        self.form, self.text, self.position = form, text.replace(" ", ""), 0
        self.text = text

    def fail(self, message):
        raise SpecError(self.form.path, self.form.line, f"{message} at '{self.text[self.position:]}'")

    def skip(self):
        while self.position < len(self.text) and self.text[self.position] == " ":
            self.position += 1

    def take(self, word):
        self.skip()
        if self.text.startswith(word, self.position):
            self.position += len(word)
            return True
        return False

    def read(self):
        operands = []
        self.skip()
        while self.position < len(self.text):
            if self.take("{,") or self.take("{|"):
                isJoin = self.text[self.position - 1] == "|"
                if isJoin:
                    operands[-1].isJoined = True
                operand = self.operand()
                operand.isOptional = True
                if self.take("if"):
                    operand.conditionSlot = self.slot(self.word())
                if not self.take("}"):
                    self.fail("expected }")
                operands.append(operand)
            elif self.take("|"):
                operands[-1].isJoined = True
                operands.append(self.operand())
            elif self.take(",") or not operands:
                operands.append(self.operand())
            else:
                self.fail("expected , or | or {")
            self.skip()
        self.markDestinations(operands)
        return operands

    def markDestinations(self, operands):
        if not operands:
            return
        first = operands[0]
        name = first.name
        writes = name in ("d", "p", "f", "q", "state", "waitComplete", "count", "cache-policy", "pred", "ptr") or name.startswith("dst")
        if first.kind in ("value", "unpack") and writes:
            for operand in operands:
                operand.isDestination = True
                if not operand.isJoined:
                    break

    def word(self):
        self.skip()
        match = re.match(r"\.?[A-Za-z0-9_:-]+", self.text[self.position:])
        if not match:
            self.fail("expected a name")
        self.position += match.end()
        return match[0]

    def slot(self, name):
        name = name.lstrip(".")
        for index, slot in enumerate(self.form.slots):
            if slot.name == name:
                return index
        self.fail(f"no modifier .{name} in this form")

    def operand(self):
        operand = Operand()
        if self.take("{!}"):
            operand.mayNegate = True
        self.skip()
        if self.take("["):
            return self.address(operand)
        match = re.match(r"[A-Za-z][A-Za-z0-9-]*", self.text[self.position:])
        if not match:
            self.fail("expected an operand")
        operand.name = match[0]
        self.position += match.end()
        self.annotation(operand)
        return operand

    def annotation(self, operand):
        if self.take(":"):
            match = re.match(r"(\.?[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*)(?:\(([^)]*)\))?", self.text[self.position:])
            if not match:
                self.fail("expected a type")
            self.position += match.end()
            self.classify(operand, match[1], match[2])
        else:
            operand.typeSlot = self.defaultType(operand)
        while self.position < len(self.text) and self.text[self.position] in "*_!<^%+":
            mark = self.text[self.position]
            self.position += 1
            if mark == "*":
                operand.mayBeWider = True
            elif mark == "_":
                operand.maySink = True
            elif mark == "!":
                operand.isRegisterOnly = True
            elif mark == "^":
                operand.selector = "kSelectOne"
                if self.take("2"):
                    operand.selector = "kSelectHalves"
                elif self.take("4"):
                    operand.selector = "kSelectBytes"
            elif mark == "%":
                operand.maySpecial = True
            elif mark == "+":
                operand.isIndexed = True
            else:
                end = self.text.index(">", self.position)
                self.arity(operand, self.text[self.position:end])
                self.position = end + 1

    def classify(self, operand, word, range_):
        if range_ is not None:
            operand.immediates = []
            for item in range_.split("|"):
                item, _, step = item.partition("/")
                low, _, high = item.partition("..")
                operand.immediates.append((int(low), int(high or low), int(step or 1)))
        if word in KINDS:
            operand.kind = word
            if word in ("any", "addr", "pack", "unpack", "ptr"):
                operand.typeSlot = self.defaultType(operand)
            if word == "addr":
                operand.spaceSlot = self.spaceSlot()
        elif word == "wide":
            operand.isDoubled = True
            operand.typeSlot = self.defaultType(operand)
        elif word.startswith("."):
            operand.typeSlot = self.slot(word)
        elif word in TYPES:
            operand.type = word
        else:
            self.fail(f"unknown operand class '{word}'")

    def arity(self, operand, text):
        match = re.fullmatch(r"\.([\w]+)(?:\.(\w))?([*/]\d+)?", text)
        if match:
            operand.aritySlot = self.slot(match[1])
            operand.arityLetter = match[2] or ""
            factor = match[3] or "*1"
            operand.arityFactor = int(factor[1:]) * (1 if factor[0] == "*" else -1)
        else:
            low, _, high = text.partition("..")
            operand.arity = (int(low), int(high or low))

    def spaceSlot(self):
        return next((i for i, slot in enumerate(self.form.slots) if slot.kind == "space"), -1)

    def defaultType(self, operand):
        if operand.kind == "ptr":
            return -1
        for index, slot in enumerate(self.form.slots):
            if slot.kind == "type":
                return index
        self.fail(f"operand {operand.name} needs a type")

    def address(self, operand):
        operand.kind = "address"
        match = re.match(r"([A-Za-z][\w-]*)(?::(\.?\w+(?:::\w+)*))?", self.text[self.position:])
        if not match:
            self.fail("expected an address")
        self.position += match.end()
        operand.name, space = match[1], match[2]
        if space:
            if space == "any":
                operand.space = "any"
            elif space == "tmem":
                operand.space = space
            elif space in ("texref", "samplerref", "surfref"):
                operand.space, operand.type = "opaque", space
            elif space.startswith("."):
                operand.spaceSlot = self.slot(space)
            elif space in SPACES:
                operand.space = SPACES[space]
            else:
                self.fail(f"unknown state space '{space}'")
        else:
            operand.spaceSlot = self.spaceSlot()
        while not self.take("]"):
            isOptional = self.take("{,")
            if not isOptional and not self.take(","):
                self.fail("expected , or ]")
            part = self.operand()
            part.isOptional = isOptional
            if isOptional and not self.take("}"):
                self.fail("expected }")
            operand.nested.append(part)
        if self.take("{.unified}"):
            operand.isUnified = True
        return operand
