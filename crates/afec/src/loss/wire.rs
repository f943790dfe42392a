//! A loss model in six bytes. A lag is the distance of two packets, counted in packets; `again` at
//! a lag is the probability that a packet is lost, given that the packet at this lag before it was
//! lost. The target of a channel is the share of its messages that may be lost or late.
//!
//! | byte | content |
//! | --- | --- |
//! | 0 | rate: 0 for none, else 0.05 % at 1 to 100 % at 255 in equal factors (3 %) |
//! | 1 | `again[0]` |
//! | 2-4 | `again` at lags 2, 3, 4, 5, 7, 9: four bits each, the first of two in the high bits |
//! | 5 | high bits: `again` at lag 12; low bits: the binary logarithm of the weight |
//!
//! `again` is coded relative to the rate, which it equals where losses are independent: code 0 is
//! 0, code 1 is half of the rate, code 2 is the rate. From there to 1 the codes are equal steps to
//! the power of 1.5, so that steps are small where most values are. Between the coded lags, values
//! are interpolated.

use super::{LAGS, LossModel};

/// The bytes of a coded model.
pub const WIRE_BYTES: usize = 6;

/// The lowest rate that is not coded as none: a twentieth of the lowest target, 1 %.
const LEAST_RATE: f64 = 0.0005;
/// The lags whose `again` is coded in four bits.
const TOLD: [usize; 7] = [2, 3, 4, 5, 7, 9, 12];
/// The code for an `again` that equals the rate.
const INDEPENDENT: u8 = 2;
/// The power to which the steps above the rate are raised.
const POWER: f64 = 1.5;
/// The highest code of eight bits.
const BYTE: u8 = u8::MAX;
/// The highest code of four bits.
const NIBBLE: u8 = 15;

impl LossModel {
    /// The coded model. When decoded, the rate is within 1.6 % of the original, `again[0]` within
    /// 0.005, and `again` at the coded lags within 0.06, mostly 0.03. Values of `again` below the
    /// rate are within a quarter of the rate.
    pub fn write(&self) -> [u8; WIRE_BYTES] {
        let rate_code = code_of_rate(self.rate);
        let rate = rate(rate_code);
        let again = |lag: usize, most| code_of_again(self.again[lag - 1], most, rate);
        let mut codes = [0; TOLD.len() + 1];
        for (code, lag) in codes.iter_mut().zip(TOLD) {
            *code = again(lag, NIBBLE);
        }
        codes[TOLD.len()] = libm::round(libm::log2(self.weight.max(1.0))).min(15.0) as u8;
        let mut bytes = [rate_code, again(1, BYTE), 0, 0, 0, 0];
        for (byte, codes) in bytes[2..].iter_mut().zip(codes.chunks_exact(2)) {
            *byte = codes[0] << 4 | codes[1];
        }
        bytes
    }

    /// Decodes a model. Any bytes give a model with possible probabilities.
    pub fn read(bytes: [u8; WIRE_BYTES]) -> Self {
        let [rate_code, first, nibbles @ ..] = bytes;
        let rate = rate(rate_code);
        let nibble = |at: usize| {
            if at.is_multiple_of(2) { nibbles[at / 2] >> 4 } else { nibbles[at / 2] & NIBBLE }
        };
        let mut again = [0.0; LAGS];
        again[0] = self::again(first, BYTE, rate);
        let mut from = 1;
        for (at, lag) in TOLD.into_iter().enumerate() {
            let start = again[from - 1];
            let end = self::again(nibble(at), NIBBLE, rate);
            for between in from + 1..=lag {
                let share = (between - from) as f64 / (lag - from) as f64;
                again[between - 1] = start + (end - start) * share;
            }
            from = lag;
        }
        LossModel { rate, again, weight: f64::from(1_u32 << nibble(TOLD.len())) }
    }
}

/// The rate of a code.
fn rate(code: u8) -> f64 {
    match code {
        0 => 0.0,
        _ => libm::pow(LEAST_RATE, f64::from(BYTE - code) / f64::from(BYTE - 1)),
    }
}

fn code_of_rate(rate: f64) -> u8 {
    if rate < LEAST_RATE / 2.0 {
        return 0;
    }
    let down = libm::log(rate.min(1.0)) / libm::log(LEAST_RATE);
    BYTE - libm::round(down.min(1.0) * f64::from(BYTE - 1)) as u8
}

/// The value of `again` for a code. `most` is the highest code.
fn again(code: u8, most: u8, rate: f64) -> f64 {
    if code < INDEPENDENT {
        // If more than half of the packets are lost, some lost packets follow each other directly,
        // so that `again` cannot be 0.
        let possible = if rate > 0.5 { 2.0 - 1.0 / rate } else { 0.0 };
        return (rate * f64::from(code) / f64::from(INDEPENDENT)).max(possible);
    }
    let share = f64::from(code - INDEPENDENT) / f64::from(most - INDEPENDENT);
    rate + (1.0 - rate) * libm::pow(share, POWER)
}

fn code_of_again(again: f64, most: u8, rate: f64) -> u8 {
    if again < rate {
        return libm::round(again / rate * f64::from(INDEPENDENT)) as u8;
    }
    let excess = ((again - rate) / (1.0 - rate).max(f64::MIN_POSITIVE)).min(1.0);
    INDEPENDENT + libm::round(libm::pow(excess, 1.0 / POWER) * f64::from(most - INDEPENDENT)) as u8
}
