//! A model in five bytes.

use super::{LAGS, LossModel};

/// The least rate above zero, and steps per factor of e.
const LEAST: f64 = 0.001;
const STEPS: f64 = 254.0 / 6.907_755_278_982_137;
const AT: [usize; 4] = [1, 2, 4, 8];

impl LossModel {
    /// Five bytes.
    pub fn write(&self) -> [u8; 5] {
        let rate = if self.rate < LEAST / 2.0 {
            0.0
        } else {
            1.0 + libm::log(self.rate.max(LEAST) / LEAST) * STEPS
        };
        let mut bytes = [libm::round(rate) as u8; 5];
        for (byte, lag) in bytes[1..].iter_mut().zip(AT) {
            let tie = (self.again[lag - 1] - self.rate) / (1.0 - self.rate).max(1e-6);
            *byte = libm::round(tie.clamp(0.0, 1.0) * 255.0) as u8;
        }
        bytes
    }

    /// Any five bytes are a model.
    pub fn read(bytes: [u8; 5]) -> Self {
        let rate =
            if bytes[0] == 0 { 0.0 } else { LEAST * libm::exp(f64::from(bytes[0] - 1) / STEPS) };
        let rate = rate.min(1.0);
        let tie = |place: usize| f64::from(bytes[1 + place]) / 255.0;
        let mut again = [0.0; LAGS];
        for (lag, again) in (1..).zip(&mut again) {
            let tie = match lag {
                1 => tie(0),
                2 => tie(1),
                3 => (tie(1) + tie(2)) / 2.0,
                4..=8 => tie(2) + (tie(3) - tie(2)) * (lag as f64 - 4.0) / 4.0,
                _ => tie(3),
            };
            *again = rate + (1.0 - rate) * tie;
        }
        LossModel { rate, again, weight: 500.0 }
    }
}
