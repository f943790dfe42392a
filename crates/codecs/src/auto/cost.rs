//! The processor time of each choice.

use alloc::vec::Vec;

use super::reference;
use crate::Choice;

/// A time that grows linearly with a message's size, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LinearTime {
    /// The time of an empty message.
    pub fixed: f32,
    /// The additional time of each byte of the original message.
    pub per_byte: f32,
}

impl LinearTime {
    /// The time of a message of `size` bytes, nanoseconds.
    pub fn at(self, size: usize) -> f32 {
        self.fixed + self.per_byte * size as f32
    }

    /// The same with all times multiplied by `factor`.
    pub(super) fn times(self, factor: f32) -> LinearTime {
        LinearTime { fixed: self.fixed * factor, per_byte: self.per_byte * factor }
    }
}

/// The processor time that a choice takes at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// The sender's time to pack a message.
    pub compress: LinearTime,
    /// The receiver's time to unpack it.
    pub decompress: LinearTime,
}

impl Cost {
    /// Both ends' time for a message of `size` bytes, nanoseconds.
    pub fn at(&self, size: usize) -> f32 {
        self.compress.at(size) + self.decompress.at(size)
    }

    /// The cost on a machine that is slower by `factor`.
    pub(super) fn times(self, factor: f32) -> Cost {
        Cost { compress: self.compress.times(factor), decompress: self.decompress.times(factor) }
    }
}

/// The costs of all choices on one machine.
///
/// ```
/// use groupwire_codecs::{Choice, Costs};
/// let costs = Costs::reference();
/// let (lz4, zlib) = (costs.of("lz4".parse()?), costs.of("zlib-9".parse()?));
/// assert!(lz4.compress.at(1400) < zlib.compress.at(1400));
/// assert_eq!(costs.of(Choice::NONE).at(1400), 0.0);
/// # Ok::<(), groupwire_codecs::ChoiceError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    /// Measured choices, all without a filter.
    pub(super) known: Vec<(Choice, Cost)>,
}

/// The time that a filter adds at each end: it reads and writes every byte once. An estimate, on
/// the safe side.
const FILTER: LinearTime = LinearTime { fixed: 30.0, per_byte: 0.5 };
/// The cost assumed for a codec without measurements: slow, so that it is not chosen by mistake.
const UNKNOWN: Cost = Cost {
    compress: LinearTime { fixed: 20_000.0, per_byte: 200.0 },
    decompress: LinearTime { fixed: 5_000.0, per_byte: 50.0 },
};

impl Costs {
    /// Costs measured on one server of the 2020s, native and optimised. Another machine is slower
    /// or faster by about the same factor for all codecs, which changes the order of codecs only
    /// where they differ little.
    pub fn reference() -> Self {
        Costs { known: reference::TABLE.to_vec() }
    }

    /// Returns the cost of a choice of codec and level. For a level without a measurement this is
    /// the cost of the nearest measured level of the codec.
    pub fn of(&self, choice: Choice) -> Cost {
        let levels = crate::by_number(choice.codec).and_then(|codec| codec.levels());
        let default = levels.map_or(0, |levels| levels.default);
        let level = |choice: Choice| choice.level.unwrap_or(default);
        let distance = |known: Choice| level(known).abs_diff(level(choice));
        let of_codec = self.known.iter().filter(|(known, _)| known.codec == choice.codec);
        let plain = match of_codec.min_by_key(|(known, _)| distance(*known)) {
            Some((_, cost)) => *cost,
            None if choice.codec == 0 => Cost::default(),
            None => UNKNOWN,
        };
        match choice.filter {
            crate::Filter::None => plain,
            _ => Cost {
                compress: plain.compress.plus(FILTER),
                decompress: plain.decompress.plus(FILTER),
            },
        }
    }
}

impl LinearTime {
    fn plus(self, other: LinearTime) -> LinearTime {
        LinearTime { fixed: self.fixed + other.fixed, per_byte: self.per_byte + other.per_byte }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Filter;

    #[test]
    fn a_level_costs_as_much_as_the_nearest_one() {
        let costs = Costs::reference();
        let zlib = |level| costs.of(Choice { level, ..Choice::codec(2) });
        assert_eq!(zlib(Some(8)), zlib(Some(9)));
        assert_eq!(zlib(Some(0)), zlib(Some(1)));
        assert!(zlib(Some(9)).at(1400) > zlib(None).at(1400));
    }

    #[test]
    fn a_filter_costs_more() {
        let costs = Costs::reference();
        let lz4 = Choice::codec(1);
        let filtered = Choice { filter: Filter::Delta1, ..lz4 };
        assert!(costs.of(filtered).at(1400) > costs.of(lz4).at(1400));
    }

    #[test]
    fn a_codec_without_measurements_is_taken_to_be_slow() {
        let costs = Costs::reference();
        assert!(costs.of(Choice::codec(15)).at(1400) > 100.0 * costs.of(Choice::codec(1)).at(1400));
    }
}
