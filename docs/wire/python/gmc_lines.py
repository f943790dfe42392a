"""Numerals, and the lines on which they are counted (gmc.md, 11.2)."""

from collections import namedtuple

DECIMALS_MAX = 20
DECIMALS_HUMAN = 10
ORDINAL_MAX = 1 << 60
TINY = 17  # the least positive binary number that is counted is 2^-17
FRACTION_BITS = 70

Numeral = namedtuple("Numeral", "negative digits decimals")
Binary = namedtuple("Binary", "precision sure top")
SINGLE, DOUBLE = Binary(24, 6, 24), Binary(53, 15, 30)
WIDER = DOUBLE.precision - SINGLE.precision


def numeral_of(text):
    """The numeral of a text of bytes, or None."""
    negative = text[:1] == b"-"
    whole, _, fraction = text[negative:].partition(b".")
    if not whole or len(whole) > 1 and whole[:1] == b"0":
        return None
    digits = int(whole + fraction)
    if digits >= 1 << 64 or len(fraction) > DECIMALS_MAX or negative and digits == 0:
        return None
    return Numeral(negative, digits, len(fraction))


def with_fraction(text):
    return numeral_of(text) if text.partition(b".")[2].strip(b"0") else None


def write(numeral):
    text = str(numeral.digits).rjust(numeral.decimals + 1, "0")
    if numeral.decimals:
        text = text[: -numeral.decimals] + "." + text[-numeral.decimals :]
    return (("-" if numeral.negative else "") + text).encode()


def times(numeral, scale):
    product = numeral.digits * scale // 10**numeral.decimals
    product = product if product < 1 << 63 else 0
    return -product if numeral.negative else product


def trim(digits, decimals):
    while decimals > 0 and digits % 10 == 0:
        digits, decimals = digits // 10, decimals - 1
    return digits, decimals


def has(binary, ordinal):
    return abs(ordinal) <= (TINY + binary.top) << (binary.precision - 1)


def split(binary, ordinal):
    """A number as significand / 2^exponent."""
    bits = binary.precision - 1
    count = abs(ordinal) - 1
    return count & (1 << bits) - 1 | 1 << bits, TINY + bits - (count >> bits)


def nearest(binary, numerator, denominator):
    """The ordinal of the number nearest to a positive fraction; of two, the one with the even significand."""
    if numerator << TINY < denominator or numerator >= denominator << binary.top:
        return None
    exponent = -TINY
    while numerator << max(-exponent - 1, 0) >= denominator << max(exponent + 1, 0):
        exponent += 1
    bits = binary.precision - 1
    shift = bits - exponent
    scaled, unit = numerator << max(shift, 0), denominator << max(-shift, 0)
    kept, rest = divmod(scaled, unit)
    kept += 2 * rest > unit or 2 * rest == unit and kept % 2 == 1
    ordinal = ((exponent + TINY) << bits) + kept - (1 << bits) + 1
    return ordinal if has(binary, ordinal) else None


def shortest(binary, ordinal, up):
    """The digits and decimals of the shortest decimal that identifies a number."""
    if ordinal == 0:
        return 0, 0
    significand, exponent = split(binary, ordinal)
    whole = significand >> exponent
    if whole:
        decimals = max(binary.sure - len(str(whole)), 0)
    else:
        decimals = binary.sure
        while significand * 10 ** (decimals - binary.sure + 1) < 1 << exponent:
            decimals += 1
    while True:
        scaled = significand * 10**decimals
        kept, rest = scaled >> exponent, scaled & (1 << exponent) - 1
        digits = kept + (2 * rest + (1 if up else kept % 2) > 1 << exponent)
        error = abs(scaled - (digits << exponent))
        below = digits << exponent < scaled and significand == 1 << binary.precision - 1
        reach = 4 * error if below else 2 * error
        if reach < 10**decimals or reach == 10**decimals and significand % 2 == 0:
            return trim(digits, decimals)
        decimals += 1


class Line(namedtuple("Line", "kind decimals point up", defaults=(False, False))):
    """Kinds: fixed, trimmed, single, widened, double."""

    @property
    def binary(self):
        return {"single": SINGLE, "widened": SINGLE, "double": DOUBLE}.get(self.kind)

    @property
    def is_plain(self):
        return self.kind == "fixed" and self.decimals <= 4

    def is_like(self, other):
        return self[:2] == other[:2]

    def ordinal(self, numeral):
        """The ordinal of a numeral, or None if it is not on the line."""
        _, digits, decimals = numeral
        if self.binary and digits == 0:
            ordinal = 0
        elif self.binary:
            ordinal = nearest(DOUBLE if self.kind == "widened" else self.binary, digits, 10**decimals)
            if self.kind == "widened" and ordinal:
                place = ordinal - 1
                ordinal = (place >> WIDER) + 1 if place % (1 << WIDER) == 0 else None
        else:
            more = self.decimals - decimals
            ordinal = digits * 10**more if more >= 0 and digits * 10**more <= ORDINAL_MAX else None
        if ordinal is None:
            return None
        ordinal = -ordinal if numeral.negative else ordinal
        return ordinal if self.numeral(ordinal) == numeral else None

    def numeral(self, ordinal):
        """The numeral with this ordinal, or None."""
        if self.binary:
            if not has(self.binary, ordinal):
                return None
            if self.kind == "widened":
                ordinal = ((abs(ordinal) - 1 << WIDER) + 1) * (1 if ordinal > 0 else -1) if ordinal else 0
            digits, decimals = shortest(DOUBLE if self.kind == "widened" else self.binary, ordinal, self.up)
            if decimals > DECIMALS_MAX:
                return None
        else:
            digits, decimals = abs(ordinal), self.decimals
            if digits > ORDINAL_MAX:
                return None
            if self.kind == "trimmed":
                digits, decimals = trim(digits, decimals)
        if self.kind != "fixed" and decimals == 0 and self.point:
            digits, decimals = digits * 10, 1
        return Numeral(ordinal < 0, digits, decimals)

    def place(self, ordinal):
        if not self.binary or ordinal == 0:
            return ordinal
        significand, exponent = split(self.binary, ordinal)
        return (significand << FRACTION_BITS - exponent) * (1 if ordinal > 0 else -1)

    def nearest(self, place):
        """The ordinal of the number nearest to a place, or None."""
        if not self.binary:
            return place if abs(place) <= ORDINAL_MAX else None
        if place == 0:
            return 0
        ordinal = nearest(self.binary, abs(place), 1 << FRACTION_BITS)
        return ordinal if ordinal is None or place > 0 else -ordinal


def line_with(numeral, before=None):
    """The likeliest line of a hole that has this numeral in it, given the line before."""
    decimals = numeral.decimals
    digits, fraction = trim(numeral.digits, decimals)
    is_trimmed = fraction == decimals or fraction == 0 and decimals == 1
    point = before is not None and before.point if fraction > 0 else decimals == 1
    known = before or Line("fixed", decimals)
    most = max(decimals, known.decimals)
    long = decimals > DECIMALS_HUMAN
    choices = []
    if before:
        choices += [known, known._replace(up=True)]
    elif digits >= 1_000_000:
        choices.append(known._replace(kind="single", decimals=0))
    if before and is_trimmed and most <= DECIMALS_HUMAN:
        choices.append(known._replace(kind="trimmed", decimals=most))
    if known.kind != "double" and long:
        choices.append(known._replace(kind="widened", decimals=0))
    if is_trimmed and (long or known.binary):
        choices.append(known._replace(kind="double", decimals=0))
    choices.append(known._replace(kind="fixed", decimals=decimals))
    choices = [line._replace(point=point) for line in choices]
    return next((line for line in choices if line.ordinal(numeral) is not None), None)
