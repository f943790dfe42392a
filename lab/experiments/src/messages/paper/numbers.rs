//! Table 6: the bytes that a number takes as text and in binary.

use super::row::row;
use super::trial::Trial;
use crate::Row;
use crate::options::Common;

/// The ranges of the table, by the largest magnitude of each, and the fourth byte that our
/// re-implementation adds for timestamps. A binary number has as many bytes as its place here.
const LARGEST: [u64; 4] = [127, 32_767, 8_388_607, 2_147_483_647];
const NAMES: [&str; 4] =
    ["-127..+127", "±128..±32767", "±32768..±8388607", "±8388608..±2147483647"];

/// The rows of Table 6: for numbers that all occur equally often, once without signs and once with
/// both signs, and for those of a session in text.
pub(super) fn rows(trial: &Trial<'_>) -> Vec<Row> {
    let mut session = [Tally::default(); 4];
    for message in &trial.messages {
        numbers(message.bytes, &mut session);
    }
    let of = |numbers, tallies: [Tally; 4]| {
        let rows = tallies.into_iter().enumerate();
        rows.map(move |(place, tally)| tally.row(numbers, place, trial.origin, &trial.common))
    };
    of("every, without sign", every(false))
        .chain(of("every, with both signs", every(true)))
        .chain(of(SESSION, session))
        .collect()
}

/// The name of the numbers that occur in the session.
const SESSION: &str = "of the session";

/// Numbers of one range, and the bytes of their texts.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    count: u64,
    text_bytes: u64,
}

impl Tally {
    fn row(self, numbers: &str, place: usize, session: &str, common: &Common) -> Row {
        let session = if numbers == SESSION { session } else { "none" };
        let mean = self.text_bytes as f64 / self.count as f64;
        let binary = place as u64 + 1;
        row("table-6", session, common)
            .with("numbers", numbers)
            .with("range", NAMES[place])
            .with("count", self.count)
            .with("text_bytes", mean)
            .with("binary_bytes", binary)
            .with("saved_bytes", mean - binary as f64)
    }
}

/// All numbers of each range. With signs, each but the zero is there twice.
fn every(signed: bool) -> [Tally; 4] {
    let mut from = 0;
    LARGEST.map(|to| {
        let mut tally = Tally::default();
        let (mut power, mut digits) = (1_u64, 1);
        while power <= to {
            // The zero has a digit, too.
            let least = if power == 1 { 0 } else { power };
            let (low, high) = (least.max(from), (power * 10 - 1).min(to));
            if low <= high {
                let count = high - low + 1;
                let zeros = u64::from(low == 0);
                let negative = if signed { count - zeros } else { 0 };
                tally.count += count + negative;
                tally.text_bytes += count * digits + negative * (digits + 1);
            }
            (power, digits) = (power * 10, digits + 1);
        }
        from = to + 1;
        tally
    })
}

/// Counts the decimal numbers of a message that the compressor would write in binary: without
/// leading zeros, and no larger than the largest.
fn numbers(message: &[u8], tallies: &mut [Tally; 4]) {
    for digits in message.split(|byte| !byte.is_ascii_digit()).filter(|text| !text.is_empty()) {
        if digits.len() > 10 || (digits.len() > 1 && digits[0] == b'0') {
            continue;
        }
        let value = digits.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
        if let Some(place) = LARGEST.iter().position(|largest| value <= *largest) {
            tallies[place].count += 1;
            tallies[place].text_bytes += digits.len() as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(tally: Tally, binary: u64) -> f64 {
        tally.text_bytes as f64 / tally.count as f64 - binary as f64
    }

    #[test]
    fn each_range_is_counted_one_by_one_alike() {
        for signed in [false, true] {
            let mut counted = Tally::default();
            for number in if signed { -32_767..=32_767_i64 } else { 0..=32_767 } {
                if number.abs() >= 128 {
                    counted.count += 1;
                    counted.text_bytes += number.to_string().len() as u64;
                }
            }
            let found = every(signed)[1];
            assert_eq!((found.count, found.text_bytes), (counted.count, counted.text_bytes));
        }
    }

    #[test]
    fn the_first_two_savings_are_the_papers() {
        // The paper's Table 6 has 1.13, 2.67 and 4.40. The last is more than seven digits less
        // three bytes, 4, so it cannot be without signs.
        let [one, two, three, _] = every(false);
        assert!((saved(one, 1) - 1.13).abs() < 0.02, "{}", saved(one, 1));
        assert!((saved(two, 2) - 2.67).abs() < 0.01, "{}", saved(two, 2));
        assert!((saved(three, 3) - 3.88).abs() < 0.01, "{}", saved(three, 3));
        assert!((saved(every(true)[2], 3) - 4.40).abs() < 0.03, "{}", saved(every(true)[2], 3));
    }

    #[test]
    fn numbers_of_a_message_are_those_with_one_text() {
        let mut tallies = [Tally::default(); 4];
        numbers(b"(timestamp: 716626384)(telepointer x: 1138.0 y: 007)", &mut tallies);
        let counts = tallies.map(|tally| (tally.count, tally.text_bytes));
        assert_eq!(counts, [(1, 1), (1, 4), (0, 0), (1, 9)]);
    }
}
