//! The text form of a training run (the measured ratios and times of codecs), for a file. The text is called a profile.
//!
//! ```text
//! profile  = "groupwire ace profile 1" LF "block" SP bytes LF codec{1..15} "end" LF
//! codec    = "codec" SP name SP ratio LF
//!            "packing" SP line LF "unpacking" SP line LF
//!            ("ratio" SP name SP line LF){one for each codec, in order}
//! line     = at-zero SP slope SP r2          decimal numbers; times in seconds per block
//! ```

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;
use core::str::Lines;

use groupwire_codecs::{Choice, Filter, Options, by_number};

use super::Line;
use super::training::{Trained, Training};

/// The first line: name and version of the format.
const FIRST: &str = "groupwire ace profile 1";
/// The most codecs of a profile: codec numbers have four bits, and 0 is no compression.
const MOST_CODECS: usize = 15;
/// The largest absolute value of a number in a profile. Times in seconds and ratios are much smaller, so a larger
/// number shows that the file is damaged.
const LARGEST: f64 = 1e6;

/// Why a text is not a profile. The fault is in the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseTrainingError {
    /// The first line is not that of a profile of this version.
    #[error(
        "this is no profile, or one of another version; make a new one with `groupwire ace profile`"
    )]
    NoProfile,
    /// A line is not valid.
    #[error("line {line} of the profile is damaged; make a new one with `groupwire ace profile`")]
    Damaged {
        /// The number of the line, from 1.
        line: usize,
    },
    /// The text ends too early.
    #[error("the profile is cut off; make a new one with `groupwire ace profile`")]
    Truncated,
}

impl Training {
    /// The longest text that [`parse`](Self::parse) accepts, in bytes. A profile of 15 codecs is shorter.
    pub const LONGEST_TEXT: usize = 64 << 10;

    /// The text form, for a file: a profile.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string never fails.
        let _ = writeln!(text, "{FIRST}\nblock {}", self.block);
        for codec in &self.codecs {
            let _ = writeln!(text, "codec {} {:e}", codec.choice, codec.ratio);
            let _ = writeln!(text, "packing {}", numbers(&codec.packing));
            let _ = writeln!(text, "unpacking {}", numbers(&codec.unpacking));
            for (other, line) in self.codecs.iter().zip(&codec.ratios) {
                let _ = writeln!(text, "ratio {} {}", other.choice, numbers(line));
            }
        }
        text.push_str("end\n");
        text
    }

    /// Parses a profile.
    ///
    /// # Errors
    /// A text that is not valid, with the line.
    pub fn parse(text: &str) -> Result<Self, ParseTrainingError> {
        if text.len() > Training::LONGEST_TEXT {
            return Err(ParseTrainingError::NoProfile);
        }
        let mut reader = Reader { lines: text.lines(), line: 0 };
        if reader.next() != Ok(FIRST) {
            return Err(ParseTrainingError::NoProfile);
        }
        let block = reader.next()?.strip_prefix("block ").and_then(|block| block.parse().ok());
        let block = block.filter(|block| (1 << 10..=1 << 20).contains(block));
        let block = block.ok_or(reader.damaged())?;
        let mut codecs = Vec::new();
        // The names in all "ratio" lines. They are compared with the names of the codecs when all lines have been read.
        let mut named = Vec::new();
        loop {
            let line = reader.next()?;
            if line == "end" {
                break;
            }
            if codecs.len() == MOST_CODECS {
                return Err(reader.damaged());
            }
            codecs.push(reader.codec(line, &mut named)?);
        }
        let choices: Vec<Choice> = codecs.iter().map(|codec| codec.choice).collect();
        let is_right = !choices.is_empty()
            && codecs.iter().all(|codec| codec.ratios.len() == choices.len())
            && named.chunks(choices.len()).all(|named| named == choices)
            && choices.iter().enumerate().all(|(nth, choice)| !choices[..nth].contains(choice));
        if is_right { Ok(Training { block, codecs }) } else { Err(reader.damaged()) }
    }
}

/// Reads the lines of a text one by one.
struct Reader<'a> {
    lines: Lines<'a>,
    /// The number of the line that was read last.
    line: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<&'a str, ParseTrainingError> {
        self.line += 1;
        self.lines.next().ok_or(ParseTrainingError::Truncated)
    }

    fn damaged(&self) -> ParseTrainingError {
        ParseTrainingError::Damaged { line: self.line }
    }

    /// Reads the other lines of a codec whose first line is `first`. Appends the names in its "ratio" lines to `named`.
    fn codec(
        &mut self,
        first: &str,
        named: &mut Vec<Choice>,
    ) -> Result<Trained, ParseTrainingError> {
        let (name, ratio) = first
            .strip_prefix("codec ")
            .and_then(|rest| rest.split_once(' '))
            .ok_or(self.damaged())?;
        let choice = choice(name).ok_or(self.damaged())?;
        let ratio = number(ratio).filter(|ratio| (0.0..=2.0).contains(ratio));
        let ratio = ratio.ok_or(self.damaged())?;
        let packing = self.line("packing ")?;
        let unpacking = self.line("unpacking ")?;
        let mut ratios = Vec::new();
        let mut ahead = self.lines.clone();
        while let Some(rest) = ahead.next().and_then(|line| line.strip_prefix("ratio ")) {
            self.next()?;
            let (name, numbers) = rest.split_once(' ').ok_or(self.damaged())?;
            named.push(self::choice(name).ok_or(self.damaged())?);
            ratios.push(line(numbers).ok_or(self.damaged())?);
            if ratios.len() > MOST_CODECS {
                return Err(self.damaged());
            }
        }
        Ok(Trained { choice, ratio, packing, unpacking, ratios })
    }

    fn line(&mut self, prefix: &str) -> Result<Line, ParseTrainingError> {
        self.next()?.strip_prefix(prefix).and_then(line).ok_or(self.damaged())
    }
}

/// Parses the name of a codec with its level. `None` if this build lacks the codec or the level, or if the name stands
/// for no compression or for a filter.
fn choice(name: &str) -> Option<Choice> {
    let choice: Choice = name.parse().ok()?;
    let codec = by_number(choice.codec)?;
    let is_there = codec.coder(&Options { level: choice.level, dictionary: &[] }).is_ok();
    (choice.codec != 0 && choice.filter == Filter::None && is_there).then_some(choice)
}

fn line(numbers: &str) -> Option<Line> {
    let mut numbers = numbers.split(' ').map(number);
    let mut next = || numbers.next().flatten();
    let line = Line { at_zero: next()?, slope: next()?, r2: next()? };
    (numbers.next().is_none() && (0.0..=1.0).contains(&line.r2)).then_some(line)
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.abs() <= LARGEST)
}

/// Formats the three numbers of a regression line so that parsing gives equal numbers.
fn numbers(line: &Line) -> String {
    alloc::format!("{:e} {:e} {:e}", line.at_zero, line.slope, line.r2)
}

#[cfg(test)]
mod tests {
    use super::*;

    use alloc::string::ToString;
    use alloc::{format, vec};

    use proptest::prelude::*;

    fn any_line() -> impl Strategy<Value = Line> {
        (-1e6..1e6f64, -1e-3..1e-3f64, 0.0..=1.0f64).prop_map(|(at_zero, slope, r2)| Line {
            at_zero,
            slope,
            r2,
        })
    }

    fn any_training() -> impl Strategy<Value = Training> {
        (1usize..4, 1024usize..=1 << 20).prop_flat_map(|(count, block)| {
            let codec = |nth: usize| {
                let ratios = proptest::collection::vec(any_line(), count);
                (0.0..2.0f64, any_line(), any_line(), ratios).prop_map(
                    move |(ratio, packing, unpacking, ratios)| Trained {
                        choice: Choice {
                            level: (nth == 1).then_some(9),
                            ..Choice::codec(1 + nth as u8)
                        },
                        ratio,
                        packing,
                        unpacking,
                        ratios,
                    },
                )
            };
            let codecs: Vec<_> = (0..count).map(codec).collect();
            codecs.prop_map(move |codecs| Training { block, codecs })
        })
    }

    proptest! {
        #[test]
        fn a_written_profile_can_be_parsed(training in any_training()) {
            prop_assert_eq!(Training::parse(&training.to_text()), Ok(training));
        }

        #[test]
        fn a_text_that_is_cut_off_is_refused(training in any_training(), at: prop::sample::Index) {
            let text = training.to_text();
            let cut = &text[..at.index(text.len() - 1)];
            prop_assert!(Training::parse(cut).is_err());
        }

        #[test]
        fn arbitrary_text_is_parsed_or_refused(text: String) {
            prop_assert_eq!(Training::parse(&text), Err(ParseTrainingError::NoProfile));
            let _ = Training::parse(&format!("{FIRST}\nblock 32768\n{text}"));
            let _ = Training::parse(&format!("{FIRST}\nblock 32768\ncodec lz4 0.5\n{text}"));
        }

        #[test]
        fn damage_never_gives_numbers_out_of_bounds(
            training in any_training(), at: prop::sample::Index, byte in b' '..b'~',
        ) {
            let mut text = training.to_text().into_bytes();
            let at = at.index(text.len());
            text[at] = byte;
            let text = String::from_utf8(text).unwrap();
            if let Ok(training) = Training::parse(&text) {
                for codec in &training.codecs {
                    prop_assert!((0.0..=2.0).contains(&codec.ratio));
                    prop_assert!(codec.packing.at_zero.is_finite() && codec.ratios.len() == training.codecs.len());
                }
            }
        }
    }

    #[test]
    fn the_reference_can_be_written_and_parsed() {
        let reference = Training::reference();
        assert_eq!(Training::parse(&reference.to_text()), Ok(reference));
    }

    #[test]
    fn errors_have_the_line_number() {
        let good = "groupwire ace profile 1\nblock 32768\ncodec lz4 5e-1\npacking 1e-3 0 1\n\
                    unpacking 1e-4 0 1\nratio lz4 0 1 1\nend\n";
        assert!(Training::parse(good).is_ok());
        let wrong = |from: &str, to: &str| Training::parse(&good.replace(from, to)).unwrap_err();
        let damaged = |line| ParseTrainingError::Damaged { line };
        assert_eq!(wrong("profile 1", "profile 2"), ParseTrainingError::NoProfile);
        assert_eq!(wrong("32768", "32"), damaged(2));
        assert_eq!(wrong("codec lz4", "codec lz5"), damaged(3));
        assert_eq!(wrong("codec lz4", "codec none"), damaged(3));
        assert_eq!(wrong("codec lz4", "codec delta4+lz4"), damaged(3));
        assert_eq!(wrong("packing 1e-3", "packing NaN"), damaged(4));
        assert_eq!(wrong("unpacking 1e-4", "unpacking inf"), damaged(5));
        assert_eq!(wrong("lz4 0 1 1", "lz4 0 1 1 1"), damaged(6));
        assert_eq!(wrong("ratio lz4", "ratio zlib"), damaged(7));
        assert_eq!(wrong("ratio lz4 0 1 1\n", ""), damaged(6));
        assert_eq!(wrong("end\n", ""), ParseTrainingError::Truncated);
        assert!(wrong("end\n", "").to_string().contains("groupwire ace profile"));
        let long = vec!["codec lz4 0.5\n"; 9999].concat();
        assert_eq!(wrong("end", &long), ParseTrainingError::NoProfile);
    }
}
