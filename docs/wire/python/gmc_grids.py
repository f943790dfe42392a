"""The grid of a series of numbers (gmc.md, 11.2)."""

from math import gcd

from gmc_lines import line_with

BELIEVED, BELIEF_MAX = 12, 40
INDEX_MAX, STEPS_MAX = 1 << 24, 1 << 20
GRAIN_MAX = 47
PERIOD = 32


class Grid:
    def __init__(self, line, last):
        self.line, self.last = line, last
        self._clear()

    def _clear(self):
        self.low = self.high = self.low_index = self.steps = 0
        self.belief = self.grain = self.common = self.changes = 0

    def copy(self):
        other = Grid(self.line, self.last)
        other.__dict__.update(self.__dict__)
        return other

    def unit(self):
        if self.belief >= BELIEVED:
            return "step"
        return "plain" if self.line.is_plain else "ordinal"

    def step(self):
        return self._span() // max(self.steps, 1)

    def _span(self):
        return self.line.place(self.high) - self.line.place(self.low)

    def nearest_index(self, ordinal):
        span = self._span()
        if self.steps == 0 or span <= 0:
            return None
        distance = (self.line.place(ordinal) - self.line.place(self.low)) * self.steps
        index = (distance + span // 2) // span
        return index + self.low_index if abs(index) <= INDEX_MAX else None

    def place(self, index):
        from_low = index - self.low_index
        if abs(from_low) > INDEX_MAX or self.steps == 0:
            return None
        return self.line.place(self.low) + self._span() * from_low // self.steps

    def ordinal(self, index, error):
        """The ordinal of the number at an index and an error, or None."""
        place = self.place(index)
        if place is None:
            return None
        grain = 1 << self.grain
        near = self.line.nearest(place + grain // 2 & -grain)
        if near is None:
            return None
        unit = max(self.line.place(abs(near) + 1) - self.line.place(abs(near)), grain)
        return self.line.nearest((place + unit // 2 & -unit) + unit * error)

    def tolerance(self, ordinal, index):
        largest = max(abs(self.low), abs(self.high), abs(ordinal))
        noise = self.line.place(largest + 1) - self.line.place(largest)
        return noise * (2 + 2 * (abs(index - self.low_index) // max(self.steps, 1)))

    def index(self, ordinal):
        index = self.nearest_index(ordinal)
        if index is None:
            return None
        distance = abs(self.line.place(ordinal) - self.place(index))
        allowed = self.tolerance(ordinal, index)
        return index if distance <= allowed and allowed * 16 <= self.step() else None

    def learn(self, numeral):
        """Returns whether the unit, or what numbers in it mean, has changed."""
        ordinal = self.line.ordinal(numeral)
        if ordinal is not None:
            return self.learn_ordinal(ordinal)
        line = line_with(numeral, self.line)
        if line is None:
            return True
        ordinal = line.ordinal(numeral)
        is_like = line.is_like(self.line)
        self.line = line
        if is_like:
            return self.learn_ordinal(ordinal)
        self.last = ordinal
        self._clear()
        return True

    def learn_ordinal(self, ordinal):
        before, unit = self.last, self.unit()
        self.last = ordinal
        moved = ordinal != before and self._follow(before, ordinal)
        return moved and self.unit() == "step" or self.unit() != unit

    def _follow(self, before, ordinal):
        """Returns whether indices have changed."""
        if self.steps == 0:
            self._restart(before, ordinal)
            return True
        index = self.index(ordinal)
        if index is not None:
            ratio = self.step() // self.tolerance(ordinal, index)
            self.belief = min(self.belief + ratio.bit_length() - 2, BELIEF_MAX)
            self._extend(ordinal, index)
            return self._coarsen(before, ordinal, index)
        refined = self._refinement(ordinal)
        if refined:
            factor, belief = refined
            self.steps *= factor
            self.low_index *= factor
            self.belief = min(belief, BELIEF_MAX)
            index = self.index(ordinal)
            if index is not None:
                self._extend(ordinal, index)
            return True
        if self.belief // 2 >= BELIEVED:
            self.belief //= 2
            return False
        if not self._shift(before, ordinal):
            self._restart(before, ordinal)
        return True

    def _grain_of(self, ordinal):
        place = self.line.place(ordinal)
        if not self.line.binary:
            return 0
        return min((place & -place).bit_length() - 1, GRAIN_MAX) if place else GRAIN_MAX

    def _restart(self, a, b):
        self._clear()
        self.low, self.high, self.last, self.steps = min(a, b), max(a, b), b, 1
        self.grain = min(self._grain_of(a), self._grain_of(b))

    def _extend(self, ordinal, index):
        self.grain = min(self.grain, self._grain_of(ordinal))
        from_low = index - self.low_index
        if from_low < 0 and self.steps - from_low <= STEPS_MAX:
            self.low, self.low_index, self.steps = ordinal, index, self.steps - from_low
        elif self.steps < from_low <= STEPS_MAX:
            self.high, self.steps = ordinal, from_low

    def _coarsen(self, before, ordinal, index):
        self.changes += 1
        if self.common != 1:
            nearest = self.nearest_index(before)
            change = abs((index if nearest is None else nearest) - index)
            common = gcd(change, self.common)
            self.common = common if common < 256 else 0
            steps = change // max(common, 1)
            if self.changes >= PERIOD and self.common > 1 and steps > 0:
                belief = self.belief
                self._restart(before, ordinal)
                self.steps, self.belief = steps, belief
                return True
        if self.changes >= PERIOD:
            self.changes = self.common = 0
        return False

    def _shift(self, a, b):
        high = self.line.nearest(self.line.place(a) + self._span())
        if high is None:
            return False
        shifted = self.copy()
        shifted.low, shifted.high, shifted.low_index, shifted.grain = a, high, 0, self._grain_of(a)
        index = shifted.index(b)
        if index is None or self.belief == 0:
            return False
        shifted.belief = BELIEVED
        shifted._extend(b, index)
        self.__dict__.update(shifted.__dict__)
        return True

    def _refinement(self, ordinal):
        """The divisor of the steps with which a number is on the grid, and the belief in it."""
        index = self.nearest_index(ordinal)
        if index is None:
            return None
        step, noise = self.step(), self.tolerance(ordinal, index)
        long, short = step, abs(self.line.place(ordinal) - self.place(index))
        before, factor = 0, 1
        while short > noise * factor:
            quotient = long // short
            long, short = short, long % short
            before, factor = factor, factor * quotient + before
            if factor > 1024:
                return None
            if long - short <= noise * (factor + before) and short > 0:
                factor += before
                break
        belief = (step // max(noise * factor**3, 1)).bit_length() - 1
        if belief < 0 or factor == 1 or self.steps * factor > STEPS_MAX or abs(self.low_index) * factor > STEPS_MAX:
            return None
        is_enough = belief >= BELIEVED if self.belief >= BELIEVED else step >= noise * 16 * factor
        return (factor, belief) if is_enough else None
