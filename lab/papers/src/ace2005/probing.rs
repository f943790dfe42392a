//! Decides when to send probes: blocks that are compressed only to find out whether compression
//! pays again (section 4.1 of the paper "Adaptive On-the-Fly Compression").

use core::time::Duration;

/// The first time between two probes, as a multiple of the expected time of a block (determined
/// empirically in the paper).
const WEIGHT: f64 = 10.0;
/// The longest time between two probes in seconds. The limit takes effect if the expected time of a
/// block is far too long.
const LONGEST: f64 = 3600.0;

/// Decides when the next probe is due while no block is compressed.
#[derive(Debug, Clone)]
pub(super) struct Probing {
    weight: f64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    /// No block has been compressed yet: a probe is due at once (paper, section 5.2.1).
    Start,
    /// Blocks are being compressed: no probe is needed.
    Compressing,
    /// The next probe is due at this time.
    Waiting(Duration),
}

impl Probing {
    pub(super) fn new() -> Self {
        Probing { weight: WEIGHT, state: State::Start }
    }

    /// Notes that a block is compressed because compression is expected to pay.
    pub(super) fn compressing(&mut self) {
        self.state = State::Compressing;
    }

    /// Whether to compress a block as a probe although compression is not expected to pay. `period`
    /// is the expected time of the compressed block in seconds.
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

    /// Notes that compressing a block paid: it took less time than an uncompressed one.
    pub(super) fn paid(&mut self) {
        self.weight = WEIGHT;
    }

    /// Notes that a probe did not pay.
    pub(super) fn did_not_pay(&mut self) {
        self.weight += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn probes_become_rarer_until_one_pays() {
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
        // The first probe is at once, the second after 30 ms. The weight grows by one: 33 ms, 36
        // ms, ...
        assert_eq!(first[..5], [0, 30, 63, 99, 138]);
        let later = probes(&mut probing, 1000, true);
        assert_eq!(later[2] - later[1], 30);
    }

    #[test]
    fn no_probe_is_due_while_compression_pays() {
        let mut probing = Probing::new();
        probing.compressing();
        assert!(!probing.is_due(MS, 0.001));
        assert!(!probing.is_due(10 * MS, 0.001));
        assert!(probing.is_due(11 * MS, 0.001));
    }

    #[test]
    fn invalid_forecasts_are_bounded() {
        let mut probing = Probing::new();
        assert!(probing.is_due(MS, 1e300));
        assert!(!probing.is_due(3599 * 1000 * MS, f64::NAN));
        assert!(probing.is_due(3601 * 1000 * MS, -1.0));
        assert!(probing.is_due(3601 * 1000 * MS, f64::NAN));
    }
}
