"""A decoder of gmc packets of an ordered link, after gmc.md: for messages of text with numbers and strings.

Binary messages raise Unsupported, and nested messages are not looked for: a client with no more than this does not state
capability 10. It is here to show that gmc.md can be implemented, and is slow.
"""

import re
from collections import namedtuple

import gmc_lines as lines
from gmc_grids import Grid

U32 = 0xFFFFFFFF
RATE = (40960, 25206, 18204, 14247, 11703, 9930, 8623, 7620, 6500, 5650, 4900, 4300, 3700, 3100, 2600, 2184)
WEIGHT = (1, 6, 12, 18, 24, 30, 36, 42, 50, 58, 66, 74, 82, 92, 102, 120)
EVEN, LIKELY = (2048, 0), (4064, 9)


RUN = 0x4A9D  # section 11.4
MARKS = rb"""!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~"""
DIGITS, SMALL, CAPITAL = b"0123456789", b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALPHABETS = (
    DIGITS + SMALL[:6], DIGITS + SMALL[:6], DIGITS + CAPITAL[:6], DIGITS + SMALL, DIGITS + CAPITAL,
    DIGITS + SMALL + CAPITAL, DIGITS + SMALL + CAPITAL + b"-_", DIGITS + SMALL + CAPITAL + b"+/",
)  # fmt: skip


class Unsupported(Exception):
    pass


class Malformed(Exception):
    pass


def hash2(a, b):
    x = ((a << 11 | a >> 21) & U32 ^ b & U32) * 0x9E3779B1 & U32
    return (x ^ x >> 15) * 0x85EBCA77 & U32


def hash_bytes(a, data):
    for byte in data:
        a = hash2(a, byte)
    return a


def hash_message(a, data):
    whole = len(data) // 4 * 4
    for at in range(0, whole, 4):
        a = hash2(a, int.from_bytes(data[at : at + 4], "little"))
    return hash_bytes(a, data[whole:])


def tree(coder, row, bits):
    """A number of some bits as a binary tree of decisions, the highest bit first."""
    node = 1
    while node >> bits == 0:
        node = 2 * node + coder.bit(row, node - 1)
    return node - (1 << bits)


def cut(a, b):
    """Division that rounds towards zero."""
    return abs(a) // b * (1 if a >= 0 else -1)


def i64(value):
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def i32(value):
    """A value that fits into 32 bits, or else 0."""
    return value if -(1 << 31) <= value < 1 << 31 else 0


class RangeDecoder:  # section 3
    def __init__(self, packet, trace=None):
        self.packet, self.at, self.trace = packet, 4, trace
        self.low, self.high = 0x10000000, U32
        self.value = max(int.from_bytes((packet + bytes(4))[:4], "big"), self.low)

    def bit(self, p):
        mid = self.low + ((self.high - self.low) * p >> 16)
        bit = self.value <= mid
        if bit:
            self.high = mid
        else:
            self.low = mid + 1
        if self.trace is not None:
            self.trace.append((p, int(bit)))
        while (self.low ^ self.high) >> 24 == 0:
            byte = self.packet[self.at] if self.at < len(self.packet) else 0
            self.at += 1
            self.low = self.low << 8 & U32
            self.high = self.high << 8 & U32 | 255
            self.value = self.value << 8 & U32 | byte
            if self.at > len(self.packet) + 8:
                raise Malformed("more is read than the packet holds")
        return bit


def adapted(cell, bit):  # section 4
    p, age = cell
    q = 4095 - p if bit else p
    q -= q * RATE[age] >> 16
    return (4095 - q if bit else q, min(age + 1, 15))


def code_cell(coder, cells, at):
    bit = coder.bit(cells[at][0] << 4 | 8)
    cells[at] = adapted(cells[at], bit)
    return bit


def code_two(coder, general, at, special, other):
    (p, a), (q, b) = general[at], special[other]
    weight, more = WEIGHT[a], 3 * WEIGHT[b]
    bit = coder.bit(((p * weight + q * more) << 4) // (weight + more) | 8)
    general[at], special[other] = adapted(general[at], bit), adapted(special[other], bit)
    return bit


class Row:
    def __init__(self):
        self.tag, self.uses, self.cells = 0, 0, [(0, 0)] * 15


class Contexts:  # section 5
    def __init__(self, memory):
        self.sets = [[Row() for _ in range(4)] for _ in range(max(memory // 128, 1))]

    def row(self, context):
        hashed = hash2(context, 0)
        rows, tag = self.sets[hashed * len(self.sets) >> 32], hashed & 0xFFE0
        for row in rows:
            if row.tag == tag:
                row.uses = min(row.uses + 1, 31)
                return row.cells
        least = min(rows, key=lambda row: row.uses)
        for row in rows:
            row.uses = max(row.uses - 1, 0)
        # In place: if this was the row of the general context, the decision has one cell.
        least.tag, least.uses, least.cells[:] = tag, 0, [EVEN] * 15
        return least.cells


class Cache:  # section 7
    def __init__(self, memory, entry, default):
        count = max(memory // entry, 1)
        self.ways = min(count, 8)
        self.sets = [[] for _ in range(count // self.ways)]
        self.default, self.clock = default, 0

    def _set(self, key):
        return self.sets[hash2(key, 1) * len(self.sets) >> 32]

    def find(self, key):
        return next((entry[2] for entry in self._set(key) if entry[0] == key), None)

    def note(self, key):
        """The entry of the key, as a list [key, used, value]."""
        entries = self._set(key)
        self.clock += 1
        entry = next((entry for entry in entries if entry[0] == key), None)
        if entry is None:
            if len(entries) == self.ways:
                entry = min(entries, key=lambda entry: entry[1])
                entry[0], entry[2] = key, self.default()
            else:
                entry = [key, 0, self.default()]
                entries.append(entry)
        entry[1] = self.clock
        return entry


class Coder:
    """A range decoder with the contexts, and whole numbers (section 6)."""

    def __init__(self, coder, contexts):
        self.coder, self.contexts = coder, contexts

    def pair(self, general, special):
        a = self.contexts.row(general)
        return (a, a if general == special else self.contexts.row(special))

    def bit(self, rows, node):
        general, special = rows
        if general is special:
            return code_cell(self.coder, general, node)
        return code_two(self.coder, general, node, special, node)

    def one(self, context, node):
        return self.bit(self.pair(context, context), node)

    def signed(self, general, special):
        first = self.pair(general, special)
        if self.bit(first, 0):
            return 0
        negative = self.bit(first, 1)
        magnitude = self._bits(general, special, self._size(general, special))
        return i64(-magnitude if negative else magnitude)

    def unsigned(self, general, special):
        first = self.pair(general, special)
        if self.bit(first, 0):
            return 0
        return self._bits(general, special, self._size(general, special))

    def _size(self, general, special):
        row = self.pair(general, special)
        for size in range(1, 64):
            node = size + 1 if size <= 13 else (size - 14) % 15
            if node == 0:
                row = self.pair(hash2(general, 1000 + size), hash2(special, 1000 + size))
            if not self.bit(row, node):
                return size
        return 64

    def _bits(self, general, special, size):
        if size == 1:
            return 1
        salt, offset = {2: (1, 0), 3: (1, 1), 4: (1, 4)}.get(size, (size, 0))
        modelled = size - 1 if size <= 8 else 4
        row = self.pair(hash2(general, salt), hash2(special, salt))
        value = index = 1
        for done in range(1, size):
            if done > modelled:
                bit = self.coder.bit(1 << 15)
            else:
                if done == 5:
                    context = hash2(general, 100 * size + index)
                    row, index = self.pair(context, context), 1
                bit = self.bit(row, offset + index - 1)
            index, value = 2 * index + bit, 2 * value + bit
        return value


def novelty(share, is_new):
    return share + (255 - share) // 8 if is_new else share - -(-share // 8)


Format = namedtuple("Format", "width decimals zeros")
Seen = namedtuple("Seen", "label identity is_key number")


class Reference:
    def __init__(self):
        self.value = self.delta = self.stamp = 0
        self.costs, self.format, self.seen = [0] * 5, Format(1, 0, 0), False

    def copy(self):
        other = Reference()
        other.__dict__.update(self.__dict__, costs=list(self.costs))
        return other

    def note(self, value):
        self.delta = i32(i64(value - self.value)) if self.seen else 0
        self.value, self.seen = value, True

    def rebase(self, value):
        self.value, self.delta = value, 0

    def rescale(self, more):
        def scaled(number):
            return i64(number * 10**more) if more > 0 else cut(number, 10**-more)

        self.value, self.delta = scaled(self.value), i32(scaled(self.delta))


class Integers:  # section 11.1, on an ordered link, where all ages are 0
    def __init__(self, references, categories):
        self.references = Cache(references, 32, Reference)
        self.categories = Cache(categories, 44, lambda: {"values": [], "rank": 0, "novelty": 128})

    def recall(self, label, who):
        own = self.references.find(hash2(label, who))
        if own is None:
            own = (self.references.find(label) or Reference()).copy()
            own.delta = cut(own.delta, 16)
            return own
        return own.copy()

    def code(self, coder, label, reference):
        category = self.categories.find(label)
        value = None
        if category and category["novelty"] < 32:
            general = hash2(label, 0xCA7E)
            rows = coder.pair(general, hash2(general, 1 + category["rank"]))
            hits = (one for rank, one in enumerate(category["values"]) if coder.bit(rows, rank))
            value = next(hits, None)
        if value is None:
            value = self.predicted(coder, label, reference, self.references.find(label) or Reference())
        else:
            reference.note(value)
        category = self.categories.note(label)[2]
        few = category["novelty"] < 32
        identity = hash2(value & U32, value >> 32 & U32)
        seen = Seen(label, identity, few and len(category["values"]) > 1, None if few else value)
        self._note(category, value)
        return value, seen

    @staticmethod
    def predicted(coder, label, r, other):
        v = r.value
        predictions = [v, v + cut(r.delta, 2), v + r.delta, other.value, other.value + cut(other.delta, 16)]
        best = min(range(5), key=lambda index: r.costs[index])
        general = hash2(label, 0x100 + best + 8 * (1 if r.seen else 0))
        special = hash2(general, abs(r.delta).bit_length() * 2 + (r.delta < 0))
        value = i64(predictions[best] + coder.signed(general, special))
        for index, prediction in enumerate(predictions):
            error = abs(i64(value - prediction)).bit_length()
            r.costs[index] = (7 * r.costs[index] + 3 * error + 4) // 8
        r.note(value)
        return value

    @staticmethod
    def _note(category, value):
        values = category["values"]
        if not -(1 << 31) <= value < 1 << 32:
            category["novelty"] = novelty(category["novelty"], True)
            return
        is_new = value not in values
        category["novelty"] = novelty(category["novelty"], is_new)
        if is_new:
            del values[7:]
            category["rank"] = len(values)
        else:
            category["rank"] = values.index(value)
            values.remove(value)
        values.insert(0, value)

    def remember(self, label, who, reference):
        self.references.note(hash2(label, who))[2] = reference
        before = self.references.find(label)
        every = reference.copy()
        if before is not None and before.seen:
            step = i64(reference.value - before.value)
            every.delta = i32(before.delta + cut(16 * step - before.delta, 16))
        else:
            every.delta = 0
        self.references.note(label)[2] = every


class History:  # section 11.4
    def __init__(self, memory):
        self.size = 256
        while self.size < memory * 8 // 17 // 2 + 1:
            self.size *= 2
        self.data, self.ends = [0] * self.size, [False] * self.size
        self.index = [0] * max((memory - self.size - self.size // 8) // 4, 32)
        self.head = 0

    def _slot(self, string):
        return hash_bytes(7, string[-3:]) * len(self.index) >> 32

    def contains(self, position):
        return 1 <= self.head - position <= self.size and position >= 0

    def has(self, place):
        start, length = place
        return length == 0 or self.contains(start) and self.head - start >= length

    def string(self, place):
        start, length = place
        return bytes(self.data[at % self.size] for at in range(start, start + length))

    def push(self, string):
        self.data[self.head % self.size], self.ends[self.head % self.size] = string[-1], False
        self.head += 1
        if len(string) >= 3:
            self.index[self._slot(string)] = self.head

    def find(self, string):
        if len(string) < 3:
            return None
        position = self.index[self._slot(string)]
        length = 0
        while length < min(16, len(string)):
            before = position - length - 1
            if not self.contains(before) or self.data[before % self.size] != string[-1 - length]:
                break
            length += 1
        return (position, length) if length >= 3 else None

    def next(self, position, length):
        """The byte at a position, "end", or None."""
        if length > 0 and self.ends[(position - 1) % self.size]:
            return "end"
        return self.data[position % self.size] if self.contains(position) else None


class Strings:
    def __init__(self, history, data, recents):
        self.history, self.hits = History(history), [EVEN] * 25
        self.data = [EVEN] * max(data // 2, 256)
        self.recents = Cache(recents, 44, lambda: {"places": [], "novelty": 128, "tail": (0, 0)})

    def literal(self, coder, label, before, like, limit=65536, has_runs=False):
        history, start, string = self.history, self.history.head, bytearray()
        match = [like[0], 0] if like and like[1] > 0 and history.has(like) else None
        c0, c1 = before
        after_run = False

        def push(byte):
            nonlocal c0, c1
            string.append(byte)
            if len(string) > limit:
                raise Malformed("a string is too long")
            c0, c1 = c1, byte
            history.push(string)

        while True:
            predicted = history.next(*match) if match else None
            if predicted is not None and code_cell(coder.coder, self.hits, min(match[1], 24)):
                byte = predicted
            else:
                match = None
                row = None if predicted == "end" else coder.pair(hash2(label, 0xE0D), hash2(label, 0xE0D))
                if row and coder.bit(row, min(len(string), 14)):
                    byte = "end"
                elif has_runs and self._has_run(coder, label, string, predicted is not None, after_run):
                    if self._run(coder, label, push):
                        break
                    after_run = True
                    continue
                else:
                    byte = self._byte(coder, hash2(label, c1), hash2(c0 + 1000, c1))
            if byte == "end":
                break
            after_run = False
            match = [match[0] + 1, match[1] + 1] if match else history.find(string + bytes([byte]))
            push(byte)
        if string:
            history.ends[(history.head - 1) % history.size] = True
        return bytes(string), (start, len(string))

    def _has_run(self, coder, label, string, is_different, after_run):
        if after_run:
            node = 3
        elif not string:
            node = 0
        elif string[-1] in MARKS:
            node = 2
        elif is_different and (len(string) <= 2 or re.search(rb"[0-9][0-9A-Za-z]*\Z", string)):
            node = 1
        else:
            return False
        self.row = coder.pair(hash2(RUN, 0), hash2(label, hash2(RUN, 0)))
        return coder.bit(self.row, node)

    def _run(self, coder, label, push):
        """True if the string ends with the run."""

        def contexts(kind):
            return hash2(RUN, kind), hash2(label, hash2(RUN, kind))

        if coder.bit(self.row, 4):
            history, at = self.history, self.history.head - coder.unsigned(*contexts(1))
            while history.contains(at):
                byte, is_last = history.data[at % history.size], history.ends[at % history.size]
                push(byte)
                if is_last:
                    return True
                at += 1
            raise Malformed("no string is there")
        kind = tree(coder, coder.pair(*contexts(2)), 3)
        count = coder.unsigned(*contexts(3 + kind))
        if not 1 <= count <= 255:
            raise Malformed("a run is too long")
        for left in range(count, 0, -1):
            if kind == 0 and left < count and left in (12, 16, 20, 24):
                push(ord("-"))
            if kind == 0 and left in (16, 20):
                context = hash2(hash2(label, RUN), left)
                number = tree(coder, coder.pair(context, context), 4)
            else:
                number = self._even(coder, len(ALPHABETS[kind]))
            push(ALPHABETS[kind][number])

    @staticmethod
    def _even(coder, count):
        low, high = 0, count
        while high - low > 1:
            middle = (low + high) // 2
            if coder.coder.bit(((high - middle) << 16) // (high - low)):
                low = middle
            else:
                high = middle
        return low

    def _byte(self, coder, general, special):
        node, count = 1, len(self.data)
        while node < 256:
            a, b = (hash2(context, node) * count >> 32 for context in (general, special))
            node = 2 * node + code_two(coder.coder, self.data, a, self.data, b)
        return node - 256

    def code(self, coder, label, who):
        own_key = hash2(label, hash2(who, 1))
        own, every = self.recents.note(own_key)[2], self.recents.note(label)[2]
        rows = coder.pair(hash2(label, 0x7E7), hash2(label, 0x7E7))
        first = own["places"][0] if own["places"] else (0, 0)
        candidates = own["places"] + [place for place in every["places"] if place != first]
        candidates = [place for place in candidates if self.history.has(place)]
        place = next((place for node, place in enumerate(candidates) if coder.bit(rows, node)), None)
        if place is None:
            like = own["places"][0] if own["places"] else None
            string, place = self.literal(coder, label, own["tail"], like, has_runs=True)
        else:
            string = self.history.string(place)
        own = self.recents.note(own_key)[2]
        own["tail"] = tuple((list(own["tail"]) + list(string))[-2:])
        own["places"] = [place]
        every = self.recents.note(label)[2]
        is_key = len(every["places"]) > 1 and every["novelty"] < 32
        is_new = place not in every["places"]
        every["novelty"] = novelty(every["novelty"], is_new)
        if is_new:
            del every["places"][3:]
        else:
            every["places"].remove(place)
        every["places"].insert(0, place)
        return string, Seen(label, hash_message(0x1D, string), is_key, None)


SPLIT = 5  # the format of numbers whose fraction is coded as a string


class Numbers:  # section 11.2
    def __init__(self, grids, integers, strings):
        self.grids = Cache(grids, 48, lambda: None)
        self.integers, self.strings = integers, strings

    def code(self, coder, label, who):
        key = hash2(label, who)
        reference, grid = self.integers.recall(label, who), self.grids.find(key)
        if grid is None:
            text, seen = self._digits(coder, label, reference)
            numeral = lines.with_fraction(text)
            line = lines.line_with(numeral) if numeral else None
            if line:
                grid = Grid(line, line.ordinal(numeral))
                if grid.unit() != "plain":
                    reference.rebase(self._last(grid, grid.unit(), reference))
        else:
            grid, unit = grid.copy(), grid.unit()
            found = None if unit == "plain" else self._on_line(coder, label, reference, grid, unit)
            if found:
                ordinal, in_unit = found
                numeral = grid.line.numeral(ordinal)
                if numeral is None:
                    raise Malformed("a number is not on its line")
                text = lines.write(numeral)
                whole = lines.times(numeral, 1)
                seen = Seen(label, whole & U32, False, whole)
                changed = grid.learn_ordinal(ordinal) or not in_unit
            else:
                if unit != "plain":
                    reference.rebase(self._last(grid, "plain", reference))
                text, seen = self._digits(coder, label, reference)
                numeral = lines.numeral_of(text)
                moved = numeral is not None and grid.learn(numeral)
                changed = unit != "plain" or moved and grid.unit() != "plain"
            if changed:
                reference.rebase(self._last(grid, grid.unit(), reference))
        if grid:
            self.grids.note(key)[2] = grid
        self.integers.remember(label, who, reference)
        return text, seen

    @staticmethod
    def _last(grid, unit, reference):
        """The last number in a unit."""
        if unit == "step":
            return grid.nearest_index(grid.last) or 0
        if unit == "ordinal":
            return grid.last
        numeral = grid.line.numeral(grid.last)
        decimals = reference.format.decimals
        return lines.times(numeral, 10 ** (0 if decimals == SPLIT else decimals)) if numeral else 0

    def _on_line(self, coder, label, reference, grid, unit):
        """The ordinal, and whether it was coded in the unit; or None."""
        row, nobody = coder.pair(hash2(label, 0x6D0), hash2(label, 0x6D0)), Reference()
        if unit == "step":
            if coder.bit(row, 0):
                index = self.integers.predicted(coder, label, reference, nobody)
                error = coder.signed(hash2(label, 0x6D1), hash2(label, 0x6D1))
                ordinal = grid.ordinal(index, error)
                if ordinal is None:
                    raise Malformed("no number is there on the grid")
                return ordinal, True
            reference.rebase(grid.last)
        if not coder.bit(row, 2 if unit == "step" else 1):
            return None
        return self.integers.predicted(coder, hash2(label, 0x6D2), reference, nobody), unit == "ordinal"

    def _digits(self, coder, label, reference):
        before, context = reference.format, hash2(label, 0xF0)
        scale = 0 if before.decimals == SPLIT else before.decimals
        if not coder.one(context, 0):
            parts = [coder.unsigned(hash2(context, part), hash2(context, part)) for part in (1, 2, 3)]
            reference.format = Format(*parts)
            if not 1 <= parts[0] <= 18 or parts[1] > SPLIT or parts[2] > 4:
                raise Malformed("no such format")
            more = (0 if parts[1] == SPLIT else parts[1]) - scale
            reference.rescale(more)
            scale += more
        width, decimals, zeros = reference.format
        value, seen = self.integers.code(coder, label, reference)
        if scale and seen.number is not None:
            seen = seen._replace(number=cut(seen.number, 10**scale))
        if abs(value) >= 10**18:
            raise Malformed("a number has too many digits")
        negative = coder.one(hash2(label, 0x5E0), 0) if value == 0 else value < 0
        digits = str(abs(value)).encode() if value else b""
        digits = digits.rjust(scale + width, b"0")
        text = (b"-" if negative else b"") + digits[: len(digits) - scale]
        if scale + zeros:
            text += b"." + digits[len(digits) - scale :] + b"0" * zeros
        if decimals == SPLIT and coder.one(hash2(label, 0xF3), 0):
            fraction, _ = self.strings.literal(coder, hash2(label, 0xF4), (0, ord(".")), None, limit=24)
            text += b"." + fraction
        return text, seen


def is_alnum(byte):
    return byte < 128 and chr(byte).isalnum()


def is_word(byte):
    return is_alnum(byte) or byte in b"_#" or byte >= 0x80


def is_punctuation(byte):
    return 33 <= byte < 127 and not is_alnum(byte)


def digits(text, at):
    end = at
    while end < len(text) and text[end] in b"0123456789":
        end += 1
    return end - at


def number_end(text, at):  # section 15.2
    signed = text[at : at + 1] == b"-" and (at == 0 or not is_alnum(text[at - 1]))
    start = at + signed
    end = start + digits(text, start)
    if not 1 <= end - start <= 18:
        return None
    run = bytearray()
    for byte in text[end : end + 64]:
        if not is_word(byte) and byte != ord("-"):
            break
        run.append(byte)
    letters = next((count for count, byte in enumerate(run) if not chr(byte).isalpha() or byte > 127), len(run))
    has_other = any(byte not in b"0123456789-" for byte in run)
    if has_other and not (1 <= letters <= 3 and letters == len(run)):
        return None
    if text[end : end + 1] == b"." and 1 <= digits(text, end + 1) <= 24:
        return end + 1 + digits(text, end + 1)
    return end


def token_at(text, at):
    end = number_end(text, at)
    if end is not None:
        return ("number", at, end)
    if not is_word(text[at]):
        return ("other", at, at + 1)
    end = at + 1
    while end < len(text):
        inner = text[end] == ord("-") and end + 1 < len(text) and is_alnum(text[end + 1])
        if not is_word(text[end]) and not inner:
            break
        end += 1
    return ("word", at, end)


class Template:
    def __init__(self, example, holes):
        self.example, self.holes, self.uses = example, holes, 16
        self.fixed = len(example) - sum(end - start for _, start, end in holes)
        self.labels = []
        names, before = [], 0
        for kind, start, end in holes:
            fixed, salt = example[before:start], 4 if kind == "number" else 5
            last = next((at for at in range(len(fixed) - 1, -1, -1) if is_alnum(fixed[at])), None)
            if last is None:
                name = hash_bytes(hash2(names[-1] if names else 0, salt), fixed)
            else:
                while last > 0 and is_alnum(fixed[last - 1]):
                    last -= 1
                name = hash_bytes(salt, fixed[last:])
            same = names.count(name)
            names.append(name)
            self.labels.append(hash2(name, same) if same else name)
            before = end

    def memory(self):
        return len(self.example) + 16 * len(self.holes) + 64

    def fixed_before(self, index):
        start = self.holes[index - 1][2] if index else 0
        end = self.holes[index][1] if index < len(self.holes) else len(self.example)
        return self.example[start:end]

    def match(self, message):
        """The ranges of the values that were found, and whether all fits."""
        spans, at = [], 0
        for index, (kind, _, _) in enumerate(self.holes):
            fixed = self.fixed_before(index)
            if not message.startswith(fixed, at):
                return spans, False
            at += len(fixed)
            end = number_end(message, at) if kind == "number" else self._text_end(message, at, index)
            if end is None or end > len(message):
                return spans, False
            spans.append((at, end))
            at = end
        return spans, message[at:] == self.fixed_before(len(self.holes))

    def _text_end(self, message, at, index):
        fixed = self.fixed_before(index + 1)
        spaces = len(fixed) - len(fixed.lstrip(b" "))
        if spaces < len(fixed) and is_punctuation(fixed[spaces]):
            mark, end = fixed[spaces], at
            while True:
                if end >= len(message):
                    return None
                if message[end] == mark:
                    break
                end += 2 if message[end] == ord("\\") and mark in b"\"'" else 1
            return end - spaces if end - spaces >= at else None
        if index + 1 == len(self.holes):
            end = len(message) - len(fixed)
            return end if end >= at else None
        end = message.find(fixed[:16], at)
        return end if end >= 0 else None

    def likeness(self, message):
        spans, fits = self.match(message)
        if fits:
            data = len(message)
        else:
            data = spans[-1][1] if spans else 0
            rest = self.fixed_before(len(spans))
            for a, b in zip(rest, message[data:]):
                if a != b:
                    break
                data += 1
        return data * 4 + (len(message) == len(self.example))


def align(base, message, tokens):
    items, at = [], 0
    texts = [hole for hole in base.holes if hole[0] == "text"]
    while at < len(base.example) or texts:
        if texts and texts[0][1] == at:
            _, start, at = texts.pop(0)
            items.append(("text", start, at))
            continue
        kind, start, end = token_at(base.example, at)
        at = min(end, texts[0][1] if texts else len(base.example))
        items.append(("number" if kind == "number" else "fixed", start, at))

    def of_item(item):
        return base.example[item[1] : item[2]]

    def of_token(token):
        return message[token[1] : token[2]]

    def same(i, t):
        if i >= len(items) or t >= len(tokens):
            return False
        if items[i][0] == "number" or tokens[t][0] == "number":
            return items[i][0] == tokens[t][0]
        return items[i][0] == "fixed" and of_item(items[i]) == of_token(tokens[t])

    def start_of(t):
        return tokens[t][1] if t < len(tokens) else len(message)

    def quoted(i, t):
        before = start_of(t) - 1
        if before < 0 or message[before] not in b"\"'":
            return None
        quote = message[before : before + 1]

        def closes(text, part):
            start = part[1]
            return text[start : part[2]] == quote and (start == 0 or text[start - 1] != ord("\\"))

        i = next((at for at in range(i, len(items)) if items[at][0] == "fixed" and closes(base.example, items[at])), None)
        t = next((at for at in range(t, len(tokens)) if closes(message, tokens[at])), None)
        return None if i is None or t is None else (i, t)

    def agree(i, t):
        if i >= len(items) or t >= len(tokens):
            return i == len(items) and t == len(tokens)
        ends = i + 1 == len(items) and t + 1 == len(tokens)
        return tokens[t][0] != "number" and same(i, t) and (same(i + 1, t + 1) or ends)

    def plain(i, t):
        structure = set(b'<>{}[]()=:"')
        for distance in range(1, 25):
            for skipped in range(distance + 1):
                next_i, next_t = i + skipped, t + distance - skipped
                if agree(next_i, next_t):
                    parts = [of_item(item) for item in items[i:next_i] if item[0] != "text"]
                    parts.append(message[start_of(t) : start_of(next_t)])
                    return None if structure & set(b"".join(parts)) else (next_i, next_t)
        return None

    holes, i, t, equal, gaps, unquoted = [], 0, 0, 0, 0, 0
    while i < len(items) or t < len(tokens):
        if same(i, t):
            kind, start, end = tokens[t]
            if kind == "number":
                holes.append(("number", start, end))
            else:
                equal += end - start
            i, t = i + 1, t + 1
            continue
        start = start_of(t)
        found = quoted(i, t)
        is_quoted = found is not None
        found = found or plain(i, t)
        if found is None:
            return None
        i, t = found
        gaps += 1
        unquoted += 0 if is_quoted else start_of(t) - start
        holes.append(("text", start, start_of(t)))
    return holes if gaps <= 16 and equal >= 8 and equal >= unquoted * 2 else None


def likely_holes(message, tokens):
    holes = []
    for index, (kind, start, end) in enumerate(tokens):
        word = message[start:end]
        count = sum(byte in b"0123456789" for byte in word)
        if kind == "number":
            holes.append(("number", start, end))
        elif kind == "word" and len(word) >= 6 and count * 4 >= len(word) and index + 1 < len(tokens):
            behind = tokens[index + 1]
            if behind[0] == "other" and is_punctuation(message[behind[1]]):
                holes.append(("text", start, end))
    return holes


class Decoder:
    """Decodes the packets of a stream with one message each, no fields and no check, in order."""

    def __init__(self, memory=64 << 10):
        grids, keys = max(memory // 32, 384), max(memory // 62, min(1024, memory // 16))
        part = (memory - grids - keys) // 62
        self.contexts, self.usual = Contexts(20 * part), [LIKELY]
        self.strings = Strings(7 * part, 8 * part, 2 * part)
        self.integers = Integers(7 * part, 2 * part)
        self.numbers = Numbers(grids, self.integers, self.strings)
        self.choices = Cache(part, 16, lambda: {"numbers": [255] * 4, "repeats": 0})
        self.space = 15 * part
        self.templates = [None] * min(max(self.space // 64, 4), 255)
        self.keys = Cache(keys // 4, 24, lambda: dict(label=0, trial=0, age=0, failures=0, wait=0, cost=0, trial_cost=0))
        self.probes = Cache(keys // 4 * 3, 16, lambda: None)
        self.latest, self.last_miss = 0, (0, 0)

    def decode(self, packet, trace=None):
        if packet[:1] < b"\x10":
            raise Unsupported("a plain packet")
        coder = Coder(RangeDecoder(packet, trace), self.contexts)
        if not code_cell(coder.coder, self.usual, 0):
            raise Unsupported("a control part")
        more = [coder.one(0x303E, 0), coder.one(0x303E, 1)]
        if more != [True, False]:
            raise Unsupported("not one message")
        return self._content(coder)

    def _content(self, coder):  # section 9
        who = hash2(0, 0x5E)
        stream = hash2(0, who)
        number = self._choice(coder, stream)
        if number == 255:
            message, self.last_miss = self.strings.literal(coder, 0x3155, (0, 0), self.last_miss)
            made = self._learn(message)
            if made is not None:
                self._note_choice(stream, made)
                self.keys.note(made)[2] = dict(self.keys.default(), label=self.latest)
            return message
        template = self.templates[number] if number < len(self.templates) else None
        if template is None:
            raise Malformed("no such template")
        seen, values = [], [None] * len(template.holes)
        entry = self.keys.find(number)
        label = self.latest if entry is None else entry["label"]
        order = list(range(len(template.holes)))
        if label and label in template.labels:
            key = template.labels.index(label)
            order.remove(key)
            values[key] = self._value(coder, template, key, who, seen)
            who = hash2(hash2(who, label), seen[-1].identity)
        for index in order:
            values[index] = self._value(coder, template, index, who, seen)
        parts = [template.fixed_before(0)]
        for index, value in enumerate(values):
            parts += [value, template.fixed_before(index + 1)]
        template.uses += 16
        self._learn_key(number, seen)
        return b"".join(parts)

    def _choice(self, coder, stream):  # section 10
        recent = self.choices.find(stream) or self.choices.default()
        numbers, repeats = recent["numbers"], recent["repeats"]
        special = hash2(hash2(0xC401CE, numbers[0]), repeats & 3)
        rows = coder.pair(hash2(0xC401CE, 1000 + (repeats & 7)), special)
        number = None
        for rank, known in enumerate(numbers):
            if known not in numbers[:rank] and coder.bit(rows, rank):
                number = known
                break
        if number is None:
            number = 255 if coder.one(hash2(0xC401CE, 2000), 0) else self._number(coder)
        self._note_choice(stream, number)
        return number

    @staticmethod
    def _number(coder):
        index = 1
        for context in (lambda _: 3000, lambda index: 3000 + index):
            context = hash2(0xC401CE, context(index))
            rows, node = coder.pair(context, context), 1
            for _ in range(4):
                bit = coder.bit(rows, node - 1)
                node, index = 2 * node + bit, 2 * index + bit
        return index - 256

    def _note_choice(self, stream, number):
        recent = self.choices.note(stream)[2]
        numbers = recent["numbers"]
        recent["repeats"] = (recent["repeats"] << 1 | (numbers[0] == number)) & 255
        rank = numbers.index(number) if number in numbers else 3
        del numbers[rank]
        numbers.insert(0, number)

    def _value(self, coder, template, index, who, seen):  # section 11
        label = template.labels[index]
        if template.holes[index][0] == "text":
            value, one = self.strings.code(coder, label, who)
            seen.append(one)
            return value
        text, one = self.numbers.code(coder, label, who)
        seen.append(one)
        return text

    def _learn_key(self, number, seen):  # section 14
        latest = self.latest
        is_new = self.keys.find(number) is None
        key = self.keys.note(number)[2]
        if key["wait"] > 0:
            key["wait"] -= 1
            return
        if is_new or key == self.keys.default():
            key["label"] = latest
        if key["age"] > 0 or self._choose_trial(key, seen):
            self._compare(key, seen)
        if key["age"] == 24:
            is_better = key["trial_cost"] * 9 // 8 < key["cost"]
            if is_better:
                key["label"] = self.latest = key["trial"]
            key["failures"] = 0 if is_better else min(key["failures"] + 1, 7)
            key["wait"] = ((1 << key["failures"]) - 1) * 2
            key["age"] = key["cost"] = key["trial_cost"] = 0
        self.keys.note(number)

    @staticmethod
    def _choose_trial(key, seen):
        labels = [one.label for one in seen]
        after = labels.index(key["trial"]) + 1 if key["trial"] in labels else 0
        others = [one.is_key and one.label != key["label"] for one in seen]
        found = next((at for at in range(after, len(seen)) if others[at]), None)
        if found is None and key["label"] and key["trial"]:
            key["trial"] = 0
            return True
        if found is None:
            found = next((at for at in range(len(seen)) if others[at]), None)
        key["trial"] = 0 if found is None else labels[found]
        return found is not None

    def _compare(self, key, seen):
        counts = key["age"] >= 8
        key["age"] += 1

        def identity(label):
            if label == 0:
                return 0
            return next((hash2(label, one.identity) for one in seen if one.label == label), None)

        used, tried = identity(key["label"]) or 0, identity(key["trial"])
        if tried is None:
            return
        for one in seen:
            if one.number is None or one.label in (key["label"], key["trial"]):
                continue
            bits = []
            for place in (used, tried):
                place = hash2(one.label, place)
                before = self.probes.find(place)
                self.probes.note(place)[2] = one.number
                bits.append(None if before is None else abs(i64(one.number - before)).bit_length())
            if counts and None not in bits:
                key["cost"] += bits[0]
                key["trial_cost"] += bits[1]

    def _learn(self, message):  # section 15
        if len(message) > min(16384, self.space // 3):
            return None
        if any(byte < 32 and byte not in b"\t\n\r" for byte in message) or message[:1] >= b"\x80":
            raise Unsupported("a binary message")
        tokens, at = [], 0
        while at < len(message):
            tokens.append(token_at(message, at))
            at = tokens[-1][2]
        if len(tokens) > 4096:
            return None
        likeness = [template.likeness(message) if template else 0 for template in self.templates]
        most = max(likeness)
        base = self.templates[likeness.index(most)] if most else None
        holes = align(base, message, tokens) if base else None
        if holes is None:
            holes = likely_holes(message, tokens)
        template = Template(message, holes)
        if len(holes) > 512 or not template.match(message)[1] or template.memory() > self.space // 2:
            return None
        return self._insert(template)

    def _insert(self, template):
        while True:
            known = [one for one in self.templates if one]
            used = sum(one.memory() for one in known) + 16 * len(self.templates)
            if None in self.templates and used + template.memory() <= self.space:
                number = self.templates.index(None)
                self.templates[number] = template
                return number
            for one in known:
                one.uses -= -(-one.uses // 16)
            least = min(known, key=lambda one: one.uses * (one.fixed + 1))
            self.templates[self.templates.index(least)] = None
