//! What the bits of a packet are spent on, for measurements of what the format costs.
//!
//! The range coder tells how many bits it has coded at any time. Whoever codes a part of a packet
//! calls [`Account::charge`] behind it, which puts the bits since the last call down to this part.

use alloc::vec::Vec;

/// What bits of a packet are spent on.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// That the packet is coded with the model: its first byte is 16 or more.
    Form,
    /// The name of the epoch: the version of the model under which the packet is coded.
    Epoch,
    /// The packet's number, given the number of the epoch's packet.
    Number,
    /// Whether the packet is learned, and the control part.
    Control,
    /// The number of messages.
    Count,
    /// The fields that come with each message.
    Fields,
    /// The choice of the template.
    Template,
    /// The value in the hole with this label. If several holes have the same label, they have the
    /// same name in their messages.
    Value(u32),
    /// A message that fits no template.
    Literal,
    /// All of a packet that is compressed by a codec, without the model.
    Plain,
}

/// Bits that were spent on a part of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expense {
    /// The part of the packet.
    pub part: Part,
    /// The number of bits, in 1/256 of a bit.
    pub bits: u32,
}

impl Expense {
    /// The unit of [`Expense::bits`]: a bit has this many.
    pub const BIT: u32 = 256;
}

/// The expenses of a packet, in the order in which the packet is coded.
#[derive(Debug, Default)]
pub(crate) struct Account {
    expenses: Vec<Expense>,
    /// The bits that are accounted for, in 1/256 of a bit.
    charged: u32,
}

impl Account {
    /// Puts all bits since the last call down to `part`. `position` is the length of the packet so
    /// far, in 1/256 of a bit.
    pub(crate) fn charge(&mut self, part: Part, position: u32) {
        // A decision that is nearly certain can narrow the interval by less than its rounding.
        let bits = position.saturating_sub(self.charged);
        self.charged += bits;
        self.expenses.push(Expense { part, bits });
    }

    pub(crate) fn into_expenses(self) -> Vec<Expense> {
        self.expenses
    }
}

/// The length of a packet in 1/256 of a bit, given its `settled` bytes and the interval
/// `low..=high` of the range coder.
pub(crate) fn position(settled: usize, low: u32, high: u32) -> u32 {
    (settled as u32 * 8 + 32) * Expense::BIT - log2(u64::from(high - low) + 1)
}

/// The logarithm of a number from 1 to 2^32 to the base of two, in 1/256, rounded down.
fn log2(number: u64) -> u32 {
    let whole = number.ilog2();
    // The number divided by a power of two, so that it is from 1 to 2, in 1/2^31. Its square is
    // above two if the next bit of the logarithm is set.
    let mut fraction = (number << 31) >> whole;
    let mut log = whole;
    for _ in 0..Expense::BIT.ilog2() {
        fraction = (fraction * fraction) >> 31;
        let bit = fraction >> 32;
        fraction >>= bit;
        log = log << 1 | bit as u32;
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Decoder, Delivery, Encoder};
    use alloc::format;

    #[test]
    fn logarithms() {
        for (number, log) in [(1, 0), (2, 256), (3, 405), (1 << 32, 8192), ((1 << 32) - 1, 8191)] {
            assert_eq!(log2(number), log, "{number}");
        }
    }

    #[test]
    fn expenses_are_the_bits_of_the_packet() {
        let config = Config { delivery: Delivery::Datagrams, ..Config::default() };
        let (mut encoder, mut decoder) = (Encoder::new(config.clone()), Decoder::new(config));
        encoder.set_accounting(true);
        for x in 0..300_u32 {
            let message = format!(r#"{{"by":"ana {}","x":{}}}"#, x % 3, x * 7919 % 500);
            let (mut packet, mut ack) = (Vec::new(), Vec::new());
            encoder.encode(message.as_bytes(), &mut packet).unwrap();
            let bits: u32 = encoder.expenses().iter().map(|expense| expense.bits).sum();
            let rest = (packet.len() * 8) as i64 - i64::from(bits / Expense::BIT);
            assert!((-8..=16).contains(&rest), "{rest} bits of packet {x} are left");
            decoder.decode_packet(&packet, |_| {}).unwrap();
            decoder.acknowledge(&mut ack);
            encoder.acknowledge(&ack).unwrap();
        }
        let parts: Vec<Part> = encoder.expenses().iter().map(|expense| expense.part).collect();
        let is_header = [Part::Form, Part::Epoch, Part::Number, Part::Control, Part::Count];
        assert_eq!(parts[..5], is_header);
        let Part::Value(label) = parts[parts.len() - 1] else { panic!("{parts:?}") };
        assert_eq!(encoder.before_hole(label).unwrap(), br#"","x":"#);
    }
}
