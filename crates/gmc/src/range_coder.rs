//! The binary range coder: a packet is one long binary fraction, and each yes-or-no decision
//! narrows the interval in which the fraction lies.
//!
//! The interval `low..=high` always fits into 32 bits: high bytes that both bounds share are
//! settled and written. The decoder reads zeros after the packet's last byte, so that trailing zero
//! bytes need not be sent.
//!
//! The first byte of a coded packet is never below 16. Plain packets, which are made without the
//! model, start with a smaller one.

use alloc::vec::Vec;

#[cfg(feature = "accounting")]
use crate::account::{self, Account, Part};

/// Writes, reads or ignores decisions. The modelling code is the same for encoder and decoder, so
/// that the two cannot diverge.
pub(crate) trait Coder {
    /// Whether decisions are read. If not, the caller provides them.
    fn decodes(&self) -> bool;

    /// Codes one decision that is `true` with a probability of `p / 65536`, `0 < p < 65536`.
    /// Returns the decision: `bit` when encoding, and the one that was read when decoding.
    fn bit(&mut self, p: u32, bit: bool) -> bool;

    /// The first part of [`Coder::bit`]: narrows the interval to the part that stands for the
    /// decision.
    #[cfg(feature = "fast")]
    fn narrow(&mut self, p: u32, bit: bool) -> bool;

    /// The second part: settles the high bytes that both bounds share. Returns `bit`.
    #[cfg(feature = "fast")]
    fn settle(&mut self, bit: bool) -> bool;

    /// Whether the coder serves a pass that learns from a training trace.
    #[cfg(feature = "fast")]
    fn replays(&self) -> bool {
        false
    }

    /// Whether more was read than a packet of this length can hold.
    fn is_exhausted(&self) -> bool {
        false
    }

    /// The length of what was coded so far, in eighths of a bit. `None` if the coder writes and
    /// reads nothing.
    #[cfg(feature = "describe")]
    fn position(&self) -> Option<u32> {
        None
    }

    /// Notes what the bits since the last call were spent on. Only an encoder does.
    #[cfg(feature = "accounting")]
    fn charge(&mut self, _part: Part) {}
}

/// The same as [`Coder::bit`]. The outcome is passed to `learn`.
#[cfg_attr(feature = "fast", inline(always))]
pub(crate) fn bit_and<C: Coder + ?Sized>(
    coder: &mut C,
    p: u32,
    bit: bool,
    learn: impl FnOnce(bool),
) -> bool {
    #[cfg(feature = "fast")]
    {
        // Settling is a call. If it is the last step, no variable has to be kept until it returns.
        let bit = coder.narrow(p, bit);
        learn(bit);
        coder.settle(bit)
    }
    #[cfg(not(feature = "fast"))]
    {
        let bit = coder.bit(p, bit);
        learn(bit);
        bit
    }
}

/// The length, in eighths of a bit, of `settled` written bytes and of the narrowing of the interval
/// to `low..=high`.
#[cfg(feature = "describe")]
fn position(settled: usize, low: u32, high: u32) -> u32 {
    let width = u64::from(high - low) + 1;
    let log = width.ilog2();
    // The logarithm is interpolated linearly between powers of two, which is wrong by less than an
    // eighth.
    let eighths = log * 8 + ((width << 3 >> log) as u32 & 7);
    (settled as u32 * 8 + 32) * 8 - eighths
}

/// Passes the coder to the modelling code by its own type. This is the fastest: there is a copy of
/// that code for each of the three coders.
#[cfg(feature = "fast")]
#[inline]
pub(crate) fn shared<C: Coder>(coder: &mut C) -> &mut C {
    coder
}

/// Passes the coder to the modelling code as a trait object. This is the smallest: there is one
/// copy of that code for all coders.
#[cfg(not(feature = "fast"))]
#[inline]
pub(crate) fn shared<'a, C: Coder + 'a>(coder: &'a mut C) -> &'a mut (dyn Coder + 'a) {
    coder
}

/// The lower bound of the interval before the first decision, so that a packet's first byte is
/// never below [`PLAIN_END`].
const LOW: u32 = PLAIN_END << 24;

/// The least first byte of a coded packet.
pub(crate) const PLAIN_END: u32 = 16;

/// The most trailing zeros that are left out, so that a decoder can recognize a packet that was cut
/// short.
const DROPPED_MAX: usize = 4;

/// The last value of that part of `low..=high` which stands for `true`.
fn split(low: u32, high: u32, p: u32) -> u32 {
    debug_assert!(p > 0 && p < 65536, "no decision is certain");
    debug_assert!(low < high, "the interval has a part for each outcome");
    low + ((u64::from(high - low) * u64::from(p)) >> 16) as u32
}

/// Narrows an interval to the part that stands for the outcome `bit`, and returns `bit`. `mid` is
/// what [`split`] returned.
#[inline]
fn narrow_to(low: &mut u32, high: &mut u32, mid: u32, bit: bool) -> bool {
    if bit {
        *high = mid;
    } else {
        *low = mid + 1;
    }
    bit
}

/// Appends a packet to a buffer.
pub(crate) struct RangeEncoder<'a> {
    low: u32,
    high: u32,
    start: usize,
    out: &'a mut Vec<u8>,
    /// The account of the packet so far. `None` if no account is kept.
    #[cfg(feature = "accounting")]
    account: Option<Account>,
}

impl<'a> RangeEncoder<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        Self {
            low: LOW,
            high: u32::MAX,
            start: out.len(),
            out,
            #[cfg(feature = "accounting")]
            account: None,
        }
    }

    /// Keeps an account from now on, if `wanted`. Nothing is coded yet.
    #[cfg(feature = "accounting")]
    pub(crate) fn open_account(&mut self, wanted: bool) {
        self.account = wanted.then(Account::default);
        self.charge(Part::Form);
    }

    /// The account of the packet so far, if one is kept.
    #[cfg(feature = "accounting")]
    pub(crate) fn close_account(&mut self) -> Option<Account> {
        self.account.take()
    }

    #[inline]
    fn narrowed(&mut self, p: u32, bit: bool) -> bool {
        let mid = split(self.low, self.high, p);
        narrow_to(&mut self.low, &mut self.high, mid, bit)
    }

    #[inline]
    fn settled(&mut self, bit: bool) -> bool {
        if (self.low ^ self.high) >> 24 == 0 { self.write_settled(bit) } else { bit }
    }

    /// Writes the high bytes that both bounds share. Most decisions settle no byte, so this is not
    /// part of [`Coder::bit`], which is compiled into many places.
    #[inline(never)]
    fn write_settled(&mut self, bit: bool) -> bool {
        while (self.low ^ self.high) >> 24 == 0 {
            self.out.push((self.low >> 24) as u8);
            self.low <<= 8;
            self.high = self.high << 8 | 0xff;
        }
        bit
    }

    /// Writes the shortest tail that, followed by zeros, lies in the interval.
    pub(crate) fn finish(self) {
        let Self { low, high, start, out, .. } = self;
        // If zeros alone lie in the interval, nothing is left to write.
        for bytes in 1..=4 {
            if low == 0 {
                break;
            }
            let step = 1u64 << (32 - 8 * bytes);
            let value = u64::from(low).next_multiple_of(step);
            if value <= u64::from(high) {
                out.extend_from_slice(&(value as u32).to_be_bytes()[..bytes]);
                break;
            }
        }
        for _ in 0..DROPPED_MAX {
            if out.len() == start || out.last() != Some(&0) {
                break;
            }
            out.pop();
        }
    }
}

impl Coder for RangeEncoder<'_> {
    #[inline]
    fn decodes(&self) -> bool {
        false
    }

    #[inline]
    fn bit(&mut self, p: u32, bit: bool) -> bool {
        let bit = self.narrowed(p, bit);
        self.settled(bit)
    }

    #[cfg(feature = "fast")]
    #[inline]
    fn narrow(&mut self, p: u32, bit: bool) -> bool {
        self.narrowed(p, bit)
    }

    #[cfg(feature = "fast")]
    #[inline]
    fn settle(&mut self, bit: bool) -> bool {
        self.settled(bit)
    }

    #[cfg(feature = "describe")]
    fn position(&self) -> Option<u32> {
        Some(position(self.out.len() - self.start, self.low, self.high))
    }

    #[cfg(feature = "accounting")]
    fn charge(&mut self, part: Part) {
        if let Some(account) = &mut self.account {
            let position = account::position(self.out.len() - self.start, self.low, self.high);
            account.charge(part, position);
        }
    }
}

/// A coder that writes and reads nothing, so that the model only learns.
pub(crate) struct Silent;

impl Coder for Silent {
    #[inline]
    fn decodes(&self) -> bool {
        false
    }

    #[inline]
    fn bit(&mut self, _: u32, bit: bool) -> bool {
        bit
    }

    #[cfg(feature = "fast")]
    #[inline]
    fn narrow(&mut self, _: u32, bit: bool) -> bool {
        bit
    }

    #[cfg(feature = "fast")]
    #[inline]
    fn settle(&mut self, bit: bool) -> bool {
        bit
    }
}

/// The same as [`Silent`], for passes that learn from a training trace: a type of its own, so that
/// the compiler knows it of a pass.
#[cfg(feature = "fast")]
pub(crate) struct Replayer;
#[cfg(not(feature = "fast"))]
pub(crate) use Silent as Replayer;

#[cfg(feature = "fast")]
impl Coder for Replayer {
    #[inline]
    fn decodes(&self) -> bool {
        false
    }

    #[inline]
    fn bit(&mut self, _: u32, bit: bool) -> bool {
        bit
    }

    #[inline]
    fn narrow(&mut self, _: u32, bit: bool) -> bool {
        bit
    }

    #[inline]
    fn settle(&mut self, bit: bool) -> bool {
        bit
    }

    #[inline]
    fn replays(&self) -> bool {
        true
    }
}

/// Reads a packet.
pub(crate) struct RangeDecoder<'a> {
    low: u32,
    high: u32,
    value: u32,
    input: &'a [u8],
    read: usize,
}

impl<'a> RangeDecoder<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Self {
        let mut decoder = Self { low: LOW, high: u32::MAX, value: 0, input, read: 0 };
        for _ in 0..4 {
            decoder.read_byte();
        }
        // No encoder starts a packet below `LOW`. A value outside of the interval would break the
        // arithmetic below.
        decoder.value = decoder.value.max(LOW);
        decoder
    }

    /// Whether the decisions so far have used all bytes of the packet and no more than these.
    pub(crate) fn is_complete(&self) -> bool {
        self.read >= self.input.len() && !self.is_exhausted()
    }

    #[inline]
    fn narrowed(&mut self, p: u32) -> bool {
        let mid = split(self.low, self.high, p);
        let bit = self.value <= mid;
        narrow_to(&mut self.low, &mut self.high, mid, bit)
    }

    #[inline]
    fn settled(&mut self, bit: bool) -> bool {
        if (self.low ^ self.high) >> 24 == 0 { self.read_settled(bit) } else { bit }
    }

    /// Drops the high bytes that both bounds share, and reads as many.
    #[inline(never)]
    fn read_settled(&mut self, bit: bool) -> bool {
        while (self.low ^ self.high) >> 24 == 0 {
            self.low <<= 8;
            self.high = self.high << 8 | 0xff;
            self.read_byte();
        }
        bit
    }

    fn read_byte(&mut self) {
        let byte = self.input.get(self.read).copied().unwrap_or(0);
        self.value = self.value << 8 | u32::from(byte);
        self.read += 1;
    }
}

impl Coder for RangeDecoder<'_> {
    #[inline]
    fn decodes(&self) -> bool {
        true
    }

    #[inline]
    fn bit(&mut self, p: u32, _: bool) -> bool {
        let bit = self.narrowed(p);
        self.settled(bit)
    }

    #[cfg(feature = "fast")]
    #[inline]
    fn narrow(&mut self, p: u32, _: bool) -> bool {
        self.narrowed(p)
    }

    #[cfg(feature = "fast")]
    #[inline]
    fn settle(&mut self, bit: bool) -> bool {
        self.settled(bit)
    }

    fn is_exhausted(&self) -> bool {
        // The decoder reads up to four bytes ahead.
        self.read > self.input.len() + DROPPED_MAX + 4
    }

    #[cfg(feature = "describe")]
    fn position(&self) -> Option<u32> {
        Some(position(self.read - 4, self.low, self.high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trip(decisions in vec((1u32..65536, any::<bool>()), 0..500)) {
            let mut packet = Vec::new();
            let mut encoder = RangeEncoder::new(&mut packet);
            for &(p, bit) in &decisions {
                encoder.bit(p, bit);
            }
            encoder.finish();
            prop_assert!(packet[0] >= 16);
            let mut decoder = RangeDecoder::new(&packet);
            for &(p, bit) in &decisions {
                prop_assert_eq!(decoder.bit(p, !bit), bit);
            }
            prop_assert!(decoder.is_complete());
        }

        #[test]
        fn any_bytes_decode(packet in vec(any::<u8>(), 0..30), p in 1u32..65536) {
            let mut decoder = RangeDecoder::new(&packet);
            for _ in 0..1000 {
                decoder.bit(p, false);
            }
        }
    }

    #[test]
    fn a_certain_packet_is_one_byte() {
        let mut packet = Vec::new();
        let mut encoder = RangeEncoder::new(&mut packet);
        for _ in 0..100 {
            encoder.bit(65535, true);
        }
        encoder.finish();
        assert_eq!(packet.len(), 1);
    }
}
