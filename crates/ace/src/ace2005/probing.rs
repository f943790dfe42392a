//! When to try compression again that did not pay (paper, section 4.1).

use core::time::Duration;

/// The initial period is waited for so many times (paper: determined empirically).
const WEIGHT: f64 = 10.0;
/// No period is longer: a forecast may be wrong by any factor.
const LONGEST: f64 = 3600.0;

/// Tells when the next probe is due, while nothing is compressed.
#[derive(Debug, Clone)]
pub(super) struct Probing {
    weight: f64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    /// Nothing was ever compressed: a probe is due at once (paper, section 5.2.1).
    Start,
    /// Compression goes on: no probe is needed.
    Compressing,
    /// Until then nothing is tried.
    Waiting(Duration),
}

impl Probing {
    pub(super) fn new() -> Self {
        Probing { weight: WEIGHT, state: State::Start }
    }

    /// A block is compressed because that is expected to pay.
    pub(super) fn compressing(&mut self) {
        self.state = State::Compressing;
    }

    /// A block is expected not to pay. Whether to compress it all the same, to see; `period` is the time that a
    /// compressed block is expected to take, seconds.
    pub(super) fn is_due(&mut self, now: Duration, period: f64) -> bool {
        let is_due = match self.state {
            State::Start => true,
            State::Compressing => false,
            State::Waiting(until) if now < until => return false,
            State::Waiting(_) => true,
        };
        let wait = self.weight * period;
        let wait = if wait.is_finite() { wait.clamp(0.0, LONGEST) } else { LONGEST };
        self.state = State::Waiting(now + Duration::from_secs_f64(wait));
        is_due
    }

    /// Compression of a block turned out to be right.
    pub(super) fn paid(&mut self) {
        self.weight = WEIGHT;
    }

    /// A probe turned out to be wrong.
    pub(super) fn did_not_pay(&mut self) {
        self.weight += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn it_backs_off_and_starts_again() {
        let mut probing = Probing::new();
        let probes = |probing: &mut Probing, from: u32, pays: bool| {
            (from..from + 1000)
                .filter(|nth| {
                    let is_due = probing.is_due(*nth * MS, 0.003);
                    match is_due {
                        true if pays => probing.paid(),
                        true => probing.did_not_pay(),
                        false => {}
                    }
                    is_due
                })
                .collect::<alloc::vec::Vec<_>>()
        };
        let first = probes(&mut probing, 0, false);
        // At once, then after 30 ms, and the weight grows by one: 33, 36, ...
        assert_eq!(first[..5], [0, 30, 63, 99, 138]);
        let later = probes(&mut probing, 1000, true);
        assert_eq!(later[2] - later[1], 30);
    }

    #[test]
    fn compression_that_pays_needs_no_probe() {
        let mut probing = Probing::new();
        probing.compressing();
        assert!(!probing.is_due(MS, 0.001));
        assert!(!probing.is_due(10 * MS, 0.001));
        assert!(probing.is_due(11 * MS, 0.001));
    }

    #[test]
    fn no_forecast_is_too_wrong() {
        let mut probing = Probing::new();
        assert!(probing.is_due(MS, 1e300));
        assert!(!probing.is_due(3599 * 1000 * MS, f64::NAN));
        assert!(probing.is_due(3601 * 1000 * MS, -1.0));
        assert!(probing.is_due(3601 * 1000 * MS, f64::NAN));
    }
}
